"""Undoing a content coding (RFC 9110 section 8.4.1) with a bound on what comes out."""

import zlib

MAX_MEMBERS = 16
"""A gzip body may consist of several compressed members; no one sends many."""

GZIP, ZLIB, RAW = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS


class DecodeError(ValueError):
    """The body is not what its coding says, or its coding is none of ours."""


class TooLarge(Exception):
    """More would come out than is wanted."""


class Decoder:
    """Bytes off the wire to bytes of the content, at most `most` of each. `coding` is the value of the header
    Content-Encoding. Raises DecodeError for a coding other than gzip, deflate and none."""

    def __init__(self, coding: str, most: int) -> None:
        coding = coding.strip().lower()
        self.coding = "" if coding in ("", "identity") else coding.removeprefix("x-")
        if self.coding not in ("", "gzip", "deflate"):
            raise DecodeError(f"its content coding is {coding[:40]!a}, and only gzip and deflate are undone")
        self._left = self._left_on_wire = most
        self._members = 0
        self._inflate: zlib._Decompress | None = None

    def feed(self, data: bytes) -> bytes:
        """Raises TooLarge, or DecodeError for data that is damaged."""
        self._left_on_wire -= len(data)
        out = data if not self.coding else self._decompress(data)
        self._left -= len(out)
        if min(self._left, self._left_on_wire) < 0:
            raise TooLarge
        return out

    def finish(self) -> None:
        """Raises DecodeError when the content is not complete."""
        if self._inflate is not None and not self._inflate.eof:
            raise DecodeError("its compressed body ended too early")

    def _decompress(self, data: bytes) -> bytes:
        pieces = []
        room = self._left + 1
        try:
            while data and room:
                if self._inflate is None or self._inflate.eof:
                    self._inflate = self._next_member(data)
                pieces.append(self._inflate.decompress(data, room))
                room -= len(pieces[-1])
                data = self._inflate.unused_data
        except zlib.error as error:
            raise DecodeError(f"its compressed body is damaged ({error})") from None
        return b"".join(pieces)

    def _next_member(self, data: bytes) -> "zlib._Decompress":
        self._members += 1
        if self._members > MAX_MEMBERS:
            raise DecodeError("its compressed body has too many parts")
        if self.coding == "gzip":
            return zlib.decompressobj(GZIP)
        # What is called deflate is zlib's format (RFC 1950), and from some servers the bare stream.
        return zlib.decompressobj(ZLIB if data[0] & 0x0F == 8 else RAW)
