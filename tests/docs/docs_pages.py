"""The pages of docs/, as the tests of this folder read them."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))

_FENCE = re.compile(
    r"(?:<!-- (?P<kind>output|file): (?P<label>[^>]+?) -->\n)?```(?P<language>\w*)\n(?P<body>.*?)```",
    re.DOTALL,
)
_HEADING = re.compile(r"^(#{1,6}) (.+)$", re.MULTILINE)


class Block(NamedTuple):
    """A fenced block: its language, the label of an output that a test repeats ('' for none), its text, and
    the path of the file that a reader saves it as ('' for none)."""

    language: str
    label: str
    body: str
    file: str = ""


def name(page: Path) -> str:
    """The page's path below the repository, for messages and ids."""
    return page.relative_to(ROOT).as_posix()


def blocks(text: str) -> list[Block]:
    found = []
    for m in _FENCE.finditer(text):
        label, path = (m["label"] or "", "") if m["kind"] != "file" else ("", m["label"])
        found.append(Block(m["language"], label, m["body"], path))
    return found


def prose(text: str) -> str:
    """The page without its fenced blocks."""
    return _FENCE.sub("", text)


def section(page: str, heading: str) -> str:
    """What stands under a heading, up to the next one of its level or above. Fails when there is none."""
    text = (DOCS / page).read_text()
    shown = _FENCE.sub(lambda block: " " * len(block[0]), text)
    headings = list(_HEADING.finditer(shown))
    for at, found in enumerate(headings):
        if found[2] == heading:
            below = (h.start() for h in headings[at + 1 :] if len(h[1]) <= len(found[1]))
            return text[found.end() : next(below, len(text))]
    raise AssertionError(f"docs/{page} has no heading {heading!r}")


def first_cells(table: str) -> list[str]:
    """The first cell of each row of the tables in a text, without header and rule."""
    rows = [line for line in table.split("\n") if line.startswith("| ") and not line.startswith("| |")]
    header_less = [rows[at] for at in range(len(rows)) if not _begins_a_table(table, rows[at])]
    return [row.replace("\\|", "|").split(" | ")[0].removeprefix("| ").strip() for row in header_less]


def quoted(cell: str) -> list[str]:
    """The words in backticks."""
    return re.findall(r"`([^`]+)`", cell)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    shown = prose(page.read_text())
    return {re.sub(r"[^\w\- ]", "", found[2].lower()).replace(" ", "-") for found in _HEADING.finditer(shown)}


def _begins_a_table(table: str, row: str) -> bool:
    return f"{row}\n|---" in table
