"""Colours as documents write them, and whether a reader can tell two of them apart."""

import re
from functools import cache

ALIKE = 16
"""Of 255: colours that differ by less in red, green and blue cannot be told apart."""

_HEX = re.compile(r"#?([0-9a-fA-F]{6})")
_NAMED = """
    white ffffff black 000000 snow fffafa ivory fffff0 ghostwhite f8f8ff floralwhite fffaf0 azure f0ffff
    mintcream f5fffa whitesmoke f5f5f5 seashell fff5ee honeydew f0fff0 aliceblue f0f8ff oldlace fdf5e6
    linen faf0e6 lavenderblush fff0f5 cornsilk fff8dc lightyellow ffffe0 beige f5f5dc gainsboro dcdcdc
    lightgray d3d3d3 lightgrey d3d3d3 silver c0c0c0 darkgray a9a9a9 darkgrey a9a9a9 gray 808080 grey 808080
    dimgray 696969 dimgrey 696969 red ff0000 maroon 800000 darkred 8b0000 crimson dc143c yellow ffff00
    gold ffd700 orange ffa500 darkorange ff8c00 olive 808000 lime 00ff00 green 008000 darkgreen 006400
    teal 008080 aqua 00ffff cyan 00ffff blue 0000ff navy 000080 darkblue 00008b midnightblue 191970
    royalblue 4169e1 steelblue 4682b4 lightblue add8e6 skyblue 87ceeb lightgreen 90ee90 fuchsia ff00ff
    magenta ff00ff purple 800080 indigo 4b0082 violet ee82ee pink ffc0cb brown a52a2a tan d2b48c
    khaki f0e68c darkcyan 008b8b darkmagenta 8b008b darkyellow 808000
"""
"""Names of CSS, and of the highlighters of Word."""


@cache
def names() -> dict[str, str]:
    """`#rrggbb` of each colour that has a name, by the name in lower case."""
    parts = _NAMED.split()
    return {name: f"#{digits}" for name, digits in zip(parts[::2], parts[1::2], strict=True)}


def read(written: str) -> str:
    """`#rrggbb` of a colour that is written so, without the mark, or by its name; '' for anything else."""
    if found := _HEX.fullmatch(written):
        return f"#{found[1].lower()}"
    return names().get(written.lower(), "")


def alike(one: str, other: str) -> bool:
    """Whether no reader tells one colour, `#rrggbb`, from the other; never for one that is not known."""
    if not (len(one) == len(other) == len("#rrggbb")):
        return False
    return all(abs(int(one[i : i + 2], 16) - int(other[i : i + 2], 16)) < ALIKE for i in (1, 3, 5))
