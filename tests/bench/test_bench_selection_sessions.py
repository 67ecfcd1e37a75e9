"""Recorded steps at which candidates were sampled."""

from pathlib import Path

import pytest
from choosing.labels import read_step_labels
from choosing.sessions import measure, read_session

from support.sampled_runs import SampledRun
from vera.bench.eval_data import DataError
from vera.protocol import Action, Turn, text


def turn(command: str) -> str:
    return text.render(Turn(thought="Look.", action=Action(tool="shell", args={"cmd": command})))


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """Step 1: three of four agree. Step 2: the judge's verdict is no use. Step 3 is not sampled."""
    root = tmp_path / "run"
    run = SampledRun(root)
    run.sample(turn("ls -la /input"), turn("ls -la /input"), turn("ls"), turn("ls -la /input"))
    run.choose(0, "agreement", (1, 1, 2, 1))
    run.observe("a file")
    run.sample(turn("cat a"), turn("head -n 1 a"), "I would rather talk.")
    run.judge("Neither.")
    run.choose(
        0,
        "fallback",
        (1, 2, 0),
        replies=["Neither."],
        fallback="first_candidate",
        fallback_reason="no_verdict",
    )
    run.observe("text")
    run.one_turn(turn("cat a"))
    return root


def test_what_was_sampled_and_who_decided_is_counted(session: Path) -> None:
    figures = measure(read_session(session), {}, 0)
    assert (figures["sessions"], figures["steps"], figures["candidates"]) == (1, 2, 7)
    # 3 of 4, and 1 of 3.
    assert figures["agreement"] == round((3 / 4 + 1 / 3) / 2, 4)
    assert figures["deciders"] == {"agreement": 1, "fallback": 1}
    assert figures["fallback_reasons"] == {"no_verdict": 1}
    assert (figures["judge_calls"], figures["judge_calls_per_step"]) == (1, 0.5)
    assert figures["seconds_per_step"] == 0.75
    assert (figures["labelled"], figures["rules"]) == (0, {})


def test_the_choice_is_held_against_choosing_without_a_model(session: Path) -> None:
    labels = {("run", 1): frozenset({2}), ("run", 2): frozenset({0})}
    figures = measure(read_session(session), labels, 0)
    assert figures["labelled"] == 2
    successes = {name: rule["success"] for name, rule in figures["rules"].items()}
    assert successes == {
        "chosen": 0.5,
        "random": round((1 / 4 + 1 / 3) / 2, 4),
        "first": 0.5,
        # step 1 takes the wrong three; in step 2 two actions have a vote each, one of them good
        "majority": 0.25,
        # `ls`, and `cat a`
        "shortest": 1.0,
        "oracle": 1.0,
    }


def test_a_step_without_a_good_candidate_fails_even_the_oracle(session: Path) -> None:
    figures = measure(read_session(session), {("run", 1): frozenset()}, 0)
    assert figures["rules"]["oracle"]["success"] == 0.0


def test_labels_of_steps_that_are_not_there_are_counted(session: Path) -> None:
    labels = {("run", 1): frozenset({0}), ("run", 3): frozenset({0}), ("other", 1): frozenset({0})}
    assert measure(read_session(session), labels, 0)["unused_labels"] == 2


def test_a_label_may_name_the_session_by_its_path(session: Path) -> None:
    assert measure(read_session(session), {(str(session), 1): frozenset({0})}, 0)["labelled"] == 1


def test_a_label_of_a_candidate_that_is_not_there_is_refused(session: Path) -> None:
    with pytest.raises(DataError, match="it has 4, counted from 0"):
        measure(read_session(session), {("run", 1): frozenset({4})}, 0)


def test_a_label_that_fits_two_sessions_is_refused(session: Path, tmp_path: Path) -> None:
    other = SampledRun(tmp_path / "elsewhere" / "run")
    other.sample(turn("ls"), turn("pwd"))
    other.choose(0, "selector", (1, 2))
    both = [*read_session(session), *read_session(tmp_path / "elsewhere" / "run")]
    with pytest.raises(DataError, match="Two sessions have the name 'run'"):
        measure(both, {("run", 1): frozenset({0})}, 0)


def test_a_folder_without_a_session_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no trace\.jsonl"):
        list(read_session(tmp_path))


def test_a_broken_log_is_named(session: Path) -> None:
    log = session / "trace.jsonl"
    log.write_bytes(log.read_bytes().replace(b"agreement", b"agreemint"))
    with pytest.raises(DataError, match=str(session)):
        list(read_session(session))


def test_labels_are_read_from_lines(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(
        '{"session": "run", "step": 1, "good": [0, 2]}\n{"session": "run", "step": 2, "good": []}\n'
    )
    assert read_step_labels(path) == {("run", 1): frozenset({0, 2}), ("run", 2): frozenset()}
