"""Times of a log as a calendar has them."""

from datetime import UTC, datetime

_LAST = 253_402_300_799.0
"""The last second of the year 9999."""


def utc(ts: float) -> datetime:
    """Unix time as a moment in UTC; the nearest that there is, since a log may come from anyone."""
    return datetime.fromtimestamp(min(max(0.0, ts), _LAST), UTC)
