"""`vera config` as a person and a pipe see it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from vera.cli.config import config
from vera.cli.run import run
from vera.config import defaults, load, public
from vera.config.schema import catalogue, sections


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder and a home with nothing in them."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "here"


def vera_config(*arguments: str, env: Mapping[str, str] | None = None) -> Result:
    return CliRunner().invoke(config, arguments, env=env, prog_name="vera config")


def flat(tree: Mapping[str, Any], group: str = "") -> dict[str, Any]:
    """The values of a tree of settings by their dotted names."""
    found: dict[str, Any] = {}
    for name, value in tree.items():
        key = f"{group}{name}"
        found |= flat(value or {}, f"{key}.") if key in sections() else {key: value}
    return found


def test_it_prints_every_setting_as_yaml(folder: Path) -> None:
    result = vera_config()
    assert result.exit_code == 0
    printed = yaml.safe_load(result.stdout)
    assert printed["run"]["max_steps"] == 80
    hidden = {each.key for each in catalogue().values() if each.secret}
    assert set(flat(printed)) == set(catalogue()) - hidden


def test_what_it_prints_can_be_used_as_a_file(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VERA_BASE_IMAGE", raising=False)  # a file of the folder may not choose an image
    overrides = [
        "model.name=no: 'x' # é",
        "run.input_dir=null",
        "run.work_dir=a b",
        "model.temperature=0.00001",
    ]
    printed = vera_config(*(f"-c{text}" for text in overrides)).stdout
    (folder / "vera.yaml").write_text(printed)
    here = load(environ={}, cwd=folder, user_config=tmp_path / "none").settings
    by_hand = load(overrides, environ={}, cwd=tmp_path, user_config=tmp_path / "none").settings
    assert public(here) == public(by_hand)
    assert public(here) != public(defaults())


def test_a_key_is_told_as_set_or_not_set_and_never_printed(folder: Path) -> None:
    for arguments in ([], ["--json"], ["--origin"], ["--origin", "--json"], ["model.key"]):
        result = vera_config(*arguments, env={"OPENAI_API_KEY": "sk-1234"})
        assert result.exit_code == 0
        assert "sk-1234" not in result.output
    assert "  # key: set (hidden)\n" in vera_config("model", env={"OPENAI_API_KEY": "sk-1234"}).stdout
    assert "  # key: not set (hidden)\n" in vera_config("model").stdout


def test_origin_is_an_aligned_table_without_colour_in_a_pipe(folder: Path) -> None:
    (folder / "vera.yaml").write_text("run:\n  effort: quick\n")
    result = vera_config("run", "--origin", "-c", "run.input_dir=papers", env={"MAX_STEPS": "5"})
    assert result.stdout == (
        "run.max_steps       5         environment MAX_STEPS\n"
        "run.effort          quick     file vera.yaml:2\n"
        "run.mode            auto      default\n"
        "run.form            answer    default\n"
        'run.sub_questions   ""        default\n'
        "run.work_dir        null      default\n"
        "run.input_dir       papers    -c run.input_dir=papers\n"
        "run.ocr             auto      default\n"
        'run.inputs          ""        default\n'
        "run.base_dir        .         default\n"
        "run.lane            research  default\n"
        "run.risk            med       default\n"
        'run.require_theses  ""        default\n'
    )


def test_json_may_hold_the_origin_too(folder: Path) -> None:
    assert json.loads(vera_config("run.effort", "--json").stdout) == {"run": {"effort": "normal"}}
    assert json.loads(vera_config("run.effort", "--json", "--origin").stdout) == {
        "run": {"effort": {"value": "normal", "origin": "default"}}
    }


def test_settings_without_use_yet_are_marked(folder: Path) -> None:
    assert vera_config("dashboard").stdout.startswith("dashboard:\n  host: 127.0.0.1\n")
    assert vera_config("policy").stdout.startswith("policy:\n  pre_tool_nudges: 1\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["modl"], "There is no setting modl. Did you mean model?"),
        (["max_steps"], "max_steps belongs to run: write run.max_steps."),
        (["-c", "run.max_steps=x"], "run.max_steps must be a whole number from 0 to 10000000"),
        (["-c", "nowhere.yaml"], "-c nowhere.yaml is neither KEY=VALUE nor a file that exists."),
    ],
)
def test_what_cannot_be_used_is_one_sentence_and_exit_code_2(
    folder: Path, arguments: list[str], sentence: str
) -> None:
    result = vera_config(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert sentence in result.stderr
    assert "Traceback" not in result.output


def test_every_option_that_the_settings_name_is_one_of_vera_run() -> None:
    options = {name for parameter in run.params for name in parameter.opts}
    assert {each.flag for each in catalogue().values() if each.flag} <= options


def test_a_warning_goes_to_stderr(folder: Path) -> None:
    result = vera_config("brave", "--json", "-c", "brave.key=sk-1")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["brave"]["key"] == "set"
    assert result.stderr.startswith("Warning: brave.key (-c brave.key=…): A key on the command line")


def test_a_value_cannot_write_on_the_terminal(folder: Path) -> None:
    for arguments in ([], ["--origin"], ["--json"]):
        output = vera_config("model.name", "-c", "model.name=\x1b]0;x\x07\u202e", *arguments).stdout
        assert "\x1b" not in output
        assert "\x07" not in output


def test_help_says_where_ones_own_settings_stand(folder: Path, tmp_path: Path) -> None:
    text = vera_config("--help").stdout
    assert str(tmp_path / "config" / "vera" / "config.yaml") in text.replace("\n", "")
    assert text.endswith("\n")
