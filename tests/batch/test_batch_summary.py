"""What a batch came to: the worst exit code, every session counted once."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.batch.records import Ended, Manifest, Outcome
from vera.batch.runs import Runs
from vera.batch.summary import WORST_FIRST, Summary, as_dict, summary_of, worst
from vera.batch.summary_text import summary_text
from vera.batch.task import BatchTask
from vera.batch.task_file import parse_task


def task(name: str) -> BatchTask:
    return parse_task(f'{{"task": "Why?", "name": "{name}"}}'.encode())


def spent(tokens: int, cost: str | None = "0.25") -> dict[str, Any]:
    return {
        "model_calls": 1,
        "unknown_calls": 0,
        "prompt_tokens": tokens,
        "completion_tokens": 1,
        "cost": cost,
        "searches": 0,
        "seconds": 1.5,
    }


def ended(runs: Runs, given: BatchTask, outcome: Outcome, code: int, session: int, used: Any) -> None:
    """An attempt at the task that ended so."""
    runs.keep(given)
    number = runs.begin(given.id, "w").number
    if outcome == "committed":
        manifest = Manifest(
            task=given.id,
            attempt=number,
            session=session,
            status={0: "VERIFIED", 4: "CONTRADICTED"}.get(code, "UNRESOLVED"),
            reason="",
            exit_code=code,
            attestation="",
            log=(1, ""),
            steps=2,
            spent=used,
        )
        assert runs.commit(manifest)
    end = Ended(number=number, outcome=outcome, ts=1, exit_code=code, session=session, spent=used, reason="r")
    runs.end(given.id, end)


def summary(runs: Runs) -> Summary:
    return summary_of(runs, list(runs.tasks()))


@pytest.mark.parametrize(
    ("codes", "code"), [([0, 0], 0), ([0, 3], 3), ([3, 6], 6), ([6, 4], 4), ([4, 5], 5), ([5, 1], 1)]
)
def test_the_worst_code_counts(codes: list[int], code: int) -> None:
    assert worst(codes) == code


@given(st.lists(st.integers(-20, 200)))
def test_the_worst_is_always_a_code_of_the_table(codes: list[int]) -> None:
    assert worst(codes) in WORST_FIRST


def test_a_session_that_was_gone_on_with_is_counted_once(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    ended(runs, task("a"), "interrupted", 130, 1, spent(100))
    ended(runs, task("a"), "committed", 0, 1, spent(150))
    assert summary(runs).usage.prompt_tokens == 150


def test_what_a_lost_session_spent_is_counted_too(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    ended(runs, task("a"), "crashed", 1, 1, spent(100))
    ended(runs, task("a"), "committed", 0, 2, spent(150))
    found = summary(runs)
    assert (found.usage.prompt_tokens, found.usage.cost) == (250, "0.5")
    assert found.rows[0].session.endswith("/2")


def test_a_cost_that_is_not_known_makes_the_sum_unknown(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    ended(runs, task("a"), "committed", 0, 1, spent(1))
    ended(runs, task("b"), "committed", 0, 1, spent(1, None))
    assert summary(runs).usage.cost is None


def test_failed_and_held_tasks_are_errors_and_cancelled_ones_do_not_count(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    ended(runs, task("good"), "committed", 0, 1, spent(1))
    assert summary(runs).exit_code == 0
    ended(runs, task("bad"), "failed", 2, 0, {})
    assert summary(runs).exit_code == 1
    runs.set_mark(task("bad").id, "cancelled")
    assert summary(runs).exit_code == 0
    for _ in range(5):
        ended(runs, task("poison"), "crashed", 1, 0, {})
    assert (summary(runs).exit_code, summary(runs).states["held"]) == (1, 1)


def test_an_open_task_counts_as_its_last_attempt_did(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    ended(runs, task("stopped"), "interrupted", 130, 1, spent(1))
    assert summary(runs).exit_code == 0
    ended(runs, task("down"), "unready", 5, 0, {})
    assert summary(runs).exit_code == 5


def test_the_text_ends_with_what_is_wrong_and_the_sums(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    ended(runs, task("broken"), "failed", 1, 0, {})
    ended(runs, task("good"), "committed", 0, 1, spent(10))
    lines = summary_text(summary(runs)).splitlines()
    assert lines[0].split() == ["good", "VERIFIED", "11", "tokens,", "cost", "0.25,", "1.5", "s"]
    assert lines[1].startswith("broken  failed")
    assert lines[-2] == "2 tasks: 1 done, 1 failed (1 VERIFIED)"
    assert lines[-1] == "Spent in all: 11 tokens, cost 0.25, 1.5 s."


def test_the_json_has_each_task_with_its_session(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    ended(runs, task("a"), "committed", 4, 1, spent(10))
    said = as_dict(summary(runs))
    assert (said["exit_code"], said["verdicts"]) == (4, {"CONTRADICTED": 1})
    (row,) = said["tasks"]
    assert row["session"] == str(tmp_path / "runs" / row["id"] / "1")
    assert row["spent"]["prompt_tokens"] == 10


@pytest.mark.parametrize("name", ["commit.json", "attempts/1.manifest.json"])
def test_a_result_whose_records_do_not_belong_together_is_no_result(tmp_path: Path, name: str) -> None:
    runs, given = Runs(tmp_path), task("a")
    ended(runs, given, "committed", 3, 1, spent(1))
    assert [row.status for row in summary(runs).rows] == ["UNRESOLVED"]
    path = runs.folder(given.id) / name
    path.write_text(path.read_text().replace("UNRESOLVED", "VERIFIED"))
    (row,) = summary(runs).rows
    assert (row.state, row.status, row.exit_code, row.attestation) == ("done", "ALTERED", 1, "")
    assert summary(runs).exit_code == 1 and "ALTERED" in summary_text(summary(runs))


@pytest.mark.parametrize("told", [{"seconds": "x"}, {"cost": "1e999999999999"}, {"model_calls": None}])
def test_figures_that_vera_does_not_write_count_for_nothing(tmp_path: Path, told: dict[str, Any]) -> None:
    runs, given = Runs(tmp_path), task("a")
    ended(runs, given, "failed", 1, 1, {**spent(1), **told})
    assert summary(runs).usage.prompt_tokens in (0, 1)


def test_the_command_at_the_end_of_a_reason_is_shown_whole(tmp_path: Path) -> None:
    runs, given = Runs(tmp_path), task("a")
    runs.keep(given)
    number = runs.begin(given.id, "w").number
    reason = f"The model at {'x' * 200} cannot be reached. Type: vera doctor"
    runs.end(given.id, Ended(number=number, outcome="failed", ts=1, exit_code=5, reason=reason))
    assert f": {reason}\n" in summary_text(summary(runs))
