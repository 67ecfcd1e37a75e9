"""The tokens that open the service: who may do what, how much of it, and where their sessions lie.

The file holds a hash of each token, never the token itself. A token is 256 random bits, so a plain hash is
enough. Its folder has a random mark: a token made later under the same name does not see the earlier one's.
"""

import fcntl
import hashlib
import hmac
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

import msgspec

from vera.store import replace_file

FILE = "service-tokens.json"
MAX_BYTES = 1 << 20
MAX_TOKENS = 1000
AT_ONCE = 8
PER_HOUR = 600

Right = Literal["verify", "research", "check", "read"]
RIGHTS: tuple[Right, ...] = get_args(Right)

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
FOLDER = r"[a-z0-9][a-z0-9-]{0,60}"
"""The name of the folder of a token."""
_FOLDER = re.compile(FOLDER)
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class TokenError(Exception):
    """A token that cannot be made, removed or read: a sentence that ends with what to do."""


class Token(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one token may do. `at_once` jobs that wait or run, `per_hour` requests for one."""

    name: str
    sha256: str
    folder: str
    scopes: tuple[Right, ...]
    at_once: int
    per_hour: int
    created: str

    def may(self, right: Right) -> bool:
        return right in self.scopes


class TokenFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file, of this version."""

    tokens: tuple[Token, ...]
    version: Literal[1] = 1


class Tokens:
    """The tokens of a file, read again when it changes: one that was removed opens nothing any more."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._known: tuple[Token, ...] = ()

    def of(self, given: str) -> Token | None:
        """The token's rights, None for what is no token. Raises TokenError."""
        wanted = sha256_of(given)
        found = None
        for token in self.all():
            if hmac.compare_digest(token.sha256, wanted):
                found = token
        return found

    def all(self) -> tuple[Token, ...]:
        """Every token there is. Raises TokenError."""
        try:
            about = self._path.stat()
        except FileNotFoundError:
            self._seen, self._known = None, ()
            return ()
        except OSError as error:
            raise TokenError(f"{self._path} cannot be read: {error.strerror}.") from None
        key = (about.st_ino, about.st_size, about.st_mtime_ns)
        if key != self._seen:
            self._known, self._seen = read_file(self._path), key
        return self._known


def default_file() -> Path:
    """`service-tokens.json` in the user's data folder."""
    import platformdirs

    return Path(platformdirs.user_data_dir("vera", appauthor=False)) / FILE


def sha256_of(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def add(path: Path, name: str, scopes: tuple[Right, ...], at_once: int, per_hour: int) -> str:
    """Make a token and keep its hash in the file; the token, which is shown this once. Raises TokenError."""
    if not _NAME.fullmatch(name):
        raise TokenError("A token's name is 1 to 40 small letters, digits and '-', such as laptop.")
    given = f"vera_{secrets.token_urlsafe(32)}"
    made = Token(
        name=name,
        sha256=sha256_of(given),
        folder=f"{name}-{secrets.token_hex(4)}",
        scopes=scopes or RIGHTS,
        at_once=at_once,
        per_hour=per_hour,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    with _locked(path):
        known = read_file(path) if path.exists() else ()
        if any(token.name == name for token in known):
            raise TokenError(f"There is a token {name} already. Remove it first: vera token remove {name}")
        if len(known) >= MAX_TOKENS:
            raise TokenError(f"There are {MAX_TOKENS} tokens. Remove one first: vera token remove NAME")
        replace_file(path, _encoded((*known, made)))
    return given


def remove(path: Path, name: str) -> None:
    """Take a token away, at once; its sessions stay. Raises TokenError."""
    with _locked(path):
        known = read_file(path) if path.exists() else ()
        kept = tuple(token for token in known if token.name != name)
        if len(kept) == len(known):
            names = ", ".join(token.name for token in known) or "none"
            raise TokenError(f"There is no token {name[:80]!r}. There are: {names}.")
        replace_file(path, _encoded(kept))


def read_file(path: Path) -> tuple[Token, ...]:
    """The tokens of a file that only its owner can read. Raises TokenError."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid() or about.st_mode & _OTHERS:
                raise TokenError(f"Others may change {path}. Only you may use that file: 'chmod 600 {path}'.")
            data = file.read(MAX_BYTES + 1)
        tokens = msgspec.json.decode(data, type=TokenFile).tokens
    except OSError as error:
        raise TokenError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError) as error:
        raise TokenError(f"{path} does not hold tokens: {error}. Remove it, and make new ones.") from None
    if not all(_NAME.fullmatch(token.name) and _FOLDER.fullmatch(token.folder) for token in tokens):
        raise TokenError(f"{path} does not hold tokens: a name is no name. Remove it, and make new ones.")
    return tokens


def _encoded(tokens: tuple[Token, ...]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(TokenFile(tokens=tokens)), indent=2) + b"\n"


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Within, no other process changes the file. Raises TokenError."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(path.with_name(f".{path.name}.lock"), flags, 0o600)
    except OSError as error:
        raise TokenError(f"Cannot keep tokens at {path}: {error.strerror or error}.") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    except OSError as error:
        raise TokenError(f"Cannot keep tokens at {path}: {error.strerror or error}.") from None
    finally:
        os.close(descriptor)
