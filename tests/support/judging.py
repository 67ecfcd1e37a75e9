"""A verifier's context over a real session and a scripted server, with sources and claims."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, TypeVar

from support.asking import Pauses
from support.scripted_server import ScriptedServer
from vera import events
from vera.audit.case import Case
from vera.audit.source_text import SourceText
from vera.evidence.claim import Cite, Claim
from vera.lane.prompts import Prompts
from vera.lane.tools import Tool
from vera.model.client import ChatClient
from vera.model.types import Model, ModelInfo
from vera.session import Session
from vera.session.log import Reader
from vera.verification.context import VerifierContext, VerifierOptions

T = TypeVar("T")

TASK = "When did the Aster Bridge open, and who built it?"


def claim(number: int, text: str, *cites: tuple[str, int, int], **fields: Any) -> Claim:
    """Claim c`number`, with its citations as (evidence, first, last)."""
    return Claim(key=f"c{number}", text=text, start=0, end=0, cites=tuple(Cite(*c) for c in cites), **fields)


class Bench:
    """Round 1 of a session whose evidence ev_0001, ev_0002, … are these sources (name → text)."""

    def __init__(
        self, folder: Path, sources: Mapping[str, str], claims: Sequence[Claim], task: str = TASK
    ) -> None:
        self.session = Session.create(folder, {})
        self.session.emit(events.Task(task=task), lane="")
        for name, text in sources.items():
            self.capture(name, text)
        self.session.emit(
            events.VerifierStarted(round=1, answer_seq=1, rule="model", policy=events.Blob("0" * 64, 1)),
            lane="verify-1",
        )
        evidence = dict(self.session.state.evidence)
        store = self.session.store
        texts = {e.text.sha256: SourceText(store.get(e.text.sha256)) for e in evidence.values()}
        self.case = Case(task=task, answer="", claims=tuple(claims), evidence=evidence, sources=texts)

    def capture(self, name: str, text: str, **fields: Any) -> events.Evidence:
        """One more evidence of the session."""
        data = text.encode()
        lines = text.count("\n")
        captured = {"tool": "read", "tier": "captured", "summary": f"read {name}", **fields}
        return self.session.emit(
            events.Evidence(
                id=self.session.state.next_evidence_id(),
                call="call_0001",
                step=1,
                source=name,
                text=events.Blob(self.session.store.put(data), len(data)),
                lines=lines,
                first=1,
                last=lines,
                **captured,
            )
        )

    def context(self, model: Model | None, **options: Any) -> VerifierContext:
        return VerifierContext(
            session=self.session,
            model=model,
            prompts=Prompts(),
            open_tools=_no_tools,
            open_box=None,
            options=VerifierOptions(**options),
        )

    def play(
        self,
        server: ScriptedServer,
        use: Callable[[VerifierContext], Awaitable[T]],
        *,
        protocol: str = "text",
        parallel: int = 1,
        client: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> T:
        """What `use` makes of a context whose model is the server, reached by the real client."""
        pauses = Pauses()
        info = ModelInfo(kind="openai", name=server.model, protocol=protocol, parallel=parallel)
        settings = {"clock": pauses.clock, "sleep": pauses.sleep, "info": info, **(client or {})}

        async def run() -> T:
            model = ChatClient(server.base_url, server.model, **settings)
            try:
                return await use(self.context(model, **options))
            finally:
                await model.close()

        return asyncio.run(run())

    def records(self, kind: type[T]) -> list[T]:
        """The records of one kind, as they stand in the log."""
        read = [record for _, record in Reader(self.session.root / "trace.jsonl").poll()]
        return [record for record in read if isinstance(record, kind)]


def _no_tools(lane: str) -> AbstractAsyncContextManager[Sequence[Tool]]:
    raise AssertionError(f"{lane} asked for tools")
