"""The key that signs: Ed25519 (RFC 8032), made on first use in the user's data folder.

A signature proves which key issued an attestation, not that what it says is true; whom to trust is decided
by who reads it (`vera.attestation.signers`). The private key never lies in a session or in a folder that a
sandbox sees.
"""

import errno
import hashlib
import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FILE = "ed25519.pem"
_MAX_BYTES = 10_000
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class KeyFileError(Exception):
    """There is no key to sign with: a sentence that ends with what to do."""


class Signer:
    """A private key. `public` is the raw public key (32 bytes), `keyid` its sha256 in hexadecimal."""

    def __init__(self, private: "Ed25519PrivateKey") -> None:
        self._private = private
        self.public = private.public_key().public_bytes_raw()
        self.keyid = hashlib.sha256(self.public).hexdigest()

    def sign(self, message: bytes) -> bytes:
        """The signature of a message, 64 bytes."""
        return self._private.sign(message)

    @property
    def pem(self) -> str:
        """The public key as PEM (SubjectPublicKeyInfo)."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        public = self._private.public_key()
        return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()

    def seal(self, message: bytes) -> tuple[str, str, str]:
        """Key id, public key and signature of a message in hexadecimal, as `session.seal.Sign` wants them."""
        return self.keyid, self.public.hex(), self.sign(message).hex()


def verify(public: bytes, signature: bytes, message: bytes) -> bool:
    """Whether the raw public key made this signature of the message."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def verify_hex(public: str, signature: str, message: bytes) -> bool:
    """`verify` of a key and a signature in lower-case hexadecimal, as `session.seal.Verify` wants it."""
    try:
        key, signed = bytes.fromhex(public), bytes.fromhex(signature)
    except ValueError:
        return False
    return (key.hex(), signed.hex()) == (public, signature) and verify(key, signed, message)


def load_or_create(folder: Path | None = None, outside: Iterable[Path] = ()) -> Signer:
    """The signing key of this user, made when there is none yet; two processes at once get the same one.

    `folder` is where it lies, by default `keys` in the user's data folder. `outside` are folders it may not
    lie in, such as the input folder, which a sandbox sees. Raises KeyFileError.
    """
    folder = default_folder() if folder is None else folder
    _refuse_within(folder, outside)
    path = folder / FILE
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _refuse_open(folder.stat(), folder, "700")
        try:
            data = read_own(path, _MAX_BYTES)
        except FileNotFoundError:
            _create(path)
            data = read_own(path, _MAX_BYTES)
    except OSError as error:
        raise KeyFileError(f"Cannot keep a signing key at {path}: {error.strerror or error}.") from None
    return _parse(data, path)


def load(folder: Path | None = None) -> Signer | None:
    """The signing key of this user; None when there is none yet. Raises KeyFileError."""
    path = (default_folder() if folder is None else folder) / FILE
    try:
        return _parse(read_own(path, _MAX_BYTES), path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise KeyFileError(f"{path} cannot be read: {error.strerror or error}.") from None


def default_folder() -> Path:
    """`keys` in the user's data folder."""
    import platformdirs

    return Path(platformdirs.user_data_dir("vera", appauthor=False)) / "keys"


def _parse(data: bytes, path: Path) -> Signer:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        private = load_pem_private_key(data, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        private = None
    if not isinstance(private, Ed25519PrivateKey):
        raise KeyFileError(
            f"{path} does not hold an Ed25519 key. Move it away, and the next run makes a new one."
        )
    return Signer(private)


def read_own(path: Path, most: int) -> bytes:
    """The bytes of a file that this user alone can reach, `most` of them.

    Raises FileNotFoundError, OSError, KeyFileError.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise KeyFileError(f"{path} is a link; put the file itself there.") from None
        raise
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise KeyFileError(f"{path} is no file; move it away, and a new one is made.")
        _refuse_open(status, path, "600")
        return file.read(most)


def write_own(path: Path, data: bytes) -> None:
    """Write a file that this user alone can reach, whole or not at all. Raises OSError."""
    Path(_beside(path, data)).replace(path)


def _create(path: Path) -> None:
    """Make a key whole or not at all; when another process is first, its key stays."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    temporary = _beside(
        path, Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        Path(temporary).unlink()


def _beside(path: Path, data: bytes) -> str:
    """A new file beside `path` with these bytes, on the disk."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")  # O_EXCL, 0600
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)
    return temporary


def _refuse_open(status: os.stat_result, path: Path, mode: str) -> None:
    if status.st_uid != os.geteuid():
        raise KeyFileError(f"{path} belongs to another user; a signing key must be your own.")
    if status.st_mode & _OTHERS:
        raise KeyFileError(f"Other users can reach {path}. Close it: chmod {mode} {path}")


def _refuse_within(folder: Path, outside: Iterable[Path]) -> None:
    real = folder.resolve()
    for other in outside:
        if real.is_relative_to(other.resolve()):
            raise KeyFileError(
                f"The signing key would lie in {other}, which a sandbox can see. Give another folder "
                "to the run, or set XDG_DATA_HOME to one outside it."
            )
    for parent in (real, *real.parents):
        if (parent / "trace.jsonl").exists():
            raise KeyFileError(
                f"The signing key would lie in the session {parent}. Set XDG_DATA_HOME to a folder elsewhere."
            )
