"""A session's page, folded from its log as the dashboard does it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from vera import events
from vera.report.view.fold import ViewFold
from vera.report.view.model import ClaimView, RunPage
from vera.session import Reader, load_text
from vera.state import RunState
from vera.store import Store


@dataclass(frozen=True)
class Viewed:
    """A fold with the state and store that it is shown with."""

    fold: ViewFold
    state: RunState
    store: Store

    def page(self, *, alive: bool = False, now: float = 0.0) -> RunPage:
        return self.fold.page(self.state, self.store, session="example", alive=alive, now=now)

    def claims(self, number: int = 0) -> dict[str, ClaimView]:
        return {claim.key: claim for claim in self.fold.claims(self.state, self.store, number)}

    def add(self, record: events.Record, size: int = 400) -> None:
        self.state.apply(record)
        self.fold.apply(record, self.fold.offset + size)


def view(root: Path) -> Viewed:
    """The session in this folder, as far as its log goes."""
    viewed = empty(root)
    for offset, record in Reader(root / "trace.jsonl").poll():
        viewed.state.apply(record)
        viewed.fold.apply(record, offset)
    return viewed


def view_of(root: Path, records: Iterable[events.Record]) -> Viewed:
    """Records that stand in no file, over a store in this folder."""
    viewed = empty(root)
    for record in records:
        viewed.add(record)
    return viewed


def empty(root: Path) -> Viewed:
    store = Store(root / "store")
    return Viewed(ViewFold(lambda text: load_text(store, text)), RunState(), store)
