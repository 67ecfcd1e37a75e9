"""Finding quotations in their sources, on what people marked in QuoteSum."""

import time
import unicodedata
from collections.abc import Iterable
from typing import Any

from checks.figures import share_interval
from checks.labelled import Marked
from vera.bench.figures import share
from vera.text.quote import QuoteIndex


def measure(marks: Iterable[Marked], seed: int) -> dict[str, Any]:
    """The figures as JSON holds them.

    `located` is the share of marked words that are found in the title and text of their source. An offset is
    wrong (`wrong_offsets`, a count) when the letters and digits of the bytes it points at are not those of
    the words: compared here without anything that the finder uses. Marks of a source that the row does not
    have are `skipped`.
    """
    found: list[bool] = []
    exact = wrong = skipped = 0
    seconds = 0.0
    for mark in marks:
        if not mark.source:
            skipped += 1
            continue
        data = mark.source.encode("utf-8", "replace")
        started = time.perf_counter()
        located = QuoteIndex(data).locate(mark.words)
        seconds += time.perf_counter() - started
        found.append(located is not None and located.whole)
        if located is None:
            continue
        exact += located.form == "exact"
        pieces = b"".join(data[start:end] for start, end in located.parts)
        wrong += _letters(pieces.decode("utf-8", "replace")) != _letters(mark.words)
    return {
        "n": len(found),
        "located": share(sum(found), len(found)),
        "not_located": len(found) - sum(found),
        "exact": share(exact, len(found)),
        "wrong_offsets": wrong,
        "ms_per_quotation": round(1000 * seconds / len(found), 3) if found else None,
        "skipped": skipped,
        "intervals": {"located": share_interval(found, seed)},
    }


def _letters(text: str) -> str:
    """Letters and digits only, compatibility forms and case folded."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))
