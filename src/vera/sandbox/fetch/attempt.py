"""One connection of a fetch on its way to a record."""

import time

from vera.sandbox.egress.authority import Url
from vera.sandbox.egress.types import Connection, Verdict
from vera.sandbox.fetch.exchange import Exchange


class Attempt:
    """What is known of it so far; `secret` when its URL holds one and must not be repeated."""

    def __init__(self, url: Url) -> None:
        self._url = url
        self._started = time.time()
        self._began = time.monotonic()
        self.exchange: Exchange | None = None
        self.address = ""
        self.verdict: Verdict = "failed"
        self.reason = "it was given up"
        self.secret = False

    @property
    def shown(self) -> str:
        return "The URL" if self.secret else str(self._url)

    def close(self) -> None:
        if self.exchange is not None:
            self.exchange.close()

    def record(self) -> Connection:
        return Connection(
            host="" if self.secret else self._url.authority.host,
            port=self._url.authority.port,
            method="GET",
            url="" if self.secret else str(self._url),
            address=self.address,
            verdict=self.verdict,
            reason=self.reason,
            bytes_up=self.exchange.bytes_up if self.exchange else 0,
            bytes_down=self.exchange.bytes_down if self.exchange else 0,
            seconds=time.monotonic() - self._began,
            started=self._started,
        )
