"""Rounds of verification in this process: a worker that states a thesis with a real cited line, and a judge.

    verdicts = Verdicts(tmp_path, signer)
    result = verdicts.of(thesis, line=3, judge=all_yes)
    assert (result.status, result.exit_code) == ("UNRESOLVED", 3)

A judge is what `support.exams` calls one: it gives the label of each span for a claim. All runs of one
`Verdicts` keep their exams in one folder, as those of a person do.
"""

import asyncio
import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from support import exams
from support.cast import part_of
from support.scripted_server import by_each_criterion
from support.theses_known import DOCUMENT
from support.verified import answer, read_file
from vera import events
from vera.agent.conclusion import Result, conclude
from vera.attestation.keys import Signer
from vera.lane.prompts import Prompts
from vera.model.types import Choice, Completion, Model, ModelInfo, Request
from vera.session import Session
from vera.verification.context import VerifierContext, VerifierOptions
from vera.verification.verifier import verify

TASK = "What do the club's papers say?"


class JudgeModel:
    """A judge as a model: it asks no question, gives 4 of 4, and labels as it does."""

    def __init__(self, judge: exams.Judge, name: str) -> None:
        self._judge = judge
        self.info = ModelInfo(kind="openai", base_url=f"http://{name}.test/v1", name=name)
        self.asked = 0

    async def complete(self, request: Request) -> Completion:
        self.asked += 1
        body = {"messages": [{"role": each.role, "content": each.content} for each in request.messages]}
        return Completion(choices=(Choice(content=self._reply(part_of(body), body)),))

    def _reply(self, part: str, body: Mapping[str, Any]) -> str:
        if part == "label":
            return exams.sat_by(self._judge, body)
        if part == "decompose":
            return json.dumps({"questions": []})
        reply = {"content": json.dumps({"score": 4, "instructions": []})}
        return str(by_each_criterion(reply, dict(body))["content"])

    async def close(self) -> None:
        """Nothing to close."""


class Verdicts:
    """Runs under one folder."""

    def __init__(self, folder: Path, signer: Signer) -> None:
        self._folder, self._signer = folder, signer
        self._numbers = itertools.count(1)

    def of(self, thesis: str, line: int, judge: Model | exams.Judge, name: str = "judge") -> Result:
        """What becomes of the thesis, cited to this line of the document."""
        model = JudgeModel(judge, name) if callable(judge) else judge
        return asyncio.run(self.judged(thesis, line, model))

    async def judged(self, thesis: str, line: int, model: Model) -> Result:
        session = Session.create(self._folder / f"{next(self._numbers):03d}", {})
        try:
            session.emit(events.Task(task=TASK, input_dir="papers"))
            read_file(session, "club.txt", DOCUMENT.encode())
            answer(session, f"{thesis.removesuffix('.')} [ev_0001:{line}].")
            return await self._verified(session, model)
        finally:
            session.close()

    async def _verified(self, session: Session, model: Model) -> Result:
        context = VerifierContext(
            session=session,
            model=model,
            prompts=Prompts(),
            open_tools=_no_tools,
            open_box=None,
            options=VerifierOptions(rule="model", checks=0),
            exams=self._folder / "exams",
        )
        decision = await verify(context, self._signer, last=True, now=_silent)
        session.emit(
            events.AnswerChosen(
                round=decision.round,
                answer_seq=decision.answer_seq,
                attestation=decision.attestation,
                reason="the only one",
            )
        )
        return conclude(session, self._signer)


def _silent(_: str) -> None:
    """No-op callback."""


def _no_tools(lane: str) -> Any:
    raise AssertionError(f"{lane} asked for tools")


def with_key(key: Mapping[tuple[str, str], str]) -> exams.Judge:
    """A competent judge: it has the key of the exam, and this one."""
    known = {**exams.key(), **key}

    def judge(claim: str, spans: Sequence[str]) -> list[str]:
        return [known.get((claim, span), "IRRELEVANT") for span in spans]

    return judge
