"""`vera list`: the sessions of a base folder, a line each."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

if TYPE_CHECKING:
    from vera.attestation.outcome import Outcome
    from vera.dashboard.log_ends import LogEnds
    from vera.dashboard.sessions import SessionFolder

TASK_SHOWN = 80
LEAST_TASK = 20
"""Columns for a task beside the rest; with fewer, a session takes several lines."""
TASK_KEPT = 2000
"""Characters of a task in the JSON."""

MAX_TASK_BYTES = 1 << 20
"""Of a task that lies in the store: a longer one was not written by us."""


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A session. `state`: new, running, ended, or stopped (no process works on it and it has not ended).

    `verdict` is what the session may say of its end (`vera.attestation.outcome`), '' before, and `word` is
    where it stands as its page says it (`vera.report.standing`). `exit_code` is None where the verdict is
    withheld, and `signed` says by whose key ("by your key"). Times are Unix seconds, `seconds` from the first
    record to the last; 0 where there is no record yet.
    """

    session: str
    state: str
    verdict: str
    exit_code: int | None
    steps: int
    started_ts: float
    seconds: float
    task: str
    signed: str = ""
    word: str = ""


@click.command("list")
@click.option("--base-dir", type=click.Path(), help="Folder that holds the sessions, under work/.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
def list_sessions(base_dir: str | None, as_json: bool, overrides: tuple[str, ...]) -> None:
    """List the sessions below the base folder, the newest first.

    For each: its folder, the word for its verdict or for where its run stands, its steps, how long it took,
    and its task. The word is Altered, Unsealed or Unknown signer where the session cannot be relied on ('vera
    replay' says why).
    """
    from vera.cli.exit import ERROR, clean_errors, stop

    with clean_errors():
        from vera import config
        from vera.cli.terminal import columns
        from vera.dashboard.sessions import Sessions

        base = config.load(overrides, {"run.base_dir": base_dir}).settings.run.base_dir
        try:
            folders, left_out = Sessions(base).listed()
        except NotADirectoryError:
            stop(f"there is no folder {base}.", ERROR)
        rows = look_at(folders)
        if as_json:
            from vera.report.printable import printable_json

            click.echo(printable_json({"sessions": msgspec.to_builtins(rows), "left_out": left_out}))
            return
        for line in lines_of(rows, columns(), _coloured):
            click.echo(line)  # without colours where the output is no terminal
        if not rows:
            where = "this folder" if base == Path() else base
            click.echo(
                f'There is no session below {where}. Type: vera run "QUESTION" --input-dir DIR', err=True
            )
        elif left_out:
            click.echo(f"{left_out} older ones are not shown.", err=True)


def look_at(folders: "Iterable[SessionFolder]") -> list[Listed]:
    """The sessions by the ends of their logs, and what those that have ended may say of it."""
    from vera.attestation.known_outcomes import outcomes_of
    from vera.attestation.outcome import Outcome
    from vera.dashboard.log_ends import in_use, read_ends

    found = [(folder, read_ends(folder.log)) for folder in folders]
    working = in_use([folder.log for folder, ends in found if ends.size])
    outcomes = outcomes_of(
        folder.path for folder, ends in found if ends.end is not None and folder.log not in working
    )
    return [
        _listed(folder, ends, folder.log in working, outcomes.get(folder.path, Outcome()))
        for folder, ends in found
    ]


def _listed(folder: "SessionFolder", ends: "LogEnds", is_working: bool, outcome: "Outcome") -> Listed:
    from vera.report.printable import one_printable_line
    from vera.report.standing import standing

    state = "running" if is_working else "ended" if ends.end else "stopped" if ends.began else "new"
    return Listed(
        session=folder.name,
        state=state,
        verdict=one_printable_line(outcome.word[:40]),
        exit_code=outcome.exit_code,
        signed=one_printable_line(outcome.signed),
        steps=ends.step,
        started_ts=ends.first_ts,
        seconds=round(max(0.0, ends.last_ts - ends.first_ts), 3),
        task=one_printable_line(task_of(folder.path, ends)[:TASK_KEPT]),
        word=standing(_phase(state, ends), outcome.word).word,
    )


def _phase(state: str, ends: "LogEnds") -> str:
    """The phase of a run's page for a state of the list."""
    from vera.report.standing import MODEL_FAILED

    if state == "stopped" and ends.model_error:
        return MODEL_FAILED
    return "working" if state == "running" else state


def task_of(path: Path, ends: "LogEnds") -> str:
    """The task of the session at `path`, by the beginning of its log; '' where it has none."""
    from vera.events import Blob
    from vera.evidence.reading import read_regular
    from vera.extraction.source import Unreadable
    from vera.store import Store, StoreError

    if ends.task is None or not isinstance(ends.task.task, Blob):
        return str(ends.task.task) if ends.task else ""
    store = path / "store"
    try:
        name = Store(store).path(ends.task.task.sha256).relative_to(store).as_posix()
        return read_regular(store, name, MAX_TASK_BYTES).decode("utf-8", "replace")
    except (Unreadable, StoreError):
        return "(its text is not in the store)"


def lines_of(
    rows: list[Listed], columns: int | None, paint: Callable[[str, str], str] = lambda word, text: text
) -> Iterator[str]:
    """The sessions as text. With `columns`, a line is not longer than that; where a task has no place in it,
    a session takes three lines. Its folder alone is never cut, as it is there to be copied. `paint` gives
    the text of a word its colour."""
    name = max((len(row.session) for row in rows), default=0)
    word = max((len(row.word) for row in rows), default=0)

    def line(text: str, at: int, row: Listed) -> str:
        end = at + len(row.word)
        return text[:at] + paint(row.word, text[at:end]) + text[end:].rstrip()

    for row in rows:
        facts = f"{row.word:<{word}}  {_figures(row)}"
        beside = f"{row.session:<{name}}  {facts}  "
        if columns is None:
            yield line(beside + _cut(row.task, TASK_SHOWN), name + 2, row)
        elif (left := columns - len(beside)) >= LEAST_TASK:
            yield line(beside + _cut(row.task, left), name + 2, row)
        else:
            yield row.session
            yield line(_cut(f"  {facts}", columns), 2, row)
            if row.task:
                yield _cut(f"  {row.task}", columns)


def _coloured(word: str, text: str) -> str:
    """The text in the colour of the word for where a run stands."""
    from vera.report.standing import colour_of

    given = colour_of(word).split()
    fg = next((part for part in given if part not in ("bold", "dim", "reverse")), None)
    return click.style(text, fg=fg, bold="bold" in given, dim="dim" in given, reverse="reverse" in given)


def _figures(row: Listed) -> str:
    import time

    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.started_ts)) if row.started_ts else "–" * 16
    return f"{row.steps:>4} steps  {took(row.seconds):>8}  {when}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def took(seconds: float) -> str:
    """A duration as people say it: 4 s, 3 min, 2 h 05."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds // 3600:.0f} h {seconds % 3600 // 60:02.0f}"
