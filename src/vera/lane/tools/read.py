"""`read`: numbered lines of an input file, of a file in /work, or of an evidence, by the host."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from vera import events
from vera.corpus import Corpus, Document, IndexUnusable, UnknownDocument
from vera.evidence.low_signal import low_signal
from vera.evidence.reading import read_regular
from vera.extraction.extractor import Extractor
from vera.extraction.source import Extracted, Unreadable, is_read_by_ocr
from vera.lane.tools import Call, EvidenceDraft, Outcome, failed
from vera.protocol.turn import ToolSpec
from vera.sanitize import WHOLE_NAME, named, one_line, printed_name
from vera.store import StoreError
from vera.text.span import Lines

MAX_LINES = 400
MAX_WORK_FILE = 16 << 20
MAX_ATTESTATION = 64_000
NOTES = "notes.md"

SPEC = ToolSpec(
    name="read",
    description=(
        "Show numbered lines of an input file (its name as search shows it), of a file under /work, or of an "
        f"earlier evidence (its id). At most {MAX_LINES} lines a call; these lines can be cited."
    ),
    properties={
        "path": {"type": "string"},
        "first": {"type": "integer", "minimum": 1, "maximum": 10**9},
        "last": {"type": "integer", "minimum": 1, "maximum": 10**9},
    },
    required=("path",),
)


class Read:
    """The tool over one corpus (None: there is no input folder) and one workspace.

    `work` is the folder that a box sees as /work, `input_name` how the model knows the input folder, and
    `extractor` what makes text of the hostile files that may lie in /work. `attested` shows an attestation by
    its handle, '' for anything else.
    """

    spec = SPEC

    def __init__(
        self,
        corpus: Corpus | None,
        work: Path,
        extractor: Extractor,
        input_name: str = "/input",
        attested: Callable[[str], str] | None = None,
    ) -> None:
        self._corpus = corpus
        self._extractor = extractor
        self._work = work
        self._attested = attested
        self._prefixes = tuple({f"{input_name.rstrip('/')}/", "/input/"})

    async def run(self, args: Mapping[str, Any], call: Call) -> Outcome:
        path = args["path"].strip()
        name = one_line(path, WHOLE_NAME)
        first, last = args.get("first", 1), args.get("last")
        if last is not None and last < first:
            return failed(f"read {name}", "bad_arguments", f"'last' ({last}) lies before 'first' ({first})")
        if self._attested is not None and (shown := self._attested(path)):
            return Outcome(header=f"read {name} · an attestation, as JSON", body=shown[:MAX_ATTESTATION])
        if path in call.evidence:
            return self._evidence(call.evidence[path], first, last, call)
        work_path = self._within_work(path)
        try:
            if work_path is not None:
                return self._work_file(work_path, first, last)
            if self._corpus is None:
                return failed(
                    f"read {name}", "not_found", "there are no input files; read /work/… or an evidence id"
                )
            document = _document(self._corpus, self._within_input(path), self._within_input(args["path"]))
        except UnknownDocument as unknown:
            return failed(f"read {name}", "not_found", str(unknown))
        except (Unreadable, IndexUnusable) as problem:
            return failed(f"read {name}", "unreadable", str(problem))
        return _input_file(document, first, last)

    def _within_work(self, path: str) -> str | None:
        for prefix in ("/work/", f"{self._work}/"):
            if path.startswith(prefix):
                return path.removeprefix(prefix)
        return None

    def _work_file(self, path: str, first: int, last: int | None) -> Outcome:
        """Lines of a file in /work. Raises Unreadable."""
        # Of the notes the host's own file, which is the newer one and cannot be forged.
        root = self._work.parent if path == NOTES else self._work
        data = read_regular(root, path, MAX_WORK_FILE)
        extracted = self._extractor.extract(data, path)
        return _window(extracted, first, last, f"/work/{path}", "observed", data)

    def _within_input(self, path: str) -> str:
        for prefix in self._prefixes:
            if path.startswith(prefix):
                return path.removeprefix(prefix)
        return path

    def _evidence(self, evidence: events.Evidence, first: int, last: int | None, call: Call) -> Outcome:
        """More lines of an evidence: the same bytes under a new id, of the same tier and origin."""
        try:
            text = call.store.get(evidence.text.sha256)
            raw = call.store.get(evidence.raw.sha256) if evidence.raw else None
            receipt = call.store.get(evidence.receipt.sha256) if evidence.receipt else None
            within = call.store.get(evidence.within.sha256) if evidence.within else None
            opened = call.store.get(evidence.opened.sha256) if evidence.opened else None
        except StoreError as error:
            return failed(f"read {evidence.id}", "unreadable", str(error))
        lines = Lines(text)
        first, last = _clip(first, last, len(lines))
        if not last:
            return _no_such_lines(evidence.id, first, len(lines))
        where = f"lines {first}-{last} of {len(lines)}"
        return Outcome(
            header=f"read {evidence.id} ({evidence.source}) · {where} · {evidence.tier}",
            evidence=EvidenceDraft(
                tier=evidence.tier,
                source=evidence.source,
                summary=f"read {one_line(evidence.source, 80)} · {where}",
                text=text,
                first=first,
                last=last,
                lines=len(lines),
                lead=evidence.lead,
                title=evidence.title,
                media_type=evidence.media_type,
                extractor=evidence.extractor,
                raw=raw,
                pages=evidence.pages,
                marks=evidence.marks,
                dated=evidence.dated,
                receipt=receipt,
                within=within,
                http_status=evidence.http_status,
                carried=evidence.carried,
                opened=opened,
                origin=evidence.origin,
            ),
        )


def _document(corpus: Corpus, path: str, as_given: str) -> Document:
    """The file that search shows as `path`, else the one of exactly that name, else the only one whose name
    looks so on one line. Raises UnknownDocument, Unreadable, IndexUnusable."""
    for name in dict.fromkeys((named(path), as_given)):
        with suppress(UnknownDocument):
            return corpus.document(name)
    try:
        return corpus.document(path)
    except UnknownDocument as unknown:
        alike = [name for name in unknown.near if _flat(name) == _flat(path)]
        if len(alike) != 1:
            raise
    return corpus.document(alike[0])


def _flat(name: str) -> str:
    return one_line(named(name), WHOLE_NAME)


def _input_file(document: Document, first: int, last: int | None) -> Outcome:
    """Lines of a file of the input folder, with what is known of it and of the archive that it lay in."""
    outcome = _window(document.extracted, first, last, document.path, "captured", document.raw)
    if outcome.evidence is None:
        return outcome
    evidence = msgspec.structs.replace(
        outcome.evidence,
        opened=_opened(document),
        origin=document.origin,
        low_signal=_low_signal(document),
    )
    if document.held is None:
        return msgspec.structs.replace(outcome, evidence=evidence)
    return msgspec.structs.replace(
        outcome,
        header=f"{outcome.header} · lay in {document.held.in_words()}",
        evidence=msgspec.structs.replace(evidence, within=document.held.as_json()),
    )


def _opened(document: Document) -> bytes:
    """The record of a reading as JSON: the file's path, size in bytes, sha256 and last change (Unix time in
    nanoseconds, 0 where it is not known), and when it was read (RFC 3339). Of a page that was fetched for the
    run, `retrieval` is the receipt."""
    record: dict[str, object] = {
        "path": document.path,
        "size": len(document.raw),
        "sha256": document.raw_sha256,
        "modified_ns": document.modified_ns,
        "read_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
    }
    if document.receipt:
        record["retrieval"] = msgspec.Raw(document.receipt)
    return msgspec.json.encode(record)


def _low_signal(document: Document) -> str:
    """Why a page that was fetched for the run is probably not what its reader would see, '' for any file."""
    if not document.receipt or document.held is not None:
        return ""
    return low_signal(document.raw, document.extracted.media_type, document.extracted.text)


def _window(
    extracted: Extracted, first: int, last: int | None, source: str, tier: str, raw: bytes
) -> Outcome:
    lines = Lines(extracted.text)
    name = printed_name(source)
    first, last = _clip(first, last, len(lines))
    if not last:
        return _no_such_lines(name, first, len(lines))
    where = f"lines {first}-{last} of {len(lines)}"
    page = extracted.page_of(first)
    scan = " · read by OCR, numbers may be wrong" if is_read_by_ocr(extracted.extractor) else ""
    header = f"read {name} · {where}{f' · page {page}' if page else ''} · {tier}{scan}"
    return Outcome(
        header=header,
        evidence=EvidenceDraft(
            tier=tier,
            source=source,
            summary=f"read {name} · {where}",
            text=extracted.text,
            first=first,
            last=last,
            lines=len(lines),
            title=extracted.title,
            media_type=extracted.media_type,
            extractor=extracted.extractor,
            raw=None if raw == extracted.text else raw,
            pages=extracted.pages,
            marks=extracted.marks,
            dated=extracted.dated,
        ),
    )


def _no_such_lines(name: str, first: int, total: int) -> Outcome:
    return failed(f"read {name}", "no_such_lines", f"it has {total} lines; {first} is not one of them")


def _clip(first: int, last: int | None, total: int) -> tuple[int, int]:
    """The asked lines that exist, at most MAX_LINES of them; a last line of 0 when none does."""
    if first > total:
        return first, 0
    return first, min(last or total, first + MAX_LINES - 1, total)
