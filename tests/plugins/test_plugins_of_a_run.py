"""What a run makes of the plugins that are enabled: their shapes and names, and what each may say."""

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import msgspec
import pytest

import vera
from support.gating import Trial, rules_for
from support.plugin_packages import put
from vera import events
from vera.agent.errors import SetupError
from vera.audit.case import Case
from vera.config import defaults
from vera.config.errors import ConfigError, Refused
from vera.config.handed import Handed
from vera.config.loading import load
from vera.corpus import Corpus
from vera.evidence.claim import Claim
from vera.evidence.finding import Finding
from vera.extraction.canonical.registry import Format
from vera.extraction.extractor import Extractor
from vera.extraction.source import Extracted, Unreadable
from vera.gates.kernel import ALLOW, End, NextTurn, Nudge, Rules, State
from vera.gates.plugin import plugin_gate
from vera.model.servers.base import Server, Sighting
from vera.model.servers.plugin import plugin_server
from vera.plugins import FAMILIES, PluginError
from vera.plugins.calling import PluginFailed, call
from vera.runtime.plugins import NONE, Plugins, open_plugins
from vera.state import LaneState
from vera.verification.plugin_checks import MAX_FINDINGS, PluginCheck, findings_of
from vera.websearch.plugin import PluginEngine
from vera.websearch.values import Malformed, Query, Unfit

TAKEN = {
    "tools": "shell",
    "gates": "stuck",
    "checks": "numbers",
    "selectors": "pairwise",
    "search_engines": "brave",
    "formats": "pdf",
    "model_servers": "ollama",
    "connectors": "git",
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    before = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path / "site")
    yield tmp_path / "site"
    for name in set(sys.modules) - before:
        del sys.modules[name]


def opened(*names: str, **changes: object) -> Plugins:
    settings = {"plugins.enabled": ",".join(names)}
    return open_plugins(defaults({**settings, **{f"plugins.{key}": value for key, value in changes.items()}}))


# Who enables one


def test_without_a_name_nothing_is_looked_for() -> None:
    assert open_plugins(defaults()) is NONE


@pytest.mark.parametrize("source", ["task", "form"])
@pytest.mark.parametrize("key", ["enabled", "hard_checks", "seconds"])
def test_a_task_or_form_cannot_set_what_plugins_do(tmp_path: Path, source: Any, key: str) -> None:
    value = {"seconds": "86000"}.get(key, "weekday")
    handed = Handed(source=source, where="the task 'one'", text="What?", settings={f"plugins.{key}": value})
    with pytest.raises(Refused, match=rf"plugins\.{key}"):
        load(environ={}, cwd=tmp_path, user_config=tmp_path / "none.yaml", handed=handed)


@pytest.mark.parametrize("file", ["vera.yaml", ".env"])
def test_a_project_folder_cannot_enable_one_and_the_person_can(tmp_path: Path, file: str) -> None:
    yaml, dotenv = "plugins:\n  enabled: weekday\n", "VERA_PLUGINS__ENABLED=weekday\n"
    folder, own = tmp_path / "project", tmp_path / "config.yaml"
    folder.mkdir()
    own.write_text(yaml)
    mine = load(environ={}, cwd=folder, user_config=own)
    assert mine.settings.plugins.enabled == "weekday"
    assert (
        load(["plugins.enabled=a"], environ={}, cwd=folder, user_config=own).settings.plugins.enabled == "a"
    )
    (folder / file).write_text(yaml if file == "vera.yaml" else dotenv)
    with pytest.raises(ConfigError, match=r"plugins\.enabled"):
        load(environ={}, cwd=folder, user_config=tmp_path / "none.yaml")


# Shapes and names


@pytest.mark.parametrize("family", FAMILIES)
def test_a_plugin_named_as_a_part_of_ours_is_refused_and_not_imported(site: Path, family: str) -> None:
    put(site, "impostor", "raise RuntimeError", {family: {TAKEN[family]: "thing"}})
    with pytest.raises(SetupError, match=f"{TAKEN[family]} of strange-parts has the name of a part") as error:
        opened(TAKEN[family])
    assert error.value.exit_code == 2
    assert "impostor" not in sys.modules


