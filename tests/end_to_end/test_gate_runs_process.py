"""The effects of gates in `vera run` itself: refusal, nudge, constraint, end, and a connection refused
at the tunnel; and a run with all of them that is killed behind each of their records and resumed."""

import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_crash import vera as vera_in_process

from support.cli import folded, records, vera
from support.gate_runs import act, answer, cut, shell
from support.scripted_server import ScriptedServer
from support.site import serving
from support.turns import answered_turns, as_reply
from vera import events
from vera.protocol import Turn
from vera.session import check, rebuild

TASK = "Is there any zebra in the terms?"
SCRIPT: list[Turn | str | dict[str, Any]] = [
    answer("No."),
    act("read", path="zebra.txt"),
    act("read", path="horse.txt", note="No file is named after a zebra."),
    act("read", path="animals/zebra.txt"),
    act("read", path="terms.txt", used=["ev_0099"]),
    act("search", query="zebra crossing", used=["ev_0001"]),
    act("search", query="crossing zebra"),
    act("search", query="crossing zebra", note="The terms are about offers."),
    act("search", query="zebra crossings", status="UNRESOLVED"),
    cut(),
    cut(),
    "There is none, I think.",
]

SPOKEN = [
    (1, "policy_pre_tool_nudge", "nudge"),
    (4, "policy_failure_escalation", "nudge"),
    (4, "constraint_added", "policy_failure_escalation"),
    (5, "constraint_added", "evidence_used"),
    (5, "constraint_resolved", "policy_failure_escalation"),
    (6, "constraint_resolved", "evidence_used"),
    (7, "policy_notes_gate", "refuse"),
    (9, "policy_query_mutation", "refuse"),
    (10, "policy_parse_error", "nudge"),
    (11, "policy_length_nudge", "nudge"),
    (11, "policy_parse_error", "nudge"),
    (12, "policy_parse_error", "nudge"),
    (12, "policy_parse_error", "end"),
]


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "terms.txt").write_text("Terms\n\nA written offer must be valid for three years.\nEnd.\n")
    return folder


def play(index: int, body: dict[str, Any]) -> Any:
    said = SCRIPT[min(answered_turns(body), len(SCRIPT) - 1)]
    return as_reply(said, "text") if isinstance(said, Turn) else said


def arguments(server: ScriptedServer, documents: Path, work: Path) -> list[str]:
    return [
        "run", "--task", TASK, "--input-dir", str(documents), "--work-dir", str(work), "--sandbox", "none",
        "--egress", "none", "--model-base-url", server.root, "--protocol", "text", "--quiet",
        "--verifier", "literal", "-c", "policy.parse_error_limit=3", "-c", "policy.stuck_limit=0",
    ]  # fmt: skip


def spoken(log: list[events.Record]) -> list[tuple[int, str, str]]:
    """What gates and constraints wrote down."""
    found = []
    for each in log:
        if isinstance(each, events.Policy):
            found.append((each.step, events.kind(each), each.effect))
        elif isinstance(each, events.ConstraintAdded | events.ConstraintResolved):
            found.append((each.step, events.kind(each), each.key))
    return found


def test_a_run_with_a_refusal_a_nudge_a_constraint_and_an_end(documents: Path, tmp_path: Path) -> None:
    with ScriptedServer(play) as server:
        done = vera(*arguments(server, documents, tmp_path / "w"), cwd=tmp_path)
        told = [request.body["messages"][-1]["content"] for request in server.requests]
    assert (done.returncode, done.stderr) == (3, "")
    assert "3 turns in a row broke the format" in done.stdout
    log = records(tmp_path / "w")
    assert spoken(log) == SPOKEN
    assert told[1].startswith("Your answer is not taken yet (policy_pre_tool_nudge).")
    assert "\nOPEN CONSTRAINT policy_failure_escalation: 3 calls in a row failed in the same way" in told[4]
    assert "\nCONSTRAINT MET policy_failure_escalation\n" in told[5]
    assert told[7].startswith("NOT RUN (policy_notes_gate).")
    assert told[9].startswith("NOT RUN (policy_query_mutation).")
    blocked = [each.step for each in log if isinstance(each, events.Move) and each.outcome == "blocked"]
    assert blocked == [7, 9]
    assert {7, 9}.isdisjoint(
        each.step for each in log if isinstance(each, events.ToolStarted | events.Evidence)
    )
    assert folded(tmp_path / "w").lane("main").history.calls == 6


KILLED_BEHIND = (
    events.Policy,
    events.ConstraintAdded,
    events.ConstraintResolved,
    events.Status,
    events.QuestionForm,
    events.LaneEnded,
)


