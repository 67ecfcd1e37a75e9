"""docs/reference/turn-protocol.md has every error code and every name of a deviation that the code has."""

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

from docs_pages import first_cells, quoted, section

import vera
from vera.lane import tools
from vera.protocol.turn import ToolSpec

PAGE = "reference/turn-protocol.md"
PROTOCOL = Path(vera.__file__).parent / "protocol"
CODE_GIVERS = {"FormatError", "Broken", "_refused", "_bad_arguments"}


def nodes() -> Iterator[ast.AST]:
    for path in sorted(PROTOCOL.glob("*.py")):
        yield from ast.walk(ast.parse(path.read_bytes()))


def strings(node: ast.AST) -> set[str]:
    return {
        each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    }


def documented(heading: str) -> set[str]:
    return {word for cell in first_cells(section(PAGE, heading)) for word in quoted(cell)}


def test_every_error_code_is_documented_and_no_other() -> None:
    codes: set[str] = set()
    for node in nodes():
        if not (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CODE_GIVERS
        ):
            continue
        first = node.args[0] if node.args else next(k.value for k in node.keywords if k.arg == "code")
        codes |= strings(first)
    assert documented("When a turn is broken") == codes


def test_every_accepted_deviation_is_documented() -> None:
    names: set[str] = set()
    for node in nodes():
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "recover"
        ):
            names |= strings(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # A deviation is written as a whole word; "variant:" alone begins a name that is put together.
            names |= {node.value} if node.value.startswith("variant:") and len(node.value) > 8 else set()
    assert {"label_order", "fenced", "variant:cmd"} <= names
    assert names <= documented("What is accepted besides")


def test_every_documented_deviation_is_a_word_of_the_code() -> None:
    source = "\n".join(path.read_text() for path in PROTOCOL.glob("*.py"))
    for name in documented("What is accepted besides"):
        assert name in source or name.removeprefix("variant:") in source


def test_every_tool_is_documented_with_its_arguments() -> None:
    table = section(PAGE, "Tools")
    modules = [
        importlib.import_module(f"{tools.__name__}.{each.name}")
        for each in pkgutil.iter_modules(tools.__path__)
    ]
    specs = [each for module in modules for each in vars(module).values() if isinstance(each, ToolSpec)]
    assert {"search", "fetch", "read", "shell", "note", "submit"} <= {spec.name for spec in specs}
    for spec in specs:
        row = next(line for line in table.split("\n") if line.startswith(f"| `{spec.name}`"))
        assert quoted(row.split(" | ")[1]) == list(spec.properties)
