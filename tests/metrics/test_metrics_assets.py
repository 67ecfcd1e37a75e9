"""The Grafana dashboard, the alerts and the scrape configuration name what the exposition has, and a real
Prometheus takes them."""

import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from support.cast import Cast, asking, final, looked_up, turn
from support.cli import records, vera
from support.prometheus import Prometheus, metrics_server, prometheus
from support.promql import Matcher, named
from support.scripted_server import ScriptedServer
from vera import events
from vera.metrics import FAMILIES, Metrics
from vera.metrics.families import OTHER, POLICIES

ROOT = Path(__file__).parents[2]
ASSETS = Path(str(files("vera"))) / "assets"
ALERTS = ASSETS / "prometheus" / "vera-alerts.yaml"
ALERT_TESTS = ASSETS / "prometheus" / "vera-alerts.test.yaml"
SCRAPE = ASSETS / "prometheus" / "prometheus.yml"

DASHBOARD: dict[str, Any] = json.loads((ASSETS / "grafana" / "vera.json").read_text())
ROWS: list[dict[str, Any]] = [panel for panel in DASHBOARD["panels"] if panel["type"] == "row"]
LAID_OUT: list[list[dict[str, Any]]] = [DASHBOARD["panels"], *(row["panels"] for row in ROWS)]
"""What is seen at first, and what each folded row has in it."""

PANELS = [panel for panel in itertools.chain.from_iterable(LAID_OUT) if panel["type"] != "row"]
RULES: list[dict[str, Any]] = [
    rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]
]
RECORDED = {rule["record"] for rule in RULES if "record" in rule}

UNITS = {"none", "short", "s", "Bps", "percentunit"}
"""Grafana's ids of units that are used here: one that it does not know would be shown as a suffix."""

OF_PROMETHEUS = {"job", "instance"}
"""Labels that every scraped sample has."""


class Query(NamedTuple):
    """An expression of the dashboard as Prometheus gets it from Grafana, and its legend."""

    panel: str
    expression: str
    legend: str


def asked(expression: str) -> str:
    """The expression with Grafana's variables filled in: all sessions, and ranges that are long enough."""
    filled = expression.replace("$__rate_interval", "5m").replace("$__range", "6h").replace("$session", ".*")
    assert "$" not in filled, expression
    return filled


QUERIES = [
    Query(panel["title"], asked(target["expr"]), target["legendFormat"])
    for panel in PANELS
    for target in panel["targets"]
]
EXPRESSIONS = [*(query.expression for query in QUERIES), *(rule["expr"] for rule in RULES)]


def samples() -> dict[str, dict[str, tuple[str, ...]]]:
    """Sample name → its labels → the values that they take (none listed: any)."""
    found = {}
    for name, family in FAMILIES.items():
        labels = {label: values and (*values, OTHER) for label, values in family.labels.items()}
        if family.kind == "histogram":
            found[f"{name}_bucket"] = {**labels, "le": ()}
            found[f"{name}_sum"] = found[f"{name}_count"] = labels
        else:
            found[name] = labels
    return found


SAMPLES = samples()


def matches(matcher: Matcher, values: tuple[str, ...]) -> bool:
    """Whether each value that the matcher names is one that the label can have."""
    if not values:
        return True
    if matcher.operator in ("=", "!="):
        return matcher.value in values
    return all(any(re.fullmatch(part, each) for each in values) for part in matcher.value.split("|"))


