"""What sampling and judging ask of a server that takes its time: how many calls, how many at once, and what a
judge that fails costs."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from support.choosing import (
    APART,
    GOOD,
    NOTED,
    READ,
    SEARCH,
    SEEDED,
    Chosen,
    Play,
    choose,
    is_judge,
    nobody,
    prefers,
    server,
)
from support.scripted_server import Drop, Fault, Slow
from support.turns import turn
from vera import events

LATENCY_S = 0.2
LONGER_THAN_ANY_TEST_S = 120.0
LISTED = [NOTED, READ, SEARCH, turn("note", text="Line 3 may say it.", thought="A guess.")]


class Late(Play):
    """The same script from a server that takes 200 ms for each answer."""

    def __call__(self, index: int, body: dict[str, Any]) -> Any:
        reply = super().__call__(index, body)
        return Slow(LATENCY_S, reply)


def four(tmp_path: Path, play: Play, *more: object, kind: str = "llm", **face: Any) -> tuple[Chosen, Any]:
    """A run with four candidates a step; also its server, closed."""
    with server(play, **face) as worker:
        run = choose(tmp_path, worker, "--num-candidates", 4, "--action-verifier", kind, *more)
    assert run.ended.code == 0, run.ended.error
    return run, worker


# Candidates


def test_four_candidates_are_one_request_where_the_server_gives_n(tmp_path: Path) -> None:
    play = Late([LISTED, [GOOD]], judge=prefers("terms.txt"))
    run, worker = four(tmp_path, play)
    assert [body["n"] for body in play.asked] == [4, 4]
    assert worker.most_at_once == 1
    first = run.of(events.Candidates)[0]
    assert (first.calls, len(first.candidates)) == (1, 4)
    assert first.seconds >= LATENCY_S
    assert [each.candidates for each in run.of(events.Model) if each.scope == "agent"] == [4, 4]


@pytest.mark.parametrize("places", [4, 2, 1])
def test_without_n_as_many_are_in_flight_at_once_as_the_endpoint_serves(tmp_path: Path, places: int) -> None:
    play = Late([LISTED, [GOOD]], judge=prefers("terms.txt"))
    run, worker = four(tmp_path, play, *APART, parallel=places)
    assert not any("n" in body for body in play.asked)
    assert len(play.asked) == 8
    assert worker.most_at_once == places
    first = run.of(events.Candidates)[0]
    assert (first.calls, [each.call for each in first.candidates]) == (4, [1, 2, 3, 4])
    kept = [run.load(each.content) for each in first.candidates]
    assert [said.thought in words for said, words in zip(LISTED, kept, strict=True)] == [True] * 4
    assert run.acted == ["read", "final"]


def test_of_single_requests_the_first_is_as_without_sampling_and_each_other_has_its_own_seed(
    tmp_path: Path,
) -> None:
    play = Late([LISTED, [GOOD]], judge=prefers("terms.txt"))
    four(tmp_path, play, *APART, "-c", "candidate_sampling.sampling_kwargs.top_p=0.9")
    first, *others = sorted(play.asked[:4], key=lambda body: body.get("seed", 0))
    assert first["temperature"] == 0.2 and "top_p" not in first and "seed" not in first
    assert [body["seed"] for body in others] == [101, 102, 103]
    assert {(body["temperature"], body["top_p"]) for body in others} == {(0.8, 0.9)}


def test_a_server_that_ignores_n_is_asked_for_the_rest_and_not_for_n_again(tmp_path: Path) -> None:
    play = Play([LISTED, [GOOD]], judge=prefers("terms.txt"))
    run, _ = four(tmp_path, play, *SEEDED, honours_n=False)
    assert [body.get("n") for body in play.asked] == [4, *[None] * 7]
    assert [(each.calls, len(each.candidates)) for each in run.of(events.Candidates)] == [(4, 4), (4, 4)]
    assert run.acted == ["read", "final"]


def test_a_candidate_that_fails_costs_the_others_nothing(tmp_path: Path) -> None:
    class OneFails(Play):
        def __call__(self, index: int, body: dict[str, Any]) -> Any:
            reply = super().__call__(index, body)
            return Fault(400, body="no") if body.get("seed") == 102 and not is_judge(body) else reply

    run, _ = four(tmp_path, OneFails([LISTED, [GOOD]], judge=prefers("terms.txt")), *APART)
    first = run.of(events.Candidates)[0]
    assert (len(first.candidates), first.calls) == (3, 4) and "no" in first.problem
    assert run.acted == ["read", "final"]
    assert [bool(each.error) for each in run.of(events.Model)][:4] == [False, False, True, False]


def test_a_straggler_is_cancelled_and_the_others_are_kept(tmp_path: Path) -> None:
    class OneHangs(Play):
        def __call__(self, index: int, body: dict[str, Any]) -> Any:
            reply = super().__call__(index, body)
            hangs = body.get("seed") == 103 and not is_judge(body)
            return Slow(LONGER_THAN_ANY_TEST_S, reply) if hangs else reply

    play = OneHangs([LISTED, [GOOD]], judge=prefers("terms.txt"))
    run, worker = four(tmp_path, play, *APART, "-c", "candidate_sampling.straggler_s=0.5")
    assert [len(each.candidates) for each in run.of(events.Candidates)] == [3, 3]
    assert all("cancelled" in each.problem for each in run.of(events.Candidates))
    assert worker.cancelled == 2
    assert run.acted == ["read", "final"]


# A judge that is spared


@pytest.mark.parametrize("kind", ["llm", "pairwise"])
def test_candidates_that_agree_spare_the_judge(tmp_path: Path, kind: str) -> None:
    play = Late([[NOTED, READ, READ, READ], [GOOD]], judge=nobody)
    run, worker = four(tmp_path, play, kind=kind)
    assert run.deciders == ["agreement", "only_one"]
    assert run.selections[0].selected == 1 and run.selections[0].judge_calls == 0
    assert not play.judged and len(worker.requests) == 2
    assert run.acted == ["read", "final"]


def test_agreement_is_not_enough_where_the_settings_ask_for_a_judge(tmp_path: Path) -> None:
    play = Play([[NOTED, READ, READ, READ], [READ], [GOOD]], judge=prefers("Nothing was read"))
    run, _ = four(tmp_path, play, "-c", "action_verifier.stop_on_agreement=false")
    assert run.acted[0] == "note" and len(play.judged) == 1


def test_agreement_of_no_more_than_the_threshold_is_not_enough(tmp_path: Path) -> None:
    play = Play([[NOTED, READ, READ, READ], [READ], [GOOD]], judge=prefers("Nothing was read"))
    run, _ = four(tmp_path, play, "-c", "action_verifier.agreement_threshold=0.75")
    assert run.acted[0] == "note" and len(play.judged) == 1


# A judge that is no use


SPOILT = {
    "fails": (Fault(500, body="out of order"), {"judge_failed", "deadline"}),
    "refuses": (Fault(400, body="no such thing"), {"judge_failed"}),
    "breaks off": (Drop(), {"judge_failed", "deadline"}),
    "hangs": (Slow(LONGER_THAN_ANY_TEST_S, "FINAL: 2"), {"deadline"}),
    "talks for ever": (
        Slow(LONGER_THAN_ANY_TEST_S, "", after="Let me think. ", keepalive=0.05),
        {"deadline"},
    ),
    "answers nonsense": ("All of them are splendid.", {"no_verdict"}),
    "answers nothing": ("", {"empty", "judge_failed"}),
    "names a candidate that is not there": ("FINAL: 9", {"out_of_range"}),
    "chooses none": ("FINAL: none", {"abstained"}),
    "names two": ("FINAL: 1 or 2", {"two_answers"}),
    "follows a candidate": ('{"tool": "note", "args": {"text": "I am the agent now."}}', {"no_verdict"}),
}


@pytest.mark.parametrize("kind", ["llm", "pairwise"])
@pytest.mark.parametrize("case", SPOILT)
def test_a_judge_that_is_no_use_costs_its_deadline_at_most_and_the_run_goes_on(
    tmp_path: Path, case: str, kind: str
) -> None:
    reply, reasons = SPOILT[case]
    play = Play([[READ, NOTED], [GOOD]], judge=lambda body: reply)
    began = time.monotonic()
    run, worker = four(tmp_path, play, "-c", "action_verifier.deadline_s=1", kind=kind)
    assert time.monotonic() - began < LONGER_THAN_ANY_TEST_S / 2
    first = run.selections[0]
    assert (first.decider, first.selected, first.fallback) == ("fallback", 0, "first_candidate")
    assert first.fallback_reason in reasons, first
    assert first.reason and first.parsed_index is None
    assert run.acted == ["read", "final"]
    assert run.selections[1].decider == "only_one", "the next step is chosen as ever"
    if case in ("hangs", "talks for ever"):
        assert worker.cancelled == len(play.judged) > 0
    told = [each for each in run.of(events.Model) if each.scope == "selector"]
    assert told and first.judge_calls == len(told)
    assert json.dumps([body["messages"] for body in play.asked]).count("splendid") == 0


@pytest.mark.parametrize("kind", ["llm", "pairwise"])
def test_a_judges_server_that_goes_away_in_the_middle_of_a_run_costs_its_judgement(
    tmp_path: Path, kind: str
) -> None:
    judging = Play([[READ]], judge=prefers("terms.txt"))
    judge = server(judging)

    class Leaves(Play):
        def __call__(self, index: int, body: dict[str, Any]) -> Any:
            if not self.asked:
                judge.__exit__(None, None, None)
            return super().__call__(index, body)

    play = Leaves([[READ, NOTED], [GOOD]], judge=nobody)
    judge.__enter__()
    run, _ = four(
        tmp_path, play, "-c", f"action_verifier.model.base_url={judge.root}",
        "-c", "action_verifier.deadline_s=1", kind=kind,
    )  # fmt: skip
    assert run.selections[0].fallback_reason in ("judge_failed", "deadline")
    assert run.acted == ["read", "final"]
