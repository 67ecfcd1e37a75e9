"""How many tasks may run at one endpoint: additive increase, multiplicative decrease (Chiu and Jain, 1989).

The number of running tasks adapts, not the requests within a task, whose client backs off by itself. A model
call that the endpoint pushed back (it had to be made again: HTTP 429, 408 or 5xx, a connection that broke)
halves the number, once in COOLDOWN_SECONDS, as tasks that were pushed back together are one sign; each task
that ended without such a sign adds its share of one. Nothing that runs is stopped for it.
"""

COOLDOWN_SECONDS = 15.0
DECREASE = 0.5


class Pace:
    """The allowance of one endpoint: at first `most`, never more, never less than one."""

    def __init__(self, most: int) -> None:
        self._most = float(max(1, most))
        self._allowed = self._most
        self._cut_at: float | None = None

    @property
    def allowed(self) -> int:
        """How many tasks may run now."""
        return int(self._allowed)

    def pushed_back(self, now: float) -> bool:
        """A call was pushed back at `now` (seconds on any steady clock); whether that changed the pace."""
        if self._cut_at is not None and now - self._cut_at < COOLDOWN_SECONDS:
            return False
        self._cut_at = now
        before = self.allowed
        self._allowed = max(1.0, self._allowed * DECREASE)
        return self.allowed != before

    def went_well(self) -> None:
        """A task has ended and no call of it was pushed back."""
        self._allowed = min(self._most, self._allowed + 1.0 / self._allowed)
