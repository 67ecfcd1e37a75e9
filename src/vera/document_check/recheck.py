"""Recheck what sessions cite: the cited lines held against today's files and pages."""

import asyncio
import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from vera.agent.conclusion import result_of
from vera.agent.folders import index_folder, input_folder
from vera.agent.inputs import is_address
from vera.attestation.outcome import ALTERED, WITHHELD, outcome_of
from vera.attestation.signers import Signers
from vera.config.settings import EgressSettings
from vera.corpus import Corpus, EmptyCorpus, IndexUnusable, UnknownDocument
from vera.document_check.sources import Missing, fetch_all, open_capture
from vera.events import Evidence
from vera.extraction.extractor import Extractor
from vera.extraction.marks import STRUCK, within
from vera.extraction.ocr import installed
from vera.extraction.source import Unreadable
from vera.lane.tools import EvidenceDraft
from vera.report.answer import Quote
from vera.sanitize import one_line
from vera.session import LogError, Reader, SessionError, load_text
from vera.state import RunState
from vera.store import Store, StoreError
from vera.text.folded_text import FoldedText, squeezed, squeezed_loose
from vera.text.quote import QuoteIndex
from vera.text.span import Lines

State = Literal["unchanged", "moved", "changed", "gone", "unchecked"]
STATES: tuple[State, ...] = ("unchanged", "moved", "changed", "gone", "unchecked")

MAX_PAGES = 200
"""Pages that are fetched at most unless the person says otherwise; as many as `vera check` gets."""

OTHER_FILES = 8
"""Files that are looked into for lines whose own file is gone: the best hits of one search."""

FROM_FILES = ("read", "kb")
"""Tools whose captures without a receipt are files: of the input folder, or of an earlier session."""

QUERY_CHARACTERS = 300
NEAR_BYTES = 200
SENTENCE_ENDS = (".", "!", "?", "。", "！", "？")
TASK_SHOWN = 200


class Recheck(msgspec.Struct, frozen=True, kw_only=True):
    """A cited place today. `unchanged`: the same words on the same lines. `moved`: the same words elsewhere,
    on lines `now_first` to `now_last` of `now_source`. `changed`: the source is there without them. `gone`:
    no such file or page. `unchecked`: it could not be looked at. `detail` is why, or what differs.
    """

    citation: str
    source: str
    first: int
    last: int
    state: State
    now_source: str = ""
    now_first: int = 0
    now_last: int = 0
    detail: str = ""


class SessionRecheck(msgspec.Struct, frozen=True, kw_only=True):
    """A session and its citations. `word` is its status, `signed` by whose key; `problem` is why its
    citations were not looked at, '' where they were."""

    session: str
    task: str
    word: str
    signed: str
    citations: tuple[Recheck, ...] = ()
    problem: str = ""


class Rechecked(msgspec.Struct, frozen=True, kw_only=True):
    """What came of all sessions."""

    sessions: tuple[SessionRecheck, ...]

    def count(self, state: State) -> int:
        return sum(each.state == state for session in self.sessions for each in session.citations)

    @property
    def exit_code(self) -> int:
        """1 when a session was altered, 4 when something cited has changed or is gone, 3 when something was
        not looked at or nothing is cited, else 0."""
        if any(each.word == ALTERED for each in self.sessions):
            return 1
        if self.count("changed") or self.count("gone"):
            return 4
        looked = self.count("unchanged") + self.count("moved")
        return 3 if self.count("unchecked") or not looked or any(s.problem for s in self.sessions) else 0


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """`input_dir` takes the place of the folder that each session names; `egress` is how pages are fetched,
    None for not at all. `ocr`: scans are read, where tesseract is installed."""

    input_dir: Path | None = None
    egress: EgressSettings | None = None
    secrets: tuple[str, ...] = ()
    max_pages: int = MAX_PAGES
    ocr: bool = True


