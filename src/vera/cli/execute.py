"""One research run, new or resumed, from the command line: setup, the lane, the end, what is printed."""

import asyncio
import signal
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

import click

from vera.agent import research, setup, spending
from vera.agent.desk import open_desk
from vera.agent.research import Research, ResearchOptions, Result
from vera.agent.rules import rules_of
from vera.agent.web import open_web, search_engines
from vera.attestation.keys import Signer
from vera.cli.exit import ERROR, INTERRUPTED, NOT_READY, in_words, stop
from vera.cli.progress import Progress
from vera.config import Settings
from vera.evidence.extractor import Extractor
from vera.lane.budget import Budget, Limits
from vera.lane.prompts import Prompts
from vera.model.types import Model, ModelError
from vera.report import answer as report
from vera.report.checked import as_json as checked_as_json
from vera.report.printable import printable, printable_json
from vera.search.corpus import Progress as IndexProgress
from vera.search.web import Engines
from vera.session import LogError, Session
from vera.state import RunState
from vera.store import StoreError

WEB_REACH = {
    "auto": "fetch and commands may reach public hosts",
    "public": "fetch and commands may reach public hosts",
    "allowlist": "fetch and commands may reach the hosts of the allow-list",
}


def execute(
    open_session: Callable[[], Session],
    settings: Settings,
    *,
    as_json: bool,
    progress: Progress,
) -> None:
    """Run the session's main lane to its end, print the answer on stdout and exit with the run's code.

    What a run needs is found before the session is begun, so that a mistake leaves no session behind.
    """
    with ExitStack() as stack:
        input_dir = settings.run.input_dir
        signer = setup.open_signer(input_dir)
        extractor = stack.enter_context(Extractor())
        found = None
        if input_dir is not None:
            found = setup.open_input(input_dir, extractor, stack, _index_progress(progress))
            progress.done()
        code = asyncio.run(_execute(open_session, settings, extractor, found, signer, as_json, progress))
    raise SystemExit(code)


async def _execute(
    open_session: Callable[[], Session],
    settings: Settings,
    extractor: Extractor,
    found: setup.Input | None,
    signer: Signer,
    as_json: bool,
    progress: Progress,
) -> int:
    async with AsyncExitStack() as stack:
        model = await setup.open_model(settings.model, stack, progress.say, progress.now)
        verifier = await setup.open_verifier_model(settings.verification, settings.model, model, stack)
        engines = search_engines(settings.search, settings.brave)
        prompts = Prompts(settings.model.prompt_profile)
        session = open_session()
        stack.callback(session.close)
        if found is not None:
            session.emit(setup.corpus_event(found))
        session.emit(setup.model_event(model))
        _say_who_is_asked(model, verifier, progress)
        budget = Budget(spending.limits_of(settings.budget), session.state.spent)
        model, verifier = spending.within_budget(model, verifier, budget, session.state)
        web = None
        if model.info.kind != "builtin":
            web = open_web(
                session,
                settings,
                Engines(engines, calls=session.state.searches),
                extractor=extractor,
                lane=research.LANE,
            )
        if web is not None:
            progress.say(f"web: {WEB_REACH[settings.egress.mode]}; --egress none closes it")
        place = await setup.open_place(
            session, settings.sandbox, extractor, found, web, model, stack, progress
        )
        task = session.state.task
        question = session.load(task.task) if task else ""
        lane = research.make_lane(session, question, model, place, prompts, _options(settings, budget.limits))
        desk = open_desk(
            session=session,
            settings=settings,
            place=place,
            model=verifier,
            prompts=prompts,
            options=setup.verifier_options(settings, model, verifier, place),
        )
        run = Research(lane, desk, signer, progress.now, budget)
        _listen(run.stop, progress)
        result = await _finish(run, session.root, progress)
        _print(session, result, as_json)
        if spent := spending.in_words(session.state):
            progress.say(spent)
        progress.say(f"Session: {session.root}")
        return result.exit_code


