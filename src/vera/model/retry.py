"""When a failed request is tried again, and after how long."""

import random
from collections.abc import Awaitable, Callable
from email.utils import parsedate_to_datetime
from time import time
from typing import TypeVar

import msgspec

from vera.model.failure import Failure

T = TypeVar("T")


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """At most `attempts` in all, of which after a time-out `after_timeout`; pauses in seconds.

    The pause doubles from `first_s` to `most_s` and is shortened by up to a quarter at random, so that
    clients that failed together do not come back together. A server's Retry-After counts as it is.
    """

    attempts: int = 5
    after_timeout: int = 1
    first_s: float = 1.0
    most_s: float = 20.0

    def pause(self, failure: Failure, attempt: int, timeouts: int, chance: float) -> float | None:
        """Seconds until the next attempt, or None when there is none.

        `attempt` counts from 1 those made, `timeouts` those of them that timed out; `chance` is in [0, 1).
        """
        if not failure.retry or attempt >= self.attempts:
            return None
        if failure.timed_out and timeouts > self.after_timeout:
            return None
        if failure.retry_after_s is not None:
            return failure.retry_after_s
        return min(self.first_s * 2.0 ** (attempt - 1), self.most_s) * (1 - chance / 4)


def retry_after(header: str | None, now: float | None = None) -> float | None:
    """Seconds that a Retry-After header asks for (RFC 9110, 10.2.3: seconds, or a date); None if unclear."""
    if not header:
        return None
    header = header.strip()[:64]
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - (time() if now is None else now)
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if seconds < float("inf") else None


async def with_retries(
    attempt: Callable[[], Awaitable[T]],
    policy: RetryPolicy,
    *,
    deadline: float,
    clock: Callable[[], float],
    sleep: Callable[[float], Awaitable[None]],
) -> tuple[T, int]:
    """(result, attempts made). `deadline` is on `clock`, and no pause is begun that would pass it.

    Raises the last Failure; its `attempts` is the number made.
    """
    made = timeouts = 0
    while True:
        made += 1
        try:
            return await attempt(), made
        except Failure as failure:
            timeouts += failure.timed_out
            failure.attempts = made
            pause = policy.pause(failure, made, timeouts, random.random())
            if pause is None or clock() + pause >= deadline:
                raise
        await sleep(pause)
