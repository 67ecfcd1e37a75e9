"""The gates of Brave in whole runs, over its wire format, on one clock for log, gates and engine.

The table of the gates is in `test_gate_runs.py`."""

import pytest

from support.fake_brave import error, too_many
from support.fake_web import Reply
from support.gate_runs import (
    STARTED,
    Later,
    Run,
    act,
    brave,
    check_refused,
    fetch,
    page,
    play,
    search,
    shell,
)
from vera import events

SITE = {"b.example/1": page("Page"), "pypi.org/simple": page("Packages")}
PAGE = fetch("http://b.example/1")
FIRST = "Search once first, with brave_search or brave_news; then fetch what was found."
NEXT = "Ask the other engines with web_search."


def test_a_page_waits_for_a_search() -> None:
    """Of a search that failed too: it is an attempt. The refused call is none."""
    run = play([PAGE, brave("apple car"), PAGE], pages=SITE, brave_says=[error(500, "X", "Oops.")] * 3)
    assert run.spoken("policy_brave_discovery") == [(1, "refuse")]
    assert run.record("policy_brave_discovery") == {
        "step": 1,
        "effect": "refuse",
        "reason": "Nothing was searched yet.",
        "way_forward": "Search once first, with brave_search or brave_news; then fetch what was found.",
        "tool": "fetch",
        "limit": 1,
    }
    assert run.told(1) == (
        "NOT RUN (policy_brave_discovery). Nothing was searched yet. Search once first, with brave_search or "
        "brave_news; then fetch what was found."
    )
    check_refused(run, 1, "policy_brave_discovery")
    assert [each.outcome for each in run.of(events.Search)] == ["failed"]
    assert run.told(3).startswith("OBSERVATION ev_0001 · fetch http://b.example/1 · HTTP 200")


@pytest.mark.parametrize("tool", ["brave_news", "web_search"])
def test_any_search_of_the_web_is_an_attempt(tool: str) -> None:
    asked = act(tool, **{"q" if tool == "brave_news" else "query": "apple car"})
    run = play([asked, PAGE], pages=SITE, brave_says=[])
    assert run.spoken("policy_brave_discovery") == []


def test_a_task_over_a_folder_needs_no_search() -> None:
    task = "How long must an offer be valid?"
    run = play([PAGE], task=task, pages=SITE, brave_says=[], files={"terms.txt": "Three years.\n"})
    assert run.spoken("policy_brave_discovery") == []
    on_the_web = play(
        [PAGE], task=f"{task} Look on the web too.", pages=SITE, brave_says=[], files={"terms.txt": "x\n"}
    )
    assert on_the_web.spoken("policy_brave_discovery") == [(1, "refuse")]


def test_without_a_key_or_the_setting_no_search_is_demanded() -> None:
    assert play([PAGE], pages=SITE).spoken("policy_brave_discovery") == []
    run = play([PAGE], pages=SITE, brave_says=[], brave__discovery_required=False)
    assert run.spoken("policy_brave_discovery") == []


@pytest.mark.needs("bubblewrap")
def test_a_connection_of_a_command_waits_for_a_search_and_a_package_index_does_not() -> None:
    """The command runs; its connection is refused at the tunnel, where its client prints why."""
    said = f"Nothing was searched yet. {FIRST}"
    look = "curl -sS http://b.example/1; curl -sS http://b.example/2; curl -sS http://pypi.org/simple"
    run = play(
        [shell(look), shell("fetch http://b.example/1"), brave("apple car"), shell(look)],
        pages=SITE,
        brave_says=[],
        box="bubblewrap",
    )
    assert run.spoken("policy_brave_discovery") == [(1, "refuse"), (2, "refuse")]
    assert run.record("policy_brave_discovery")["tool"] == "shell"
    lines = run.told(1).splitlines()
    assert lines[1:3] == [f"1| Forbidden: {said}", f"2| Forbidden: {said}"]
    assert lines[3].startswith("3| <!DOCTYPE html><html><head><title>Packages.")
    assert lines[4:] == [f"REFUSED: {said}", "Step 1 of 80."]
    assert run.told(2).splitlines()[1:] == [f"1| fetch: refused: {said}", f"REFUSED: {said}", "Step 2 of 80."]
    assert run.sites.asked == ["pypi.org/simple", "b.example/1", "b.example/2", "pypi.org/simple"]
    made = run.of(events.Egress)
    assert [(each.by, each.host, each.verdict) for each in made][:3] == [
        ("box", "b.example", "refused"), ("box", "b.example", "refused"), ("box", "pypi.org", "allowed"),
    ]  # fmt: skip
    assert made[0].reason == said
    assert [(each.tool, each.tier) for each in run.of(events.Evidence)] == [
        ("shell", "observed"), ("shell", "observed"), ("brave_search", "captured"),
        ("shell", "observed"), ("shell", "captured"),
    ]  # fmt: skip
    assert "REFUSED" not in run.told(4)


