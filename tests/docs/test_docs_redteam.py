"""The page of the attacks has the tables of the attacks that are there, and its example is one of them."""

from docs_pages import ROOT, blocks

from redteam.attack import attacks
from redteam.page import FAMILIES, PAGE, with_tables


def test_the_tables_are_those_of_the_attacks() -> None:
    text = PAGE.read_text("utf-8")
    assert text == with_tables(text), "write them: PYTHONPATH=tests .venv/bin/python -m redteam.page"


def test_each_family_is_explained_and_only_limits_are_believed() -> None:
    assert {attack.family for attack in attacks()} == set(FAMILIES)
    assert {attack.family for attack in attacks() if attack.gets_through} == {"limits"}


def test_there_are_enough_and_nearly_all_honest_twins_are_accepted() -> None:
    found = attacks()
    assert len(found) >= 300
    assert sum(not attack.refused for attack in found) / len(found) >= 0.95


def test_the_example_is_the_file() -> None:
    files = {block.file: block.body for block in blocks(PAGE.read_text("utf-8")) if block.file}
    assert files and all((ROOT / name).read_text("utf-8") == body for name, body in files.items())