def promtool(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["promtool", *map(str, arguments)], capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_names_only_metrics_and_labels_that_are_exposed(expression: str) -> None:
    names = named(expression)
    assert names.metrics
    for name, matchers in names.metrics:
        if name in RECORDED or name == "up":
            continue
        labels = SAMPLES[name]
        assert {matcher.label for matcher in matchers} <= labels.keys()
        assert [each for each in matchers if not matches(each, labels[each.label])] == []
        assert names.grouped <= labels.keys()


def test_every_family_is_shown_on_the_dashboard() -> None:
    """A policy is shown by its event: one expression for all of them."""
    shown = {name for query in QUERIES for name, _ in named(query.expression).metrics}
    hidden = {name for name in FAMILIES if not shown & {name, f"{name}_bucket", f"{name}_sum"}}
    assert hidden - set(POLICIES.values()) == set()


def test_every_panel_has_an_id_of_its_own_a_title_a_unit_and_a_description() -> None:
    ids = [panel["id"] for panel in (*ROWS, *PANELS)]
    assert len(ids) == len(set(ids))
    titles = [panel["title"] for panel in PANELS]
    assert len(titles) == len(set(titles))
    for panel in PANELS:
        assert panel["title"] and len(panel["description"]) > 5
        assert panel["fieldConfig"]["defaults"]["unit"] in UNITS
        letters = [target["refId"] for target in panel["targets"]]
        assert letters and len(letters) == len(set(letters))


def test_every_query_asks_the_data_source_that_is_chosen() -> None:
    chosen = {"type": "prometheus", "uid": "${datasource}"}
    variables = {variable["name"]: variable for variable in DASHBOARD["templating"]["list"]}
    assert variables.keys() == {"datasource", "session", "vera"}
    assert variables["datasource"]["type"] == "datasource"
    assert variables["session"]["query"]["query"] == "label_values(dra_last_event_ts, session)"
    assert "session" in FAMILIES["dra_last_event_ts"].labels
    for asking_one in [variables["session"], *PANELS, *(target for p in PANELS for target in p["targets"])]:
        assert asking_one["datasource"] == chosen


def test_gauges_of_a_run_can_be_narrowed_to_its_session() -> None:
    for target in itertools.chain.from_iterable(panel["targets"] for panel in PANELS):
        for name, matchers in named(target["expr"]).metrics:
            narrowed = Matcher("session", "=~", "$session") in matchers
            assert narrowed == ("session" in SAMPLES[name])


def test_rows_stand_in_order_and_no_panel_lies_on_another() -> None:
    assert [row["title"] for row in ROWS] == [
        "Runs", "Verification", "Claims and findings", "Gates", "Tools", "Model", "Search", "Budgets",
        "Egress", "Sandbox", "Best of N",
    ]  # fmt: skip
    for panels in LAID_OUT:
        taken: set[tuple[int, int]] = set()
        for place in (panel["gridPos"] for panel in panels):
            assert place["x"] + place["w"] <= 24
            cells = {
                (place["x"] + right, place["y"] + down)
                for right in range(place["w"])
                for down in range(place["h"])
            }
            assert not cells & taken
            taken |= cells


def test_all_rows_but_the_first_two_are_folded() -> None:
    assert [row["collapsed"] for row in ROWS] == [False] * 2 + [True] * 9
    assert [bool(row["panels"]) for row in ROWS] == [False] * 2 + [True] * 9


def test_an_active_runs_name_leads_to_its_page() -> None:
    """By the variable that has the address of `vera dashboard`; `/?work_dir=` leads on to the session."""
    (address,) = (each for each in DASHBOARD["templating"]["list"] if each["name"] == "vera")
    assert (address["type"], address["query"]) == ("textbox", "http://127.0.0.1:8844")
    (table,) = (panel for panel in PANELS if panel["type"] == "table")
    assert "Session" in table["transformations"][-1]["options"]["renameByName"].values()
    (links,) = (
        part["value"]
        for override in table["fieldConfig"]["overrides"]
        if override["matcher"] == {"id": "byName", "options": "Session"}
        for part in override["properties"]
    )
    assert [link["url"] for link in links] == ["${vera:raw}/?work_dir=${__value.raw:percentencode}"]


def test_every_alert_says_what_happened_and_what_to_do() -> None:
    alerts = [rule for rule in RULES if "alert" in rule]
    assert len({alert["alert"] for alert in alerts}) == len(alerts)
    for alert in alerts:
        assert alert["alert"].startswith("Vera")
        assert alert["labels"]["severity"] in ("warning", "info")
        assert alert["annotations"].keys() == {"summary", "description"}


def test_of_every_alert_there_is_a_case_that_fires_and_one_that_does_not() -> None:
    cases = [
        (case["alertname"], bool(case.get("exp_alerts")))
        for test in yaml.safe_load(ALERT_TESTS.read_text())["tests"]
        for case in test["alert_rule_test"]
    ]
    alerts = {rule["alert"] for rule in RULES if "alert" in rule}
    assert {name for name, fires in cases if fires} == alerts
    assert {name for name, fires in cases if not fires} == alerts


def test_every_alert_is_documented_with_its_severity_and_no_other() -> None:
    page = (ROOT / "docs" / "how-to" / "watch-with-prometheus.md").read_text()
    documented = re.findall(r"^\| `(Vera\w+)` \| (\w+) \|", page, re.MULTILINE)
    assert documented == [(rule["alert"], rule["labels"]["severity"]) for rule in RULES if "alert" in rule]


@pytest.mark.needs("promtool")
def test_promtool_accepts_the_alerts_and_their_tests_pass() -> None:
    checked = promtool("check", "rules", ALERTS)
    assert (checked.returncode, checked.stderr) == (0, "")
    tested = promtool("test", "rules", ALERT_TESTS)
    assert tested.returncode == 0, tested.stdout + tested.stderr


@pytest.mark.needs("promtool")
def test_every_expression_of_the_dashboard_is_promql(tmp_path: Path) -> None:
    recording = [
        {"record": f"panel:{number}", "expr": query.expression} for number, query in enumerate(QUERIES)
    ]
    rules = tmp_path / "rules.yaml"
    rules.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": recording}]}))
    checked = promtool("check", "rules", rules)
    assert checked.returncode == 0, checked.stderr
    assert f"{len(recording)} rules found" in checked.stdout


WRONG = final("A written offer must be valid for seven years [ev_0001:3].")
RIGHT = final("A written offer must be valid for at least three years [ev_0001:3].")
QUESTION = {
    "claim": "c1",
    "question": "Does the file say that a written offer is valid for three years?",
    "source": "terms.txt",
    "label": "misinterpretation",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run: an answer that was sent back, a corrected one, a check lane, a judge."""
    base = tmp_path_factory.mktemp("assets")
    (base / "documents").mkdir()
    (base / "documents" / "terms.txt").write_text(
        "Terms\n\nA written offer must be valid for at least three years.\nIt is free of charge.\n"
    )
    cast = Cast(
        [turn("read", path="terms.txt"), WRONG, turn("read", path="terms.txt"), RIGHT],
        decompose=asking(QUESTION),
        check=looked_up(turn("read", path="terms.txt"), final("yes [ev_0003:3]")),
    )
    with ScriptedServer(cast) as server:
        done = vera(
            "run", "--task", "How long must a written offer be valid?", "--input-dir", base / "documents",
            "--work-dir", base / "work", "--model-base-url", server.root, "--protocol", "text",
            "--sandbox", "none", "--egress", "none", cwd=base,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return base / "work"


class Growing:
    """An exposition in which a log goes on with each scrape, up to the record before its end, and the same
    log stands whole beside it."""

    def __init__(self, log: list[events.Record]) -> None:
        self._metrics = Metrics()
        self._rest = log[:-1]
        for record in log:
            self._metrics.apply(record, "work/finished")

    @property
    def whole(self) -> bool:
        return not self._rest

    def render(self) -> bytes:
        now, self._rest = self._rest[:40], self._rest[40:]
        for record in now:
            self._metrics.apply(record, "work/running")
        return self._metrics.render()


def configured(folder: Path, target: str, token: str) -> Path:
    """Our files as a person has them beside each other, for that server and with shorter intervals."""
    config = yaml.safe_load(SCRAPE.read_text())
    config["global"] = {"scrape_interval": "500ms", "scrape_timeout": "500ms", "evaluation_interval": "500ms"}
    (job,) = config["scrape_configs"]
    job["static_configs"] = [{"targets": [target]}]
    (folder / job["authorization"]["credentials_file"]).write_text(token + "\n")
    shutil.copy(ALERTS, folder)
    (folder / SCRAPE.name).write_text(yaml.safe_dump(config))
    return folder / SCRAPE.name


@pytest.fixture(scope="module")
def scraping(session: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """A Prometheus that has scraped the metrics of the session to their end, and evaluated the alerts."""
    folder = tmp_path_factory.mktemp("prometheus")
    growing = Growing(records(session))
    with metrics_server("a token", growing.render) as (target, answered):
        config = configured(folder, target, "a token")
        with prometheus(config, folder / "data") as running:
            running.until(lambda: growing.whole, "reading the log to its end")
            scraped = answered.get(200, 0)
            running.until(lambda: answered.get(200, 0) > scraped + 2, "scraping what was read")
            running.until(
                lambda: "unknown" not in {rule["health"] for rule in evaluated(running)}, "its rules"
            )
            assert answered.keys() == {200}
            yield running


def evaluated(running: Prometheus) -> list[dict[str, Any]]:
    return [rule for group in running.get("rules")["groups"] for rule in group["rules"]]


@pytest.mark.needs("promtool")
def test_the_scrape_configuration_is_valid_and_its_token_is_sent(scraping: Prometheus) -> None:
    (target,) = scraping.get("targets")["activeTargets"]
    assert (target["health"], target["lastError"]) == ("up", "")
    assert scraping.query("up") == [
        {"__name__": "up", "job": "vera", "instance": target["labels"]["instance"]}
    ]


@pytest.mark.needs("promtool")
def test_promtool_accepts_the_scrape_configuration(tmp_path: Path) -> None:
    checked = promtool("check", "config", configured(tmp_path, "127.0.0.1:8844", "a token"))
    assert checked.returncode == 0, checked.stderr


@pytest.mark.needs("promtool")
def test_a_real_prometheus_evaluates_every_rule_and_a_good_run_alerts_nobody(scraping: Prometheus) -> None:
    rules = evaluated(scraping)
    assert [rule["name"] for rule in rules] == [rule.get("alert") or rule["record"] for rule in RULES]
    assert {rule["health"] for rule in rules} == {"ok"}
    assert scraping.get("alerts")["alerts"] == []


@pytest.mark.needs("promtool")
@pytest.mark.parametrize("query", QUERIES, ids=lambda query: f"{query.panel}: {query.legend}")
def test_a_real_prometheus_answers_every_expression_of_the_dashboard(
    scraping: Prometheus, query: Query
) -> None:
    """With at least one series, which has each label of the legend."""
    series = scraping.query(query.expression)
    assert series
    assert set(re.findall(r"{{(\w+)}}", query.legend)) <= set.intersection(*map(set, series))
