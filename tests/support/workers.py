"""A worker that runs commands in a real box and answers with what they printed; a verifier's context."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.lanes import FunctionModel, open_lane
from support.turns import final, turn
from vera import events
from vera.agent.lanes import Environment
from vera.audit.case import Case
from vera.audit.checks.computed import computed
from vera.audit.source_text import SourceText
from vera.config.loading import defaults
from vera.evidence.citation import find_citations
from vera.evidence.claim import Cite, Claim
from vera.extraction.extractor import Extractor
from vera.lane.notes import NAME, NotesMirror
from vera.lane.prompts import Prompts
from vera.lane.tools import Tool
from vera.lane.tools.read import Read
from vera.lane.tools.shell import Shell
from vera.protocol import Turn, text
from vera.runtime.verifier_context import open_verifier_context
from vera.sandbox.backends import open_box
from vera.sandbox.spec import BoxSpec
from vera.session import Session
from vera.verification.context import VerifierContext, VerifierOptions
from vera.verification.derive import derive_all

NO_BLOB = events.Blob("0" * 64, 0)


class Work:
    """What a worker did, and what came of running its cited commands again."""

    def __init__(self, session: Session, derivations: Sequence[events.Derivation]) -> None:
        self.session = session
        self.derivations = {derivation.evidence: derivation for derivation in derivations}

    @property
    def outcomes(self) -> list[str]:
        return [derivation.outcome for derivation in self.derivations.values()]

    def case(self) -> Case:
        """The audit's case: each line of the answer is a claim."""
        session = self.session
        answer = session.state.lane("main").answer
        assert answer is not None
        said = session.load(answer.text)
        blobs = {each.text.sha256 for each in session.state.evidence.values()}
        blobs |= {sha256 for each in self.derivations.values() for _, sha256 in each.scripts}
        return Case(
            task=session.load(session.state.task.task) if session.state.task else "",
            answer=said,
            claims=tuple(claim_of(f"c{number}", line) for number, line in enumerate(said.split("\n"), 1)),
            evidence=session.state.evidence,
            sources={sha256: SourceText(session.store.get(sha256)) for sha256 in blobs},
            derivations=self.derivations,
        )

    def codes(self) -> list[str]:
        return [finding.code for finding in computed(self.case())]


def claim_of(key: str, line: str) -> Claim:
    """A line of an answer as a claim."""
    found = find_citations(line)
    said = line[: found[0].start].strip() if found else line
    cites = tuple(Cite(each.evidence, each.first, each.last) for each in found)
    return Claim(key=key, text=said, start=0, end=len(line), cites=cites)


class Workplace:
    """A folder with input files, and everything a run needs to work on them in boxes of one backend."""

    def __init__(self, backend: str, folder: Path, inputs: Mapping[str, str], task: str) -> None:
        self.backend = backend
        self.input = folder / "in"
        self.input.mkdir()
        for name, content in inputs.items():
            (self.input / name).write_text(content)
        self.session = Session.create(folder / "run", {})
        self.session.emit(events.Task(task=task, input_dir=str(self.input)), lane="")

    def run(self, *turns: Turn | str) -> Work:
        """The worker's turns (a string is a shell command) up to its answer; then its commands run again.

        In commands and answers `/input` and `/work` are the folders as this backend shows them.
        """
        return asyncio.run(self._run(turns))

    async def _run(self, turns: Sequence[Turn | str]) -> Work:
        session = self.session
        with Extractor() as extractor:
            spec = BoxSpec(work=session.workspace, input=self.input)
            box = await open_box(self.backend, spec)
            try:
                tools: list[Tool] = [
                    Shell(box, session.workspace, NotesMirror(session.root / NAME, session.workspace), 30),
                    Read(None, session.workspace, extractor),
                ]
                script = iter([self._turn(each, box.work, box.input) for each in turns])
                await open_lane(session, FunctionModel(lambda _: next(script)), tools=tools).run()
                place = Environment(extractor=extractor, box=box, corpus=None)
                return Work(session, await self._derive(verifier_context_of(session, place)))
            finally:
                await box.close()

    async def _derive(self, context: VerifierContext) -> tuple[events.Derivation, ...]:
        session = self.session
        answer = session.state.lane("main").answer
        assert answer is not None
        begin_round(session, answer.seq)
        cited = dict.fromkeys(cited.evidence for cited in answer.citations)
        observed = [each for each in cited if session.state.evidence[each].tier == "observed"]
        return await derive_all(context, 1, observed)

    def _turn(self, said: Turn | str, work: str, given: str) -> str:
        if isinstance(said, Turn):
            return text.render(said)
        return text.render(turn("shell", cmd=said.replace("/input", given).replace("/work", work)))


def begin_round(session: Session, answer_seq: int, number: int = 1) -> None:
    """The record that begins a round of verification."""
    started = events.VerifierStarted(round=number, answer_seq=answer_seq, rule="literal", policy=NO_BLOB)
    session.emit(started, lane=f"verify-{number}")


def verifier_context_of(session: Session, place: Environment, **options: Any) -> VerifierContext:
    """The real context of a run, under the packaged settings."""
    return open_verifier_context(
        session=session,
        settings=defaults(),
        place=place,
        model=None,
        prompts=Prompts(),
        options=VerifierOptions(rule="literal", **options),
    )


@contextmanager
def workplace(backend: str, inputs: Mapping[str, str], task: str = "Count.") -> Iterator[Workplace]:
    """A workplace in a folder that other users may reach: a box has a user of its own."""
    folder = Path(tempfile.mkdtemp(prefix="vera-test-work-"))
    folder.chmod(0o755)
    try:
        place = Workplace(backend, folder, inputs, task)
        yield place
        place.session.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


__all__ = [
    "Work",
    "Workplace",
    "begin_round",
    "claim_of",
    "final",
    "turn",
    "verifier_context_of",
    "workplace",
]
