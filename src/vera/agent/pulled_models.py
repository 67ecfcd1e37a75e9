"""The model files that `vera models pull` fetched: a file and a record each in the user's data folder."""

import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from vera.agent.errors import SetupError
from vera.agent.found_server import BUILT_IN_ANSWERS, default_folder
from vera.decode_errors import DECODE_ERRORS
from vera.extras import install_command

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
MAX_MODELS = 200
_MAX_BYTES = 64 << 10


class Pulled(msgspec.Struct, frozen=True, kw_only=True):
    """A model file: where it came from (hub, repository, file, commit), its checksum and size in bytes, the
    licence that the hub stated, and when it was complete (Unix seconds)."""

    name: str
    hub: str
    repo: str
    file: str
    commit: str
    sha256: str
    size: int
    licence: str
    pulled_at: float


def folder() -> Path:
    """Where the files lie."""
    return default_folder() / "models"


def path_of(name: str) -> Path:
    """The file of a pulled model."""
    return folder() / f"{name}.gguf"


def pulled() -> list[Pulled]:
    """The models that are here whole, the one that was pulled last first."""
    try:
        records = sorted(folder().glob("*.json"))[:MAX_MODELS]
    except OSError:
        return []
    found = [each for each in map(_read, records) if each is not None]
    return sorted(found, key=lambda each: each.pulled_at, reverse=True)


def named(name: str) -> Pulled | None:
    """The pulled model of that name."""
    return next((each for each in pulled() if each.name == name), None)


def choose_pulled(models: Sequence[Pulled], name: str, *, can_serve: bool) -> tuple[Pulled | None, str]:
    """The model of `models` that a run uses without a server: the one of that name, without a name the first.
    And what then answers, for a sentence. `can_serve`: the extra that serves a file is installed."""
    if not models:
        return None, BUILT_IN_ANSWERS
    chosen = next((each for each in models if name in ("", each.name)), None)
    if chosen is None:
        return None, f"{BUILT_IN_ANSWERS}, as no pulled model is called {name!r} (see: vera models)"
    if not can_serve:
        extra = install_command("local")
        return None, f"{BUILT_IN_ANSWERS}, as serving {chosen.name} needs the extra 'local' (type: {extra})"
    return chosen, f"{chosen.name}, which you pulled (to choose another: --model-name NAME; see: vera models)"


def keep(model: Pulled, part: Path) -> Path:
    """Make a complete file, which lies in `folder`, the model's. Raises OSError.

    The record is written first: without its file it counts for nothing, and the next pull finds the part.
    """
    descriptor, temporary = tempfile.mkstemp(dir=folder(), prefix=".new-")
    with os.fdopen(descriptor, "wb") as file:
        file.write(msgspec.json.encode(model))
    Path(temporary).replace(folder() / f"{model.name}.json")
    part.replace(path_of(model.name))
    return path_of(model.name)


def remove(name: str) -> int:
    """Delete a model, its record and what an interrupted pull left of it; the bytes that are free again.

    Raises SetupError (2) when there is no such model.
    """
    is_name = NAME.fullmatch(name) is not None
    there = [path for path in (path_of(name), *parts_of(name)) if is_name and path.is_file()]
    if not there:
        known = ", ".join(each.name for each in pulled())
        has = f"There are: {known}." if known else "None was pulled."
        raise SetupError(f"There is no pulled model {name!r}. {has}", 2)
    size = sum(path.stat().st_size for path in there)
    for path in (folder() / f"{name}.json", *there):
        path.unlink(missing_ok=True)
    return size


def parts_of(name: str) -> list[Path]:
    """What interrupted pulls of that name left, to be resumed."""
    ending = re.compile(re.escape(name) + r"\.[0-9a-f]{16}\.part")
    try:
        return [path for path in folder().iterdir() if ending.fullmatch(path.name)]
    except OSError:
        return []


def _read(record: Path) -> Pulled | None:
    """A record whose file is here; None for one that is not ours, or not whole."""
    try:
        with record.open("rb") as file:
            model = msgspec.json.decode(file.read(_MAX_BYTES), type=Pulled)
        is_whole = NAME.fullmatch(model.name) and path_of(model.name).stat().st_size == model.size
    except (OSError, *DECODE_ERRORS):
        return None
    return model if is_whole and record.stem == model.name else None
