"""Long runs: the prompt stays flat, lanes do not disturb each other, requests can be made again."""

import asyncio
from pathlib import Path

from support.cli import records
from support.lanes import FunctionModel, new_session, open_lane
from support.turns import turn
from vera import events
from vera.lane.request import rebuild_request
from vera.protocol import text
from vera.session import Session
from vera.store import Store

WIRE_LIMIT = 96_000


def printing(size: int = 1000) -> FunctionModel:
    return FunctionModel(lambda messages: text.render(turn("print", size=size, note=f"note {len(messages)}")))


def prompts_of(log: list[events.Record], lane: str) -> list[events.Model]:
    return [record for record in log if isinstance(record, events.Model) and record.lane == lane]


def test_two_hundred_steps_keep_the_prompt_flat_and_mostly_a_cached_prefix(tmp_path: Path) -> None:
    session = new_session(tmp_path)
    asyncio.run(open_lane(session, printing()).run())
    session.close()
    calls = prompts_of(records(tmp_path), "main")
    assert len(calls) == 200
    assert max(call.input_bytes for call in calls) <= WIRE_LIMIT
    assert sum(call.prefix_bytes for call in calls) / sum(call.input_bytes for call in calls) > 0.9


def test_two_lanes_of_one_session_keep_their_own_prompts_and_share_one_count_of_ids(tmp_path: Path) -> None:
    async def both(session: Session) -> None:
        lanes = [open_lane(session, printing(), name=name) for name in ("main", "check-1.1")]
        await asyncio.gather(*(lane.run() for lane in lanes))

    session = new_session(tmp_path)
    asyncio.run(both(session))
    session.close()
    log = records(tmp_path)
    for name in ("main", "check-1.1"):
        calls = prompts_of(log, name)
        assert len(calls) == 200
        assert max(call.input_bytes for call in calls) <= WIRE_LIMIT
        assert sum(call.prefix_bytes for call in calls) / sum(call.input_bytes for call in calls) > 0.9
    lanes_in_order = [record.lane for record in log if isinstance(record, events.Model)]
    assert lanes_in_order[:40].count("main") == 20, "the lanes did not take turns"
    ids = [record.id for record in log if isinstance(record, events.Evidence)]
    assert ids == [f"ev_{number:04d}" for number in range(1, 401)]


def test_any_request_is_made_again_from_the_log_byte_for_byte(tmp_path: Path) -> None:
    session = new_session(tmp_path)
    asyncio.run(open_lane(session, printing(6000), max_steps=60).run())
    session.close()
    log = records(tmp_path)
    assert any(isinstance(record, events.ContextEpoch) for record in log)
    for step in (1, 2, 17, 33, 60):
        rebuilt = rebuild_request(log, Store(tmp_path / "store"), step)
        assert rebuilt is not None
        assert rebuilt.same
    assert rebuild_request(log, Store(tmp_path / "store"), 61) is None


def test_a_log_line_stays_short_however_large_the_texts(tmp_path: Path) -> None:
    session = new_session(tmp_path)
    asyncio.run(open_lane(session, printing(6000), max_steps=5).run())
    session.close()
    assert max(map(len, (tmp_path / "trace.jsonl").read_bytes().splitlines())) < 16_384
