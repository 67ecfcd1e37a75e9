"""A monkey at the keyboard: a real llama.cpp server of random weights types schema-valid turns."""

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from support.cli import folded, records
from support.lanes import new_session, open_lane
from support.tiny_llama import TinyLlama
from vera import events
from vera.corpus import Corpus
from vera.extraction.extractor import Extractor
from vera.lane.request import rebuild_request
from vera.lane.tools.note import Note
from vera.lane.tools.read import Read
from vera.lane.tools.search import Search
from vera.lane.tools.submit import Submit
from vera.model.client import ChatClient
from vera.model.connect import connect
from vera.model.types import Completion, ModelInfo, Request
from vera.session import Session, check, rebuild
from vera.store import Store

TURNS = 40
LONG_TURNS = 200

ONLY_ASCII = {str(byte): -100 for byte in range(128, 256)}
ENDS_STRINGS = {str(ord(character)): 3 for character in '"}]'}


class Monkey:
    """The client, typing otherwise at each step: its seed is the number of the step."""

    def __init__(self, client: ChatClient) -> None:
        self._client = client
        self._asked = 0

    @property
    def info(self) -> ModelInfo:
        return self._client.info

    async def complete(self, request: Request) -> Completion:
        self._asked += 1
        sampling = {"seed": self._asked, "logit_bias": {**ONLY_ASCII, **ENDS_STRINGS}}
        return await self._client.complete(
            msgspec.structs.replace(request, sampling=sampling, temperature=1.0)
        )

    async def close(self) -> None:
        await self._client.close()


async def play(session: Session, address: str, corpus: Corpus, extractor: Extractor, turns: int) -> None:
    """Lanes one after another until all turns are typed: a monkey's answer ends a lane, not the play."""
    monkey = Monkey(await connect(address, protocol="json_schema"))
    tools = [
        Search(corpus, 2),
        Read(corpus, session.workspace, extractor),
        Note(),
        Submit(session.workspace, lambda name, data: None),
    ]
    typed = number = 0
    while typed < turns:
        number += 1
        limits = {"max_steps": turns - typed, "answer_tokens": 600, "high_tokens": 9000, "room": 1500}
        lane = open_lane(session, monkey, name=f"lane-{number}", tools=tools, **limits)
        typed += (await lane.run()).step
    await monkey.close()


@pytest.mark.needs("llama")
@pytest.mark.timeout(900)  # turns of a real server, on however busy a machine
def test_random_turns_break_no_invariant(
    tmp_path: Path, measured: Callable[[str, object], None], pytestconfig: pytest.Config
) -> None:
    turns = LONG_TURNS if pytestconfig.getoption("--repeat-more") else TURNS
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "a.txt").write_text("A line to read.\n" * 30)
    (documents / "b.txt").write_text("Another line.\n" * 300)
    (tmp_path / "llama").mkdir()
    session = new_session(tmp_path / "work")
    with (
        TinyLlama(tmp_path / "llama", parallel=1) as llama,
        Extractor() as extractor,
        Corpus(documents, tmp_path / "index", extractor) as corpus,
    ):
        corpus.update()
        asyncio.run(play(session, llama.base_url, corpus, extractor, turns))
    session.finish(events.RunEnd(status="UNRESOLVED", reason="", exit_code=3, steps=turns, seconds=0))
    live = session.state
    session.close()

    log = records(tmp_path / "work")
    calls = [record for record in log if isinstance(record, events.Model)]
    assert len(calls) == turns
    assert check(tmp_path / "work").verdict == "SEALED"
    assert rebuild(tmp_path / "work") == []
    again = folded(tmp_path / "work")
    assert again.lanes == live.lanes
    assert again.evidence == live.evidence
    ids = [record.id for record in log if isinstance(record, events.Evidence)]
    assert len(ids) == len(set(ids))
    store = Store(tmp_path / "work" / "store")
    for evidence in again.evidence.values():
        store.get(evidence.text.sha256)
    for name, lane in again.lanes.items():
        assert lane.open_call is None
        assert lane.pending is None
        for step in range(1, lane.step + 1, 7):
            rebuilt = rebuild_request(log, store, step, name)
            assert rebuilt is not None
            assert rebuilt.same
    for call in calls:
        assert call.input_bytes <= 1.15 * 9000 * again.lane(call.lane).bytes_per_token
        # The monkey's tokens are bytes: what the server had cached is what we say is a prefix, or less.
        assert (call.cached_tokens or 0) <= (call.prompt_tokens or 0)
    did = Counter(record.tool for record in log if isinstance(record, events.Tool))
    refused = sum(isinstance(record, events.PolicyParseError) for record in log)
    measured(f"monkey: {turns} turns", f"{dict(did)}, {refused} refused, {len(again.lanes)} lanes")
