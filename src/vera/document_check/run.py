"""Check any document against the sources it names: no agent, no model."""

import asyncio
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Literal

import msgspec

from vera.agent.errors import SetupError
from vera.attestation.report import counted
from vera.audit.case import AuditPolicy
from vera.config.settings import EgressSettings
from vera.connectors.gathering import used_in
from vera.connectors.values import INPUT
from vera.decode_errors import DECODE_ERRORS
from vera.document_check.document import Document, unsourced_quotations
from vera.document_check.findings import Findings, Held, findings
from vera.document_check.links import Named
from vera.document_check.lookup import Bibliography, Indexes, look_up
from vera.document_check.reading import OF_TEXT, document_bytes, read_document
from vera.document_check.reference_findings import ReferenceChecked
from vera.document_check.references import Reference, doi_of, of_bibtex, of_text
from vera.document_check.sources import (
    Folder,
    Missing,
    draft_of_file,
    fetch_all,
    open_capture,
    shared_names,
)
from vera.document_check.versions import DocumentVersions, document_versions
from vera.events import Blob, Evidence
from vera.extraction.extractor import Extractor
from vera.extraction.ocr import installed
from vera.extraction.source import Unreadable
from vera.lane.tools import EvidenceDraft
from vera.sandbox.fetch.receipt import Receipt
from vera.store import Store, replace_file

Status = Literal["file", "fetched", "unchecked"]

KEPT = "check.json"
"""The report in the folder of what is kept."""

