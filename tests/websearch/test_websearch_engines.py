"""The engines without a key: their requests, their wire formats, and what stands in the way of an answer."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.fake_engines import (
    ATOM_ENTRY,
    ATOM_ERROR,
    CHALLENGE,
    OPENALEX_WORK,
    SEARXNG_HTML,
    SEARXNG_RESULT,
    atom,
    openalex,
    page,
    searxng,
    wikipedia,
)
from support.fake_web import Asked, FakeClock, FakeWeb, Reply, fake_web, fetcher_to
from vera import events
from vera.sandbox.egress.dial import Dialer
from vera.sandbox.egress.policy import NetworkPolicy
from vera.sandbox.egress.types import Request
from vera.sandbox.fetch.fetcher import Fetcher
from vera.websearch import (
    DEFAULT_ORDER,
    Engine,
    EngineError,
    EngineOptions,
    Engines,
    Kind,
    Query,
    Searched,
    SearchLimits,
    WebSearch,
    freshness,
    instance_policy,
    open_engines,
    plain,
)
from vera.websearch.arxiv import Arxiv
from vera.websearch.brave import Brave
from vera.websearch.openalex import OpenAlex
from vera.websearch.searxng import SearXNG
from vera.websearch.values import Malformed
from vera.websearch.wikipedia import Wikipedia

TODAY = date(2027, 1, 15)
MAKE: dict[str, Callable[[str], Engine]] = {
    "searxng": SearXNG,
    "wikipedia": lambda url: Wikipedia(base=url),
    "openalex": lambda url: OpenAlex(base=url),
    "arxiv": lambda url: Arxiv(base=url),
}
GOOD: dict[str, Reply] = {
    "searxng": searxng([SEARXNG_RESULT]),
    "wikipedia": wikipedia(["Ada Lovelace"]),
    "openalex": openalex([OPENALEX_WORK]),
    "arxiv": atom(ATOM_ENTRY),
}
NONE: dict[str, Reply] = {
    "searxng": searxng([]),
    "wikipedia": wikipedia([]),
    "openalex": openalex([]),
    "arxiv": atom(),
}


def query(text: str = "ada lovelace", kind: Kind = "web", **changes: Any) -> Query:
    return Query(text=text, kind=kind, count=changes.pop("count", 10), today=TODAY, **changes)


def ask(name: str, answer: Reply, wanted: Query | None = None) -> tuple[Searched, Asked]:
    """One search of one engine that gets this answer."""

    async def run() -> tuple[Searched, Asked]:
        async with fake_web(lambda asked: answer) as web:
            engine = MAKE[name](web.url)
            search = WebSearch(
                Engines([engine], clock=FakeClock().clock()), fetcher_to(web.port), log=lambda call: None
            )
            return await search.search(wanted or query(kind=engine.kinds[0]), [name]), web.asked[0]

    return asyncio.run(run())


@pytest.mark.parametrize("name", MAKE)
def test_no_results_are_an_outcome(name: str) -> None:
    searched, _ = ask(name, NONE[name])
    assert searched.answer is not None
    assert searched.answer.found.hits == ()
    assert searched.calls[0].outcome == "empty"


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize(
    "answer",
    [Reply(b""), Reply(b"null"), Reply(b"{}"), Reply(b'{"results": 3, "query": 4}'), Reply(b"<a><b></a>")],
    ids=["nothing", "null", "an empty object", "wrong types", "broken markup"],
)
def test_an_answer_that_is_not_the_interface_is_never_no_results(name: str, answer: Reply) -> None:
    searched, _ = ask(name, answer)
    assert searched.answer is None
    assert (searched.calls[0].outcome, searched.calls[0].cause) == ("failed", "format")


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize(
    "answer",
    [
        CHALLENGE,
        page("Attention Required! | Please solve the captcha", 503),
        page("Our systems have detected unusual traffic", 429),
        page("Before you continue to the search"),
        Reply(b"", 302, (("Location", "https://consent.example/ml?continue=x"),)),
    ],
    ids=["challenge", "captcha", "traffic", "consent", "redirect to consent"],
)
def test_a_page_that_wants_to_see_a_person_is_an_error_and_is_not_asked_again(
    name: str, answer: Reply
) -> None:
    searched, _ = ask(name, answer)
    assert searched.answer is None
    assert (searched.calls[0].outcome, searched.calls[0].attempts) == ("challenge", 1)


@pytest.mark.parametrize("name", MAKE)
def test_results_that_speak_of_captchas_are_no_challenge(name: str) -> None:
    answer = Reply(GOOD[name].body.replace(b"agents learn", b"captcha"), headers=GOOD[name].headers)
    assert ask(name, answer, query("captcha", MAKE[name]("http://a.example").kinds[0]))[0].answer is not None


def test_searxng_is_asked_and_read_as_its_interface_says() -> None:
    wanted = query(kind="news", language="de", freshness="week", safesearch="moderate", offset=1)
    searched, asked = ask("searxng", GOOD["searxng"], wanted)
    assert asked.path == "/search"
    assert asked.parameters == {
        "q": "ada lovelace",
        "format": "json",
        "categories": "news",
        "language": "de",
        "pageno": "2",
        "time_range": "week",
        "safesearch": "1",
    }
    assert searched.answer is not None
    (hit,) = searched.answer.found.hits
    assert (hit.title, hit.snippet, hit.date) == ("A page", "What it says", "2024-05-06")
    assert hit.source == "duckduckgo, qwant"


@pytest.mark.parametrize("answer", [SEARXNG_HTML, page("Forbidden", 403)], ids=["a page", "403"])
def test_an_instance_that_answers_in_html_only_is_told_apart(answer: Reply) -> None:
    searched, _ = ask("searxng", answer)
    assert "json` must be added to search.formats" in searched.calls[0].reason


def test_a_searxng_whose_engines_are_all_blocked_has_not_found_nothing() -> None:
    searched, _ = ask("searxng", searxng([], [["google", "CAPTCHA"], ["bing", "timeout"]]))
    assert searched.answer is None
    assert "google (CAPTCHA), bing (timeout)" in searched.calls[0].reason


def test_a_searxng_of_which_some_engines_are_blocked_says_so() -> None:
    searched, _ = ask("searxng", searxng([SEARXNG_RESULT], [["google", "CAPTCHA"], 7, [], ["x"] * 3]))
    assert searched.answer is not None
    assert searched.answer.found.note.startswith("did not answer within SearXNG: google (CAPTCHA)")


def test_wikipedia_is_asked_in_the_language_and_links_its_pages() -> None:
    engine = Wikipedia("en")
    assert engine.request(query(language="pt-br")).url.startswith("https://pt.wikipedia.org/w/api.php?")
    searched, asked = ask("wikipedia", wikipedia(["C++/CLI & Ärger?"]), query(freshness="week"))
    assert (asked.path, asked.parameters["srsearch"]) == ("/w/api.php", "ada lovelace")
    assert searched.answer is not None
    assert searched.answer.ignored == ("freshness",)
    (hit,) = searched.answer.found.hits
    assert hit.url.endswith("/wiki/C%2B%2B%2FCLI_%26_%C3%84rger%3F")
    assert hit.snippet == 'the C++/CLI & Ärger? "is"'
    assert (hit.date, hit.age) == ("", "last edited 2025-01-02")


def test_wikipedia_says_its_errors_with_status_200() -> None:
    body = {"error": {"code": "ratelimited", "info": "You've exceeded your rate limit."}}
    searched, _ = ask("wikipedia", Reply(json.dumps(body).encode()))
    assert "exceeded your rate limit" in searched.calls[0].reason


def test_openalex_is_asked_with_dates_and_its_abstracts_are_put_together() -> None:
    searched, asked = ask("openalex", GOOD["openalex"], query(kind="papers", freshness="week", language="en"))
    assert asked.path == "/works"
    expected = "from_publication_date:2027-01-08,to_publication_date:2027-01-15,language:en"
    assert asked.parameters["filter"] == expected
    assert searched.answer is not None
    (hit,) = searched.answer.found.hits
    assert (hit.title, hit.snippet) == ("Deep things", "Things are deep; are they")
    assert (hit.url, hit.date) == ("https://journal.example/article/1", "2021-07-08")
    assert (hit.source, hit.age) == ("Journal of Things", "cited 42 times")


@pytest.mark.parametrize(
    ("place", "url"),
    [
        (None, "https://doi.org/10.1000/xyz"),
        ({"landing_page_url": "ftp://x"}, "https://doi.org/10.1000/xyz"),
        ({"landing_page_url": 3, "source": []}, "https://doi.org/10.1000/xyz"),
    ],
)
def test_a_work_without_a_page_is_found_by_its_doi(place: object, url: str) -> None:
    odd = {"w": "x", "y": [-1, 10**12, True, "1"], "z" * 9000: [2]}
    searched, _ = ask(
        "openalex", openalex([{**OPENALEX_WORK, "primary_location": place, "abstract_inverted_index": odd}])
    )
    assert searched.answer is not None
    assert searched.answer.found.hits[0].url == url


def test_arxiv_is_asked_for_every_word_and_read_as_atom() -> None:
    wanted = query('agents "in a sandbox" OR:x AND', "papers", freshness="2026-01-01to2026-02-01", offset=1)
    searched, asked = ask("arxiv", GOOD["arxiv"], wanted)
    assert asked.path == "/api/query"
    assert asked.parameters == {
        "search_query": 'all:agents AND all:"in a sandbox" AND all:"OR x"'
        " AND submittedDate:[202601010000 TO 202602012359]",
        "start": "10",
        "max_results": "10",
    }
    assert searched.answer is not None
    (hit,) = searched.answer.found.hits
    assert (hit.title, hit.snippet) == ("Agents in a sandbox", "If x < y, agents learn.")
    assert (hit.url, hit.date) == ("https://arxiv.org/abs/2601.16206", "2026-01-22")


def test_arxiv_says_its_errors_as_an_entry() -> None:
    searched, _ = ask("arxiv", atom(ATOM_ERROR))
    assert "incorrect id format for 1" in searched.calls[0].reason


BOMB = '<!DOCTYPE feed [<!ENTITY a "x"><!ENTITY b "&a;&a;&a;">]>'
OUTSIDE = '<!DOCTYPE feed [<!ENTITY f SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    "body",
    [
        atom(ATOM_ENTRY.replace("agents learn", "&b;"), before=BOMB).body,
        atom(ATOM_ENTRY.replace("agents learn", "&f;"), before=OUTSIDE).body,
        atom(ATOM_ENTRY.replace("agents learn", "&unknown;")).body,
        atom("<x>" * 100 + "</x>" * 100).body,
        atom("<entry><id>x</id>").body[:-30],
        b'<?xml version="1.0" encoding="nonsense"?><feed/>',
        b"<rss/>",
    ],
    ids=["entities", "a file", "no entity", "deep", "cut", "an encoding", "no feed"],
)
def test_xml_that_could_do_harm_or_is_none_is_refused(body: bytes) -> None:
    with pytest.raises(Malformed):
        Arxiv().read(query(kind="papers"), body)


def test_a_feed_of_very_many_entries_is_read_up_to_a_bound() -> None:
    entries = "".join(f"<entry><id>http://arxiv.org/abs/1{n:06d}</id></entry>" for n in range(5000))
    assert len(Arxiv().read(query(kind="papers", count=20), atom(entries).body).hits) == 20


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
ENGINES: list[tuple[Engine, Callable[[Any], Any]]] = [
    (
        Brave("a-key-of-tests", SearchLimits()),
        lambda results: {"type": "search", "web": {"results": results}},
    ),
    (SearXNG("http://a.example"), lambda results: {"results": results}),
    (Wikipedia(), lambda results: {"query": {"search": results}}),
    (OpenAlex(), lambda results: {"results": results}),
]
KEYS = (
    *("title", "url", "description", "page_age", "age", "profile", "meta_url", "name", "hostname", "content"),
    *("engines", "publishedDate", "snippet", "timestamp", "id", "doi", "display_name", "primary_location"),
    *("abstract_inverted_index", "cited_by_count", "source", "landing_page_url", "publication_date"),
)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(ENGINES),
    st.lists(
        st.dictionaries(st.sampled_from(KEYS), JSON | st.just("https://a.example/x")) | JSON, max_size=6
    ),
)
def test_whatever_an_answer_holds_it_is_read_or_refused(
    engine: tuple[Engine, Callable[[Any], Any]], results: list[Any]
) -> None:
    body = json.dumps(engine[1](results)).encode("utf-8", "surrogatepass")
    try:
        found = engine[0].read(query(), body)
    except Malformed:
        return
    for hit in found.hits:
        fields = (hit.title, hit.snippet, hit.date, hit.age, hit.source, hit.url)
        assert all(len(each) <= 2100 and each.isprintable() for each in fields)
        assert hit.url.startswith(("http://", "https://"))


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: atom(text).body))
def test_whatever_bytes_come_as_atom_are_read_or_refused(body: bytes) -> None:
    try:
        Arxiv().read(query(kind="papers"), body)
    except Malformed:
        return


@pytest.mark.parametrize(
    ("marked", "shown"),
    [
        ("a <strong>b</strong><br>c", "a b c"),
        ("10<sup>6</sup> &lt;b&gt;", "10^6 <b>"),
        ("if a < b and b > c", "if a < b and b > c"),
        ("<!-- hidden -->x<script>y</script>", "xy"),
        ("one\ntwo\x00\u202ethree", "one two\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}three"),
        (7, ""),
    ],
)
def test_markup_is_taken_out_of_snippets(marked: object, shown: str) -> None:
    assert plain.from_html(marked) == shown


def test_hostile_markup_is_read_in_linear_time() -> None:
    for hostile in ("<a " * 100_000, "<!--" * 100_000, "<sup" * 100_000, "<p" * 100_000 + ">"):
        assert len(plain.from_html(hostile)) <= plain.SNIPPET_SHOWN


@pytest.mark.parametrize(
    ("given_as", "parsed"),
    [
        *[("month", "month"), ("PM", "month"), ("past_week", "week"), ("Past year", "year"), ("24h", "day")],
        *[("", ""), ("  ", "")],
        ("2024-01-01to2024-06-30", "2024-01-01to2024-06-30"),
        ("2024-01-01 .. 2024-06-30", "2024-01-01to2024-06-30"),
    ],
)
def test_freshness_has_one_vocabulary(given_as: str, parsed: str) -> None:
    assert freshness.parse(given_as) == parsed


@pytest.mark.parametrize("wrong", ["fortnight", "2024-02-30to2024-03-01", "2024-06-01to2024-01-01", "2024"])
def test_a_freshness_that_is_none_is_said(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"it must be|lies after"):
        freshness.parse(wrong)


def chain(
    work: Callable[[WebSearch, list[events.Search]], Awaitable[None]], **answers: Reply
) -> dict[str, FakeWeb]:
    """Runs `work` over engines that get these answers, in the order in which they are named."""

    async def run() -> dict[str, FakeWeb]:
        import contextlib

        async with contextlib.AsyncExitStack() as stack:
            webs = {
                name: await stack.enter_async_context(fake_web(lambda asked, answer=answer: answer))
                for name, answer in answers.items()
            }
            calls: list[events.Search] = []
            search = WebSearch(
                Engines([MAKE[name](web.url) for name, web in webs.items()], clock=FakeClock().clock()),
                fetcher_to(*(web.port for web in webs.values())),
                log=calls.append,
            )
            await work(search, calls)
            return webs

    return asyncio.run(run())


def test_the_next_engine_is_asked_when_one_is_down_and_the_record_says_so() -> None:
    async def work(search: WebSearch, calls: list[events.Search]) -> None:
        searched = await search.search(query(), search.engines.names("web"))
        assert searched.answer is not None
        assert searched.answer.engine == "wikipedia"
        assert [(call.engine, call.outcome) for call in calls] == [
            ("searxng", "challenge"),
            ("wikipedia", "ok"),
        ]

    chain(work, searxng=CHALLENGE, wikipedia=GOOD["wikipedia"], arxiv=GOOD["arxiv"])


def test_an_engine_that_finds_nothing_has_answered() -> None:
    async def work(search: WebSearch, calls: list[events.Search]) -> None:
        searched = await search.search(query(), search.engines.names("web"))
        assert searched.answer is not None
        assert searched.answer.engine == "searxng"

    webs = chain(work, searxng=NONE["searxng"], wikipedia=GOOD["wikipedia"])
    assert webs["wikipedia"].asked == []


def test_when_all_are_down_each_says_why() -> None:
    async def work(search: WebSearch, calls: list[events.Search]) -> None:
        searched = await search.search(query(kind="papers"), search.engines.names("papers"))
        assert searched.answer is None
        assert [(call.engine, call.outcome) for call in searched.calls] == [
            ("openalex", "failed"),
            ("arxiv", "failed"),
        ]

    chain(work, openalex=Reply(b"{}", 500), wikipedia=GOOD["wikipedia"], arxiv=Reply(b"oops"))


def test_engines_without_key_or_address_are_left_out_and_unknown_ones_are_named() -> None:
    names = [engine.name for engine in open_engines(DEFAULT_ORDER, EngineOptions())]
    assert names == ["wikipedia", "openalex", "arxiv"]
    options = EngineOptions(searxng_url="https://searx.example", searxng_min_interval_s=0.25)
    both = open_engines(["arxiv", "searxng", "brave", "arxiv"], options, brave_key="a-key-of-tests")
    assert [engine.name for engine in both] == ["arxiv", "searxng", "brave"]
    assert both[1].limits.min_interval_s == 0.25
    with pytest.raises(EngineError, match="'gogle' is no search engine; there are brave, searxng"):
        open_engines(["gogle"], EngineOptions())
    with pytest.raises(EngineError, match="SearXNG instance cannot be used"):
        open_engines(["searxng"], EngineOptions(searxng_url="searx"))


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("http://127.0.0.1:8888/", "127.0.0.1", 8888),
        ("http://localhost:8080", "localhost", 8080),
        ("https://searx.example", "searx.example", 443),
        ("http://[::1]:8080/searx/", "::1", 8080),
    ],
)
def test_an_instance_that_a_person_named_is_reached_and_nothing_else(url: str, host: str, port: int) -> None:
    run = NetworkPolicy.of("public")
    policy = instance_policy(url, run)
    assert policy.decide(Request(method="GET", host=host, port=port)).allowed
    for other in (("searx.example", 80), (host, port + 1), ("169.254.169.254", 80), ("127.0.0.2", port)):
        assert not policy.decide(Request(method="GET", host=other[0], port=other[1])).allowed
    assert run.addresses.named == ()


def test_an_instance_on_this_machine_is_asked_although_the_run_leads_to_the_public_only() -> None:
    async def run() -> None:
        async with fake_web(lambda asked: GOOD["searxng"]) as web:
            public = NetworkPolicy.of("public")
            narrow = instance_policy(web.url, public)
            fetcher = Fetcher(public, Dialer(public.addresses))
            calls: list[events.Search] = []
            engines = Engines([SearXNG(web.url)], clock=FakeClock().clock())
            await WebSearch(engines, fetcher, log=calls.append).search(query(), ["searxng"])
            own = {"searxng": Fetcher(narrow, Dialer(narrow.addresses))}
            await WebSearch(engines, fetcher, log=calls.append, own=own).search(query(), ["searxng"])
            assert [(call.outcome, call.cause) for call in calls] == [("refused", "policy"), ("ok", "")]

    asyncio.run(run())


def test_a_run_without_a_network_has_no_instance_either() -> None:
    assert instance_policy("http://127.0.0.1:8888", NetworkPolicy.of("none")).mode == "none"


def test_an_instance_may_be_named_by_its_search_page() -> None:
    assert (
        SearXNG("http://a.example/searx/search?q=%s")
        .request(query())
        .url.startswith("http://a.example/searx/search?q=ada")
    )
