"""docs/how-to/sample-several-actions.md: its settings load, its class chooses, its output is printed."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from docs_pages import DOCS, blocks, first_cells, quoted, section

from support.attacks import vera_here
from support.choosing import BROKEN, GOOD, READ, SEARCH, Play, choose, prefers, server
from support.selecting import nobody, options
from vera.config import load
from vera.runtime.choosing import options_of, sampling_of, templates_of
from vera.selection import judge, pipeline, verdict
from vera.selection.options import SelectionOptions
from vera.selection.registry import SELECTORS, selector
from vera.selection.selector import ActionCluster, SelectionContext

PAGE = "how-to/sample-several-actions.md"
BLOCKS = blocks((DOCS / PAGE).read_text())
SETTINGS = [block.body for block in BLOCKS if block.language == "yaml"]

DESCRIBED = [
    (4, "pairwise", ""),
    (4, "llm", "qwen3-8b"),
    (4, "majority", ""),
    (4, "llm", ""),
    (3, "llm", ""),
    (4, "my_choosing.Careful", ""),
]
"""What each example switches on: candidates, who chooses, and the model that is asked."""


def test_every_example_of_settings_is_known_here() -> None:
    assert len(SETTINGS) == len(DESCRIBED)


@pytest.mark.parametrize("number", range(len(DESCRIBED)))
def test_an_example_switches_on_what_it_describes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "example.yaml").write_text(SETTINGS[number])
    (tmp_path / "prompts").mkdir()
    for part in ("system", "selection"):
        (tmp_path / "prompts" / f"terse.{part}.md.j2").write_text("Candidate {{ last }}")
    found = load([str(tmp_path / "example.yaml")], {}, {}, tmp_path, tmp_path / "none.yaml")
    sampling, verifier = found.settings.candidate_sampling, found.settings.action_verifier
    assert verifier.enabled and found.warnings == ()
    chosen = options_of(verifier)
    assert (sampling_of(sampling).num_candidates, chosen.selector, verifier.model.name) == DESCRIBED[number]
    assert templates_of(verifier).render(
        SelectionContext(task="t"), options((10, 1), (12, 1)), index_base=1, with_text=False
    )


def test_the_regular_expression_of_the_page_reads_the_reply_that_its_template_asks_for() -> None:
    (body,) = [body for body in SETTINGS if "selection_regex" in body]
    pattern = re.findall(r"selection_regex: '(.*)'", body)[0]
    assert verdict.read("Both read. CHOICE 2", 3, pattern=pattern).place == 1


def test_every_type_is_explained_and_no_other() -> None:
    assert [word for cell in first_cells(section(PAGE, "Who chooses")) for word in quoted(cell)] == sorted(
        SELECTORS, key=["pairwise", "llm", "majority", "shortest", "first_valid", "random"].index
    )


def test_it_is_said_which_types_ask_a_model() -> None:
    for row in section(PAGE, "Who chooses").split("\n"):
        if row.startswith("| `") and "verifier_type" not in row:
            name, _, asks, _ = (cell.strip(" |") for cell in row.split(" | "))
            assert (asks != "no") == selector(name.strip("`")).judges, name


def test_every_reason_for_the_fallback_is_explained_here_and_among_the_events() -> None:
    words = {
        value
        for module in (pipeline, judge, verdict)
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, str) and re.fullmatch("[a-z_]+", value)
    } - {judge.SCOPE}
    here = {word for cell in first_cells(section(PAGE, "When nothing is decided")) for word in quoted(cell)}
    assert here == words
    row = next(
        line
        for line in section("reference/events.md", "selection").split("\n")
        if line.startswith("| `fallback_reason` |")
    )
    assert words <= set(quoted(row))


def test_the_class_of_the_page_chooses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (body,) = [block.body for block in BLOCKS if block.language == "python"]
    (tmp_path / "my_choosing.py").write_text(body)
    monkeypatch.syspath_prepend(str(tmp_path))
    careful = selector("my_choosing.Careful")
    how = SelectionOptions(selector="my_choosing.Careful")

    def choose_from(*actions: str) -> Any:
        shown = [
            ActionCluster(index=index, votes=1, action=action, text="", size=len(action))
            for index, action in enumerate(actions)
        ]
        return asyncio.run(careful.select(shown, SelectionContext(task="t"), nobody, how))

    assert choose_from("shell\nls", 'read\n{"path": "a"}').chosen == 1
    assert choose_from("shell\nls", "search\n{}").problem == "nothing_reads"


def test_the_command_prints_what_the_page_shows(tmp_path: Path) -> None:
    (shown,) = [block.body for block in BLOCKS if block.label == "candidates"]
    play = Play([[SEARCH, READ, GOOD, BROKEN], [GOOD]], judge=prefers("written offer"))
    with server(play) as worker:
        run = choose(tmp_path, worker, "--num-candidates", 4, "--action-verifier", "pairwise")
    printed = vera_here("show", run.work, "--candidates", cwd=tmp_path).out

    def alike(text: str) -> str:
        counts = r"\d+\.\d s|\d+ tokens in|\(\d+ cached\)|\d+ out"
        return re.sub(counts, "…", text.partition("\n\nStep 2")[0]).strip()

    assert alike(printed) == alike(shown)
