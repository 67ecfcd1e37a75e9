"""Plays the agent and the judge of a run. Unlike support.cast.Cast the judge sits its exam itself."""

import json
from collections.abc import Sequence
from typing import Any

from redteam.judges import Judge, honest
from support.cast import part_of
from support.exams import asked, labelled
from support.scripted_server import by_each_criterion
from support.turns import as_reply
from vera.protocol import Turn


class RedCast:
    """The agent takes its turns, and repeats the last one. Who judges, judges all: exam, claims, probes."""

    def __init__(self, turns: Sequence[Turn], answer: str, judge: Judge | None) -> None:
        self._turns, self._answer = list(turns), answer
        self._judge = judge or honest
        self._taken = 0
        self.bodies: list[dict[str, Any]] = []

    def __call__(self, index: int, body: dict[str, Any]) -> Any:
        self.bodies.append(body)
        match part_of(body):
            case "label":
                claim, spans = asked(body)
                said = self._judge(claim, spans, self._answer, body)
                return said if isinstance(said, str) else labelled(said)
            case "score":
                reply = {"content": json.dumps({"score": 4, "instructions": []})}
                return by_each_criterion(reply, body)["content"]
            case "decompose":
                return json.dumps({"questions": []})
            case "check":
                return as_reply(self._turns[-1], "text")
        if "answer_may_be_none" in str(body["messages"][-1]["content"]):
            return json.dumps({"answer_may_be_none": "no"})
        said = self._turns[min(self._taken, len(self._turns) - 1)]
        self._taken += 1
        return as_reply(said, "text")
