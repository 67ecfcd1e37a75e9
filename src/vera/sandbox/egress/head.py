"""The head of a proxy request, read strictly, and the head that goes on to the host (RFC 9112, RFC 9110).

Strictly, because what two programs read differently lets a second request hide in the first: one line end
(CRLF), no folded lines, one length, no blanks around names.
"""

import re
from dataclasses import dataclass

from vera.sandbox.egress.authority import Authority, AuthorityError, Url, parse_authority, parse_url

MAX_FIELDS = 128
MAX_LENGTH_DIGITS = 15

CREDENTIALS = frozenset({"authorization", "cookie", "cookie2", "proxy-authorization"})
"""Headers that say who somebody is: never passed on where we can see them."""

HOP_BY_HOP = frozenset(
    {
        *("connection", "keep-alive", "proxy-connection", "proxy-authenticate", "te", "trailer", "upgrade"),
        *("http2-settings", "host", "content-length", "transfer-encoding"),
    }
)
"""Meant for this hop (RFC 9110 section 7.6.1), or written again by us."""

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_METHOD = re.compile(r"[A-Za-z-]{1,32}")
_VALUE = re.compile(r"[\t -~\x80-\xff]*")
_VERSION = re.compile(r"HTTP/1\.[01]")


class HeadError(ValueError):
    """It is no request that can be passed on; the message says why."""


@dataclass(frozen=True)
class RequestHead:
    """A proxy request. `url` is None for CONNECT; `length` of the body in bytes, None if `chunked`.

    `version` is passed on, so that an old client is not sent chunks.
    """

    method: str
    authority: Authority
    url: Url | None
    fields: tuple[tuple[str, str], ...]
    length: int | None = 0
    version: str = "HTTP/1.1"

    @property
    def chunked(self) -> bool:
        return self.length is None


def parse_head(data: bytes) -> RequestHead:
    """The head without the empty line that ends it. Raises HeadError."""
    first, *lines = data.decode("latin-1").split("\r\n")
    method, _, rest = first.partition(" ")
    target, _, version = rest.rpartition(" ")
    if not _METHOD.fullmatch(method) or not _VERSION.fullmatch(version):
        raise HeadError("This is a proxy for HTTP/1.1, and what came is no such request.")
    if len(lines) > MAX_FIELDS:
        raise HeadError(f"The request has {len(lines)} header lines; at most {MAX_FIELDS} are read.")
    fields = tuple(_field(line) for line in lines)
    try:
        if method == "CONNECT":
            return RequestHead(method, parse_authority(target), None, fields)
        url = parse_url(target)
    except AuthorityError as error:
        raise HeadError(str(error)) from None
    if url.scheme != "http":
        raise HeadError("An https URL goes through a CONNECT tunnel, not through a plain proxy request.")
    return RequestHead(method, url.authority, url, fields, _body_length(fields), version)


def forwarded(head: RequestHead) -> bytes:
    """The request head for the host itself: our reading of the URL, no credentials, and no second request."""
    assert head.url is not None
    nominated = {
        name.strip().lower()
        for key, value in head.fields
        if key.lower() == "connection"
        for name in value.split(",")
    }
    dropped = HOP_BY_HOP | CREDENTIALS | nominated
    kept = [(name, value) for name, value in head.fields if name.lower() not in dropped]
    if head.chunked:
        kept.append(("Transfer-Encoding", "chunked"))
    elif head.length or any(name.lower() == "content-length" for name, _ in head.fields):
        kept.append(("Content-Length", str(head.length)))
    fields = [("Host", head.url.host_header), *kept, ("Connection", "close")]
    lines = [
        f"{head.method} {head.url.target} {head.version}",
        *(f"{name}: {value}" for name, value in fields),
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _field(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    value = value.strip(" \t")
    if not colon or not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
        raise HeadError("The request has a header line that cannot be read in one way only.")
    return name, value


def _body_length(fields: tuple[tuple[str, str], ...]) -> int | None:
    """RFC 9112 section 6, without its room for repair."""
    lengths = [value for name, value in fields if name.lower() == "content-length"]
    codings = [value.lower() for name, value in fields if name.lower() == "transfer-encoding"]
    if codings == ["chunked"] and not lengths:
        return None
    if codings or len(lengths) > 1:
        raise HeadError("The request does not say in one way only how long its body is.")
    if not lengths:
        return 0
    if not re.fullmatch(r"[0-9]+", lengths[0]) or len(lengths[0]) > MAX_LENGTH_DIGITS:
        raise HeadError("The length of the request's body is no plain number.")
    return int(lengths[0])
