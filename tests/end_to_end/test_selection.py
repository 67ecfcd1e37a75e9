"""With a verifier on, the action that runs is the one that it chose, and it alone enters the conversation."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.attacks import vera_here
from support.choosing import (
    BROKEN,
    GOOD,
    NOTED,
    READ,
    SEARCH,
    Chosen,
    Play,
    choose,
    nobody,
    prefers,
    server,
)
from support.turns import observation
from vera import events

JUDGES = ("llm", "pairwise")
NOBODY_ASKED = ("first_valid", "majority", "shortest", "random")
NONSENSE = "Both have something for them."


def wants_to_read() -> Play:
    """Three different actions for the first step, of which the judge wants the second."""
    return Play([[NOTED, READ, SEARCH], [GOOD]], judge=prefers("terms.txt"))


# The one that was chosen runs


@pytest.mark.parametrize("kind", JUDGES)
def test_the_action_that_runs_is_the_one_that_the_verifier_chose(tmp_path: Path, kind: str) -> None:
    play = wants_to_read()
    with server(play) as worker:
        run = choose(tmp_path, worker, "--num-candidates", 3, "--action-verifier", kind)
    assert run.ended.code == 0, run.ended.error
    assert run.acted == ["read", "final"]
    first = run.selections[0]
    assert (first.selected, first.decider, first.selector, first.parsed_index) == (1, "selector", kind, 1)
    assert first.judge_calls == len(play.judged) == {"llm": 1, "pairwise": 6}[kind]
    assert [each.tool for each in run.of(events.Tool)] == ["read"]


@pytest.mark.parametrize("kind", JUDGES)
def test_only_the_chosen_candidate_enters_the_conversation(tmp_path: Path, kind: str) -> None:
    play = wants_to_read()
    with server(play) as worker:
        choose(tmp_path, worker, "--num-candidates", 3, "--action-verifier", kind)
    first, second = play.prompts()
    assert second[: len(first)] == first
    turn, seen = second[len(first) :]
    assert (turn["role"], seen["role"]) == ("assistant", "user")
    assert READ.thought in turn["content"] and "ev_0001" in seen["content"]
    told = json.dumps(second)
    assert not any(other.thought in told for other in (NOTED, SEARCH))
    assert "FINAL" not in told


def test_a_judge_sees_actions_and_not_the_words_around_them(tmp_path: Path) -> None:
    play = wants_to_read()
    with server(play) as worker:
        choose(tmp_path, worker, "--num-candidates", 3, "--action-verifier", "llm")
    (asked,) = play.judged
    said = json.dumps(asked["messages"])
    assert not any(each.thought in said for each in (NOTED, READ, SEARCH))
    assert all(words in said for words in ("Nothing was read so far.", "terms.txt", "written offer valid"))
    assert "n" not in asked and asked["temperature"] == 0


def test_candidate_text_is_shown_where_it_is_asked_for(tmp_path: Path) -> None:
    play = wants_to_read()
    with server(play) as worker:
        options = {"action_verifier__include_candidate_text": "true"}
        choose(tmp_path, worker, "--num-candidates", 3, "--action-verifier", "llm", **options)
    assert all(each.thought in json.dumps(play.judged[0]["messages"]) for each in (NOTED, READ, SEARCH))


# A judge of its own


@pytest.mark.parametrize("kind", JUDGES)
def test_the_verifier_may_be_another_model_at_another_address_with_another_key(
    tmp_path: Path, kind: str
) -> None:
    play, judging = wants_to_read(), wants_to_read()
    with (
        server(play, key="worker-key", model="worker-8b") as worker,
        server(judging, key="judge-key", model="judge-70b") as judge,
    ):
        run = choose(
            tmp_path, worker, "--num-candidates", 3, "--action-verifier", kind,
            model__key="worker-key", action_verifier__model__base_url=judge.root,
            action_verifier__model__name="judge-70b", action_verifier__model__key="judge-key",
            run__mode="agent",  # a model of eight billion weights would sit an exam first
        )  # fmt: skip
    assert run.ended.code == 0, run.ended.error
    assert run.acted == ["read", "final"]
    assert (len(play.asked), len(play.judged)) == (2, 0)
    assert (len(judging.asked), len(judging.judged)) == (0, run.selections[0].judge_calls)
    assert {each.headers["authorization"] for each in worker.requests} == {"Bearer worker-key"}
    assert {each.headers["authorization"] for each in judge.requests} == {"Bearer judge-key"}
    assert {each.body["model"] for each in worker.requests} == {"worker-8b"}
    assert {each.body["model"] for each in judge.requests} == {"judge-70b"}
    kept = (run.work / "trace.jsonl").read_text() + (run.work / "trajectory.traj.json").read_text()
    assert "worker-key" not in kept and "judge-key" not in kept


def test_the_workers_key_goes_to_no_other_server(tmp_path: Path) -> None:
    play, judging = wants_to_read(), wants_to_read()
    with server(play, key="worker-key") as worker, server(judging) as judge:
        run = choose(
            tmp_path, worker, "--num-candidates", 3, "--action-verifier", "llm",
            model__key="worker-key", action_verifier__model__base_url=judge.root,
        )  # fmt: skip
    assert run.acted == ["read", "final"]
    assert judge.requests and not any("authorization" in each.headers for each in judge.requests)


def test_another_model_of_the_same_server_is_asked_with_the_same_key(tmp_path: Path) -> None:
    play = wants_to_read()
    with server(play, key="worker-key", other_models=["judge-70b"]) as worker:
        run = choose(
            tmp_path, worker, "--num-candidates", 3, "--action-verifier", "llm",
            model__key="worker-key", action_verifier__model__name="judge-70b",
        )  # fmt: skip
    assert run.acted == ["read", "final"]
    assert [each["model"] for each in play.judged] == ["judge-70b"]
    assert {each["model"] for each in play.asked} == {"scripted-model"}
    judged = [each for each in run.of(events.ModelIo) if each.scope == "selector"]
    assert [each.parameters["model"] for each in judged] == ["judge-70b"]


def test_a_judge_that_cannot_be_reached_is_said_before_anything_is_sampled(tmp_path: Path) -> None:
    play = wants_to_read()
    with server(play) as gone:
        nowhere = gone.root
    with server(play) as worker:
        run = choose(
            tmp_path, worker, "--num-candidates", 3, "--action-verifier", "llm",
            action_verifier__model__base_url=nowhere,
        )  # fmt: skip
    assert run.ended.code == 5 and "The selector's model: " in run.ended.error
    assert not play.asked and not (run.work / "trace.jsonl").exists()


# Selectors that ask nobody


def test_first_valid_takes_the_first_that_can_be_read(tmp_path: Path) -> None:
    play = Play([[BROKEN, READ, NOTED], [GOOD]])
    with server(play) as worker:
        run = choose(tmp_path, worker, "--num-candidates", 3, "--action-verifier", "first_valid")
    assert run.acted == ["read", "final"]
    first = run.selections[0]
    assert (first.selected, first.decider, first.selector) == (1, "selector", "first_valid")
    assert first.weighed[0].codes and not first.weighed[1].codes
    assert not run.of(events.PolicyParseError)


@pytest.mark.parametrize(
    ("kind", "ran"), [("majority", "read"), ("shortest", "read"), ("first_valid", "search")]
)
def test_a_selector_that_asks_nobody_chooses_by_its_rule(tmp_path: Path, kind: str, ran: str) -> None:
    play = Play([[SEARCH, READ, NOTED, READ], [GOOD]])
    with server(play) as worker:
        run = choose(tmp_path, worker, "--num-candidates", 4, "--action-verifier", kind)
    assert run.acted[0] == ran
    assert len(play.asked) == len(worker.requests)


# Nothing can be read, or nothing was decided


@pytest.mark.parametrize("fallback", ["first_candidate", "first_valid"])
@pytest.mark.parametrize("kind", [*JUDGES, *NOBODY_ASKED])
def test_where_no_candidate_can_be_read_the_fallback_ends_in_a_format_error_that_the_model_reads(
    tmp_path: Path, kind: str, fallback: str
) -> None:
    play = Play([[BROKEN, "Nor would I.", BROKEN], [READ], [GOOD]], judge=nobody)
    options = {"action_verifier__fallback": fallback}
    with server(play) as worker:
        run = choose(tmp_path, worker, "--num-candidates", 3, "--action-verifier", kind, **options)
    assert run.ended.code == 0, run.ended.error
    assert run.acted == ["broken", "read", "final"]
    first = run.selections[0]
    assert (first.selected, first.decider) == (0, "fallback")
    assert (first.fallback, first.fallback_reason) == (fallback, "all_unreadable")
    (error,) = run.of(events.PolicyParseError)
    assert error.step == 1 and "missing_action" in error.codes
    assert observation(play.asked[1]) == run.load(error.reply)
    assert "Nor would I." not in json.dumps(play.prompts())


@pytest.mark.parametrize(("fallback", "acted"), [("first_candidate", "broken"), ("first_valid", "read")])
def test_after_a_verdict_that_says_nothing_the_configured_fallback_runs(
    tmp_path: Path, fallback: str, acted: str
) -> None:
    play = Play([[BROKEN, READ, NOTED], [READ], [GOOD]], judge=lambda body: NONSENSE)
    options = {"action_verifier__fallback": fallback}
    with server(play) as worker:
        run = choose(tmp_path, worker, "--num-candidates", 3, "--action-verifier", "llm", **options)
    assert run.acted[0] == acted
    first = run.selections[0]
    assert (first.fallback, first.fallback_reason) == (fallback, "no_verdict")
    assert first.parsed_index is None and json.loads(run.load(first.output)) == [NONSENSE]
    assert bool(run.of(events.PolicyParseError)) == (acted == "broken")


# What is kept of it


def extras(run: Chosen) -> list[dict[str, Any]]:
    """`extra` of each turn in the trajectory that was written as the run ended."""
    written = json.loads((run.work / "trajectory.traj.json").read_bytes())
    return [each["extra"] for each in written["messages"] if each["role"] == "assistant"]


@pytest.mark.parametrize("kind", JUDGES)
def test_the_trajectory_has_candidates_index_and_verifier_output_in_the_chosen_message(
    tmp_path: Path, kind: str
) -> None:
    with server(wants_to_read()) as worker:
        run = choose(tmp_path, worker, "--num-candidates", 3, "--action-verifier", kind)
    verifier = extras(run)[0]["verifier"]
    assert (verifier["enabled"], verifier["type"], verifier["selected_index"]) == (True, kind, 1)
    assert verifier["selection_index_base"] == 1
    assert [each["index"] for each in verifier["candidates"]] == [0, 1, 2]
    assert json.loads(verifier["candidates"][1]["action"])["tool"] == "read"
    output = verifier["verifier_output"]
    assert (output["verifier_type"], output["parsed_index"]) == (kind, 1)
    assert "FINAL: " in json.dumps(output)
    assert verifier["fallback_reason"] in ("", None) and verifier["timings"]["selection_s"] >= 0


def test_a_run_is_shown_and_replays_as_one_without_candidates(tmp_path: Path) -> None:
    with server(wants_to_read()) as worker:
        run = choose(tmp_path, worker, "--num-candidates", 3, "--action-verifier", "pairwise")
    candidates = vera_here("show", run.work, "--candidates", cwd=tmp_path)
    assert candidates.code == 0 and "chosen 2/3 (pairwise)" in candidates.out
    again = vera_here("show", run.work, "--request", 2, cwd=tmp_path)
    assert again.code == 0 and READ.thought in again.out and NOTED.thought not in again.out
    assert vera_here("replay", run.work, cwd=tmp_path).code == 0
    assert vera_here("rebuild", run.work, cwd=tmp_path).code == 0
