"""A build that fails, hangs or is given up, with a program in the place of the docker client."""

import asyncio
import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from vera.sandbox import build
from vera.sandbox.backends import docker
from vera.sandbox.types import BoxError

Fake = Callable[[str], Path]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Puts a shell script in the place of `docker`; returns the folder it runs in."""

    def install(script: str) -> Path:
        program = tmp_path / "docker"
        program.write_text(f"#!/bin/sh\ncd {shlex.quote(str(tmp_path))}\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        return tmp_path

    return install


def run(show: Callable[[str], object] = lambda line: None, **options: float) -> None:
    asyncio.run(build.run("base:1", "vera-sandbox:1", b"a tar", show, **options))  # type: ignore[arg-type] # timeout


FAILURES = {
    "no space left": (
        "write /var/lib/docker/tmp: no space left on device",
        "The disk that Docker uses is full",
        "docker system prune",
    ),
    "apt without space": (
        "E: You don't have enough free space in /var/cache/apt/archives/.",
        "The disk that Docker uses is full",
        "docker system prune",
    ),
    "another architecture": (
        "exec /bin/sh: exec format error",
        "base:1 is made for another processor architecture",
        "vera build --base-image debian:bookworm-slim",
    ),
    "registry unreachable": (
        'Get "https://registry-1.docker.io/v2/": dial tcp: lookup registry-1.docker.io: no such host',
        "base:1 is not on this machine, and its registry cannot be reached",
        build.CHOOSE_BASE,
    ),
    "registry unreachable for BuildKit": (
        "ERROR: failed to solve: base:1: failed to resolve source metadata for docker.io/library/base:1: "
        'failed to do request: Head "https://registry-1.docker.io/v2/library/base/manifests/1": dial tcp',
        "its registry cannot be reached",
        build.CHOOSE_BASE,
    ),
    "no such base image": (
        "pull access denied for base, repository does not exist or may require 'docker login'",
        "There is no base image base:1",
        build.CHOOSE_BASE,
    ),
    "no network for apt": (
        "W: Failed to fetch http://deb.debian.org/…  Temporary failure resolving 'deb.debian.org'",
        "The network did not give the packages",
        "curl -I http://deb.debian.org https://pypi.org",
    ),
    "no network for pip": (
        "WARNING: Retrying … NewConnectionError('…: Failed to establish a new connection: "
        "[Errno 101] Network is unreachable')",
        "The network did not give the packages",
        "curl -I http://deb.debian.org https://pypi.org",
    ),
    "a proxy's certificate": (
        "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed'))",
        "a certificate that is not trusted",
        "sudo cp AUTHORITY.crt /usr/local/share/ca-certificates/ && sudo update-ca-certificates",
    ),
    "not a Debian": (
        "/bin/sh: apt-get: not found",
        "base:1 is no Debian or Ubuntu",
        "vera build --base-image debian:bookworm-slim",
    ),
    "engine stopped": (
        "ERROR: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is it running?",
        "The Docker engine is not running.",
        "sudo systemctl start docker",
    ),
    "something new": (
        "The frobnicator is out of order.",
        "could not be built; Docker said: Step 1/9 / The frobnicator is out of order.",
        "vera build --no-cache",
    ),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_build_that_fails_is_one_sentence_and_the_next_command(case: str, fake: Fake) -> None:
    said, sentence, hint = FAILURES[case]
    fake(f"cat >/dev/null; echo Step 1/9; echo {shlex.quote(said)} >&2; exit 1")
    with pytest.raises(BoxError) as caught:
        run()
    assert sentence in str(caught.value)
    assert str(caught.value).endswith(".")
    assert caught.value.hint == hint


def test_lines_are_shown_as_they_come_without_control_characters_and_cut(fake: Fake) -> None:
    long = "head -c 1000000 /dev/zero | tr '\\0' x; echo"
    folder = fake(f"cat >got; printf 'one\\r\\033[1mtwo\\033[0m\\n\\n'; {long}; echo end")
    shown: list[str] = []
    run(shown.append)
    assert shown[:2] == ["one", "two"]
    assert set(shown[2]) == {"x"}
    assert max(map(len, shown)) == build.MAX_LINE_LENGTH
    assert shown[-1] == "end"
    assert (folder / "got").read_bytes() == b"a tar"


def test_a_build_that_takes_too_long_is_ended(fake: Fake) -> None:
    folder = fake("echo $$ >pid; exec sleep 1000")
    with pytest.raises(BoxError, match="not built within 0 minutes"):
        run(timeout=0.5)
    assert not Path(f"/proc/{(folder / 'pid').read_text().strip()}").exists()


def test_a_build_that_is_given_up_is_ended(fake: Fake) -> None:
    folder = fake("echo $$ >pid; echo started; exec sleep 1000")

    async def give_up() -> None:
        started = asyncio.Event()
        building = asyncio.create_task(build.run("b:1", "v:1", b"", lambda line: started.set()))
        await started.wait()
        building.cancel()
        with pytest.raises(asyncio.CancelledError):
            await building

    asyncio.run(give_up())
    assert not Path(f"/proc/{(folder / 'pid').read_text().strip()}").exists()


def test_proxies_are_named_to_the_build_and_their_passwords_are_in_no_argument(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://me:secret@proxy:1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    folder = fake('echo "$@" >arguments; env >variables')
    run()
    assert "--build-arg=HTTPS_PROXY" in (folder / "arguments").read_text().split()
    assert "secret" not in (folder / "arguments").read_text()
    assert "HTTPS_PROXY=http://me:secret@proxy:1" in (folder / "variables").read_text()
    assert "sk-secret" not in (folder / "variables").read_text()


def test_without_docker_the_hint_is_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    docker.engine.cache_clear()
    with pytest.raises(BoxError, match="Docker is not installed") as caught:
        docker.engine()
    assert "apt install docker.io" in caught.value.hint


def test_a_client_that_says_nothing_useful_is_quoted(fake: Fake) -> None:
    fake(f"case $1 in context) echo unix:///x;; *) echo {json.dumps('strange trouble')} >&2; exit 1;; esac")
    docker.engine.cache_clear()
    with pytest.raises(BoxError, match="The Docker engine does not answer: strange trouble") as caught:
        docker.engine()
    assert caught.value.hint == "docker info"
