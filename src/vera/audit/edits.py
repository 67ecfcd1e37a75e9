"""A text with stretches of it replaced, all at once."""

from collections.abc import Iterable


def edited(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """`text` with each stretch (from, to) replaced. The edits are in order; one that begins within the one
    before it is left out. Linear in the length."""
    out: list[str] = []
    position = 0
    for start, end, instead in edits:
        if start >= position:
            out += (text[position:start], instead)
            position = end
    return "".join([*out, text[position:]])


def blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """`text` with these stretches as spaces, so that every place stays where it is."""
    return edited(text, ((start, end, " " * (end - start)) for start, end in spans))
