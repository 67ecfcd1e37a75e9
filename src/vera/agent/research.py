"""Research: a lane answers, its answer is verified, and the best verified answer of all rounds is kept."""

import asyncio
import itertools
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import msgspec

from vera import events
from vera.agent import messages, spending
from vera.agent.concluded import nothing_found
from vera.agent.follow_up import before_in_words, in_full
from vera.agent.lanes import LANE, LaneOptions, LanePrompt, main_lane, with_work
from vera.agent.question import settle_form
from vera.agent.rules import for_task
from vera.agent.unanswered_report import without_answer
from vera.agent.web import Web
from vera.attestation.exam import told
from vera.attestation.keys import Signer
from vera.config.settings import BUILT_IN
from vera.evidence.extractor import Extractor
from vera.evidence.speaks import speaks_of
from vera.gates.registry import CHECK_GATES, GATES
from vera.headline import EXIT_CODES, HEADLINES, HOLDS, Headline, exit_code, headline, word_of
from vera.lane.budget import Budget, BudgetLimits
from vera.lane.loop import Lane
from vera.lane.policy import Policy
from vera.lane.prompts import Prompts
from vera.lane.tools import Tool
from vera.lane.tools.read import Read
from vera.lane.tools.registry import Toolkit, toolset
from vera.lane.tools.search import Searched
from vera.model.types import Model, ModelError, ModelInfo
from vera.protocol import tools as functions
from vera.report.search_summary import NOTHING_FOUND
from vera.report.trajectory import keep_trajectory
from vera.sandbox.types import Box
from vera.search.corpus import Corpus
from vera.selection.chooser import Chooser
from vera.session import Session, replace_file
from vera.session.session import ANSWER
from vera.state import LaneState, RunState
from vera.store import Store
from vera.usage import BYTES_PER_TOKEN, GUIDED
from vera.verification.context import VerifierContext

if TYPE_CHECKING:
    from vera.report.answer import Report

# What judges an answer and reports on it is imported when there is one: the first question is asked without.

Say = Callable[[str], None]

OUT_OF_TIME = "time"
"""Why a lane ends whose run has no time left."""

LOST = "model"
"""Why a lane ends whose model cannot be asked any more."""

AGENT = "agent"
"""The mode of a run whose model takes turns."""

FILES_LISTED = 40
HEAD_SHARE = 0.25
"""Of a context: what instructions, tools and task take of it at most, with the files that are named."""

LISTING_BYTES = 120
"""What the list of files takes beside their names."""


