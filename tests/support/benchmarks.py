"""The scripts under benchmarks/, as modules."""

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@contextmanager
def loaded(name: str) -> Iterator[ModuleType]:
    """benchmarks/NAME.py as a module, which it is only meanwhile."""
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules[spec.name]


@contextmanager
def together(*names: str) -> Iterator[list[ModuleType]]:
    """Scripts that import each other, as modules, which they and what they import first from there are only
    meanwhile."""
    before = set(sys.modules)
    sys.path.insert(0, str(FOLDER))
    try:
        yield [importlib.import_module(name) for name in names]
    finally:
        sys.path.remove(str(FOLDER))
        for name, module in list(sys.modules.items()):
            if name not in before and str(getattr(module, "__file__", None) or "").startswith(str(FOLDER)):
                del sys.modules[name]
