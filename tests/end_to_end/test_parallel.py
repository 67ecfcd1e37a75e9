"""The same question asked many times at once: every call has a work folder, and none hinders another."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from support.cli import vera

THESIS = "The Elbe is 1094 kilometres long."
AT_ONCE = 6


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "rivers").mkdir()
    (tmp_path / "rivers" / "rivers.txt").write_text(f"{THESIS}\nThe Rhine is 1233 kilometres long.\n")
    return tmp_path


def at_once(call: Callable[[], CompletedProcess[str]]) -> list[CompletedProcess[str]]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [each.result() for each in [pool.submit(call) for _ in range(AT_ONCE)]]


def test_six_verifications_of_one_thesis_at_once_all_succeed_twice_over(place: Path) -> None:
    for rounds in (1, 2):
        done = at_once(
            lambda: vera("verify", THESIS, "--input-dir", "rivers", "--fresh", "--json", "-q", cwd=place)
        )
        assert [each.returncode for each in done] == [0] * AT_ONCE, [each.stderr for each in done]
        assert {json.loads(each.stdout)["result"] for each in done} == {"SUPPORTED"}
        assert len(list((place / "work").iterdir())) == rounds * AT_ONCE
    shown = vera("ahdb", "show", cwd=place)
    assert (shown.returncode, shown.stdout.count("\nHYPERTHESIS\n")) == (0, 1), shown.stderr


def test_six_runs_of_one_question_at_once_all_have_a_folder_twice_over(place: Path) -> None:
    question = "How long is the Elbe?"
    for rounds in (1, 2):
        done = at_once(
            lambda: vera("run", question, "--input-dir", "rivers", "--sandbox", "none", "-q", cwd=place)
        )
        assert {each.returncode for each in done} <= {0, 3}, [each.stderr for each in done]
        assert len(list((place / "work").iterdir())) == rounds * AT_ONCE