def _silent(_: str) -> None:
    """No-op callback."""


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """What the lane has to work with: its box (None: no shell), its corpus of so many `files` (None: no
    input folder), what makes text of files, its way to the web (None: there is none), how the model sees the
    two folders, and the captured `pages` that are searched and read as files are, by name."""

    extractor: Extractor
    box: Box | None
    corpus: Corpus | None
    files: int = 0
    web: Web | None = None
    work_name: str = "/work"
    input_name: str = "/input"
    pages: Mapping[str, events.Evidence] = {}


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What a run came to, ready to be shown. `remarks` say what could not be written beside the log, `lost`
    why the model could not be asked any more, where the run can go on from there."""

    status: str
    reason: str
    exit_code: int
    report: "Report"
    steps: int
    remarks: tuple[str, ...] = ()
    lost: str = ""


def make_lane(
    session: Session,
    task: str,
    model: Model,
    place: Environment,
    prompts: Prompts,
    options: LaneOptions,
    chooser: Chooser | None = None,
    lane: str = LANE,
    scope: str = "agent",
) -> Lane:
    """The main lane of a research run, or one that answers in its place, new or resumed, ready to `run`.

    Raises TaskTooLong, PromptError.
    """
    is_built_in = model.info.kind == BUILT_IN
    tools = _tools(session, place, options)
    if not is_built_in:
        tools += options.tools
    system = prompts.render(
        "system",
        protocol=model.info.protocol,
        tools=[tool.spec for tool in tools],
        has_shell=place.box is not None,
        has_input=place.corpus is not None,
        work_name=place.work_name,
        input_name=place.input_name,
        isolation=place.box.isolation if place.box else "",
        reach=place.web.reach if place.web and place.box and place.box.backend != "host" else "",
    )
    asked = in_full(session, task) if is_built_in else task
    message = prompts.render(
        "task",
        task=asked.strip(),
        files=_listed(place, model.info, head_bytes(model.info.protocol, tools, system, task)),
        count=place.files + len(place.pages),
        input_name=place.input_name,
    )
    templates: tuple[str, ...] = ("system", "task")
    if before := "" if is_built_in else before_in_words(session, model.info.context_tokens):
        message += "\n\n" + prompts.render("follow_up", before=before, count=len(place.pages))
        templates = (*templates, "follow_up")
    rules = for_task(
        options.rules,
        task,
        [tool.spec for tool in tools],
        has_input=place.corpus is not None,
        has_web=place.web is not None,
        can_render=place.web is not None and place.web.capture.can_render(),
        engines=place.web.search.engines.names() if place.web is not None else (),
    )
    # The built-in model plans its few steps itself: there is no one to advise.
    gates = CHECK_GATES if is_built_in else (*GATES, *options.gates)
    head = LanePrompt(
        lane=lane,
        scope=scope,
        purpose="research",
        system=system,
        task_message=message,
        templates=templates,
        long_material="a file of the input folder (--input-dir)",
    )
    policy = Policy(gates=gates, rules=rules)
    made = main_lane(session, head, model, tools, prompts, policy, options, chooser)
    if place.web is not None:
        place.web.command.record = made.record
        place.web.command.judge = made.gate_runner.connect
        place.web.tunnel.judge = made.gate_runner.connection
    return made


class Instead(Protocol):
    """What answers in place of a model that came to no usable answer (`vera.agent.extracts`)."""

    def stop(self, reason: str) -> None:
        """End what is under way; where only the time is spent (OUT_OF_TIME), what takes no model goes on."""
        ...

    async def answer(self, context: VerifierContext, signer: Signer) -> events.Verifier | None:
        """The decision on the answer, None where there was nothing to answer from."""
        ...


class Research:
    """One run: the lane, then rounds of verification, until an answer is verified or no round is left.

    An answer is replaced only by one that is better verified: the best of the rounds wins, not the last.
    Where the lane ends without an answer, `extracts` give one (None: nothing does). Where it is not to act
    (`acts`), because its model cannot be asked any more, they are all that answers.
    """

    def __init__(
        self,
        lane: Lane,
        context: VerifierContext,
        signer: Signer,
        now: Say = _silent,
        budget: Budget | None = None,
        extracts: Instead | None = None,
        *,
        acts: bool = True,
    ) -> None:
        self._lane = lane
        self._acts = acts
        self._context = context
        self._signer = signer
        self._now = now
        self._budget = budget or Budget(BudgetLimits())
        self._extracts = extracts
        self._stopped = ""
        self._lost = ""
        self._verifying: asyncio.Task[events.Verifier] | None = None

    def stop(self, reason: str, *, at_once: bool = True) -> None:
        """Finish with what is known, as soon as what is being waited for could be cancelled; not at once, the
        step that runs is done to its end, and only a verification is cancelled.

        Of two reasons the first counts.
        """
        self._stopped = self._stopped or reason
        self._lane.stop(self._stopped, at_once=at_once)
        if self._extracts is not None:
            self._extracts.stop(reason)
        if self._verifying is not None:
            self._verifying.cancel()

    async def run(self, clock: Callable[[], float] = time.time) -> Result:
        """Work to the end of the run and conclude it.

        Raises LogError, StoreError or OSError when nothing can be written, and ModelError when the model that
        answers cannot be reached any more and there are no extracts: the session can be resumed.
        """
        self._seal_beginning()
        best = await self.answer()
        if best is not None:
            decided = sum(each.decision is not None for each in self._context.session.state.rounds.values())
            choose(self._context.session, best, decided)
        result = conclude(
            self._context.session,
            self._signer,
            interrupted=self._was_stopped() and not self._out_of_time(),
            spent=self._spent(),
            require=self._context.options.require,
            clock=clock,
        )
        return msgspec.structs.replace(result, lost=self._lost)

    async def answer(self) -> events.Verifier | None:
        """The decision on the best answer to the question of now, None where there is none. Raises as `run`
        does."""
        mode = self._context.session.state.mode
        acts = self._acts and (mode is None or mode.mode == AGENT)
        await settle_form(self._context if acts else msgspec.structs.replace(self._context, model=None))
        with self._within_time():
            while acts and await self._answered():
                decision = await self._verify(last=self._is_last())
                if decision is None or self._is_last() or _is_settled(decision):
                    break
                if not _tell(self._context, decision):
                    break
            await self._extract()
        return self._best()

    @property
    def lost(self) -> str:
        """Why the model could not be asked any more, '' where it could."""
        return self._lost

    @property
    def spent(self) -> str:
        """The budget that ended it, as half a sentence; '' when none did."""
        return self._spent()

    async def _answered(self) -> bool:
        """Whether the lane came to an answer; a model that cannot be asked any more ends it."""
        try:
            return (await self._lane.run()).answer is not None
        except ModelError as error:
            if self._extracts is None:
                raise
            self._lost = str(error)
            self._context.session.emit(events.LaneEnded(reason=LOST, detail=self._lost), lane=self._lane.name)
            return False

    async def _extract(self) -> None:
        """Answer with extracts where the lane came to no usable answer and no conclusion, but not where a
        person ended it."""
        if self._extracts is None or (self._was_stopped() and not self._out_of_time()):
            return
        if nothing_found(self._context.session) or self._has_usable_answer():
            return
        await self._extracts.answer(self._context, self._signer)

    def _has_usable_answer(self) -> bool:
        """Whether the lane's last answer cites something that was read, or was not judged; without one,
        whether an earlier answer has fewer hard findings than claims: some of it may hold."""
        state, last = self._context.session.state, self._lane.state.answer
        decided = self._decided()
        if last is None:
            return any(each.hard < each.claims for each in decided)
        judged = [each for each in decided if each.answer_seq == last.seq]
        return not judged or not _cites_nothing(state, judged[-1])

    def _decided(self) -> list[events.Verifier]:
        """The decisions on answers of its lane, in order."""
        state = self._context.session.state
        decisions = (each.decision for each in state.rounds.values() if each.decision)
        return [each for each in decisions if state.answers[each.answer_seq].lane == self._lane.name]

    def _seal_beginning(self) -> None:
        """Seal what the run begins with, the model server that was found too, so that it is known to be
        the user's when it is killed and goes on (`attestation.own_log`)."""
        self._context.session.seal(self._signer.seal)

    @contextmanager
    def _within_time(self) -> Iterator[None]:
        """Stop the run when its time is spent; what it took before it was resumed counts."""
        left = self._budget.seconds_left(self._context.session.state.spent.seconds)
        if left is None:
            yield
            return
        if left <= 0:
            self.stop(OUT_OF_TIME)
        timer = asyncio.get_running_loop().call_later(max(0.0, left), self.stop, OUT_OF_TIME)
        try:
            yield
        finally:
            timer.cancel()

    def _spent(self) -> str:
        """The budget that ended the run, as half a sentence; '' when none did."""
        if self._out_of_time():
            return self._budget.out_of_time
        return str(self._budget.refusal or "")

    def _was_stopped(self) -> bool:
        return bool(self._stopped)

    def _out_of_time(self) -> bool:
        return self._stopped == OUT_OF_TIME

    def _is_last(self) -> bool:
        """Whether no further answer can follow the one of now."""
        rounds, state = self._context.session.state.rounds, self._lane.state
        answers = self._context.session.state.answers
        begun = sum(
            1
            for each in rounds.values()
            if each.started.answer_seq != _seq(state)
            and answers[each.started.answer_seq].lane == self._lane.name
        )
        out_of_steps = bool(self._lane.max_steps) and state.step >= self._lane.max_steps
        spent = out_of_steps or self._budget.refusal is not None
        return self._was_stopped() or spent or begun + 1 >= self._context.options.rounds

    async def _verify(self, *, last: bool) -> events.Verifier | None:
        """The decision on the answer of now; None when the run was stopped meanwhile.

        One that a spent budget cut short is made again: the run was resumed, perhaps with more.
        """
        decided = [
            each
            for each in self._context.session.state.rounds.values()
            if each.decision and each.started.answer_seq == _seq(self._lane.state)
        ]
        if decided and not spending.was_cut_short(decided[-1]):
            return decided[-1].decision
        if self._was_stopped():
            return None
        from vera.verification.verifier import verify

        self._verifying = asyncio.ensure_future(verify(self._context, self._signer, last=last, now=self._now))
        try:
            return await self._verifying
        except asyncio.CancelledError:
            task = asyncio.current_task()
            asked_twice = task is not None and task.cancelling() > 0
            if asked_twice or not self._was_stopped():
                raise
            return None
        finally:
            self._verifying = None

    def _goes_before(self, written: events.Verifier, other: events.Verifier) -> bool:
        """Whether what a model wrote in guided mode goes before another answer: it is proved as strongly, and
        where only a rule read it, each of its sentences speaks of the question."""
        session = self._context.session
        question, answer = session.state.question, session.state.written
        if not _is_as_strong(session.state, written, other):
            return False
        if word_of(session.state.rounds[written.round].word) == "VERIFIED":
            return True
        sentences = session.load(answer.text).split("\n\n") if answer else []
        asked = session.load(question) if question is not None else ""
        return all(speaks_of(asked, [sentence]) for sentence in sentences)

    def _best(self) -> events.Verifier | None:
        state = self._context.session.state
        decisions = [each.decision for each in state.rounds.values() if each.decision]
        by_model = self._decided()
        by_rule = [each for each in decisions if state.extracts and each.answer_seq == state.extracts.seq]
        best = min(by_model, key=_rank, default=None)
        if by_rule and (best is None or by_rule[-1].result == "SUPPORTED" or _cites_nothing(state, best)):
            best = by_rule[-1]
        written = [each for each in decisions if state.written and each.answer_seq == state.written.seq]
        if written and (best is None or self._goes_before(written[-1], best)):
            best = written[-1]
        return best


