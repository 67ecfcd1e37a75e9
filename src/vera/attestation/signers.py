"""Who signed: the keys that this person has or trusts, by the names they gave them.

`trust.json` in the user's data folder holds them: `{"NAME": "KEY"}`, a key as its 64 hexadecimal digits. What
is said of a signature is decided here, and only here. A key id is the sha256 of a public key, and both have
64 digits: either names the key, because no two keys can be made of which one is the id of the other.
"""

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from vera.attestation import keys
from vera.decode_errors import DECODE_ERRORS

FILE = "trust.json"
MAX_NAMES = 1000
_MAX_BYTES = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")
_KEY = re.compile(r"[0-9a-f]{64}")

UNKNOWN = "by an unknown key: VERA cannot say who made this"
HOW_TO_TRUST = "If you know the owner of the key, type: vera trust add NAME KEY"


class TrustError(Exception):
    """Names and keys that cannot be read, or kept: a sentence that ends with what to do."""


class Signers(msgspec.Struct, frozen=True, kw_only=True):
    """Whose signatures are accepted.

    `own` is the id of this person's key, '' before there is one; `names` are names by key id; with `only`,
    the key ids of `--trust`, no one else is accepted; `any_signer` accepts everybody.
    """

    own: str = ""
    names: Mapping[str, str] = msgspec.field(default_factory=dict)
    only: frozenset[str] = frozenset()
    any_signer: bool = False

    def accepts(self, keyid: str) -> bool:
        """Whether what the key signed is accepted."""
        if self.only:
            return keyid in self.only
        return self.any_signer or keyid in self.names or (bool(keyid) and keyid == self.own)

    def who(self, keyid: str) -> str:
        """Who signed, to follow `signed`."""
        if keyid and keyid == self.own:
            return "by your key"
        if name := self.names.get(keyid):
            return f"by {name}, whom you trust"
        return "by a key that --trust names" if keyid in self.only else UNKNOWN


def known_signers(
    only: Collection[str] = (), *, any_signer: bool = False, folder: Path | None = None
) -> Signers:
    """What this person's data folder says. Makes nothing. Raises TrustError."""
    folder = keys.default_folder() if folder is None else folder
    names = {}
    for key, name in names_in(folder).items():
        names[key] = names[_id_of(key)] = name
    return Signers(own=own_keyid(folder), names=names, only=frozenset(only), any_signer=any_signer)


def own_keyid(folder: Path | None = None) -> str:
    """The id of this person's key, '' before there is one. Raises TrustError."""
    try:
        signer = keys.load(folder)
    except keys.KeyFileError as error:
        raise TrustError(str(error)) from None
    return signer.keyid if signer else ""


def names_in(folder: Path | None = None) -> dict[str, str]:
    """Key → name, of all that this person trusts. Raises TrustError."""
    return {key: name for name, key in _read(_file(folder)).items()}


def add(name: str, key: str, folder: Path | None = None) -> None:
    """Trust a key (64 hexadecimal digits: `key_in`) by a name, which is new. Raises TrustError."""
    if not _NAME.fullmatch(name):
        raise TrustError(f"{name[:80]!r} is no name for a key. Use at most 64 letters, digits and '._@+-'.")
    if not _KEY.fullmatch(key):
        raise TrustError("A key is 64 hexadecimal digits, or a PEM file.")
    with _changing(folder) as known:
        if name in known and not _is_same(known[name], key):
            raise TrustError(f"You trust another key as {name}. To replace it: vera trust remove {name}")
        if other := _other_name(known, name, key):
            raise TrustError(f"You trust this key as {other}.")
        if len(known) >= MAX_NAMES:
            raise TrustError(f"There are {MAX_NAMES} names already. Remove one: vera trust remove NAME")
        known[name] = key


def remove(name: str, folder: Path | None = None) -> str:
    """Trust a name no longer. Returns another name under which the same key is still trusted, '' when there
    is none. Raises TrustError for an unknown name."""
    with _changing(folder) as known:
        key = known.pop(name, None)
        if key is None:
            raise TrustError(f"You trust no one by the name {name[:80]!r}. See: vera trust list")
        return _other_name(known, name, key)


def key_in(text: str) -> str:
    """The public key that a text holds, in hexadecimal: 64 digits (also a key id), or PEM. Raises TrustError.

    A private key is refused: it is its owner's alone.
    """
    text = text.strip()
    if _KEY.fullmatch(text.lower()):
        return text.lower()
    if "PRIVATE KEY" in text:
        raise TrustError("That is a private key. Ask for the public one, which 'vera key' prints.")
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        public = load_pem_public_key(text.encode())
    except (ValueError, UnsupportedAlgorithm):
        public = None
    if not isinstance(public, Ed25519PublicKey):
        raise TrustError("That is no Ed25519 key: give 64 hexadecimal digits, or a PEM file ('vera key').")
    return public.public_bytes_raw().hex()


def _id_of(key: str) -> str:
    return hashlib.sha256(bytes.fromhex(key)).hexdigest()


def _is_same(one: str, other: str) -> bool:
    """Whether two texts of 64 digits name one key: they are equal, or one is the id of the other."""
    return one in (other, _id_of(other)) or other == _id_of(one)


def _other_name(known: Mapping[str, str], name: str, key: str) -> str:
    return next((each for each, held in known.items() if each != name and _is_same(held, key)), "")


def _file(folder: Path | None) -> Path:
    return (keys.default_folder() if folder is None else folder) / FILE


def _read(path: Path) -> dict[str, str]:
    try:
        data = keys.read_own(path, _MAX_BYTES)
    except FileNotFoundError:
        return {}
    except keys.KeyFileError as error:
        raise TrustError(str(error)) from None
    except OSError as error:
        raise TrustError(f"{path} cannot be read: {error.strerror or error}.") from None
    try:
        known = msgspec.json.decode(data, type=dict[str, str])
    except DECODE_ERRORS:
        known = {"": ""}
    if not all(_NAME.fullmatch(name) and _KEY.fullmatch(key) for name, key in known.items()):
        raise TrustError(f"{path} does not hold names and keys. Move it away, and add them again.")
    return known


@contextmanager
def _changing(folder: Path | None) -> Iterator[dict[str, str]]:
    """The names and keys to change: read, and written whole, under a lock. Raises TrustError."""
    path = _file(folder)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            known = _read(path)
            yield known
            keys.write_own(path, json.dumps(known, indent=2, sort_keys=True).encode() + b"\n")
        finally:
            os.close(lock)
    except OSError as error:
        raise TrustError(f"{path} cannot be written: {error.strerror or error}.") from None
