"""The rooms of src/vera stand on floors, and imports run downward only: this reads them."""

import ast
import graphlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "vera"

FLOORS = {
    **dict.fromkeys(["__main__", "__init__"], 15),
    "cli": 14,
    "mcp": 13,
    **dict.fromkeys(["interop", "service"], 12),
    **dict.fromkeys(["api", "batch"], 11),
    **dict.fromkeys(["api_arguments", "runtime"], 10),
    **dict.fromkeys(["bench", "document_check"], 9),
    "agent": 8,
    **dict.fromkeys(["dashboard", "export", "verification"], 7),
    **dict.fromkeys(["lane", "report"], 6),
    **dict.fromkeys(["attestation", "selection"], 5),
    **dict.fromkeys(
        ["audit", "connectors", "corpus", "entailment", "gates", "metrics", "session", "websearch"], 4
    ),
    **dict.fromkeys(["builtin", "embedding", "evidence"], 3),
    **dict.fromkeys(["extraction", "model", "prices", "sandbox", "state"], 2),
    **dict.fromkeys(["config", "history", "plugins", "protocol", "store", "text", "usage"], 1),
    **dict.fromkeys(
        [
            "content_coding",
            "decode_errors",
            "disclosure",
            "events",
            "extras",
            "headline",
            "sanitize",
            "session_files",
            "version",
        ],
        0,
    ),
}
"""Room → floor. `__init__` gives the names of the API to those outside who import `vera`: no room does."""


@dataclass(frozen=True)
class Import:
    importer: str
    """The module that imports, in full: `vera.lane.loop`."""
    imported: str
    where: str
    """File and line, for the message."""


def read_imports(package: Path) -> Iterator[Import]:
    """Every import of the package's own modules, at the top, inside functions and by a literal name."""
    root = package.parent
    modules = {module_name(path, root): path for path in sorted(package.rglob("*.py"))}
    for name, path in modules.items():
        tree = ast.parse(path.read_bytes(), filename=str(path))
        inside = name if path.stem == "__init__" else name.rpartition(".")[0]
        for node in ast.walk(tree):
            for target in named_modules(node, inside, modules):
                if target == package.name or target.startswith(package.name + "."):
                    yield Import(name, target, f"{path.relative_to(root)}:{getattr(node, 'lineno', 0)}")


def module_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def named_modules(node: ast.AST, inside: str, modules: Collection[str]) -> Iterator[str]:
    """The modules that one statement imports; `inside` is the package that relative names start from."""
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=module, names=names, level=level):
            start = inside.split(".")[: len(inside.split(".")) - (level - 1)] if level else []
            base = ".".join([*start, *([module] if module else [])])
            for alias in names:
                full = f"{base}.{alias.name}"
                yield full if full in modules else base
        case ast.Call(
            func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(name)), *_],
        ):
            yield name


