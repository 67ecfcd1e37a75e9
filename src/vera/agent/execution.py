"""Execution: a lane that works and may not search.

What it wants to know it asks (`verify`), what it states it states in the words of an attestation, and files
it changes once the theses that have to hold are SUPPORTED.
"""

import time
from collections.abc import Callable
from contextlib import AsyncExitStack

import msgspec

from vera import events
from vera.agent.asking import SubSession
from vera.agent.errors import SetupError
from vera.agent.lanes import LANE, LaneOptions, LanePrompt, main_lane, with_work
from vera.agent.research import Environment, Research, Result, conclude
from vera.agent.reuse import corpus_digest
from vera.agent.rules import for_task
from vera.agent.setup import start_box
from vera.agent.write_guard import GuardedBox
from vera.attestation.execution import needs_computing, verdict_of
from vera.attestation.keys import Signer
from vera.attestation.objects import ObjectError
from vera.attestation.request import normalised, thesis_id
from vera.config import Settings
from vera.config.settings import BUILT_IN
from vera.evidence.extractor import Extractor
from vera.gates.assert_first import missing
from vera.gates.kernel import Required, Rules
from vera.gates.registry import EXECUTE_GATES
from vera.headline import HOLDS
from vera.lane.attested import encoded
from vera.lane.budget import Budget
from vera.lane.loop import Lane
from vera.lane.policy import Policy
from vera.lane.prompts import Prompts
from vera.lane.tools import Tool
from vera.lane.tools.read import Read
from vera.lane.tools.registry import Toolkit, toolset
from vera.lane.tools.verify import Terms, Verify
from vera.model.types import Model
from vera.sandbox import image
from vera.sandbox.box import SupervisedBox
from vera.sandbox.spec import BoxSpec, Quota
from vera.sanitize import one_line
from vera.selection.chooser import Chooser
from vera.session import Reader, Session
from vera.session.session import TRACE
from vera.store import StoreError
from vera.verification.context import VerifierContext
from vera.verification.verifier import Say

CLAIM_SHOWN = 200
MAX_SHOWN = 12


def terms_of(settings: Settings) -> Terms:
    """Where theses of this run may be looked up, at which tier at least, over which files."""
    folder = settings.run.input_dir
    scope = tuple(["files"] * (folder is not None) + ["web"] * (settings.egress.mode != "none"))
    if not scope:
        raise SetupError(
            "Nothing can be verified: there is no input folder and no web. Give --input-dir DIR, or leave "
            "out --egress none.",
            2,
        )
    return Terms(
        scope=scope, risk=settings.run.risk, corpus=corpus_digest(folder.resolve()) if folder else ""
    )


def rules_for(rules: Rules, settings: Settings) -> Rules:
    """The rules with what must be SUPPORTED before files are changed: the theses that the person named, and
    at risk high one thesis in any case. Raises RequestError for what is no thesis."""
    texts = [line for line in settings.run.require_theses.splitlines() if line.strip()]
    return msgspec.structs.replace(
        rules,
        required=tuple(Required(thesis_id(text), normalised(text)) for text in texts),
        one_required=settings.run.risk == "high",
    )


def refuse_open_doors(settings: Settings, model: Model) -> None:
    """Raise SetupError for what would let an execution search, or leave it no one to work."""
    sandbox = settings.sandbox
    if sandbox.backend == "host" or sandbox.privileged:
        what = "--privileged" if sandbox.privileged else "--sandbox host"
        raise SetupError(
            f"The execute lane has no network and no files but its own, and {what} isolates from neither. "
            "Leave it out, or use --sandbox none for a lane without commands.",
            2,
        )
    if model.info.kind == BUILT_IN:
        raise SetupError(
            "The execute lane needs a language model to do the work; the built-in one only finds passages. "
            "Start a server, or name one: vera run --lane execute --model-base-url URL",
            5,
        )


async def open_place(
    session: Session,
    settings: Settings,
    rules: Rules,
    extractor: Extractor,
    stack: AsyncExitStack,
    progress: image.Progress,
) -> Environment:
    """Where the lane works: a box on its own workspace, without input folder and without network, which
    cannot write to /work while a required thesis is not SUPPORTED. Raises SetupError."""
    no_shell = Environment(extractor=extractor, box=None, corpus=None)
    if settings.sandbox.backend == "none":
        return no_shell

    def may_change() -> bool:
        return not missing(rules, session.state.attestations.values(), time.time())

    may_write = may_change()
    first = await _open(session, settings, stack, progress, may_write=may_write)
    if first is None:
        return no_shell
    again = settings.model_copy(
        update={"sandbox": settings.sandbox.model_copy(update={"backend": first.backend})}
    )

    async def reopen(may_write: bool) -> SupervisedBox | None:
        return await _open(session, again, stack, progress, may_write=may_write)

    box = GuardedBox(first, may_write, reopen, may_change)
    return msgspec.structs.replace(no_shell, box=box, work_name=first.work)


