"""Brave over its real wire format on loopback: requests, waits and refusals, on a clock that stands still."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import date
from typing import Any

import pytest

from support.fake_brave import (
    KEY,
    FakeBrave,
    as_json,
    error,
    fake_brave,
    news_answer,
    news_result,
    too_many,
    web_answer,
    web_result,
)
from support.fake_engines import page
from support.fake_web import FakeClock, FakeWeb, Reply, fake_web, fetcher_to
from vera import events
from vera.sandbox.egress.secrets import Secrets
from vera.sandbox.egress.types import Connection
from vera.websearch import Engines, Kind, Query, Searched, SearchLimits, WebSearch
from vera.websearch.brave import Brave

TODAY = date(2027, 1, 15)
LIMITS = SearchLimits(min_interval_s=1.05, backoff_max_s=10, cooldown_s=60, max_consec_429=2)


def query(text: str = "windows 12", kind: Kind = "web", **changes: Any) -> Query:
    return Query(text=text, kind=kind, count=changes.pop("count", 12), today=TODAY, **changes)


class Bench:
    """Brave behind a lane's search, everything that is logged, and the clock."""

    def __init__(
        self,
        web: FakeWeb,
        limits: SearchLimits = LIMITS,
        *,
        calls: int = 0,
        version: str = "",
        time: FakeClock | None = None,
    ) -> None:
        self.time = time or FakeClock()
        self.calls: list[events.Search] = []
        self.connections: list[Connection] = []
        brave = Brave(KEY, limits, api_version=version, base=f"{web.url}/res/v1")
        self.engines = Engines([brave], clock=self.time.clock(), calls={"brave": calls})
        self.search = WebSearch(
            self.engines,
            fetcher_to(web.port, secrets=[KEY], log=self.connections.append),
            log=self.calls.append,
            secrets=Secrets([KEY]),
        )

    async def ask(self, wanted: Query | None = None) -> Searched:
        return await self.search.search(wanted or query(), ["brave"])


def with_brave(
    work: Callable[[FakeWeb], Awaitable[None]], script: Sequence[Reply] = (), *, results: int = 12
) -> FakeWeb:
    """Runs `work` against a fake Brave; the server with what it was asked."""

    async def run() -> FakeWeb:
        async with fake_brave(script, results=results) as web:
            await work(web)
            return web

    return asyncio.run(run())


def test_a_web_search_is_asked_and_read_as_the_interface_says() -> None:
    async def work(web: FakeWeb) -> None:
        bench = Bench(web, version="2023-01-01")
        searched = await bench.ask(
            query(country="us", language="en", freshness="month", offset=2, safesearch="strict")
        )
        assert searched.answer is not None
        first = searched.answer.found.hits[0]
        assert (first.title, first.url) == ("Page 1 & more", "https://site1.example/page")
        assert first.snippet == "About windows 12, number 1."
        assert (first.date, first.age, first.source) == ("2025-03-01", "March 1, 2025", "Site 1")
        (call,) = bench.calls
        assert (call.outcome, call.http_status, call.results, call.attempts) == ("ok", 200, 12, 1)

    (asked,) = with_brave(work).asked
    assert asked.path == "/res/v1/web/search"
    assert asked.parameters == {
        "q": "windows 12",
        "count": "12",
        "offset": "2",
        "country": "US",
        "search_lang": "en",
        "freshness": "pm",
        "safesearch": "strict",
        "text_decorations": "false",
        "result_filter": "web",
    }
    assert asked.headers["x-subscription-token"] == KEY
    assert (asked.headers["api-version"], asked.headers["accept"]) == ("2023-01-01", "application/json")


def test_without_a_version_none_is_asked_for() -> None:
    async def work(web: FakeWeb) -> None:
        await Bench(web).ask()

    assert "api-version" not in with_brave(work).asked[0].headers


def test_news_come_from_the_news_interface() -> None:
    async def work(web: FakeWeb) -> None:
        searched = await Bench(web).ask(query(kind="news", freshness="2025-01-01to2025-02-01"))
        assert searched.answer is not None
        first = searched.answer.found.hits[0]
        assert (first.title, first.age, first.source) == ("News 1", "3 hours ago", "paper1.example")

    (asked,) = with_brave(work).asked
    assert asked.path == "/res/v1/news/search"
    assert asked.parameters["freshness"] == "2025-01-01to2025-02-01"
    assert "result_filter" not in asked.parameters