def test_the_calls_to_brave_are_spent() -> None:
    run = play(
        [brave("apple car"), brave("a car of the year"), act("brave_news", q="motor show"), search("wheels")],
        brave_says=[too_many()],
        brave__max_calls=3,
    )
    assert run.spoken("policy_brave_budget") == [(3, "refuse")]
    assert run.record("policy_brave_budget") == {
        "step": 3,
        "effect": "refuse",
        "reason": "The 3 calls to Brave of this run are spent.",
        "way_forward": NEXT,
        "tool": "brave_news",
        "count": 3,
        "limit": 3,
    }
    assert run.told(3) == f"NOT RUN (policy_brave_budget). The 3 calls to Brave of this run are spent. {NEXT}"
    check_refused(run, 3, "policy_brave_budget")
    assert len(run.brave_asked) == 3
    assert [(each.engine, each.attempts, each.cause) for each in run.of(events.Search)] == [
        ("brave", 2, ""), ("brave", 1, ""), ("brave", 0, "budget"), ("wikipedia", 1, ""),
    ]  # fmt: skip
    assert run.session.state.engine("brave").calls == 3


def test_brave_without_a_bound_is_asked_on() -> None:
    run = play([brave(f"{word} of apple") for word in ("car", "phone", "watch", "house")], brave_says=[])
    assert run.spoken("policy_brave_budget") == []
    assert len(run.brave_asked) == 4


OTHERS = [f"{word} {word}s" for word in ("wheel", "motor", "price", "plant", "patent", "battery")]
"""Queries of different families, as the gate of queries comes first."""


def asked_after(*seconds: float) -> list[Later]:
    """Searches with Brave, each that much later than the one before."""
    return [Later(pause, brave(word)) for pause, word in zip(seconds, OTHERS, strict=False)]


def rest_of(run: Run) -> float:
    """Until when the state of the run has Brave rest, as seconds since the run began; 0 for not at all."""
    return round(max(0.0, run.session.state.engine("brave").rests_until - STARTED), 3)


def test_the_breaker_opens_and_closes_for_the_gate_when_it_does_for_the_engine() -> None:
    """Two 429s, with the back-off between them, open it for the cool-down: to the second, and no longer."""
    run = play(
        [brave("apple car"), *asked_after(0, 59.9, 0.1, 0)],
        brave_says=[too_many()] * 2,
        brave__min_interval_s=1.0,
        brave__cooldown_s=60,
    )
    first, *_ = run.of(events.Search)
    assert (first.outcome, first.cause, first.attempts) == ("refused", "circuit", 2)
    assert (first.started, first.seconds, first.rest_s) == (STARTED, 1.0, 60.0)
    assert run.clock.waits == [1.0, 1.0]  # the back-off, and the interval between the last two
    assert rest_of(run) == 61.0
    assert run.spoken("policy_brave_circuit") == [(2, "refuse"), (3, "refuse")]
    assert run.record("policy_brave_circuit") == {
        "step": 2,
        "effect": "refuse",
        "reason": "Brave refused too many calls and is left alone for 60 s more.",
        "way_forward": NEXT,
        "tool": "brave_search",
        "subject": "brave",
    }
    assert run.told(3) == (
        f"NOT RUN (policy_brave_circuit). Brave refused too many calls and is left alone for 1 s more. {NEXT}"
    )
    check_refused(run, 2, "policy_brave_circuit")
    check_refused(run, 3, "policy_brave_circuit")
    assert [(each.outcome, round(each.started - STARTED, 3)) for each in run.of(events.Search)] == [
        ("refused", 0.0), ("ok", 61.0), ("ok", 61.0),
    ]  # fmt: skip
    assert len(run.brave_asked) == 4
    assert run.of(events.Search)[1].urls[0] == "https://site1.example/page"


