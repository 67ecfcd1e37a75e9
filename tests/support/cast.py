"""One scripted server that plays every part of a run: the worker, and the verifier with its check lanes.

    cast = Cast([turn("read", path="terms.txt"), final("Three years [ev_0001:3].")])
    with ScriptedServer(cast) as server: ...
    assert cast.asked["label"] == 2

Each part is a function of the request that may look at the prompt; by default the verifier asks no question,
labels every span SUPPORTS and gives 4.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from support import exams
from support.scripted_server import by_each_criterion
from support.turns import answered_turns, as_reply, final, turn
from vera.protocol import Turn
from vera.verification.probes import INVENTED

_CITATION = re.compile(r"\s?\[ev_\d{4}[^\]]*\]")
_STRUCK = re.compile(r"\[(?:struck out|hidden): [^\]]*\]")

Part = Callable[[dict[str, Any]], Any]

MARKS = {
    "decompose": "You audit an answer that somebody else wrote.",
    "check": "You are a checker of VERA.",
    "label": "You label spans of text.",
    "score": "You judge an answer.",
}


def part_of(body: dict[str, Any]) -> str:
    """Which part a request is for: worker, decompose, check, label or score."""
    head = str(body["messages"][0]["content"])
    return next((part for part, mark in MARKS.items() if mark in head), "worker")


def span_count(body: dict[str, Any]) -> int:
    """How many spans a label request shows."""
    found = re.search(r"Label each of the (\d+) spans", str(body["messages"][-1]["content"]))
    assert found is not None
    return int(found[1])


def all_labelled(relation: str) -> Part:
    """A judge that labels every span alike."""

    def label(body: dict[str, Any]) -> str:
        spans = [{"index": number + 1, "relation": relation} for number in range(span_count(body))]
        return json.dumps({"spans": spans})

    return label


def reads(body: dict[str, Any]) -> str:
    """A judge that reads: lines support a claim when they share its numbers, some words, and any denial."""
    shown = str(body["messages"][-1]["content"])
    claim = " ".join(re.findall(r"^claim\| (.*)$", shown, re.MULTILINE))
    found = re.findall(r"<<<DATA \w+ span (\d+) .*?\n(.*?)\nDATA \w+>>>", shown, re.DOTALL)

    def relation(rows: str) -> str:
        text = " ".join(re.findall(r"^\d+\| (.*)$", rows, re.MULTILINE))
        words, numbers = (
            {each.lower() for each in re.findall(form, claim)} for form in (r"[^\W\d]{4,}", r"\d+")
        )
        there = {each.lower() for each in re.findall(r"\w+", text)}
        alike = ("not" in claim.split()) == ("not" in text.split())
        return "SUPPORTS" if alike and numbers <= there and len(words & there) >= 2 else "IRRELEVANT"

    return json.dumps({"spans": [{"index": int(index), "relation": relation(rows)} for index, rows in found]})


def agreeing(*stated: str) -> Part:
    """A judge that says SUPPORTS to these statements, and of any other claim whether it stands there: a probe
    is made of cited lines, and nobody stated it."""

    def label(body: dict[str, Any]) -> str:
        claim, spans = exams.asked(body)
        agreed = ["SUPPORTS"] * len(spans)
        return exams.labelled(agreed if claim in stated else _verbatim(claim, spans))

    return label


def scored(points: int, *instructions: dict[str, Any]) -> Part:
    """A judge that gives the same score by every criterion."""
    return lambda body: json.dumps({"score": points, "instructions": list(instructions)})


def asking(*questions: dict[str, str]) -> Part:
    """A verifier that asks these questions: claim, question, source, label."""
    return lambda body: json.dumps({"questions": list(questions)})


def looked_up(*turns: Turn) -> Part:
    """A check lane that takes these turns, one after the other."""

    def check(body: dict[str, Any]) -> Any:
        taken = sum(message["role"] == "assistant" for message in body["messages"])
        return as_reply(turns[min(taken, len(turns) - 1)], "text")

    return check


class Cast:
    """The script of a whole run; `asked` counts the requests by part, `bodies` keeps them."""

    def __init__(
        self,
        worker: Sequence[Turn | str],
        *,
        decompose: Part | None = None,
        check: Part | None = None,
        label: Part | None = None,
        score: Part | None = None,
        labels_probes: bool = False,
        each_session: bool = False,
    ) -> None:
        """With `labels_probes` the part `label` is asked about probes, too; else they go rightly. With
        `each_session` the worker says what comes after the turns that its prompt has, so that every session
        plays the script from its beginning, and a resumed one from where it was."""
        self._worker = list(worker)
        answers = [said if isinstance(said, str) else said.action.final or "" for said in worker]
        self._stated = " ".join(_letters(_CITATION.sub("", answer)) for answer in answers)
        self._parts: dict[str, Part] = {
            "decompose": decompose or asking(),
            "check": check or looked_up(final("unknown")),
            "label": label or all_labelled("SUPPORTS"),
            "score": score or scored(4),
        }
        self._before = ""
        self._has_labelled = False
        self._labels_probes = labels_probes
        self._each_session = each_session
        self.asked: Counter[str] = Counter()
        self.bodies: dict[str, list[dict[str, Any]]] = {}

    def __call__(self, index: int, body: dict[str, Any]) -> Any:
        part = part_of(body)
        if part == "label" and exams.is_exam(body):
            return exams.sat_by(exams.competent, body)
        if part == "label" and not self._labels_probes and self._is_probe(body):
            return exams.labelled(_verbatim(*exams.asked(body)))
        self._before = part
        number = self.asked[part]
        self.asked[part] += 1
        self.bodies.setdefault(part, []).append(body)
        if part != "worker":
            reply = self._parts[part](body)
            return by_each_criterion({"content": reply}, body)["content"] if part == "score" else reply
        if self._each_session:
            number = answered_turns(body)
        said = self._worker[min(number, len(self._worker) - 1)]
        return said if isinstance(said, str) else as_reply(said, "text")

    def _is_probe(self, body: dict[str, Any]) -> bool:
        """Which no test need know of. Where a hard finding stands no score is asked before the probes:
        there it is a claim that the worker has not stated, behind one that it has."""
        if self._before == "score":
            return True
        claim = exams.asked(body)[0]
        is_stated = _letters(claim) in self._stated
        self._has_labelled = is_stated or (self._has_labelled and self._before == "label")
        return claim in INVENTED or (self._has_labelled and not is_stated)


def _letters(text: str) -> str:
    """Without what an answer may lose on its way to a judge."""
    return "".join(filter(str.isalnum, text))


def _verbatim(claim: str, spans: Sequence[str]) -> list[str]:
    """A judge that says SUPPORTS to what stands there word for word, with or without what is struck out."""
    read = [(" ".join(span.split()), " ".join(_STRUCK.sub(" ", span).split())) for span in spans]
    return ["SUPPORTS" if any(claim in each for each in ways) else "CONTRADICTS" for ways in read]


__all__ = [
    "Cast",
    "agreeing",
    "all_labelled",
    "asking",
    "final",
    "looked_up",
    "part_of",
    "reads",
    "scored",
    "span_count",
    "turn",
]
