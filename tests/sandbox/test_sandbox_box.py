"""The life of a box on the host side, with real child processes, willing and unwilling."""

import asyncio
import os
import sys
from pathlib import Path

import pytest
from sandbox_machine import LINUX

from vera.sandbox import orphans, transcript
from vera.sandbox.backends import choose, open_box
from vera.sandbox.backends.host import Host
from vera.sandbox.box import MAX_COMMAND, BoxLimits, SupervisedBox
from vera.sandbox.spec import BoxSpec, Launch
from vera.sandbox.types import BoxError, CommandResult

pytestmark = LINUX


def launch(*argv: str) -> Launch:
    """A launch of any program in the supervisor's place."""
    return Launch(backend="odd", isolation="none", argv=argv, env=dict(os.environ), remove=lambda: None)


def python(program: str) -> Launch:
    return launch(sys.executable, "-c", program)


def run_dir_name(box: SupervisedBox) -> str:
    return Path(box.launch.argv[-2]).name


async def appears(file: Path) -> None:
    while not file.exists():  # noqa: ASYNC110 - another process makes it
        await asyncio.sleep(0.01)


def fail_to_start(box: SupervisedBox) -> BoxError:
    with pytest.raises(BoxError) as caught:
        asyncio.run(box.start())
    return caught.value


def test_a_program_that_does_not_exist_is_named(tmp_path: Path) -> None:
    error = fail_to_start(SupervisedBox(launch(str(tmp_path / "nonesuch"))))
    assert "nonesuch does not run" in str(error)
    assert error.hint == "vera doctor"


def test_a_program_that_ends_at_once_is_quoted() -> None:
    error = fail_to_start(SupervisedBox(python("import sys; sys.exit('the reason')")))
    assert str(error) == "The odd sandbox did not start; it said: the reason."


def test_a_silent_program_is_given_up_after_the_start_timeout() -> None:
    program = "import sys; sys.stderr.write('waiting'); sys.stderr.flush(); sys.stdin.read()"
    error = fail_to_start(SupervisedBox(python(program), start_timeout=0.5))
    assert str(error) == "The odd sandbox did not start within 0.5 s; it said: waiting."


@pytest.mark.parametrize(
    "data", [b"\xff" * 8, b"\0\0\0\2[]", b"\0\0\0\x14" + b'{"ev":"a","n":99999999}'[:20], b"\0\0\0\1"]
)
def test_a_program_that_sends_nonsense_is_ended(data: bytes) -> None:
    program = f"import os, sys; os.write(1, {data!r}); os.close(1); sys.stdin.buffer.read(10)"
    assert "did not start" in str(fail_to_start(SupervisedBox(python(program))))


def open_files() -> list[str]:
    return sorted(each.name for each in Path("/proc/self/fd").iterdir())


def test_what_follows_nonsense_is_read_and_the_pipes_are_closed() -> None:
    # All of it lies in the pipe before the first byte is read: more than a reader takes without a pause.
    program = "import fcntl, os; fcntl.fcntl(1, 1031, 1 << 20); os.write(1, bytes([255]) * 900_000)"

    async def ended() -> None:
        before = open_files()
        box = SupervisedBox(python(program))
        with pytest.raises(BoxError):
            await box.start()
        await box.close()
        await asyncio.sleep(0)  # a transport that is done closes its pipe in the loop's next round
        assert open_files() == before

    asyncio.run(ended())


def test_a_supervisor_without_bash_says_so(tmp_path: Path) -> None:
    spec = BoxSpec(work=tmp_path)
    made = Host().launch(spec)
    bare = Launch(
        backend="host",
        isolation="",
        argv=made.argv,
        env={**made.env, "PATH": str(tmp_path)},
        remove=made.remove,
    )
    assert "bash did not start" in str(fail_to_start(SupervisedBox(bare)))


def test_what_the_backend_explains_is_said_instead() -> None:
    made = python("import sys; sys.exit('E1234')")
    explained = Launch(
        backend="odd",
        isolation="",
        argv=made.argv,
        env=made.env,
        remove=made.remove,
        explain=lambda said: ("The engine sleeps.", "wake engine") if "E1234" in said else None,
    )
    error = fail_to_start(SupervisedBox(explained))
    assert (str(error), error.hint) == ("The engine sleeps.", "wake engine")


def test_a_box_starts_once_and_answers_only_in_between(tmp_path: Path) -> None:
    async def main() -> None:
        box = SupervisedBox(Host().launch(BoxSpec(work=tmp_path)))
        with pytest.raises(BoxError, match="was not started"):
            await box.run("true", timeout=5)
        await box.start()
        with pytest.raises(BoxError, match="starts once"):
            await box.start()
        assert (await box.run("true", timeout=5)).exit_code == 0
        await box.close()
        await box.close()
        with pytest.raises(BoxError, match="has ended"):
            await box.run("true", timeout=5)

    asyncio.run(main())


def test_closing_a_box_that_never_started_is_nothing(tmp_path: Path) -> None:
    asyncio.run(SupervisedBox(Host().launch(BoxSpec(work=tmp_path))).close())


