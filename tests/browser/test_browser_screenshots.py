"""The pictures of the documentation can be taken again at any time, and its pages show all of them."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.screenshots import MANY, MAX_BYTES, NAMES, SIZES, take

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"

pytestmark = pytest.mark.needs("browser")


def size(picture: Path) -> tuple[int, int]:
    """Width and height of a PNG (its IHDR chunk)."""
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def test_they_are_taken_of_a_run_that_is_made_for_them(tmp_path: Path, browser: "Browser") -> None:
    take(tmp_path, browser, pace=0.0, whole=False)
    assert {path.name for path in tmp_path.iterdir()} == set(NAMES)
    for name in NAMES:
        for picture in (tmp_path / name, IMAGES / name):
            assert size(picture) == SIZES[name]
            assert picture.stat().st_size <= MAX_BYTES


def test_a_page_shows_each_picture_and_no_other() -> None:
    shown = {
        Path(found).name
        for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
        for found in re.findall(r"!\[[^\]]+\]\(([^)]*images/[^)]+)\)", page.read_text())
    }
    assert shown == {path.name for path in IMAGES.iterdir()}
    assert {name for name in shown if not name.endswith(".svg")} == {
        *NAMES,
        MANY,
    }  # an SVG is drawn, not taken
