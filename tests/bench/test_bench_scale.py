"""What the audit costs grows with its input and no faster: by counting, without a clock."""

import gc
import tracemalloc
from collections import Counter
from collections.abc import Callable

import pytest
from checks.judging import page_case
from checks.synthetic import judged_round, page

from vera.attestation.build import build
from vera.audit import source_text
from vera.audit.registry import audit
from vera.text.quantity import quantities


class Counting:
    """Stands for a function of a text and counts the texts that it was called with."""

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function
        self.texts: Counter[str] = Counter()

    def __call__(self, text: str, *beside: str) -> object:
        self.texts[text] += 1
        return self._function(text, *beside)


@pytest.mark.parametrize("reader", ["quantities", "Passages", "folded"])
def test_each_source_is_read_once_however_many_claims_cite_it(
    reader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting = Counting(getattr(source_text, reader))
    monkeypatch.setattr(source_text, reader, counting)
    record = judged_round(claims=80, sources=6, size=2000)
    build(record)
    whole = {data.decode() for data in record.texts.values()}
    assert {text: counting.texts[text] for text in whole if counting.texts[text] > 1} == {}
    if reader != "folded":
        assert whole <= counting.texts.keys()


def test_four_times_the_claims_cause_four_times_the_reading_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: dict[int, int] = {}
    for claims in (20, 80):
        counting = Counting(quantities)
        with monkeypatch.context() as patched:
            patched.setattr(source_text, "quantities", counting)
            build(judged_round(claims=claims, sources=5, size=2000))
        read[claims] = sum(len(text) * count for text, count in counting.texts.items())
    assert read[80] <= 4 * read[20]


def test_every_claim_of_a_synthetic_round_has_its_card() -> None:
    attestation = build(judged_round(claims=30, sources=7, size=1500)).attestation
    assert len(attestation.cards) == 30
    assert {claim.result for claim in attestation.claims} == {"SUPPORTED"}


def test_memory_does_not_grow_with_the_claims_that_were_audited() -> None:
    """The same pages come round again: words and their stems are kept in caches of bounded size, which the
    first round fills. What stayed of a page would be more than 1,000 bytes."""
    held: list[int] = []
    tracemalloc.start()
    try:
        for number in range(250):
            lines = page(number % 10, 300)
            audit(page_case(lines[number % len(lines)], lines))
            if number + 1 in (50, 250):
                gc.collect()
                held.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    early, late = held
    assert late - early < 200 * 100
