"""A table as a batch: each document alone in a folder, each cell a task, and the cells of what came of it.

BASE/.vera/documents/<digest>/PATH   a document under its path in the input folder; its bytes and path
                                     give the digest, so a document that changed is asked again;
                                     readable by the owner alone
BASE/runs/                           the batch
"""

import hashlib
import os
import secrets
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import msgspec

from vera.attestation.integrity import NoSession
from vera.attestation.signers import TrustError
from vera.batch.errors import BatchError
from vera.batch.runs import documents_folder
from vera.batch.summary import Row as TaskRow
from vera.batch.summary import Summary
from vera.batch.task import BatchTask, canonical_task, task_id
from vera.batch.task_file import MAX_NAME_CHARACTERS, TaskList
from vera.batch.task_settings import TaskSettings
from vera.config.errors import plain
from vera.dashboard.run_page import look_at
from vera.evidence.reading import read_regular, walk
from vera.extraction.source import Unreadable
from vera.headline import HEADLINES
from vera.report.table.model import NOT_ASKED, Cell, Row, Table, cell_of
from vera.report.view.words import one_line
from vera.session import LogError
from vera.store import StoreError

MAX_FILES = 5000
MAX_CELLS = 20_000
MAX_DOCUMENT_BYTES = 256 << 20
MAX_REASON = 300
_HIDDEN = (".", "~$")
"""Names that begin so are left out: hidden files, and the locks of open office documents."""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A document by its path in the input folder, and the folder in which it is alone."""

    path: str
    folder: Path


class Sheet(msgspec.Struct, frozen=True, kw_only=True):
    """The documents and questions of a table, as (title, question), and what is not asked: (path, why)."""

    documents: tuple[Document, ...]
    questions: tuple[tuple[str, str], ...]
    skipped: tuple[tuple[str, str], ...] = ()


def lay_out(
    input_dir: Path, base: Path, questions: Sequence[tuple[str, str]], besides: Collection[Path] = ()
) -> Sheet:
    """Put each document of `input_dir` alone into a folder under `base`; `besides` are files that are no
    documents (the questions, the table itself), by real path.

    Raises BatchError (2) for no document, or too many cells, and OSError.
    """
    real = input_dir.resolve()
    documents: list[Document] = []
    skipped: list[tuple[str, str]] = []
    left_out = {base / "runs"}
    for entry in walk(real, MAX_FILES):
        path = entry.path
        at = real / path
        if _is_hidden(path) or at in besides or left_out & {at, *at.parents}:
            continue
        try:
            if entry.skipped:
                raise Unreadable(entry.skipped)
            documents.append(Document(path=_named(path), folder=_kept(real, path, documents_folder(base))))
        except Unreadable as why:
            skipped.append((path.encode("utf-8", "replace").decode(), str(why)))
    if not documents:
        reason = f" ({plain(': '.join(skipped[0]))})" if skipped else ""
        raise BatchError(f"There is no document in {plain(str(input_dir))}{reason}.", 2)
    if len(documents) * len(questions) > MAX_CELLS:
        raise BatchError(
            f"{len(documents)} documents and {len(questions)} questions are more than {MAX_CELLS} cells. "
            "Make several tables.",
            2,
        )
    return Sheet(documents=tuple(documents), questions=tuple(questions), skipped=tuple(skipped))


def _is_hidden(path: str) -> bool:
    return any(part.startswith(_HIDDEN) for part in path.split("/") if part != ".")


def tasks_of(sheet: Sheet, settings: TaskSettings) -> TaskList:
    """A task for each cell, a document after the other. Raises BatchError (2) for settings that cannot be."""
    tasks = []
    for document in sheet.documents:
        for _, question in sheet.questions:
            name = one_line(f"{document.path}: {question}", MAX_NAME_CHARACTERS)
            folder = str(document.folder)
            task = BatchTask(
                id=task_id(canonical_task("task", question, folder, name=name)),
                kind="task",
                text=question,
                input_dir=folder,
                name=name,
            )
            try:
                endpoint, refused = settings.endpoint(task)
            except ValueError as error:
                raise BatchError(str(error), 2) from None
            if refused:
                raise BatchError(refused, 2)
            tasks.append(msgspec.structs.replace(task, endpoint=endpoint))
    return TaskList(tasks=tuple(tasks))


def table_of(sheet: Sheet, summary: Summary) -> Table:
    """The table of what the batch came to; its rows are those of `tasks_of`, in that order."""
    came_to = iter(summary.rows)
    rows = [
        Row(
            document=document.path,
            cells=tuple(_cell(next(came_to), document) for _ in sheet.questions),
        )
        for document in sheet.documents
    ]
    return Table(questions=sheet.questions, rows=tuple(rows), skipped=sheet.skipped)


def _cell(row: TaskRow, document: Document) -> Cell:
    """The cell of a task. A session that cannot be relied on proves nothing."""
    if row.state != "done":
        reason = one_line(row.reason.replace(str(document.folder), "of this document"), MAX_REASON)
        stood = NOT_ASKED if row.state in ("open", "running") else row.state
        return Cell(word="UNRESOLVED", reason=f"{stood}: {reason}" if reason else stood)
    try:
        page = look_at(Path(row.session)).page
    except (NoSession, LogError, StoreError, TrustError, OSError) as error:
        return Cell(word="UNRESOLVED", reason=f"its session cannot be read: {one_line(str(error))}")
    word = next((each for each in HEADLINES if each == page.header.verdict), None)
    return cell_of(page, word, row.session)


def _named(path: str) -> str:
    try:
        path.encode()
    except UnicodeEncodeError:
        raise Unreadable("its name is not UTF-8: rename it") from None
    return path


def _kept(real: Path, path: str, folder: Path) -> Path:
    """The folder in which the document is alone. Raises Unreadable, OSError."""
    data = read_regular(real, path, MAX_DOCUMENT_BYTES)
    digest = hashlib.sha256(path.encode() + b"\0" + data).hexdigest()[:32]
    alone = folder / digest
    target = alone / path
    if not _holds(alone, path, data):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = folder / f".new-{secrets.token_hex(8)}"
        try:
            temporary.write_bytes(data)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    return alone


def _holds(alone: Path, path: str, data: bytes) -> bool:
    """Whether the folder has the document, whole and alone."""
    names: Iterator[str] = (entry.path for entry in walk(alone, 2)) if os.path.lexists(alone) else iter(())
    try:
        return [*names] == [path] and read_regular(alone, path, MAX_DOCUMENT_BYTES) == data
    except Unreadable:
        return False
