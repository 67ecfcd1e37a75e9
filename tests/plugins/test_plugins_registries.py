"""A new member of each family inside the tree is one object and one entry in its registry, nothing else.

Each test adds one in that way, to the registry alone, and sees it work: its limit, its name in the settings,
its record and its place in a lane come from there.
"""

import asyncio
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from support.gating import Trial
from vera import events
from vera.agent.rules import for_task, rules_of
from vera.audit import registry as checks
from vera.audit.case import Case
from vera.config import defaults
from vera.evidence.claim import Claim
from vera.evidence.finding import Finding
from vera.extraction.canonical import registry as formats
from vera.extraction.source import Extracted
from vera.gates.kernel import (
    ALLOW,
    Action,
    Facts,
    Nudge,
    Observed,
    Rules,
    State,
    Verdict,
    limit_of,
    named_gate,
)
from vera.gates.registry import GATES
from vera.lane.tools import Call, Outcome
from vera.lane.tools import registry as tools
from vera.lane.tools.registry import Toolkit, toolset
from vera.model import probe
from vera.model.servers.base import Ask, Details, Server, Sighting
from vera.protocol.turn import ToolSpec
from vera.runtime.web import search_engines
from vera.selection import registry as selectors
from vera.selection.selector import Selector
from vera.websearch import Engine, Hit, Query, SearchLimits
from vera.websearch import registry as engines
from vera.websearch.values import Ask as Request
from vera.websearch.values import Found


class Weather:
    """A tool that brings evidence."""

    spec = ToolSpec(
        name="weather",
        description="Look at the weather.",
        properties={"town": {"type": "string"}},
        gathers=True,
    )

    async def run(self, args: Any, call: Call) -> Outcome:
        return Outcome(header="weather")


def test_a_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = {("weather",): lambda kit: [Weather() if kit.notes else None]}
    monkeypatch.setattr(tools, "TOOLS", {**tools.TOOLS, **entry})
    assert [tool.spec.name for tool in toolset(Toolkit(notes=True))] == ["note", "weather"]
    specs = [tool.spec for tool in toolset(Toolkit(notes=True))]
    rules = for_task(Rules(), "What?", specs, has_input=False, has_web=False, can_render=False)
    assert "weather" in rules.tools and "weather" in rules.gathering


def patient(state: State, action: Action, rules: Rules) -> Verdict:
    limit = limit_of(rules, "patient", 2)
    if not isinstance(action, Observed) or state.lane.history.times("patient") >= limit:
        return ALLOW
    return Nudge(reason="Take your time.", facts=Facts(limit=limit))


@pytest.mark.parametrize(("given", "most"), [("", 2), ("patient=1, other=5", 1)])
def test_a_gate_with_its_limit_its_record_and_its_setting(given: str, most: int) -> None:
    rules = rules_of(defaults({"policy.gate_limits": given}))
    trial = Trial(rules, gates=(*GATES, named_gate("patient", patient)))
    for _ in range(4):
        trial.call("read", {"path": "a.txt"})
    spoken = trial.spoken(events.PolicyGate)
    assert [(each.limit, events.gate_name(each)) for each in spoken] == [(most, "policy_patient")] * most
    assert all(events.decode(events.encode(each)) == each for each in spoken)


def test_a_check(monkeypatch: pytest.MonkeyPatch) -> None:
    def shy(case: Case) -> Iterator[Finding]:
        for claim in case.claims:
            yield Finding(code="shy", label="overconfident", severity="soft", message="!", claim=claim.key)

    monkeypatch.setattr(checks, "CHECKS", (*checks.CHECKS, shy))
    claim = Claim(key="c1", text="The hall is open.", start=0, end=17)
    case = Case(task="?", answer=claim.text, claims=(claim,), evidence={}, sources={})
    assert [each.code for each in checks.audit(case)][-1] == "shy"


def test_a_selector_with_its_name_in_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = {"last": "vera.selection.shortest:Shortest"}
    monkeypatch.setattr(selectors, "SELECTORS", {**selectors.SELECTORS, **entry})
    chosen = defaults({"action_verifier.verifier_type": "last"}).action_verifier.verifier_type
    made: Selector = selectors.selector(chosen)
    assert made.judges is False


def test_a_document_format(monkeypatch: pytest.MonkeyPatch) -> None:
    def extract(data: bytes, name: str) -> Extracted:
        return Extracted(text=data.upper() + b"\n", title=name, media_type="text/x", extractor="loud/1")

    loud = formats.Format("loud", (".loud",), False, 1000, extract, is_text=True)
    known = (*formats.FORMATS, loud)
    monkeypatch.setattr(formats, "_BY_SUFFIX", {suffix: each for each in known for suffix in each.suffixes})
    assert formats.extract(b"hello", "a.loud").text == b"HELLO\n"
    assert formats.extract(b"hello", "a.txt").text == b"hello\n"


class Library:
    """An engine of papers."""

    name = "library"
    title = "Library"
    kinds = ("papers",)
    needs_key = False
    limits = SearchLimits()

    def request(self, query: Query) -> Request:
        return Request("https://library.example/", (("q", query.text),), ())

    def read(self, query: Query, body: bytes) -> Found:
        return Found(hits=(Hit(title="A", url="https://library.example/a"),))

    def explain(self, status: int, body: bytes) -> str:
        return ""


def test_a_search_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(options: engines.EngineOptions, key: str) -> Engine:
        return Library()  # type: ignore[return-value] # its members are plain, as those of a plugin may be

    monkeypatch.setitem(engines.ENGINES, "library", made)
    settings = defaults({"search.engines": "library, arxiv"})
    asked = search_engines(settings.search, settings.brave)
    assert [each.name for each in asked] == ["library", "arxiv"]
    query = Query(text="hall", kind="papers", today=date(2026, 11, 23))
    assert asked[0].request(query).parameters == (("q", "hall"),)


def test_a_kind_of_model_server(monkeypatch: pytest.MonkeyPatch) -> None:
    async def recognise(ask: Ask) -> Sighting | None:
        return Sighting(models=("tiny",)) if await ask("/tiny") else None

    async def describe(ask: Ask, name: str) -> Details:
        return Details()

    async def ask(path: str, body: Any = None) -> Any:
        return {"tiny": True} if path == "/tiny" else None

    tiny = Server(
        kind="tiny", title="Tiny", port=4711, recognise=recognise, describe=describe,
        larger_context=lambda name, tokens: "",
    )  # fmt: skip
    monkeypatch.setattr(probe, "SERVERS", (tiny, *probe.SERVERS))
    seen = asyncio.run(probe.fingerprint(ask))
    assert seen is not None and seen[0].kind == "tiny"
    assumed = defaults({"model.assumed": "tiny/text"}).model.assumed
    assert assumed == "tiny/text"
