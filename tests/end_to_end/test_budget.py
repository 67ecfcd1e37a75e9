"""A run that spends its tokens, money or time hands over what it has, with code 6 or with extracts that hold,
and can go on."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.cast import Cast, final, part_of, turn
from support.cli import folded, records, vera
from support.scripted_server import ScriptedServer, Slow
from vera import events
from vera.session import check

QUESTION = "How long must a written offer be valid?"
READ = turn("read", path="terms.txt")
NOTED = turn("read", path="terms.txt", note="The terms are in terms.txt; line 3 speaks of written offers.")
GOOD = final("A written offer must be valid for at least three years [ev_0001:3].")


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "terms.txt").write_text(
        "Terms\n\nA written offer must be valid for at least three years.\nEnd.\n"
    )
    return folder


def run(server: ScriptedServer, documents: Path, *more: object) -> tuple[int, str, str]:
    done = vera(
        "run", QUESTION, "--input-dir", documents, "--work-dir", "w", "--sandbox", "none", "--egress", "none",
        "--protocol", "text", "--model-base-url", server.root, *more, cwd=documents.parent,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def resume(server: ScriptedServer, documents: Path, *more: object) -> tuple[int, str, str]:
    done = vera("resume", "w", "-c", f"model.base_url={server.root}", *more, cwd=documents.parent)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def counted(number: int, cast: Cast) -> Any:
    """The cast on a server that counts `number` tokens for each prompt, and ten for each answer."""

    def play(index: int, body: dict[str, Any]) -> Any:
        reply = cast(index, body)
        said = {"content": reply} if isinstance(reply, str) else dict(reply)
        return {**said, "usage": {"prompt_tokens": number, "completion_tokens": 10}}

    return play


def end_of(work: Path) -> events.RunEnd:
    end = folded(work).ended
    assert end is not None
    return end


def test_spent_tokens_end_a_run_with_its_notes_in_the_answer(documents: Path, tmp_path: Path) -> None:
    cast = Cast([NOTED, READ, READ])
    with ScriptedServer(counted(3000, cast)) as server:
        code, out, error = run(server, documents, "--budget-tokens", 8000)
    assert code == 0, error
    said = "the token budget of 8000 is spent (6020 are used, and the next call needs about"
    answer = (tmp_path / "w" / "answer.md").read_text()
    for text in (out, answer):
        assert "The model reached no usable answer. What was noted on the way:" in text
        assert "line 3 speaks of written offers" in text
        assert "A written offer must be valid for" in text and "“at least three years”" in text
        assert "Spent: 2 model calls, 6020 tokens (6000 in, 20 out), " in text
        assert text.rpartition("\n---\n")[2].lstrip().startswith("QUOTED: ") or "\nQUOTED: " in text
        assert f"extracts, because {said}" in text
    state = folded(tmp_path / "w")
    ended = state.lane("main").ended
    assert ended is not None and ended.reason == "tokens" and ended.detail.startswith(said)
    assert cast.asked["worker"] == 2
    assert check(tmp_path / "w").verdict == "SEALED"


def test_a_budget_too_small_for_one_call_asks_nothing(documents: Path, tmp_path: Path) -> None:
    cast = Cast([READ])
    with ScriptedServer(cast) as server:
        code, out, _ = run(server, documents, "--budget-tokens", 500)
    assert code == 0 and "The model reached no usable answer, and nothing was noted." in out
    assert not cast.asked


def test_a_spent_budget_and_documents_that_say_nothing_of_it_end_with_code_6(
    documents: Path, tmp_path: Path
) -> None:
    (documents / "terms.txt").write_text("Bread is baked from flour.\n")
    with ScriptedServer(Cast([READ])) as server:
        code, out, _ = run(server, documents, "--budget-tokens", 500)
    assert code == 6 and "No lines were found that answer this question" in out
    assert "the token budget of 500 is spent" in end_of(tmp_path / "w").reason


def test_tokens_that_end_during_verification_leave_the_answer_unresolved(
    documents: Path, tmp_path: Path
) -> None:
    """Its claim was not read: that is said, and is no verdict on the claim."""
    cast = Cast([READ, GOOD])
    with ScriptedServer(counted(2000, cast)) as server:
        code, out, error = run(server, documents, "--budget-tokens", 7500)
    assert code == 6, error
    assert cast.asked["decompose"] == 1 and cast.asked["score"] == 0
    state = folded(tmp_path / "w")
    decision = state.rounds[1].decision
    assert decision is not None and (decision.result, decision.reason) == ("INCONCLUSIVE", "BUDGET")
    assert "the budget ended before its claims were covered" in out
    assert "the token budget of 7500 is spent" in out
    assert "at least three years [ev_0001:3]. (unresolved)" in out or "(unchecked)" in out
    assert not [each for each in records(tmp_path / "w") if isinstance(each, events.Model) and each.error]
    assert vera("replay", "w", cwd=tmp_path).returncode in (0, 3)


def test_with_more_tokens_the_same_answer_is_verified_again(documents: Path, tmp_path: Path) -> None:
    cast = Cast([READ, GOOD])
    with ScriptedServer(counted(2000, cast)) as server:
        assert run(server, documents, "--budget-tokens", 7500)[0] == 6
        spent = folded(tmp_path / "w").spent.tokens
        code, out, error = resume(server, documents, "--budget-tokens", 60_000)
    assert code == 0, error
    assert "(supported)" in out and cast.asked["worker"] == 2
    state = folded(tmp_path / "w")
    assert [each.decision.result for each in state.rounds.values() if each.decision] == [
        "INCONCLUSIVE",
        "SUPPORTED",
    ]
    assert spent == 3 * 2010 and state.spent.tokens > spent


def test_a_resumed_run_does_not_begin_its_budget_anew(documents: Path, tmp_path: Path) -> None:
    cast = Cast([NOTED, READ, GOOD])
    with ScriptedServer(counted(3000, cast)) as server:
        assert run(server, documents, "--budget-tokens", 8000)[0] == 0
        assert resume(server, documents)[0] == 0
        assert cast.asked["worker"] == 2
        code, out, error = resume(server, documents, "--budget-tokens", 0)
    assert code == 0, error
    assert cast.asked["worker"] == 3 and "word match" not in out, "the model answers, and no longer extracts"


def test_spent_money_ends_a_run(documents: Path, tmp_path: Path) -> None:
    cast = Cast([NOTED, READ, READ])
    prices = ("-c", "budget.input_price=2.5", "-c", "budget.output_price=10")
    with ScriptedServer(counted(3000, cast)) as server:
        code, out, error = run(server, documents, "--budget-cost", 0.02, *prices)
    assert code == 0, error
    assert cast.asked["worker"] == 2
    assert "the cost budget of 0.02 is spent (0.0152 is used, and the next call needs about" in out
    assert ", cost 0.0152, " in out
    ended = folded(tmp_path / "w").lane("main").ended
    assert ended is not None and ended.reason == "cost"


def test_a_limit_on_cost_without_prices_is_a_mistake(documents: Path, tmp_path: Path) -> None:
    with ScriptedServer(Cast([READ])) as server:
        code, _, error = run(server, documents, "--budget-cost", 1)
    assert code == 2 and not (tmp_path / "w").exists()
    assert "a limit on cost needs the prices of a million tokens" in error
    assert "budget.input_price and budget.output_price" in error


def test_time_that_is_spent_ends_a_run_that_waits(documents: Path, tmp_path: Path) -> None:
    cast = Cast([NOTED])

    def play(index: int, body: dict[str, Any]) -> Any:
        return Slow(60, "late") if index else cast(index, body)

    with ScriptedServer(play) as server:
        code, out, error = run(server, documents, "--budget-seconds", 3)
    assert code == 0, error
    assert "the time budget of 3 seconds is spent and no answer was reached" in out
    assert "line 3 speaks of written offers" in (tmp_path / "w" / "answer.md").read_text()
    state = folded(tmp_path / "w")
    ended = state.lane("main").ended
    assert ended is not None and ended.reason == "time"
    assert state.spent.seconds >= 3


def test_time_that_is_spent_before_the_answer_was_verified_keeps_the_answer(
    documents: Path, tmp_path: Path
) -> None:
    cast = Cast([READ, GOOD])

    def play(index: int, body: dict[str, Any]) -> Any:
        return Slow(60, "late") if part_of(body) == "label" else cast(index, body)

    with ScriptedServer(play) as server:
        code, out, error = run(server, documents, "--budget-seconds", 3)
    assert code == 6, error
    assert "three years [ev_0001:3]." in out
    assert "the time budget of 3 seconds is spent, and the answer was not verified before" in out
    with ScriptedServer(cast) as server:
        assert resume(server, documents)[0] == 6
        code, out, error = resume(server, documents, "--budget-seconds", 600)
    assert code == 0, error
    assert cast.asked["worker"] == 2


def test_what_was_spent_is_in_the_json_and_in_vera_show(documents: Path, tmp_path: Path) -> None:
    with ScriptedServer(counted(100, Cast([READ, GOOD]))) as server:
        code, out, error = run(
            server, documents, "--json", "-c", "budget.input_price=1", "-c", "budget.output_price=1"
        )
    assert code == 0, error
    spent = json.loads(out)["spent"]
    calls = spent["model_calls"]
    asked = len(server.requests)
    assert calls == asked + len(server.exams)
    assert spent["prompt_tokens"] == 100 * asked and spent["completion_tokens"] == 10 * asked
    assert float(spent["cost"]) == pytest.approx(110 * asked / 1e6)
    shown = vera("show", "w", cwd=tmp_path).stdout
    assert f"Spent: {calls} model calls, {110 * asked} tokens" in shown and spent["cost"] in shown


def test_a_server_that_counts_nothing_is_estimated_and_that_is_said(documents: Path, tmp_path: Path) -> None:
    with ScriptedServer(Cast([READ, GOOD]), usage=False) as server:
        code, _, error = run(server, documents, "--budget-tokens", 200_000)
    assert code == 0, error
    spent = folded(tmp_path / "w").spent
    assert spent.unknown_calls == spent.model_calls - len(server.exams) > 0 and spent.tokens > 1000
    assert f"estimated for {spent.unknown_calls} calls that the server did not count" in error
