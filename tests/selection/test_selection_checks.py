"""What speaks against a candidate before anything runs, with the real bash."""

import asyncio
import os
from pathlib import Path

import pytest

from support.selecting import wait_for
from vera.protocol import Action
from vera.selection import checks
from vera.selection.checks import bash_problems, repeats


@pytest.mark.parametrize(
    "command",
    [
        "if true",
        "echo 'x",
        "ls )",
        "for x in a; echo",
        "a=(1 2",
        "echo $(ls",
        "case x in",
        "ls | | wc",
        "{ ls",
    ],
)
def test_a_command_that_bash_cannot_read_is_rejected_with_its_words(command: str) -> None:
    (problem,) = wait_for(bash_problems([command]))
    assert problem.startswith("bash cannot read it: ")


@pytest.mark.parametrize(
    "command",
    [
        "ls -l | wc -l",
        "cat <<'EOF'\n'unclosed\nEOF",
        "cat <<EOF\nnever ended",
        "python3 - <<'PY'\nprint('(')\nPY",
        "shopt -s extglob\nls !(a|b)",
        "echo äöü ｆｕｌｌ",
        "no_such_command --at all",
        "[[ a =~ (b|c) ]] && diff <(ls) <(pwd)",
        "",
        "# only a comment",
        "echo \udc80",
    ],
)
def test_a_command_that_bash_can_read_passes(command: str) -> None:
    assert wait_for(bash_problems([command])) == [""]


@pytest.mark.parametrize(
    "command", ["touch {}", "set +n; touch {}", "set +n\ntouch {}", "$(touch {})", ": ${{x:=$(touch {})}}"]
)
def test_nothing_of_a_command_is_run(command: str, tmp_path: Path) -> None:
    made = tmp_path / "made"
    assert wait_for(bash_problems([command.format(made)])) == [""]
    assert not made.exists()


def test_start_up_files_and_the_environment_mean_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, start_up = tmp_path / "made", tmp_path / "start.sh"
    start_up.write_text(f"touch {made}")
    for name in ("BASH_ENV", "ENV"):
        monkeypatch.setenv(name, str(start_up))
    monkeypatch.setenv("SHELLOPTS", "noglob")
    assert wait_for(bash_problems(["ls", "if"]))[0] == ""
    assert not made.exists()


def test_every_command_gets_its_own_answer_and_equal_ones_are_asked_once() -> None:
    problems = wait_for(bash_problems(["ls", "if", "ls", "if", "", "pwd"]))
    assert [bool(problem) for problem in problems] == [False, True, False, True, False, False]


@pytest.mark.parametrize(
    "command", [")" * 5000, "$(" * 3000, "((" * 20_000, "x" * 60_000, "{a,b}" * 5000, "\0" * 100]
)
def test_a_hostile_command_is_answered_with_a_short_line_or_nothing(command: str) -> None:
    (problem,) = wait_for(bash_problems([command]))
    assert len(problem) < 400
    assert problem.isprintable()


def test_a_command_too_long_to_ask_about_passes() -> None:
    assert wait_for(bash_problems(["if " * checks.MAX_COMMAND_LENGTH])) == [""]


def test_without_bash_nothing_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert wait_for(bash_problems(["if", "ls"])) == ["", ""]


def test_a_bash_that_hangs_is_ended_and_says_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    slow = tmp_path / "bash"
    slow.write_text(f"#!/bin/sh\necho $$ > {pid}\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(checks, "SECONDS", 0.3)
    assert wait_for(bash_problems(["if"])) == [""]
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_cancelled_it_leaves_no_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    slow = tmp_path / "bash"
    slow.write_text(f"#!/bin/sh\necho $$ > {pid}\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    async def cancel() -> None:
        asking = asyncio.create_task(bash_problems(["if"]))
        while not (pid.exists() and pid.read_text().strip()):  # noqa: ASYNC110 (another process writes it)
            await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    wait_for(cancel())
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_the_call_that_failed_last_is_no_use_again() -> None:
    failed = Action(tool="shell", args={"cmd": "cat missing.txt"})
    again = Action(tool="shell", args={"cmd": " cat missing.txt\n"})
    assert repeats(again, failed, "exit_code") == (
        "the same call has just failed (exit_code) and nothing has worked since"
    )
    assert repeats(Action(tool="shell", args={"cmd": "ls"}), failed, "exit_code") == ""
    assert repeats(again, None, "") == ""
    assert repeats(Action(final="cat missing.txt"), failed, "exit_code") == ""
