"""The throttle as a state machine: interval, doubling back-off, Retry-After, breaker and budget."""

from typing import Literal

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from vera.websearch import throttle
from vera.websearch.throttle import SearchLimits, State, Stop

LIMITS = SearchLimits(min_interval_s=1.05, backoff_max_s=10, cooldown_s=60, max_consec_429=2)

limits = st.builds(
    SearchLimits,
    min_interval_s=st.floats(0, 5),
    backoff_max_s=st.floats(0, 30),
    cooldown_s=st.floats(0, 120),
    max_consec_429=st.integers(1, 5),
    max_calls=st.integers(0, 8),
)
Said = Literal["ok", "429", "503", "unsent"]
steps = st.lists(
    st.tuples(
        st.floats(0, 100),
        st.sampled_from(["ok", "429", "503", "unsent"]),
        st.none() | st.floats(0, 10_000),
    ),
    max_size=40,
)


def after(set_to: SearchLimits, state: State, now: float, said: Said, wanted: float | None) -> State:
    match said:
        case "ok":
            return throttle.answered(state)
        case "429":
            return throttle.rejected(set_to, state, now, wanted)
        case "503":
            return throttle.unavailable(set_to, state, now, wanted)
        case "unsent":
            return throttle.give_back(state)


@given(limits, steps)
def test_whatever_is_answered_requests_keep_interval_budget_and_breaker(
    set_to: SearchLimits, script: list[tuple[float, Said, float | None]]
) -> None:
    state, now, sent, last = State(), 0.0, 0, None
    in_a_row, opened_at = 0, None
    for pause, said, wanted in script:
        now += pause
        reserved = throttle.reserve(set_to, state, now)
        if isinstance(reserved, Stop):
            spent = set_to.max_calls > 0 and sent >= set_to.max_calls
            assert (reserved.cause == "budget") == spent
            if reserved.cause == "circuit":
                assert 0 < reserved.seconds <= max(set_to.cooldown_s, set_to.backoff_max_s) + 1e-6
            continue
        state, wait = reserved
        longest = max(set_to.backoff_max_s, set_to.min_interval_s)
        assert 0 <= wait <= longest + 1e-6
        now += wait
        if last is not None:
            assert now - last >= set_to.min_interval_s - 1e-6
        last = now
        if opened_at is not None:
            assert now >= opened_at + set_to.cooldown_s - 1e-6
        sent += said != "unsent"
        in_a_row = in_a_row + 1 if said == "429" else in_a_row if said == "unsent" else 0
        opened_at = now if said == "429" and in_a_row >= set_to.max_consec_429 else None
        state = after(set_to, state, now, said, wanted)
        assert state.calls == sent
        assert set_to.max_calls == 0 or sent <= set_to.max_calls


def test_back_off_doubles_up_to_its_bound_and_is_forgotten_by_an_answer() -> None:
    state, backoffs = State(), []
    for _ in range(6):
        state = throttle.unavailable(LIMITS, state, 0.0, None)
        backoffs.append(state.backoff_s)
    assert backoffs == [1.05, 2.1, 4.2, 8.4, 10, 10]
    assert throttle.unavailable(LIMITS, throttle.answered(state), 0.0, None).backoff_s == 1.05


def test_a_short_retry_after_is_waited_for_and_a_long_one_opens_the_breaker() -> None:
    short = throttle.rejected(LIMITS, State(), 100.0, 7.0)
    assert (short.quiet_until, short.open_until) == (107.0, 0.0)
    long = throttle.rejected(LIMITS, State(), 100.0, 30.0)
    assert long.open_until == 130.0
    endless = throttle.rejected(LIMITS, State(), 100.0, 1e9)
    assert endless.open_until == 160.0


def test_a_server_error_between_them_means_that_429s_are_not_in_a_row() -> None:
    state = throttle.rejected(LIMITS, State(), 0.0, None)
    state = throttle.unavailable(LIMITS, state, 10.0, None)
    state = throttle.rejected(LIMITS, state, 20.0, None)
    assert throttle.stopped(LIMITS, state, 21.0) is None


def test_the_breaker_lets_one_through_after_its_cool_down_and_closes_on_its_429() -> None:
    state = throttle.rejected(LIMITS, throttle.rejected(LIMITS, State(), 0.0, None), 2.0, None)
    assert throttle.stopped(LIMITS, state, 61.9) == Stop("circuit", 62.0 - 61.9)
    assert throttle.stopped(LIMITS, state, 62.0) is None
    again = throttle.rejected(LIMITS, state, 62.0, None)
    assert again.open_until == 122.0
    good = throttle.rejected(LIMITS, throttle.answered(state), 62.0, None)
    assert throttle.stopped(LIMITS, good, 62.1) is None


def test_calls_of_several_lanes_at_one_moment_queue_up() -> None:
    state, waits = State(), []
    for _ in range(3):
        reserved = throttle.reserve(LIMITS, state, 5.0)
        assert not isinstance(reserved, Stop)
        state, wait = reserved
        waits.append(round(wait, 6))
    assert waits == [0.0, 1.05, 2.1]


def test_a_budget_of_zero_has_no_end() -> None:
    state = State(calls=10**6)
    assert throttle.stopped(LIMITS, state, 0.0) is None
    assert throttle.stopped(msgspec.structs.replace(LIMITS, max_calls=1), state, 0.0) == Stop("budget")