def room(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def violations(package: Path, floors: Mapping[str, int] = FLOORS) -> list[str]:
    """One sentence for each room without a floor, each import that runs up or sideways, and one circle."""
    found = [
        f"{name} is a room without a floor: give it one in tests/test_structure.py"
        for name in sorted(rooms_of(package) - floors.keys())
    ]
    imports = list(read_imports(package))
    for each in imports:
        above, below = room(each.importer), room(each.imported)
        if above == below or not {above, below} <= floors.keys():
            continue
        if floors[below] >= floors[above]:
            way = "up" if floors[below] > floors[above] else "sideways"
            found.append(
                f"{each.where}: {above} (floor {floors[above]}) imports {way} from {below} ({floors[below]})"
            )
    graph: dict[str, set[str]] = {}
    for each in imports:
        if each.importer != each.imported:
            graph.setdefault(each.importer, set()).add(each.imported)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as circle:
        found.append("a circle: " + " imports ".join(reversed(circle.args[1])))
    return found


def rooms_of(package: Path) -> set[str]:
    """The names of files and folders with Python in them that stand directly in the package."""
    return {path.relative_to(package).parts[0].removesuffix(".py") for path in package.rglob("*.py")}


def test_imports_run_downward_and_close_no_circle() -> None:
    assert violations(SOURCE) == []


PLANTED = {
    "an import that runs up": (
        {"store.py": "import vera.session.log"},
        "store (floor 1) imports up from session",
    ),
    "one hidden in a function": (
        {"events.py": "def f():\n    from vera.lane import loop"},
        "imports up from lane",
    ),
    "one below TYPE_CHECKING": (
        {"model/client.py": "import typing\nif typing.TYPE_CHECKING:\n    from vera.agent import x"},
        "imports up from agent",
    ),
    "a relative one": (
        {"model/client.py": "from ..lane.loop import step"},
        "model (floor 2) imports up from lane",
    ),
    "a bare relative one": ({"store.py": "from . import cli"}, "store (floor 1) imports up from cli"),
    "one by name": (
        {"state.py": "import importlib\nimportlib.import_module('vera.report.answer')"},
        "state (floor 2) imports up from report",
    ),
    "an import between rooms of one floor": (
        {"audit/card.py": "from vera.session.log import read"},
        "audit (floor 4) imports sideways from session",
    ),
    "a package that imports its own floor through its __init__": (
        {"gates/__init__.py": "from vera import audit"},
        "gates (floor 4) imports sideways from audit",
    ),
    "a version file that imports a room": (
        {"version.py": "from vera.store import put"},
        "version (floor 0) imports up from store",
    ),
    "a room that takes the version from the package": (
        {"store.py": "from vera import __version__"},
        "store (floor 1) imports up from __init__",
    ),
    "the command, if it takes a name of the API from the package": (
        {"__main__.py": "import vera\nvera.verify"},
        "__main__ (floor 15) imports sideways from __init__",
    ),
    "a circle inside one room": (
        {"lane/loop.py": "from vera.lane.context import a", "lane/context.py": "from .loop import b"},
        "a circle: vera.lane.",
    ),
    "a room without a floor": ({"helpers/tools.py": ""}, "helpers is a room without a floor"),
    "a file without a floor": ({"utils.py": ""}, "utils is a room without a floor"),
}

ALLOWED = {
    "imports that run down": {"lane/loop.py": "from vera.store import put\nimport vera.model.client"},
    "imports inside a room": {"lane/loop.py": "from vera.lane.context import a\nfrom . import budget"},
    "the version": {"store.py": "from vera.version import __version__"},
    "a package that loads the API when it is asked for": {
        "__init__.py": "import importlib\ndef __getattr__(name):\n    importlib.import_module('vera.api')"
    },
    "other people's modules": {"store.py": "import hashlib\nfrom json import loads\nimport veracity.lane"},
    "the command": {"__main__.py": "from vera.cli import main"},
}

TREE = [
    *(f"{name}.py" for name in ("__init__", "api", "store", "events", "state", "version")),
    *(
        f"{name}/__init__.py"
        for name in ("agent", "audit", "cli", "evidence", "gates", "lane", "model", "report", "session")
    ),
    *("agent/x.py", "lane/loop.py", "lane/context.py", "lane/budget.py", "model/client.py", "model/types.py"),
    *("report/answer.py", "session/log.py"),
]


def plant(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in {**dict.fromkeys(TREE, ""), **files}.items():
        path = folder / "vera" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "vera"


@pytest.mark.parametrize("what", PLANTED)
def test_the_reader_of_imports_reports(what: str, tmp_path: Path) -> None:
    files, sentence = PLANTED[what]
    found = violations(plant(tmp_path, files))
    assert len(found) == 1, found
    assert sentence in found[0]


@pytest.mark.parametrize("what", ALLOWED)
def test_the_reader_of_imports_allows(what: str, tmp_path: Path) -> None:
    assert violations(plant(tmp_path, ALLOWED[what])) == []


def test_a_violation_is_named_with_its_file_and_line(tmp_path: Path) -> None:
    package = plant(tmp_path, {"store.py": "import os\n\nimport vera.lane.loop\n"})
    assert violations(package)[0].startswith("vera/store.py:3: ")
