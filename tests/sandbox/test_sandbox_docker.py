"""The docker backend: its argv, its refusals, and a real engine's answers in plain sentences."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from sandbox_machine import Machine, machine, spec_for

from vera.sandbox.backends import docker, open_box
from vera.sandbox.spec import BoxSpec
from vera.sandbox.types import BoxError

DOCKER = pytest.mark.needs("docker")


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lets the backend believe in an engine: an argv can be looked at without one."""

    def set_engine(*, rootless: bool = False, selinux: bool = False) -> None:
        found = docker.Engine(rootless, selinux)
        monkeypatch.setattr(docker, "engine", lambda: found)

    set_engine()
    return set_engine


def argv(**spec: object) -> list[str]:
    return list(docker.Docker().launch(BoxSpec(image="image:1", **spec)).argv)  # type: ignore[arg-type] # any


def refused(spec: BoxSpec) -> BoxError:
    with pytest.raises(BoxError) as caught:
        asyncio.run(open_box("docker", spec))
    return caught.value


@pytest.mark.parametrize("profile", ["sealed", "research"])
@pytest.mark.usefixtures("engine")
def test_a_box_is_hardened_by_default(profile: str, work: Path) -> None:
    found = argv(work=work, profile=profile, uid=4321, gid=4321)
    for option in (
        "run",
        "--interactive",
        "--rm",
        "--pull=never",
        "--log-driver=none",
        "--network=none",
        "--read-only",
        "--cap-drop=ALL",
        "--security-opt=no-new-privileges",
        f"--security-opt=seccomp={docker.SECCOMP}",
        "--user=4321:4321",
        "--pids-limit=256",
        "--memory=2147483648",
        "--memory-swap=2147483648",
        "--cpus=2",
        "--ulimit=fsize=536870912",
        "--ulimit=core=0",
    ):
        assert option in found
    assert "--privileged" not in found
    assert not any(option.startswith("--cap-add") for option in found)


@pytest.mark.usefixtures("engine")
def test_the_lab_is_root_inside_with_few_capabilities_and_the_same_filter(work: Path) -> None:
    found = argv(work=work, profile="lab")
    assert {"--user=0:0", "--cap-drop=ALL", "--cap-add=SETUID", "--network=none"} <= set(found)
    assert f"--security-opt=seccomp={docker.SECCOMP}" in found
    assert "--read-only" not in found
    assert not any("SYS_" in option or "NET_" in option for option in found)


@pytest.mark.usefixtures("engine")
def test_privileged_goes_with_the_lab_only_and_is_said(work: Path) -> None:
    with pytest.raises(BoxError, match="lab profile only"):
        argv(work=work, privileged=True)
    found = argv(work=work, profile="lab", privileged=True)
    assert "--privileged" in found
    assert not any(option.startswith(("--cap-", "--security-opt")) for option in found)
    made = docker.Docker().launch(BoxSpec(work=work, image="i", profile="lab", privileged=True))
    assert "PRIVILEGED" in made.isolation


@pytest.mark.usefixtures("engine")
def test_odd_paths_survive_in_the_mounts(tmp_path: Path) -> None:
    work = tmp_path / 'a,b "c":d'
    work.mkdir()
    found = argv(work=work, input=tmp_path, uid=1, gid=1)
    assert f'--mount=type=bind,"source={str(work).replace(chr(34), chr(34) * 2)}",target=/work' in found
    assert f"--mount=type=bind,source={tmp_path},target=/input,readonly" in found


def test_a_rootless_engine_maps_the_person_to_root_and_selinux_needs_no_relabelling(
    engine: Callable[..., None], work: Path
) -> None:
    engine(rootless=True, selinux=True)
    found = argv(work=work)
    assert {"--user=0:0", "--security-opt=label=disable", "--cap-drop=ALL", "--read-only"} <= set(found)


