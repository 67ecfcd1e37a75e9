"""A request made again from the log: of a lane from its records, of another call from what it kept."""

import asyncio
import hashlib
import json
from pathlib import Path

import pytest

from support.lanes import FunctionModel, new_session, open_lane
from support.turns import as_reply, final
from vera import events
from vera.lane.request import rebuild_request
from vera.session import Reader, Session
from vera.store import StoreError

JUDGE = "verify-1"


def log_of(session: Session) -> list[events.Record]:
    return [record for _, record in Reader(session.root / "trace.jsonl").poll()]


def asked(session: Session, content: str, step: int = 2, *, altered: bool = False) -> bytes:
    """A call of the verifier as the log keeps it; `altered`: what is kept is not what was sent."""
    wire = json.dumps(
        [{"role": "system", "content": "Judge."}, {"role": "user", "content": content}]
    ).encode()
    kept = wire.replace(b"Judge.", b"Praise") if altered else wire
    session.emit(
        events.ModelIo(
            step=step,
            scope="verifier_judge",
            at_seq=session.state.seq,
            request_sha256=hashlib.sha256(wire).hexdigest(),
            request_bytes=len(wire),
            parameters={},
            content="{}",
            request=session.text(kept.decode()),
        ),
        lane=JUDGE,
    )
    return wire


@pytest.mark.parametrize("content", ["short", "long " * 2000], ids=["in the log", "in the store"])
def test_a_call_outside_a_lane_is_what_was_kept_of_it(content: str, tmp_path: Path) -> None:
    session = new_session(tmp_path)
    wire = asked(session, content)
    rebuilt = rebuild_request(log_of(session), session.store, 2, JUDGE)
    assert rebuilt is not None
    assert (rebuilt.wire, rebuilt.same) == (wire, True)
    for step, lane in ((3, JUDGE), (2, "main"), (2, "verify-2")):
        assert rebuild_request(log_of(session), session.store, step, lane) is None


def test_a_kept_request_that_is_not_the_one_that_was_sent_is_told(tmp_path: Path) -> None:
    session = new_session(tmp_path)
    wire = asked(session, "short", altered=True)
    rebuilt = rebuild_request(log_of(session), session.store, 2, JUDGE)
    assert rebuilt is not None
    assert not rebuilt.same
    assert rebuilt.wire != wire


def test_a_kept_request_whose_blob_is_gone_is_an_error(tmp_path: Path) -> None:
    session = new_session(tmp_path)
    asked(session, "long " * 2000)
    (kept,) = [record.request for record in log_of(session) if isinstance(record, events.ModelIo)]
    assert isinstance(kept, events.Blob)
    (tmp_path / "store" / kept.sha256[:2] / kept.sha256).unlink()
    with pytest.raises(StoreError):
        rebuild_request(log_of(session), session.store, 2, JUDGE)


def test_a_step_of_the_same_number_in_another_lane_is_another_request(tmp_path: Path) -> None:
    session = new_session(tmp_path)
    model = FunctionModel(lambda messages: str(as_reply(final("So."), "text")))
    asyncio.run(open_lane(session, model, name="check-1.1").run())
    wire = asked(session, "short", step=1)
    of_the_lane = rebuild_request(log_of(session), session.store, 1, "check-1.1")
    assert of_the_lane is not None and of_the_lane.same
    assert "PRIMARY TASK" in of_the_lane.wire.decode()
    of_the_judge = rebuild_request(log_of(session), session.store, 1, JUDGE)
    assert of_the_judge is not None and of_the_judge.wire == wire
