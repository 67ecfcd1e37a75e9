"""`kill -9` behind each record of a step that samples, then `vera resume`: it ends the same, and what was
sampled once is never sampled again."""

import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.choosing import (
    APART,
    GOOD,
    NOTED,
    READ,
    SEARCH,
    Chosen,
    Play,
    arguments,
    choose,
    killed_behind,
    nobody,
    plain,
    prefers,
    resume,
    server,
)
from support.scripted_server import ScriptedServer
from support.turns import answered_turns
from vera import events
from vera.session import check, rebuild

STEPS = [[NOTED, READ, SEARCH], [SEARCH, NOTED, READ], [GOOD]]
KINDS = ("model", "model_io", "candidates", "selection", "assistant")
OPTIONS = ("--num-candidates", "3", "--action-verifier", "llm")


def script() -> Play:
    return Play(STEPS, judge=prefers("terms.txt"))


def boundaries(run: Chosen, kind: str) -> Iterator[tuple[int, int]]:
    """The number of each record of this kind, and its step."""
    for record in run.of(events.Event):
        if events.kind(record) == kind:
            yield record.seq, getattr(record, "step", 0)


def cut_off(folder: Path, worker: ScriptedServer, seq: int, *more: str) -> Chosen:
    """A run that was killed behind this record."""
    typed = arguments(folder, worker, *OPTIONS, *more, name=f"cut-{seq}")
    assert killed_behind(typed, seq) == -signal.SIGKILL
    return Chosen(folder / f"cut-{seq}")


def decisions(run: Chosen) -> dict[int, tuple[str, int]]:
    """Who decided what at each step; the last selection of a step is the one that counts."""
    return {each.step: (each.decider, each.selected) for each in run.selections}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("more", [(), APART], ids=["by n", "one request each"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_killed_behind_any_record_of_a_choice_ends_the_same(
    tmp_path: Path, kind: str, more: tuple[str, ...]
) -> None:
    with server(script()) as worker:
        whole = choose(tmp_path, worker, *OPTIONS, *more, name="whole")
        assert whole.ended.code == 0, whole.ended.error
    for seq, step in boundaries(whole, kind):
        play = script()
        with server(play) as worker:
            before = cut_off(tmp_path, worker, seq, *more)
            log = (before.work / "trace.jsonl").read_bytes()
            held, asked, judged = before.of(events.Candidates), len(play.asked), len(play.judged)
            run = resume(before, worker)
        assert run.ended.code == 0, run.ended.error
        assert (run.work / "trace.jsonl").read_bytes().startswith(log), "a record was lost"
        assert check(run.work).verdict == "SEALED" and rebuild(run.work) == []
        assert run.acted == whole.acted == ["read", "read", "final"]
        assert decisions(run) == decisions(whole)
        assert [each.step for each in run.of(events.Candidates)] == [1, 2, 3]
        assert run.of(events.Candidates)[: len(held)] == held
        again = [body for body in play.asked[asked:] if _step(body) == step]
        if kind in ("candidates", "selection", "assistant"):
            assert not again, "what was sampled is sampled again"
        if kind in ("selection", "assistant"):
            assert [each.step for each in run.selections] == [1, 2, 3], "a choice that was logged stands"
            assert not [body for body in play.judged[judged:] if _judged_step(body) == step], "judged again"


def _judged_step(body: dict[str, Any]) -> int:
    """The step that a judge is asked about: the one behind those that it is shown."""
    return 1 + len(re.findall(r"^Step \d+$", str(body["messages"][-1]["content"]), re.MULTILINE))


def _step(body: dict[str, Any]) -> int:
    """The step that a request of the agent is for."""
    return 1 + answered_turns(body)


def _waiting(folder: Path, worker: ScriptedServer) -> Chosen:
    """A run that was killed when the candidates of its first step were written down."""
    first = choose(folder, worker, *OPTIONS, name="whole")
    seq, _ = next(boundaries(first, "candidates"))
    return cut_off(folder, worker, seq)


@pytest.mark.parametrize(
    ("settings", "decider", "ran"),
    [
        (("-c", "candidate_sampling.num_candidates=1"), None, "note"),
        (("-c", "action_verifier.enabled=false"), "off", "note"),
        (("-c", "action_verifier.verifier_type=shortest"), "selector", "read"),
        (("-c", "candidate_sampling.num_candidates=2"), "selector", "read"),
    ],
    ids=["no sampling", "verifier off", "another type", "fewer candidates"],
)
def test_candidates_that_wait_are_chosen_from_by_the_settings_of_the_resumed_run(
    tmp_path: Path, settings: tuple[str, ...], decider: str | None, ran: str
) -> None:
    play = script()
    with server(play) as worker:
        before = _waiting(tmp_path, worker)
        asked = len(play.asked)
        run = resume(before, worker, *settings)
    assert run.acted[0] == ran
    assert [each.decider for each in run.selections if each.step == 1] == ([decider] if decider else [])
    assert not [body for body in play.asked[asked:] if _step(body) == 1]
    assert run.state.lane("main").answer is not None


def test_a_run_without_sampling_samples_once_it_is_resumed_with_it(tmp_path: Path) -> None:
    play = Play([[NOTED, READ], [SEARCH, READ], [GOOD]], judge=prefers("terms.txt"))
    with server(play) as worker:
        whole = choose(tmp_path, worker, name="whole")
        seq = next(each.seq for each in whole.of(events.Tool))
        assert killed_behind(arguments(tmp_path, worker, name="w"), seq) == -signal.SIGKILL
        before = Chosen(tmp_path / "w")
        more = ("-c", "candidate_sampling.num_candidates=2", "-c", "action_verifier.enabled=true")
        run = resume(before, worker, *more, "-c", "action_verifier.verifier_type=llm")
    assert run.acted == ["note", "read", "final"]
    assert [each.step for each in run.of(events.Candidates)] == [2, 3]


def test_the_records_of_a_resumed_choice_are_those_of_one_that_was_not_interrupted(tmp_path: Path) -> None:
    with server(script(), usage=False) as worker:
        whole = choose(tmp_path, worker, *OPTIONS, name="whole")
        seq, _ = next(boundaries(whole, "candidates"))
        run = resume(cut_off(tmp_path, worker, seq), worker)

    def selection(of: Chosen) -> dict[str, object]:
        return {key: value for key, value in plain(of.selections[0]).items() if key != "seq"}

    assert selection(run) == selection(whole)


def test_a_resumed_run_whose_judge_is_gone_is_told_before_it_goes_on(tmp_path: Path) -> None:
    judge = server(Play([[READ]], judge=prefers("terms.txt")))
    with server(Play(STEPS, judge=nobody)) as worker:
        with judge:
            typed = (*OPTIONS, "-c", f"action_verifier.model.base_url={judge.root}")
            whole = choose(tmp_path, worker, *typed, name="whole")
            seq, _ = next(boundaries(whole, "candidates"))
            assert killed_behind(arguments(tmp_path, worker, *typed, name="w"), seq) == -signal.SIGKILL
        before = Chosen(tmp_path / "w")
        log = (before.work / "trace.jsonl").read_bytes()
        gone = resume(before, worker)
        assert gone.ended.code == 5 and "The selector's model: " in gone.ended.error
        assert not gone.selections
        run = resume(before, worker, "-c", "action_verifier.verifier_type=majority")
    assert run.state.lane("main").answer is not None
    assert (run.work / "trace.jsonl").read_bytes().startswith(log)
