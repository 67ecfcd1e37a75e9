"""docs/reference/commands.md and the `vera` command say the same; each command on a page can be typed."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from docs_pages import DOCS, PAGES, blocks, name, quoted, section

from vera.cli import COMMANDS, main

SHELL_WORDS = {"&", "|", ">", "<", "&&", "||", ";", ">>", "2>", "2>&1"}
OF_THE_BOOTSTRAP = {"test"}


def command(name: str) -> click.Command:
    found = main.get_command(click.Context(main), name)
    assert found is not None
    return found


def with_subcommands(of: click.Command) -> list[click.Command]:
    """The command, and those below it."""
    below = of.commands.values() if isinstance(of, click.Group) else ()
    return [of, *(each for sub in below for each in with_subcommands(sub))]


def written(parameter: click.Parameter) -> set[str]:
    """How a parameter is written in the docs: an option's names, an argument's metavar."""
    if isinstance(parameter, click.Option):
        return {*parameter.opts, *parameter.secondary_opts}
    return {parameter.metavar or (parameter.name or "").upper()}


@pytest.mark.parametrize("each", COMMANDS)
def test_every_option_and_argument_of_a_command_is_documented_and_no_other(each: str) -> None:
    table = section("reference/commands.md", f"vera {each}").replace("\\|", "|")
    documented = {
        word
        for row in re.findall(r"^\| ((?:`[^`]+`(?:, )?)+) \|", table, re.MULTILINE)
        for word in quoted(row)
    }
    parameters = [parameter for part in with_subcommands(command(each)) for parameter in part.params]
    assert documented == set().union(*map(written, parameters))


def test_the_list_of_commands_is_that_of_the_program() -> None:
    listed = re.findall(r"^\| \[`vera (\w+)`\]", (DOCS / "reference/commands.md").read_text(), re.MULTILINE)
    assert listed == list(COMMANDS)


def typed(page: Path) -> Iterator[list[str]]:
    """The words after `vera` of each command in the page's shell blocks."""
    for block in blocks(page.read_text()):
        if block.language != "sh":
            continue
        for line in block.body.replace("\\\n", " ").split("\n"):
            words = shlex.split(line.replace("; ", " ; "), comments=True)
            while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
                words = words[1:]
            if words[:2] == ["python3", "run.py"]:
                words = words[1:]
            if words and words[0] in ("vera", "run.py"):
                end = next((at for at, word in enumerate(words) if word in SHELL_WORDS), len(words))
                yield words[1:end]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_command_of_a_page_is_understood(page: Path) -> None:
    for words in typed(page):
        if words[0] in OF_THE_BOOTSTRAP:
            continue
        found, rest = command(words[0]), words[1:]
        if isinstance(found, click.Group) and rest:
            _, below, rest = found.resolve_command(click.Context(found), rest)
            assert below is not None, words
            found = below
        found.make_context(words[0], rest)


def test_the_pages_do_show_commands() -> None:
    assert sum(len(list(typed(page))) for page in PAGES) > 20
