"""Choosing among labelled trajectories; all figures here were computed by hand."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from choosing import trajectories
from choosing.attempts import Attempt, read_attempts
from choosing.labels import TrajectoryLabel, read_trajectory_labels
from choosing.trajectories import measure

from support.sampled_runs import SampledRun
from vera.bench.eval_data import DataError
from vera.protocol import Action, Turn
from vera.protocol.text import render
from vera.report.trajectory import write_trajectory


def attempt(task: str, steps: int, characters: int, passed: bool | None) -> Attempt:
    return Attempt(name="", task=task, steps=steps, characters=characters, passed=passed)


HAND_MADE = [
    # The shortest passes; its text is the longest.
    attempt("a", 3, 900, True),
    attempt("a", 5, 100, False),
    attempt("a", 6, 200, True),
    attempt("a", 7, 300, False),
    # Two are the shortest, one of which passes; the fewest characters fail.
    attempt("b", 4, 50, False),
    attempt("b", 2, 60, False),
    attempt("b", 2, 70, True),
    attempt("b", 9, 80, False),
    # All pass.
    attempt("c", 1, 10, True),
    attempt("c", 2, 20, True),
    attempt("c", 3, 30, True),
    attempt("c", 4, 40, True),
    # None passes.
    attempt("d", 1, 10, False),
    attempt("d", 2, 20, False),
    attempt("d", 3, 30, False),
    attempt("d", 4, 40, False),
]


def published(steps: int, reward: float | None, task: str = "t", text: str = "x") -> dict[str, Any]:
    """A trajectory in the form in which LLM-as-a-Verifier publishes its own."""
    turns = [
        {
            "step_id": number,
            "source": "agent",
            "message": text,
            "tool_calls": [{"tool_name": "bash", "arguments": {"keystrokes": "ls"}}],
            "observation": {"results": [{"content": "seen"}]},
        }
        for number in range(2, steps + 2)
    ]
    return {
        "trial_id": "0",
        "trial_name": f"{task}__0",
        "task_name": task,
        "reward": reward,
        "trajectory": {
            "schema_version": "atif-converted-1.0",
            "agent": {"name": "mini-swe-agent"},
            "steps": [{"step_id": 1, "source": "user", "message": "Do it."}, *turns],
        },
    }


def chat(steps: int) -> dict[str, Any]:
    """A trajectory in the form of mini-swe-agent, as VERA exports it too."""
    turn = [
        {"role": "assistant", "content": "THOUGHT", "extra": {"response": "left out"}},
        {"role": "user", "content": "seen", "extra": {"raw_output": "left out"}},
    ]
    return {
        "trajectory_format": "mini-swe-agent-1.1",
        "messages": [{"role": "system", "content": "Be."}, {"role": "user", "content": "Do."}, *turn * steps],
        "info": {},
    }


def written(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


def rule(figures: Mapping[str, Any], name: str) -> Sequence[float]:
    found = figures["rules"][name]
    return found["success"], found["gain"], found["pairwise"]


def test_the_figures_are_those_computed_by_hand() -> None:
    figures = measure(HAND_MADE, 0)
    assert (figures["tasks"], figures["trajectories"], figures["per_task"]) == (4, 16, [4])
    # random: 2/4, 1/4, 1, 0.
    assert figures["pass_at_1"] == 0.4375
    # mixed pairs: 2 x 2 of a, 1 x 3 of b.
    assert figures["mixed_pairs"] == 7
    assert rule(figures, "random") == (0.4375, 0.0, 0.5)
    # a passes, b half, c, d not; pairs: 2 + 1 of a's four, 1 + 1 + 0.5 of b's three.
    assert rule(figures, "shortest") == (0.625, 0.1875, round(5.5 / 7, 4))
    # a fails, b fails; pairs: one of a's four (200 < 300), one of b's three (70 < 80).
    assert rule(figures, "fewest_characters") == (0.25, -0.1875, round(2 / 7, 4))
    # a's first passes, b's not; pairs: 2 + 1 of a's, the last one of b's.
    assert rule(figures, "first") == (0.5, 0.0625, round(4 / 7, 4))
    assert rule(figures, "oracle") == (0.75, 0.3125, 1.0)


def test_the_order_of_the_files_changes_only_what_first_takes() -> None:
    there, back = measure(HAND_MADE, 0), measure(HAND_MADE[::-1], 0)
    for name in ("random", "shortest", "fewest_characters", "oracle"):
        assert rule(there, name) == rule(back, name)
    assert rule(there, "first") != rule(back, "first")


def test_an_interval_holds_its_figure_and_is_the_same_for_the_same_seed() -> None:
    figures = measure(HAND_MADE, 5)
    for found in figures["rules"].values():
        assert found["interval"][0] <= found["success"] <= found["interval"][1]
        assert found["gain_interval"][0] <= found["gain"] <= found["gain_interval"][1]
    assert figures == measure(HAND_MADE, 5)


def test_a_trajectory_without_a_label_is_left_out_and_counted() -> None:
    figures = measure([*HAND_MADE, attempt("a", 1, 1, None), attempt("", 1, 1, True)], 0)
    assert figures["unlabelled"] == 2
    assert rule(figures, "shortest") == rule(measure(HAND_MADE, 0), "shortest")


def test_nothing_to_choose_from_gives_no_figures() -> None:
    figures = measure([], 0)
    assert figures["tasks"] == 0
    assert figures["rules"]["shortest"]["success"] is None
    assert figures["rules"]["shortest"]["pairwise_interval"] is None


def test_tasks_without_a_mixed_pair_have_no_pairwise_figure() -> None:
    assert measure(HAND_MADE[8:], 0)["rules"]["shortest"]["pairwise"] is None


def test_published_files_say_themselves_what_passed(tmp_path: Path) -> None:
    written(tmp_path / "t" / "t__a_trajectory.json", published(2, 1))
    written(tmp_path / "t" / "t__b_trajectory.json", published(5, 0.0))
    written(tmp_path / "t" / "t__c_trajectory.json", published(5, None))
    written(tmp_path / "t" / "notes.json", {"not": "one"})
    first, second, third = read_attempts(tmp_path, {})
    assert (first.name, first.task, first.steps, first.passed) == ("t/t__a_trajectory.json", "t", 2, True)
    # "Do it.", and each turn's x, bash, ls, agent and seen.
    assert first.characters == len("userDo it.") + 2 * len("agentxbashlsseen")
    assert (second.steps, second.passed) == (5, False)
    assert third.passed is None


def test_trajectories_of_mini_swe_agent_are_labelled_by_a_file(tmp_path: Path) -> None:
    written(tmp_path / "runs" / "one" / "trajectory.traj.json", chat(3))
    written(tmp_path / "runs" / "two.traj.json", chat(1)["messages"])
    labels = tmp_path / "labels.jsonl"
    labels.write_text(
        '{"trajectory": "one/trajectory.traj.json", "task": "q", "passed": true}\n'
        '\n{"trajectory": "two.traj.json", "task": "q", "passed": false}\n'
    )
    one, two = read_attempts(tmp_path / "runs", read_trajectory_labels(labels))
    assert (one.task, one.steps, one.passed) == ("q", 3, True)
    assert one.characters == len("Be.Do.") + 3 * len("THOUGHTseen")
    assert (two.task, two.steps, two.passed) == ("q", 1, False)


def test_an_exported_session_is_read_as_one_trajectory(tmp_path: Path) -> None:
    made = SampledRun(tmp_path / "one")
    for command in ("ls", "cat a"):
        made.one_turn(render(Turn(thought="Look.", action=Action(tool="shell", args={"cmd": command}))))
        made.observe("a file")
    made.sample(*(render(Turn(thought="Done.", action=Action(tool=None, final=each))) for each in ("3", "4")))
    made.choose(1, "selector", (1, 2))
    made.answer("4")
    write_trajectory(tmp_path / "one", lambda _: {"cost": 0.0})
    label = TrajectoryLabel("one/trajectory.traj.json", "q", True)
    (found,) = read_attempts(tmp_path, {label.trajectory: label})
    assert (found.task, found.steps, found.passed) == ("q", 3, True)


def test_a_label_takes_the_place_of_what_a_file_says(tmp_path: Path) -> None:
    written(tmp_path / "a_trajectory.json", published(1, 1))
    label = TrajectoryLabel("a_trajectory.json", "other", False)
    (found,) = read_attempts(tmp_path, {"a_trajectory.json": label})
    assert (found.task, found.passed) == ("other", False)


def test_one_file_can_be_named(tmp_path: Path) -> None:
    (found,) = read_attempts(written(tmp_path / "a_trajectory.json", published(1, 1)), {})
    assert found.name == "a_trajectory.json"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is no JSON"),
        ("{", "is no JSON"),
        ("[" * 5000 + "]" * 5000, "no"),
        ("3", "holds no trajectory"),
        ('{"messages": 3}', "holds no trajectory"),
        ('{"trajectory": {"steps": [1]}, "task_name": "t"}', "holds no trajectory"),
        ('{"trajectory": {"steps": []}}', "holds no trajectory"),
        ('{"trajectory": {"steps": []}, "task_name": "t", "reward": "high"}', "holds no trajectory"),
    ],
)
def test_a_file_that_is_none_is_one_sentence(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "a_trajectory.json"
    path.write_text(content)
    with pytest.raises(DataError, match=said):
        list(read_attempts(tmp_path, {}))


def test_a_deeply_nested_message_is_no_trajectory(tmp_path: Path) -> None:
    nested: Any = "x"
    for _ in range(200):
        nested = [nested]
    written(
        tmp_path / "a_trajectory.json", published(1, 1) | {"trajectory": {"steps": [{"message": nested}]}}
    )
    with pytest.raises(DataError, match="nested too deeply"):
        list(read_attempts(tmp_path, {}))


def test_an_empty_folder_and_a_missing_one_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no trajectories"):
        list(read_attempts(tmp_path, {}))
    with pytest.raises(DataError, match="no such file or folder"):
        list(read_attempts(tmp_path / "no", {}))


@pytest.mark.parametrize(
    "line", ['{"trajectory": "a"}', '{"trajectory": "a", "task": "t", "passed": 1}', "[]", "no", '"\xff"']
)
def test_a_line_that_is_no_label_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text('{"trajectory": "a", "task": "t", "passed": true}\n' + line + "\n", "latin-1")
    with pytest.raises(DataError, match="line 2: no label"):
        read_trajectory_labels(path)


def test_the_same_trajectory_labelled_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text('{"trajectory": "a", "task": "t", "passed": true}\n' * 2)
    with pytest.raises(DataError, match="line 2: a second label"):
        read_trajectory_labels(path)


def test_every_rule_has_a_measure_and_none_knows_the_label_but_the_oracle() -> None:
    for name, number in trajectories.RULES.items():
        knows = number(0, HAND_MADE[0]) != number(0, attempt("a", 3, 900, False))
        assert knows == (name == "oracle")
