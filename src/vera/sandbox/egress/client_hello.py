"""The server name in the first message of a TLS connection (RFC 8446 section 4.1.2, RFC 6066 section 3).

A tunnel for TLS carries TLS to the host that was judged, not plain text and not a name that somebody else
at the same address answers to. (An encrypted inner name cannot be seen; its outer name is what is compared.)
"""

MAX_HELLO = 32 << 10
MAX_RECORDS = 8
"""A message may be cut into records; a client that cuts finer than this is hiding something."""

_HANDSHAKE, _CLIENT_HELLO, _SERVER_NAME, _HOST_NAME = 22, 1, 0, 0


class NotTlsError(ValueError):
    """The bytes do not begin a TLS connection."""


class IncompleteError(Exception):
    """More bytes are needed."""


def server_name(data: bytes) -> str:
    """The name that the client asks for, lower-case; '' when it asks for none.

    Raises IncompleteError while the message is not whole, NotTlsError for anything else.
    """
    message = _Reader(_first_message(data))
    try:
        message.take(2 + 32)  # version, random
        message.vector(1)  # session id
        message.vector(2)  # cipher suites
        message.vector(1)  # compression methods
        extensions = _Reader(message.vector(2)) if message.left else _Reader(b"")
        while extensions.left:
            kind = extensions.number(2)
            body = extensions.vector(2)
            if kind != _SERVER_NAME:
                continue
            names = _Reader(_Reader(body).vector(2))
            if names.number(1) != _HOST_NAME:
                raise NotTlsError("a server name of an unknown kind")
            name = names.vector(2).decode("ascii").lower()
            if names.left:
                raise NotTlsError("more than one server name")
            return name
    except (IndexError, UnicodeDecodeError):
        raise NotTlsError("a ClientHello that cannot be read") from None
    return ""


def _first_message(data: bytes) -> bytes:
    """The body of the ClientHello, joined from as many records as it was cut into."""
    joined = bytearray()
    at = records = 0
    while len(joined) < 4 or len(joined) < 4 + int.from_bytes(joined[1:4], "big"):
        if at >= MAX_HELLO or records >= MAX_RECORDS:
            raise NotTlsError("a ClientHello that is too long")
        head = data[at : at + 5]
        size = _record_size(head)
        if len(head) < 5 or len(data) < at + 5 + size:
            raise IncompleteError
        joined += data[at + 5 : at + 5 + size]
        at += 5 + size
        records += 1
        if joined[0] != _CLIENT_HELLO:
            raise NotTlsError("no ClientHello")
    return bytes(joined[4 : 4 + int.from_bytes(joined[1:4], "big")])


def _record_size(head: bytes) -> int:
    """The size in the head of a TLS record, which may not be whole. Raises NotTlsError."""
    if head[:1] not in (b"", bytes([_HANDSHAKE])) or head[1:2] not in (b"", b"\3"):
        raise NotTlsError("no TLS")
    size = int.from_bytes(head[3:5], "big")
    if len(head) == 5 and not 0 < size <= 1 << 14:
        raise NotTlsError("a TLS record of an impossible size")
    return size


class _Reader:
    """Numbers and length-prefixed vectors from bytes. Raises IndexError past the end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def take(self, size: int) -> bytes:
        if size > self.left:
            raise IndexError(size)
        self._at += size
        return self._data[self._at - size : self._at]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def vector(self, prefix: int) -> bytes:
        return self.take(self.number(prefix))
