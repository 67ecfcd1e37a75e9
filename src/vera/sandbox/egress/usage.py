"""How much one box has sent and received, against its limits."""

from collections import Counter

from vera.sandbox.egress.types import EgressLimits, RefusedError

MAX_HOSTS = 4096
"""Hosts that are counted apart; all others share one count."""


class Usage:
    """Bytes of all connections of a box, concurrent ones included."""

    def __init__(self, limits: EgressLimits) -> None:
        self._limits = limits
        self._uploaded: Counter[str] = Counter()
        self._total_up = 0
        self._total_down = 0

    @property
    def sent(self) -> int:
        """Bytes to all hosts."""
        return self._total_up

    def upload(self, host: str, size: int) -> None:
        """Count bytes before they are sent. Raises RefusedError, counting nothing, if too many."""
        counted = host if host in self._uploaded or len(self._uploaded) < MAX_HOSTS else ""
        if self._uploaded[counted] + size > self._limits.uploaded_to_host:
            raise RefusedError(
                f"this sandbox may send at most {self._limits.uploaded_to_host} bytes to {host or 'one host'}"
            )
        if self._total_up + size > self._limits.uploaded:
            raise RefusedError(f"this sandbox may send at most {self._limits.uploaded} bytes in all")
        self._uploaded[counted] += size
        self._total_up += size

    def download(self, size: int) -> None:
        """Count received bytes. Raises RefusedError when they are too many."""
        self._total_down += size
        if self._total_down > self._limits.downloaded:
            raise RefusedError(f"this sandbox may receive at most {self._limits.downloaded} bytes in all")
