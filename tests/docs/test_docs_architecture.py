"""docs/architecture.md shows the rooms and imports as they are."""

import runpy
from functools import cache
from typing import Any
from xml.etree import ElementTree

from docs_pages import DOCS, ROOT

HOW = "make it again: .venv/bin/python benchmarks/architecture.py"
SVG = "{http://www.w3.org/2000/svg}"


@cache
def script() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "benchmarks" / "architecture.py"))


@cache
def rooms() -> dict[str, set[str]]:
    """Every module is read for it, which takes seconds."""
    return dict(script()["rooms"]())


def test_the_picture_is_the_one_that_the_imports_give() -> None:
    made = script()
    assert made["picture"](rooms()) == made["PICTURE"].read_text("utf-8"), HOW


def test_it_shows_every_room_once_and_each_arrow_runs_to_a_lower_floor() -> None:
    made = script()
    arrows, floors = made["reduced"](rooms()), made["FLOORS"]
    drawing = ElementTree.fromstring(made["PICTURE"].read_bytes())
    names = [text.text for text in drawing.iter(f"{SVG}text") if not str(text.text).isdigit()]
    assert sorted(names) == sorted(floors)
    assert len(drawing.findall(f"{SVG}path")) == sum(map(len, arrows.values()))
    assert all(floors[to] < floors[name] for name, below in arrows.items() for to in below)


def test_an_arrow_is_left_out_only_where_a_longer_way_leads() -> None:
    reduced = script()["reduced"]
    assert reduced({"a": {"b", "c"}, "b": {"c"}, "c": set(), "d": {"c"}}) == {
        "a": ["b"],
        "b": ["c"],
        "c": [],
        "d": ["c"],
    }


def test_another_import_is_another_picture() -> None:
    made = script()
    graph = {**rooms(), "history": set()}
    assert made["picture"](graph) != made["PICTURE"].read_text("utf-8")


def test_the_page_shows_it() -> None:
    assert "](images/architecture.svg)" in (DOCS / "architecture.md").read_text()
