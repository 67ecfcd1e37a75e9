"""Theses that two authors wrote who had read no rule, over documents of theirs (`docs/verification.md`)."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from support.cited import cited
from vera.audit.case import CitedLines
from vera.audit.containment import label, spans
from vera.audit.source_text import SourceText

SETS = Path(__file__).parents[1] / "fixtures" / "theses"
SPANS = 6


def theses(name: str) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in (SETS / name / "theses.jsonl").read_bytes().splitlines()]


def relations(name: str, folder: str, thesis: str) -> set[str]:
    """What the best lines of each document say of the thesis."""
    found = set[str]()
    for path in sorted((SETS / name / folder).iterdir()):
        text = path.read_text("utf-8")
        case = cited(thesis, text, form="statement")
        evidence = next(iter(case.evidence.values()))
        source = SourceText(text.encode())
        for first, last in spans(source, thesis, SPANS):
            found.add(label(case.claims[0], CitedLines(evidence, source, first, last)))
    return found


@pytest.mark.parametrize(("name", "least"), [("first", 14), ("second", 25)])
def test_true_theses_are_found_and_false_ones_are_not(name: str, least: int) -> None:
    said = {each["id"]: relations(name, each["folder"], each["thesis"]) for each in theses(name)}
    truth = {each["id"]: each["truth"] for each in theses(name)}
    supported = {key for key, found in said.items() if "SUPPORTS" in found}
    assert {key for key in supported if truth[key] != "true"} == set()
    assert len(supported) >= least
    contradicted = {key for key, found in said.items() if "CONTRADICTS" in found}
    assert {key for key in contradicted if truth[key] == "true"} == set()
