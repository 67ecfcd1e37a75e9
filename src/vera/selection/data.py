"""Text from outside as a judge sees it: cut in the middle, and fenced as data."""

import hashlib
import unicodedata

LONGEST_LINE = 4_000


def cut(text: str, most: int) -> str:
    """The text in about `most` characters: two thirds of them its beginning, the rest its end."""
    if len(text) <= most:
        return text
    head, tail = most * 2 // 3, most - most * 2 // 3
    return f"{text[:head]}\n[… {len(text) - most} characters not shown …]\n{text[len(text) - tail :]}"


def fenced(title: str, text: str) -> str:
    """The text between `<<<DATA` and `DATA>>>`, each line behind a bar.

    It cannot close the fence: the mark of its edges is made from a hash of it and does not stand in it.
    Characters that nobody sees are left out.
    """
    lines = [f"| {_visible(line[:LONGEST_LINE])}" for line in text.split("\n")]
    body = "\n".join(lines)
    digest = hashlib.sha256(body.encode("utf-8", "replace")).hexdigest()
    while digest[:16] in body:
        digest = hashlib.sha256(digest.encode()).hexdigest()
    return f"<<<DATA {digest[:16]} {title}\n{body}\nDATA {digest[:16]}>>>"


def _visible(line: str) -> str:
    return line if line.isprintable() else "".join(map(_shown, line))


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    category = unicodedata.category(character)
    if category == "Cf":
        return ""
    return " " if category[0] == "Z" or character in "\t\r" else "\N{REPLACEMENT CHARACTER}"
