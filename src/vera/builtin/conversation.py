"""What a lane's messages say: the only file that knows how they look.

Lines of documents carry their number and a bar (`12| text`), so no document can pose as a header here; a
line that fits none of the forms is skipped. Everything is bounded, and nothing here raises.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from vera.decode_errors import DECODE_ERRORS
from vera.model.types import Message
from vera.sanitize import named, printed_name

MAX_LINE_LENGTH = 4000
MAX_LINES = 20_000

_TASK = re.compile(r"^\W{0,4}PRIMARY TASK\W{0,4}$")
_FILES = re.compile(r"^INPUT FILES\b(: none$)?")
_PINNED = re.compile(r"^PINNED notes\.md\b")
_OBSERVATION = re.compile(r"^OBSERVATION (?:(ev_\d{1,9}) )?· (.*)$")
_SEARCHED = re.compile(r'^search "(.*)" · ')
_READ = re.compile(r"^read (.+) · lines (\d{1,9})-(\d{1,9}) of (\d{1,9})\b")
_FAILED = re.compile(r"^(search|read)\b ?(.*?) · error: ")
_HIT = re.compile(
    r"^\[\d{1,4}\] (.+) lines (\d{1,9})-(\d{1,9}) of (\d{1,9})(?: page \d{1,9})?"
    r" \(score (-?\d{1,9}(?:\.\d{1,9})?)(?:, by (?:words and )?(meaning))?\)$"
)
_LINE = re.compile(r"^(\d{1,9})\| ?(.*)$")
_FILE = re.compile(r"^- ([^…].*)$")
_NOTED_READ = re.compile(r"^- ev_\d{1,9} (?:· )?read (.+?)(?: ·)? lines (\d{1,9})-(\d{1,9}) of (\d{1,9})$")
_NOTE_MARK = re.compile(r"^(?:- )?(?:NOTE: ?)?(leads|candidates) (.*)$")
_LEAD = re.compile(r'^("(?:[^"\\]|\\.)*") (\d{1,9})-(\d{1,9})/(\d{1,9}) (\d\.\d{1,3})(?:, |$)')
_CANDIDATE = re.compile(
    r'^(ev_\d{1,9}):(\d{1,9})-(\d{1,9}) (\d\.\d{1,3}) ("(?:[^"\\]|\\.)*")( sure)?(?:, |$)'
)
_ACTION = re.compile(r'"tool"\s*:\s*(null|"[a-z_]{1,40}")')


class Excerpt(msgspec.Struct, frozen=True):
    """Lines of one file as they were shown: `lines` maps numbers to texts; gaps are possible.

    `evidence` is the id to cite, '' for a search hit (a snippet leads, it never supports); `total` the
    number of lines of the file; `first` and `last` what was asked for. `score` is the search engine's, 0 for
    a read. `near` says that the engine found the lines close in meaning.
    """

    path: str
    total: int
    lines: dict[int, str]
    first: int
    last: int
    evidence: str = ""
    score: float = 0.0
    near: bool = False


class Lead(msgspec.Struct, frozen=True):
    """A place worth reading (in the notes: as it was judged then), or a place that was read."""

    path: str
    first: int
    last: int
    total: int
    score: float


class Candidate(msgspec.Struct, frozen=True):
    """Lines that may answer, as remembered in the notes; `sure` as it was judged then."""

    evidence: str
    first: int
    last: int
    score: float
    path: str
    sure: bool = False


class Conversation(msgspec.Struct, frozen=True):
    """What has happened so far, as far as the messages still show it.

    `searched` counts the searches made, also failed ones and those of which only the note is left; `steps`
    the assistant's turns in sight, `refused` the final answers among them (one that was accepted would have
    ended the run). `unreadable` names the files that a read failed on; `documents` is false when the task
    says that there are no input files.
    """

    question: str
    files: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    hits: tuple[Excerpt, ...] = ()
    reads: tuple[Excerpt, ...] = ()
    noted_reads: tuple[Lead, ...] = ()
    leads: tuple[Lead, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    searched: int = 0
    steps: int = 0
    refused: int = 0
    unreadable: tuple[str, ...] = ()
    documents: bool = True


def understand(messages: Sequence[Message]) -> Conversation:
    """The conversation that the messages hold. Never raises; what it cannot read it leaves out."""
    reader = _Reader()
    for message in messages:
        content = message.content or ""
        if message.role == "assistant":
            reader.turn(content)
        elif content.startswith("OBSERVATION "):
            reader.observation(content)
        else:
            reader.preamble(content)
    return reader.conversation()


def leads_note(leads: Sequence[Lead]) -> str:
    """The note that keeps a search's leads over an epoch's end; `understand` reads it back."""
    entries = (
        f"{_quoted(lead.path)} {lead.first}-{lead.last}/{lead.total} {_digit(lead.score)}" for lead in leads
    )
    return "leads " + (", ".join(entries) or "none")


def candidates_note(candidates: Sequence[Candidate]) -> str:
    """The note that keeps candidates over an epoch's end; `understand` reads it back."""
    return "candidates " + ", ".join(
        f"{entry.evidence}:{entry.first}-{entry.last} {_digit(entry.score)} {_quoted(entry.path)}"
        + (" sure" if entry.sure else "")
        for entry in candidates
    )


def _digit(score: float) -> str:
    return f"{min(max(score, 0.0), 9.999):.3f}"


