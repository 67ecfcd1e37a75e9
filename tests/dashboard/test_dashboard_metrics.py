"""`/metrics`: all sessions of the base folder, each record counted once."""

import asyncio
import re
from pathlib import Path

import pytest

from support.dashboards import Grown, app_of, dashboard_of
from vera.dashboard import metrics as dashboard_metrics
from vera.dashboard.metrics import BaseMetrics
from vera.dashboard.sessions import Sessions

EVENTS = 'dra_events_total{type="container_event"}'


def value(text: bytes, series: str) -> float | None:
    """The value of a series, None where there is none."""
    found = re.search(rf"^{re.escape(series)} (\S+)$", text.decode(), re.MULTILINE)
    return float(found[1]) if found else None


def scraped(metrics: BaseMetrics) -> bytes:
    """The exposition as it is now."""
    return asyncio.run(metrics.exposition())


def test_all_sessions_count_and_each_record_once(tmp_path: Path) -> None:
    one, other = Grown(tmp_path / "work" / "one"), Grown(tmp_path / "work" / "other")
    one.append(3)
    other.append(4)
    metrics = BaseMetrics(Sessions(tmp_path))
    assert value(scraped(metrics), EVENTS) == 7
    assert scraped(metrics) is scraped(metrics)
    one.append(2)
    assert value(scraped(metrics), EVENTS) == 9
    assert value(scraped(metrics), "dra_runs_active") == 2
    one.end()
    assert value(scraped(metrics), "dra_runs_active") == 1


def test_half_a_line_counts_when_it_is_whole(tmp_path: Path) -> None:
    log = Grown(tmp_path / "run")
    metrics = BaseMetrics(Sessions(tmp_path))
    log.append()
    line = log.path.read_bytes().splitlines(keepends=True)[-1]
    log.path.write_bytes(log.path.read_bytes()[: -len(line) // 2])
    assert not value(scraped(metrics), EVENTS)
    with log.path.open("ab") as file:
        file.write(line[-(len(line) // 2) :])
    assert value(scraped(metrics), EVENTS) == 1


def test_one_session_can_be_asked_for(tmp_path: Path) -> None:
    Grown(tmp_path / "work" / "one").append(3)
    Grown(tmp_path / "work" / "other").append(4)
    sessions = Sessions(tmp_path)
    metrics = BaseMetrics(sessions)
    one = sessions.by_work_dir("./work/one")
    assert value(asyncio.run(metrics.exposition_of(one)), EVENTS) == 3
    assert value(scraped(metrics), EVENTS) == 7


def test_what_a_session_did_stays_counted_when_it_vanishes_and_its_gauges_go(tmp_path: Path) -> None:
    log = Grown(tmp_path / "work" / "one")
    log.append(3)
    metrics = BaseMetrics(Sessions(tmp_path), listed_seconds=0.0)
    assert value(scraped(metrics), 'dra_max_step{session="./work/one"}') is not None
    log.path.unlink()
    text = scraped(metrics)
    assert value(text, EVENTS) == 3
    assert value(text, "dra_runs_active") == 0
    assert value(text, 'dra_max_step{session="./work/one"}') is None


def test_a_log_in_the_place_of_another_is_counted_from_its_start(tmp_path: Path) -> None:
    log = Grown(tmp_path / "run")
    log.append(3)
    metrics = BaseMetrics(Sessions(tmp_path))
    scraped(metrics)
    log.path.rename(tmp_path / "old")
    Grown(tmp_path / "run").append(2)
    assert value(scraped(metrics), EVENTS) == 5


def test_a_broken_line_ends_what_is_counted_of_its_log_alone(tmp_path: Path) -> None:
    log, other = Grown(tmp_path / "one"), Grown(tmp_path / "other")
    with log.path.open("ab") as file:
        file.write(b'{"type":"\xff"}\n')
    metrics = BaseMetrics(Sessions(tmp_path))
    other.append(2)
    assert value(scraped(metrics), EVENTS) == 2


@pytest.mark.parametrize("glanced", [0, 1, 64])
def test_what_has_changed_since_the_last_time_is_always_counted(
    glanced: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dashboard_metrics, "MAX_GLANCED", glanced)
    one, other = Grown(tmp_path / "one"), Grown(tmp_path / "other")
    metrics = BaseMetrics(Sessions(tmp_path))
    before = scraped(metrics)
    assert scraped(metrics) is before
    for number in (1, 2):
        one.append()
        other.append()
        assert value(scraped(metrics), EVENTS) == 2 * number
    one.path.rename(tmp_path / "old")
    Grown(tmp_path / "one").append(5)
    assert value(scraped(metrics), EVENTS) == 9
    other.end()
    assert value(scraped(metrics), "dra_runs_active") == 1


def test_a_session_that_comes_is_counted_once_the_folder_is_looked_through(tmp_path: Path) -> None:
    Grown(tmp_path / "one").append()
    metrics = BaseMetrics(Sessions(tmp_path), listed_seconds=0.0)
    assert value(scraped(metrics), EVENTS) == 1
    Grown(tmp_path / "other").append(2)
    assert value(scraped(metrics), EVENTS) == 3


def test_a_compressed_answer_is_of_the_logs_as_they_are_now(tmp_path: Path) -> None:
    log, _ = Grown(tmp_path / "one"), Grown(tmp_path / "other").append(3)
    with app_of(tmp_path) as client:
        for path in ("/metrics", "/metrics?work_dir=./one"):
            for _ in range(2):
                log.append()
                packed = client.get(path, headers={"accept-encoding": "gzip"})
                plain = client.get(path, headers={"accept-encoding": "identity"})
                assert packed.headers["content-encoding"] == "gzip"
                assert "content-encoding" not in plain.headers
                assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
                assert packed.content == plain.content
                assert int(packed.headers["content-length"]) < len(plain.content)


def test_the_route_is_scraped_with_the_token_and_narrows_to_a_session(tmp_path: Path) -> None:
    Grown(tmp_path / "work" / "one").append(3)
    Grown(tmp_path / "work" / "other").append(4)
    with dashboard_of(tmp_path, tmp_path / "token") as dashboard, dashboard.client() as client:
        answer = client.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        assert value(answer.content, EVENTS) == 7
        narrowed = client.get("/metrics", params={"work_dir": "./work/one"})
        assert value(narrowed.content, EVENTS) == 3
        assert client.get("/metrics", params={"work_dir": "./work/none"}).status_code == 404
