"""The candidates of a step in a terminal: how it was decided, then each candidate, safe to look at."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.sampled_run_examples import LIST, NO_NUMBER, READ, decided_run
from support.sampled_runs import SampledRun, said
from support.turns import turn
from vera import events
from vera.report.candidate_steps import SampledStep, Sampling
from vera.report.selection_words import ACTION_LINES, block, why
from vera.session import Reader, load_text
from vera.store import Store


def step_of(root: Path, step: int) -> SampledStep:
    sampling, found = Sampling("main"), None
    for _, record in Reader(root / "trace.jsonl").poll():
        sampling.add(record)
        found = sampling.of(step) or found
    assert found is not None
    return found


def shown(root: Path, step: int, width: int = 100, *, whole: bool = False) -> str:
    return block(step_of(root, step), lambda text: load_text(Store(root / "store"), text), width, whole=whole)


def one_step(root: Path, *contents: str, selected: int = 0) -> Path:
    run = SampledRun(root)
    run.sample(*contents)
    run.choose(selected, "majority", range(1, len(contents) + 1))
    return run.close()


def test_a_step_says_how_it_was_decided_and_marks_the_chosen_one(tmp_path: Path) -> None:
    assert shown(decided_run(tmp_path), 2) == (
        "Step 2: 3 candidates from 3 model calls, 1.2 s, 300 tokens in (150 cached), 60 out\n"
        "  chosen 2/3 (llm): the selector preferred it; margin 1.25\n"
        "  judge: 1 call, 0.5 s, 300 tokens in (150 cached), 5 out, shown 2, 1\n"
        "  1  1 vote  score 0.25  0.5 s\n"
        '    {"tool": "read", "args": {"path": "/input/terms.txt"}}\n'
        "▸ 2  chosen  1 vote  score 1.5  0.5 s\n"
        "    grep -n 'years' /input/terms.txt\n"
        "  3  1 vote  0.5 s\n"
        "    rejected by bash_syntax: unexpected end of file\n"
        "    grep 'years"
    )


def test_equal_actions_are_shown_once_and_one_without_action_says_what_is_missing(tmp_path: Path) -> None:
    assert shown(decided_run(tmp_path), 1).split("\n")[2:] == [
        "  1  2 votes",
        "    ls /input",
        "▸ 2  chosen  2 votes",
        "    the same action as 1",
        "  3  1 vote",
        '    {"tool": "read", "args": {"path": "/input/terms.txt"}}',
        "  4",
        "    no action: missing_thought, missing_action, missing_evidence_used, missing_status_update",
    ]


def test_a_fallback_says_what_was_wrong_with_the_verdict_and_the_whole_step_what_the_judge_said(
    tmp_path: Path,
) -> None:
    root = decided_run(tmp_path)
    assert "Fewer came: the server gave 2 of 4" in shown(root, 3)
    assert "(fallback first_candidate): the verdict could not be used; verdict: no_number" in shown(root, 3)
    assert NO_NUMBER not in shown(root, 3)
    assert shown(root, 3, whole=True).count(f"  the judge said:\n    {NO_NUMBER}") == 2


def test_a_step_that_waits_says_so(tmp_path: Path) -> None:
    run = SampledRun(tmp_path)
    run.sample(LIST, READ)
    root = run.close()
    assert "none is chosen yet" in shown(root, 1)
    assert "▸" not in shown(root, 1)
    assert why(step_of(root, 1)) == ""


@pytest.mark.parametrize("width", [1, 40, 61, 100, 500])
def test_lines_fit_the_terminal_from_forty_columns_on(tmp_path: Path, width: int) -> None:
    root = one_step(tmp_path, said(turn("shell", cmd="x" * 500)), said(turn("shell", cmd="a b " * 100)))
    longest = max(map(len, shown(root, 1, width).split("\n")))
    assert longest <= max(40, min(width, 160))


def test_a_long_action_is_cut_and_counted_and_whole_when_asked_for(tmp_path: Path) -> None:
    command = "\n".join(f"echo {number}" for number in range(40))
    root = one_step(tmp_path, said(turn("shell", cmd=command)), LIST)
    cut = shown(root, 1)
    assert "more characters: --step or --json shows them]" in cut
    assert cut.count("    echo ") == ACTION_LINES
    assert shown(root, 1, whole=True).count("    echo ") == 40


def test_control_characters_of_a_model_do_not_reach_the_terminal(tmp_path: Path) -> None:
    root = one_step(tmp_path, said(turn("shell", cmd="echo \x1b[2J\u202e")), LIST)
    run = SampledRun(tmp_path / "b")
    run.sample(LIST, READ, problem="\x1b]0;title\x07")
    run.choose(0, "\x1b[31m", selector="\x1b[32m", reason="\x1b[33m\nsecond line", fallback="\x9b")
    for text in (shown(root, 1, whole=True), shown(run.close(), 1)):
        assert not any(character in text for character in "\x1b\x07\x9b\u202e")
    assert "second line" in why(step_of(tmp_path / "b", 1))
    assert "\n" not in why(step_of(tmp_path / "b", 1))


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=300), st.integers(0, 200), st.booleans())
def test_any_text_of_a_candidate_is_shown(
    tmp_path_factory: pytest.TempPathFactory, text: str, width: int, whole: bool
) -> None:
    root = one_step(tmp_path_factory.mktemp("run"), text, said(turn("shell", cmd=text)))
    assert "▸ 1  chosen" in shown(root, 1, width, whole=whole)


def test_many_candidates_of_a_strangers_log_take_linear_time(tmp_path: Path) -> None:
    run = SampledRun(tmp_path)
    run.step = 1
    count = 5000
    run.session.emit(
        events.Candidates(
            step=1, asked=count, candidates=tuple(events.Candidate(content="x") for _ in range(count))
        )
    )
    run.choose(count - 1, "majority", range(1, count + 1))
    assert f"▸ {count}  chosen" in shown(run.close(), 1)
