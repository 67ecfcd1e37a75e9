"""Which lane the commands of a sandbox work for: no lane at first, then the one that has begun last."""

from typing import cast

import pytest

from support.selecting import wait_for
from vera.lane.at_work import AtWork
from vera.lane.capture import Capture, FetchCommand
from vera.lane.policy import GateRunner
from vera.lane.tools import EvidenceDraft
from vera.text.span import Lines

TEXT = b"one line\n"


class OnePage:
    """Gets the same page from everywhere."""

    async def get(self, url: str) -> EvidenceDraft:
        lines = len(Lines(TEXT))
        return EvidenceDraft(
            tier="captured", source=url, summary=f"fetch {url}", text=TEXT, first=1, last=lines, lines=lines
        )


class Gates:
    """Lets nobody reach one host."""

    def connect(self, url: str) -> str:
        return "Not there." if "closed" in url else ""

    def connection(self, host: str, url: str = "") -> str:
        return self.connect(url or host)


class Kept:
    """Keeps pages for one lane."""

    def __init__(self) -> None:
        self.sources: list[str] = []

    def record(self, draft: EvidenceDraft, tool: str) -> str:
        self.sources.append(draft.source)
        return f"ev_{len(self.sources):04d}"


GATES = cast(GateRunner, Gates())


def fetch(at_work: AtWork, url: str) -> tuple[int, bytes]:
    return wait_for(FetchCommand(cast(Capture, OnePage()), at_work)(url, False))


def test_without_a_lane_no_page_is_fetched_and_every_connection_is_left_to_the_policy() -> None:
    at_work = AtWork()
    assert fetch(at_work, "https://closed.test/")[0] == 503
    assert at_work.refuses_connection("closed.test", "") == ""


def test_a_page_is_kept_by_the_lane_at_work() -> None:
    at_work, kept = AtWork(), Kept()
    at_work.begin(kept.record, GATES)
    assert fetch(at_work, "https://open.test/")[0] == 200
    assert kept.sources == ["https://open.test/"]


def test_its_gates_refuse_pages_and_connections() -> None:
    at_work, kept = AtWork(), Kept()
    at_work.begin(kept.record, GATES)
    assert fetch(at_work, "https://closed.test/")[0] == 403
    assert at_work.refuses_connection("closed.test", "") == "Not there."
    assert kept.sources == []


@pytest.mark.parametrize("gates", [GATES, None])
def test_the_next_lane_takes_its_place_with_its_own_gates(gates: GateRunner | None) -> None:
    at_work, first, second = AtWork(), Kept(), Kept()
    at_work.begin(first.record, GATES)
    at_work.begin(second.record, gates)
    assert fetch(at_work, "https://closed.test/")[0] == (200 if gates is None else 403)
    assert fetch(at_work, "https://open.test/")[0] == 200
    assert first.sources == [] and second.sources[-1] == "https://open.test/"
