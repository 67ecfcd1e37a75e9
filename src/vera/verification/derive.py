"""Deriving computed values again: a cited command runs once more in a clean box.

What the sandbox printed proves nothing by itself: it can print anything. In a fresh /work, with the same
/input and no network, the same command has only the scripts that it names to rest on. Run a last time with an
empty /input, it shows whether the lines rest on the input at all. What follows from that, the audit says
(`vera.audit.checks.computed`).
"""

import asyncio
import hashlib
import json
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path, PurePosixPath

import msgspec

from vera import events
from vera.evidence.moves import urls_in
from vera.evidence.reading import read_regular
from vera.extraction.canonical.encoding import to_utf8
from vera.extraction.canonical.text import canonical
from vera.extraction.source import Unreadable
from vera.lane.tools.function import EXTRACTOR as FUNCTION
from vera.lane.tools.shell import printed
from vera.sandbox.types import BoxError, CommandResult
from vera.sanitize import one_line
from vera.session import Reader, Session
from vera.session.session import TRACE
from vera.store import StoreError
from vera.text.late_regex import late_regex
from vera.text.span import Lines
from vera.verification.changed_input import Change, make_changed
from vera.verification.context import VerifierContext, lane_of
from vera.verification.printed_lines import altered_lines

MAX_COMMANDS = 16
MAX_SECONDS = 120.0
"""Seconds of one run of one command."""

ALL_SECONDS = 600.0
"""Seconds of a round after which no further command is begun."""

URL_SHOWN = 200
"""Characters of an address in a sentence."""

MAX_UNMOVED = 1000
MAX_SCRIPTS = 8
LARGEST_SCRIPT = 128 << 10
MAX_WORDS = 1000

FROM_WORK = "it was read from /work, where the sandbox can write anything"
FROM_PLUGIN = "a plugin said it, and only what VERA fetched or read itself can be evidence"

_PROGRAM = late_regex(r"\.(?:py|sh|bash|awk|sed|sql|pl|rb|m?js|ts|[rR]|jl|lua|php|jq|bc|go|c|cpp|rs|java)\Z")
_INTERPRETER = late_regex(r"python[0-9.]*|(?:ba|da|)sh|source|\.|perl|ruby|node|[gm]?awk|-f|Rscript|lua|php")
"""Programs are told by their name, by a first line with #!, or by the word before them."""

_WORD = late_regex(r"[\w@%+.~-][\w@%+./~-]{0,511}|(?<=\s)\.(?=\s)")
_WHOLE = re.compile(rb"(?<![\w.])[0-9]{1,9}(?![\w.])")
_HOME = late_regex(r"(?<![\w./-])(?:\$\{?(?:HOME|WORK|PWD)\}?|~|/work|\.)/")