@pytest.mark.parametrize(
    ("family", "thing", "said"),
    [
        ("tools", "3", "must be a function"),
        ("tools", "lambda day: day", "needs a docstring"),
        ("gates", "lambda state: None", "takes 1 arguments; one in vera.gates takes 3"),
        ("checks", "lambda: ()", "takes 0 arguments; one in vera.checks takes 1"),
        ("checks", "object", "must be a function"),
        ("selectors", "object()", "is no class"),
        ("search_engines", "object()", "is no search engine: it has no 'title'"),
        ("formats", "3", "is no Format"),
        ("model_servers", "3", "is no kind of model server"),
    ],
)
def test_a_wrong_shape_is_a_sentence(site: Path, family: str, thing: str, said: str) -> None:
    put(site, "shapeless", f"thing = {thing}", {family: {"odd_one": "thing"}})
    with pytest.raises(SetupError, match=said) as error:
        opened("odd_one")
    assert error.value.exit_code == 2


def test_hard_checks_must_be_checks_that_are_enabled(site: Path) -> None:
    put(site, "quiet", "def quiet(case): return ()", {"checks": {"quiet": "quiet"}})
    assert [each.may_be_hard for each in opened("quiet", hard_checks="quiet").checks] == [True]
    with pytest.raises(SetupError, match="names other, which is no check"):
        opened("quiet", hard_checks="other")


# Checks

CASE = Case(
    task="What?",
    answer="The hall is open.",
    claims=(Claim(key="c1", text="The hall is open.", start=0, end=17),),
    evidence={},
    sources={},
)
HARD = Finding(code="odd", label="fabricated", severity="hard", claim="c1", message="No.")


def found(check: Callable[[Case], Any], **how: Any) -> tuple[Finding, ...]:
    return findings_of([PluginCheck(name="mine", check=check, **how)], CASE)


def test_a_hard_finding_is_soft_unless_the_person_allows_it() -> None:
    assert [each.severity for each in found(lambda case: [HARD])] == ["soft"]
    assert [each.severity for each in found(lambda case: [HARD], may_be_hard=True)] == ["hard"]


def test_members_are_bounded_and_point_at_what_there_is() -> None:
    wild = Finding(
        code="x" * 99, label="made up", severity="soft", claim="c9", evidence="ev_0001", first=5, last=2,
        message="a\nb\x1b" + "c" * 9999, detail="d" * 9999,
    )  # fmt: skip
    (one,) = found(lambda case: [wild])
    assert one.code.startswith("plugin:mine.x") and len(one.code) < 60
    assert (one.label, one.claim, one.evidence, one.first) == ("wrong_evidence", "", "", 0)
    assert "\n" not in one.message and len(one.message) <= 500 and len(one.detail) <= 200


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (lambda case: 1 / 0, "failed with ZeroDivisionError"),
        (lambda case: None, "failed with TypeError"),
        (lambda case: ["odd"], "something else than findings"),
        (lambda case: [Finding(code="a", label="b", severity="worst", message="m")], "ValidationError"),  # type: ignore[arg-type] # what must fail
    ],
)
def test_a_check_that_fails_is_one_hint(check: Callable[[Case], Any], said: str) -> None:
    (one,) = found(check, may_be_hard=True)
    assert (one.code, one.severity) == ("plugin:mine.failed", "soft")
    assert said in one.message


def test_a_check_that_hangs_is_given_up() -> None:
    gate = threading.Event()
    try:
        (one,) = found(lambda case: [gate.wait(30)], seconds=0.05)
    finally:
        gate.set()
    assert "did not end within 0.05 s" in one.message


def test_a_check_cannot_flood_the_log() -> None:
    def endless(case: Case) -> Iterator[Finding]:
        while True:
            yield HARD

    flood = found(endless)
    assert (len(flood), flood[-1].code) == (MAX_FINDINGS + 1, "plugin:mine.more")


# Gates

STATE = State(lane=LaneState(name="main"))


def asked(judge: Callable[..., Any]) -> Any:
    return plugin_gate("mine", judge).judge(STATE, NextTurn(ts=0.0, step=1), Rules())


