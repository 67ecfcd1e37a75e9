"""When a request is tried again, and after how long."""

import pytest

from vera.model.failure import Failure, is_transient
from vera.model.retry import RetryPolicy, retry_after

POLICY = RetryPolicy(attempts=5, after_timeout=1, first_s=1.0, most_s=6.0)
TRANSIENT = Failure("x", retry=True)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_these_statuses_are_worth_another_attempt(status: int) -> None:
    assert is_transient(status)


@pytest.mark.parametrize("status", [200, 301, 400, 401, 403, 404, 413, 422, 600])
def test_other_statuses_are_not(status: int) -> None:
    assert not is_transient(status)


def test_pauses_double_up_to_their_limit() -> None:
    assert [POLICY.pause(TRANSIENT, attempt, 0, 0.0) for attempt in (1, 2, 3, 4)] == [1.0, 2.0, 4.0, 6.0]


def test_chance_shortens_a_pause_by_up_to_a_quarter() -> None:
    assert POLICY.pause(TRANSIENT, 2, 0, 1.0) == 1.5


def test_the_last_attempt_has_no_successor() -> None:
    assert POLICY.pause(TRANSIENT, 5, 0, 0.0) is None


def test_what_is_not_transient_is_not_tried_again() -> None:
    assert POLICY.pause(Failure("x"), 1, 0, 0.0) is None


def test_a_time_out_is_tried_again_once() -> None:
    timed_out = Failure("x", retry=True, timed_out=True)
    assert POLICY.pause(timed_out, 1, 1, 0.0) == 1.0
    assert POLICY.pause(timed_out, 2, 2, 0.0) is None


def test_retry_after_counts_as_it_is() -> None:
    assert POLICY.pause(Failure("x", retry=True, retry_after_s=33.0), 1, 0, 0.9) == 33.0


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 10.0),
        ("soon", None),
        ("inf", None),
        ("nan", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, now=784111767.0) == seconds
