"""The one reading of a host and port, for plain HTTP, for CONNECT and for `fetch`.

Programs read odd hosts in different ways (`0x7f.1`, `a@b`, `ok.test%00.evil.test`, `[::1%25lo]`), and what
one judges another may dial. So there is no repair here: a host is a name of letters, digits, `-` and `_`, a
dotted quad, or an IPv6 address in brackets; everything else is refused. What was parsed is what is dialled.

Sources: RFC 3986 section 3.2, RFC 9110 sections 4.2 and 9.3.6, RFC 1035 section 2.3.4; and the WHATWG URL
standard for which hosts "end in a number" and so are addresses to some programs.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from ipaddress import AddressValueError, IPv4Address, IPv6Address

from vera.sandbox.egress.address import Address

DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_NAME = 253
MAX_URL = 16 << 10

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_SCHEME = re.compile(r"(https?)://", re.IGNORECASE)
_TARGET = re.compile(r"[!-~]*")


class AuthorityError(ValueError):
    """It is no host and port with exactly one reading; the message says why."""


@dataclass(frozen=True)
class Authority:
    """A host (lower-case name without a dot at its end, or an address in canonical form) and a port."""

    host: str
    port: int

    @cached_property
    def address(self) -> Address | None:
        """The address that the host is; None for a name."""
        if ":" in self.host:
            return IPv6Address(self.host)
        return IPv4Address(self.host) if _NUMBER.fullmatch(self.host.rpartition(".")[2]) else None

    @property
    def shown_host(self) -> str:
        """The host as it is in a URL or a Host header."""
        return f"[{self.host}]" if ":" in self.host else self.host

    def __str__(self) -> str:
        return f"{self.shown_host}:{self.port}"


@dataclass(frozen=True)
class Url:
    """An absolute http or https URL. `target` is path and query as they were written, at least `/`."""

    scheme: str
    authority: Authority
    target: str

    @property
    def host_header(self) -> str:
        """RFC 9110 section 7.2: without the port where it is the scheme's own."""
        if self.authority.port == DEFAULT_PORTS[self.scheme]:
            return self.authority.shown_host
        return str(self.authority)

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host_header}{self.target}"


def parse_authority(text: str, default_port: int | None = None) -> Authority:
    """`host:port`, or `host` alone where there is a default port. Raises AuthorityError."""
    if text.startswith("["):
        inside, bracket, rest = text[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise _bad(text, "its brackets do not enclose an IPv6 address")
        return Authority(_ipv6(inside, text), _port(rest[1:] if rest else None, default_port, text))
    name, colon, port = text.partition(":")
    return Authority(_host(name, text), _port(port if colon else None, default_port, text))


def parse_url(text: str) -> Url:
    """An absolute URL without user name and fragment. Raises AuthorityError."""
    if len(text) > MAX_URL:
        raise AuthorityError(f"A URL of {len(text)} characters is too long: at most {MAX_URL} are read.")
    start = _SCHEME.match(text)
    if start is None:
        raise _bad(text, "it does not begin with http:// or https://")
    rest = text[start.end() :]
    end = min((at for at in (rest.find(mark) for mark in "/?#\\") if at >= 0), default=len(rest))
    target = rest[end:]
    if not _TARGET.fullmatch(target) or "#" in target or "\\" in target:
        raise _bad(text, "it holds a blank, a backslash, a fragment or a letter that is not ASCII")
    scheme = start[1].lower()
    authority = parse_authority(rest[:end], DEFAULT_PORTS[scheme])
    return Url(scheme, authority, target if target.startswith("/") else f"/{target}")


def _host(text: str, whole: str) -> str:
    host = text.lower() if text.isascii() else ""
    host = host[:-1] if host.endswith(".") else host
    labels = host.split(".") if len(host) <= MAX_NAME else []
    if not labels or not all(_LABEL.fullmatch(label) for label in labels):
        raise _bad(whole, "its host is neither a plain name nor a plain address")
    if not _NUMBER.fullmatch(labels[-1]):
        return host
    try:
        return str(IPv4Address(text))
    except AddressValueError:
        raise _bad(whole, "its host is an address in a notation that programs read differently") from None


def _ipv6(text: str, whole: str) -> str:
    # A zone (`%eth0`) names a network card of whoever reads it.
    try:
        if "%" in text:
            raise AddressValueError(text)
        return str(IPv6Address(text))
    except AddressValueError:
        raise _bad(whole, "its brackets do not enclose an IPv6 address") from None


def _port(text: str | None, default: int | None, whole: str) -> int:
    if text is None and default is not None:
        return default
    if text is None or not _PORT.fullmatch(text) or int(text) > 65535:
        raise _bad(whole, "it has no port between 1 and 65535 written as a plain number")
    return int(text)


def _bad(text: str, why: str) -> AuthorityError:
    return AuthorityError(f"{text[:100]!a} cannot be connected to: {why}.")
