"""Every sentence on the troubleshooting page is one that the code can say."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from docs_pages import DOCS, ROOT, first_cells, quoted

import vera

SOURCE = Path(vera.__file__).parent
PAGES = ("how-to/troubleshooting.md", "how-to/use-my-documents.md")
SHORTEST = 4
OF_THE_SYSTEM = {"No space left on device"}


@cache
def said() -> tuple[str, ...]:
    """Every string in the code, f-strings piece by piece."""
    files = [ROOT / "run.py", *SOURCE.rglob("*.py")]
    return tuple(
        node.value
        for path in files
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def sentences() -> list[str]:
    troubles = first_cells((DOCS / PAGES[0]).read_text())
    skipped = first_cells((DOCS / PAGES[1]).read_text().partition("What is skipped")[2])
    return [sentence for cell in [*troubles, *skipped] for sentence in quoted(cell)]


@pytest.mark.parametrize("sentence", sentences())
def test_a_sentence_that_is_explained_is_one_that_can_be_said(sentence: str) -> None:
    """Between what differs (`…`), colons and full stops, each piece stands in a string of the code."""
    pieces = re.split(r"…|: |\. ", sentence)
    for piece in (piece.strip(" .:(';") for piece in pieces):
        if len(piece) > SHORTEST and piece not in OF_THE_SYSTEM:
            assert any(piece in text for text in said()), piece
