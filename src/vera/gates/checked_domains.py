"""What was checked, by domain and time, in words."""

from datetime import UTC, datetime

from vera.gates.kernel import State

LISTED = 20


def checked(state: State, *, official: bool) -> str:
    """The domains of one kind that answered with content, each with the time of its first answer (UTC)."""
    found = [each for each in state.lane.history.reached if each.target.official == official]
    shown = [
        f"{each.target.domain} ({datetime.fromtimestamp(each.first_ts, UTC):%Y-%m-%d %H:%M} UTC)"
        for each in found[:LISTED]
    ]
    more = f" and {len(found) - LISTED} more" if len(found) > LISTED else ""
    return ", ".join(shown) + more if shown else "none"