@pytest.mark.usefixtures("engine")
def test_no_variable_of_the_person_enters_the_box(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    made = docker.Docker().launch(BoxSpec(work=work, image="i", env={"A": "b"}))
    assert "--env=A=b" in made.argv
    assert "secret" not in " ".join([*made.argv, *made.env.values()])


@pytest.mark.usefixtures("engine")
def test_without_an_image_the_hint_is_to_build_one(work: Path) -> None:
    with pytest.raises(BoxError) as caught:
        docker.Docker().launch(BoxSpec(work=work))
    assert caught.value.hint == "vera build"


@pytest.mark.parametrize(("said", "hint"), [(sign, hint) for sign, _, hint in docker.EXPLANATIONS])
def test_what_the_engine_says_becomes_a_sentence_and_a_command(said: str, hint: str) -> None:
    explained = docker.explain("image:1", f"docker: Error response: {said}.")
    assert explained is not None
    assert explained[0].endswith(".")
    assert explained[1] == hint
    assert docker.explain("image:1", "something new") is None


@DOCKER
@pytest.mark.parametrize("endpoint", ["tcp://10.0.0.1:2375", "ssh://me@there"])
def test_an_engine_on_another_machine_is_refused(
    endpoint: str, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", endpoint)
    docker.engine.cache_clear()
    assert "is on another machine" in str(refused(BoxSpec(work=work, image="any")))


@DOCKER
def test_an_engine_that_is_stopped_is_said_with_the_command_that_starts_it(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{work}/nonesuch.sock")
    docker.engine.cache_clear()
    error = refused(BoxSpec(work=work, image="any"))
    assert (str(error), error.hint) == ("The Docker engine is not running.", "sudo systemctl start docker")


@DOCKER
def test_an_image_that_is_missing_is_never_pulled(work: Path) -> None:
    docker.engine.cache_clear()
    error = refused(BoxSpec(work=work, image="vera-test-nonesuch:1"))
    assert str(error) == "The sandbox image vera-test-nonesuch:1 is not on this machine."
    assert error.hint == "vera build"


@DOCKER
def test_an_option_that_the_engine_refuses_is_one_clear_error(work: Path) -> None:
    spec = spec_for("docker", work, memory=1)
    assert "Minimum memory limit" in str(refused(spec))


@DOCKER
def test_a_privileged_box_starts_or_is_refused_in_a_sentence(work: Path) -> None:
    try:
        with machine("docker", work, profile="lab", privileged=True) as started:
            assert "PRIVILEGED" in started.box.isolation
    except BoxError as error:
        assert str(error).endswith(".")
        assert error.hint


@DOCKER
def test_the_probe_starts_a_real_container(work: Path) -> None:
    report = asyncio.run(docker.Docker().probe(spec_for("docker", work)))
    assert (report.ok, report.reason) == (True, "Starts a container and runs commands.")
    report = asyncio.run(docker.Docker().probe(BoxSpec(work=work, image="vera-test-nonesuch:1")))
    assert (report.ok, report.hint) == (False, "vera build")


@DOCKER
def test_files_made_inside_belong_to_the_owner_of_the_work_folder(start: Callable[..., Machine]) -> None:
    started = start("docker")
    started.run("touch made")
    assert (started.work / "made").stat().st_uid == started.work.stat().st_uid != 0 or os.getuid() != 0


@DOCKER
def test_input_is_read_only_and_the_root_too(start: Callable[..., Machine], tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    tmp_path.chmod(0o755)
    started = start("docker", input=tmp_path)
    assert started.output("cat /input/text; touch /input/x 2>&1; touch /usr/x 2>&1") == (
        "hello"
        "touch: cannot touch '/input/x': Read-only file system\n"
        "touch: cannot touch '/usr/x': Read-only file system\n"
    )


@DOCKER
def test_the_lab_can_change_its_root(start: Callable[..., Machine]) -> None:
    started = start("docker", profile="lab")
    assert started.output("id -u; touch /usr/x && echo made; chown 1:1 /usr/x && echo given") == (
        "0\nmade\ngiven\n"
    )
