"""ruff and mypy, as they are set in pyproject.toml, find nothing, and whoever silences them says why."""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.timeout(900)
"""mypy without its cache reads all sources, which takes minutes where much else runs."""

ROOT = Path(__file__).parents[1]
MAX_CHARACTERS = 8000
SILENCES = re.compile(r"type: ?ignore|mypy: ?\w|\bnoqa\b")
GIVES_A_REASON = re.compile(
    r"# type: ignore\[[a-z-]+(, ?[a-z-]+)*\] {1,2}# (?!noqa)\w+"
    r"|# (ruff: )?noqa: [A-Z]+\d+(, [A-Z]+\d+)* (- |\()\w+"
)


def insist(*command: str) -> None:
    """Fails with what the tool says about the repository, unless it is content."""
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, timeout=880, check=False
    )
    if done.returncode:
        pytest.fail(f"{' '.join(command)}\n{(done.stdout + done.stderr)[:MAX_CHARACTERS]}", pytrace=False)


def test_ruff_is_content() -> None:
    insist("ruff", "check", "--output-format=concise", ".")


def test_mypy_strict_is_content_with_the_sources() -> None:
    insist("mypy", "src", "run.py")


def unexplained(source: str) -> Iterator[int]:
    """The lines whose comment silences mypy or ruff without the name of a rule and words behind it. What
    silences ruff in a whole file may have the words above it."""
    if not SILENCES.search(source):
        return
    above = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        (line, _), text = token.start, token.string
        explained = GIVES_A_REASON.match(text) or (text.startswith("# ruff: noqa: ") and above == line - 1)
        if SILENCES.search(text) and not explained:
            yield line
        above = line


def test_whoever_silences_ruff_or_mypy_names_the_rule_and_says_why() -> None:
    sources = [ROOT / "run.py", *(path for name in ("src", "tests") for path in (ROOT / name).rglob("*.py*"))]
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted(sources)
        if path.suffix in {".py", ".pyi"}
        for line in unexplained(path.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("comment", "lines"),
    [
        ("# type: ignore", [2]),
        ("# type: ignore[misc]", [2]),
        ("# type: ignore # it is frozen", [2]),
        ("# type: ignore[misc] # it is frozen", []),
        ("# type: ignore[misc] # noqa: B008", [2]),
        ("# noqa: B008", [2]),
        ("# noqa (it is frozen)", [2]),
        ("# noqa: B008 (it is frozen)", []),
        ("# noqa: B008, A002 - it is frozen", []),
        ("# ruff: noqa: B008", [2]),
        ("# what is frozen is shared:\n# ruff: noqa: B008", []),
    ],
)
def test_the_reader_of_comments_finds_those_without_a_reason(comment: str, lines: list[int]) -> None:
    assert list(unexplained(f"import os\n{comment}\nx = '# noqa'\n")) == lines


def test_whoever_catches_what_msgspec_raises_catches_bytes_that_are_no_text() -> None:
    """For a string that is not UTF-8 it raises UnicodeDecodeError, a ValueError and no MsgspecError."""
    wide = {"ValueError", "UnicodeError", "UnicodeDecodeError", "Exception"}
    found = [
        f"{path.relative_to(ROOT)}:{handler.lineno}"
        for path in sorted((ROOT / "src").rglob("*.py"))
        for handler in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(handler, ast.ExceptHandler)
        and handler.type is not None
        and "MsgspecError" in (caught := ast.unparse(handler.type))
        and not any(each in caught for each in wide)
    ]
    assert found == []
