"""How fast each model wrote in its last run on this machine, kept in the user's cache for `vera models`."""

import hashlib
import secrets
from pathlib import Path

import msgspec
import platformdirs

from vera.decode_errors import DECODE_ERRORS
from vera.model.client import ChatClient
from vera.model.types import ModelInfo

_MAX_BYTES = 4096


class Speed(msgspec.Struct, frozen=True):
    """Tokens a second."""

    tokens_a_second: float


def keep_speed(client: ChatClient) -> None:
    """Keep how fast the model wrote, where it wrote enough and the folder lets us."""
    if (speed := client.tokens_a_second) is None:
        return
    path = _path(client.info)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{secrets.token_hex(4)}")
        part.write_bytes(msgspec.json.encode(Speed(speed)))
        part.replace(path)
    except OSError:
        return


def kept_speed(info: ModelInfo) -> float | None:
    """How fast the model wrote, None where that is not known."""
    try:
        with _path(info).open("rb") as file:
            return msgspec.json.decode(file.read(_MAX_BYTES), type=Speed).tokens_a_second
    except (OSError, *DECODE_ERRORS):
        return None


def _path(info: ModelInfo) -> Path:
    """A file that VERA serves itself has another address each time."""
    parts = (info.kind, info.name, "" if info.own else info.base_url, info.weights)
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
    return Path(platformdirs.user_cache_dir("vera")) / "speeds" / f"{digest}.json"
