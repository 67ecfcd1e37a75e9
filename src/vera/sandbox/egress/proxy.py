"""The HTTP proxy of one box, spoken over any pair of byte streams (RFC 9110 section 7, RFC 9112).

A client connection carries one request: a CONNECT tunnel for TLS, or a plain one. Both are judged by one
reading of their authority; the name is looked up here, and a checked address is dialled.
"""

import asyncio
from collections.abc import Callable

from vera.sandbox.egress.dial import Dialer
from vera.sandbox.egress.exchange import Exchange, FetchService, PageTap, Sink, Terms
from vera.sandbox.egress.secrets import Secrets
from vera.sandbox.egress.types import Connection, EgressLimits, Policy, RefusedError
from vera.sandbox.egress.usage import Usage


class EgressProxy:
    """The way out of one box, with that box's bounds. `log` gets one record for each connection.

    `secrets` must be in no URL and no header. `fetch` serves the box's command of that name. `tap` looks
    on while pages pass. Records of requests beyond `limits.requests` are left out, but for the first.
    """

    def __init__(
        self,
        policy: Policy,
        dialer: Dialer,
        *,
        secrets: Secrets | None = None,
        limits: EgressLimits | None = None,
        fetch: FetchService | None = None,
        tap: PageTap | None = None,
        log: Callable[[Connection], object] | None = None,
    ) -> None:
        self.limits = limits or EgressLimits()
        self.usage = Usage(self.limits)
        self._terms = Terms(
            policy=policy,
            dialer=dialer,
            secrets=secrets or Secrets(),
            limits=self.limits,
            usage=self.usage,
            fetch=fetch,
            tap=tap,
        )
        self._log = log or (lambda connection: None)
        self._open = 0
        self._served = 0

    async def serve(self, reader: asyncio.StreamReader, writer: Sink) -> None:
        """Serve one connection and close it. Raises nothing but what cancels it."""
        exchange = Exchange(self._terms, reader, writer)
        self._open += 1
        self._served += 1
        is_recorded = self._served <= self.limits.requests + 1
        try:
            await exchange.run(self._objection())
        finally:
            self._open -= 1
            writer.close()
            record = exchange.record()
            if is_recorded and record is not None:
                self._log(record)

    def _objection(self) -> RefusedError | None:
        if self._served > self.limits.requests:
            return RefusedError(f"this sandbox has made its {self.limits.requests} requests", status=429)
        if self._open > self.limits.connections:
            return RefusedError(
                f"this sandbox has {self.limits.connections} connections open, as many as it may", status=503
            )
        return None
