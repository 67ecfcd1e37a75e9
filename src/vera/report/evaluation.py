"""`evaluation.json`: what `vera eval` found, kept beside its sessions for pages and programs.

The file may come from anyone. It is read up to a limit, as a regular file, and only in this shape.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from vera.decode_errors import DECODE_ERRORS
from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable
from vera.report.printable import one_printable_line
from vera.store import replace_file

FILE = "evaluation.json"
FORMAT: Literal["vera-evaluation-1"] = "vera-evaluation-1"
MAX_KEPT = 5000
"""Questions that a file keeps; of more, misses come first."""

MAX_TEXT = 300
"""Characters of a question, or of a name, that a file keeps."""

MAX_BYTES = 16 << 20
OUTCOMES = {
    "right": "right",
    "withheld": "rightly not answered",
    "wrong": "wrong",
    "missed": "not answered",
    "invented": "answered, but the documents hold no answer",
}
"""What came of a question with the verifier on, in words."""

MISSES = frozenset({"wrong", "missed", "invented"})

Unit = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=0, le=10**15)]


class EvaluationError(Exception):
    """A file that is not what `vera eval` writes: a sentence for the person."""


class Share(msgspec.Struct, frozen=True):
    """A share between 0 and 1 with its 95 % interval; both None when `of` is 0."""

    value: Unit | None
    interval: tuple[Unit, Unit] | None
    count: Count
    of: Count


class Answers(msgspec.Struct, frozen=True):
    """What one has with the verifier, or without it. `decided_rightly` counts right answers, and none where
    there is none."""

    right_of_answerable: Share
    right_of_answered: Share
    unanswerable_answered: Share
    decided_rightly: Share


class Errors(msgspec.Struct, frozen=True):
    """The verifier's own: wrong answers accepted, and right ones not accepted."""

    false_accept: Share
    false_reject: Share


class Figures(msgspec.Struct, frozen=True):
    """Those of the figures of `vera eval --json` that pages show."""

    questions: Count
    accepted: tuple[str, ...]
    verifier_off: Answers
    verifier_on: Answers
    verifier: Errors


class Asked(msgspec.Struct, frozen=True):
    """One question: its word, whether its last answer states the key, and its folder beside the file."""

    id: str
    question: str
    status: str
    answerable: bool
    right: bool
    session: str

    def outcome(self, accepted: Collection[str]) -> str:
        """The key in OUTCOMES, when answers with one of the words `accepted` count."""
        if self.status not in accepted:
            return "missed" if self.answerable else "withheld"
        if not self.answerable:
            return "invented"
        return "right" if self.right else "wrong"


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """A result: the name of the questions' file, the model, when it ended (Unix time), figures and
    questions. `left_out` questions were too many to keep."""

    format: Literal["vera-evaluation-1"]
    data: str
    model: str
    ended: Annotated[float, msgspec.Meta(ge=0, le=253_402_300_799)]
    left_out: Count
    figures: Figures
    each: tuple[Asked, ...]

    def misses(self) -> tuple[Asked, ...]:
        return tuple(each for each in self.each if each.outcome(self.figures.accepted) in MISSES)


def write_evaluation(
    folder: Path,
    data: str,
    model: str,
    ended: float,
    figures: Mapping[str, Any],
    each: Sequence[Mapping[str, Any]],
) -> None:
    """Keep a result, whole or not at all; one that was there before is replaced.

    `each` is what `eval_figures.per_question` gives. Raises OSError.
    """
    rows = [{**one, "session": Path(one["session"]).name} for one in each]
    for row in rows:
        row.update({name: _kept(str(row[name])) for name in ("id", "question")})
    if len(rows) > MAX_KEPT:
        accepted = figures["accepted"]
        rows.sort(key=lambda row: msgspec.convert(row, Asked).outcome(accepted) not in MISSES)
    kept = {
        "format": FORMAT,
        "data": _kept(data),
        "model": _kept(model),
        "ended": round(ended, 3),
        "left_out": max(0, len(rows) - MAX_KEPT),
        "figures": figures,
        "each": rows[:MAX_KEPT],
    }
    replace_file(folder / FILE, msgspec.json.encode(kept) + b"\n")


def _kept(text: str) -> str:
    """The beginning of a text, on one line; a lone surrogate, as a file's name can have, becomes `?`."""
    return one_printable_line(text[:MAX_TEXT]).encode("utf-8", "replace").decode()[:MAX_TEXT]


def read_evaluation(folder: Path) -> Evaluation:
    """The result of a folder. Raises EvaluationError."""
    try:
        found = msgspec.json.decode(read_regular(folder, FILE, MAX_BYTES), type=Evaluation)
    except (Unreadable, OSError):
        raise EvaluationError(f"{FILE} cannot be read: it has to be a file of at most 16 MiB.") from None
    except DECODE_ERRORS:
        raise EvaluationError(f"{FILE} is not as vera eval writes it. Run vera eval again.") from None
    if len(found.each) > MAX_KEPT:
        raise EvaluationError(f"{FILE} has more than {MAX_KEPT:,} questions. Run vera eval again.")
    return found