class _Cited(NamedTuple):
    """A cited place: its words as they were, the word `before` and the word `after` them, the marks on them,
    and the folder of its file, '' for a page."""

    quote: Quote
    text: bytes
    before: str
    after: str
    marks: frozenset[str]
    loose: bool
    source: str
    folder: str


def recheck(
    sessions: Iterable[Path],
    options: Options,
    signers: Signers,
    now: Callable[[str], None] = lambda text: None,
) -> Rechecked:
    """Look at every citation of the sessions. `now` hears how far the fetching is.

    Raises SetupError (2) for a folder or an egress rule that cannot be used.
    """
    if options.input_dir is not None:
        input_folder(options.input_dir)
    read = [_read(path, options, signers) for path in sessions]
    cited = [each for _, places in read for each in places if isinstance(each, _Cited)]
    found: dict[int, Recheck] = {}
    with Extractor(ocr=installed() if options.ocr else None) as extractor:
        _files([each for each in cited if each.folder], extractor, found)
        _pages([each for each in cited if not each.folder], options, extractor, found, now)
    return Rechecked(sessions=tuple(_with_citations(session, places, found) for session, places in read))


def _with_citations(
    session: SessionRecheck, places: Sequence["_Cited | Recheck"], found: Mapping[int, Recheck]
) -> SessionRecheck:
    citations = tuple(each if isinstance(each, Recheck) else found[id(each)] for each in places)
    return msgspec.structs.replace(session, citations=citations)


def _read(
    path: Path, options: Options, signers: Signers
) -> tuple[SessionRecheck, Sequence["_Cited | Recheck"]]:
    """A session and the places that it cites; in the place of one that cannot be looked at, why."""
    session = SessionRecheck(session=str(path), task="", word="", signed="")
    store = Store(path / "store")
    try:
        outcome = outcome_of(path, signers)
        session = msgspec.structs.replace(session, word=outcome.word, signed=outcome.signed)
        if outcome.word == ALTERED:
            return msgspec.structs.replace(session, problem=outcome.reason), ()
        state = RunState(record for _, record in Reader(path / "trace.jsonl").poll())
        task = one_line(load_text(store, state.task.task), TASK_SHOWN) if state.task else ""
        quotes = result_of(state, store).report.quotes
    except (LogError, StoreError) as error:
        return msgspec.structs.replace(session, word=ALTERED, problem=str(error)), ()
    except (SessionError, OSError) as error:
        return msgspec.structs.replace(session, problem=str(error)), ()
    folder = _folder_of(state, options, outcome.word)
    distinct = {(quote.evidence, quote.first, quote.last): quote for quote in quotes}
    places = [_place(quote, state.evidence, store, folder) for quote in distinct.values()]
    return msgspec.structs.replace(session, task=task), places


def _folder_of(state: RunState, options: Options, word: str) -> str:
    """The folder that holds the session's files, '' for none: the one that was named, or the session's.

    A stranger's session does not say which of this person's folders is read.
    """
    if options.input_dir is not None:
        return str(options.input_dir.resolve())
    return state.task.input_dir if state.task and word not in WITHHELD else ""


def _place(quote: Quote, evidence: Mapping[str, Evidence], store: Store, folder: str) -> "_Cited | Recheck":
    if quote.problem or not quote.first:
        return _of(quote, "unchecked", detail=quote.problem or "It names no lines.")
    held = evidence[quote.evidence]
    # A page of a connector is looked at where it came from: the folder holds what came then.
    gathered = is_address(held.origin) and held.within is None
    page = held.receipt is not None or gathered
    source = held.origin if gathered else held.source
    if problem := _out_of_reach(held, page, folder):
        return _of(quote, "unchecked", detail=problem)
    lines = Lines(store.get(held.text.sha256))
    start, end = lines.bounds(quote.first, quote.last)
    marks = frozenset(kind for kind, _, _ in within(held.marks, start, end))
    loose = held.media_type == "application/pdf"
    before, after = _neighbours(lines.text, start, end)
    text, folder = lines.text[start:end], "" if page else folder
    return _Cited(quote, text, before, after, marks, loose, source, folder)