class Script(msgspec.Struct, frozen=True):
    """A file of the workspace that a command names."""

    path: str
    data: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What a clean run printed, as canonical text. `failure` says how it ended other than well, `problem`
    why there was none."""

    text: bytes = b""
    exit_code: int | None = None
    failure: str = ""
    problem: str = ""


class Derived(msgspec.Struct, frozen=True, kw_only=True):
    """A command's clean runs: with the input, and where that went well without it, with other contents
    (`changed`), and with its own words in each of the `files` (`planted`); None for those that were not made.
    """

    scripts: Sequence[Script]
    run: Run
    bare: Run | None = None
    changed: Run | None = None
    planted: Run | None = None
    files: int = 0

    @property
    def problem(self) -> str:
        """Why there was no run, with the input or without it; '' where there were both."""
        return self.run.problem or (self.bare.problem if self.bare else "")


async def derive_all(
    context: VerifierContext, number: int, evidence_ids: Iterable[str]
) -> tuple[events.Derivation, ...]:
    """Run the commands behind these observed evidences again, one after the other, and log what came.

    What an interrupted round has derived already is not run again. Raises LogError only: where a command
    cannot be run, its outcome is `unavailable`.
    """
    session = context.session
    done = {known.evidence: known for known in session.state.rounds[number].derivations}
    wanted = tuple(dict.fromkeys(evidence_ids))
    left = [each for each in wanted if each not in done]
    commands = _commands(session, left)
    derived: dict[str, Derived] = {}
    until = time.monotonic() + ALL_SECONDS
    for evidence_id in left:
        command = commands.get(evidence_id)
        late = time.monotonic() > until or len(derived) >= MAX_COMMANDS
        if command is None:
            derivation = _unavailable(number, evidence_id, _origin(session, evidence_id))
        elif command not in derived and late:
            derivation = _unavailable(number, evidence_id, "too many commands are cited to run all again")
        else:
            if command not in derived:
                derived[command] = await _runs(context, command)
            derivation = _compare(context, number, evidence_id, command, derived[command])
        done[evidence_id] = session.emit(derivation, lane=lane_of(number))
    return tuple(done[evidence_id] for evidence_id in wanted)


def _origin(session: Session, evidence_id: str) -> str:
    """Where lines come from that no command printed."""
    known = session.state.evidence.get(evidence_id)
    return FROM_PLUGIN if known is not None and known.extractor.startswith(FUNCTION) else FROM_WORK


def _commands(session: Session, evidence_ids: Sequence[str]) -> Mapping[str, str]:
    """The command that printed each evidence; none for what was read from /work."""
    if not evidence_ids:
        return {}
    known = session.state.evidence
    printed_by = {each.text.sha256: each.call for each in known.values() if each.tool == "shell"}
    calls = {
        each.id: each.call if each.tool == "shell" else printed_by.get(each.text.sha256, "")
        for each in (known[evidence_id] for evidence_id in evidence_ids if evidence_id in known)
        if each.extractor.startswith("shell/")  # lines of it read again keep that name
    }
    wanted, said = set(calls.values()), dict[str, str]()
    for _, record in Reader(session.root / TRACE).poll():
        if isinstance(record, events.ToolStarted) and record.call in wanted:
            said[record.call] = _command(session, record)
    return {evidence_id: said[call] for evidence_id, call in calls.items() if said.get(call)}


def _command(session: Session, started: events.ToolStarted) -> str:
    try:
        args = json.loads(session.load(started.args))
    except (StoreError, ValueError):
        return ""
    command = args.get("cmd") if isinstance(args, dict) else None
    return command if isinstance(command, str) else ""


async def _runs(context: VerifierContext, command: str) -> Derived:
    scripts = await asyncio.to_thread(scripts_of, command, context.session.workspace)
    for script in scripts:
        context.session.store.put(script.data)
    run = await _run(context, command, scripts, None)
    task = context.session.state.task
    if run.problem or run.failure:
        return Derived(scripts=scripts, run=run)
    if task is None or not task.input_dir:
        return Derived(scripts=scripts, run=run, bare=run)
    with _folder(context.session.root) as empty:
        bare = await _run(context, command, scripts, empty)
    changed, _ = await _on_changed(context, command, scripts, Path(task.input_dir), "other")
    planted, files = None, 0
    if not re.search(rb"[1-9]", run.text):
        planted, files = await _on_changed(context, command, scripts, Path(task.input_dir), "planted")
    return Derived(scripts=scripts, run=run, bare=bare, changed=changed, planted=planted, files=files)


async def _on_changed(
    context: VerifierContext, command: str, scripts: Sequence[Script], source: Path, change: Change
) -> tuple[Run | None, int]:
    """The run on a changed copy of the input, None where there is none, and the number of its files."""
    with _folder(context.session.root) as folder:
        try:
            files = await asyncio.to_thread(make_changed, source, folder, change, command)
        except OSError:
            files = 0
        return (await _run(context, command, scripts, folder), files) if files else (None, 0)


@contextmanager
def _folder(root: Path) -> Iterator[Path]:
    """A folder that the user of a box may read, and that is gone afterwards."""
    made = Path(tempfile.mkdtemp(prefix=".input-", dir=root))
    try:
        made.chmod(0o755)
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


async def _run(
    context: VerifierContext, command: str, scripts: Sequence[Script], instead: Path | None
) -> Run:
    if context.open_box is None:
        return Run(problem="there is no sandbox to run it in")
    work = Path(tempfile.mkdtemp(prefix=".derive-", dir=context.session.root))
    seconds = min(context.options.tool_seconds, MAX_SECONDS)
    try:
        place(work, scripts)
        async with context.open_box(work, instead) as box:
            result = await box.run(command, timeout=seconds)
            output, _ = printed(result, work)
    except (BoxError, OSError) as error:
        return Run(problem=f"the sandbox failed: {one_line(str(error), 300)}")
    finally:
        await asyncio.to_thread(shutil.rmtree, work, ignore_errors=True)
    return Run(
        text=canonical(to_utf8(output)[0]), exit_code=result.exit_code, failure=_failure(result, seconds)
    )


def _failure(result: CommandResult, seconds: float) -> str:
    if result.reason == "timeout":
        return f"it was stopped after {seconds:g} s"
    if result.reason != "exited":
        return f"it ended badly ({result.reason})"
    return f"it ended with exit {result.exit_code}" if result.exit_code else ""


def _compare(
    context: VerifierContext, number: int, evidence_id: str, command: str, derived: Derived
) -> events.Derivation:
    """What the runs of a command say of one evidence that it printed."""
    session, run, bare = context.session, derived.run, derived.bare
    try:
        pieces = _cited_pieces(session, number, evidence_id)
    except StoreError as error:
        return _unavailable(number, evidence_id, str(error))
    if derived.problem:
        return _unavailable(number, evidence_id, derived.problem)
    came = all(b"\n" + piece + b"\n" in b"\n" + run.text for _, piece in pieces)
    searched = _searched(derived)
    cited = [piece for _, piece in pieces]
    return events.Derivation(
        round=number,
        evidence=evidence_id,
        command=session.text(command),
        outcome="failed" if run.failure else "same" if came else "different",
        output=session.text(run.text.decode("utf-8", "replace")),
        scripts=tuple((script.path, script.sha256) for script in derived.scripts),
        without_input=not searched and bare is not None and rests_on_nothing(cited, bare.text),
        unmoved=_unmoved(pieces, derived.changed),
        searched=searched,
        altered=_altered(session, pieces),
        exit_code=run.exit_code,
        reason=_why(session, evidence_id, command, run.failure, came=came),
    )


def _why(session: Session, evidence_id: str, command: str, failure: str, *, came: bool) -> str:
    """Why the cited lines did not come again, '' when they did; of a command that reads the web, how to cite
    the page."""
    if came and not failure:
        return ""
    why = failure or "the cited lines were not printed again"
    urls = [one_line(url, URL_SHOWN) for url in urls_in(command)][:1]
    pages = _pages_of_call(session, session.state.evidence[evidence_id].call)
    if not urls and not pages:
        return why
    page = f"it is {', '.join(pages[:3])}" if pages else f"fetch {urls[0]}, then cite its lines"
    return (
        f"{why}; it reads the web, which a clean sandbox does not reach. To say what a page says, cite the "
        f"page: {page}"
    )


def _pages_of_call(session: Session, call: str) -> list[str]:
    """The ids of the pages that were captured while the command of a call ran."""
    return [
        each.id
        for each in session.state.evidence.values()
        if each.call == call and each.tier == "captured" and each.receipt is not None
    ]


def _unmoved(pieces: Sequence[tuple[int, bytes]], changed: Run | None) -> tuple[int, ...]:
    """The cited lines with a number that the run on changed contents printed as well."""
    if changed is None or changed.problem or changed.failure:
        return ()
    there = frozenset(changed.text.split(b"\n"))
    return tuple(
        number
        for first, piece in pieces
        for number, line in enumerate(piece.split(b"\n"), first)
        if line in there and re.search(rb"[0-9]", line)
    )[:MAX_UNMOVED]


def _altered(session: Session, pieces: Sequence[tuple[int, bytes]]) -> tuple[int, ...]:
    """The cited lines of prose that stand so in no file of the input; () where there is none to compare."""
    task = session.state.task
    if task is None or not task.input_dir:
        return ()
    printed = {
        number: line.decode("utf-8", "replace")
        for first, piece in pieces
        for number, line in enumerate(piece.split(b"\n"), first)
    }
    try:
        return altered_lines(printed, Path(task.input_dir))
    except OSError:
        return ()


def _searched(derived: Derived) -> int:
    """How many files a command that counted nothing has looked at: all of the input, or 0."""
    planted = derived.planted
    if planted is None or planted.problem or planted.failure or not derived.files:
        return 0
    counted = [int(number) for number in _WHOLE.findall(planted.text)]
    return derived.files if sum(counted) >= derived.files else 0


def rests_on_nothing(pieces: Sequence[bytes], bare: bytes) -> bool:
    """Whether a cited line came out of the run without input as well.

    Lines with a number decide where there are any: headings are the same in each run, and so is a zero.
    """
    lines = [line for piece in pieces for line in piece.split(b"\n") if line.strip()]
    telling = [line for line in lines if re.search(rb"[1-9]", line)] or lines
    return not set(telling).isdisjoint(bare.split(b"\n"))


def _cited_pieces(session: Session, number: int, evidence_id: str) -> tuple[tuple[int, bytes], ...]:
    """The lines that the round's answer cites of an evidence, else those shown, each piece with the number of
    its first line. Raises StoreError."""
    evidence = session.state.evidence[evidence_id]
    answer = session.state.answers.get(session.state.rounds[number].started.answer_seq)
    cited = [
        (cited.first, cited.last)
        for cited in (answer.citations if answer else ())
        if cited.evidence == evidence_id and not cited.problem
    ]
    lines = Lines(session.store.get(evidence.text.sha256))
    shown = [(evidence.first, evidence.last)] if evidence.lines else []
    return tuple((first, lines.cut(first, last)) for first, last in cited or shown)


def _unavailable(number: int, evidence_id: str, reason: str) -> events.Derivation:
    return events.Derivation(
        round=number, evidence=evidence_id, command="", outcome="unavailable", reason=reason
    )


def scripts_of(command: str, workspace: Path) -> list[Script]:
    """The programs of the workspace that a command names: regular text files, at most MAX_SCRIPTS.

    Data that the sandbox has written is left behind: a value that rests on it rests on no source.
    """
    # The longer one first: the other may be a part of it.
    for folder in sorted({str(workspace), str(workspace.resolve())}, key=len, reverse=True):
        command = command.replace(f"{folder}/", "/work/")
    words = [word[0] for word in _WORD.finditer(_HOME.sub("", command))][:MAX_WORDS]
    folders = ["", *(f"{after}/" for word, after in pairwise(words) if word == "cd")]
    found: dict[str, Script] = {}
    for before, word in zip(["", *words], words, strict=False):
        for folder in folders[:4]:
            path = PurePosixPath(folder + word).as_posix()
            if path in found or len(found) >= MAX_SCRIPTS:
                continue
            try:
                data = read_regular(workspace, path, LARGEST_SCRIPT)
            except Unreadable:
                continue
            if is_program(path, data, before):
                found[path] = Script(path, data)
    return list(found.values())


def is_program(path: str, data: bytes, before: str) -> bool:
    """Whether a file is text that runs, by its name, its first line or the word `before` it."""
    named = _PROGRAM.search(path) or _INTERPRETER.fullmatch(before)
    if b"\0" in data or not (named or data.startswith(b"#!")):
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def place(work: Path, scripts: Iterable[Script]) -> None:
    """Copies of the scripts in a work folder, for whichever user the box has. Raises OSError."""
    for script in scripts:
        target = work / script.path
        target.parent.mkdir(parents=True, exist_ok=True)
        for folder in target.relative_to(work).parents:
            if folder.name:
                (work / folder).chmod(0o755)
        target.write_bytes(script.data)
        target.chmod(0o755)
