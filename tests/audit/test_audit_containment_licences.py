"""The rule `containment` on the licences: the theses it was made with, and changed ones. Those that only
measure it are asked of `vera.verify` (tests/end_to_end/test_theses_licences.py)."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import ModuleType

import pytest

from support.benchmarks import loaded

ROOT = Path(__file__).resolve().parents[2]
DEVELOPED = [
    json.loads(line) for line in (ROOT / "tests" / "audit" / "licence_theses.jsonl").read_text().splitlines()
]
SPANS = 2


@pytest.fixture(scope="module")
def benchmark() -> Iterator[ModuleType]:
    """benchmarks/theses.py as a module."""
    with loaded("theses") as module:
        yield module


def results(benchmark: ModuleType, theses: list[str]) -> dict[str, str]:
    library = benchmark.documents(ROOT / "examples" / "licences")
    return {thesis: benchmark.result(benchmark.judged(thesis, library, SPANS)) for thesis in theses}


def test_the_theses_of_development_keep_their_results(benchmark: ModuleType) -> None:
    found = results(benchmark, [thesis["text"] for thesis in DEVELOPED])
    expected = {thesis["text"]: thesis["expected"] for thesis in DEVELOPED}
    wrong = [
        text for text, result in found.items() if (result == "SUPPORTED") != (expected[text] == "supported")
    ]
    refuted = [text for text, result in found.items() if result == "REFUTED" and expected[text] == "open"]
    assert (wrong, refuted) == ([], [])


def test_no_mutant_of_a_supported_thesis_is_supported(benchmark: ModuleType) -> None:
    chance = Random(20)
    true = [thesis["text"] for thesis in DEVELOPED if thesis["expected"] == "supported"]
    mutants = {
        mutant
        for text in chance.sample(true, 5)
        for mutation in benchmark.MUTATIONS.values()
        for mutant in list(mutation(text, chance))[:3]
    } - set(true)
    found = results(benchmark, sorted(mutants))
    assert [text for text, result in found.items() if result == "SUPPORTED"] == []
