"""The arguments of `vera batch`, before a task runs."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from vera.cli.batch import batch, without_keys
from vera.config import load

USUAL = "sk-of-the-environment"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty working folder, with keys in the environment."""
    with monkeypatch.context() as context:
        context.chdir(tmp_path)
        context.setenv("OPENAI_API_KEY", USUAL)
        context.setenv("OTHER_KEY", "sk-other")
        context.setenv("VERA_MODEL__KEY", "")
        (tmp_path / "file.yaml").write_text("model: {key: sk-of-a-file}\n")
        yield tmp_path


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "overrides",
    [
        ("model.key=",),
        ("model.key=env:OTHER_KEY",),
        ("model.key=env:OTHER_KEY", "model.key="),
        ("model.key=", "model.key=env:OTHER_KEY"),
        ("model.key=sk-one", "model.key=sk-two"),
        ("file.yaml", "model.key=env:OTHER_KEY"),
        ("model.key=", "file.yaml"),
        ("file.yaml",),
        (),
    ],
)
def test_an_attempt_has_the_key_that_a_run_has_and_no_argument_holds_it(overrides: tuple[str, ...]) -> None:
    in_a_run = load(overrides).settings.model.key
    handed_on = without_keys(overrides)
    assert load(handed_on, environ=os.environ).settings.model.key == in_a_run
    assert "sk-" not in " ".join(handed_on)


def test_a_task_file_in_a_folder_that_is_not_there_is_told_as_such(here: Path) -> None:
    done = CliRunner().invoke(batch, ["nodir/t.jsonl", "--base-dir", str(here)])
    assert done.exit_code == 2
    assert "The task file nodir/t.jsonl cannot be read: No such file or directory." in done.stderr
    assert "--allow-input" not in done.stderr


@pytest.mark.parametrize("words", [["status"], ["requeue"], ["cancel", "--all"]])
def test_a_base_folder_that_does_not_exist_is_told(words: list[str], tmp_path: Path) -> None:
    done = CliRunner().invoke(batch, [*words, "--base-dir", str(tmp_path / "nonono")])
    assert done.exit_code == 2 and f"there is no folder {tmp_path / 'nonono'}" in done.stderr