def choose(session: Session, best: events.Verifier, of: int = 1) -> None:
    """Log that the answer of this decision is that of the run, the best of so many rounds."""
    session.emit(
        events.AnswerChosen(
            round=best.round,
            answer_seq=best.answer_seq,
            attestation=best.attestation,
            reason=f"{best.result.lower()}, {best.hard} hard findings"
            + (f", the best of {of} rounds" if of > 1 else ""),
        )
    )


def _is_settled(decision: events.Verifier) -> bool:
    """Whether the agent can do nothing more: it is verified, or no reading of the judge could be used."""
    unjudged = decision.reason == "JUDGE_UNRELIABLE" and not decision.hard
    return decision.result == "SUPPORTED" or unjudged


def _seq(lane: LaneState) -> int:
    return lane.answer.seq if lane.answer else 0


def _cites_nothing(state: RunState, decision: events.Verifier) -> bool:
    """Whether the answer that was judged states something, and cites nothing that had been read by then."""
    answer = state.answers[decision.answer_seq]
    cited = (state.evidence.get(each.evidence) for each in answer.citations)
    read = any(each is not None and each.seq < answer.seq and not each.lead for each in cited)
    return decision.hard > 0 and not decision.supported and not read


def _is_as_strong(state: RunState, written: events.Verifier, other: events.Verifier) -> bool:
    """Whether what a model wrote in guided mode goes before another answer: it holds and is proved as
    strongly, or it is proved more strongly without a hard finding."""
    words = [HEADLINES.index(word_of(state.rounds[each.round].word)) for each in (written, other)]
    holds = state.rounds[written.round].word in HOLDS
    return words[0] <= words[1] if holds else words[0] < words[1] and not written.hard