def test_a_cancelled_call_ends_its_command_and_the_box_serves_on(tmp_path: Path) -> None:
    log: list[bytes] = []

    async def main() -> None:
        box = await open_box("host", BoxSpec(work=tmp_path), log=log.append)
        await box.run("a=1", timeout=5)
        call = asyncio.create_task(box.run("a=2; touch begun; sleep 1000", timeout=60))
        await appears(tmp_path / "begun")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await box.run("echo $a", timeout=5)).head == b"1\n"
        await box.close()

    asyncio.run(main())
    assert b"[cancelled, 0 bytes, " in b"".join(log)


def test_commands_given_at_once_run_one_after_another(tmp_path: Path) -> None:
    async def main() -> list[bytes]:
        box = await open_box("host", BoxSpec(work=tmp_path))
        calls = [box.run("n=$((n + 1)); sleep 0.02; echo $n", timeout=5) for _ in range(5)]
        results = await asyncio.gather(*calls)
        await box.close()
        return [result.head for result in results]

    assert asyncio.run(main()) == [b"1\n", b"2\n", b"3\n", b"4\n", b"5\n"]


def test_a_supervisor_that_dies_under_a_command_is_an_error(tmp_path: Path) -> None:
    async def main() -> None:
        box = await open_box("host", BoxSpec(work=tmp_path))
        with pytest.raises(BoxError, match="has ended"):
            await box.run("setsid sleep 1000 & kill -9 $PPID; sleep 1000", timeout=60)
        await box.close()
        assert not [names for _, names in orphans.named_processes() if names & {run_dir_name(box)}]

    asyncio.run(main())


def test_closing_under_a_command_ends_both(tmp_path: Path) -> None:
    async def main() -> None:
        box = await open_box("host", BoxSpec(work=tmp_path))
        call = asyncio.create_task(box.run("touch begun; yes", timeout=60))
        await appears(tmp_path / "begun")
        await box.close()
        with pytest.raises(BoxError, match="has ended"):
            await call

    asyncio.run(main())


def test_a_command_longer_than_a_mebibyte_is_refused(tmp_path: Path) -> None:
    async def main() -> None:
        box = await open_box("host", BoxSpec(work=tmp_path))
        with pytest.raises(BoxError, match="at most 1048576 can be run"):
            await box.run("#" * (MAX_COMMAND + 1), timeout=5)
        await box.close()

    asyncio.run(main())


def test_the_host_backend_passes_no_secret_and_says_that_it_isolates_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("HTTPS_PROXY", "http://me:secret@proxy")

    async def main() -> CommandResult:
        box = await open_box("host", BoxSpec(work=tmp_path, env={"EXTRA": "yes"}))
        assert (box.backend, box.isolation, box.work) == ("host", "no isolation", str(tmp_path))
        result = await box.run("env; cat /proc/self/environ /proc/$PPID/environ", timeout=5)
        await box.close()
        return result

    said = asyncio.run(main()).head.decode()
    assert "secret" not in said
    assert f"HOME={tmp_path}\n" in said
    assert "EXTRA=yes\n" in said
    assert f"PIP_CACHE_DIR={tmp_path}/.cache/pip\n" in said


def test_the_log_holds_each_command_with_its_bounded_output(tmp_path: Path) -> None:
    log: list[bytes] = []

    async def main() -> None:
        limits = BoxLimits(head=4, tail=3)
        box = await open_box("host", BoxSpec(work=tmp_path), limits=limits, log=log.append)
        await box.run("printf 0123456789", timeout=5)
        await box.close()

    asyncio.run(main())
    first, second = log
    assert first.startswith(b"[sandbox ")
    assert second.startswith(b"$ printf 0123456789\n0123\n[3 bytes not shown]\n789\n[exit 0, 10 bytes, ")


def test_a_transcript_cuts_a_long_command() -> None:
    result = CommandResult(exit_code=0, head=b"", size=0, sha256="")
    assert b"[cut: 5000 bytes]" in transcript.of_command(b"x" * 5000, result)


def test_auto_never_chooses_a_backend_without_isolation() -> None:
    assert [backend.name for backend in choose("auto")] == ["docker", "bubblewrap"]
    assert [backend.name for backend in choose("host")] == ["host"]
    assert choose("none") == ()


def test_an_unknown_backend_is_answered_with_the_known_ones() -> None:
    with pytest.raises(BoxError, match="there are auto, docker, bubblewrap, host, none"):
        choose("podman")


def test_without_any_backend_the_error_holds_what_each_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BoxError) as caught:
        asyncio.run(open_box("auto", BoxSpec(work=tmp_path, image="any")))
    assert "no sandbox to run commands in" in str(caught.value)
    assert "bwrap is not installed" in str(caught.value)


def test_a_work_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(BoxError, match="does not exist") as caught:
        asyncio.run(open_box("host", BoxSpec(work=tmp_path / "nonesuch")))
    assert caught.value.hint == f"mkdir -p {tmp_path / 'nonesuch'}"


def test_the_host_backend_probes_itself_with_a_real_start(tmp_path: Path) -> None:
    report = asyncio.run(Host().probe(BoxSpec(work=tmp_path)))
    assert (report.ok, report.reason) == (True, "Runs, without any isolation.")
