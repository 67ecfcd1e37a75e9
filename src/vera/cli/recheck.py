"""`vera recheck`: what sessions cite, held against today's files and pages."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vera.document_check.recheck import Recheck, Rechecked, SessionRecheck

_SHOWN = 200
"""Citations that are printed; --json has all."""


@click.command()
@click.argument("session", metavar="SESSION|FOLDER", type=click.Path(path_type=Path))
@click.option(
    "--input",
    "--input-dir",
    "input_dir",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder of the documents today; by default the one that each session names.",
)
@click.option("--fetch", is_flag=True, help="Get the cited pages from the web again (public hosts only).")
@click.option(
    "--max-links",
    metavar="N",
    type=click.IntRange(1, 5000),
    default=200,
    show_default=True,
    help="Pages that --fetch gets at most; others are unchecked.",
)
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def recheck(
    session: Path,
    input_dir: Path | None,
    fetch: bool,
    max_links: int,
    overrides: tuple[str, ...],
    as_json: bool,
) -> None:
    """Say which cited lines have changed since they were cited.

    Each citation of a session, or of all sessions below a folder, is looked up in today's files and pages:
    unchanged, moved (the same words elsewhere), changed, gone, or unchecked. Words are compared; whether a
    change matters is not judged, and no verdict is altered.

    Exit codes, for a scheduled job: 0 all are unchanged or moved; 4 something changed or is gone; 3 something
    could not be looked at, or nothing is cited; 1 a session was altered; 2 usage.
    """
    from vera.cli.exit import clean_errors

    with clean_errors():
        from vera import config
        from vera.agent.web import secrets_of
        from vera.attestation.signers import known_signers
        from vera.cli.progress import Progress
        from vera.document_check.recheck import Options, recheck

        settings = config.load(overrides).settings
        options = Options(
            input_dir=input_dir,
            egress=settings.egress if fetch else None,
            secrets=tuple(secrets_of(settings)) if fetch else (),
            max_pages=max_links,
            ocr=settings.run.ocr == "auto",
        )
        sessions, left_out = _sessions(session)
        screen = Progress()
        found = recheck(sessions, options, known_signers(), screen.now)
        screen.done()
        if as_json:
            click.echo(_as_json(found, left_out))
        else:
            for line in _as_text(found, left_out):
                click.echo(line)
    raise SystemExit(found.exit_code)


def _sessions(path: Path) -> tuple[list[Path], int]:
    """The session at `path`, or those below it, the newest first, and how many were left out."""
    from vera.cli.exit import USAGE, stop
    from vera.dashboard.sessions import Sessions

    if (path / "trace.jsonl").is_file():
        return [path], 0
    try:
        folders, left_out = Sessions(path).listed()
    except NotADirectoryError:
        stop(f"there is no session and no folder {path}.", USAGE)
    ended = [folder.path for folder in folders if folder.log.is_file()]
    if not ended:
        stop(f"there is no session in {path} or below it.", USAGE)
    return ended, left_out


def _as_json(found: "Rechecked", left_out: int) -> str:
    import msgspec

    from vera.document_check.recheck import STATES
    from vera.report.printable import printable_json

    counts = {state: found.count(state) for state in STATES}
    out = {"exit_code": found.exit_code, "counts": counts, "sessions_left_out": left_out}
    return printable_json(out | msgspec.to_builtins(found))


def _as_text(found: "Rechecked", left_out: int) -> "Iterator[str]":
    """Each session with what is no longer as it was, and a last line of figures."""
    from vera.attestation.report import counted
    from vera.document_check.recheck import STATES
    from vera.report.printable import one_printable_line

    shown = 0
    for session in found.sessions:
        lines = list(_of_session(session))
        yield from map(one_printable_line, lines[: max(1, _SHOWN - shown)])
        shown += len(lines)
    if shown > _SHOWN:
        yield f"{shown - _SHOWN} more lines: --json shows all."
    if left_out:
        yield f"{left_out} older sessions were not looked at: name their folder."
    cited = sum(len(session.citations) for session in found.sessions)
    counts = ", ".join(f"{found.count(state)} {state}" for state in STATES if found.count(state))
    yield (
        f"{counted(len(found.sessions), 'session')}, {counted(cited, 'cited place')}"
        f"{': ' if counts else ''}{counts}. Words compared, meaning not judged."
    )


def _of_session(session: "SessionRecheck") -> "Iterator[str]":
    by = f", signed {session.signed}" if session.signed else ""
    yield f"{session.session} ({session.word or 'not ended'}{by}) {session.task}"
    if session.problem:
        yield f"  not looked at: {session.problem}"
    for each in session.citations:
        yield f"  {_in_words(each)}"


def _in_words(each: "Recheck") -> str:
    lines = f" lines {each.first}-{each.last}" if each.last > each.first else f" line {each.first}"
    now = ""
    if each.state == "moved":
        other = f"{each.now_source} " if each.now_source != each.source else ""
        now = f" to {other}lines {each.now_first}-{each.now_last}"
    return f"{each.state}{now}: {each.source}{lines if each.first else ''}. {each.detail}".rstrip()
