"""A model request made again from the log: the same log gives the same bytes."""

import hashlib
from collections.abc import Sequence

import msgspec

from vera import events
from vera.lane import context
from vera.model.types import wire
from vera.session import load_text
from vera.state import RunState
from vera.store import Store


class Rebuilt(msgspec.Struct, frozen=True):
    """The messages of a request as JSON, and whether their hash is the one logged when it was sent."""

    wire: bytes
    same: bool


def rebuild_request(
    records: Sequence[events.Record], store: Store, step: int, lane: str = "main"
) -> Rebuilt | None:
    """The request of a lane's step, None when the model was not asked there. Raises StoreError."""
    for record in records:
        if isinstance(record, events.ModelIo) and record.step == step and record.lane == lane:
            if record.request:
                kept = load_text(store, record.request).encode()
                return Rebuilt(kept, hashlib.sha256(kept).hexdigest() == record.request_sha256)
            state = RunState(before for before in records if before.seq <= record.at_seq)
            messages = context.assemble(state.lane(lane), lambda text: load_text(store, text))
            sent = wire(messages)
            return Rebuilt(sent, hashlib.sha256(sent).hexdigest() == record.request_sha256)
    return None
