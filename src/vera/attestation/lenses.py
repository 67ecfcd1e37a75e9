"""Lenses: named rubrics, each a file. Two come with VERA (`vera/lenses`), others are written by the user.

A lens is data: it can ask for more sources and for sources of certain types, and it can run nothing.
"""

import os
import stat
from importlib.resources import files
from pathlib import Path

import msgspec

from vera.attestation.objects import Lens
from vera.attestation.proposition import RequestError
from vera.attestation.source_types import SOURCE_TYPES

LENSES = ("general", "factual")
"""The lenses that come with VERA."""

LENS_BYTES = 64 << 10
MAX_SOURCES = 20
MAX_QUOTAS = 20
_WANTED = (*SOURCE_TYPES, "primary")


def load_lens(name: str, *, paths: bool = False) -> Lens:
    """The lens of a name; with `paths` also that of a file (`own/mine.yaml`), which only a person may name.

    Raises RequestError for a name that is not known, and for a file that is no lens.
    """
    if name in LENSES:
        return _lens(files("vera").joinpath("lenses", f"{name}.yaml").read_bytes(), name)
    if paths and (os.sep in name or name.endswith((".yaml", ".yml"))):
        return _lens(_read(Path(name)), name)
    own = ", or the path of a file of your own (.yaml)" if paths else ""
    raise RequestError(f'There is no lens "{name[:80]}". Known are {", ".join(LENSES)}{own}.')


def _read(path: Path) -> bytes:
    """The bytes of a regular file, bounded; a pipe is not waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise RequestError(f"The lens {path} is no plain file. Give the path of a YAML file.")
            data = file.read(LENS_BYTES + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RequestError(f"The lens {path} cannot be read: {why}. Check the path.") from None
    if len(data) > LENS_BYTES:
        raise RequestError(f"The lens {path} is larger than {LENS_BYTES >> 10} kB, so it was not read.")
    return data


def _lens(data: bytes, name: str) -> Lens:
    try:
        lens = msgspec.convert(_plain(data), Lens, strict=True)
    except RequestError as error:
        raise RequestError(f"The lens {name} is no YAML: {error}") from None
    except msgspec.ValidationError as error:
        raise RequestError(
            f"The lens {name} is no lens: {error}. See the lens general for its form."
        ) from None
    for problem in _problems(lens):
        raise RequestError(f"The lens {name} cannot be used: {problem}")
    return lens


def _plain(data: bytes) -> object:
    """The YAML as plain values, marked as a lens. Aliases are refused: a few of them stand for very much."""
    import yaml

    try:
        text = data.decode("utf-8")
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
            raise RequestError("it holds aliases (*name); write the values out.")
        values = yaml.safe_load(text)
    except UnicodeDecodeError:
        raise RequestError("it is not UTF-8.") from None
    except (yaml.YAMLError, ValueError) as error:
        raise RequestError(" ".join(str(error).split())[:200]) from None
    except RecursionError:
        raise RequestError("it is nested too deeply.") from None
    if not isinstance(values, dict) or "kind" in values:
        raise RequestError("it must hold the members of a lens: name, description, …")
    return {"kind": str(Lens.__struct_config__.tag), **values}


def _problems(lens: Lens) -> list[str]:
    found = []
    if not lens.name.strip() or not lens.name.isprintable():
        found.append("its name is empty, or no word.")
    for quota in lens.quotas:
        if quota.source_type not in _WANTED:
            found.append(
                f'"{quota.source_type[:40]}" is no type of source. Known are {", ".join(sorted(_WANTED))}.'
            )
    wanted = [quota.source_type for quota in lens.quotas]
    if len(set(wanted)) < len(wanted):
        found.append("it has two quotas for one type of source.")
    if len(wanted) > MAX_QUOTAS:
        found.append(f"it has more than {MAX_QUOTAS} quotas.")
    most = max([lens.file_sources, lens.web_sources, *(quota.count for quota in lens.quotas)])
    if most > MAX_SOURCES:
        found.append(f"it asks for {most} sources, and {MAX_SOURCES} are the most that can be asked for.")
    return found
