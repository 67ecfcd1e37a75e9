"""Elements of SVG 1.1 as text. Whatever is written into them is escaped and printable.

A picture has no style attributes: a Content-Security-Policy without inline styles lets all of it through, and
one stylesheet colours the page, the report and their prints.
"""

import math
from functools import cache
from html import escape
from unicodedata import east_asian_width

from vera.report.printable import one_printable_line

Value = str | int | float
_BROAD = frozenset("MWmw@%—…")
"""Letters that are broader than most."""


def element(name: str, *inside: str, **attributes: Value) -> str:
    """`<name …>inside</name>`: `inside` is markup. An attribute `class_` is written `class`, `text_anchor`
    as `text-anchor`; numbers have at most one decimal, and what is no number is 0."""
    written = "".join([f' {_name(key)}="{_value(value)}"' for key, value in attributes.items()])
    return f"<{name}{written}>{''.join(inside)}</{name}>" if inside else f"<{name}{written}/>"


def words(text: str, length: int = 200) -> str:
    """Text for the inside of an element: escaped, on one line, at most `length` characters."""
    return escape(shortened(text, length), quote=False)


def label(text: str, x: float, y: float, class_: str, length: int = 200) -> str:
    """A text that begins (or, by its class, ends) at a point."""
    return element("text", words(text, length), x=x, y=y, class_=class_)


def hint(text: str) -> str:
    """A `<title>`: what a pointer that rests on the element is told."""
    return element("title", words(text, 400))


def picture(
    kind: str,
    title: str,
    description: str,
    width: float,
    height: float,
    *inside: str,
    key: str = "",
    role: str = "img",
) -> str:
    """The whole picture. `kind` is its class, `key` makes its ids where a page has several of a kind; `role`
    is `group` for one with links in it."""
    key = f"picture-{key or kind}"
    return element(
        "svg",
        element("title", words(title), id=f"{key}-title"),
        element("desc", words(description, 1000), id=f"{key}-desc"),
        *inside,
        xmlns="http://www.w3.org/2000/svg",
        class_=f"picture {kind}",
        viewBox=f"0 0 {_number(width)} {_number(height)}",
        role=role,
        aria_labelledby=f"{key}-title {key}-desc",
    )


def hatch(x: float, y: float, width: float, height: float, class_: str) -> str:
    """Slanted lines within a rectangle, one each five units: what tells a bar apart where colours do not."""
    lines = []
    start = x - height + 5
    while start < x + width:
        left, right = max(start, x), min(start + height, x + width)
        foot = y + height + start
        lines.append(f"M{left:.1f} {foot - left:.1f}L{right:.1f} {foot - right:.1f}")
        start += 5
    return element("path", d="".join(lines), class_=class_) if lines else ""


def shortened(text: str, length: int) -> str:
    """`text` on one line, cut with an ellipsis where it is longer than `length` characters."""
    shown = one_printable_line(text[: length + 1])
    return shown if len(shown) <= length else shown[: length - 1].rstrip() + "…"


def fitting(text: str, width: float) -> str:
    """The beginning of `text` that takes at most about `width` pixels in the font of a picture."""
    shown, taken = one_printable_line(text[:400]), 0.0
    for at, letter in enumerate(shown):
        taken += 12.5 if east_asian_width(letter) in "WF" else 11.5 if letter in _BROAD else 6.9
        if taken > width:
            return shown[: max(0, at - 2)].rstrip() + "…"
    return shown


@cache
def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _value(value: Value) -> str:
    return escape(value, quote=True) if isinstance(value, str) else _number(value)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0") if math.isfinite(value) else "0"