def _out_of_reach(held: Evidence, page: bool, folder: str) -> str:
    """Why a source, a `page` or a file, cannot be looked at today; '' when it can."""
    if held.tier != "captured" or held.lead or not (page or held.tool in FROM_FILES):
        return "It was made in the run: no file or page outside holds it."
    if not page and not folder:
        return "Name the folder that holds the file with --input-dir DIR."
    return ""


def _neighbours(text: bytes, start: int, end: int) -> tuple[str, str]:
    """The last word before a place and the first word behind it, '' at the ends of the text."""
    before = text[max(0, start - NEAR_BYTES) : start].decode("utf-8", "replace")
    after = text[end : end + NEAR_BYTES].decode("utf-8", "replace")
    return (before.split() or [""])[-1].casefold(), (after.split() or [""])[0].casefold()


def _files(cited: Sequence[_Cited], extractor: Extractor, found: dict[int, Recheck]) -> None:
    by_folder: defaultdict[str, list[_Cited]] = defaultdict(list)
    for each in cited:
        by_folder[each.folder].append(each)
    for folder, places in by_folder.items():
        root = Path(folder)
        if not root.is_dir():
            problem = f"The folder {folder} does not exist. Name another with --input-dir DIR."
            _all(places, "unchecked", problem, found)
            continue
        with Corpus(root.resolve(), index_folder(root.resolve()), extractor) as corpus:
            try:
                corpus.update()
                found.update({id(each): _in_folder(each, corpus) for each in places})
            except EmptyCorpus:
                _all(places, "gone", "The folder holds no text.", found)
            except IndexUnusable as problem:
                _all(places, "unchecked", str(problem), found)


def _all(cited: Sequence[_Cited], state: State, detail: str, found: dict[int, Recheck]) -> None:
    found.update({id(each): _of(each.quote, state, detail=detail) for each in cited})


def _in_folder(cited: _Cited, corpus: Corpus) -> Recheck:
    try:
        document = corpus.document(cited.source)
    except UnknownDocument:
        return _elsewhere(cited, corpus)
    except (Unreadable, IndexUnusable) as problem:
        return _of(cited.quote, "unchecked", detail=f"{cited.source}: {problem}.")
    extracted = document.extracted
    return compared(cited, extracted.text, extracted.marks, cited.source)


def _elsewhere(cited: _Cited, corpus: Corpus) -> Recheck:
    """The lines of a file that is gone, in another file of the folder."""
    words = " ".join(cited.text.decode("utf-8", "replace").split())[:QUERY_CHARACTERS]
    for path in dict.fromkeys(hit.path for hit in corpus.search(words, OTHER_FILES).hits):
        try:
            extracted = corpus.document(path).extracted
        except (UnknownDocument, Unreadable, IndexUnusable):
            continue
        there = compared(cited, extracted.text, extracted.marks, path)
        if there.state in ("unchanged", "moved"):
            return msgspec.structs.replace(there, state="moved", now_source=path)
    return _of(cited.quote, "gone", detail="There is no such file in the folder.")


def _pages(
    cited: Sequence[_Cited],
    options: Options,
    extractor: Extractor,
    found: dict[int, Recheck],
    now: Callable[[str], None],
) -> None:
    if not cited:
        return
    if options.egress is None:
        _all(cited, "unchecked", "It was not fetched: add --fetch.", found)
        return
    urls = list(dict.fromkeys(each.source for each in cited))
    capture = open_capture(options.egress, options.secrets, extractor)
    came = asyncio.run(fetch_all(urls[: options.max_pages], capture, now, lambda draft: None))
    for each in cited:
        found[id(each)] = _on_page(each, came.get(each.source), options.max_pages)


