"""The exported file in mini-swe-agent's own inspector, page by page, without a terminal."""

import asyncio
import importlib
from pathlib import Path
from typing import Any

import pytest

from support.sampled_run_examples import ANSWER, BROKEN, GREP, LIST_AGAIN, READ, decided_run
from vera.report.trajectory import write_trajectory

pytestmark = pytest.mark.needs("mini-swe-agent")


async def pages(path: Path) -> list[tuple[str, str]]:
    """Title and shown text of each page, turned by the keys that a person presses."""
    inspector = importlib.import_module("minisweagent.run.utilities.inspector")
    static = importlib.import_module("textual.widgets").Static
    app: Any = inspector.TrajectoryInspector([path])
    found = []
    async with app.run_test(size=(120, 50)) as pilot:
        for _ in range(app.n_steps):
            await pilot.pause()
            shown = "\n".join(str(each.render()) for each in app.query_one("#content").query(static))
            found.append((app.title, shown))
            await pilot.press("l")
    return found


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    monkeypatch.setenv("MSWEA_SILENT_STARTUP", "1")
    return asyncio.run(pages(write_trajectory(decided_run(tmp_path), lambda _: {})))


def test_each_turn_is_a_page_and_the_head_is_the_first(shown: list[tuple[str, str]]) -> None:
    assert [title for title, _ in shown] == [
        f"Trajectory 1/1 - trajectory.traj.json - Step {number}/6" for number in range(1, 7)
    ]
    assert "SYSTEM" in shown[0][1]
    assert "PRIMARY TASK: how long?" in shown[0][1]


def test_a_page_shows_the_turn_why_it_was_chosen_and_what_was_observed(shown: list[tuple[str, str]]) -> None:
    texts = [text for _, text in shown[1:]]
    for text, turn in zip(texts, [LIST_AGAIN, GREP, READ, BROKEN, ANSWER], strict=True):
        assert turn in text
    assert "REASONING\nchosen 2/4 (agreement): 2 of 3 readable candidates agree" in texts[0]
    assert "USER\nterms.txt" in texts[0]
    assert "chosen 2/3 (llm): the selector preferred it; margin 1.25" in texts[1]
    assert "Write the action as one line of JSON." in texts[3]
    assert "EXIT\nThree years." in texts[4]
