"""One research run, new or resumed, from the command line: setup, the lane, the end, what is printed."""

import asyncio
import signal
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from vera.agent import spending
from vera.agent.conclusion import Result, relied_on
from vera.agent.report_run import ReportRun
from vera.agent.research import Research
from vera.agent.sub_questions import Revise
from vera.cli.exit import ERROR, INTERRUPTED, NOT_READY, as_typed, in_words, stop
from vera.cli.progress import Progress
from vera.config import Settings
from vera.corpus import Progress as IndexProgress
from vera.model.types import ModelError
from vera.report.printable import printable, printable_json
from vera.runtime.research import open_run
from vera.runtime.setup import prepare
from vera.sandbox.egress.types import Connection
from vera.session import LogError, Session
from vera.store import StoreError

if TYPE_CHECKING:
    from vera.agent.execution import Execution

    Run = Research | ReportRun | Execution


def execute(
    open_session: Callable[[], Session],
    settings: Settings,
    *,
    as_json: bool,
    progress: Progress,
    revise: Revise = list,
    connections: Sequence[Connection] = (),
) -> None:
    """Run the session's main lane to its end, print the answer on stdout and exit with the run's code.

    `revise` is asked about the sub-questions of a report. What a run needs is found before the session is
    begun, so that a mistake leaves no session behind. `connections` are those that connectors made.
    """
    with ExitStack() as stack:
        researches = settings.run.lane == "research"
        prepared = prepare(
            settings, stack, _index_progress(progress), documents=researches, connections=connections
        )
        if prepared.found is not None:
            progress.done()

        def sealed() -> Session:
            """The session, known to be the user's from its first moment (`attestation.own_log`)."""
            session = open_session()
            session.seal(prepared.signer.seal)
            return session

        opened: AbstractAsyncContextManager[tuple[Session, Run]]
        if researches:
            opened = open_run(sealed, settings, prepared, progress, revise)
        else:
            from vera.runtime.execute import open_execution

            opened = open_execution(sealed, settings, prepared, progress)
        code = asyncio.run(_execute(opened, as_json, progress))
    raise SystemExit(code)


async def _execute(
    opened: "AbstractAsyncContextManager[tuple[Session, Run]]", as_json: bool, progress: Progress
) -> int:
    async with opened as (session, run):
        _listen(run, progress, session.root)
        try:
            result = await _finish(run, session.root, progress)
        finally:
            _listen_no_more()
        if session.state.parent is not None:
            result = relied_on(result, session.state.parent.found, session.root)
        _print(session, result, as_json)
        if result.lost and result.exit_code == NOT_READY:
            go_on = f"What was done is kept: go on with 'vera resume {session.root}'."
            click.echo(f"vera: {printable(as_typed(f'{result.lost} {go_on}'))}", err=True)
        if spent := spending.in_words(session.state):
            progress.say(spent)
        progress.say(f"Session: {session.root}")
        if result.exit_code == INTERRUPTED:
            click.echo(printable(as_typed(f"Go on with: vera resume {quote(str(session.root))}")), err=True)
        return result.exit_code


async def _finish(run: "Run", root: Path, progress: Progress) -> Result:
    """The result of the run; what ends it before there is one ends the command with how to go on."""
    try:
        result = await run.run()
    except ModelError as error:
        stop(f"{error} What was done is kept: go on with 'vera resume {root}'.", NOT_READY)
    except (LogError, StoreError, OSError) as error:
        kept = f"What was done is kept: when that is fixed, 'vera resume {root}' goes on."
        stop(f"{in_words(error)} {kept}", ERROR)
    except asyncio.CancelledError:
        progress.done()
        stop(f"stopped. Go on with 'vera resume {root}'.", INTERRUPTED)
    progress.done()
    return result


def _listen(run: "Run", progress: Progress, root: Path) -> None:
    """First Ctrl-C: finish with what is known. Second, or SIGTERM: stop at once, to be resumed. SIGUSR1: end
    the step that runs, and stop."""
    loop = asyncio.get_running_loop()
    current = asyncio.current_task()
    assert current is not None

    def first() -> None:
        loop.add_signal_handler(signal.SIGINT, current.cancel)
        progress.say("finishing with what is known; Ctrl-C again stops at once")
        run.stop("interrupted")

    loop.add_signal_handler(signal.SIGINT, first)
    loop.add_signal_handler(signal.SIGTERM, current.cancel)
    loop.add_signal_handler(signal.SIGUSR1, lambda: run.stop("interrupted", at_once=False))


def _listen_no_more() -> None:
    """What is left is to print and to close what is open: no signal breaks that off in the middle."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
        asyncio.get_running_loop().add_signal_handler(number, lambda: None)


def _index_progress(progress: Progress) -> Callable[[IndexProgress], None]:
    def show(at: IndexProgress) -> None:
        if at.message:
            progress.now(at.message)
        else:
            progress.now(f"{at.phase}: {at.files} of {at.total} files, {at.bytes / 1e6:.0f} MB")

    return show


def _print(session: Session, result: Result, as_json: bool) -> None:
    for remark in result.remarks:
        click.echo(printable(remark), err=True)
    if as_json:
        from vera.agent.research_result import researched_of

        click.echo(printable_json(researched_of(session.state, session.root, result).as_dict()))
        return
    from vera.report import answer as report

    click.echo(printable(report.plain(result.report)))
    click.echo(printable(report.closing_line(result.report)))
