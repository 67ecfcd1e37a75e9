"""The help in groups, two examples of every command, and one name for the same option everywhere."""

import os
import shlex
import subprocess
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from vera.cli import ADVANCED, COMMANDS, GROUPS, main
from vera.cli.examples import EXAMPLES
from vera.cli.options import BUDGET, MODEL, Renamed


def found(words: str) -> click.Command:
    """The command of these words."""
    command: click.Command | None = main
    for word in words.split():
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), word)
    assert command is not None
    return command


def every(name: str) -> Iterator[str]:
    """The command, and those below it, by their words."""
    command = found(name)
    yield name
    if isinstance(command, click.Group) and name != "advanced":
        for below in command.list_commands(click.Context(command)):
            yield from every(f"{name} {below}")


ALL = [words for name in COMMANDS for words in every(name)]


def said(*arguments: str) -> str:
    result = CliRunner().invoke(main, arguments, prog_name="vera")
    assert result.exit_code == 0, result.output
    return result.output


def test_the_main_help_has_the_groups_and_leaves_out_what_few_people_need() -> None:
    text = said("--help")
    assert all(f"\n{title}:\n" in text for title in GROUPS)
    assert all(f"\n  {name} " in text for group in GROUPS.values() for name in group)
    assert not any(f"\n  {name} " in text for name in ADVANCED)


@pytest.mark.parametrize("name", ADVANCED)
def test_an_advanced_command_is_listed_and_runs_with_the_word_and_without_it(name: str) -> None:
    assert f"\n  {name} " in said("advanced", "--help")
    short, long = said(name, "--help"), said("advanced", name, "--help")
    assert short.partition("\n\n")[2] == long.partition("\n\n")[2]


def test_a_wrong_word_below_advanced_names_the_nearest() -> None:
    result = CliRunner().invoke(main, ["advanced", "bensch"])
    assert result.exit_code == 2
    assert "Did you mean 'bench'?" in result.output


@pytest.mark.parametrize("words", ALL)
def test_a_command_has_two_examples_that_can_be_typed(words: str) -> None:
    text = said(*words.split(), "--help")
    first, second = EXAMPLES[words]
    assert first != second
    for example in (first, second):
        assert f"  {example}\n" in text
        typed = shlex.split(example.partition(" > ")[0].partition(" >> ")[0])
        assert typed[0] == "vera"
        assert example.startswith(f"vera {words}")
        parse(typed[1:])


def parse(words: list[str]) -> None:
    """Raises click.UsageError for what the program would not understand."""
    command: click.Command = main
    while isinstance(command, click.Group) and words:
        _, below, words = command.resolve_command(click.Context(command), words)
        assert below is not None
        command = below
    command.make_context("example", words)


def test_an_example_of_an_unknown_option_is_found() -> None:
    with pytest.raises(click.UsageError):
        parse(["run", "question", "--no-such-option"])


def test_no_example_is_of_a_command_that_is_gone() -> None:
    assert set(EXAMPLES) == set(ALL)


def test_examples_are_shown_as_this_person_types_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_VERA_COMMAND", "python3 run.py")
    assert "\n    python3 run.py list --base-dir research --json\n" in said("list", "--help")


def options(words: str) -> set[str]:
    return {name for option in found(words).params for name in (*option.opts, *option.secondary_opts)}


@pytest.mark.parametrize("words", ["run", "ask", "verify", "batch run", "mcp", "serve"])
def test_models_and_budgets_have_the_same_names_everywhere(words: str) -> None:
    wanted = {f"--{name.replace('_', '-')}" for name in (*MODEL, *BUDGET)}
    # A thesis and a tool call have no steps of a model's own choice.
    without = {"--max-steps"} if words in ("verify", "mcp") else set()
    assert wanted - options(words) == without


RENAMED = [
    (words, option.opts) for words in ALL for option in found(words).params if isinstance(option, Renamed)
]


@pytest.mark.parametrize(("words", "names"), RENAMED, ids=[f"{words} {names[1]}" for words, names in RENAMED])
def test_an_old_name_of_an_option_works_and_is_not_in_the_help(words: str, names: list[str]) -> None:
    new, old = names
    need = {"verify": ["thesis"]}.get(words, [])
    by_old = found(words).make_context("x", [old, "7", *need]).params
    assert by_old == found(words).make_context("x", [new, "7", *need]).params
    text = said(*words.split(), "--help")
    assert f"{new} " in text
    assert f"{old} " not in text


def test_old_names_are_found_at_all() -> None:
    assert len(RENAMED) >= 7


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_asks_this_program(shell: str) -> None:
    text = said("completion", shell)
    assert "_VERA_COMPLETE" in text
    assert "vera" in text


def test_bash_reads_the_completion_script() -> None:
    done = subprocess.run(["bash", "-n"], input=said("completion", "bash"), text=True, capture_output=True)
    assert (done.returncode, done.stderr) == (0, "")


def completed(line: str) -> list[str]:
    """What the shell is offered for the last word of the line."""
    words = line.split(" ")
    env = {"_VERA_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    result = CliRunner().invoke(main, [], prog_name="vera", env={**os.environ, **env})
    return [offered.partition(",")[2] for offered in result.output.splitlines()]


def test_commands_and_options_are_completed() -> None:
    assert completed("vera re") == ["recheck", "resume", "report", "replay", "review"]
    assert completed("vera run --budget-s") == ["--budget-seconds", "--budget-searches"]
    assert completed("vera advanced be") == ["bench"]


def test_vera_alone_without_a_terminal_prints_its_help() -> None:
    result = CliRunner().invoke(main, [], prog_name="vera")
    assert result.exit_code == 2
    assert "Usage: vera" in result.output