async def _open(
    session: Session,
    settings: Settings,
    stack: AsyncExitStack,
    progress: image.Progress,
    *,
    may_write: bool,
) -> SupervisedBox | None:
    folder = settings.run.input_dir
    spec = BoxSpec(
        work=session.workspace,
        profile=settings.sandbox.profile,
        work_read_only=not may_write,
        quota=Quota(settings.sandbox.work_bytes, settings.sandbox.work_files),
        hidden=(folder,) if folder else (),
        run=session.root.name,
        forbidden=(session.root / "trace.jsonl", session.store.root),
    )
    box = await start_box(session, settings.sandbox, spec, None, stack, progress)
    if box is not None:
        lock = "" if may_write else "; /work is read-only until the required theses are SUPPORTED"
        session.emit(
            events.Sandbox(
                backend=box.backend,
                isolation=f"{box.isolation}{lock}",
                profile=spec.profile,
                work_dir=box.work,
            )
        )
    return box


def make_lane(
    session: Session,
    task: str,
    model: Model,
    place: Environment,
    sub_session: SubSession,
    terms: Terms,
    prompts: Prompts,
    options: LaneOptions,
    chooser: Chooser | None = None,
) -> Lane:
    """The main lane of an execution, new or resumed, ready to `run`. `options.rules` are those of
    `rules_for`. Raises TaskTooLong, PromptError."""
    tools = _tools(session, place, Verify(sub_session, terms), options)
    required = [each.text for each in options.rules.required]
    system = prompts.render(
        "execute_system",
        protocol=model.info.protocol,
        tools=[tool.spec for tool in tools],
        has_shell=place.box is not None,
        work_name=place.work_name,
        isolation=place.box.isolation if place.box else "",
    )
    message = prompts.render(
        "execute_task",
        task=task.strip(),
        required=required,
        one_required=options.rules.one_required and not required,
        scope=terms.scope,
    )
    specs = [tool.spec for tool in tools]
    rules = for_task(options.rules, task, specs, has_input=False, has_web=False, can_render=False)
    rules = msgspec.structs.replace(rules, work_locked=place.box is not None)
    head = LanePrompt(
        purpose="execute",
        system=system,
        task_message=message,
        templates=("execute_system", "execute_task"),
        long_material="a file of the workspace",
    )
    policy = Policy(gates=(*EXECUTE_GATES, *options.gates), rules=rules)
    return main_lane(session, head, model, tools, prompts, policy, options, chooser)


def _tools(session: Session, place: Environment, verify: Verify, options: LaneOptions) -> list[Tool]:
    def attested(handle: str) -> str:
        received = session.state.attestations.get(handle)
        if received is None:
            return ""
        try:
            return encoded(received, session.store)
        except (StoreError, ObjectError, OSError):
            return "{}"

    read = Read(None, session.workspace, place.extractor, attested=attested)
    kit = Toolkit(verify=verify, read=read)
    return toolset(with_work(kit, session, place.box, options.tool_seconds))


class Execution(Research):
    """One run of work: the lane, then the verdict on its answer. An answer that is not carried is taken back
    with what is missing, as often as a verifier would."""

    def __init__(
        self, lane: Lane, context: VerifierContext, signer: Signer, now: Say, budget: Budget, prompts: Prompts
    ) -> None:
        super().__init__(lane, context, signer, now, budget)
        self._prompts = prompts

    async def run(self, clock: Callable[[], float] = time.time) -> Result:
        """Work to the end of the run and conclude it. Raises as `Research.run` does."""
        self._seal_beginning()
        with self._within_time():
            while (answer := (await self._lane.run()).answer) is not None:
                verdict, number = await self._judge(answer)
                if verdict is None or verdict.status in HOLDS or self._ends_here(number):
                    break
                self._take_back(answer, verdict, number)
        return conclude(
            self._context.session,
            self._signer,
            interrupted=self._was_stopped() and not self._out_of_time(),
            spent=self._spent(),
            require=self._context.options.require,
            clock=clock,
        )

    async def _judge(self, answer: events.Answer) -> tuple[events.ExecutionVerdict | None, int]:
        """The verdict on the answer and which one of the run it is; None when the run was stopped before."""
        session = self._context.session
        text = session.load(answer.text)
        known = session.state.execution
        if known is None or known.answer_seq != answer.seq:
            if needs_computing(text) and await self._verify(last=True) is None:
                return None, 0
            records = [record for _, record in Reader(session.root / TRACE).poll()]
            known = session.emit(verdict_of(records, session.store, answer), lane=LANE)
        log = (record for _, record in Reader(session.root / TRACE).poll())
        return known, sum(isinstance(record, events.ExecutionVerdict) for record in log)

    def _ends_here(self, number: int) -> bool:
        state = self._lane.state
        out_of_steps = bool(self._lane.max_steps) and state.step >= self._lane.max_steps
        spent = out_of_steps or self._budget.refusal is not None
        return self._was_stopped() or spent or number >= self._context.options.rounds

    def _take_back(self, answer: events.Answer, verdict: events.ExecutionVerdict, number: int) -> None:
        session = self._context.session
        text = session.load(answer.text)
        open_ = [claim for claim in verdict.claims if not claim.by]
        reply = self._prompts.render(
            "execute_feedback",
            number=number,
            rounds=self._context.options.rounds,
            reason=verdict.reason,
            claims=[
                (one_line(text[claim.start : claim.end], CLAIM_SHOWN), claim.reason)
                for claim in open_[:MAX_SHOWN]
            ],
            more=len(open_[MAX_SHOWN:]),
        )
        session.emit(
            events.VerifierToAgent(round=number, step=answer.step, content=session.text(reply)), lane=LANE
        )
