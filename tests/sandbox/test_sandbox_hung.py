"""Commands that do not end: killed with all they started, while the shell's state and older jobs live on."""

from collections.abc import Iterator

import pytest
from sandbox_machine import BUBBLEWRAP, DOCKER, HOST, Machine, machine, work_folder

from vera.sandbox.backends.bubblewrap import COUNT_PROCESSES
from vera.sandbox.box import BoxLimits

TIMEOUT = 0.4
GRACE = BoxLimits(grace=0.3)

HUNG = {
    "sleep": "sleep 1000",
    "a busy shell": "while :; do :; done",
    "a busy program": "python3 -c 'while True: pass'",
    "signals ignored by a shell": "trap '' INT TERM HUP; sleep 1000",
    "signals ignored by a program": (
        "python3 -c 'import signal, time\n"
        "for n in range(1, 32):\n"
        "    if n not in (9, 19): signal.signal(n, signal.SIG_IGN)\n"
        "time.sleep(1000)'"
    ),
    "a fifo without a writer": "rm -f fifo; mkfifo fifo; cat fifo",
    "children in sessions of their own": "setsid sleep 1000 & setsid -w sleep 1000",
    "a daemon": (
        "python3 -c 'import os, time\n"
        "for _ in range(2):\n"
        "    if os.fork(): break\n"
        "    os.setsid()\n"
        "time.sleep(1000)'; sleep 1000"
    ),
    "an orphan without environment": "(env -i setsid sleep 1000 &); sleep 1000",
    "a process that stops itself": "bash -c 'kill -STOP $BASHPID'",
    "a read from the terminal": "read x </dev/tty || sleep 1000",
    "a flood": "yes",
    "a list": "sleep 1000; echo never >after",
    "a pipeline": "sleep 1000 | cat | cat",
    "a coprocess": "coproc cat; wait",
    "a subshell in a loop": "while :; do (sleep 0.01); done",
}

BOMBS = {
    "a fork bomb": "bomb() { bomb | bomb & }; bomb; sleep 1000",
    "a two-way fork bomb": "b() { c & c; }; c() { b & b; }; b",
    "a fork bomb in new sessions": (
        "python3 -c 'import os\n"
        "while True:\n"
        "    try:\n"
        "        if os.fork() == 0: os.setsid()\n"
        "    except OSError: pass'"
    ),
}

MARK = "vera-test-older-job"


def prepared(started: Machine) -> Machine:
    started.run(
        f"mkdir -p here; cd here; export kept=yes; f() {{ echo $kept; }}; (exec -a {MARK} sleep 3000) &"
    )
    started.run("older=$!")
    return started


@pytest.fixture(scope="module", params=[HOST, DOCKER, BUBBLEWRAP])
def survivor(request: pytest.FixtureRequest) -> Iterator[Machine]:
    """One box for all of them: each command finds what the ones before have left."""
    with work_folder() as work, machine(request.param, work, GRACE) as started:
        yield prepared(started)


@pytest.fixture(scope="module", params=[DOCKER, BUBBLEWRAP])
def bombed(request: pytest.FixtureRequest) -> Iterator[Machine]:
    """As `survivor`, with a limit on processes that is seen to hold before a bomb is let off."""
    with work_folder() as work, machine(request.param, work, GRACE, pids=128) as started:
        assert int(started.output(COUNT_PROCESSES.format(limit=128))) < 128
        yield prepared(started)


def check_survival(started: Machine, command: str) -> None:
    result = started.run(command, timeout=TIMEOUT)
    assert (result.reason, result.shell, result.exit_code) == ("timeout", "restored", None)
    assert started.output("f; echo ${PWD##*/}; kill -0 $older && echo alive") == "yes\nhere\nalive\n"
    left = started.output("ps -eo args 2>/dev/null || cat /proc/*/cmdline | tr '\\0' ' '")
    if started.backend != "host":
        assert "sleep 1000" not in left
        assert left.count("python3 -c import") == 0


@pytest.mark.parametrize("kind", HUNG)
def test_a_hung_command_is_killed_and_the_shell_survives(survivor: Machine, kind: str) -> None:
    check_survival(survivor, HUNG[kind])
    assert not (survivor.work / "here/after").exists()


@pytest.mark.parametrize("kind", BOMBS)
def test_a_fork_bomb_is_killed_and_the_shell_survives(bombed: Machine, kind: str) -> None:
    check_survival(bombed, BOMBS[kind])


def test_background_jobs_of_a_hung_command_are_killed_with_it(survivor: Machine) -> None:
    survivor.run("sleep 2000 & echo $! >pid; sleep 1000", timeout=TIMEOUT)
    assert survivor.run("kill -0 $(cat pid)").exit_code == 1


def test_a_process_that_a_person_stopped_stays_stopped(survivor: Machine) -> None:
    survivor.run("sleep 2000 & stopped=$!; kill -STOP $stopped")
    survivor.run("trap '' TERM; sleep 1000", timeout=TIMEOUT)
    assert survivor.output("cut -d' ' -f3 /proc/$stopped/stat; kill -9 $stopped") == "T\n"


def test_the_supervisor_cannot_be_killed_from_inside(bombed: Machine) -> None:
    result = bombed.run("kill -9 1; bash -c 'kill -9 1 -1'; echo never")
    assert (result.reason, result.shell) == ("died", "fresh")
    assert bombed.output("echo on") == "on\n"


def test_a_box_filled_by_an_older_job_starts_over(bombed: Machine) -> None:
    """Nothing can be forked, not even the standby: everything is ended and the shell is new."""
    bombed.run("python3 -c 'import os\nwhile True:\n  try: os.fork()\n  except OSError: pass' & sleep 1")
    result = bombed.run("echo never", timeout=TIMEOUT)
    assert (result.reason, result.shell) == ("timeout", "fresh")
    assert bombed.output("echo on") == "on\n"
