"""How a run is put together: one function a kind, and every part is handed what it needs when it is made."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "vera"
ROOMS = ("agent", "runtime", "lane", "verification")
KINDS = {"research.py": "open_run", "thesis.py": "open_thesis", "execute.py": "open_execution"}
"""Of the room runtime: the file of each kind of run, and the function that puts it together."""

LINES = 50


def trees() -> Iterator[tuple[str, ast.Module]]:
    for room in ROOMS:
        for path in sorted((SOURCE / room).rglob("*.py")):
            yield path.relative_to(SOURCE).as_posix(), ast.parse(path.read_bytes())


def patched(tree: ast.Module) -> list[str]:
    """What is assigned to a member of another object than the one whose method it is."""
    return [
        ast.unparse(target)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign)
        for assigned in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for target in ast.walk(assigned)
        if isinstance(target, ast.Attribute) and isinstance(target.ctx, ast.Store)
        if not (isinstance(target.value, ast.Name) and target.value.id == "self")
    ]


def overridden(trees: dict[str, ast.Module]) -> list[str]:
    """Private methods that a class has from a class of ours and has again."""
    classes = {
        node.name: node for tree in trees.values() for node in tree.body if isinstance(node, ast.ClassDef)
    }
    private = {
        name: {
            each.name
            for each in node.body
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
            and each.name.startswith("_")
            and not each.name.endswith("__")
        }
        for name, node in classes.items()
    }
    return [
        f"{name}.{method}"
        for name, node in classes.items()
        for base in node.bases
        if isinstance(base, ast.Name)
        for method in sorted(private[name] & private.get(base.id, set()))
    ]


def test_no_part_of_a_run_is_changed_from_outside_after_it_was_made() -> None:
    assert [f"{name}: {each}" for name, tree in trees() for each in patched(tree)] == []


def test_no_class_of_a_run_overrides_a_private_method() -> None:
    assert overridden(dict(trees())) == []


@pytest.mark.parametrize("text", ["web.command.record = made.record", "self.a.b += 1", "a, b.c = 1, 2"])
def test_the_reader_finds_a_part_that_is_changed_from_outside(text: str) -> None:
    assert len(patched(ast.parse(text))) == 1


def test_the_reader_finds_an_overridden_private_method() -> None:
    methods = "\n    def _a(self): ...\n    def b(self): ...\n"
    text = f"class A:{methods}class B(A):{methods}"
    assert overridden({"a.py": ast.parse(text)}) == ["B._a"]


@pytest.mark.parametrize("file", KINDS)
def test_one_function_that_fits_on_a_page_puts_a_kind_of_run_together(file: str) -> None:
    tree = ast.parse((SOURCE / "runtime" / file).read_bytes())
    (made,) = [node for node in tree.body if getattr(node, "name", "") == KINDS[file]]
    assert (made.end_lineno or 0) - made.lineno < LINES


def test_tools_are_made_of_a_toolkit_in_one_place() -> None:
    """The names of tools stand in one table; whoever gives a lane its tools fills in a `Toolkit`."""
    made = {"Search", "Fetch", "Kb", "Note"}
    for name, tree in trees():
        if name != "lane/tools/registry.py":
            calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
            assert not made & {call.id for call in calls if isinstance(call, ast.Name)}, name
