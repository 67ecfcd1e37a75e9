"""The page of the batteries has a section for each, with its promise and its table, and names tests that are
there."""

import re

import pytest
from docs_pages import DOCS, ROOT, section

from assurance.batteries import Battery, batteries
from assurance.tamper_rules import RULES

PAGE = "assurance.md"
ROW = re.compile(r"^\| all \| ([\d,]+) \| (\d+) \|", re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


@pytest.mark.parametrize("battery", batteries().values(), ids=lambda battery: battery.name)
def test_each_battery_has_its_section_with_a_table_that_says_when_it_is_not_all_of_a_long_run(
    battery: Battery,
) -> None:
    text = section(PAGE, battery.name)
    assert f"**{battery.name}**: {battery.promise}" in text
    assert f"`python3 run.py test --long {battery.name} --seed " in text
    found = ROW.search(text)
    assert found is not None
    made = int(found[1].replace(",", ""))
    assert (
        made >= battery.trials
        or f"A long run makes {battery.trials:,}: these are the first {made:,}." in text
    )
    assert "### What it found" in text


def test_each_test_that_the_page_names_is_there() -> None:
    named = TEST.findall((DOCS / PAGE).read_text("utf-8"))
    missing = [
        f"{file}::{name}" for file, name in named if f"def {name}(" not in (ROOT / file).read_text("utf-8")
    ]
    assert named and missing == []


def test_the_page_has_the_rules_of_changes_that_alter_nothing_promised() -> None:
    rules = "\n".join(f"| {rule.name} | {rule.reason} |" for rule in RULES)
    assert rules in section(PAGE, "Changes that alter nothing promised")
