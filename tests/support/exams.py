"""Judges that sit the exam: one that knows the answer key, and a record of one that has passed."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from vera.attestation.exam import SPANS, SUPPORTED, VERSION, Sheet, paper, pool
from vera.attestation.objects import Exam
from vera.events import VerifierExam
from vera.lane.prompts import Prompts

Judge = Callable[[str, Sequence[str]], Sequence[str]]
"""Gives the label of each span for a claim."""

_CLAIM = re.compile(r"^claim\| (.*)$", re.MULTILINE)
_SPANS = re.compile(r"<<<DATA \w+ span \d+ .*?\n(.*?)\nDATA \w+>>>", re.DOTALL)
_LINES = re.compile(r"^\d+\| (.*)$", re.MULTILINE)


@cache
def key() -> Mapping[tuple[str, str], str]:
    """The best label of each line of the pool for its claim."""
    known = {}
    for sheet in pool():
        for item in sheet.items:
            first = ("SUPPORTS", "CONTRADICTS", "IRRELEVANT", "QUALIFIES")
            known[sheet.claim, item.text] = next(each for each in first if each in item.right)
    return known


def asked(body: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The claim and the spans of a label request, ('', []) for another request."""
    shown = str(body["messages"][-1]["content"])
    if "Label each of the" not in shown:
        return "", []
    spans = ["\n".join(_LINES.findall(rows)) for rows in _SPANS.findall(shown)]
    return "\n".join(_CLAIM.findall(shown)), spans


def is_exam(body: Mapping[str, Any]) -> bool:
    """Whether a request is a sheet of the exam: nothing else has its claims."""
    claim, _ = asked(body)
    return any(claim == sheet.claim for sheet in pool())


def labelled(labels: Sequence[str]) -> str:
    """These labels as a label call's reply."""
    spans = [{"index": index, "relation": label} for index, label in enumerate(labels, 1)]
    return json.dumps({"spans": spans})


def competent(claim: str, spans: Sequence[str]) -> list[str]:
    """A judge that has the answer key."""
    return [key()[claim, span] for span in spans]


def sat_by(judge: Judge, body: Mapping[str, Any]) -> str:
    """This judge's reply to a label request."""
    return labelled(judge(*asked(body)))


@cache
def replies(judge: Judge, seed: int = 0) -> tuple[str, ...]:
    """What a judge says to the whole paper of this seed."""
    return tuple(labelled(judge(*_sheet(sheet))) for sheet in paper(seed))


def _sheet(sheet: Sheet) -> tuple[str, list[str]]:
    return sheet.claim, [item.text for item in sheet.items]


def exam(model: str = "judge-7b", *, passed: bool = True, prompt: str = "a" * 64, **changed: Any) -> Exam:
    """The exam of a judge of this name as an attestation has it."""
    figures: dict[str, Any] = {
        "roles": ("labels", "scores"),
        "right": SPANS if passed else SUPPORTED,
        "of": SPANS,
        "accepted": 0 if passed else SPANS - SUPPORTED,
        "refusable": SPANS - SUPPORTED,
        "passed": passed,
        **changed,
    }
    return Exam(model=model, version=VERSION, prompt=prompt, **figures)


def sat(model: str, *, prompt: str = "", judge: Judge = competent, **changed: Any) -> VerifierExam:
    """The record of an exam that this judge sat."""
    from vera.attestation.exam import grade

    said = replies(judge)
    graded = grade(0, said)
    members: dict[str, Any] = {
        "roles": ("labels", "scores"),
        "sat_at": 1_764_000_000.0,
        "right": graded.right,
        "of": graded.of,
        "accepted": graded.accepted,
        "refusable": graded.refusable,
        "passed": graded.passed,
        **changed,
    }
    prompt = prompt or Prompts().sha256("judge_label")
    return VerifierExam(model=model, version=VERSION, seed=0, replies=said, prompt_sha256=prompt, **members)
