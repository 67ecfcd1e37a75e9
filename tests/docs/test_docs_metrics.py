"""docs/reference/metrics.md has every metric and every value of a label, and says what the code says."""

import re

import pytest
from docs_pages import DOCS, quoted, section

from support.specified_metrics import SPECIFIED
from vera.metrics import FAMILIES
from vera.metrics.families import POLICIES

PAGE = "reference/metrics.md"
NOT_LISTED = {"type", "session"}
"""Labels whose values stand elsewhere: the events have a page of their own."""


def rows() -> dict[str, list[str]]:
    """The cells behind the name of each metric."""
    lines = re.findall(r"^\| `(dra_\w+)` \|(.*)\|$", (DOCS / PAGE).read_text(), re.MULTILINE)
    assert len(lines) == len(dict(lines))
    return {name: [cell.strip() for cell in cells.split("|")] for name, cells in lines}


def samples(name: str) -> set[str]:
    if FAMILIES[name].kind != "histogram":
        return {name}
    return {f"{name}_bucket", f"{name}_sum", f"{name}_count"}


def test_every_metric_is_documented_and_no_other() -> None:
    assert list(rows().keys() - FAMILIES.keys()) == []
    assert list(FAMILIES.keys() - rows().keys()) == []


@pytest.mark.parametrize("name", FAMILIES)
def test_a_metric_is_documented_with_its_type_labels_and_meaning(name: str) -> None:
    kind, labels, specified, meaning = rows()[name]
    assert kind == FAMILIES[name].kind
    assert quoted(labels) == list(FAMILIES[name].labels)
    assert specified == ("yes" if samples(name) & SPECIFIED else "")
    assert meaning if name in POLICIES.values() else meaning == FAMILIES[name].help


def test_every_specified_name_is_marked() -> None:
    marked = {name for name, cells in rows().items() if cells[2] == "yes"}
    assert {sample for name in marked for sample in samples(name)} >= SPECIFIED


def test_every_value_of_a_label_is_documented_and_no_other() -> None:
    table = section(PAGE, "Labels")
    documented = {
        (label, name): tuple(quoted(values))
        for label, names, values in re.findall(r"^\| `(\w+)` \| (`dra.*`) \| (.*) \|$", table, re.MULTILINE)
        for name in quoted(names)
    }
    assert documented.keys() == {(label, name) for name, each in FAMILIES.items() for label in each.labels}
    for (label, name), values in documented.items():
        assert label in NOT_LISTED or values == FAMILIES[name].labels[label]