@pytest.mark.parametrize(
    ("kind", "answer"), [("web", web_answer([])), ("news", news_answer([]))], ids=["web", "news"]
)
def test_no_results_are_an_outcome_with_the_bytes_that_say_so(kind: Kind, answer: Reply) -> None:
    async def work(web: FakeWeb) -> None:
        bench = Bench(web)
        searched = await bench.ask(query(kind=kind))
        assert searched.answer is not None
        assert searched.answer.found.hits == ()
        assert searched.answer.fetched.body == answer.body
        assert (bench.calls[0].outcome, bench.calls[0].cause) == ("empty", "")

    with_brave(work, [answer])


def test_two_calls_keep_the_interval() -> None:
    async def work(web: FakeWeb) -> None:
        bench = Bench(web)
        for _ in range(3):
            await bench.ask()
        assert bench.time.waits == [1.05, 1.05]
        assert [call.waited_s for call in bench.calls] == [0.0, 1.05, 1.05]

    assert len(with_brave(work).asked) == 3


def test_lanes_that_ask_at_once_are_served_one_interval_apart() -> None:
    async def work(web: FakeWeb) -> None:
        bench = Bench(web)
        await asyncio.gather(*(bench.ask(query(f"lane {number}")) for number in range(4)))
        assert sorted(bench.time.waits) == [1.05, 2.1, 3.15]

    assert len(with_brave(work).asked) == 4


def test_a_429_is_backed_off_from_and_tried_again() -> None:
    async def work(web: FakeWeb) -> None:
        bench = Bench(web)
        await bench.ask()
        (call,) = bench.calls
        assert (call.outcome, call.attempts, call.waited_s) == ("ok", 2, 1.05)
        assert bench.time.waits == [1.05]

    assert len(with_brave(work, [too_many()]).asked) == 2


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ((("Retry-After", "7"),), 7.0),
        ((("Retry-After", "Fri, 15 Jan 2027 08:00:04 GMT"),), 4.0),
        ((("X-RateLimit-Remaining", "0, 1999"), ("X-RateLimit-Reset", "3, 1419704")), 3.0),
        ((("Retry-After", "soon"),), 1.05),
        ((("Retry-After", "-5"),), 1.05),
    ],
)
def test_what_the_server_asks_for_is_waited(headers: tuple[tuple[str, str], ...], wait: float) -> None:
    async def work(web: FakeWeb) -> None:
        bench = Bench(web)
        await bench.ask()
        assert bench.time.waits == [pytest.approx(wait)]

    with_brave(work, [too_many(*headers)])


def test_a_retry_after_longer_than_the_back_off_is_not_waited_for() -> None:
    async def work(web: FakeWeb) -> None:
        bench = Bench(web)
        assert (await bench.ask()).answer is None
        (call,) = bench.calls
        assert (call.outcome, call.cause, call.attempts) == ("refused", "circuit", 1)
        stop = bench.engines.stopped("brave")
        assert stop is not None
        assert stop.seconds == pytest.approx(60)
        assert bench.time.waits == []

    assert len(with_brave(work, [too_many(("Retry-After", "86400"))]).asked) == 1


def test_429s_in_a_row_open_the_breaker_until_its_cool_down() -> None:
    async def work(web: FakeWeb) -> None:
        bench = Bench(web)
        await bench.ask()
        await bench.ask()
        assert [(call.outcome, call.cause, call.attempts) for call in bench.calls] == [
            ("refused", "circuit", 2),
            ("skipped", "circuit", 0),
        ]
        assert "RATE_LIMITED" in bench.calls[0].reason
        assert (
            bench.calls[1].reason
            == "Brave was not asked: it is left alone for 60 s more after its last failure"
        )
        bench.time.now += 60
        assert (await bench.ask()).answer is not None

    assert len(with_brave(work, [too_many(), too_many()]).asked) == 3


def test_a_breaker_that_is_open_stays_open_over_a_resume() -> None:
    async def work(web: FakeWeb) -> None:
        bench = Bench(web)
        await bench.ask()
        (call,) = bench.calls
        until = call.started + call.seconds + call.rest_s
        brave = Brave(KEY, LIMITS, base=f"{web.url}/res/v1")
        again = Engines([brave], clock=bench.time.clock(), calls={"brave": 2}, rests_until={"brave": until})
        stop = again.stopped("brave")
        assert stop is not None
        assert (stop.cause, stop.seconds) == ("circuit", pytest.approx(60))
        bench.time.now += 60
        assert again.stopped("brave") is None

    assert len(with_brave(work, [too_many(), too_many()]).asked) == 2


