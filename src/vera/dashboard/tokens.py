"""The token that opens the dashboard, and what is made from it: logins and form tokens.

A login is a cookie `id.mac` and nothing is kept on the server, so that one that restarts with the same token
logs no one out. The cookie does not hold the token: browsers send it to every port of this host.
"""

import hashlib
import hmac
import os
import re
import secrets
import stat
from pathlib import Path

FILE = "dashboard.token"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{20,200}")
_LOGIN = re.compile(r"([0-9a-f]{32})\.([0-9a-f]{64})")
_FORM_TOKEN = re.compile(r"([0-9a-f]{16})\.([0-9a-f]{64})")
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_MAX_BYTES = 4096


class TokenFileError(Exception):
    """There is no token to serve with: a sentence that ends with what to do."""


class Tokens:
    """What one token opens. Every comparison takes the same time however much of it is right."""

    def __init__(self, token: str) -> None:
        self._key = token.encode("utf-8", "surrogatepass")
        self.cookie = "vera-" + hashlib.sha256(self._key).hexdigest()[:12]
        """The cookie's name: dashboards with different tokens on one host do not log each other out."""

    def is_token(self, given: str) -> bool:
        """Whether `given` is the token."""
        return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), self._key)

    def new_login(self) -> str:
        """The value of a cookie for a browser that had the token."""
        login = secrets.token_hex(16)
        return f"{login}.{self._mac('login', login)}"

    def is_login(self, value: str) -> bool:
        """Whether a cookie's value was made by `new_login` of this token."""
        found = _LOGIN.fullmatch(value)
        return found is not None and hmac.compare_digest(self._mac("login", found[1]), found[2])

    def form_token(self, login: str) -> str:
        """What the forms of one answer carry that is made for the login.

        Another one each time: the lengths of compressed answers tell of a secret only while it stays the same
        (the attack BREACH).
        """
        salt = secrets.token_hex(8)
        return f"{salt}.{self._mac('form', f'{login} {salt}')}"

    def is_form_token(self, login: str, given: str) -> bool:
        """Whether a form was made for the login."""
        found = _FORM_TOKEN.fullmatch(given)
        return found is not None and hmac.compare_digest(self._mac("form", f"{login} {found[1]}"), found[2])

    def _mac(self, purpose: str, text: str) -> str:
        return hmac.new(self._key, f"vera dashboard {purpose} 1 {text}".encode(), hashlib.sha256).hexdigest()


def default_file() -> Path:
    """`dashboard.token` in the user's data folder."""
    import platformdirs

    return Path(platformdirs.user_data_dir("vera", appauthor=False)) / FILE


def load_or_create(path: Path) -> str:
    """The token in the file, which only its owner may read; made when there is none yet.

    Raises TokenFileError.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            return _read(path)
        except FileNotFoundError:
            _create(path)
            return _read(path)
    except OSError as error:
        raise TokenFileError(f"Cannot keep a token at {path}: {error.strerror or error}.") from None


def _read(path: Path) -> str:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid() or about.st_mode & _OTHERS:
            raise TokenFileError(
                f"The token in {path} may be known to others. Only you may read that file: "
                f"'chmod 600 {path}', or remove it, and a new token is made."
            )
        text = file.read(_MAX_BYTES).decode("utf-8", "replace").strip()
    if not _TOKEN.fullmatch(text):
        raise TokenFileError(
            f"{path} does not hold a token: one line of 20 to 200 letters, digits, '-' and '_'. "
            "Remove it, and a new one is made."
        )
    return text


def _create(path: Path) -> None:
    """Write a new token under another name first: two processes at once get the same one."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_urlsafe(32).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            path.hardlink_to(temporary)
        except FileExistsError:
            return
    finally:
        temporary.unlink(missing_ok=True)
