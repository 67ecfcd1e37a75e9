"""The picture of docs/architecture.md: the rooms of src/vera on their floors, and who imports whom.

.venv/bin/python benchmarks/architecture.py

The imports and the table of floors are those of tests/test_structure.py. An arrow runs from a room to one
that it imports. It is left out where a longer way of arrows leads there too (transitive reduction), so that
the picture can be read. A test compares the file with the imports.
"""

import sys
from collections.abc import Collection, Mapping
from html import escape
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from test_structure import FLOORS, SOURCE, read_imports, room

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "images" / "architecture.svg"

WIDTH = 1120
ROW = 84
MARGIN = 48
"""Left of the rooms: the number of the floor."""
BOX_HEIGHT = 30
LETTER = 7.6
"""Width of a letter, in pixels at this size: enough for the widest common sans-serif."""
PADDING = 22
SWEEPS = 24
"""How often each floor is sorted by its neighbours; the order does not change after about ten."""

Graph = Mapping[str, Collection[str]]


def rooms() -> dict[str, set[str]]:
    """Each room, with the rooms that it imports."""
    graph: dict[str, set[str]] = {name: set() for name in FLOORS}
    for each in read_imports(SOURCE):
        above, below = room(each.importer), room(each.imported)
        if above != below:
            graph[above].add(below)
    return graph


def reduced(graph: Graph) -> dict[str, list[str]]:
    """The arrows that no longer way replaces, in the order of their names. The graph has no circle."""
    reach: dict[str, set[str]] = {}

    def reached(name: str) -> set[str]:
        if name not in reach:
            reach[name] = set(graph[name]).union(*(reached(below) for below in graph[name]))
        return reach[name]

    return {
        name: sorted(to for to in below if not any(to in reached(other) for other in below if other != to))
        for name, below in graph.items()
    }


def placed(arrows: Graph) -> dict[str, tuple[float, float]]:
    """The middle of each room: floors from top to bottom, a floor's rooms ordered by their neighbours."""
    neighbours: dict[str, set[str]] = {name: set(below) for name, below in arrows.items()}
    for name, below in arrows.items():
        for to in below:
            neighbours[to].add(name)
    floors = sorted(set(FLOORS.values()), reverse=True)
    rows = {floor: sorted(name for name in FLOORS if FLOORS[name] == floor) for floor in floors}
    at: dict[str, float] = {}
    for sweep in range(SWEEPS):
        for floor in floors if sweep % 2 else reversed(floors):
            names = rows[floor]
            if sweep:
                wanted = {
                    name: sum(at[each] for each in neighbours[name]) / len(neighbours[name])
                    if neighbours[name]
                    else at[name]
                    for name in names
                }
                names.sort(key=lambda name: (round(wanted[name], 6), name))
            at.update(_spread(names))
    return {name: (at[name], ROW * (row + 0.5)) for row, floor in enumerate(floors) for name in rows[floor]}


def picture(graph: Graph) -> str:
    """The drawing as SVG: the same rooms and imports give the same bytes."""
    arrows = reduced(graph)
    at = placed(arrows)
    floors = sorted(set(FLOORS.values()), reverse=True)
    height = ROW * len(floors)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        'font-family="sans-serif" font-size="13">',
        "<title>The rooms of src/vera and their imports</title>",
        f"<desc>{escape(_in_words(arrows))}</desc>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#7a8594"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    for row, floor in enumerate(floors):
        if row % 2 == 0:
            lines.append(f'<rect y="{ROW * row}" width="{WIDTH}" height="{ROW}" fill="#f5f7fa"/>')
        lines.append(f'<text x="{MARGIN / 2:g}" y="{ROW * (row + 0.5) + 5:g}" fill="#5b6675">{floor}</text>')
    for name, below in arrows.items():
        for to in below:
            lines.append(_arrow(at[name], at[to]))
    for name, (x, y) in sorted(at.items(), key=lambda each: (each[1][1], each[1][0])):
        width = _width(name)
        lines.append(
            f'<rect x="{x - width / 2:.1f}" y="{y - BOX_HEIGHT / 2:g}" width="{width:.1f}" '
            f'height="{BOX_HEIGHT}" rx="5" fill="#ffffff" stroke="#2f5d8a"/>'
        )
        lines.append(f'<text x="{x:.1f}" y="{y + 4.5:g}" text-anchor="middle" fill="#17222e">{name}</text>')
    return "\n".join([*lines, "</svg>", ""])


def _spread(names: list[str]) -> dict[str, float]:
    """Where the rooms of one floor stand, from left to right with equal gaps."""
    widths = [_width(name) for name in names]
    gap = (WIDTH - MARGIN - sum(widths)) / (len(names) + 1)
    found, x = {}, MARGIN + gap
    for name, width in zip(names, widths, strict=True):
        found[name] = x + width / 2
        x += width + gap
    return found


def _width(name: str) -> float:
    return len(name) * LETTER + PADDING


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    (x, y), (to_x, to_y) = start, end
    y, to_y = y + BOX_HEIGHT / 2, to_y - BOX_HEIGHT / 2
    bend = (to_y - y) / 2
    return (
        f'<path d="M{x:.1f} {y:g} C{x:.1f} {y + bend:g} {to_x:.1f} {to_y - bend:g} {to_x:.1f} {to_y:g}" '
        'fill="none" stroke="#7a8594" stroke-opacity="0.75" marker-end="url(#tip)"/>'
    )


def _in_words(arrows: Graph) -> str:
    """The arrows for readers who do not see them."""
    return " ".join(f"{name}: {', '.join(below)}." for name, below in arrows.items() if below)


def main() -> None:
    PICTURE.write_text(picture(rooms()), "utf-8")
    print(f"{PICTURE.relative_to(ROOT)}: {len(FLOORS)} rooms")


if __name__ == "__main__":
    main()
