"""docs/reference/gates.md has every gate in its order, with what it does, its settings and their defaults."""

import ast
import re
from pathlib import Path
from typing import get_args

import pytest
from docs_pages import DOCS, PAGES, name, quoted, section

import vera
from vera import config, events, gates
from vera.agent import rules
from vera.evidence.queries import is_package_index
from vera.gates.kernel import Gate, Rules
from vera.gates.registry import CHECK_GATES, GATES
from vera.history import FORCED_CALLS
from vera.metrics import FAMILIES

PAGE = "reference/gates.md"
FOLDER = Path(gates.__file__).parent
SHARED = {"kernel", "proposals"}
"""Modules of which a gate uses parts: their limits are not all its own."""

OF_THE_CLIENT = {"policy_brave_circuit": {"brave.max_consec_429", "brave.cooldown_s"}}
"""Settings that act where the engine is asked; the gate reads what came of it."""

DEFAULTS = config.load(environ={}, cwd=FOLDER, user_config=FOLDER / "none").settings


def rows() -> list[list[str]]:
    """The cells of the table of all gates."""
    text = section(PAGE, "Every gate").partition("### ")[0]
    lines = [line for line in text.split("\n") if line.startswith("| `policy_")]
    return [line.strip("| ").split(" | ") for line in lines]


def module_of(gate: Gate) -> ast.Module:
    return ast.parse((FOLDER / f"{gate.name.removeprefix('policy_')}.py").read_bytes())


def limits_read(module: ast.Module) -> set[str]:
    """The limits that a module reads itself: `rules.NAME`."""
    return {
        node.attr
        for node in ast.walk(module)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "rules"
    }


def limits_reached(module: ast.Module) -> set[str]:
    """Those that it reads itself or with the help of other modules of the room."""
    names = {
        node.module.rpartition(".")[2]
        for node in ast.walk(module)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("vera.gates.")
    }
    helpers = (ast.parse((FOLDER / f"{name}.py").read_bytes()) for name in names - SHARED)
    return limits_read(module).union(*map(limits_read, helpers))


def settings_by_limit() -> dict[str, str]:
    """Limit of `Rules` → setting, as `rules_of` fills it in."""
    call = next(
        node
        for node in ast.walk(ast.parse(Path(rules.__file__).read_bytes()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Rules"
    )
    found = {}
    for keyword in call.keywords:
        source = ast.unparse(keyword.value)
        name = re.search(r"(?:settings\.)?(\w+)\.(\w+)(?=\)*$)", source)
        assert name, source
        found[str(keyword.arg)] = f"{name[1]}.{name[2]}"
    return found


def effects(module: ast.Module) -> set[str]:
    """The words for the verdicts that a module gives."""
    calls = [node for node in ast.walk(module) if isinstance(node, ast.Call)]
    made = [call for call in calls if isinstance(call.func, ast.Name)]
    found = {call.func.id.lower() for call in made if isinstance(call.func, ast.Name)} & {"refuse", "end"}
    for call in made:
        if isinstance(call.func, ast.Name) and call.func.id == "Nudge":
            found.add("constraint" if any(each.arg == "constraint" for each in call.keywords) else "nudge")
    return found


def test_every_gate_is_documented_in_the_order_in_which_they_are_asked() -> None:
    assert [quoted(row[0])[0] for row in rows()] == [gate.name for gate in GATES]


@pytest.mark.parametrize("number", range(len(GATES)), ids=[gate.name for gate in GATES])
def test_a_gate_is_documented_with_its_effects_and_settings(number: int) -> None:
    gate, (_, _, effect, _, settings) = GATES[number], rows()[number]
    module, known = module_of(gate), settings_by_limit()
    assert set(re.findall(r"\b(refuse|nudge|constraint|end)\b", effect)) == effects(module)
    documented = set(quoted(settings)) - OF_THE_CLIENT.get(gate.name, set())
    assert {known[name] for name in limits_read(module) & known.keys()} <= documented
    assert documented <= {known[name] for name in limits_reached(module) & known.keys()}


def test_the_defaults_are_those_of_the_settings() -> None:
    for row in rows():
        for setting, value in re.findall(r"`(\w+\.\w+)` = ([\w.]+)", row[4]):
            part, _, key = setting.partition(".")
            default = getattr(getattr(DEFAULTS, part), key)
            assert value == (f"{default:g}" if isinstance(default, float) else str(default).lower()), setting
        assert len(re.findall(r" = ", row[4])) == len(quoted(row[4])) or "a list" in row[4]


def test_every_limit_that_comes_from_a_setting_belongs_to_a_documented_gate() -> None:
    documented = {name for row in rows() for name in quoted(row[4])}
    known = settings_by_limit()
    assert set(known.values()) - {"policy.official_domains", "policy.gate_limits"} <= documented
    assert known.keys() <= set(Rules.__struct_fields__)


def test_every_gate_has_the_metric_that_the_page_names() -> None:
    assert "`dra_`, the name, `_total`" in section(PAGE, "Every gate")
    assert {f"dra_{gate.name}_total" for gate in GATES} <= FAMILIES.keys()


def test_the_gates_of_a_look_up_are_those_that_the_page_names() -> None:
    assert quoted(section(PAGE, "Which lanes")) == [gate.name for gate in CHECK_GATES]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_policy_that_a_page_names_is_a_record(page: Path) -> None:
    named = set(re.findall(r"(?<!_)\bpolicy_[a-z_]+[a-z]\b", page.read_text()))
    records = {str(struct.__struct_config__.tag) for struct in get_args(events.Record)}
    assert sorted(named - records) == []


def test_what_the_page_gives_as_examples_is_so() -> None:
    exempt = next(
        line for line in (DOCS / PAGE).read_text().split("\n") if line.startswith("- **Not in the way")
    )
    hosts = [word for word in quoted(exempt) if "." in word]
    assert hosts
    assert all(map(is_package_index, hosts))
    assert f"or {FORCED_CALLS} calls that were tried" in section(PAGE, "Every gate")
    source = (Path(vera.__file__).parent / "lane" / "drafts.py").read_text()
    words = re.findall(r"\*(\w+)\*", section(PAGE, "Final-like files"))
    assert f"(?:{'|'.join(words)})" in source
