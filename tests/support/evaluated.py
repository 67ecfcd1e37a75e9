"""A result of `vera eval`, without its runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vera.report.evaluation import write_evaluation

ENDED = 1_790_000_000.0
ROWS: tuple[tuple[str, bool, bool], ...] = (
    ("VERIFIED", True, True),
    ("QUOTED", True, False),
    ("UNRESOLVED", True, True),
    ("UNRESOLVED", False, False),
    ("VERIFIED", False, False),
)
"""Word, answerable, right: one of each outcome."""


def share(count: int, of: int) -> dict[str, Any]:
    return {"value": count / of, "interval": [0.1, 0.9], "count": count, "of": of}


def figures() -> dict[str, Any]:
    """Figures that have no more to do with ROWS than a page needs."""
    nothing = {"value": None, "interval": None, "count": 0, "of": 0}
    answers = {
        "right_of_answerable": share(1, 3),
        "right_of_answered": nothing,
        "unanswerable_answered": share(1, 2),
        "decided_rightly": share(2, 5),
    }
    verifier = {"false_accept": share(1, 4), "false_reject": share(1, 2)}
    return {
        "questions": len(ROWS),
        "accepted": ["VERIFIED", "QUOTED"],
        "verifier_off": answers,
        "verifier_on": answers,
        "verifier": verifier,
    }


def each(text: str = "How high is the dam?", session: str = "") -> list[dict[str, Any]]:
    """The questions of ROWS; `session` is the folder that all of them name, or `s0`, `s1`, …"""
    return [
        {
            "id": f"q{number} {text}",
            "question": text,
            "status": status,
            "answerable": answerable,
            "right": right,
            "session": session or f"s{number}",
        }
        for number, (status, answerable, right) in enumerate(ROWS)
    ]


def make(folder: Path, text: str = "How high is the dam?", rows: Sequence[dict[str, Any]] = ()) -> None:
    """Write the result of a folder, with `text` wherever it has text."""
    folder.mkdir(parents=True, exist_ok=True)
    write_evaluation(folder, text, text, ENDED, figures(), rows or each(text))
