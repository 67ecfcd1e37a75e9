"""The file of a batch: what a line may say, what its id is, and how mistakes are told."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from vera.batch.errors import BatchError
from vera.batch.task import BatchTask, said_of, task_id
from vera.batch.task_file import MAX_LINE_BYTES, MAX_PROBLEMS, TaskList, carrying, parse_task, read_tasks
from vera.batch.task_settings import TaskSettings
from vera.config.handed import Allowed


def parsed(**said: Any) -> BatchTask:
    return parse_task(json.dumps(said).encode())


def listed(path: Path, *lines: object) -> TaskList:
    path.write_text("".join(line if isinstance(line, str) else f"{json.dumps(line)}\n" for line in lines))
    return read_tasks(path, TaskSettings().endpoint)


def refused(path: Path, *lines: object) -> str:
    with pytest.raises(BatchError) as caught:
        listed(path, *lines)
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_the_id_is_the_sha256_of_the_canonical_json_of_the_line() -> None:
    said = {"task": "Why?", "settings": {"run.max_steps": 20, "model.temperature": 0.5}}
    assert parsed(**said).id == hashlib.sha256(rfc8785.dumps(said)).hexdigest()


def test_a_byte_order_mark_before_the_first_line_says_nothing(tmp_path: Path) -> None:
    line = '{"task": "Why?"}\r\n'
    marked = listed(tmp_path / "marked.jsonl", f"\ufeff{line}")
    assert marked == listed(tmp_path / "plain.jsonl", line)
    assert "Line 2: it is no JSON" in refused(tmp_path / "twice.jsonl", line, f"\ufeff{line}")


def test_the_order_of_members_and_white_space_change_no_id() -> None:
    one = parse_task(b'{"task": "Why?", "settings": {"run.lane": "execute", "run.max_steps": 3}}')
    other = parse_task(b'{"settings":{"run.max_steps":3,"run.lane":"execute"},"task":" Why? \\n"}')
    assert one.id == other.id


def test_empty_members_say_nothing() -> None:
    assert parsed(task="Why?", name="", input_dir="", settings={}).id == parsed(task="Why?").id


def test_what_is_asked_where_how_and_under_which_name_makes_another_task() -> None:
    tasks = [
        parsed(task="Why?"),
        parsed(thesis="Why?"),
        parsed(task="Why?", name="once more"),
        parsed(task="Why?", input_dir="papers"),
        parsed(task="Why?", settings={"run.max_steps": 3}),
    ]
    assert len({task.id for task in tasks}) == len(tasks)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_task_or_a_sentence(line: bytes) -> None:
    try:
        parse_task(line)
    except ValueError as error:
        assert str(error).endswith((".", "}.", ")."))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(
        st.sampled_from(["task", "thesis", "input_dir", "settings", "name", "other"]), json_values, max_size=4
    )
)
def test_any_object_is_a_task_or_a_sentence(said: dict[str, Any]) -> None:
    try:
        task = parse_task(json.dumps(said).encode())
    except ValueError:
        return
    assert len(task.id) == 64
    assert task.text


def test_a_repeated_line_is_one_task(tmp_path: Path) -> None:
    found = listed(tmp_path / "t.jsonl", {"task": "Why?"}, "\n", {"task": "How?"}, {"task": "Why?"})
    assert [task.text for task in found.tasks] == ["Why?", "How?"]
    assert found.repeated == 1


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{not json}\n", "it is no JSON"),
        ("[1, 2]\n", "it is no object."),
        ({"task": "a", "thesis": "b"}, 'it needs either "task"'),
        ({"name": "a"}, 'it needs either "task"'),
        ({"task": 3}, '"task" must be text.'),
        ({"task": "  "}, '"task" is empty.'),
        ({"task": "a", "seting": {}}, 'Did you mean "settings"?'),
        ({"task": "a", "settings": []}, '"settings" must be an object'),
        ({"task": "a", "settings": {"run": {"max_steps": 3}}}, "groups are written with dots"),
        ({"task": "a", "settings": {"run.max_step": 3}}, "Did you mean run.max_steps?"),
        ({"task": "a", "settings": {"run.max_steps": "many"}}, "run.max_steps must be"),
        ({"task": "a", "settings": {"run.max_steps": 2**60}}, "canonical JSON"),
        ({"task": "a", "settings": {"model.key": "sk-1"}}, "no task file may hold a key"),
        ({"task": "a", "settings": {"OPENAI_API_KEY": "sk-1"}}, "no setting"),
        ({"task": "a", "settings": {"run.work_dir": "w"}}, "its own session folder"),
        ({"task": "a", "settings": {"run.base_dir": "w"}}, "--base-dir"),
        ({"task": "a", "settings": {"run.input_dir": "w"}}, '"input_dir"'),
        ({"task": "a", "settings": {"model.base_url": "ftp://x"}}, "http"),
        ({"task": "a", "input_dir": "no-such-folder"}, '"input_dir" is no folder: no-such-folder.'),
        ({"task": "a", "name": "n" * 201}, '"name" is longer than 200 characters.'),
        ({"task": "a" * ((1 << 20) + 1)}, '"task" is longer than 1 MB.'),
        (f'{{"task": "{"a" * MAX_LINE_BYTES}"}}\n', "it is longer than 2 MB."),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, line: object, sentence: str) -> None:
    told = refused(tmp_path / "t.jsonl", {"task": "Why?"}, "\n", line, {"task": "How?"})
    assert "\nLine 3: " in told
    assert sentence in told
    assert "sk-1" not in told
    assert "Line 4" not in told


def test_all_mistakes_are_told_at_once_up_to_a_bound(tmp_path: Path) -> None:
    told = refused(tmp_path / "t.jsonl", *["{\n"] * 100)
    assert told.count("it is no JSON") == MAX_PROBLEMS
    assert "There may be more" in told


def test_a_file_without_a_task_is_a_mistake(tmp_path: Path) -> None:
    assert "has no task" in refused(tmp_path / "t.jsonl", "\n\n")


def test_what_is_no_file_is_a_mistake(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none", Path("/dev/zero")):
        with pytest.raises(BatchError):
            read_tasks(path, TaskSettings().endpoint)


@pytest.mark.parametrize(
    ("settings", "endpoint"),
    [
        ({}, "auto"),
        ({"model.base_url": "builtin"}, "builtin"),
        ({"model.base_url": "127.0.0.1:1234"}, "http://127.0.0.1:1234/v1"),
        ({"model.base_url": "https://api.example/v1/"}, "https://api.example/v1"),
        ({"model.file": "m.gguf"}, "file"),
    ],
)
def test_the_endpoint_comes_from_the_settings_in_force(settings: dict[str, Any], endpoint: str) -> None:
    allowed = Allowed(settings=tuple(f"{key}={value}" for key, value in settings.items()))
    found = TaskSettings((), allowed).endpoint(parsed(task="Why?", settings=settings))
    assert found == (endpoint, "")


def test_a_task_that_sets_nothing_asks_where_all_of_them_ask() -> None:
    assert TaskSettings(["model.base_url=builtin"]).endpoint(parsed(task="Why?")) == ("builtin", "")


def test_a_line_that_sets_what_only_the_person_may_set_is_refused_and_the_others_stay(tmp_path: Path) -> None:
    found = listed(
        tmp_path / "t.jsonl",
        {"task": "Why?", "name": "evil", "settings": {"sandbox.backend": "host"}},
        {"task": "How?"},
        {"task": "When?", "input_dir": str(tmp_path)},
    )
    assert len(found.tasks) == 3
    assert {task.endpoint for task in found.tasks} == {"auto"}
    assert found.refused == (
        "line 1 is refused: sandbox.backend: host runs commands with less isolation than you chose, which "
        "the task 'evil' cannot decide for you. If you want it, allow it: --allow sandbox.backend=host",
        f"line 3 is refused: run.input_dir: {tmp_path} reads files that were not opened for it, which the "
        f"task '{found.tasks[2].id[:12]}' cannot decide for you. If it may be read, allow it: --allow-input "
        f"{tmp_path}",
    )


def test_the_name_of_an_input_folder_that_no_folder_can_have_is_told_with_its_line(tmp_path: Path) -> None:
    said = refused(tmp_path / "t.jsonl", {"task": "a"}, {"task": "b", "input_dir": "x" * 300})
    assert 'Line 2: "input_dir" is no folder' in said


def test_what_the_person_gives_for_all_tasks_keeps_the_inputs_of_each(tmp_path: Path) -> None:
    one, two = "https://a.example/", "https://b.example/"
    lines = [{"task": "Why?", "inputs": [one]}, {"task": "Why?", "inputs": [two]}, {"task": "Why?"}]
    found = carrying(listed(tmp_path / "tasks", *lines), {"run.max_steps": 4}, "documents").tasks
    said = [(task.inputs, task.input_dir) for task in found]
    assert said == [((one,), ""), ((two,), ""), ((), "documents")]
    assert [task.id for task in found] == [task_id(said_of(task)) for task in found]
