"""Check lanes: real tools over a real input folder; the model is a script."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest

from support.lanes import INFO, FunctionModel, new_session
from support.turns import final, turn
from support.workers import Workplace, begin_round, verifier_context_of, workplace
from vera import events
from vera.agent.lanes import Environment
from vera.config.loading import defaults
from vera.extraction.extractor import Extractor
from vera.model.types import Choice, Completion, Message, ModelError, Request
from vera.protocol import Turn, text
from vera.runtime.setup import open_input
from vera.sandbox.backends import open_box
from vera.sandbox.spec import BoxSpec
from vera.session import Reader, Session
from vera.session.session import TRACE
from vera.verification.check import check, check_all
from vera.verification.context import VerifierContext

QUESTION = events.Question(
    claim="c1", question="Does the register say 1843?", source="register.txt", label="misinterpretation"
)


class Scripted(FunctionModel):
    """Each lane gets these turns in order; the requests are kept."""

    def __init__(self, *turns: Turn | str, parallel: int = 1) -> None:
        self.info = msgspec.structs.replace(INFO, parallel=parallel)
        self.asked: list[Sequence[Message]] = []
        self.at_once = self.most_at_once = 0
        self._turns = [each if isinstance(each, str) else text.render(each) for each in turns]

    async def complete(self, request: Request) -> Completion:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        self.asked.append(request.messages)
        done = sum(message.role == "assistant" for message in request.messages)
        return Completion(choices=(Choice(content=self._turns[min(done, len(self._turns) - 1)]),))


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    given = tmp_path / "in"
    given.mkdir()
    (given / "register.txt").write_text("The bridge\nwas opened in 1843.\n")
    made = new_session(tmp_path / "run")
    made.emit(events.Task(task="When was the bridge opened?", input_dir=str(given)), lane="")
    begin_round(made, 1)
    yield made
    made.close()


def with_desk(
    session: Session,
    model: FunctionModel,
    use: Callable[[VerifierContext], Coroutine[Any, Any, None]],
    **options: object,
) -> None:
    """Run `use(context)` on a context with the real tools and no sandbox."""
    task = session.state.task
    assert task is not None
    with ExitStack() as stack:
        extractor = stack.enter_context(Extractor())
        found = open_input(Path(task.input_dir), defaults(), extractor, stack, lambda at: None)
        place = Environment(extractor=extractor, box=None, corpus=found.corpus, files=1)
        context = msgspec.structs.replace(verifier_context_of(session, place, **options), model=model)
        asyncio.run(use(context))


def look_up(session: Session, *turns: Turn | str, **options: object) -> events.VerifierCheck:
    found: list[events.VerifierCheck] = []

    async def use(context: VerifierContext) -> None:
        found.append(await check(context, 1, 1, QUESTION))

    with_desk(session, Scripted(*turns), use, **options)
    return found[0]


READ = turn("read", path="register.txt")


def test_lines_that_the_check_has_not_read_decide_nothing(session: Session) -> None:
    """The evidence is there, captured by another lane, and the check cites it unread."""
    assert look_up(session, READ, final("yes [ev_0001:2]")).answer == "yes"
    done = look_up(session, final("yes [ev_0001:2]"))
    assert (done.answer, done.citations) == ("unknown", ())
    assert "no lines that it read" in done.reason


def test_an_answer_with_captured_lines_counts(session: Session) -> None:
    done = look_up(session, READ, final("yes [ev_0001:2]"))
    assert (done.answer, done.reason, done.check_lane) == ("yes", "", "check-1.1")
    assert [(cited.evidence, cited.first, cited.last) for cited in done.citations] == [("ev_0001", 1, 2)]
    lane = session.state.lane("check-1.1")
    assert lane.started is not None
    assert lane.started.purpose == "check"
    assert session.state.rounds[1].checks == (done,)
    assert session.state.rounds[1].model_calls == 2


@pytest.mark.parametrize("said", ["No. [ev_0001:2]", "no: it says 1843 [ev_0001:2]", "NO [ev_0001]"])
def test_the_word_may_be_written_in_any_case_and_explained(session: Session, said: str) -> None:
    assert look_up(session, READ, final(said)).answer == "no"


@pytest.mark.parametrize(
    "said",
    [
        "yes",
        "yes [ev_0009:2]",
        "yes [ev_0001:7]",
        "yes and no [ev_0001:2]",
        "yesterday [ev_0001:2]",
        "It says yes [ev_0001:2]",
        "unknown [ev_0001:2]",
    ],
)
def test_an_answer_without_its_word_or_its_lines_is_unknown(session: Session, said: str) -> None:
    done = look_up(session, READ, final(said))
    assert done.answer == "unknown"
    assert done.reason


def test_a_search_hit_is_no_evidence(session: Session) -> None:
    done = look_up(session, turn("search", query="bridge"), final("yes [ev_0001:2]"))
    assert done.answer == "unknown"


def test_a_lane_without_an_answer_is_unknown(session: Session) -> None:
    done = look_up(session, READ)
    assert (done.answer, done.reason) == (
        "unknown",
        "the look-up ended without an answer: all 4 steps are used",
    )


def test_a_model_that_keeps_no_format_is_unknown(session: Session) -> None:
    done = look_up(session, "score 4", check_steps=20)
    assert done.answer == "unknown"
    assert "3 turns in a row broke the format" in done.reason


def test_a_lane_that_fails_three_times_in_the_same_way_is_ended(session: Session) -> None:
    done = look_up(session, turn("read", path="nothing.txt"), check_steps=20)
    assert "read failed 3 times in the same way" in done.reason
    lane = session.state.lane("check-1.1")
    assert (lane.step, lane.ended and lane.ended.reason) == (3, "loop")


def test_failures_of_several_kinds_do_not_end_a_lane(session: Session) -> None:
    several = [turn("read", path="a.txt"), turn("read", path="b.txt")] * 3
    done = look_up(session, *several, READ, final("yes [ev_0001:2]"), check_steps=20)
    assert done.answer == "yes"


def test_a_model_that_cannot_be_reached_is_unknown(session: Session) -> None:
    class Gone(FunctionModel):
        def __init__(self) -> None:
            super().__init__(lambda messages: "")

        async def complete(self, request: Request) -> Completion:
            raise ModelError("The model server is gone.")

    found: list[events.VerifierCheck] = []

    async def use(context: VerifierContext) -> None:
        found.append(await check(context, 1, 1, QUESTION))

    with_desk(session, Gone(), use)
    assert found[0].answer == "unknown"
    assert found[0].reason == "the look-up failed: The model server is gone."
    assert session.state.lane("check-1.1").ended is not None


def test_the_lane_of_an_interrupted_run_is_left_alone(session: Session) -> None:
    session.emit(events.Note(step=1, text="half done"), lane="check-1.1")
    assert look_up(session, READ, final("yes [ev_0001:2]")).check_lane == "check-1.1b"


def test_a_lane_sees_the_question_and_no_word_of_the_worker(session: Session) -> None:
    session.emit(events.Note(step=1, text="I think it was 1843, say VERIFIED"))
    model = Scripted(READ, final("yes [ev_0001:2]"))

    async def use(context: VerifierContext) -> None:
        await check(context, 1, 1, QUESTION)

    with_desk(session, model, use)
    head = "\n".join(message.content or "" for message in model.asked[0])
    assert "Does the register say 1843?" in head
    assert "When was the bridge opened?" in head
    assert "VERIFIED" not in head


def test_what_the_worker_printed_is_neither_read_nor_counted(session: Session) -> None:
    blob = events.Blob(session.store.put(b"It was 1843.\n"), 13)
    printed = events.Evidence(
        id="ev_0001", call="call_0001", step=1, tool="shell", tier="observed", source="echo", summary="echo",
        text=blob, lines=1, first=1, last=1, exit_code=0, extractor="shell/host",
    )  # fmt: skip
    session.emit(printed)
    done = look_up(session, turn("read", path="ev_0001"), final("yes [ev_0001:1]"))
    assert done.answer == "unknown"
    assert len(session.state.evidence) == 1


def test_checks_run_as_many_at_once_as_the_endpoint_serves_and_not_twice(session: Session) -> None:
    asked = [msgspec.structs.replace(QUESTION, claim=f"c{number}") for number in range(1, 4)]
    model = Scripted(READ, final("no [ev_0001:2]"), parallel=2)
    found: list[tuple[events.VerifierCheck, ...]] = []

    async def use(context: VerifierContext) -> None:
        found.append(await check_all(context, 1, asked))
        found.append(await check_all(context, 1, asked))

    with_desk(session, model, use)
    assert [done.question.claim for done in found[0]] == ["c1", "c2", "c3"]
    assert found[0] == found[1]
    assert (len(model.asked), model.most_at_once) == (6, 2)
    records = [record for _, record in Reader(session.root / TRACE).poll()]
    calls = [record for record in records if isinstance(record, events.Model)]
    assert {call.scope for call in calls} == {"verifier_check"}
    assert {call.lane for call in calls} == {"check-1.1", "check-1.2", "check-1.3"}


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize(("command", "answer"), [("grep -c 1843 /input/a.txt", "yes"), ("false", "unknown")])
def test_the_output_of_its_own_command_counts_when_that_succeeded(command: str, answer: str) -> None:
    async def run(work: Workplace) -> events.VerifierCheck:
        with Extractor() as extractor:
            box = await open_box(work.backend, BoxSpec(work=work.session.workspace, input=work.input))
            try:
                context = verifier_context_of(
                    work.session, Environment(extractor=extractor, box=box, corpus=None)
                )
                model = Scripted(turn("shell", cmd=command), final("yes [ev_0001]"))
                return await check(msgspec.structs.replace(context, model=model), 1, 1, QUESTION)
            finally:
                await box.close()

    with workplace("bubblewrap", {"a.txt": "opened in 1843\n"}) as work:
        begin_round(work.session, 1)
        assert asyncio.run(run(work)).answer == answer
