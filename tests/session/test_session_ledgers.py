"""The ledgers: what each tells of a run, from the log alone, and that nothing is written through a link."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera import events
from vera.session import Session, SessionError, rebuild
from vera.session.projections import all_projections

LEDGERS = ("evidence.jsonl", "move_ledger.jsonl", "query_ledger.jsonl")
WHO = events.Target(
    url="https://www.who.int/news",
    domain="who.int",
    source_class="regulatory",
    official=True,
    reason="who.int lies under a suffix kept for governments and treaty bodies.",
)
BLOG = events.Target(
    url="https://blog.example/a", domain="blog.example", reason="blog.example is in no table."
)


def clock() -> float:
    return 1_700_000_000.25


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    opened = Session.create(tmp_path, {}, clock)
    yield opened
    opened.close()


def rows(session: Session, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (session.root / name).read_text().splitlines()]


def start(session: Session, tool: str, lane: str = "main", **args: str) -> str:
    call = session.state.next_call_id()
    session.emit(events.ToolStarted(step=1, call=call, tool=tool, args=json.dumps(args)), lane)
    return call


def bring(session: Session, call: str, tool: str, source: str, lane: str = "main") -> str:
    found = session.state.next_evidence_id()
    text = events.Blob(session.store.put(b"text\n"), 5)
    session.emit(
        events.Evidence(
            id=found, call=call, step=1, tool=tool, tier="captured", source=source, summary=source,
            text=text, lines=1, first=1, last=1,
        ),
        lane,
    )  # fmt: skip
    return found


def move(session: Session, tool: str, lane: str = "main", **members: Any) -> events.Move:
    return session.emit(events.Move(id=session.state.next_move_id(), step=1, tool=tool, **members), lane)


def end(session: Session, call: str, tool: str, lane: str = "main", **members: Any) -> None:
    members = {"outcome": "ok", "obs": "seen", **members}
    session.emit(events.Tool(step=1, call=call, tool=tool, **members), lane)


def fetch(session: Session, lane: str = "main") -> None:
    """A command that names two pages, of which one answers."""
    command = f"fetch {WHO.url}; fetch {BLOG.url}"
    call = start(session, "shell", lane, cmd=command)
    bring(session, call, "fetch", WHO.url, lane)
    bring(session, call, "shell", command, lane)
    move(
        session, "shell", lane, call=call, cmd=command, targets=(WHO, BLOG), reached=(WHO,),
        move_type="initial", query_vector="ground_truth",
    )  # fmt: skip
    end(session, call, "shell", lane, exit_code=0)


def search(session: Session) -> None:
    """A query that one engine refuses and the next one answers."""
    call = start(session, "web_search", query="mpox vaccine approval")
    common: dict[str, Any] = {"kind": "web", "query": "mpox vaccine approval"}
    session.emit(events.Search(engine="brave", outcome="refused", cause="rate_limited", **common))
    session.emit(events.Search(engine="wikipedia", outcome="ok", results=1, urls=(WHO.url,), **common))
    bring(session, call, "web_search", "web search by Wikipedia")
    move(
        session, "web_search", call=call, query="mpox vaccine approval",
        query_family="approval mpox vaccine", query_vector="general", move_type="initial",
    )  # fmt: skip
    end(session, call, "web_search")


def refused(session: Session) -> None:
    """The same query once more, which a gate refuses: there is no call and no result."""
    move(
        session, "web_search", query="vaccine mpox approval", query_family="approval mpox vaccine",
        query_vector="general", move_type="retry", outcome="blocked", failure_type="policy_query_mutation",
    )  # fmt: skip


def test_a_move_has_every_address_of_its_call_each_with_the_reason_of_its_class(session: Session) -> None:
    fetch(session)
    (row,) = rows(session, "move_ledger.jsonl")
    assert row == {
        "id": "mv_0001",
        "ts": "2023-11-14T22:13:20.250+00:00",
        "lane": "main",
        "step": 1,
        "tool": "shell",
        "call": "call_0001",
        "cmd": f"fetch {WHO.url}; fetch {BLOG.url}",
        "url": WHO.url,
        "domain": "who.int",
        "query": "",
        "query_family": "",
        "source_class": "regulatory",
        "move_type": "initial",
        "move_sig": "initial:who.int:",
        "failure_type": None,
        "outcome": "ok",
        "urls": [WHO.url, BLOG.url],
        "targets": [
            {
                "url": WHO.url,
                "domain": "who.int",
                "source_class": "regulatory",
                "official": True,
                "reason": WHO.reason,
            },
            {
                "url": BLOG.url,
                "domain": "blog.example",
                "source_class": "unknown",
                "official": False,
                "reason": BLOG.reason,
            },
        ],
        "reached": [row["targets"][0]],
        "evidence": ["ev_0001", "ev_0002"],
    }


def test_a_refused_call_is_a_move_that_names_its_gate_and_has_no_evidence(session: Session) -> None:
    search(session)
    refused(session)
    _, row = rows(session, "move_ledger.jsonl")
    assert (row["outcome"], row["failure_type"]) == ("blocked", "policy_query_mutation")
    assert (row["call"], row["evidence"], row["url"], row["domain"]) == ("", [], "", "")
    assert len(rows(session, "evidence.jsonl")) == 1


def test_only_moves_that_ask_something_are_queries_and_they_are_numbered_on_their_own(
    session: Session,
) -> None:
    fetch(session)
    search(session)
    refused(session)
    first, second = rows(session, "query_ledger.jsonl")
    assert (first["id"], first["move"], second["id"], second["move"]) == (
        "q_0001",
        "mv_0002",
        "q_0002",
        "mv_0003",
    )
    assert first["query"] == "mpox vaccine approval"
    assert first["query_family"] == second["query_family"] == "approval mpox vaccine"
    assert (first["query_vector"], first["move_type"], first["outcome"]) == ("general", "initial", "ok")
    assert second["outcome"] == "blocked"


def test_a_query_names_the_engines_that_were_asked_and_what_each_said(session: Session) -> None:
    search(session)
    (row,) = rows(session, "query_ledger.jsonl")
    assert row["engines"] == [
        {"engine": "brave", "kind": "web", "outcome": "refused", "cause": "rate_limited", "results": 0},
        {"engine": "wikipedia", "kind": "web", "outcome": "ok", "cause": None, "results": 1},
    ]


def test_an_evidence_has_all_addresses_of_its_call_each_once(session: Session) -> None:
    fetch(session)
    search(session)
    first, second, third = rows(session, "evidence.jsonl")
    assert first["urls"] == second["urls"] == [WHO.url, BLOG.url]
    assert third["urls"] == [WHO.url]


def test_an_evidence_says_how_its_call_failed(session: Session) -> None:
    call = start(session, "shell", cmd="false")
    bring(session, call, "shell", "false")
    move(session, "shell", call=call, cmd="false", outcome="failed", failure_type="exit_status")
    end(session, call, "shell", outcome="failed", exit_code=1, error_type="exit_status")
    (row,) = rows(session, "evidence.jsonl")
    assert (row["failure_type"], row["obs"]["exit_code"]) == ("exit_status", 1)


SEEN = """OBSERVATION ev_0001 · shell wc -l *.txt · exit 0 · 0.0 s · observed
1| 3 a.txt
2| 12| b.txt
[lines 3-9 not shown: read {"path": "ev_0001", "first": 3, "last": 9}]
10| 15 total
Step 1 of 80."""


@pytest.mark.parametrize(
    ("seen", "output"),
    [
        (SEEN, "\n".join(["3 a.txt", "12| b.txt", SEEN.splitlines()[3], "15 total"])),
        ("OBSERVATION ev_0001 · shell true\n(empty)", "OBSERVATION ev_0001 · shell true\n(empty)"),
        ("1| " + "x" * 3000, "x" * 2000),
    ],
)
def test_an_output_is_the_lines_that_were_seen_without_their_numbers(
    session: Session, seen: str, output: str
) -> None:
    call = start(session, "shell", cmd="wc -l *.txt")
    bring(session, call, "shell", "wc -l *.txt")
    end(session, call, "shell", obs=seen)
    (row,) = rows(session, "evidence.jsonl")
    assert row["obs"]["output"] == output


def test_a_log_without_moves_has_its_evidence_all_the_same(session: Session) -> None:
    call = start(session, "read", path="a.txt")
    bring(session, call, "read", "a.txt")
    end(session, call, "read", error_type="cut")
    (row,) = rows(session, "evidence.jsonl")
    assert (row["urls"], row["failure_type"]) == ([], "cut")
    assert rows(session, "move_ledger.jsonl") == rows(session, "query_ledger.jsonl") == []


def test_the_calls_of_two_lanes_do_not_meet(session: Session) -> None:
    mine = start(session, "read", "main", path="a.txt")
    theirs = start(session, "read", "check-1.1", path="b.txt")
    bring(session, mine, "read", "a.txt", "main")
    bring(session, theirs, "read", "b.txt", "check-1.1")
    move(session, "read", "check-1.1", call=theirs)
    move(session, "read", "main", call=mine)
    end(session, theirs, "read", "check-1.1")
    end(session, mine, "read", "main")
    assert [(row["lane"], row["evidence"]) for row in rows(session, "move_ledger.jsonl")] == [
        ("check-1.1", ["ev_0002"]),
        ("main", ["ev_0001"]),
    ]
    assert [(row["id"], row["args"]) for row in rows(session, "evidence.jsonl")] == [
        ("ev_0002", {"path": "b.txt"}),
        ("ev_0001", {"path": "a.txt"}),
    ]


def test_a_long_command_is_shortened_in_the_ledger_and_whole_in_the_log(session: Session) -> None:
    move(session, "shell", cmd=session.text("x" * 10_000))
    assert rows(session, "move_ledger.jsonl")[0]["cmd"] == "x" * 2000


def test_every_ledger_is_made_again_byte_for_byte(session: Session) -> None:
    fetch(session)
    search(session)
    refused(session)
    written = {name: (session.root / name).read_bytes() for name in LEDGERS}
    assert all(written.values())
    assert rebuild(session.root) == []
    for name in LEDGERS:
        (session.root / name).unlink()
    (session.root / "notes.md").write_bytes(b"changed")
    assert sorted(rebuild(session.root)) == sorted([*LEDGERS, "notes.md"])
    assert {name: (session.root / name).read_bytes() for name in LEDGERS} == written


def test_a_resumed_run_goes_on_with_ledgers_that_are_whole(tmp_path: Path) -> None:
    session = Session.create(tmp_path, {}, clock)
    session.emit(events.Task(task="?"), lane="")
    search(session)
    session.close()
    (tmp_path / "move_ledger.jsonl").write_bytes(b"torn")
    session = Session.resume(tmp_path, clock=clock)
    refused(session)
    assert [row["id"] for row in rows(session, "move_ledger.jsonl")] == ["mv_0001", "mv_0002"]
    assert [row["id"] for row in rows(session, "query_ledger.jsonl")] == ["q_0001", "q_0002"]
    assert rebuild(tmp_path) == []
    session.close()


@pytest.mark.parametrize("name", [*LEDGERS, "notes.md"])
def test_what_a_link_in_the_folder_points_at_is_neither_read_nor_written(tmp_path: Path, name: str) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    root = tmp_path / "work"
    session = Session.create(root, {}, clock)
    fetch(session)
    session.close()
    right = (root / name).read_bytes()
    (root / name).unlink()
    (root / name).symlink_to(victim)
    (root / f"{name}.new").symlink_to(victim)
    assert rebuild(root) == [name]
    assert victim.read_bytes() == b"mine"
    assert not (root / name).is_symlink()
    assert (root / name).read_bytes() == right
    victim.write_bytes(right)
    (root / name).unlink()
    (root / name).symlink_to(victim)
    assert rebuild(root) == [name], "a link to the same bytes is no projection"


def test_a_log_that_no_run_writes_is_refused_in_a_sentence(tmp_path: Path) -> None:
    session = Session.create(tmp_path, {}, clock)
    call = start(session, "read")
    session.emit(events.ToolStarted(step=1, call=call, tool="read", args="{no json"))
    bring(session, call, "read", "a.txt")
    session.log.append(events.Tool(step=1, call=call, tool="read", outcome="ok", obs=""), "main", sync=False)
    session.close()
    with pytest.raises(SessionError, match="something that VERA does not write"):
        rebuild(tmp_path)


TEXTS = st.text(max_size=30)
TARGETS = st.builds(events.Target, url=TEXTS, domain=TEXTS, reason=TEXTS)
MOVES = st.builds(
    events.Move,
    lane=st.sampled_from(["main", "check-1.1"]),
    id=TEXTS,
    step=st.integers(0, 99),
    tool=TEXTS,
    call=st.sampled_from(["", "call_0001", "call_0002"]),
    cmd=TEXTS,
    targets=st.lists(TARGETS, max_size=3).map(tuple),
    query=TEXTS,
    query_family=TEXTS,
    reached=st.lists(TARGETS, max_size=3).map(tuple),
    failure_type=TEXTS,
)
CALLS = st.sampled_from(["call_0001", "call_0002"])
LANES = st.sampled_from(["main", "check-1.1"])
RECORDS = st.one_of(
    MOVES,
    st.builds(
        events.ToolStarted, lane=LANES, step=st.just(1), call=CALLS, tool=TEXTS, args=st.just('{"a": 1}')
    ),
    st.builds(events.Tool, lane=LANES, step=st.just(1), call=CALLS, tool=TEXTS, outcome=TEXTS, obs=TEXTS),
    st.builds(events.Note, lane=LANES, step=st.just(1), text=TEXTS),
)


@given(st.lists(RECORDS, max_size=20))
def test_any_records_give_lines_of_json_one_for_each_move_and_each_query(log: list[events.Record]) -> None:
    projections = all_projections(str)
    written = {each.name: b"".join(map(each.add, log)) for each in projections}
    parsed = {
        name: [json.loads(line) for line in written[name].decode().split("\n")[:-1]] for name in LEDGERS
    }
    moves = [record for record in log if isinstance(record, events.Move)]
    assert [row["id"] for row in parsed["move_ledger.jsonl"]] == [each.id for each in moves]
    asked = [each for each in moves if each.query_family]
    assert [row["query"] for row in parsed["query_ledger.jsonl"]] == [each.query for each in asked]
