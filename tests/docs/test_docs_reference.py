"""Exit codes, formats, prompts, rooms and limits on the pages are those of the code."""

import re
from pathlib import Path
from typing import get_args

import pytest
from docs_pages import DOCS, first_cells, quoted, section

import vera
from vera.agent.effort import STEPS_BY_EFFORT
from vera.cli import exit as exit_codes
from vera.cli.run import run
from vera.config.settings import Backend
from vera.extraction.canonical import FORMATS, LINE_LIMIT
from vera.lane.prompts import PACKAGED, profiles
from vera.model.servers.registry import SERVERS

SOURCE = Path(vera.__file__).parent


def test_every_exit_code_that_run_names_is_in_the_table() -> None:
    table = (DOCS / "reference/exit-codes.md").read_text().split("By command")[0]
    codes = {int(cell) for cell in first_cells(table)}
    assert run.help is not None
    named = {int(code) for code in re.findall(r"\b(\d+)\s+[A-Za-z]", run.help.partition("Exit codes:")[2])}
    constants = {value for key, value in vars(exit_codes).items() if key.isupper() and isinstance(value, int)}
    assert codes == named
    assert constants <= codes


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
def test_every_format_is_documented_with_its_suffixes_and_its_limit(known: object) -> None:
    from vera.extraction.canonical import Format

    assert isinstance(known, Format)
    rows = section("reference/evidence.md", "Canonical text").split("\n")
    (row,) = [line for line in rows if line.startswith(f"| {known.name} |")]
    assert set(quoted(row.split(" | ")[1])) == set(known.suffixes)
    assert row.split(" | ")[2] == f"{known.limit >> 20} MB"
    assert set(known.suffixes) <= set(quoted(section("how-to/use-my-documents.md", "What is read")))


def test_the_line_rule_is_that_of_the_code() -> None:
    assert f"longer than {LINE_LIMIT} characters" in section("reference/evidence.md", "The line rule")


def test_every_prompt_template_is_documented() -> None:
    page = (DOCS / "reference/prompts.md").read_text()
    templates = {path.name.removesuffix(".md.j2") for path in PACKAGED.rglob("*.md.j2")}
    assert {word for cell in first_cells(page) for word in quoted(cell)} == templates
    assert all(f"`{profile}`" in page for profile in profiles())


def test_every_kind_of_server_is_documented_with_its_port() -> None:
    table = section("how-to/use-a-model-server.md", "A server on this machine")
    for server in SERVERS:
        assert not server.port or re.search(
            rf"^\| {re.escape(server.title)} \| {server.port}", table, re.MULTILINE
        )


def test_every_effort_is_documented_with_its_steps() -> None:
    text = section("reference/commands.md", "vera run")
    assert all(
        f"`{effort}` ({steps}" in text.replace(" steps)", ")") for effort, steps in STEPS_BY_EFFORT.items()
    )


def test_every_sandbox_that_can_be_named_is_documented() -> None:
    row = next(
        line for line in section("reference/commands.md", "vera run").split("\n") if "`--sandbox`" in line
    )
    assert set(quoted(row)) - {"--sandbox"} == set(get_args(Backend))


def test_the_drawing_of_the_floors_has_every_room() -> None:
    drawing = section("design.md", "Floors")
    rooms = {
        path.name if path.is_dir() else path.stem for path in SOURCE.iterdir() if path.name[0] not in "_."
    }
    assert [room for room in sorted(rooms - {"py"}) if not re.search(rf"\b{room}\b", drawing)] == []


def test_every_prompt_template_is_documented_with_what_fills_it_in() -> None:
    from jinja2 import Environment, meta

    table = (DOCS / "reference/prompts.md").read_text()
    for path in PACKAGED.rglob("*.md.j2"):
        names = meta.find_undeclared_variables(Environment().parse(path.read_text()))
        row = next(line for line in table.split("\n") if line.startswith(f"| `{path.name.split('.')[0]}` |"))
        assert set(quoted(row.split(" | ")[2])) == names, path.name
