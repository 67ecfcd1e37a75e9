"""What the checks find without a model in two documents with planted errors, on the path of `vera check`.

Each document has 40 statements that hold and 40 that were altered in one thing, over sources of its own. The
second was written before the checks had seen the first; `docs/verification.md` has its first figures.
"""

from pathlib import Path
from typing import NamedTuple

import pytest

from vera.document_check.run import Options, check_document

PLANTED = Path(__file__).parents[1] / "fixtures" / "planted"


class Statement(NamedTuple):
    source: str
    text: str


def statements(document: str, name: str) -> list[Statement]:
    rows = (PLANTED / document / f"{name}.txt").read_text("utf-8").splitlines()
    return [Statement(*row.split("|")) for row in rows]


def found(document: str, name: str, folder: Path) -> list[set[tuple[str, str]]]:
    """Severity and code of the problems of each statement, each of which is a line of the document."""
    rows = statements(document, name)
    path = folder / f"{name}.md"
    path.write_text("".join(f"{row.text} [{row.source}]({row.source}.txt)\n\n" for row in rows), "utf-8")
    report = check_document(path, Options(sources=PLANTED / document / "sources"))
    assert report.findings.checked == len(rows)
    problems: list[set[tuple[str, str]]] = [set() for _ in rows]
    for problem in report.findings.problems:
        problems[(problem.line - 1) // 2].add((problem.severity, problem.code))
    return problems


@pytest.mark.parametrize("document", ["first", "second"])
def test_most_planted_errors_are_found_and_hardly_a_true_statement_is_called_wrong(
    document: str, tmp_path: Path
) -> None:
    altered, true = found(document, "false", tmp_path), found(document, "true", tmp_path)
    assert (len(altered), len(true)) == (40, 40)
    assert sum(map(bool, altered)) >= 28
    assert sum(any(severity == "hard" for severity, _ in each) for each in true) <= 1