def test_a_verdict_of_a_plugin_gate_is_kept_and_bounded() -> None:
    assert asked(lambda state, action, rules: ALLOW) == ALLOW
    told = asked(lambda state, action, rules: Nudge(reason="a\nb" + "c" * 9999))
    assert isinstance(told, Nudge)
    assert told.reason.startswith("a b") and len(told.reason) == 500


@pytest.mark.parametrize(
    "judge",
    [
        lambda state, action, rules: None,
        lambda state, action, rules: 1 / 0,
        lambda state, action, rules: Nudge(reason=3),  # type: ignore[arg-type] # what must fail
    ],
)
def test_a_plugin_gate_that_cannot_be_asked_ends_the_run(judge: Callable[..., Any]) -> None:
    verdict = asked(judge)
    assert isinstance(verdict, End)
    assert verdict.reason.startswith("The gate mine of a plugin cannot be asked: it ")


def test_its_name_stands_in_the_log_and_in_what_the_model_reads() -> None:
    gate = plugin_gate("mine", lambda state, action, rules: Nudge(reason="Slow down."))
    assert (gate.name, gate.key) == ("policy_mine", "mine")
    trial = Trial(rules_for(), gates=(gate,))
    assert trial.gate_runner.observed(1, "read") == ["POLICY policy_mine: Slow down."]
    assert [each.gate for each in trial.spoken(events.PolicyGate) if isinstance(each, events.PolicyGate)] == [
        "mine"
    ]
    assert trial.lane.history.times("mine") == 1


# Formats


def calendar(suffixes: tuple[str, ...] = (".ics",), extract: Any = None) -> Format:
    def usual(data: bytes, name: str) -> Extracted:
        return Extracted(text=b"one\r\ntwo\x07", title="T", media_type="x", extractor="pdf/1")

    return Format("any", suffixes, hostile=True, limit=1000, extract=extract or usual)


def formats(given: Format) -> tuple[Format, ...]:
    from vera.extraction.canonical.plugin import plugin_format

    return (plugin_format("calendar", given, "parts-1.0", 5.0),)


def test_its_text_is_canonical_and_named_as_a_plugins() -> None:
    with Extractor(formats=formats(calendar())) as extractor:
        made = extractor.extract(b"BEGIN", "a.ICS")
        plain = extractor.extract(b"BEGIN", "a.txt")
    assert (made.text, made.title, made.extractor) == (b"one\ntwo \n", "T", "plugin:calendar/parts-1.0")
    assert plain.extractor.startswith("txt/")


