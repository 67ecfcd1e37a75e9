"""Verdicts and cost by day: what is counted, drawn and told."""

import datetime
import os
import re
from pathlib import Path

import msgspec
import pytest
from selectolax.lexbor import LexborHTMLParser

from support.dashboards import Grown, app_of
from support.markup import problems, visible_text
from support.run_pages import header as made
from vera.dashboard.over_time import BANDS, MAX_DAYS, Day, band_of, days_of, over_time_svg
from vera.dashboard.session_index import Found, SessionIndex, Wanted
from vera.report.standing import PHASES, VERDICTS

DAY = 86_400.0


def test_days_are_counted_by_how_sessions_ended_with_those_between() -> None:
    rows = [
        ("2026-03-01", "VERIFIED", 2, 0.5),
        ("2026-03-01", "UNRESOLVED", 1, 0.25),
        ("2026-03-01", "PARTIAL", 3, 0.0),
        ("2026-03-01", "DISPUTED", 4, 0.0),
        ("2026-03-01", "REFUTED", 5, 0.0),
        ("2026-03-03", "x", 4, 0.0),
    ]
    first, second = datetime.date(2026, 3, 1), datetime.date(2026, 3, 2)
    assert days_of(rows) == (
        Day(day=first, holds=2, partial=3, disputed=4, refuted=5, failed=1, cost=0.75),
        Day(day=second),
        Day(day=datetime.date(2026, 3, 3), others=4),
    )
    assert days_of([]) == ()


def test_every_state_of_the_index_is_in_a_band_with_its_own_word_and_colour() -> None:
    assert len(set(BANDS.values())) == len(BANDS)
    states = [("2026-03-01", state, number, 0.0) for number, state in enumerate((*VERDICTS, *PHASES), 1)]
    (day,) = days_of(states)
    assert day.count == sum(count for _, _, count, _ in states) and all(count for _, count in day.bands)
    drawn = over_time_svg([day])
    classes = [re.findall(rf'class="([^"]+)"[^<]*><title>[^<]*{words}', drawn)[0] for words in BANDS.values()]
    assert len(set(classes)) == len(BANDS)
    assert band_of("REFUTED") == "refuted" and band_of("UNTRUSTED") == "failed" and band_of("new") == "others"


@pytest.mark.parametrize("cost", [float("inf"), float("-inf"), -1.0, 1e300])
def test_a_cost_that_cannot_be_is_left_out(cost: float) -> None:
    (day,) = days_of([("2026-03-01", "QUOTED", 1, cost)])
    assert day.cost == 0.0
    assert "inf" not in over_time_svg([day]) and "nan" not in over_time_svg([day])


def test_costs_are_drawn_where_there_are_any() -> None:
    days = days_of([("2026-03-01", "QUOTED", 1, 0.5)])
    free = [msgspec.structs.replace(day, cost=0.0) for day in days]
    assert ">cost</text>" in over_time_svg(days) and ">cost</text>" not in over_time_svg(free)


def test_a_picture_has_the_newest_days_only() -> None:
    days = days_of([("1970-01-01", "QUOTED", 1, 0.0), ("9999-12-31", "QUOTED", 1, 0.0)])
    assert len(days) == MAX_DAYS and days[-1].day == datetime.date.max and days[0].count == 0


def test_the_index_counts_what_an_address_asks_for(tmp_path: Path) -> None:
    index = SessionIndex(tmp_path, tmp_path / "index.sqlite")
    times = {b"a": 0.0, b"b": DAY, b"c": DAY + 1, b"d": -5.0, b"e": 1e18}
    index.sync({name: ("1", time) for name, time in times.items()})
    header = made(task="dams", verdict="QUOTED", phase="ended", cost="0.5")
    for name in times:
        index.put(Found(name=name, seen="", header=header if name != b"c" else None, kind="research"))
    assert index.by_day(Wanted()) == [
        ("1970-01-01", "QUOTED", 1, 0.5),
        ("1970-01-02", "QUOTED", 1, 0.5),
        ("1970-01-02", "new", 1, 0.0),
    ]
    assert len(index.by_day(Wanted(words="dams"))) == 2
    assert index.by_day(Wanted(kind="thesis")) == []
    index.close()


def test_the_page_has_a_picture_with_words_and_a_table(tmp_path: Path) -> None:
    for number, name in enumerate(("one", "two")):
        grown = Grown(tmp_path / name, task="<b>dam</b>")
        grown.end()
        os.utime(grown.log.path, (DAY * (number + 1), DAY * (number + 1)))
    with app_of(tmp_path) as client:
        listed, text = client.get("/?q=dam").text, client.get("/over-time?q=dam").text
        none = client.get("/over-time?q=<script>alert(1)</script>").text
        assert client.get("/over-time?kind=x").status_code == 400
    assert 'href="/over-time?q=dam"' in listed
    assert problems(text) == problems(none) == []
    page = LexborHTMLParser(text)
    svg = page.css_first("svg.days")
    assert svg is not None and svg.attributes["role"] == "img"
    assert svg.css_first("title") is not None and "2 sessions" in svg.css_first("desc").text()
    assert [row.css_first("th").text() for row in page.css("tbody tr")] == ["1970-01-03", "1970-01-02"]
    assert "No session matches" in visible_text(none) and "<script>alert" not in none
