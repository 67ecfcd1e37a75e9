"""`policy_assert_first`: files stay as they are until the theses that have to hold are SUPPORTED."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera import events
from vera.evidence.moves import CallIntent
from vera.gates.assert_first import ANY_THESIS, judge, missing
from vera.gates.kernel import (
    ALLOW,
    Action,
    FinalAnswer,
    Nudge,
    Observed,
    Refuse,
    Required,
    Rules,
    State,
    ToolCall,
    ask,
    refusal,
)
from vera.gates.registry import EXECUTE_GATES
from vera.state import LaneState

NOW = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
OFFER = Required("sha256:" + "a" * 64, "The offer is valid for three years")
FEE = Required("sha256:" + "b" * 64, "The licence asks for no fee")
TOOLS = ("verify", "read", "shell", "note", "submit")


def received(
    thesis: Required = OFFER, result: str = "SUPPORTED", expires_at: str = ""
) -> events.AttestationReceived:
    return events.AttestationReceived(
        handle="att_0001",
        attestation="sha256:" + "c" * 64,
        thesis_id=thesis.thesis_id,
        request="sha256:" + "d" * 64,
        result=result,
        reason="",
        expires_at=expires_at,
        envelope=events.Blob("e" * 64, 1),
        keyid="f" * 64,
        session="theses/0001",
    )


def state(*attestations: events.AttestationReceived) -> State:
    return State(
        lane=LaneState(name="main"),
        attestations={f"att_{number:04d}": each for number, each in enumerate(attestations, 1)},
    )


def call(tool: str) -> ToolCall:
    return ToolCall(ts=NOW, step=1, tool=tool, aim=CallIntent(tool, (), "", "", ""))


def rules(*required: Required, one: bool = False, locked: bool = True) -> Rules:
    return Rules(tools=TOOLS, required=required, one_required=one, work_locked=locked)


def test_without_a_required_thesis_it_says_nothing() -> None:
    assert judge(state(), call("submit"), rules()) is ALLOW


def test_handing_in_waits_for_every_required_thesis() -> None:
    both = rules(OFFER, FEE)
    refused = judge(state(received(OFFER)), call("submit"), both)
    assert isinstance(refused, Refuse)
    assert FEE.text in refused.reason
    assert (refused.proposal.tool, refused.proposal.args) == ("verify", {"thesis": FEE.text})
    assert judge(state(received(OFFER), received(FEE)), call("submit"), both) is ALLOW


@pytest.mark.parametrize("result", ["UNSUPPORTED", "DISPUTED", "INCONCLUSIVE", "supported", ""])
def test_no_other_result_than_supported_opens(result: str) -> None:
    assert missing(rules(OFFER), [received(result=result)], NOW) == [OFFER.text]


@pytest.mark.parametrize("expires_at", ["2026-01-01T00:00:00Z", "2025-06-01T00:00:00Z", "soon", "9" * 40])
def test_what_has_expired_or_ends_at_no_time_opens_nothing(expires_at: str) -> None:
    assert missing(rules(OFFER), [received(expires_at=expires_at)], NOW) == [OFFER.text]


def test_what_still_stands_opens() -> None:
    assert missing(rules(OFFER), [received(expires_at="2026-01-01T00:00:01Z")], NOW) == []


def test_a_command_may_run_where_the_box_itself_cannot_write_and_else_not() -> None:
    assert judge(state(), call("shell"), rules(OFFER)) is ALLOW
    assert isinstance(judge(state(), call("shell"), rules(OFFER, locked=False)), Refuse)


def test_it_stands_open_as_a_constraint_until_it_is_met() -> None:
    observed = Observed(ts=NOW, step=1, tool="shell")
    told = judge(state(), observed, rules(OFFER))
    assert isinstance(told, Nudge)
    assert told.constraint
    assert judge(state(received()), observed, rules(OFFER)) is ALLOW


def test_where_one_is_required_any_supported_thesis_will_do() -> None:
    assert missing(rules(one=True), [], NOW) == [ANY_THESIS]
    assert missing(rules(one=True), [received(FEE)], NOW) == []


ATTESTATIONS = st.lists(
    st.builds(
        received,
        st.sampled_from([OFFER, FEE]),
        st.sampled_from(["SUPPORTED", "UNSUPPORTED", "DISPUTED", "INCONCLUSIVE"]),
        st.sampled_from(["", "2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z"]),
    ),
    max_size=4,
)


@given(
    ATTESTATIONS,
    st.lists(st.sampled_from([OFFER, FEE]), max_size=2, unique=True),
    st.booleans(),
    st.booleans(),
)
def test_asking_and_answering_are_allowed_in_every_state(
    attestations: list[events.AttestationReceived], required: list[Required], one: bool, locked: bool
) -> None:
    limits = rules(*required, one=one, locked=locked)
    actions: list[Action] = [call("verify"), call("read"), FinalAnswer(ts=NOW, step=1)]
    for action in actions:
        assert refusal(ask(EXECUTE_GATES, state(*attestations), action, limits)) is None