def _on_page(cited: _Cited, page: EvidenceDraft | Missing | None, most: int) -> Recheck:
    if page is None:
        detail = f"More than {most} pages: raise --max-links to have it fetched."
        return _of(cited.quote, "unchecked", detail=detail)
    if isinstance(page, Missing):
        return _of(cited.quote, "unchecked", detail=str(page))
    status = page.http_status or 200
    if status in (404, 410):
        return _of(cited.quote, "gone", detail=f"The server answers HTTP {status}.")
    if status >= 400 or page.low_signal:
        detail = page.low_signal or f"The server answers HTTP {status}."
        return _of(cited.quote, "unchecked", detail=detail)
    return compared(cited, page.text, page.marks, page.source)


def compared(cited: _Cited, text: bytes, marks: Sequence[tuple[str, int, int]], source: str) -> Recheck:
    """The cited words in today's `text`: on their lines, elsewhere, or not there.

    Words that are struck out or hidden today, and were not when they were cited, have changed.
    """
    quote = cited.quote
    place = _found_in(cited, text)
    if place is None:
        return _of(quote, "changed", detail=_difference(cited, text))
    start, end, first, last = place
    if new := {kind for kind, _, _ in within(marks, start, end)} - cited.marks:
        words = " and ".join("struck out" if kind == STRUCK else kind for kind in sorted(new))
        return _of(quote, "changed", detail=f"The words are there, but {words}.")
    same = hashlib.sha256(text).hexdigest() == quote.text_sha256
    detail = "" if same else "Other parts of the document have changed."
    if (first, last) == (quote.first, quote.last) and source == cited.source:
        return _of(quote, "unchanged", detail=detail)
    moved = _of(quote, "moved", detail=detail)
    return msgspec.structs.replace(moved, now_source=source, now_first=first, now_last=last)


def _found_in(cited: _Cited, text: bytes) -> tuple[int, int, int, int] | None:
    """First byte, end, first and last line of the cited words in `text`, up to how they are set."""
    quote, lines = cited.quote, Lines(text)
    if quote.last <= len(lines) and lines.cut(quote.first, quote.last) == cited.text:
        return *lines.bounds(quote.first, quote.last), quote.first, quote.last
    whole = text.decode("utf-8", "surrogateescape")
    folded = FoldedText(whole, squeezed_loose if cited.loose else squeezed, glued=True)
    place = folded.find(folded.fold(cited.text.decode("utf-8", "surrogateescape")))
    if place is None:
        return None
    start, end = (len(whole[:at].encode("utf-8", "surrogateescape")) for at in place)
    if not _is_apart(cited, text, start, end):
        return None
    return start, end, lines.number_at(start), lines.number_at(max(start, end - 1))


def _is_apart(cited: _Cited, text: bytes, start: int, end: int) -> bool:
    """Whether no sentence of today goes on from the words, or into them, that did not when they were cited: a
    citation is of whole lines, and "is 5" is no longer said by "is 5 thousand"."""
    before, after = _neighbours(text, start, end)
    begins = text[text.rfind(b"\n", 0, start) + 1 : start].strip()
    ends = text[end:].partition(b"\n")[0].strip()
    return (not begins or before == cited.before or before.endswith(SENTENCE_ENDS)) and (
        not ends
        or after == cited.after
        or cited.text.decode("utf-8", "replace").rstrip().endswith(SENTENCE_ENDS)
    )


def _difference(cited: _Cited, text: bytes) -> str:
    near = QuoteIndex(text, loose=cited.loose).nearest(cited.text.decode("utf-8", "replace"))
    return (
        f"Nearest are lines {near.first}-{near.last}: {near.marked}" if near else "Nothing like it is there."
    )


def _of(quote: Quote, state: State, *, detail: str = "") -> Recheck:
    return Recheck(
        citation=quote.label,
        source=quote.source,
        first=quote.first,
        last=quote.last,
        state=state,
        detail=detail,
    )
