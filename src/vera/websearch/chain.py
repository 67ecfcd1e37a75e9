"""Search that degrades honestly: one engine after another until one answers, and a record of each."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from vera import events
from vera.sandbox.egress.secrets import Secrets
from vera.sandbox.fetch.fetcher import Fetcher
from vera.websearch.client import Answer, Clock, EngineClient
from vera.websearch.throttle import Stop
from vera.websearch.values import Engine, Kind, Query


class Searched(msgspec.Struct, frozen=True, kw_only=True):
    """The first answer, with or without results, and the record of each engine that was tried for it.

    `answer` is None when no engine answered; `calls` is then empty only when none was to be asked.
    """

    answer: Answer | None
    calls: tuple[events.Search, ...]


class Engines:
    """The engines of a run in the order in which they are asked, each with what has become of it.

    Of a resumed run, `calls` says by name how many requests an engine had before, and `rests_until` until
    when (Unix time) it is left alone.
    """

    def __init__(
        self,
        engines: Sequence[Engine],
        *,
        clock: Clock | None = None,
        calls: Mapping[str, int] | None = None,
        rests_until: Mapping[str, float] | None = None,
    ) -> None:
        self.clock = clock or Clock()
        before, rests = calls or {}, rests_until or {}
        self._clients = {
            each.name: EngineClient(
                each,
                self.clock,
                calls=before.get(each.name, 0),
                rests_until=rests.get(each.name, 0.0),
            )
            for each in engines
        }

    def names(self, kind: Kind | None = None) -> tuple[str, ...]:
        """The engines that search this kind (None: any), in order."""
        return tuple(
            name for name, each in self._clients.items() if kind is None or kind in each.engine.kinds
        )

    def kinds(self, name: str) -> tuple[Kind, ...]:
        """What an engine searches; empty for one that there is not."""
        return self._clients[name].engine.kinds if name in self._clients else ()

    def stopped(self, name: str) -> Stop | None:
        """Why an engine would not be asked now (budget or breaker); None when it would."""
        return self._clients[name].stopped() if name in self._clients else None

    def client(self, name: str) -> EngineClient:
        return self._clients[name]


class WebSearch:
    """The engines as one lane asks them.

    `fetcher` reaches the web under the run's egress policy, `own` by name the engines that a person put where
    that policy does not lead. `log` gets the record of each call. `secrets` are the keys of the run: a query
    that holds one is not sent, an answer that repeats one is not kept.
    """

    def __init__(
        self,
        engines: Engines,
        fetcher: Fetcher,
        *,
        log: Callable[[events.Search], object],
        secrets: Secrets | None = None,
        own: Mapping[str, Fetcher] | None = None,
    ) -> None:
        self.engines = engines
        self._fetcher = fetcher
        self._own = own or {}
        self._log = log
        self._secrets = secrets or Secrets()

    async def search(self, query: Query, names: Sequence[str]) -> Searched:
        """Ask these engines in turn until one answers; one that finds nothing has answered."""
        if self._secrets.found_in(query.text):
            return self._withheld(query)
        calls: list[events.Search] = []
        for name in names:
            fetcher = self._own.get(name, self._fetcher)
            attempted = await self.engines.client(name).search(query, fetcher, self._secrets)
            self._log(attempted.call)
            calls.append(attempted.call)
            if attempted.answer is not None:
                return Searched(answer=attempted.answer, calls=tuple(calls))
        return Searched(answer=None, calls=tuple(calls))

    def _withheld(self, query: Query) -> Searched:
        call = events.Search(
            engine="",
            kind=query.kind,
            query="",
            outcome="skipped",
            cause="secret",
            reason="The query holds a key or password of this run, and was not sent",
            started=round(self.engines.clock.wall(), 6),
            seconds=0.0,
        )
        self._log(call)
        return Searched(answer=None, calls=(call,))