RESULTS = ("SUPPORTED", "DISPUTED", "INCONCLUSIVE", "UNSUPPORTED")
"""From best to worst, for the choice among rounds."""


def _rank(decision: events.Verifier) -> tuple[int, int, int, int, int]:
    """Fewest hard findings, then result, most claims supported, score, fewest soft; the earlier of equals."""
    return (
        decision.hard,
        RESULTS.index(decision.result),
        decision.claims - decision.supported,
        -(decision.score or 0),
        decision.soft,
    )


def conclude(
    session: Session,
    signer: Signer | None = None,
    *,
    interrupted: bool = False,
    spent: str = "",
    lost: str = "",
    require: str = "quoted",
    clock: Callable[[], float] = time.time,
) -> Result:
    """End the run of a lane that has ended: status, answer, attestation, last record, seal, trajectory.

    `spent` says which budget ended it, '' when none did, and `lost` why the model of a report could not be
    asked any more; `require` what the status must be at least for exit
    code 0.
    """
    from vera.report.answer import markdown

    status, reason, code = _verdict(session.state, interrupted, spent)
    if lost and status not in HOLDS:
        reason, code = f"{reason}; {lost.rstrip('.')}", 5
    if session.state.chosen is None and nothing_found(session):
        reason = NOTHING_FOUND
    if judged := told(session.state.exams):
        reason = f"{reason}; {judged}"
    if (required := exit_code(status, code, require)) != code:
        reason, code = f"{reason}; {require.upper()} was required", required
    lane = session.state.lane(LANE)
    session.emit(events.Status(step=lane.step, status=status, reason=reason), lane=LANE)
    result = result_of(session.state, session.store, code)
    task = session.load(session.state.task.task) if session.state.task else ""
    replace_file(session.root / ANSWER, markdown(task, result.report).encode("utf-8", "replace"))
    if chosen := _chosen(session.state):
        replace_file(session.root / "attestation.json", session.store.get(chosen.envelope.sha256))
    session.finish(
        events.RunEnd(
            status=status,
            reason=reason,
            exit_code=code,
            steps=session.state.steps,
            seconds=round(max(0.0, clock() - session.state.started_ts), 3),
        ),
        signer.seal if signer else None,
    )
    problem = keep_trajectory(session.root, spending.spent)
    return msgspec.structs.replace(result, remarks=(problem,) if problem else ())


