"""What the persistent shell keeps, undoes and survives, on each backend."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from sandbox_machine import Machine


@dataclass(frozen=True)
class Step:
    """One command; what is None is not looked at."""

    command: str
    output: str | None = ""
    code: int | None = 0
    shell: str = "kept"
    reason: str = "exited"
    timeout: float = 30.0


S = Step

CASES: dict[str, list[Step]] = {
    "the working folder persists": [
        S("mkdir -p d && cd d"),
        S("basename $PWD", "d\n"),
    ],
    "a relative cd starts where the last one ended": [
        S("mkdir -p a/b && cd a"),
        S("cd b; cd ..; cd b"),
        S("echo ${PWD: -4}", "/a/b\n"),
    ],
    "an export persists and expands": [
        S("export PATH=/x:$PATH"),
        S("echo ${PATH%%:*}", "/x\n"),
    ],
    "variables, arrays and functions persist": [
        S("one=1; two=(a b c); declare -A three=([k]=v); f() { echo f:$1; }"),
        S("echo $one ${two[2]} ${three[k]}; f x", "1 c v\nf:x\n"),
    ],
    "shell options persist": [
        S("shopt -s nullglob; set -o pipefail"),
        S("echo *.none; false | true", "\n", code=1),
    ],
    "the exit status is the last command's": [
        S("false", code=1),
        S("(exit 42)", code=42),
        S("nonesuch", None, code=127),
        S("bash -c 'kill -9 $BASHPID'", None, code=137),
    ],
    "exit ends the command and rolls the state back": [
        S("a=1"),
        S("a=2; exit 7; echo never", code=7, shell="restored"),
        S("echo $a", "1\n"),
    ],
    "exec replaces the shell, which is rolled back": [
        S("a=1; touch file"),
        S("a=2; exec ls", "file\n", shell="restored"),
        S("echo $a", "1\n"),
    ],
    "set -e ends the command at the first failure": [
        S("set -e; false; echo never", code=1, shell="restored"),
        S("false; echo on", "on\n"),
    ],
    "set -e may persist": [
        S("set -e"),
        S("false; echo never", code=1, shell="restored"),
        S("echo on; false; echo never", "on\n", code=1, shell="restored"),
        S("set +e; false; echo on", "on\n"),
    ],
    "set -u ends the command at an unset variable": [
        S("set -u; echo $nonesuch; echo never", None, code=127, shell="restored"),
        S("echo [$nonesuch]", "[]\n"),
    ],
    "set -n costs one timeout": [
        S("a=1"),
        S("set -n", None, code=None, shell="restored", reason="timeout", timeout=0.5),
        S("echo $a", "1\n"),
    ],
    "set -x writes to the command's own output": [
        S("set -x"),
        S("echo hi", "+++ echo hi\nhi\n"),
        S("set +x", None),
        S("echo hi", "hi\n"),
    ],
    "an unterminated quote is an error of that command alone": [
        S("echo 'abc", None, code=2),
        S("echo on", "on\n"),
    ],
    "a heredoc is read from the command": [
        S("cat <<EOF\none $((1 + 1))\n'three'\nEOF", "one 2\n'three'\n"),
    ],
    "an unterminated heredoc ends with the command": [
        S("cat 2>&1 <<EOF\none", None),
        S("echo on", "on\n"),
    ],
    "errors name the lines of the command": [
        S("true\nnonesuch", "bash: line 2: nonesuch: command not found\n", code=127),
    ],
    "return, break and continue outside of functions and loops do no harm": [
        S("return 3", None, code=None, shell="any"),
        S("a=1"),
        S("break", None, code=None, shell="any"),
        S("continue", None, code=None, shell="any"),
        S("continue 5", None, code=None, shell="any"),
        S("echo $a", "1\n"),
    ],
    "break 99 is rolled back": [
        S("a=1"),
        S("a=2; break 99", None, code=None, shell="any"),
        S("echo on", "on\n"),
    ],
    "kill -9 of the shell is rolled back": [
        S("a=1"),
        S("a=2; kill -9 $$", None, code=137, shell="restored", reason="died"),
        S("echo $a", "1\n"),
        S("a=3; kill -9 $BASHPID", None, code=137, shell="restored", reason="died"),
        S("echo $a", "1\n"),
    ],
    "redefined builtins do not break the loop": [
        S("read() { echo mine; }; printf() { echo mine; }; mapfile() { echo mine; }"),
        S("read; echo on", "mine\non\n"),
    ],
    "readonly variables do not break the loop": [
        S("readonly a=1"),
        S("echo $a", "1\n"),
        S("a=2; echo never", None, code=None, shell="any"),
        S("echo $a", "1\n"),
    ],
    "a redirection by exec is undone with the command": [
        S("exec >/dev/null; echo lost"),
        S("exec 1>&- 2>&-"),
        S("echo on", "on\n"),
    ],
    "a new descriptor by exec persists": [
        S("exec 5>file; echo x >&5"),
        S("echo y >&5; cat file", "x\ny\n"),
    ],
    "an EXIT trap runs when the shell exits, and is not rolled back with it": [
        S("trap 'echo bye >>file' EXIT"),
        S("exit 3", code=3, shell="restored"),
        S("exit 3", code=3, shell="restored"),
        S("cat file", "bye\n"),
    ],
    "a signal trap persists": [
        S("trap 'echo got' USR1"),
        S("kill -USR1 $$; true", "got\n"),
    ],
    "the descriptors of the supervisor are closed for commands": [
        S("printf 'done x 0\\0' >&251", None, code=1),
        S("read -u 250", None, code=1),
        S("bash -c 'echo forged >&251'", None, code=1),
        S("echo on", "on\n"),
    ],
    "standard input is empty": [
        S("cat", ""),
        S("read line; echo [$line]", "[]\n"),
        S("python3 -c 'input()' 2>&1 | tail -n 1", "EOFError: EOF when reading a line\n"),
    ],
    "stdout and stderr keep their order": [
        S("echo 1; echo 2 >&2; echo 3", "1\n2\n3\n"),
    ],
    "a background job does not hold the command": [
        S("sleep 300 & echo started", "started\n"),
        S("kill -0 $! && echo alive; kill $!", "alive\n"),
    ],
    "a background job can be waited for": [
        S("(sleep 0.2; exit 5) &"),
        S("wait $!", code=5),
    ],
    "$! is the command's own": [
        S("sleep 300 & echo $! >pid"),
        S("[ $! = $(cat pid) ] && jobs -p | wc -l; kill $!", "1\n"),
    ],
    "a background job outlives a rollback": [
        S("sleep 300 & pid=$!"),
        S("exit 1", code=1, shell="restored"),
        S("kill -0 $pid && echo alive; kill $pid", "alive\n"),
    ],
    "a job of a command that exits lives on": [
        S("sleep 300 & echo $! >pid; exit 0", shell="restored"),
        S("kill -0 $(cat pid) && echo alive; kill $(cat pid)", "alive\n"),
    ],
    "a rollback can follow a rollback": [
        S("a=1"),
        *[S(f"a={n}; exit {n}", code=n, shell="restored") for n in range(2, 12)],
        S("echo $a", "1\n"),
    ],
    "there is no terminal and no pager": [
        S("tty; echo $TERM $PAGER $GIT_PAGER", "not a tty\ndumb cat cat\n"),
    ],
    "an empty command does nothing": [
        S(""),
        S("# a comment"),
        S("\n\n"),
    ],
    "several commands may come at once": [
        S("echo 1; echo 2 && echo 3\nif true; then\n  echo 4\nfi", "1\n2\n3\n4\n"),
    ],
}


@pytest.mark.parametrize("case", CASES)
def test_shell_semantics(box: Machine, case: str) -> None:
    for step in CASES[case]:
        result = box.run(step.command, step.timeout)
        said = (result.head + result.tail).decode()
        where = f"{step.command!r} → {result!r}"
        if step.output is not None:
            assert said == step.output, where
        if step.shell != "any":
            assert result.shell == step.shell, where
            assert result.exit_code == step.code, where
        assert result.reason == step.reason, where


def test_binary_output_arrives_as_it_was(box: Machine) -> None:
    assert box.run(r"printf '\x00\xff\x80\r\n'").head == b"\x00\xff\x80\r\n"


def test_bytes_that_are_no_text_can_be_in_a_command(box: Machine) -> None:
    assert box.run(b"echo \xff\xfe".decode("utf-8", "surrogateescape")).head == b"\xff\xfe\n"


@pytest.mark.parametrize("size", [4095, 4096, 4097, 200_000, 1_000_000])
def test_a_long_command_line_is_read_whole(box: Machine, size: int) -> None:
    command = "cat <<'EOF' | wc -c\n"
    body = "x" * (size - len(command) - len("\nEOF"))
    assert box.output(f"{command}{body}\nEOF") == f"{len(body) + 1}\n"


def test_the_working_folder_is_told_after_each_command(box: Machine) -> None:
    assert box.run("cd /usr/lib").cwd == "/usr/lib"
    assert box.run("cd /; exit 1").cwd == "/usr/lib"


def test_a_folder_name_that_is_no_text_is_told_as_far_as_it_is(box: Machine) -> None:
    box.run(r"mkdir $'a\xffb'")
    assert box.run(r"cd $'a\xffb'").cwd.endswith("/a\ufffdb")
    assert box.output("basename $PWD | wc -c") == "4\n"


def test_programs_of_the_virtual_environment_come_first(box: Machine) -> None:
    box.run("mkdir -p .venv/bin; printf '#!/bin/sh\\necho mine\\n' >.venv/bin/tool; chmod +x .venv/bin/tool")
    assert box.output("tool") == "mine\n"


def test_a_python3_planted_in_the_work_folder_is_not_taken_for_the_supervisor(
    box: Machine, start: Callable[..., Machine]
) -> None:
    box.run("mkdir -p .venv/bin")
    for name in ("python3", "bash"):
        box.run(f"printf '#!/bin/sh\\nexit 9\\n' >.venv/bin/{name}; chmod +x .venv/bin/{name}")
    assert start(box.backend).output("echo on") == "on\n"
