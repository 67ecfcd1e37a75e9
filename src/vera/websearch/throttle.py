"""When an engine may be asked: the least interval, doubling back-off, circuit breaker and budget.

A pure state machine over an injected clock (seconds that only grow). `reserve` comes before each request
and takes its place in the queue, so that calls of several lanes keep the interval too; one of `answered`,
`unavailable` and `rejected` follows its answer.

The breaker (Nygard, Release It!, 2007) opens after `max_consec_429` answers 429 in a row. When its cool-down
is over, requests pass again, and the first 429 among them opens it again.
"""

from typing import Literal

import msgspec

FIRST_BACKOFF_S = 1.0
"""The first back-off, where the interval is not longer; each further one is twice as long."""


class SearchLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds and counts; `max_calls` 0 is unlimited."""

    min_interval_s: float = 1.0
    backoff_max_s: float = 10.0
    cooldown_s: float = 60.0
    max_consec_429: int = 2
    max_calls: int = 0


class State(msgspec.Struct, frozen=True, kw_only=True):
    """`calls` were reserved and not given back; the next place in the queue is at `next_at`.

    No request is sent before `quiet_until` (back-off) and none before `open_until` (breaker), also none that
    had its place before. `backoff_s` is the last back-off (0: the last answer was a good one), `rejected`
    counts the answers 429 in a row.
    """

    calls: int = 0
    next_at: float = 0.0
    quiet_until: float = 0.0
    open_until: float = 0.0
    backoff_s: float = 0.0
    rejected: int = 0


class Stop(msgspec.Struct, frozen=True):
    """No request now: the budget is spent, or the breaker is open for `seconds` more."""

    cause: Literal["budget", "circuit"]
    seconds: float = 0.0


def stopped(limits: SearchLimits, state: State, now: float) -> Stop | None:
    """Why no request may be made now; None when one may, perhaps after a wait."""
    if limits.max_calls and state.calls >= limits.max_calls:
        return Stop("budget")
    if now < state.open_until:
        return Stop("circuit", state.open_until - now)
    return None


def reserve(limits: SearchLimits, state: State, now: float) -> tuple[State, float] | Stop:
    """The state with one more call in it, and the seconds to wait before the request is sent."""
    if stop := stopped(limits, state, now):
        return stop
    at = max(now, state.next_at, state.quiet_until)
    taken = msgspec.structs.replace(state, calls=state.calls + 1, next_at=at + limits.min_interval_s)
    return taken, at - now


def give_back(state: State) -> State:
    """The reserved request was never sent."""
    return msgspec.structs.replace(state, calls=max(0, state.calls - 1))


def answered(state: State) -> State:
    """An answer that is no complaint."""
    return msgspec.structs.replace(state, backoff_s=0.0, rejected=0)


def unavailable(limits: SearchLimits, state: State, now: float, retry_after: float | None) -> State:
    """The server could not answer (5xx): back off. The 429s are no longer in a row."""
    return _back_off(limits, msgspec.structs.replace(state, rejected=0), now, retry_after)


def rejected(limits: SearchLimits, state: State, now: float, retry_after: float | None) -> State:
    """The answer was 429: back off, and open the breaker when it was one too many."""
    state = _back_off(limits, msgspec.structs.replace(state, rejected=state.rejected + 1), now, retry_after)
    return rested(limits, state, now) if state.rejected >= limits.max_consec_429 else state


def rested(limits: SearchLimits, state: State, now: float) -> State:
    """Leave the engine alone for a cool-down, for a reason that another request will not change."""
    return msgspec.structs.replace(state, open_until=max(state.open_until, now + limits.cooldown_s))


def _back_off(limits: SearchLimits, state: State, now: float, retry_after: float | None) -> State:
    """Twice the last back-off, or what the server asks for where that is more.

    What is longer than `backoff_max_s` is not waited for: the breaker opens, for `cooldown_s` at most.
    """
    first = max(limits.min_interval_s, FIRST_BACKOFF_S)
    backoff = min(limits.backoff_max_s, 2 * state.backoff_s or first)
    asked = max(0.0, retry_after or 0.0)
    state = msgspec.structs.replace(state, backoff_s=backoff)
    if asked > limits.backoff_max_s:
        longest = max(limits.cooldown_s, limits.backoff_max_s)
        return msgspec.structs.replace(state, open_until=max(state.open_until, now + min(asked, longest)))
    return msgspec.structs.replace(state, quiet_until=max(state.quiet_until, now + max(backoff, asked)))