_DATE = re.compile(r"[0-9]{4}(?:-[0-9]{2}){0,2}")


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of a check. `egress` is how pages are fetched, None for not at all.

    `sources` is the folder of the files that the document cites; `keep` a folder for everything that was
    read. Times are dates, '' for no bound. `independent` sources are asked of each statement about the web.
    `bibliography` is where references are looked up, None for not at all. Where connectors gathered the
    `sources`, `copied` is the folder whose files are among them. `ocr`: scans are read, where tesseract is
    installed.
    """

    sources: Path | None = None
    egress: EgressSettings | None = None
    secrets: tuple[str, ...] = ()
    keep: Path | None = None
    not_before: str = ""
    not_after: str = ""
    max_links: int = 200
    independent: int = 1
    copied: Path | None = None
    ocr: bool = True
    bibliography: Indexes | None = None


class SourceUsed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A source that statements name: what the document calls it, on which line first, and what was read.

    `where` is the file's path or the address that gave the page; the hashes are those of its canonical text,
    of the bytes it was made from, and of the record of its retrieval.
    """

    source: str
    kind: str
    line: int
    status: Status
    where: str = ""
    reason: str = ""
    text: str = ""
    raw: str = ""
    receipt: str = ""
    http_status: int | None = None


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A checked document. `sha256` is that of its bytes, `format` how they were read."""

    document: str
    sha256: str
    format: str
    findings: Findings
    sources: tuple[SourceUsed, ...]
    notes: tuple[str, ...] = ()
    references: tuple[ReferenceChecked, ...] = ()

    def exit_code(self, *, strict: bool = False, require: str = "quoted") -> int:
        """4 for a hard finding (`strict`: also for a hint), 3 when something could not be checked or nothing
        names a source, else 0.

        `require`: verified gives 3 in the place of 0, for no meaning is judged here.
        """
        found = self.findings
        if found.count("hard") or (strict and found.count("hint")):
            return 4
        unchecked = (
            not (found.named or self.references)
            or found.unchecked
            or found.unread
            or found.count("unchecked")
        )
        return 3 if unchecked or require == "verified" else 0


def require_date(name: str, value: str) -> None:
    """Raises SetupError (2) for a bound that is neither '' nor a date; `name` is what the person calls it."""
    if not value:
        return
    try:
        if not _DATE.fullmatch(value):
            raise ValueError
        date.fromisoformat(f"{value}-01-01"[:10] if len(value) < 10 else value)
    except ValueError:
        raise SetupError(
            f"{name} {value!r} is no date. Write it like 2021-05-03, 2021-05 or 2021.", 2
        ) from None


def check_document(path: Path, options: Options, now: Callable[[str], None] = lambda text: None) -> Report:
    """Check the document at `path`. `now` hears how far the fetching is.

    Raises SetupError: no such file or folder (2), a file that is no document (1).
    """
    return check_bytes(document_bytes(path), path, options, now)


def check_bytes(
    data: bytes, path: Path, options: Options, now: Callable[[str], None] = lambda text: None
) -> Report:
    """Check a document that was read already: `path` is what it is called and where its links start.

    Raises as `check_document` does.
    """
    if options.keep is not None:
        _refuse_other_file(options.keep / KEPT)
    with Extractor(ocr=installed() if options.ocr else None) as extractor:
        document, kind, written = read_document(path, data, extractor)
        if kind == "bib" and options.bibliography is None:
            raise SetupError(f"{path} holds references only. Add --bibliography to look them up.", 2)
        folder = _folder(options, extractor, path)
        store = Store(options.keep / "store") if options.keep else None
        gathering = _Gathering(document, options, folder, store)
        gathering.files()
        if options.egress is not None:
            gathering.pages(options.egress, extractor, now)
        texts, notes = _searched(document, folder)
        held = {each: _held(each, draft) for each, draft in gathering.drafts.items()}
        versions = _versions(options.sources, extractor, held, path)
        notes += [*_connected(options.sources), *([versions.note] if versions.note else [])]
        found = findings(
            document,
            held,
            gathering.missing,
            names_of={**gathering.names(), **versions.names()},
            policy=AuditPolicy(
                not_before=options.not_before, not_after=options.not_after, web_sources=options.independent
            ),
            folder=texts,
            later=versions.held,
            versions=versions.seen,
        )
    looked = _looked_up(document, kind, written, options, now)
    found = msgspec.structs.replace(
        found,
        problems=tuple(sorted((*found.problems, *looked.problems), key=lambda problem: problem.line)),
    )
    if kind in OF_TEXT:
        notes.append(OF_TEXT[kind])
    report = Report(
        document=str(path),
        sha256=hashlib.sha256(data).hexdigest(),
        format=kind,
        findings=found,
        sources=tuple(gathering.used()),
        notes=tuple(notes),
        references=looked.references,
    )
    if options.keep is not None:
        _keep(report, (data, *looked.bodies), options.keep)
    return report


class _Kept(msgspec.Struct):
    """What tells a kept report from another file of its name."""

    document: str
    sha256: str
    format: str
    findings: dict[str, object]
    sources: list[object]


def _refuse_other_file(path: Path) -> None:
    """Raises SetupError (2) for a file that would be replaced and is no report of a check, and OSError."""
    if not os.path.lexists(path):
        return
    try:
        if path.is_symlink() or not path.is_file():
            raise ValueError
        msgspec.json.decode(path.read_bytes(), type=_Kept)
    except DECODE_ERRORS:
        raise SetupError(
            f"{path} exists already, and it is no report of a check. Give --keep another folder.", 2
        ) from None


def _keep(report: Report, read: Iterable[bytes], folder: Path) -> None:
    """Keep the report and what was read for it, beside the sources that were kept as they came."""
    store = Store(folder / "store")
    for body in read:
        store.put(body)
    plain = msgspec.json.format(msgspec.json.encode(report))
    replace_file(folder / KEPT, plain + b"\n")


def _looked_up(
    document: Document, kind: str, written: str, options: Options, now: Callable[[str], None]
) -> Bibliography:
    """The references of the document at the indexes; nothing where that is not asked for."""
    if options.bibliography is None:
        return Bibliography(references=(), problems=(), bodies=())
    found = of_bibtex(written) if kind == "bib" else of_text(written.split("\n"))
    if document.lines:
        found = [
            msgspec.structs.replace(each, line=document.lines[min(each.line, len(document.lines)) - 1])
            for each in found
        ]
    known = {each.doi.lower() for each in found}
    for source in document.sources:
        if source.kind == "web" and (doi := doi_of(source.target)) and doi.lower() not in known:
            found.append(Reference(line=source.line, text=source.label, doi=doi, listed=False))
    return look_up(found, options.bibliography, now)


def _searched(document: Document, folder: Folder | None) -> tuple[dict[str, bytes] | None, list[str]]:
    """The texts in which quotations without a source are looked for, and what to say of the search."""
    if folder is None or not unsourced_quotations(document):
        return None if folder is None else {}, []
    texts, left_out = folder.texts()
    note = f"{left_out} files of the folder were not searched for quotations: too much text."
    return texts, [note] if left_out else []


def _versions(
    root: Path | None, extractor: Extractor, held: Mapping[str, Held], own: Path
) -> DocumentVersions:
    """The files of the folder that replace or amend what the document cites; none without a folder."""
    from vera.agent.folders import index_folder

    if root is None:
        return DocumentVersions()
    real = root.resolve()
    return document_versions(real, index_folder(real), extractor, held, own)


def name_of(source: Named) -> str:
    """What a person calls a source of the document."""
    match source.kind:
        case "title":
            return f"“{source.target[:100]}”"
        case "session":
            return f"[{source.target}]"
        case _:
            return source.target


def _connected(sources: Path | None) -> list[str]:
    """What connectors gave, where they gathered the sources."""
    return [
        f"The connector {each.name} gave {counted(len(each.documents), 'document')}"
        + (f" of {each.revision}" if each.revision else "")
        + (f" and left out {each.left_out_count}." if each.left_out_count else ".")
        for each in (used_in(sources.resolve()) if sources is not None else ())
        if each.name != INPUT
    ]


def _folder(options: Options, extractor: Extractor, document: Path) -> Folder | None:
    root = options.sources
    if root is None:
        return None
    if not root.is_dir():
        problem = "is not a folder" if root.exists() else "does not exist"
        raise SetupError(f"The folder of sources {root} {problem}. Give one with --sources.", 2)
    return Folder(root, extractor, document, options.copied)


class _Gathering:
    """The sources that statements name, as they come: `drafts` by id, and why others are `missing`."""

    def __init__(
        self, document: Document, options: Options, folder: Folder | None, store: Store | None
    ) -> None:
        cited = {
            cite.evidence for claim in document.claims if claim.form == "statement" for cite in claim.cites
        }
        self._wanted = [source for source in document.sources if source.id in cited]
        self._document = document
        self._options = options
        self._folder = folder
        self._store = store
        self._paths: dict[str, str] = {}
        self.drafts: dict[str, EvidenceDraft] = {}
        self.missing: dict[str, str] = {}

    def files(self) -> None:
        """Take those that lie in the folder."""
        shared = shared_names(self._wanted)
        for source in self._wanted:
            if source.kind in ("session", "other") or self._folder is None:
                self.missing[source.id] = _why_not(source)
                continue
            try:
                path = self._folder.find(source, shared)
                address = source.target if source.kind == "web" else path
                self.drafts[source.id] = draft_of_file(address, path, self._folder.text(path))
            except Missing as reason:
                self.missing[source.id] = str(reason)
                continue
            self._paths[source.id] = path
            if self._store is not None:
                self._store.put(self._folder.text(path).text)
                with suppress(Unreadable):  # it has gone since it was read
                    self._store.put(self._folder.raw(path))

    def pages(self, egress: EgressSettings, extractor: Extractor, now: Callable[[str], None]) -> None:
        """Fetch those that are addresses and lie in no file."""
        ids = {
            source.target: source.id
            for source in self._wanted
            if source.kind == "web" and source.id in self.missing
        }
        most = self._options.max_links
        for url in list(ids)[most:]:
            self.missing[ids[url]] = f"More than {most} pages: raise --max-links to have it fetched."
        capture = open_capture(egress, self._options.secrets, extractor)
        came = asyncio.run(fetch_all(list(ids)[:most], capture, now, self._keep))
        for url, page in came.items():
            if isinstance(page, Missing):
                self.missing[ids[url]] = str(page)
            else:
                self.drafts[ids[url]] = page
                del self.missing[ids[url]]

    def names(self) -> dict[str, str]:
        """What each source is called in a sentence: a note or key by its file, where one was found."""
        return {
            source.id: self._paths.get(source.id, name_of(source))
            if source.kind == "title"
            else name_of(source)
            for source in self._document.sources
        }

    def used(self) -> Iterator[SourceUsed]:
        """What became of each source, in the order of the document."""
        for source in self._wanted:
            draft, path = self.drafts.get(source.id), self._paths.get(source.id)
            if draft is None:
                yield SourceUsed(
                    source=name_of(source),
                    kind=source.kind,
                    line=source.line,
                    status="unchecked",
                    reason=self.missing[source.id],
                )
                continue
            receipt = msgspec.json.decode(draft.receipt, type=Receipt) if draft.receipt else None
            raw = receipt.sha256 if receipt else self._folder.hashes[path] if self._folder and path else ""
            yield SourceUsed(
                source=name_of(source),
                kind=source.kind,
                line=source.line,
                status="file" if path else "fetched",
                where=path or draft.source,
                text=hashlib.sha256(draft.text).hexdigest(),
                raw=raw,
                receipt=hashlib.sha256(draft.receipt).hexdigest() if draft.receipt else "",
                http_status=draft.http_status,
            )

    def _keep(self, draft: EvidenceDraft) -> None:
        for blob in (draft.text, draft.raw, draft.receipt):
            if self._store is not None and blob is not None:
                self._store.put(blob)


def _why_not(source: Named) -> str:
    match source.kind:
        case "session":
            return "A citation of a VERA session: 'vera replay SESSION' checks it."
        case "other":
            return "Only http and https addresses are fetched."
        case "web":
            return "It was not fetched: add --fetch, or --sources DIR with a copy of it."
        case "file":
            return "A file: name the folder it lies in with --sources DIR."
        case _:
            return "It has no address: name the folder it lies in with --sources DIR."


def _held(name: str, draft: EvidenceDraft) -> Held:
    evidence = Evidence(
        id=name,
        call="",
        step=0,
        tool="check",
        tier=draft.tier,
        source=draft.source,
        summary=draft.summary,
        text=Blob(hashlib.sha256(draft.text).hexdigest(), len(draft.text)),
        lines=draft.lines,
        first=draft.first,
        last=draft.last,
        title=draft.title,
        media_type=draft.media_type,
        extractor=draft.extractor,
        pages=draft.pages,
        marks=draft.marks,
        dated=draft.dated,
        http_status=draft.http_status,
    )
    return Held(evidence, draft.text)
