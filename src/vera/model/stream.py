"""From the bytes of a streamed reply to its lines, and from lines to server-sent events."""

MAX_LINE_BYTES = 4 * 1024 * 1024
"""One line of a reply. A whole unstreamed reply is one line too."""


class TooLong(Exception):
    """A line, or a whole reply, is longer than its limit."""


class LineSplitter:
    """Splits chunks at LF (a CR before it goes too), whatever the chunks' borders; linear in time."""

    def __init__(self, most_bytes: int = MAX_LINE_BYTES) -> None:
        self._most = most_bytes
        self._parts: list[bytes] = []
        self._held = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` completes, without their ends. Raises TooLong."""
        *whole, rest = chunk.split(b"\n")
        if whole:
            whole[0] = b"".join((*self._parts, whole[0]))
            self._parts, self._held = [], 0
        if rest:
            self._parts.append(rest)
            self._held += len(rest)
        if self._held > self._most or any(len(line) > self._most for line in whole):
            raise TooLong(f"a line of more than {self._most} bytes")
        return [line.removesuffix(b"\r") for line in whole]

    def rest(self) -> bytes:
        """What came after the last line end."""
        return b"".join(self._parts).removesuffix(b"\r")


class EventDecoder:
    """Server-sent events (WHATWG HTML, section 9.2): lines in, the `data` of each event out.

    More lenient than the standard in one thing: a `data` line that is a complete JSON text or `[DONE]`
    is an event at once, since some servers separate events by a single line end.
    """

    def __init__(self) -> None:
        self._data: list[bytes] = []

    def feed(self, line: bytes) -> bytes | None:
        """The data of the event that `line` completes, if it completes one."""
        if not line:
            return self.rest()
        name, _, value = line.removeprefix(b"\xef\xbb\xbf").partition(b":")
        if name != b"data":
            return None
        value = value.removeprefix(b" ")
        if not self._data and _looks_complete(value):
            return value
        self._data.append(value)
        return None

    def rest(self) -> bytes | None:
        """The data of an event whose closing blank line never came."""
        if not self._data:
            return None
        data, self._data = b"\n".join(self._data), []
        return data


def _looks_complete(value: bytes) -> bool:
    value = value.strip()
    return value == b"[DONE]" or (value[:1] == b"{" and value[-1:] == b"}")
