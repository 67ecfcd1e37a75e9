"""How a result is shown to the model: numbered lines, cut once in the middle, fenced by their numbers.

Every line of outside text carries its number and a bar (`12| text`). Our own lines never look like that,
so nothing in a page, a file or a program's output can pose as a word of ours.
"""

from collections.abc import Sequence

from vera.extraction.marks import told
from vera.lane.tools import EvidenceDraft
from vera.text.span import Lines

PAGES_SHOWN = 3
"""Pages of one command whose text is shown; more are named."""


def numbered(lines: Lines, first: int, last: int) -> list[str]:
    """Lines `first` to `last`, each with its number. Raises IndexError when they do not exist."""
    text = lines.cut(first, last).decode("utf-8", "replace")
    return [f"{number}| {line}" for number, line in enumerate(text.split("\n"), first)]


def shown(lines: Lines, first: int, last: int, limit: int, evidence_id: str) -> str:
    """Lines `first` to `last` in at most about `limit` bytes.

    What does not fit is left out of the middle (three fifths of the room go to the beginning), and a line
    says how to read it.
    """
    if first > last:
        return "(empty)"
    start, end = lines.bounds(first, last)
    if end - start + 8 * (last - first + 1) <= limit:
        return "\n".join(numbered(lines, first, last))
    head = _reach(lines, first, last, limit * 3 // 5, 1)
    tail = _reach(lines, last, first, limit * 2 // 5, -1)
    if tail <= head + 1:
        tail = min(head + 2, last + 1)
    how = f'read {{"path": "{evidence_id}", "first": {head + 1}, "last": {tail - 1}}}'
    skipped = f"[lines {head + 1}-{tail - 1} not shown: {how}]"
    rest = numbered(lines, tail, last) if tail <= last else []
    return "\n".join([*numbered(lines, first, head), skipped, *rest])


def captured(pages: Sequence[tuple[str, EvidenceDraft]], room: int) -> list[str]:
    """The pages, by id, that a command brought beside its output: what each is, and of the first few the text
    in about half of `room` bytes together."""
    said = []
    for number, (evidence_id, page) in enumerate(pages):
        said.append(f"CAPTURED {evidence_id} · {page.summary} · cite the page by this id")
        if number < PAGES_SHOWN:
            lines = Lines(told(page.text, page.marks))
            share = room // (2 * min(len(pages), PAGES_SHOWN))
            said.append(shown(lines, page.first, page.last, share, evidence_id))
    return said


def observation(evidence_id: str, header: str, body: str, footer: str = "") -> str:
    """The message for the model: what this is (with its id, where it can be cited), its lines, and where
    the run stands."""
    first = f"OBSERVATION {evidence_id} · {header}" if evidence_id else f"OBSERVATION · {header}"
    return "\n".join(part for part in (first, body, footer) if part)


def _reach(lines: Lines, start: int, stop: int, room: int, direction: int) -> int:
    """The last line number, from `start` towards `stop`, at which the lines still fit into `room` bytes."""
    number = start
    while True:
        begin, end = lines.bounds(number, number)
        room -= end - begin + 8
        if number == stop or room <= 0:
            return number
        number += direction
