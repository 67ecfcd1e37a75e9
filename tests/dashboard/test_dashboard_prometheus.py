"""A real Prometheus on loopback scrapes a real dashboard, by the files that people are given."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from support.dashboards import Dashboard, Grown, dashboard_of
from support.prometheus import Prometheus, prometheus
from support.specified_metrics import LABELS, SPECIFIED
from vera import events
from vera.metrics import FAMILIES
from vera.session.log import Log

ASSETS = Path(str(files("vera"))) / "assets" / "prometheus"
SCRAPE = ASSETS / "prometheus.yml"
ALERTS = ASSETS / "vera-alerts.yaml"
RULES: list[dict[str, Any]] = [
    rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]
]
INTERVAL = "500ms"
RUNNING = "./work/running"


@dataclass(frozen=True)
class Watched:
    """A dashboard with a run that has ended and one that is under way, which grows."""

    dashboard: Dashboard
    token_file: Path
    log: Log


def under_way(work_dir: Path) -> Log:
    """The log of a run with limits and a round that has a score: no family is without a sample."""
    work_dir.mkdir(parents=True)
    log = Log.create(work_dir / "trace.jsonl", time.time)
    settings = {"run": {"max_steps": 80}, "budget": {"tokens": 400_000}}
    log.append(events.Session(format=events.FORMAT, version="0", settings=settings), "")
    envelope = events.Blob("0" * 64, 2)
    log.append(
        events.Verifier(
            round=1, answer_seq=1, result="SUPPORTED", reason="", attestation="", envelope=envelope, score=400
        ),
        "",
    )
    return log


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("scraped")
    ended = Grown(folder / "work" / "ended")
    ended.append(2)
    ended.end()
    running = under_way(folder / "work" / "running")
    token_file = folder / "token"
    with dashboard_of(folder, token_file) as dashboard:
        yield Watched(dashboard, token_file, running)


@pytest.fixture(scope="module")
def scraping(watched: Watched, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """A Prometheus with our configuration and alerts, and the dashboard's own token file."""
    folder = tmp_path_factory.mktemp("prometheus")
    config = yaml.safe_load(SCRAPE.read_text())
    config["global"] = {
        "scrape_interval": INTERVAL, "scrape_timeout": INTERVAL, "evaluation_interval": INTERVAL,
    }  # fmt: skip
    (job,) = config["scrape_configs"]
    job["static_configs"] = [{"targets": [f"127.0.0.1:{watched.dashboard.port}"]}]
    job["authorization"]["credentials_file"] = str(watched.token_file)
    shutil.copy(ALERTS, folder)
    (folder / SCRAPE.name).write_text(yaml.safe_dump(config))
    with prometheus(folder / SCRAPE.name, folder / "data") as running:
        running.until(lambda: running.query("dra_events_total"), "its first scrape")
        yield running


def exposition(watched: Watched, **query: str) -> bytes:
    with watched.dashboard.client() as client:
        answer = client.get("/metrics", params=query)
    assert answer.status_code == 200
    return answer.content


def value(scraping: Prometheus, expression: str) -> float | None:
    """The value of the one series of an expression, None where there is none yet."""
    found = scraping.get("query", query=expression)["result"]
    return float(found[0]["value"][1]) if found else None


@pytest.mark.needs("promtool")
def test_the_token_of_the_dashboards_own_file_lets_prometheus_in(
    scraping: Prometheus, watched: Watched
) -> None:
    (target,) = scraping.get("targets")["activeTargets"]
    assert (target["health"], target["lastError"]) == ("up", "")
    assert target["scrapeUrl"] == f"{watched.dashboard.url}/metrics"
    assert value(scraping, "up") == 1


@pytest.mark.needs("promtool")
def test_without_the_token_the_target_is_down(watched: Watched, tmp_path: Path) -> None:
    job = {"job_name": "vera", "static_configs": [{"targets": [f"127.0.0.1:{watched.dashboard.port}"]}]}
    config = tmp_path / "prometheus.yml"
    config.write_text(yaml.safe_dump({"global": {"scrape_interval": "1s"}, "scrape_configs": [job]}))
    with prometheus(config, tmp_path / "data") as stranger:
        stranger.until(lambda: value(stranger, "up") is not None, "a scrape")
        (target,) = stranger.get("targets")["activeTargets"]
        assert (target["health"], value(stranger, "up")) == ("down", 0)
        assert "401" in target["lastError"]


@pytest.mark.needs("promtool")
def test_every_family_arrives(scraping: Prometheus) -> None:
    stored = set(scraping.get("label/__name__/values"))
    samples = {f"{name}_count" if family.kind == "histogram" else name for name, family in FAMILIES.items()}
    assert samples - stored == set()
    assert {name for name in stored if name.startswith("dra_")} >= SPECIFIED


@pytest.mark.needs("promtool")
def test_what_is_added_to_a_log_is_there_at_the_next_scrape(scraping: Prometheus, watched: Watched) -> None:
    counted = 'dra_events_total{type="container_event"}'
    before = value(scraping, counted)
    assert before is not None
    for _ in range(5):
        watched.log.append(events.ContainerEvent(event="restored"), "main")
    scraping.until(lambda: value(scraping, counted) == before + 5, "a scrape of five more")
    assert value(scraping, "dra_runs_active") == 1
    assert value(scraping, f'dra_verifier_last_score{{session="{RUNNING}"}}') == 4


@pytest.mark.needs("promtool")
def test_the_alerts_load_and_are_evaluated(scraping: Prometheus) -> None:
    def evaluated() -> list[dict[str, Any]]:
        return [rule for group in scraping.get("rules")["groups"] for rule in group["rules"]]

    scraping.until(lambda: "unknown" not in {rule["health"] for rule in evaluated()}, "its rules")
    assert [rule["name"] for rule in evaluated()] == [rule.get("alert") or rule["record"] for rule in RULES]
    assert [(rule["name"], rule.get("lastError")) for rule in evaluated() if rule["health"] != "ok"] == []


@pytest.mark.needs("promtool")
@pytest.mark.parametrize("query", [{}, {"work_dir": RUNNING}], ids=["all sessions", "one session"])
def test_promtool_has_nothing_to_say(watched: Watched, query: dict[str, str]) -> None:
    checked = subprocess.run(
        ["promtool", "check", "metrics"],
        input=exposition(watched, **query),
        capture_output=True,
        check=False,
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")


def test_every_name_that_is_specified_is_in_the_answer_with_its_labels(watched: Watched) -> None:
    samples: dict[str, set[str]] = {
        sample.name: set(sample.labels)
        for family in text_string_to_metric_families(exposition(watched).decode())
        for sample in family.samples
    }
    assert sorted(SPECIFIED - samples.keys()) == []
    assert {name: labels - samples[name] for name, labels in LABELS.items() if labels - samples[name]} == {}


def test_the_answer_does_not_name_the_token(watched: Watched) -> None:
    assert watched.dashboard.token.encode() not in exposition(watched)
