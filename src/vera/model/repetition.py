"""Noticing that a model writes the same again and again: such a stream does not end by itself."""

from collections.abc import Iterable

LOOK_EVERY = 96
"""Characters between two looks at the text: a character costs the same in a long text as in a short."""

WINDOW = 8192
"""Characters of the end that are looked at."""

MIN_REPEATED = 2000
"""Characters that must be one unit over and over: a table of 70 equal rows is an answer."""

MIN_TIMES = 4
PROBE = 32
"""Characters at the end whose earlier places tell how long the unit may be."""

MAX_PLACES = 32
"""Places that are tried in one look, so that no text makes a look slow."""

CHARACTERS_A_TOKEN = 4


class WatchedText:
    """A text that grows piece by piece. `loops` is true once its end is one unit over and over; what comes
    after that is dropped, and `dropped` says so.
    """

    def __init__(self) -> None:
        self.loops = False
        self.dropped = False
        self._unit = 0
        self._pieces: list[str] = []
        self._tail: list[str] = []
        self._waiting = 0

    def add(self, piece: str) -> None:
        if self.loops or not piece:
            self.dropped = self.dropped or bool(piece)
            return
        self._pieces.append(piece)
        self._tail.append(piece)
        self._waiting += len(piece)
        if self._waiting >= LOOK_EVERY:
            end = "".join(self._tail)[-WINDOW:]
            self._tail, self._waiting = [end], 0
            self._unit = unit(end)
            self.loops = self._unit > 0

    def whole(self) -> str:
        """All that was kept of it."""
        return "".join(self._pieces)

    def cut(self) -> str:
        """The text without the repetition at its end; the unit that is repeated is kept once."""
        text = self.whole()
        return text[: len(text) - _repeated(text, self._unit)] if self.loops else text


def is_cut(texts: Iterable[WatchedText], finish_reason: str) -> bool:
    """Whether an answer of these texts ended in a repetition. One that came to its own end (`finish_reason`
    neither empty nor `length`) with nothing dropped is left as it is."""
    looping = [text for text in texts if text.loops]
    return bool(looping) and (finish_reason in ("", "length") or any(text.dropped for text in looping))


def tokens_seen(pieces: int, texts: Iterable[WatchedText]) -> int:
    """About how many tokens an answer had that came in so many pieces: a piece is a token or more."""
    return max(pieces, sum(len(text.whole()) for text in texts) // CHARACTERS_A_TOKEN)


def unit(text: str) -> int:
    """The length of the shortest unit that the end of `text` repeats often and long enough; 0 for none."""
    probe, at = text[-PROBE:], len(text) - PROBE
    for _ in range(MAX_PLACES):
        at = text.rfind(probe, 0, max(0, at + PROBE - 1))
        size = len(text) - PROBE - at
        span = max(MIN_REPEATED, MIN_TIMES * size)
        if at < 0 or span > len(text):
            return 0
        if text[-span:-size] == text[size - span :]:
            return size
    return 0


def _repeated(text: str, size: int) -> int:
    """How many characters at the end of `text` are those `size` characters before them."""
    repeated = len(text) - size
    low = 0
    while low < repeated:  # the most that holds; a longer end holds only if the shorter does
        middle = (low + repeated + 1) // 2
        if text[-middle - size : -size] == text[-middle:]:
            low = middle
        else:
            repeated = middle - 1
    return low