def test_an_index_made_without_it_or_by_another_version_is_made_again(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.ics").write_text("BEGIN")
    made = []
    for further in ((), formats(calendar()), formats(calendar()), ()):
        with Extractor(formats=further) as extractor, Corpus(folder, tmp_path / "index", extractor) as corpus:
            made.append(corpus.update().read)
            assert bool(corpus.search("one").hits) == bool(further)
    assert made == [1, 1, 0, 1]


@pytest.mark.parametrize(
    ("extract", "said"),
    [
        (lambda data, name: 1 / 0, "ZeroDivisionError"),
        (lambda data, name: b"text", "something else than Extracted"),
        (lambda data, name: Extracted(text=b"", title="", media_type="", extractor=""), "no text"),
    ],
)
def test_a_format_that_fails_makes_the_file_unreadable(extract: Any, said: str) -> None:
    with Extractor(formats=formats(calendar(extract=extract))) as extractor:
        with pytest.raises(Unreadable, match=said):
            extractor.extract(b"BEGIN", "a.ics")
        with pytest.raises(Unreadable, match="larger than"):
            extractor.extract(b"x" * 1001, "a.ics")


@pytest.mark.parametrize("suffixes", [(), ("ics",), (".ICS",), (".pdf",), (".ics", ".txt")])
def test_a_format_has_suffixes_that_no_format_of_ours_has(suffixes: tuple[str, ...]) -> None:
    with pytest.raises(PluginError):
        formats(calendar(suffixes))


# Search engines and model servers


class Wild:
    """An engine whose every function does something wrong."""

    title = "Wild\x1b[31m"
    kinds = ("web",)
    needs_key = False

    def __init__(self) -> None:
        from vera.websearch import SearchLimits

        self.limits = SearchLimits()

    def request(self, query: Query) -> Any:
        if query.text == "unfit":
            raise Unfit("no such words")
        return "http://127.0.0.1/"

    def read(self, query: Query, body: bytes) -> Any:
        return {"hits": [{"title": 3}]}

    def explain(self, status: int, body: bytes) -> str:
        raise RuntimeError


def test_an_engine_of_a_plugin_fails_in_our_own_words() -> None:
    engine = PluginEngine("wild", Wild())
    query = Query(text="hall", today=date(2026, 11, 23))
    assert "\x1b" not in engine.title
    with pytest.raises(Unfit, match="made no request"):
        engine.request(query)
    with pytest.raises(Unfit, match="no such words"):
        engine.request(msgspec.structs.replace(query, text="unfit"))
    with pytest.raises(Malformed):
        engine.read(query, b"")
    assert engine.explain(500, b"") == ""


def test_an_engine_is_asked_where_the_settings_name_it_or_none(site: Path) -> None:
    from vera.runtime.web import search_engines

    source = Path(__file__).read_text().partition("class Wild:")[2].partition("\n\n\ndef ")[0]
    head = "from typing import Any\nfrom vera.websearch.values import Query, Unfit\n\nclass Wild:"
    put(site, "wild_part", head + source, {"search_engines": {"wild": "Wild"}})
    plugins = opened("wild")
    settings = defaults({"search.engines": "wild"})
    (only,) = search_engines(settings.search, settings.brave, plugins.engines)
    assert only.name == "wild"
    usual = defaults()
    assert search_engines(usual.search, usual.brave, plugins.engines)[-1].name == "wild"
    with pytest.raises(SetupError, match="is no search engine"):
        search_engines(settings.search, settings.brave)


def test_a_kind_of_server_is_asked_under_its_own_name_and_may_fail() -> None:
    async def recognise(ask: Any) -> Any:
        return Sighting(models=("m",)) if await ask("/parts") else 1 / 0

    async def describe(ask: Any, name: str) -> Any:
        return "nothing"

    async def yes(path: str, body: Any = None) -> Any:
        return True

    async def no(path: str, body: Any = None) -> Any:
        return None

    given = Server(
        kind="ollama", title="Parts", port=1, recognise=recognise, describe=describe,
        larger_context=lambda name, tokens: "line",
    )  # fmt: skip
    server = plugin_server("parts", given)
    assert (server.kind, server.port) == ("parts", 0)
    assert asyncio.run(server.recognise(yes)) == Sighting(models=("m",))
    assert asyncio.run(server.recognise(no)) is None
    assert asyncio.run(server.describe(yes, "m")).context_tokens is None


# Calls, and functions of a caller


def test_a_call_is_bounded_in_time_and_its_words() -> None:
    gate = threading.Event()
    try:
        with pytest.raises(PluginFailed, match=r"within 0\.05 s"):
            call(lambda: gate.wait(30), 0.05)
    finally:
        gate.set()
    assert call(lambda: 3, 5) == 3


def count_words(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())


def shell(cmd: str) -> str:
    """Run a command."""
    return cmd


def listed(items: list[str]) -> str:
    """Count things."""
    return str(len(items))


def test_functions_of_a_caller_are_tools_that_the_log_names() -> None:
    plugins = open_plugins(defaults(), [count_words])
    assert [tool.spec.name for tool in plugins.tools] == ["count_words"]
    (used,) = plugins.used
    assert (used.family, used.name, used.distribution, used.module) == ("tools", "count_words", "", __name__)


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ([shell], "shell has the name of a tool of VERA"),
        ([count_words, count_words], "Two tools are called count_words"),
        ([listed], "'items' of the tool listed must be annotated"),
    ],
)
def test_a_function_that_is_no_tool_starts_no_research(tmp_path: Path, tools: Any, said: str) -> None:
    with pytest.raises(vera.SetupError, match=said):
        vera.research("What?", tools=tools, work_dir=tmp_path / "work", settings=defaults())
    assert not (tmp_path / "work").exists()
