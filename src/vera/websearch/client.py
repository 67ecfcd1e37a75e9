"""One engine and what has become of it in this run: asks it in turn, waits, tries again, gives up."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

import msgspec

from vera import events
from vera.sandbox.egress.secrets import Secrets
from vera.sandbox.fetch.fetcher import Fetcher, FetchLimits
from vera.sandbox.fetch.receipt import Fetched, FetchError, Receipt
from vera.websearch import challenge, throttle
from vera.websearch.plain import text
from vera.websearch.values import (
    Ask,
    Cause,
    Engine,
    Found,
    Malformed,
    Outcome,
    Query,
    Unfit,
)

ATTEMPTS = 3
"""Requests for one search at most."""

TRIED_AGAIN = frozenset({500, 502, 503, 504})

LIMITS = FetchLimits(body=2 << 20, wire=2 << 20, redirects=0, silence=15.0, total=20.0, at_once=4)
"""Bounds of one request to an engine."""

EARLY_S = 0.01
"""A clock may end a wait a little too early; that much is no broken promise."""

_REASON_SHOWN = 300

_SECONDS = re.compile(r"\d{1,9}(?:\.\d{1,6})?")
_MAX_WINDOWS = 8


@dataclass(frozen=True, kw_only=True)
class Clock:
    """`monotonic` seconds for intervals, `wall` Unix time for records, and how to wait."""

    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """Results, the bytes that they were read from, and the receipt of how those came."""

    engine: str
    title: str
    query: Query
    parameters: tuple[tuple[str, str], ...]
    ignored: tuple[str, ...]
    found: Found
    fetched: Fetched


class Attempted(msgspec.Struct, frozen=True, kw_only=True):
    """The record of a call, and its answer when there is one."""

    call: events.Search
    answer: Answer | None = None


class _Problem(Exception):
    def __init__(self, outcome: Outcome, cause: Cause, reason: str) -> None:
        super().__init__(reason)
        self.outcome, self.cause, self.reason = outcome, cause, reason


@dataclass
class _Progress:
    waited: float = 0.0
    attempts: int = 0
    status: int | None = None


class EngineClient:
    """Shared by all lanes of a run, so that interval, breaker and budget hold for all of them together.

    `calls` were made before, and until `rests_until` (Unix time) it is left alone: a resumed run goes on.
    """

    def __init__(self, engine: Engine, clock: Clock, *, calls: int = 0, rests_until: float = 0.0) -> None:
        self.engine = engine
        self._clock = clock
        left = rests_until - clock.wall()
        self._state = throttle.State(calls=calls, open_until=clock.monotonic() + left if left > 0 else 0.0)

    @property
    def calls(self) -> int:
        return self._state.calls

    def stopped(self) -> throttle.Stop | None:
        """Why the engine would not be asked now; None when it would."""
        return throttle.stopped(self.engine.limits, self._state, self._clock.monotonic())

    def _rests(self) -> float:
        """For how many seconds the breaker stays open."""
        stop = self.stopped()
        return round(stop.seconds, 3) if stop else 0.0

    async def search(self, query: Query, fetcher: Fetcher, secrets: Secrets) -> Attempted:
        """Ask the engine. Foreseeable problems are records, never exceptions."""
        started, began = self._clock.wall(), self._clock.monotonic()
        progress = _Progress()
        answer: Answer | None = None
        outcome: Outcome = "ok"
        cause: Cause = ""
        reason = ""
        try:
            answer = await self._search(query, fetcher, secrets, progress)
        except _Problem as problem:
            outcome, cause, reason = problem.outcome, problem.cause, text(problem.reason, _REASON_SHOWN)
        else:
            outcome = "ok" if answer.found.hits else "empty"
        call = events.Search(
            engine=self.engine.name,
            kind=query.kind,
            query=query.text,
            outcome=outcome,
            cause=cause,
            http_status=progress.status,
            results=len(answer.found.hits) if answer else 0,
            waited_s=round(progress.waited, 3),
            attempts=progress.attempts,
            reason=reason,
            started=round(started, 6),
            seconds=round(self._clock.monotonic() - began, 6),
            urls=tuple(hit.url for hit in answer.found.hits) if answer else (),
            rest_s=self._rests(),
        )
        return Attempted(call=call, answer=answer)

    async def _search(self, query: Query, fetcher: Fetcher, secrets: Secrets, progress: _Progress) -> Answer:
        try:
            ask = self.engine.request(query)
        except Unfit as error:
            raise _Problem("skipped", "unfit", f"{self.engine.title} was not asked: {error}") from None
        while True:
            await self._turn(progress)
            fetched = await self._send(ask, fetcher, progress)
            put_off = self._note(fetched)
            await self._withhold(fetched, secrets)
            if not put_off:
                return self._read(ask, query, fetched)
            if challenge.is_challenge(fetched.receipt, fetched.body):
                raise self._challenged()
            if progress.attempts >= ATTEMPTS or self.stopped() is not None:
                raise self._given_up(fetched, progress)

    async def _turn(self, progress: _Progress) -> None:
        """Wait for the engine's next free moment and take it.

        An answer to another lane may open the breaker meanwhile, or ask for more quiet: then this call goes
        to the end of the queue.
        """
        while True:
            reserved = throttle.reserve(self.engine.limits, self._state, self._clock.monotonic())
            if isinstance(reserved, throttle.Stop):
                raise self._stop(reserved, progress)
            self._state, wait = reserved
            if wait > 0:
                await self._wait(wait, progress)
            now = self._clock.monotonic()
            if max(self._state.open_until, self._state.quiet_until) - now <= EARLY_S:
                break
            self._state = throttle.give_back(self._state)
        progress.attempts += 1

    async def _wait(self, seconds: float, progress: _Progress) -> None:
        try:
            await self._clock.sleep(seconds)
        except asyncio.CancelledError:
            self._state = throttle.give_back(self._state)
            raise
        progress.waited += seconds

    async def _send(self, ask: Ask, fetcher: Fetcher, progress: _Progress) -> Fetched:
        progress.status = None
        try:
            fetched = await fetcher.ask(ask.url, ask.fields)
        except FetchError as error:
            reason = str(error).replace(ask.url, self.engine.title)
            if error.kind == "refused":
                # Nothing was sent.
                self._state = throttle.give_back(self._state)
                progress.attempts -= 1
                raise _Problem("refused", "policy", reason) from None
            if error.kind == "over_budget":
                # The engine did answer.
                self._state = throttle.answered(self._state)
                raise _Problem("failed", "over_budget", reason) from None
            cause: Cause = "too_large" if error.kind == "too_large" else "network"
            limits, now = self.engine.limits, self._clock.monotonic()
            if error.kind == "timeout":
                # Each further one would be waited for as long.
                self._state = throttle.rested(limits, self._state, now)
            else:
                self._state = throttle.unavailable(limits, self._state, now, None)
            raise _Problem("failed", cause, reason) from None
        progress.status = fetched.receipt.status
        return fetched

    def _note(self, fetched: Fetched) -> bool:
        """Whether the engine could not answer now, which its state remembers."""
        status = fetched.receipt.status
        if status != 429 and status not in TRIED_AGAIN:
            self._state = throttle.answered(self._state)
            return False
        limits, now = self.engine.limits, self._clock.monotonic()
        wanted = retry_after(fetched.receipt, self._clock.wall())
        step = throttle.rejected if status == 429 else throttle.unavailable
        self._state = step(limits, self._state, now, wanted)
        return True

    async def _withhold(self, fetched: Fetched, secrets: Secrets) -> None:
        """Nothing is quoted or kept of an answer that repeats a key, of whatever status."""
        shown = [fetched.body.decode("utf-8", "replace"), *(value for _, value in fetched.receipt.headers)]
        # In a thread: 1 MB takes about 0.2 s, and other lanes go on meanwhile.
        if await asyncio.to_thread(secrets.found_in, *shown):
            reason = f"{self.engine.title}'s answer repeats a key of this run and is not kept"
            raise _Problem("failed", "secret", reason)

    def _read(self, ask: Ask, query: Query, fetched: Fetched) -> Answer:
        receipt, body, title = fetched.receipt, fetched.body, self.engine.title
        if challenge.is_challenge(receipt, body):
            raise self._challenged()
        if 300 <= receipt.status < 400:
            where = text(dict(receipt.headers).get("location", "nowhere"), 200)
            raise _Problem("failed", "redirect", f"{title} redirects to {where}, which is not followed")
        if receipt.status != 200:
            said = self.engine.explain(receipt.status, body)
            if receipt.status in (401, 402, 403):
                self._rest()
            reason = f"{title} answered HTTP {receipt.status}" + (f": {said}" if said else "")
            raise _Problem("refused" if receipt.status < 500 else "failed", "http", reason)
        try:
            found = self.engine.read(query, body)
        except Malformed as error:
            reason = str(error)
            if challenge.is_html(receipt, body):
                self._rest()
                said = self.engine.explain(receipt.status, body)
                reason = said or "it sent a web page instead of results"
            raise _Problem("failed", "format", f"{title}: {reason}") from None
        return Answer(
            engine=self.engine.name,
            title=title,
            query=query,
            parameters=ask.parameters,
            ignored=ask.ignored,
            found=found,
            fetched=fetched,
        )

    def _rest(self) -> None:
        """What another request would not change is not asked again before a cool-down."""
        self._state = throttle.rested(self.engine.limits, self._state, self._clock.monotonic())

    def _challenged(self) -> _Problem:
        self._rest()
        reason = f"{self.engine.title} sent a bot check (a challenge) instead of results"
        return _Problem("challenge", "http", reason)

    def _given_up(self, fetched: Fetched, progress: _Progress) -> _Problem:
        status, title = fetched.receipt.status, self.engine.title
        said = self.engine.explain(status, fetched.body)
        stop = self.stopped()
        times = f" to the last of {progress.attempts} requests" if progress.attempts > 1 else ""
        tail = f"; {_in_words(stop)}" if stop else ""
        reason = f"{title} answered HTTP {status}{f' ({said})' if said else ''}{times}{tail}"
        outcome: Outcome = "refused" if status == 429 else "failed"
        cause: Cause = stop.cause if stop else "http"
        return _Problem(outcome, cause, reason)

    def _stop(self, stop: throttle.Stop, progress: _Progress) -> _Problem:
        outcome: Outcome = "refused" if progress.attempts else "skipped"
        after = " after its last failure" if stop.cause == "circuit" else ""
        again = " again" if progress.attempts else ""
        reason = f"{self.engine.title} was not asked{again}: {_in_words(stop)}{after}"
        return _Problem(outcome, stop.cause, reason)


def _in_words(stop: throttle.Stop) -> str:
    if stop.cause == "budget":
        return "the calls that this run may make are spent"
    return f"it is left alone for {stop.seconds:.0f} s more"


def retry_after(receipt: Receipt, now: float) -> float | None:
    """Seconds by Retry-After (RFC 9110 section 10.2.3: seconds or a date), else by the windows of
    X-RateLimit-Remaining and X-RateLimit-Reset of which nothing is left. `now` is Unix time. None: it does
    not say.
    """
    headers = dict(receipt.headers)
    if said := headers.get("retry-after", "").strip():
        if _SECONDS.fullmatch(said):
            return float(said)
        try:
            return max(0.0, parsedate_to_datetime(said[:60]).timestamp() - now)
        except (ValueError, TypeError, OverflowError, IndexError):
            return None
    remaining, reset = (_numbers(headers.get(f"x-ratelimit-{name}", "")) for name in ("remaining", "reset"))
    waits = [wait for left, wait in zip(remaining, reset, strict=False) if left == 0]
    return max(waits, default=None)


def _numbers(text: str) -> list[float]:
    parts = [part.strip() for part in text[:200].split(",")[:_MAX_WINDOWS]]
    return [float(part) if _SECONDS.fullmatch(part) else -1.0 for part in parts]