def test_the_first_429_after_the_cool_down_opens_the_breaker_again() -> None:
    async def work(web: FakeWeb) -> None:
        bench = Bench(web)
        await bench.ask()
        bench.time.now += 60
        await bench.ask()
        assert (bench.calls[1].cause, bench.calls[1].attempts) == ("circuit", 1)

    with_brave(work, [too_many()] * 3)


class HeldClock(FakeClock):
    """A wait ends only when it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()
        self.waiting = 0
        self.both = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.waiting += 1
        if self.waiting == 2:
            self.both.set()
        await self.go.wait()
        await super().sleep(seconds)


@pytest.mark.parametrize(
    ("wanted", "outcomes", "waits"),
    [("3600", ["refused", "skipped"], [1.05]), ("7", ["ok", "ok"], [1.05, 7.0, 7.0])],
    ids=["the breaker", "a longer wait"],
)
def test_what_one_lane_is_answered_holds_for_a_lane_that_already_waits(
    wanted: str, outcomes: list[str], waits: list[float]
) -> None:
    async def work(web: FakeWeb) -> None:
        held = HeldClock()
        bench = Bench(web, time=held)
        first = asyncio.create_task(bench.ask(query("one")))
        second = asyncio.create_task(bench.ask(query("two")))
        both = asyncio.create_task(held.both.wait())
        await asyncio.wait({first, both}, return_when=asyncio.FIRST_COMPLETED)
        both.cancel()
        held.go.set()
        await asyncio.gather(first, second)
        assert sorted(call.outcome for call in bench.calls) == outcomes
        assert sorted(bench.time.waits) == waits
        assert bench.engines.client("brave").calls == len(web.asked)

    with_brave(work, [too_many(("Retry-After", wanted))])


def test_a_server_error_is_tried_again_with_doubling_waits_and_then_reported() -> None:
    async def work(web: FakeWeb) -> None:
        bench = Bench(web)
        await bench.ask()
        (call,) = bench.calls
        assert (call.outcome, call.cause, call.http_status, call.attempts) == ("failed", "http", 500, 3)
        assert bench.time.waits == [1.05, 2.1]

    assert len(with_brave(work, [error(500, "INTERNAL", "Oops.")] * 3).asked) == 3


def test_the_budget_counts_every_request_and_survives_a_resume() -> None:
    budget = SearchLimits(min_interval_s=0, backoff_max_s=1, max_consec_429=5, max_calls=4)

    async def work(web: FakeWeb) -> None:
        bench = Bench(web, budget, calls=1)
        await bench.ask()
        await bench.ask()
        await bench.ask()
        assert [(call.outcome, call.cause, call.attempts) for call in bench.calls] == [
            ("ok", "", 2),
            ("ok", "", 1),
            ("skipped", "budget", 0),
        ]
        assert bench.engines.client("brave").calls == 4

    assert len(with_brave(work, [too_many()]).asked) == 3


def test_a_budget_that_ends_during_a_retry_ends_the_call() -> None:
    async def work(web: FakeWeb) -> None:
        bench = Bench(web, SearchLimits(min_interval_s=0, max_consec_429=5, max_calls=1))
        await bench.ask()
        assert (bench.calls[0].outcome, bench.calls[0].cause) == ("refused", "budget")

    assert len(with_brave(work, [too_many()]).asked) == 1


MALFORMED = {
    "no json": Reply(b'{"type": "search", "web": '),
    "no utf-8": Reply(b'{"type": "\xff\xfe"}'),
    "a list": as_json([1, 2]),
    "another type": as_json({"web": {"results": []}}),
    "web is text": as_json({"type": "search", "web": "none"}),
    "results is an object": as_json({"type": "search", "web": {"results": {"0": {}}}}),
    "no result is one": web_answer(["x", 7, None, {"title": "no url"}, {"url": ["https://a.example"]}]),
    "deep": Reply(b"[" * 100_000),
    "a page": page("Welcome"),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_an_answer_that_is_not_the_interface_is_a_failure_and_never_no_results(what: str) -> None:
    async def work(web: FakeWeb) -> None:
        bench = Bench(web)
        assert (await bench.ask()).answer is None
        (call,) = bench.calls
        assert (call.outcome, call.cause, call.attempts) == ("failed", "format", 1)
        assert call.reason.startswith("Brave: ")

    with_brave(work, [MALFORMED[what]])


def test_results_of_wrong_types_are_left_out_and_counted() -> None:
    odd = [
        web_result(1, title=None, description=7, page_age=[], age={}, profile="x", meta_url=3),
        web_result(2, url="javascript:alert(1)"),
        web_result(3, url="https://user:pass@site3.example/"),
        "text",
        web_result(1),
        web_result(4, url="https://site4.example/" + "a" * 5000),
        web_result(5, title="x" * 100_000, description="<b>y</b> " * 50_000),
    ]

    async def work(web: FakeWeb) -> None:
        searched = await Bench(web).ask()
        assert searched.answer is not None
        found = searched.answer.found
        assert [hit.url for hit in found.hits] == ["https://site1.example/page", "https://site5.example/page"]
        assert found.dropped == 4
        assert (found.hits[0].title, found.hits[0].source) == ("", "")
        assert len(found.hits[1].title) == 200
        assert len(found.hits[1].snippet) == 400

    with_brave(work, [web_answer(odd)])


def test_more_results_than_were_asked_for_are_cut() -> None:
    async def work(web: FakeWeb) -> None:
        searched = await Bench(web).ask(query(count=3))
        assert searched.answer is not None
        assert len(searched.answer.found.hits) == 3

    with_brave(work, [web_answer([web_result(number) for number in range(2000)])])


def test_a_huge_answer_is_not_read() -> None:
    async def work(web: FakeWeb) -> None:
        bench = Bench(web)
        await bench.ask()
        assert (bench.calls[0].outcome, bench.calls[0].cause) == ("failed", "too_large")

    with_brave(work, [web_answer([web_result(1, description="x" * (2 << 20))])])


def test_a_silent_server_is_given_up_and_left_alone() -> None:
    async def work(web: FakeWeb) -> None:
        bench = Bench(web)
        await bench.ask()
        await bench.ask()
        assert [(call.outcome, call.cause) for call in bench.calls] == [
            ("failed", "network"),
            ("skipped", "circuit"),
        ]

    assert len(with_brave(work, [Reply(silent=True)]).asked) == 1


def test_a_server_that_is_not_there_is_a_failure_in_words() -> None:
    async def run() -> None:
        async with fake_brave() as web:
            bench = Bench(web)
        await asyncio.sleep(0)
        await bench.ask()
        (call,) = bench.calls
        assert (call.outcome, call.cause) == ("failed", "network")
        assert "connection refused" in call.reason
        assert "q=windows" not in call.reason

    asyncio.run(run())


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (error(422, "SUBSCRIPTION_TOKEN_INVALID", "Invalid."), "check BRAVE_API_KEY"),
        (error(401, "UNAUTHORIZED", "No."), "check BRAVE_API_KEY"),
        (error(422, "VALIDATION", "Unable to validate request parameter(s)"), "Unable to validate"),
        (error(402, "USAGE_LIMIT_EXCEEDED", "Usage limit exceeded."), "USAGE_LIMIT_EXCEEDED"),
    ],
)
def test_what_brave_refuses_is_said_with_its_own_words(answer: Reply, words: str) -> None:
    async def work(web: FakeWeb) -> None:
        bench = Bench(web)
        await bench.ask()
        assert bench.calls[0].outcome == "refused"
        assert words in bench.calls[0].reason

    with_brave(work, [answer])


@pytest.mark.parametrize(("status", "asked"), [(401, 1), (403, 1), (422, 2)])
def test_a_key_that_is_refused_for_good_is_not_tried_again_at_once(status: int, asked: int) -> None:
    async def work(web: FakeWeb) -> None:
        bench = Bench(web)
        await bench.ask()
        await bench.ask()

    assert len(with_brave(work, [error(status, "SUBSCRIPTION_TOKEN_INVALID", "No.")]).asked) == asked


def test_a_call_that_is_cancelled_while_it_waits_costs_nothing() -> None:
    async def work(web: FakeWeb) -> None:
        held = HeldClock()
        bench = Bench(web, time=held)
        await bench.ask()
        waiting = asyncio.create_task(bench.ask())
        while not held.waiting:  # noqa: ASYNC110 (it waits for a task to reach its own wait)
            await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert bench.engines.client("brave").calls == 1

    assert len(with_brave(work).asked) == 1


def test_a_policy_that_does_not_lead_there_is_a_refusal_and_costs_no_call() -> None:
    async def work(web: FakeWeb) -> None:
        bench = Bench(web, SearchLimits(max_calls=1))
        search = WebSearch(bench.engines, fetcher_to(1), log=bench.calls.append)
        await search.search(query(), ["brave"])
        (call,) = bench.calls
        assert (call.outcome, call.cause, call.attempts) == ("refused", "policy", 0)
        assert "list of allowed" in call.reason or "may be connected to" in call.reason
        assert bench.engines.stopped("brave") is None

    assert with_brave(work).asked == []


def test_a_query_that_is_too_long_is_not_sent() -> None:
    async def work(web: FakeWeb) -> None:
        bench = Bench(web)
        await bench.ask(query("word " * 60))
        await bench.ask(query("a", offset=10))
        assert [(call.outcome, call.cause) for call in bench.calls] == [("skipped", "unfit")] * 2

    assert with_brave(work).asked == []


def test_a_redirect_is_not_followed_and_the_key_stays() -> None:
    async def run() -> None:
        async with fake_web(lambda asked: Reply()) as elsewhere:
            away = Reply(b"", 302, (("Location", f"{elsewhere.url}/steal"),))
            async with fake_brave([away]) as web:
                bench = Bench(web)
                search = WebSearch(
                    bench.engines, fetcher_to(web.port, elsewhere.port), log=bench.calls.append
                )
                await search.search(query(), ["brave"])
            assert elsewhere.asked == []
            (call,) = bench.calls
            assert (call.outcome, call.cause, call.http_status) == ("failed", "redirect", 302)
            assert f"redirects to {elsewhere.url}/steal" in call.reason

    asyncio.run(run())


ECHOES = {
    "results": web_answer([web_result(1, description=f"your key is {KEY}")]),
    "an error": error(400, "BAD", f"token {KEY} is odd"),
    "a 429": error(429, "RATE_LIMITED", f"token {KEY}"),
    "a header": Reply(b"", 302, (("Location", f"https://a.example/?k={KEY}"),)),
}


@pytest.mark.parametrize("what", ECHOES)
def test_an_answer_that_repeats_the_key_is_not_kept(what: str) -> None:
    async def work(web: FakeWeb) -> None:
        bench = Bench(web)
        assert (await bench.ask()).answer is None
        assert bench.calls[0].cause == "secret"
        assert KEY not in repr(bench.calls) + repr(bench.connections)

    with_brave(work, [ECHOES[what]])


def test_the_key_is_in_no_url_no_record_and_no_repr() -> None:
    async def work(web: FakeWeb) -> None:
        bench = Bench(web)
        searched = await bench.ask()
        brave = bench.engines.client("brave").engine
        everything = [searched, bench.calls, bench.connections, brave, brave.request(query())]
        assert KEY not in repr(everything)

    (asked,) = with_brave(work).asked
    assert KEY not in asked.raw.decode().split("\r\n")[0]


def test_a_query_that_holds_the_key_is_sent_to_nobody_and_not_logged() -> None:
    async def work(web: FakeWeb) -> None:
        bench = Bench(web)
        assert (await bench.ask(query(f"what is {KEY}"))).answer is None
        (call,) = bench.calls
        assert (call.outcome, call.cause, call.query) == ("skipped", "secret", "")
        assert KEY not in repr(bench.calls)

    assert with_brave(work).asked == []


def test_a_wrong_key_is_what_the_fake_refuses_too() -> None:
    async def run() -> None:
        async with fake_web(FakeBrave()) as web:
            brave = Brave("another-key-123", LIMITS, base=f"{web.url}/res/v1")
            calls: list[events.Search] = []
            engines = Engines([brave], clock=FakeClock().clock())
            await WebSearch(engines, fetcher_to(web.port), log=calls.append).search(query(), ["brave"])
            assert "does not accept the key" in calls[0].reason

    asyncio.run(run())


def test_news_results_may_be_odd_too() -> None:
    async def work(web: FakeWeb) -> None:
        searched = await Bench(web).ask(query(kind="news"))
        assert searched.answer is not None
        assert [hit.title for hit in searched.answer.found.hits] == ["News 2"]

    with_brave(work, [news_answer([news_result(1, url=None), news_result(2)])])
