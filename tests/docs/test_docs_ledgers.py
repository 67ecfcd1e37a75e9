"""docs/reference/session-folder.md has every projection, and every member of every ledger's records."""

import json

import pytest
from docs_pages import DOCS, quoted, section

from vera import events
from vera.events import Blob, Target
from vera.session.projections import all_projections

PAGE = "reference/session-folder.md"
TARGET = Target(url="https://who.int/", domain="who.int")
LOG: tuple[events.Record, ...] = (
    events.ToolStarted(step=1, call="call_0001", tool="fetch", args="{}"),
    events.Search(engine="brave", kind="web", query="x", outcome="ok"),
    events.Evidence(
        id="ev_0001", call="call_0001", step=1, tool="fetch", tier="captured", source="who.int", summary="",
        text=Blob("0" * 64, 0), lines=0, first=0, last=0,
    ),
    events.Move(
        id="mv_0001", step=1, tool="fetch", call="call_0001", targets=(TARGET,), reached=(TARGET,), query="x",
        query_family="x",
    ),
    events.Tool(step=1, call="call_0001", tool="fetch", outcome="ok", obs=""),
)  # fmt: skip


def test_every_projection_is_in_the_table() -> None:
    table = (DOCS / PAGE).read_text().partition("A **projection**")[0]
    listed = {quoted(line)[0] for line in table.split("\n") if line.endswith("| projection |")}
    assert listed == {projection.name for projection in all_projections(str)}


@pytest.mark.parametrize("name", ["evidence.jsonl", "move_ledger.jsonl", "query_ledger.jsonl"])
def test_every_member_of_a_ledger_is_documented(name: str) -> None:
    (ledger,) = [each for each in all_projections(str) if each.name == name]
    (line,) = b"".join(map(ledger.add, LOG)).splitlines()
    row = json.loads(line)
    inner = [
        each for value in row.values() if isinstance(value, list) for each in value if isinstance(each, dict)
    ]
    members = {*row, *(key for each in inner for key in each)} - {"obs"}
    members |= {f"obs.{key}" for key in row.get("obs", {})}
    assert members <= set(quoted(section(PAGE, name)))
