"""Names of files, sites and people's words as Markdown that shows them as they are.

Tags and entities are left to the page that they are written on (`answer`).
"""

import re

_SPECIAL = re.compile(
    r"(?P<address>https?://[^\s<>\\]{1,4000})|[\\`*\[\]~|^]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"
)
"""What makes a link, an image, a note, code or emphasis of the text around it, except in an address."""

_BEGINS_BLOCK = re.compile(r"^([0-9]{0,9})([-+=:#](?!\w)|>|[.)](?=\s|$))")
"""At the beginning of a line: an item of a list, a heading, a quotation."""


def literal(line: str) -> str:
    """One line of text, in which nothing is Markdown: `[a](b)` is no link."""
    shown = _SPECIAL.sub(lambda found: found[0] if found["address"] else f"\\{found[0]}", line)
    return _BEGINS_BLOCK.sub(r"\1\\\2", shown)
