"""`vera run`, `vera build` and `vera doctor` with real boxes, and with an engine that cannot."""

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from sandbox_machine import BUBBLEWRAP, DOCKER, HOST, work_folder

from support.box_image import base_image, image
from support.cli import records, vera
from support.scripted_server import ScriptedServer
from support.turns import as_reply, final, turn
from vera import events

NEEDS_DOCKER = pytest.mark.needs("docker")
TURNS = [turn("shell", cmd="echo out of the box; exit 4"), final("Nothing was found out.")]

WITHOUT_JUDGE = ("--verifier", "literal", "--verifier-rounds", "1")


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., object]:
    """`vera run` with a model that wants a shell; the folder is one that other users may reach."""

    def start(*arguments: object, script: list[str] = TURNS, **environment: str) -> object:
        with ScriptedServer([as_reply(said, "text") for said in script], protocol="text") as server:
            return vera(
                *("run", "What is it?", "--work-dir", "w", "--model-base-url", server.root),
                *("--protocol", "text", *WITHOUT_JUDGE, *arguments),
                **{"cwd": tmp_path, **environment},  # type: ignore[arg-type] # a path and texts
            )

    tmp_path.chmod(0o755)
    return start


@pytest.mark.parametrize("backend", [DOCKER, BUBBLEWRAP, HOST])
def test_a_session_keeps_what_its_box_wrote_and_what_happened_to_it(backend: str) -> None:
    environment = {}
    if backend == "docker":
        image()
        environment = {"VERA_BASE_IMAGE": base_image()}
    script = [as_reply(said, "text") for said in TURNS]
    with work_folder() as folder, ScriptedServer(script, protocol="text") as server:
        done = vera(
            *("run", "What is it?", "--work-dir", "w", "--model-base-url", server.root),
            *("--protocol", "text", "--sandbox", backend, *WITHOUT_JUDGE),
            cwd=folder,
            **environment,
        )
        assert done.returncode == 3, done.stderr
        assert f"sandbox: {backend} (" in done.stderr
        log = records(folder / "w")
        output = (folder / "w" / "container.log").read_text()
        kept = [json.loads(line) for line in (folder / "w" / "container_events.log").read_text().splitlines()]
    assert "$ echo out of the box; exit 4\nout of the box\n[exit 4, " in output
    happened = [record.event for record in log if isinstance(record, events.ContainerEvent)]
    assert {"started", "restored"} <= set(happened)
    assert happened == [each["event"] for each in kept][: len(happened)]
    assert kept[-1]["event"] == ("destroy" if backend == "docker" else "closed")
    assert all(each["time"] > 1e9 for each in kept)


@pytest.fixture
def fake(tmp_path: Path) -> Callable[[str], str]:
    """Puts a shell script in the place of `docker` and returns a PATH with it in front."""

    def install(script: str) -> str:
        folder = tmp_path / "bin"
        folder.mkdir()
        (folder / "docker").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "docker").chmod(0o755)
        return f"{folder}:{os.environ['PATH']}"

    return install


def engine_that(refuses: str, *, at: str) -> str:
    """A client that does all that it is asked, but for `at`, where it says what it `refuses` for."""
    return (
        "case $1 in\n"
        f"{at}) echo {shlex.quote(refuses)} >&2; exit 125;;\n"
        "context) echo unix:///var/run/docker.sock;;\ninfo) echo '[]';;\nesac"
    )


