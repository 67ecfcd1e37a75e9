"""The address of a database: what connects there, and what of it may be shown.

A password in it never leaves this process: no message, log or argument of a child carries it.
"""

import os
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from vera.batch.errors import BatchError
from vera.extras import install_command

SCHEMES = ("postgresql", "postgres")
HIDDEN = "***"
SECRETS = ("password", "sslpassword")
"""Parameters of libpq that are secret, also in the part after `?`."""
CONNECT_SECONDS = 5


def is_postgres(url: str) -> bool:
    return url.partition("://")[0].lower() in SCHEMES and "://" in url


def redacted(url: str) -> str:
    """The address without its secrets, for messages."""
    if not is_postgres(url):
        return HIDDEN
    try:
        parts = urlsplit(url)
    except ValueError:
        return f"{url.partition('://')[0]}://{HIDDEN}"
    user, at, place = parts.netloc.rpartition("@")
    name, colon, _ = user.partition(":")
    given = parse_qsl(parts.query, keep_blank_values=True)
    shown = [(key, HIDDEN if key.lower() in SECRETS else value) for key, value in given]
    netloc = f"{name}{f':{HIDDEN}' if colon else ''}{at}{place}"
    query = urlencode(shown, safe="/*", quote_via=quote)
    return f"{parts.scheme}://{netloc}{parts.path}{f'?{query}' if query else ''}"


def password_warning(url: str) -> str:
    """A sentence when the address holds a password, which every user of this machine can read; else ''."""
    if not secrets_of(url):
        return ""
    return (
        "the password in --engine can be read in this machine's list of processes. Leave it out, and set "
        "PGPASSWORD, or PGPASSFILE to a file with the line host:port:database:user:password."
    )


def secrets_of(url: str) -> list[str]:
    """The secrets in an address, as they were written and as they are meant."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return []
    user = parts.netloc.rpartition("@")[0]
    found = [user.partition(":")[2]]
    found += [value for key, value in parse_qsl(parts.query) if key.lower() in SECRETS]
    return [each for value in found if value for each in {value, unquote(value)}]


def take_password(environ: MutableMapping[str, str] | None = None) -> str:
    """PGPASSWORD, which is then no longer in the environment: the processes of the attempts inherit that."""
    return (os.environ if environ is None else environ).pop("PGPASSWORD", "")


class Address:
    """Where the database is. Its text is the address without secrets."""

    def __init__(self, url: str, password: str = "") -> None:
        """`password` counts where the address has none. Raises BatchError (2) for what is no address, (5)
        when the extra is missing."""
        self._shown = redacted(url)
        self._secrets = [*secrets_of(url), *([password] if password else [])]
        if not is_postgres(url):
            raise BatchError(
                "The engine is 'local' or the address of a Postgres database: "
                "postgresql://USER@HOST:5432/DATABASE",
                2,
            )
        try:
            import psycopg
            import psycopg.conninfo
        except ImportError:
            get = install_command("cluster")
            message = f"This needs the extra 'cluster', which is not installed here. Get it: {get}"
            raise BatchError(message, 5) from None
        try:
            self._parameters: dict[str, Any] = dict(psycopg.conninfo.conninfo_to_dict(url))
        except (psycopg.Error, ValueError) as error:
            raise BatchError(f"{self._shown} is no address of a database: {self.said(error)}", 2) from None
        if password:
            self._parameters.setdefault("password", password)

    def __str__(self) -> str:
        return self._shown

    def __repr__(self) -> str:
        return f"Address({self._shown!r})"

    def parameters(self, name: str, patience: float) -> dict[str, Any]:
        """Keyword parameters for libpq; `name` is shown to the database's owner. A connection that answers
        nothing for `patience` seconds is taken for broken (tcp(7), TCP_USER_TIMEOUT)."""
        seconds = max(1, int(patience))
        defaults = {
            "connect_timeout": CONNECT_SECONDS,
            "keepalives_idle": seconds,
            "keepalives_interval": max(1, seconds // 3),
            "keepalives_count": 3,
            "tcp_user_timeout": seconds * 1000,
            "application_name": name,
        }
        return {**defaults, **self._parameters}

    def said(self, error: BaseException) -> str:
        """What an error says, in one line and without the secrets."""
        text = " ".join(str(error).split()) or type(error).__name__
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, HIDDEN)
        return text.rstrip(".") + "."
