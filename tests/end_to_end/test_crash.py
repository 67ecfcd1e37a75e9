"""`kill -9` at every event boundary of a run, then `vera resume`: nothing is lost, nothing runs twice."""

import multiprocessing
import os
import re
import shutil
import signal
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from support.cast import agreeing, asking, part_of, scored
from support.cli import folded, records
from support.scripted_server import ScriptedServer
from support.turns import answered_turns, as_reply, final, observation, turn
from support.verified import replay
from vera import events
from vera.agent.folders import exams_folder
from vera.session import check, rebuild
from vera.store import Store

SCRIPT = [
    turn("search", query="written offer valid"),
    turn("read", path="terms.txt", note="the term stands in terms.txt"),
    turn("shell", cmd="echo ran >> count.txt", note="counted"),
    turn("note", text="one more look"),
    turn("read", path="terms.txt", first=1, last=3),
    final("At least three years [ev_0002:3]."),
]


def in_process(arguments: list[str], kill_after: int) -> None:
    """Run `vera` in this process, killing it behind the record number `kill_after` (0: never)."""
    from vera.cli import main
    from vera.session import log

    real = log.Log.append

    def append(self: log.Log, event: Any, lane: str, *, sync: bool = False) -> Any:
        record = real(self, event, lane, sync=sync)
        if record.seq == kill_after:
            os.kill(os.getpid(), signal.SIGKILL)
        return record

    log.Log.append = append  # type: ignore[method-assign] # the one that kills
    descriptor = os.open(os.devnull, os.O_WRONLY)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    main(arguments, prog_name="vera")


CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload([
    "vera.cli.run", "vera.cli.resume", "vera.cli.execute", "vera.model.connect", "vera.config.loading",
    "cryptography.hazmat.primitives.asymmetric.ed25519", "httpx", "jinja2", "publicsuffixlist",
])  # fmt: skip


def vera(arguments: list[str], kill_after: int = 0) -> int | None:
    shutil.rmtree(exams_folder(), ignore_errors=True)  # so that every run has the same records
    process = CONTEXT.Process(target=in_process, args=(arguments, kill_after))
    process.start()
    process.join(60)
    assert process.exitcode is not None, "the run hung"
    return process.exitcode


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "terms.txt").write_text("Terms\n\nA written offer must be valid for three years.\nEnd.\n")
    return folder


def first_of_each(log: Iterable[events.Record]) -> list[int]:
    """Of each kind of record (by what it is about) the first."""
    first: dict[tuple[str, ...], int] = {}
    for record in log:
        about = (str(getattr(record, name, "")) for name in ("tool", "outcome", "event", "status", "scope"))
        first.setdefault((type(record).__name__, *about), record.seq)
    return list(first.values())


@pytest.mark.timeout(600)
def test_a_run_killed_behind_any_record_is_resumed_to_its_end(
    documents: Path, tmp_path: Path, repeat_more: bool
) -> None:
    """Behind the first record of each kind; with `--repeat-more` behind every one. (The battery `crash` kills
    such a run at each call that changes a file.)"""

    def reply(index: int, body: dict[str, Any]) -> Any:
        return as_reply(SCRIPT[min(answered_turns(body), len(SCRIPT) - 1)], "text")

    with ScriptedServer(reply) as server:

        def run(work: Path, kill_after: int = 0) -> int | None:
            return vera([
                "run", "--task", "How long?", "--input-dir", str(documents), "--work-dir", str(work),
                "--model-base-url", server.root, "--protocol", "text", "--sandbox", "host", "--quiet",
                "--verifier", "literal", "--verifier-rounds", "1",
            ], kill_after)  # fmt: skip

        # What nobody has sealed yet, and what commands can do, the person says again.
        mine = (
            f"model.base_url={server.root}", f"run.input_dir={documents}", "verification.rule=literal",
            "sandbox.backend=host",
        )  # fmt: skip
        chosen = [word for text in mine for word in ("-c", text)]
        whole = tmp_path / "whole"
        assert run(whole) == 3
        check_whole(whole, 0)
        log = records(whole)
        assert len(log) > 30
        for point in [each.seq for each in log] if repeat_more else first_of_each(log):
            work = tmp_path / f"work-{point}"
            assert run(work, point) == -signal.SIGKILL
            before = (work / "trace.jsonl").read_bytes()
            told = [record for record in records(work) if isinstance(record, events.Task)]
            resumed = vera(["resume", str(work), "--quiet", *chosen])
            assert (work / "trace.jsonl").read_bytes().startswith(before), "a record was lost"
            if not told:
                assert resumed == 1  # killed before the task was written: there is nothing to go on with
                continue
            assert resumed == 3
            check_whole(work, point)