ENGINES = {
    "stopped": (
        engine_that("Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", at="info"),
        "vera: The Docker engine is not running. Next: sudo systemctl start docker\n",
    ),
    "of others": (
        engine_that("permission denied while trying to connect to the Docker daemon socket", at="info"),
        "vera: You may not use the Docker engine. Next: sudo usermod -aG docker $USER   (and log in again)\n",
    ),
    "without the image": (
        engine_that("Unable to find image 'vera-sandbox:1' locally", at="run"),
        "is not on this machine. Next: ",
    ),
    "with another architecture's image": (
        engine_that("exec /usr/bin/python3: exec format error", at="run"),
        "is made for another processor architecture. Next: ",
    ),
    "with a full disk": (
        engine_that("docker: Error response from daemon: mkdir: no space left on device.", at="run"),
        "vera: The disk that Docker uses is full. Next: docker system df\n",
    ),
    "with an old client": (
        engine_that("unknown flag: --pull", at="run"),
        "vera: This Docker client is too old for the sandbox's options. Next: docker version\n",
    ),
    "that refuses an option": (
        engine_that("docker: Error response from daemon: Minimum memory limit allowed is 6MB.", at="run"),
        "vera: The docker sandbox did not start; it said: docker: Error response from daemon: Minimum memory "
        "limit allowed is 6MB. Next: vera doctor\n",
    ),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_that_cannot_is_one_sentence_and_the_next_command_and_exit_code_5(
    engine: str, run: Callable[..., object], fake: Callable[[str], str]
) -> None:
    script, sentence = ENGINES[engine]
    done = run("--sandbox", "docker", "--quiet", PATH=fake(script))
    assert done.returncode == 5
    assert done.stderr.count("\n") == 1
    assert sentence.replace("vera doctor", "vera doctor") in done.stderr


def test_without_docker_its_sandbox_is_refused_with_how_to_get_it(
    run: Callable[..., object], tmp_path: Path
) -> None:
    done = run("--sandbox", "docker", "--quiet", PATH=str(tmp_path))
    assert (done.returncode, done.stderr.count("\n")) == (5, 1)
    assert done.stderr.startswith("vera: Docker is not installed. Next: sudo apt install docker.io")


@pytest.mark.needs("bubblewrap")
def test_a_stopped_engine_is_passed_over_in_one_line(
    run: Callable[..., object], fake: Callable[[str], str]
) -> None:
    with work_folder() as folder:
        done = run(PATH=fake(ENGINES["stopped"][0]), cwd=folder)
    lines = done.stderr.splitlines()
    assert "sandbox: not docker: The Docker engine is not running." in lines
    assert any(line.startswith("sandbox: bubblewrap (") for line in lines)


def test_with_no_backend_at_all_the_agent_has_no_shell_and_it_is_said(
    run: Callable[..., object], tmp_path: Path
) -> None:
    answer = final("Nothing was found out.")
    done = run(PATH=str(tmp_path), script=[answer, answer])
    assert done.returncode == 3, done.stderr
    assert "sandbox: none (the agent has no shell: There is no sandbox to run commands in. " in done.stderr


@NEEDS_DOCKER
def test_without_the_image_no_build_refuses_with_the_command(run: Callable[..., object]) -> None:
    done = run("--no-build", "--quiet", VERA_BASE_IMAGE="vera-test-nonesuch:1")
    assert (done.returncode, done.stderr.count("\n")) == (5, 1)
    assert done.stderr.startswith("vera: The sandbox image vera-sandbox:")
    assert done.stderr.endswith(" Next: vera build\n")


@NEEDS_DOCKER
def test_privileged_is_refused_outside_the_lab(run: Callable[..., object]) -> None:
    done = run("--privileged", "--quiet", VERA_BASE_IMAGE=base_image())
    assert (done.returncode, done.stderr.count("\n")) == (5, 1)
    assert "goes with the lab profile only" in done.stderr
    assert done.stderr.endswith("Next: vera run --profile lab --privileged\n")


def test_the_lab_is_never_replaced_by_something_else(run: Callable[..., object], tmp_path: Path) -> None:
    done = run("--profile", "lab", "--quiet", PATH=str(tmp_path))
    assert (done.returncode, done.stderr.count("\n")) == (5, 1)
    assert "Docker is not installed" in done.stderr


@pytest.mark.parametrize("backend", ["auto", "docker", "host"])
def test_the_built_in_model_starts_no_box(backend: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("A written offer is valid for three years.\n")
    arguments = ["--input-dir", "in", "--work-dir", "w", "--sandbox", backend]
    done = vera("run", "How long is an offer valid?", *arguments, cwd=tmp_path)
    assert done.returncode in (0, 3), done.stderr
    assert not (tmp_path / "w" / "container_events.log").exists()


@NEEDS_DOCKER
def test_the_doctor_probes_the_sandbox_in_use(tmp_path: Path) -> None:
    name = image()
    chosen = {"VERA_BASE_IMAGE": base_image(), "VERA_SANDBOX__BACKEND": "docker"}
    done = vera("doctor", "--sandbox", cwd=tmp_path, **chosen)
    assert done.returncode == 0, done.stderr
    assert "exec from /work" in done.stdout
    assert done.stdout.endswith(" 0 of 55 open.\n")
    as_json = json.loads(vera("doctor", "--sandbox", "--json", cwd=tmp_path, **chosen).stdout)
    assert [each["name"] for each in as_json["attempts"] if each["worked"]] == [
        "fifo in /work", "exec from /work",
    ]  # fmt: skip
    missing = vera("doctor", "--sandbox", cwd=tmp_path, VERA_BASE_IMAGE="vera-test-nonesuch:1")
    assert (missing.returncode, missing.stderr.count("\n")) == (5, 1)
    assert missing.stderr.endswith("Next: vera build\n")
    whole = json.loads(vera("doctor", "--json", cwd=tmp_path, **chosen).stdout)
    assert {each["part"]: each["state"] for each in whole}["sandbox docker"] == "ok"
    assert name


@NEEDS_DOCKER
def test_vera_build_prints_the_images_name_and_the_engines_lines(tmp_path: Path) -> None:
    name = image()
    done = vera("build", "--base-image", base_image(), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"{name}\n"), done.stderr
    assert "FROM" in done.stderr
    quiet = vera("build", "--quiet", cwd=tmp_path, VERA_BASE_IMAGE=base_image())
    assert (quiet.stdout, quiet.stderr) == (f"{name}\n", "")
    failed = vera("build", "--quiet", "--base-image", "localhost:1/nonesuch", cwd=tmp_path)
    assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (5, "", 1)