def result_of(state: RunState, store: Store, exit_code: int = 3) -> Result:
    """The result of a run as its log has it so far.

    Raises StoreError when a part of the answer is missing or altered in the store.
    """
    from vera.report.answer import build

    lane = state.lane(LANE)
    return Result(
        status=state.status,
        reason=lane.status_reason,
        exit_code=state.ended.exit_code if state.ended else exit_code,
        report=build(state, store, without_answer(state)),
        steps=state.steps,
    )


def _tell(context: VerifierContext, decision: events.Verifier) -> bool:
    """Whether there was anything to tell."""
    from vera.verification import feedback

    return feedback.tell(context, decision) is not None


def _tools(session: Session, place: Environment, options: LaneOptions) -> list[Tool]:
    corpus: Searched | None = place.corpus
    read: Tool = Read(place.corpus, session.workspace, place.extractor, place.input_name)
    if place.pages:
        from vera.lane.tools.pages import Pages, ReadPages

        corpus, read = Pages(place.pages, session.store, place.corpus), ReadPages(place.pages, read)
    web, reads = place.web, bool(corpus or place.web or place.box)
    kit = Toolkit(
        corpus=corpus,
        files=place.files + len(place.pages),
        capture=web.capture if web is not None else None,
        web=web.search if web is not None else None,
        count=options.search_count,
        read=read if reads else None,
    )
    passed = web.pages if web is not None else None
    return toolset(with_work(kit, session, place.box, options.tool_seconds, passed))


def head_bytes(protocol: str, tools: Sequence[Tool], *texts: str) -> int:
    """What stands before the first turn: the texts, and the functions where the protocol sends them."""
    sent = json.dumps(functions.definitions([tool.spec for tool in tools])) if protocol == "tools" else ""
    return sum(len(text.encode("utf-8", "replace")) for text in (*texts, sent))


def _listed(place: Environment, info: ModelInfo, taken: int) -> list[str]:
    """The input files that the task names: the first ones, as far as the head, of which so many bytes are
    taken, stays within its share of a small context."""
    names = [*(place.corpus.names(FILES_LISTED) if place.corpus else []), *place.pages][:FILES_LISTED]
    if info.context_tokens is None:
        return names
    room = info.context_tokens * HEAD_SHARE * BYTES_PER_TOKEN - taken - LISTING_BYTES
    sizes = itertools.accumulate(len(name.encode("utf-8", "replace")) + 3 for name in names)
    return [name for name, size in zip(names, sizes, strict=True) if size <= room]


