"""A real model that cannot take turns, SmolLM2 with 135 million weights, in guided mode."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import parts
from support.attacks import OFFLINE, vera_here
from support.cli import records
from support.verified import replay
from vera import events
from vera.agent.guided import GUIDED, ROOMS
from vera.headline import HOLDS

ROOT = Path(__file__).parents[2]
QUESTION = "Above how many printed copies does the GNU Free Documentation License 1.3 require covers?"


@pytest.mark.needs("smollm2")
def test_smollm2_is_examined_and_guided_to_an_answer_in_bounded_tokens(
    tmp_path: Path, measured: Callable[[str, object], None]
) -> None:
    done = vera_here(
        "run", "--task", QUESTION, "--input-dir", ROOT / "examples" / "licences", "--model-file",
        parts.smollm2(), "--work-dir", tmp_path / "w", "--json", *OFFLINE, cwd=tmp_path,
    )  # fmt: skip
    said = json.loads(done.out)
    assert (said["mode"], done.code) == ("guided", 0), done.error
    assert "cannot take turns: 0 of 2" in said["mode_reason"] or "too slow" in said["mode_reason"]
    assert said["status"] in HOLDS and "numbering more than 100" in said["citations"][0]["quote"]
    log = records(tmp_path / "w")
    wrote = [each for each in log if isinstance(each, events.Model) and each.scope == GUIDED]
    assert len(wrote) == 1 and (wrote[0].completion_tokens or 0) <= ROOMS[GUIDED].tokens
    assert not [each for each in log if isinstance(each, events.Model) and each.scope == "agent"]
    assert said["spent"]["completion_tokens"] <= 2000
    assert replay(tmp_path / "w", (), 2).exit_code == 0
    measured("SmolLM2, guided: seconds", said["spent"]["seconds"])
    measured("SmolLM2, guided: tokens generated", said["spent"]["completion_tokens"])
