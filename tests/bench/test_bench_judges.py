"""The table of docs/how-to/choose-a-model.md: its rows of scripted judges come out again."""

import asyncio
from pathlib import Path

from support.benchmarks import loaded

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "choose-a-model.md"


def cells(row: str) -> list[str]:
    """The cells of a row but the last one, seconds."""
    return [cell.strip() for cell in row.strip("| ").split("|")][:5]


def test_the_exam_tells_the_scripted_judges_apart_as_the_page_says() -> None:
    shown = [cells(line) for line in PAGE.read_text().split("\n") if " of 10 | " in line]
    with loaded("judges") as judges:
        found = [
            cells(judges.row(f"script: {name}", asyncio.run(judges.by_script(judge, 10))))
            for name, judge in judges.SCRIPTED.items()
        ]
    assert found == shown