def _chosen(state: RunState) -> events.Verifier | None:
    """The decision on the answer that was chosen."""
    return state.rounds[state.chosen.round].decision if state.chosen else None


def _verdict(state: RunState, interrupted: bool, spent: str = "") -> tuple[str, str, int]:
    """Status, reason and exit code. The status is the word for what an attestation says."""
    lane, decision = state.lane(LANE), _chosen(state)
    if (executed := state.execution) is not None and executed.answer_seq == _seq(lane):
        return _executed(executed, lane, interrupted, spent)
    if decision is not None:
        word = headline(decision.result, decision.reason, state.rounds[decision.round].started.rule)
        why = messages.reason(word, decision)
        if decision.answer_seq == (state.extracts.seq if state.extracts else 0):
            cause, code = _unwritten(state, spent) or _unanswered(lane, spent)
            why = f"{why}; extracts, because {cause}"
            return word, why, EXIT_CODES[word] if word in HOLDS else code
        why = "; ".join(filter(None, [why, still_open(state)]))
        return _ended(word, why, lane, interrupted, spent)
    if lane.answer is not None and spent:
        return "UNRESOLVED", f"{spent}, and the answer was not verified before", 6
    if lane.answer is not None:
        return "UNRESOLVED", "stopped before the answer was verified", 130
    return "UNRESOLVED", *(_unwritten(state, spent) or _unanswered(lane, spent))


def still_open(state: RunState) -> str:
    """How many sub-questions of a report stayed open, as half a sentence; '' for none."""
    left = sum(each.status not in HOLDS for each in state.sub_answers.values())
    return f"{left} of {len(state.sub_answers)} sub-questions stayed open" if left else ""


def _unwritten(state: RunState, spent: str) -> tuple[str, int] | None:
    """Why the model's own sentences are not the answer of a run in guided mode, and the exit code of that;
    None for another run."""
    if state.mode is None or state.mode.mode == AGENT:
        return None
    if spent:
        return f"{spent}; {state.mode.reason}", 6
    if state.written is not None:
        return f"what the model wrote is not proved as strongly; {state.mode.reason}", 3
    lanes = [lane for name, lane in state.lanes.items() if name.startswith(GUIDED) and lane.ended]
    ended = lanes[-1].ended if lanes else None
    detail = ended.detail.rstrip(".") if ended else "there were no lines to write from"
    return f"{detail}; {state.mode.reason}", 5 if ended and ended.reason == LOST else 3


def _unanswered(lane: LaneState, spent: str) -> tuple[str, int]:
    """Why a lane came to no answer, and the exit code of that."""
    ended = lane.ended
    match ended.reason if ended else "":
        case "interrupted":
            return "interrupted before an answer was reached", 130
        case "tokens" | "cost" | "time":
            return f"{spent} and no answer was reached", 6
        case "steps":
            return f"{ended.detail if ended else ''} and no answer was reached", 6
        case "conclusion_ready":
            return (ended.detail if ended else "").partition(". ")[0], 3
        case "answered":
            return "the model's answer cites no line that it read", 6 if spent else 3
        case reason:
            detail = (ended.detail if ended else "unknown").rstrip(".")
            return f"no answer was reached: {detail}", 5 if reason == LOST else 3


def _ended(
    word: Headline, reason: str, lane: LaneState, interrupted: bool, spent: str
) -> tuple[str, str, int]:
    """Status, reason and exit code of an answer with a verdict."""
    code = EXIT_CODES[word]
    if word in HOLDS:
        return word, reason, code
    if lane.ended and lane.ended.reason == LOST:
        return word, f"{reason}; {lane.ended.detail.rstrip('.')}", 5
    if interrupted:
        return word, reason, 130
    if code != EXIT_CODES["UNRESOLVED"]:
        return word, reason, code
    if spent:
        return word, f"{reason}; {spent}", 6
    return word, reason, 6 if lane.ended and lane.ended.reason == "steps" else code


def _executed(
    verdict: events.ExecutionVerdict, lane: LaneState, interrupted: bool, spent: str
) -> tuple[str, str, int]:
    """The same of an execution: its answer rests on attestations."""
    return _ended(word_of(verdict.status), verdict.reason, lane, interrupted, spent)