def _say_who_is_asked(model: Model, verifier: Model | None, progress: Progress) -> None:
    """The verifier where it is a model of its own, and what every server that is not local gets to see."""
    if verifier is not None and verifier is not model:
        progress.say(f"verifier: {verifier.info.name} ({verifier.info.kind} at {verifier.info.base_url})")
    for asked in dict.fromkeys(each for each in (model, verifier) if each and not each.info.local):
        from vera.model.url import disclosure

        if sentence := disclosure(asked.info.base_url):
            progress.say(sentence)


def _options(settings: Settings, limits: Limits) -> ResearchOptions:
    return ResearchOptions(
        max_steps=settings.run.max_steps,
        temperature=settings.model.temperature,
        answer_tokens=settings.model.max_tokens,
        system_role=settings.model.system_role,
        high_tokens=settings.context.high_tokens,
        max_chars=settings.context.max_chars or 0,
        tail_steps=settings.context.tail_steps,
        tool_seconds=settings.sandbox.max_tool_seconds,
        search_count=settings.brave.default_count,
        rules=rules_of(settings),
        limits=limits,
    )


async def _finish(run: Research, root: Path, progress: Progress) -> Result:
    """The result of the run; what ends it before there is one ends the command with how to go on."""
    try:
        result = await run.run()
    except ModelError as error:
        stop(f"{error} What was done is kept: go on with 'vera resume {root}'.", NOT_READY)
    except (LogError, StoreError, OSError) as error:
        kept = f"What was done is kept: when that is mended, 'vera resume {root}' goes on."
        stop(f"{in_words(error)} {kept}", ERROR)
    except asyncio.CancelledError:
        progress.done()
        stop(f"stopped. Go on with 'vera resume {root}'.", INTERRUPTED)
    progress.done()
    return result


def _listen(finish: Callable[[str], None], progress: Progress) -> None:
    """First Ctrl-C: finish with what is known. Second, or SIGTERM: stop at once, to be resumed."""
    loop = asyncio.get_running_loop()
    current = asyncio.current_task()
    assert current is not None

    def first() -> None:
        loop.add_signal_handler(signal.SIGINT, current.cancel)
        progress.say("finishing with what is known; Ctrl-C again stops at once")
        finish("interrupted")

    loop.add_signal_handler(signal.SIGINT, first)
    loop.add_signal_handler(signal.SIGTERM, current.cancel)


def _index_progress(progress: Progress) -> Callable[[IndexProgress], None]:
    def show(at: IndexProgress) -> None:
        if at.message:
            progress.now(at.message)
        else:
            progress.now(f"{at.phase}: {at.files} of {at.total} files, {at.bytes / 1e6:.0f} MB")

    return show


def _print(session: Session, result: Result, as_json: bool) -> None:
    if as_json:
        click.echo(printable_json(as_dict(session.root, session.state, result)))
        return
    click.echo(printable(report.plain(result.report)))
    click.echo(printable(report.closing_line(result.report)))


def as_dict(root: Path, state: RunState, result: Result) -> dict[str, object]:
    """The result as `--json` prints it."""
    task = state.task
    return {
        "work_dir": str(root),
        "status": result.status,
        "reason": result.reason,
        "exit_code": result.exit_code,
        "steps": result.steps,
        "spent": spending.spent(state),
        "input_dir": task.input_dir if task else "",
        "answer": result.report.text,
        "checked": checked_as_json(result.report.checked),
        "last_turn": result.report.last_turn,
        "attestation": result.report.attestation,
        "claims": [
            {
                "claim": claim.key,
                "mark": claim.mark,
                "text": claim.text,
                "findings": list(claim.findings),
            }
            for claim in result.report.claims
        ],
        "citations": [
            {
                "citation": quote.label,
                "evidence": quote.evidence,
                "source": quote.source,
                "first": quote.first,
                "last": quote.last,
                "page": quote.page,
                "tier": quote.tier,
                "at": quote.at,
                "quote": "\n".join(quote.lines),
                "sha256": quote.sha256,
                "text_sha256": quote.text_sha256,
                "problem": quote.problem,
            }
            for quote in result.report.quotes
        ],
    }
