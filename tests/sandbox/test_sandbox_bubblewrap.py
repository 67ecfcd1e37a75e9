"""The bubblewrap backend: its argv, its refusals, and what a real box of it may do."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from sandbox_machine import Machine, machine

from vera.sandbox.backends.bubblewrap import EXPLANATIONS, Bubblewrap, explain
from vera.sandbox.spec import BoxSpec
from vera.sandbox.types import BoxError

BUBBLEWRAP = pytest.mark.needs("bubblewrap")


@BUBBLEWRAP
def test_every_namespace_is_its_own_and_the_root_is_remounted_after_the_last_bind(work: Path) -> None:
    argv = list(Bubblewrap().launch(BoxSpec(work=work, input=Path("/usr/share"))).argv)
    for kind in ("user", "pid", "ipc", "uts", "cgroup", "net"):
        assert f"--unshare-{kind}" in argv
    for option in ("--disable-userns", "--die-with-parent", "--new-session", "--clearenv", "--seccomp"):
        assert option in argv
    binds = [i for i, word in enumerate(argv) if word in ("--bind", "--ro-bind", "--ro-bind-try", "--tmpfs")]
    remounted = [i for i, word in enumerate(argv) if word == "--remount-ro" and argv[i + 1] == "/"]
    assert max(binds) < min(remounted)


@BUBBLEWRAP
def test_bubblewrap_never_runs_as_root(work: Path) -> None:
    argv = Bubblewrap().launch(BoxSpec(work=work, uid=0, gid=0)).argv
    if os.getuid() == 0:
        assert argv[:2] == ("setpriv", "--reuid=10001")
    else:
        assert argv[0] == "bash"


@BUBBLEWRAP
@pytest.mark.skipif(os.getuid() != 0, reason="another user's bubblewrap reaches what that user reaches")
def test_work_below_a_folder_that_is_closed_to_others_is_reached(work: Path) -> None:
    work.chmod(0o700)
    inside, documents = work / "here/workspace", work / "papers"
    inside.mkdir(parents=True)
    documents.mkdir()
    (documents / "a.txt").write_text("a document\n")
    with machine("bubblewrap", inside, input=documents) as started:
        assert started.output("cat /input/a.txt; id -u; echo made >file") == "a document\n10001\n"
        assert started.output("ls / | grep -c vera; ls /run").split() == ["0", "boxd"]
    assert (inside / "file").read_text() == "made\n"
    assert not list(Path("/run/vera/work").iterdir())


@BUBBLEWRAP
@pytest.mark.parametrize("changes", [{"profile": "lab"}, {"privileged": True}])
def test_the_lab_is_refused(changes: dict[str, object], work: Path) -> None:
    with pytest.raises(BoxError, match="lab profile"):
        Bubblewrap().launch(BoxSpec(work=work, **changes))  # type: ignore[arg-type] # any


def test_without_bwrap_the_hint_is_how_to_get_it(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(work))
    with pytest.raises(BoxError, match="not installed") as caught:
        Bubblewrap().launch(BoxSpec(work=work))
    assert caught.value.hint.startswith("sudo apt install bubblewrap")


@pytest.mark.parametrize(("said", "hint"), [(sign, hint) for sign, _, hint in EXPLANATIONS])
def test_what_bwrap_says_becomes_a_sentence_and_a_command(said: str, hint: str) -> None:
    explained = explain(f"bwrap: {said}")
    assert explained is not None
    assert explained[1] == hint


@BUBBLEWRAP
def test_the_probe_proves_the_process_limit(work: Path) -> None:
    report = asyncio.run(Bubblewrap().probe(BoxSpec(work=work, pids=64)))
    assert (report.ok, report.reason) == (True, "Starts a box and runs commands.")


@BUBBLEWRAP
def test_a_box_knows_its_user_and_localhost_and_little_else(start: Callable[..., Machine]) -> None:
    started = start("bubblewrap")
    assert started.output(
        "whoami; getent hosts localhost | cut -d' ' -f1; ls -A /etc/passwd /home /root 2>&1"
    ) == (
        "vera\n::1\nls: cannot access '/home': No such file or directory\n"
        "ls: cannot access '/root': No such file or directory\n/etc/passwd\n"
    )


@BUBBLEWRAP
def test_no_variable_of_the_person_enters_the_box(
    start: Callable[..., Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert "secret" not in start("bubblewrap").output("env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'")


@BUBBLEWRAP
def test_descriptors_of_the_host_do_not_leak_into_the_box(start: Callable[..., Machine]) -> None:
    assert start("bubblewrap").output("ls /proc/self/fd | head -n 4 | tr '\\n' ' '") == "0 1 2 3 "


@BUBBLEWRAP
def test_input_is_read_only(start: Callable[..., Machine], tmp_path: Path) -> None:
    started = start("bubblewrap", input=Path("/usr/share/common-licenses"))
    assert started.run("test -r /input/GPL-3 && ! touch /input/x").exit_code == 0
