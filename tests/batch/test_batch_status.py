"""Where a task stands, from what is written about it."""

from hypothesis import given
from hypothesis import strategies as st

from vera.batch.records import Begun, Commit, Ended, History, Mark, Outcome
from vera.batch.status import MAX_ATTEMPTS, State, standing

COMMIT = Commit(task="t", attempt=1, session=1, manifest="sha256:0", status="VERIFIED", exit_code=0)


def history(*outcomes: Outcome | None, mark: Mark | None = None, commit: Commit | None = None) -> History:
    """A task whose attempts ended so; None for one that never ended."""
    return History(
        commit=commit,
        mark=mark,
        begun=tuple(Begun(task="t", number=n, worker="w", ts=n) for n in range(1, len(outcomes) + 1)),
        ended={
            number: Ended(number=number, outcome=outcome, ts=number, exit_code=1, reason=f"reason {number}")
            for number, outcome in enumerate(outcomes, 1)
            if outcome is not None
        },
    )


def state(*outcomes: Outcome | None, mark: Mark | None = None, live: bool = False) -> State:
    return standing(history(*outcomes, mark=mark), live=live).state


def test_a_task_that_nobody_tried_is_open() -> None:
    assert state() == "open"


def test_a_committed_task_is_done_whatever_else_is_written() -> None:
    mark = Mark(kind="cancelled", after=3, ts=0)
    assert standing(history("crashed", None, "late", mark=mark, commit=COMMIT), live=True).state == "done"


def test_an_attempt_without_an_end_runs_while_a_batch_works_and_was_killed_otherwise() -> None:
    assert state(None, live=True) == "running"
    assert standing(history(None)).reason == "the batch was killed while it ran"


def test_interrupted_and_unready_tasks_are_open_however_often() -> None:
    assert state(*["interrupted", "unready"] * 20) == "open"


def test_a_failed_task_is_not_tried_again() -> None:
    assert standing(history("failed")).state == "failed"
    assert standing(history("failed")).reason == "reason 1"


def test_a_task_is_held_after_five_attempts_that_died_with_their_process() -> None:
    assert state(*["crashed"] * 4) == "open"
    assert state(*["crashed"] * 5) == "held"
    assert state("crashed", None, "interrupted", None, "crashed", None) == "held"
    assert "5 attempts died with their process: reason 5" in standing(history(*["crashed"] * 5)).reason


def test_requeued_is_as_if_nothing_had_been_tried() -> None:
    mark = Mark(kind="requeued", after=5, ts=0)
    assert state(*["crashed"] * 5, mark=mark) == "open"
    assert state(*["crashed"] * 9, mark=mark) == "open"
    assert state(*["crashed"] * 10, mark=mark) == "held"


def test_a_cancelled_task_stays_so() -> None:
    assert state("interrupted", mark=Mark(kind="cancelled", after=0, ts=0)) == "cancelled"


outcome = st.sampled_from(["late", "failed", "unready", "interrupted", "cancelled", "crashed", None])


@given(st.lists(outcome, max_size=15))
def test_a_task_is_held_exactly_when_too_many_attempts_died(outcomes: list[Outcome | None]) -> None:
    died = sum(each in ("crashed", None) for each in outcomes)
    assert (state(*outcomes) == "held") == (died >= MAX_ATTEMPTS)