def check_whole(work: Path, boundary: int) -> None:
    log = records(work)
    assert check(work).verdict == "SEALED"
    assert [record.seq for record in log] == list(range(1, len(log) + 1))
    ids = [record.id for record in log if isinstance(record, events.Evidence)]
    assert len(set(ids)) == len(ids)
    state = folded(work)
    answer = state.lane("main").answer
    assert answer is not None
    assert answer.text == "At least three years [ev_0002:3]."
    count = work / "workspace" / "count.txt"
    lines = count.read_text().splitlines() if count.exists() else []
    interrupted = [
        record
        for record in log
        if isinstance(record, events.Tool) and record.outcome == "interrupted" and record.tool == "shell"
    ]
    assert lines == ["ran"] or (lines == [] and interrupted), (boundary, lines)
    assert rebuild(work) == [], "the files beside the log are not what the log says"


def test_projections_are_rebuilt_byte_for_byte(documents: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    with ScriptedServer([as_reply(said, "text") for said in SCRIPT]) as server:
        vera([
            "run", "--task", "How long?", "--input-dir", str(documents), "--work-dir", str(work),
            "--model-base-url", server.root, "--protocol", "text", "--sandbox", "host", "--quiet",
            "--verifier", "literal", "--verifier-rounds", "1",
        ])  # fmt: skip
    ledgers = ("evidence.jsonl", "move_ledger.jsonl", "query_ledger.jsonl")
    made = {name: (work / name).read_bytes() for name in ("notes.md", *ledgers)}
    for name in made:
        (work / name).write_bytes(b"forged")
    assert sorted(rebuild(work)) == sorted(made)
    assert {name: (work / name).read_bytes() for name in made} == made
    assert b"the term stands in terms.txt" in made["notes.md"]
    assert b"- ev_0001" in made["notes.md"]


class Play:
    """A run that is verified in its second round, every part of it played from what the prompt holds, so that
    it goes on after a crash where it was."""

    def __init__(self, documents: Path) -> None:
        counted = f"echo ran >> count.txt; wc -l < {documents}/terms.txt"
        self._worker = [
            turn("read", path="terms.txt"),
            turn("shell", cmd=counted, note="the term stands in line 3, the file has 4 lines"),
            final("A written offer must be valid for seven years [ev_0001:3]."),
            turn("read", path="terms.txt", first=3, last=3),
            final(
                "A written offer must be valid for three years [ev_0001:3]. The file has 4 lines [ev_0002:1]."
            ),
        ]
        question = {
            "claim": "c1",
            "question": "Does the file say that a written offer must be valid for three years?",
            "source": "terms.txt",
            "label": "misinterpretation",
        }
        self._parts = {
            "decompose": asking(question),
            "label": agreeing("A written offer must be valid for three years.", "The file has 4 lines."),
            "score": scored(4),
            "check": self._check,
            "worker": self._work,
        }

    def __call__(self, index: int, body: dict[str, Any]) -> Any:
        return self._parts[part_of(body)](body)

    def _work(self, body: dict[str, Any]) -> Any:
        return as_reply(self._worker[min(answered_turns(body), len(self._worker) - 1)], "text")

    def _check(self, body: dict[str, Any]) -> Any:
        if not answered_turns(body):
            return as_reply(turn("read", path="terms.txt"), "text")
        found = re.search(r"ev_\d{4}", observation(body))
        assert found is not None
        return as_reply(final(f"yes [{found[0]}:3]"), "text")


OF_ROUNDS = (events.VerifierToAgent, events.VerifierGradient, events.AnswerChosen)
"""Records of the main lane that follow from a round."""

ONCE = (
    events.VerifierStarted,
    events.Derivation,
    events.Audit,
    events.VerifierQuestions,
    events.VerifierCheck,
    events.VerifierLabels,
    events.VerifierScore,
    events.Verifier,
    events.VerifierToAgent,
)
"""What a round has once: of derivations one for each evidence, of labels one for each claim, and so on."""

THIN = 3
"""Of the records behind which a run is killed in its verification and its extracts every third is tried: two
processes each. `--repeat-more` tries all, and the battery `crash` each call that changes a file."""

MEANINGFUL = (events.Answer, events.LaneEnded, events.PolicyChoice, events.Status)
"""Records of the main lane behind which a run is killed, beside those of verification: what it does at its
other records the first test has tried."""


def kill_points(log: Iterable[events.Record], *, every_lane: bool) -> list[int]:
    """The records of verification: of each kind (by part, and by lane where that is asked) the first."""
    first: dict[tuple[str, ...], int] = {}
    for record in log:
        verifies = record.lane.startswith(("verify-", "check-", "derive", "exam"))
        begun = first or isinstance(record, events.Answer)
        if begun and (verifies or isinstance(record, (*MEANINGFUL, *OF_ROUNDS, events.RunEnd))):
            part = getattr(record, "scope", getattr(record, "event", ""))
            lane = record.lane if every_lane and not isinstance(record, events.ContainerEvent) else ""
            first.setdefault((type(record).__name__, lane, part), record.seq)
    return list(first.values())


def once_of(record: events.Record) -> tuple[object, ...]:
    about = (getattr(record, name, None) for name in ("round", "evidence", "check", "claim"))
    return (type(record).__name__, *about)


def verdicts(work: Path) -> list[tuple[object, ...]]:
    """What every round came to, and how the run ended."""
    state = folded(work)
    assert state.chosen is not None
    assert state.ended is not None
    made = [
        (
            d.round,
            d.result,
            d.reason,
            d.claims,
            d.supported,
            d.hard,
            d.soft,
            d.score,
            d.caps,
            d.unknown_checks,
        )
        for d in (each.decision for each in state.rounds.values())
        if d is not None
    ]
    assert len(made) == len(state.rounds), "a round without its verdict"
    answer = state.answers[state.chosen.answer_seq].text
    return [*made, (state.chosen.round, answer, state.ended.status, state.ended.reason)]


def check_verified(work: Path, expected: list[tuple[object, ...]]) -> None:
    """The run is whole, its verdict is the one expected and replays, and nothing of it was done twice."""
    log = records(work)
    assert check(work).verdict == "SEALED"
    assert [record.seq for record in log] == list(range(1, len(log) + 1))
    assert verdicts(work) == expected
    done = Counter(once_of(record) for record in log if isinstance(record, ONCE))
    assert set(done.values()) == {1}
    told = {
        msgspec.structs.replace(r, seq=0, ts=0, prev="")
        for r in log
        if isinstance(r, events.VerifierGradient)
    }
    assert len(told) == 1
    for kind in (events.ToolStarted, events.Tool):
        calls = [record.call for record in log if isinstance(record, kind)]
        assert len(set(calls)) == len(calls)
    assert (work / "workspace" / "count.txt").read_text() == "ran\n"
    report = replay(work, (), 2)
    assert report.exit_code == 0, report
    decision = folded(work).rounds[2].decision
    assert decision is not None
    signed = (work / "attestation.json").read_bytes()
    assert signed == Store(work / "store").get(decision.envelope.sha256)
    assert rebuild(work) == []
    left = [path.name for path in work.iterdir() if path.name.startswith((".", "checks"))]
    assert left == [], "folders of the verifier are left behind"


@pytest.mark.timeout(600)
def test_a_run_killed_in_its_verification_is_resumed_to_the_same_verdict(
    documents: Path, tmp_path: Path, repeat_more: bool
) -> None:
    task = "How long must a written offer be valid, and how many lines has the file?"
    with ScriptedServer(Play(documents)) as server:

        def run(work: Path, kill_after: int = 0) -> int | None:
            return vera([
                "run", "--task", task, "--input-dir", str(documents), "--work-dir", str(work),
                "--model-base-url", server.root, "--protocol", "text", "--sandbox", "host", "--quiet",
            ], kill_after)  # fmt: skip

        whole = tmp_path / "whole"
        assert run(whole) == 0
        expected = verdicts(whole)
        check_verified(whole, expected)
        points = kill_points(records(whole), every_lane=repeat_more)
        assert {type(records(whole)[point - 1]) for point in points} >= {*ONCE, *OF_ROUNDS, *MEANINGFUL}
        for point in points if repeat_more else points[::THIN]:
            work = tmp_path / f"work-{point}"
            assert run(work, point) == -signal.SIGKILL
            before = (work / "trace.jsonl").read_bytes()
            words = ["resume", str(work), "--quiet", "-c", "sandbox.backend=host"]
            assert vera(words) == 0, point
            assert (work / "trace.jsonl").read_bytes().startswith(before), "a record was lost"
            check_verified(work, expected)


@pytest.mark.timeout(600)
def test_a_run_killed_while_it_gives_extracts_is_resumed_to_the_same(
    documents: Path, tmp_path: Path, repeat_more: bool
) -> None:
    """Behind first records of their kinds from the end of the main lane on."""
    with ScriptedServer(lambda index, body: as_reply(turn("note", text="n"), "text")) as server:
        mine = ["-c", f"model.base_url={server.root}", "-c", f"run.input_dir={documents}"]

        def run(work: Path, kill_after: int = 0) -> int | None:
            return vera([
                "run", "--task", "How long must a written offer be valid?", "--work-dir", str(work),
                "--protocol", "text", "--sandbox", "none", "--egress", "none", "--quiet",
                "-c", "policy.stuck_limit=3", *mine,
            ], kill_after)  # fmt: skip

        whole = tmp_path / "whole"
        assert run(whole) == 0
        log = records(whole)
        first: dict[tuple[str, str], int] = {}
        for record in log[next(n for n, each in enumerate(log) if isinstance(each, events.PolicyStuck)) :]:
            first.setdefault((type(record).__name__, record.lane), record.seq)
        points = [*first.values()]
        assert {"main", "extracts-1", "verify-1"} <= {log[point - 1].lane for point in points}
        ids = re.compile(r"ev_\d{4}")  # a read that was cut off is made again
        expected = ids.sub("", str(verdicts(whole)))
        for point in points if repeat_more else points[::THIN]:
            work = tmp_path / f"work-{point}"
            assert run(work, point) == -signal.SIGKILL
            assert vera(["resume", str(work), "--quiet", *mine]) == 0, point
            assert ids.sub("", str(verdicts(work))) == expected and replay(work, (), 2).exit_code == 0
            lanes = [each.lane for each in records(work) if isinstance(each, events.LaneStarted)]
            assert lanes == ["main", "extracts-1"]
