"""The selectors there are, by the name of their type. One more is a file and a line here."""

import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from vera.selection.selector import Selector

SELECTORS: Mapping[str, str] = {
    "first_valid": "vera.selection.first_valid:FirstValid",
    "llm": "vera.selection.llm:Listwise",
    "pairwise": "vera.selection.pairwise:Pairwise",
    "majority": "vera.selection.majority:Majority",
    "shortest": "vera.selection.shortest:Shortest",
    "random": "vera.selection.random_choice:RandomChoice",
}
"""Where each is; loaded when it is used."""


class SelectorError(ValueError):
    """There is no such selector, or it cannot be used: a sentence for the person."""


def selector(name: str, plugins: Mapping[str, Any] = {}) -> Selector:
    """A selector by its type, ours or one of the `plugins` (classes by name), or of a class named by its
    dotted path (`package.module.Class`, also with a colon before the class), which is imported.

    Raises SelectorError.
    """
    path = SELECTORS.get(name, name)
    module, _, attribute = path.partition(":") if ":" in path else path.rpartition(".")
    if name not in plugins and not (module and attribute):
        raise SelectorError(
            f"{name[:80]!a} is no type of selector. There are {', '.join([*SELECTORS, *plugins])}, "
            "and classes by their dotted path, such as my_package.my_module.MySelector."
        )
    found_class = plugins[name] if name in plugins else _loaded(name, module, attribute)
    made = _made(name, found_class)
    if not isinstance(getattr(made, "judges", None), bool) or not inspect.iscoroutinefunction(
        getattr(made, "select", None)
    ):
        raise SelectorError(
            f"The class {name[:200]} is no selector: it needs an attribute 'judges' (true or false) and a "
            "method 'async def select(self, options, scene, judge, how)'. See vera.selection.selector."
        )
    found: Selector = made
    return found


def _loaded(name: str, module: str, attribute: str) -> Any:
    try:
        return getattr(import_module(module), attribute)
    except Exception as error:  # a module of the user may raise anything
        raise SelectorError(
            f"The selector {name[:200]} cannot be loaded: {_said(error)}. Name a class by its dotted "
            "path, in a module that Python finds (PYTHONPATH)."
        ) from error


def _made(name: str, found: Any) -> Any:
    if not isinstance(found, type):
        raise SelectorError(f"The selector {name[:200]} is no class.")
    try:
        return found()
    except Exception as error:  # so may its constructor
        raise SelectorError(
            f"The selector {name[:200]} cannot be made: {_said(error)}. Its class takes no arguments."
        ) from error


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
