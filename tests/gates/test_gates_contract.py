"""The epistemic contract: constraints come and go one by one, and a state follows from what happened."""

import msgspec
import pytest

from support.gating import FAILED, NOTHING_NEW, Outcome, Trial, rules_for
from vera import events
from vera.gates import contract
from vera.gates.kernel import Rules, State
from vera.state import LaneState


def state(status: str) -> State:
    return State(lane=LaneState(name="main", status=status))


def test_ids_that_name_nothing_are_one_constraint_that_names_them_and_goes_when_mended() -> None:
    known = {"ev_0001", "ev_0002"}
    assert contract.unknown_ids(["ev_0001", "ev_0002"], known) == ""
    assert contract.unknown_ids([], set()) == "", "before there is evidence none can be named"
    said = contract.unknown_ids(["ev_0001", "ev_0009", "ev_0009", "source"], known)
    assert "ev_0009, source:" in said and "ev_0001" not in said


def test_many_or_long_unknown_ids_stay_one_short_constraint() -> None:
    assert len(contract.unknown_ids([f"ev_{n}" + "x" * 10_000 for n in range(1000)], ())) < 600


def test_a_refused_call_gives_no_id() -> None:
    trial = Trial(rules_for(brave=True))
    assert trial.fetch("https://apple.com")
    assert not trial.memory.state.evidence


def test_what_a_negative_claim_needs_is_added_and_resolved_one_by_one() -> None:
    trial = Trial(rules_for(), negative=True)
    assert set(trial.open_constraints()) == {"official_sources", "independent_sources", "search_intents"}
    trial.fetch("https://www.apple.com/a")
    assert "1 more official domain " in trial.open_constraints()["official_sources"]
    trial.fetch("https://reuters.com/a")
    assert set(trial.open_constraints()) == {"official_sources"}
    trial.fetch("https://sec.gov/a")
    assert not trial.open_constraints()
    resolved = [each.key for each in trial.memory.records if isinstance(each, events.ConstraintResolved)]
    assert sorted(resolved) == ["independent_sources", "official_sources", "search_intents"]


def test_any_other_question_and_one_over_a_folder_need_none() -> None:
    assert not Trial(rules_for()).open_constraints()
    assert not Trial(rules_for(web_task=False), negative=True).open_constraints()


@pytest.mark.parametrize(
    ("said", "after"),
    [
        ("UNRESOLVED: nothing found", ("UNRESOLVED", "nothing found")),
        ("UNRESOLVED(nothing found)", ("UNRESOLVED", "nothing found")),
        ("unresolved", ("UNRESOLVED", "by the agent's own account")),
        ("BLOCKED - the site is down", ("BLOCKED", "the site is down")),
        ("IN_PROGRESS", None),
        ("VERIFIED", None),
        ("NOT VERIFIED", None),
        ("UNRESOLVEDLY", None),
        ("", None),
    ],
)
def test_a_model_says_how_far_it_is_and_never_that_it_is_verified(
    said: str, after: tuple[str, str] | None
) -> None:
    assert contract.after_turn(state("IN_PROGRESS"), said) == after


@pytest.mark.parametrize("said", ["IN_PROGRESS", "BLOCKED: x", "UNRESOLVED: again"])
def test_an_unresolved_question_stays_so_until_something_new_is_found(said: str) -> None:
    assert contract.after_turn(state("UNRESOLVED"), said) is None


def test_what_is_blocked_stays_so_until_a_call_works_whatever_the_agent_says() -> None:
    assert contract.after_turn(state("BLOCKED"), "IN_PROGRESS") is None


def test_the_word_of_a_model_is_bounded() -> None:
    after = contract.after_turn(state("IN_PROGRESS"), "BLOCKED: " + "x " * 1_000_000)
    assert after is not None and len(after[1]) <= 300


MOVE = events.Move(id="mv_0001", step=1, tool="fetch")


@pytest.mark.parametrize(
    ("now", "changes", "after"),
    [
        ("IN_PROGRESS", {"outcome": "failed", "failure_type": "http_404"}, "BLOCKED"),
        ("IN_PROGRESS", {"outcome": "failed", "tool": "shell"}, None),
        ("IN_PROGRESS", {"fresh": True}, None),
        ("BLOCKED", {"outcome": "ok"}, "IN_PROGRESS"),
        ("BLOCKED", {"outcome": "ok", "tool": "note"}, None),
        ("BLOCKED", {"outcome": "blocked"}, None),
        ("UNRESOLVED", {"outcome": "ok"}, None),
        ("UNRESOLVED", {"outcome": "failed"}, None),
        ("UNRESOLVED", {"fresh": True}, "IN_PROGRESS"),
    ],
)
def test_the_state_after_a_call(now: str, changes: dict[str, object], after: str | None) -> None:
    change = contract.after_call(state(now), msgspec.structs.replace(MOVE, **changes), "ev_0001", Rules())
    assert (change and change[0]) == after


def test_missing_evidence_fails_nothing_and_each_transition_is_logged() -> None:
    trial = Trial(rules_for())
    trial.fetch("https://apple.com/a", FAILED)
    trial.call("read", {"path": "x"}, NOTHING_NEW)
    trial.call("read", {"path": "x"}, NOTHING_NEW, status="UNRESOLVED: nothing there")
    trial.fetch("https://sec.gov/a", Outcome())
    logged = [each.status for each in trial.memory.records if isinstance(each, events.Status)]
    assert logged == ["BLOCKED", "IN_PROGRESS", "UNRESOLVED", "IN_PROGRESS"]
