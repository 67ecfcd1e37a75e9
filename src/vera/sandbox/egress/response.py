"""What a client of the proxy is answered: our own refusals, and what hosts say, with `Connection: close`."""

import re
from http import HTTPStatus

MAX_PHRASE = 200

_QUOTES = str.maketrans("“”‘’", "\"\"''")
_PER_CONNECTION = re.compile(rb"(?i)(?:connection|keep-alive|proxy-connection|proxy-authenticate)[ \t]*:")
_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([0-9]{3})(?:[ \t].*)?")

ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"

TLS_ACCESS_DENIED = b"\x15\x03\x01\x00\x02\x02\x31"
"""A fatal alert (RFC 8446 section 6.2), which TLS clients report by its name."""


def refusal(status: int, reason: str, *, method: str) -> bytes:
    """An answer of our own. What of the reason is ASCII is in the status line too: of a refused tunnel
    that is all that most programs show."""
    phrase = "".join(c if " " <= c <= "~" else "?" for c in reason.translate(_QUOTES))[:MAX_PHRASE]
    content = f"{HTTPStatus(status).phrase}: {reason}\n".encode("utf-8", "replace")
    head = (
        f"HTTP/1.1 {status} {phrase}\r\nX-Vera-Egress: {phrase}\r\n"
        "Content-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(content)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + (b"" if method == "HEAD" else content)


def own(status: int, text: bytes) -> bytes:
    """An answer with this text, from us and not from a host."""
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(text)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + text


def closing(head: bytes) -> tuple[bytes, bool]:
    """A host's response head (with its empty line) as the client gets it, and whether it is the last one.

    Each client connection carries one request, so the client is told that it ends; an interim response
    (1xx) goes on as it is and another head follows. What is no HTTP head is left alone.
    """
    first, *lines = head[:-4].split(b"\r\n")
    status = _STATUS_LINE.fullmatch(first)
    if status is None:
        return head, True
    if status[1].startswith(b"1") and status[1] != b"101":
        return head, False
    kept = [line for line in lines if not _PER_CONNECTION.match(line)]
    return b"\r\n".join([first, *kept, b"Connection: close", b"", b""]), True