def _quoted(path: str) -> str:
    return msgspec.json.encode(printed_name(path)).decode()


class _Reader:
    """Collects what the messages say, one message after the other."""

    def __init__(self) -> None:
        self._question: list[str] = []
        self._files: list[str] = []
        self._searches: list[str] = []
        self._hits: list[Excerpt] = []
        self._reads: list[Excerpt] = []
        self._noted_reads: list[Lead] = []
        self._leads: list[Lead] = []
        self._candidates: list[Candidate] = []
        self._unreadable: list[str] = []
        self._documents = True
        self._noted_searches = self._failed_searches = self._steps = self._refused = 0

    def turn(self, content: str) -> None:
        """A turn of the assistant: only whether it was a final answer matters."""
        self._steps += 1
        action = _ACTION.search(content)
        self._refused += action is not None and action.group(1) == "null"

    def preamble(self, content: str) -> None:
        """The task, the list of input files and the pinned notes: they may share a message."""
        part = ""
        for line in _lines(content):
            if opened := self._opened(line, part):
                part = opened
            elif part == "task":
                self._question.append(line)
            elif part == "files" and (listed := _FILE.match(line.rstrip())):
                self._files.append(named(listed.group(1)))
            elif part == "notes":
                self._note(line)

    def _opened(self, line: str, part: str) -> str:
        """The part of a preamble that a line opens within another, '' where it opens none."""
        if not self._question and _TASK.match(line):
            return "task"
        if part and (files := _FILES.match(line)):
            self._documents = files.group(1) is None
            return "files"
        return "notes" if _PINNED.match(line) else ""

    def observation(self, content: str) -> None:
        """The result of a search or a read."""
        header, body = _parted(content)
        if header is None:
            return
        evidence, what = header.group(1) or "", header.group(2)
        if failed := _FAILED.match(what):
            if failed.group(1) == "read":
                self._unreadable.append(named(failed.group(2)))
            else:
                self._failed_searches += 1
        elif searched := _SEARCHED.match(what):
            self._searches.append(searched.group(1))
            self._hits.extend(_hits(body))
        elif (read := _READ.match(what)) and evidence:
            path, first, last, total = read.groups()
            lines = {number: text for number, text in body if number is not None}
            self._reads.append(Excerpt(named(path), int(total), lines, int(first), int(last), evidence))

    def conversation(self) -> Conversation:
        return Conversation(
            question="\n".join(self._question).strip(),
            files=tuple(self._files),
            searches=tuple(self._searches),
            hits=tuple(self._hits),
            reads=tuple(self._reads),
            noted_reads=tuple(self._noted_reads),
            leads=tuple(self._leads),
            candidates=tuple(self._candidates),
            searched=max(len(self._searches), self._noted_searches) + self._failed_searches,
            steps=self._steps,
            refused=self._refused,
            unreadable=tuple(self._unreadable),
            documents=self._documents,
        )

    def _note(self, line: str) -> None:
        if noted := _NOTED_READ.match(line):
            self._noted_reads.append(Lead(named(noted[1]), int(noted[2]), int(noted[3]), int(noted[4]), 0.0))
        elif marked := _NOTE_MARK.match(line):
            if marked.group(1) == "leads":
                self._noted_searches += 1
                self._leads.extend(_noted_leads(marked.group(2)))
            else:
                self._candidates.extend(_noted_candidates(marked.group(2)))


def _lines(content: str) -> Iterator[str]:
    for number, line in enumerate(content.split("\n", MAX_LINES)):
        if number == MAX_LINES:
            return
        yield line[:MAX_LINE_LENGTH]


def _noted_leads(text: str) -> Iterator[Lead]:
    while match := _LEAD.match(text):
        path, first, last, total, score = match.groups()
        if (name := _unquoted(path)) is not None:
            yield Lead(name, int(first), int(last), int(total), float(score))
        text = text[match.end() :]


def _noted_candidates(text: str) -> Iterator[Candidate]:
    while match := _CANDIDATE.match(text):
        evidence, first, last, score, path, sure = match.groups()
        if (name := _unquoted(path)) is not None:
            yield Candidate(evidence, int(first), int(last), float(score), name, sure is not None)
        text = text[match.end() :]


def _unquoted(text: str) -> str | None:
    try:
        return named(msgspec.json.decode(text, type=str))
    except DECODE_ERRORS:
        return None


def _parted(content: str) -> tuple[re.Match[str] | None, list[tuple[int | None, str]]]:
    """The header, and the body's lines: with its number a document's line, with None one of ours."""
    lines = _lines(content)
    header = _OBSERVATION.match(next(lines, ""))
    body: list[tuple[int | None, str]] = []
    for line in lines:
        numbered = _LINE.match(line)
        body.append((int(numbered.group(1)), numbered.group(2)) if numbered else (None, line))
    return header, body


def _hits(body: list[tuple[int | None, str]]) -> list[Excerpt]:
    found: list[Excerpt] = []
    inside = False
    for number, text in body:
        if number is not None:
            if inside:
                found[-1].lines[number] = text
        elif match := _HIT.match(text):
            path, first, last, total, score, meaning = match.groups()
            near = meaning is not None
            found.append(
                Excerpt(named(path), int(total), {}, int(first), int(last), score=float(score), near=near)
            )
            inside = True
        else:
            inside = False
    return found