def kill_points(log: list[events.Record], *, every: bool) -> list[int]:
    """Of moves the first of each outcome, of gates, constraints and the status the first of each kind and
    effect, or every one."""
    first: dict[tuple[str, ...], int] = {}
    for each in log:
        if isinstance(each, (events.Move, *KILLED_BEHIND)):
            about = tuple(str(getattr(each, name, "")) for name in ("outcome", "effect", "status"))
            number = str(each.seq) if every and not isinstance(each, events.Move) else ""
            first.setdefault((type(each).__name__, *about, number), each.seq)
    return sorted(first.values())


@pytest.mark.timeout(600)
def test_a_run_killed_behind_any_record_of_a_gate_is_resumed_to_the_same_end(
    documents: Path, tmp_path: Path, repeat_more: bool
) -> None:
    """Behind the first of each kind; with `--repeat-more` behind every one."""
    with ScriptedServer(play) as server:
        whole = tmp_path / "whole"
        assert vera_in_process(arguments(server, documents, whole)) == 3
        log = records(whole)
        end = log[-1]
        assert isinstance(end, events.RunEnd)
        points = kill_points(log, every=repeat_more)
        assert len(points) > 10
        for point in points:
            work = tmp_path / f"work-{point}"
            assert vera_in_process(arguments(server, documents, work), point) == -signal.SIGKILL
            before = (work / "trace.jsonl").read_bytes()
            assert vera_in_process(["resume", str(work), "--quiet"]) == 3, point
            assert (work / "trace.jsonl").read_bytes().startswith(before), "a record was lost"
            check_resumed(work, end, log[point - 1])


def check_resumed(work: Path, end: events.RunEnd, killed_behind: events.Record) -> None:
    """The same end by way of the same records, none of them twice. A call that was under way when the run was
    killed is not made again, so what would have been said of it is said later or not at all."""
    log = records(work)
    assert check(work).verdict == "SEALED"
    assert rebuild(work) == []
    last = log[-1]
    assert isinstance(last, events.RunEnd)
    assert (last.status, last.reason, last.exit_code, last.steps) == (
        end.status, end.reason, end.exit_code, end.steps,
    ), killed_behind  # fmt: skip
    said = spoken(log)
    assert len(set(said)) == len(said), (killed_behind, said)
    if any(isinstance(each, events.Tool) and each.outcome == "interrupted" for each in log):
        assert {each[1:] for each in said} <= {each[1:] for each in SPOKEN}, killed_behind
    else:
        assert said == SPOKEN, killed_behind
    refused = [each.step for each in log if isinstance(each, events.Move) and each.outcome == "blocked"]
    assert sorted(set(refused)) == refused == [7, 9], killed_behind
    assert len([each for each in log if isinstance(each, events.QuestionForm)]) == 1


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that the sandbox's own user may enter; pytest's are closed to it when it runs as root."""
    with tempfile.TemporaryDirectory(prefix="vera-gates-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.needs("bubblewrap")
def test_a_connection_of_a_command_is_refused_at_the_tunnel_until_something_was_searched(
    open_folder: Path,
) -> None:
    """The attempt may fail: here the egress policy does not lead to Brave."""
    first = "Search once first, with brave_search or brave_news; then fetch what was found."
    said = f"Nothing was searched yet. {first}"
    with serving({"/terms": b"<html><body>An offer is valid for three years.</body></html>"}) as site:
        look = shell(f"curl -sS --noproxy '' {site}/terms; fetch {site}/terms; true")
        script = [
            as_reply(each, "text") for each in (look, act("brave_search", q="offer"), look, answer("x"))
        ]
        with ScriptedServer(script, exhausted="repeat") as server:
            done = vera(
                "run", "How long is an offer valid?", "--work-dir", "w", "--sandbox", "bubblewrap",
                "--model-base-url", server.root, "--protocol", "text", "--verifier", "literal",
                "--verifier-rounds", 1, "-c", "egress.mode=allowlist",
                "-c", f"egress.allow={site.removeprefix('http://')}", "-c", "egress.allow_cidrs=127.0.0.0/8",
                cwd=open_folder, BRAVE_API_KEY="BSA-not-a-real-key-0123",
            )  # fmt: skip
            told = [request.body["messages"][-1]["content"] for request in server.requests]
    assert done.returncode == 3, done.stderr
    assert told[1].splitlines()[1:4] == [
        f"1| Forbidden: {said}",
        f"2| fetch: refused: {said}",
        f"REFUSED: {said}",
    ]
    assert "An offer is valid for three years." in told[3]
    assert "REFUSED" not in told[3]
    log = records(open_folder / "w")
    refused = [each for each in log if isinstance(each, events.PolicyBraveDiscovery)]
    assert [(each.step, each.effect, each.tool) for each in refused] == [(1, "refuse", "shell")]
    made = [(each.by, each.verdict, each.reason) for each in log if isinstance(each, events.Egress)]
    assert made[0] == ("box", "refused", said)
    assert [each[:2] for each in made[-2:]] == [("box", "allowed"), ("fetch", "allowed")]
