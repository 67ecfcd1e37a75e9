"""Which plugins are installed: entry points of distributions, read without importing any of them."""

import hashlib
import importlib
import importlib.metadata
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from vera.plugins import FAMILIES, PluginError
from vera.plugins.calling import described
from vera.sanitize import one_line

NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")
"""What a plugin may be called: its name is shown in prompts, settings and the log."""

MAX_PLUGINS = 1000
"""Entry points that are listed; what lies above is left out."""

MAX_FILES = 4096
"""Files of a module that are hashed; one with more has no hash. Large packages have about 2,000."""

MAX_BYTES = 64 << 20
"""Bytes of them together."""


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """An entry point: its family and name, the distribution that has it, and the object that it names."""

    family: str
    name: str
    distribution: str
    version: str
    module: str
    attribute: str


def installed() -> tuple[Installed, ...]:
    """Every entry point of our groups, in the order of families and names. Nothing is imported."""
    found = (_of(family, point) for family in FAMILIES for point in _points(family))
    kept = islice((each for each in found if each is not None), MAX_PLUGINS)
    order = list(FAMILIES)
    return tuple(sorted(kept, key=lambda each: (order.index(each.family), each.name, each.distribution)))


def chosen(names: Iterable[str]) -> tuple[Installed, ...]:
    """The installed plugins of these names, of whatever family, each once.

    Raises PluginError for a name that no distribution has, or that two have in one family.
    """
    there = installed()
    found: dict[tuple[str, str], Installed] = {}
    for name in dict.fromkeys(names):
        matches = [each for each in there if each.name == name]
        if not matches:
            raise PluginError(_not_there(name, there))
        for each in matches:
            if other := found.get((each.family, name)):
                raise PluginError(
                    f"Two installed distributions have a plugin {name!a} in vera.{each.family}: "
                    f"{other.distribution} and {each.distribution}. Uninstall one of them."
                )
            found[each.family, name] = each
    return tuple(found.values())


def load(plugin: Installed) -> Any:
    """The object that an entry point names; its module is imported and runs. Raises PluginError."""
    try:
        found: Any = importlib.import_module(plugin.module)
        for part in plugin.attribute.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:  # a module of others may raise anything
        raise PluginError(
            f"The plugin {plugin.name} of {plugin.distribution} cannot be loaded "
            f"({plugin.module}:{plugin.attribute}): {described(error)}. Repair it, or run without it."
        ) from error
    return found


def sha256_of(module: str) -> str:
    """The sha256 of what a module's top-level package is made of, '' when it cannot be read.

    Of a single file its bytes; of a package the lines `SHA256  PATH` of its files in the order of their
    paths, as sha256sum writes them, without what Python compiles.
    """
    try:
        spec = find_spec(module.partition(".")[0])
        return _hash(spec) if spec is not None else ""
    except (ImportError, ValueError, OSError):
        return ""


def _points(family: str) -> Sequence[importlib.metadata.EntryPoint]:
    return sorted(importlib.metadata.entry_points(group=f"vera.{family}"), key=lambda each: each.name)


def _of(family: str, point: importlib.metadata.EntryPoint) -> Installed | None:
    """None for an entry point that names no object, or has a name that none may have."""
    if not NAME.fullmatch(point.name) or not point.attr or point.dist is None:
        return None
    return Installed(
        family=family,
        name=point.name,
        distribution=one_line(point.dist.name),
        version=one_line(point.dist.version),
        module=point.module,
        attribute=point.attr,
    )


def _not_there(name: str, there: Sequence[Installed]) -> str:
    near = get_close_matches(name, [each.name for each in there], n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"No installed distribution has a plugin {one_line(name, 60)!a}.{hint} See them with: vera plugins"


def _hash(spec: ModuleSpec) -> str:
    if spec.submodule_search_locations is None:
        return hashlib.sha256(Path(spec.origin).read_bytes()).hexdigest() if spec.origin else ""
    return _hash_of_files(lambda: _files(spec.submodule_search_locations or ()))


def _files(roots: Iterable[str]) -> Iterator[tuple[str, Path]]:
    for root in map(Path, roots):
        for path in root.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(root).as_posix(), path


def _hash_of_files(files: Callable[[], Iterator[tuple[str, Path]]]) -> str:
    found = sorted(islice(files(), MAX_FILES + 1))
    if len(found) > MAX_FILES or sum(path.stat().st_size for _, path in found) > MAX_BYTES:
        return ""
    whole = hashlib.sha256()
    for name, path in found:
        whole.update(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}\n".encode("utf-8", "replace"))
    return whole.hexdigest()