def test_the_first_429_after_the_cool_down_opens_it_again() -> None:
    run = play([brave("apple car"), *asked_after(60, 59, 1)], brave_says=[too_many()] * 3)
    assert [(each.outcome, each.attempts, each.rest_s) for each in run.of(events.Search)][:2] == [
        ("refused", 2, 60.0), ("refused", 1, 60.0),
    ]  # fmt: skip
    assert run.spoken("policy_brave_circuit") == [(3, "refuse")]
    assert run.of(events.Search)[2].outcome == "ok"


@pytest.mark.parametrize(
    ("headers", "waits", "rest"),
    [
        pytest.param((), [1.05], 0.0, id="without a wish the back-off"),
        pytest.param((("Retry-After", "7"),), [7.0], 0.0, id="a short wish is waited for"),
        pytest.param((("Retry-After", "30"),), [], 30.0, id="a long one opens the breaker for so long"),
        pytest.param((("Retry-After", "86400"),), [], 60.0, id="and never longer than the cool-down"),
    ],
)
def test_what_a_429_asks_for_is_what_gate_and_engine_keep(
    headers: tuple[tuple[str, str], ...], waits: list[float], rest: float
) -> None:
    run = play(
        [brave("apple car"), *asked_after(rest - 0.25 if rest else 0, 0.25)],
        brave_says=[too_many(*headers)],
        brave__min_interval_s=1.05,
    )
    first = run.of(events.Search)[0]
    assert first.rest_s == rest
    assert run.clock.waits[: len(waits)] == waits
    assert rest_of(run) == rest
    assert run.spoken("policy_brave_circuit") == ([(2, "refuse")] if rest else [])
    assert run.of(events.Search)[-1].outcome == "ok"


def test_a_429_that_an_answer_follows_opens_no_breaker() -> None:
    says = [too_many(), Reply(b'{"type": "search"}'), too_many(), Reply(b'{"type": "search"}')]
    run = play([brave("apple car"), *asked_after(0)], brave_says=says)
    assert [(each.outcome, each.attempts, each.rest_s) for each in run.of(events.Search)] == [
        ("empty", 2, 0.0), ("empty", 2, 0.0),
    ]  # fmt: skip
    assert run.spoken("policy_brave_circuit") == []


def test_errors_of_the_server_are_backed_off_from_and_open_no_breaker() -> None:
    run = play(
        [brave("apple car"), *asked_after(0)],
        brave_says=[error(500, "X", "Oops.")] * 3,
        brave__min_interval_s=1.0,
    )
    first, second = run.of(events.Search)
    assert (first.outcome, first.attempts, first.waited_s, first.rest_s) == ("failed", 3, 3.0, 0.0)
    assert run.clock.waits[:2] == [1.0, 2.0]
    assert (second.outcome, second.attempts) == ("ok", 1)
    assert run.spoken("policy_brave_circuit") == []


@pytest.mark.parametrize(
    ("reply", "cause", "rest"),
    [
        pytest.param(Reply(b'{"type": "search", "web": '), "format", 0.0, id="malformed"),
        pytest.param(Reply(silent=True), "network", 60.0, id="silent"),
        pytest.param(error(401, "UNAUTHORIZED", "No."), "http", 60.0, id="refused for good"),
    ],
)
def test_what_fails_otherwise_rests_for_the_gate_as_for_the_engine(
    reply: Reply, cause: str, rest: float
) -> None:
    run = play([brave("apple car"), *asked_after(rest / 2, rest / 2)], brave_says=[reply])
    first = run.of(events.Search)[0]
    assert (first.outcome, first.cause, first.attempts, first.rest_s) == (first.outcome, cause, 1, rest)
    assert run.spoken("policy_brave_circuit") == ([(2, "refuse")] if rest else [])
    assert run.of(events.Search)[-1].outcome == "ok"


def test_while_the_breaker_is_open_the_next_engine_is_asked() -> None:
    run = play([brave("apple car"), search("apple car 2014"), PAGE], pages=SITE, brave_says=[too_many()] * 2)
    assert [(each.engine, each.outcome) for each in run.of(events.Search)] == [
        ("brave", "refused"), ("brave", "skipped"), ("wikipedia", "empty"),
    ]  # fmt: skip
    assert (
        "Not from brave: Brave was not asked: it is left alone for 60 s more after its last failure."
        in run.told(2)
    )
    assert rest_of(run) == 61.05
    assert run.told(3).startswith("OBSERVATION ev_0002 · fetch http://b.example/1 · HTTP 200")
