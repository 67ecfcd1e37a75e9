"""One candidate a step is no sampling: the log is, byte for byte, that of a run that never heard of it."""

from pathlib import Path
from typing import Any

import pytest

from support.choosing import (
    BROKEN,
    GOOD,
    NOTED,
    QUESTION,
    READ,
    SEARCH,
    Chosen,
    Play,
    choose,
    nobody,
    plain,
    server,
)
from support.cli import vera
from vera import events

STEPS = [[READ], [BROKEN], [SEARCH], [GOOD]]
SETTINGS_OF_SAMPLING = ("candidate_sampling", "action_verifier")
OF_THE_MOMENT = ("attestation", "envelope", "opened")
"""Members that name bytes which hold a time of day."""


def without_settings(run: Chosen) -> list[dict[str, Any]]:
    """The records of a run, without those settings that the two runs differ in on purpose, and without what
    hangs on the time of day."""
    kept = []
    for record in run.records:
        said = plain(record)
        if isinstance(record, events.Session):
            said["settings"] = {
                name: {key: value for key, value in group.items() if key != "work_dir"}
                for name, group in said["settings"].items()
                if name not in SETTINGS_OF_SAMPLING
            }
            said["origins"] = {
                name: origin
                for name, origin in said["origins"].items()
                if name.partition(".")[0] not in SETTINGS_OF_SAMPLING and name != "run.work_dir"
            }
        kept.append({key: value for key, value in said.items() if key not in OF_THE_MOMENT})
    return kept


@pytest.mark.parametrize("more", [
    ("-c", "candidate_sampling.num_candidates=1"),
    ("--action-verifier", "llm"),
    ("--num-candidates", "1", "--action-verifier", "pairwise"),
    ("-c", "candidate_sampling.sampling_kwargs.temperature=1.5", "-c", "action_verifier.enabled=true"),
    ("-c", "action_verifier.enabled=true", "-c", "action_verifier.model.base_url=http://127.0.0.1:9/v1"),
], ids=" ".join)  # fmt: skip
def test_one_candidate_is_the_same_log_and_the_same_requests_as_no_sampling(
    tmp_path: Path, more: tuple[str, ...]
) -> None:
    play = Play(STEPS, judge=nobody)
    with server(play, usage=False) as worker:  # it would count what it has in its cache
        before = choose(tmp_path, worker, name="before")
        bodies = [each.body for each in worker.requests]
        worker.requests.clear()
        after = choose(tmp_path, worker, *more, name="after")
    assert before.ended.code == after.ended.code == 0, after.ended.error
    assert [each.body for each in worker.requests] == bodies
    assert without_settings(after) == without_settings(before)
    assert not any("n" in body or "seed" in body for body in bodies)
    assert b'"candidates":' not in (after.work / "trace.jsonl").read_bytes()
    for record in (events.Candidates, events.Selection):
        assert not after.of(record)


def test_without_a_verifier_the_first_candidate_runs_and_all_are_in_the_log(tmp_path: Path) -> None:
    play = Play([[NOTED, READ, BROKEN, SEARCH], [READ], [GOOD]], judge=nobody)
    with server(play) as worker:
        run = choose(tmp_path, worker, "--num-candidates", 4)
    assert run.ended.code == 0, run.ended.error
    assert run.acted == ["note", "read", "final"]
    sampled = run.of(events.Candidates)[0]
    assert (sampled.asked, sampled.calls, sampled.problem) == (4, 1, "")
    kept = [run.load(each.content) for each in sampled.candidates]
    assert [
        words in said for said, words in zip(kept, ("Nothing was", "terms.txt", BROKEN, "query"), strict=True)
    ]
    assert [(each.decider, each.selected, each.selector) for each in run.selections] == [("off", 0, "")] * 3
    assert not play.judged and len(worker.requests) == 3


def test_without_a_verifier_a_first_candidate_that_cannot_be_read_is_a_format_error(tmp_path: Path) -> None:
    with server(Play([[BROKEN, READ], [READ], [GOOD]], judge=nobody)) as worker:
        run = choose(tmp_path, worker, "--num-candidates", 2)
    assert run.acted == ["broken", "read", "final"]
    assert [each.step for each in run.of(events.PolicyParseError)] == [1]


def test_the_built_in_model_takes_one_turn_a_step_and_says_so(tmp_path: Path) -> None:
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "terms.txt").write_text("A written offer must be valid for at least three years.\n")
    done = vera(
        "run", QUESTION, "--input-dir", documents, "--work-dir", "w",
        "--sandbox", "none", "--egress", "none", "--num-candidates", 4, "--action-verifier", "pairwise",
        cwd=tmp_path,
    )  # fmt: skip
    assert "one candidate a step: the built-in model always gives the same turn" in done.stderr
    run = Chosen(tmp_path / "w")
    assert run.state.lane("main").answer is not None
    assert not run.of(events.Candidates) and not run.selections
