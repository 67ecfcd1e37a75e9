"""The real image, and how it comes to this machine."""

import asyncio
import os
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from sandbox_machine import Machine

from support.box_image import base_image, image
from vera.sandbox.image import build_image, ensure_image, exists
from vera.sandbox.types import BoxError, Refusal

DOCKER = pytest.mark.needs("docker")

TOOLS = """
    bash curl wget git ssh rg jq sed awk grep file less tree diff patch ps ip unzip zip xz bzip2 zstd
    pdftotext html2text sqlite3 python python3 pip pip3 uv find tar
"""


class Heard:
    """Progress that remembers."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.passing: list[str] = []

    def say(self, line: str) -> None:
        self.said.append(line)

    def now(self, line: str) -> None:
        self.passing.append(line)


@DOCKER
def test_the_tools_of_a_researcher_are_there_and_nothing_is_setuid(start: Callable[..., Machine]) -> None:
    started = start("docker")
    assert (
        started.output(
            f"for tool in {' '.join(TOOLS.split())}; do type -P $tool >/dev/null || echo $tool; done"
        )
        == ""
    )
    assert started.output("find / -xdev -perm /6000 2>/dev/null") == ""
    assert started.output("ls /var/lib/apt/lists | wc -l") == "0\n"
    assert started.output("git -C /work init -q x && git -C x status --short && whoami") == "vera\n"


@DOCKER
@pytest.mark.parametrize("pip", ["pip", "python3 -m pip", "python -m pip"])
def test_the_environment_is_made_by_the_first_use_of_pip_and_seen_at_once(
    pip: str, start: Callable[..., Machine]
) -> None:
    started = start("docker")
    wheel(started.work)
    assert started.run("python3 -c 'import tiny'").exit_code == 1
    assert not (started.work / ".venv").exists()
    show = "python3 -c 'import tiny; print(tiny.__file__)'"
    done = started.output(f"{pip} install -q --no-index ./tiny-1-py3-none-any.whl && {show}")
    assert done == "/work/.venv/lib/python3.11/site-packages/tiny.py\n"
    assert "tiny==1" in started.output("pip freeze; python -m pip list --format=freeze").splitlines()
    assert started.run("pip uninstall -y tiny && ! python -c 'import tiny'").exit_code == 0
    assert started.output("pip --version").startswith("pip by uv ")


@DOCKER
def test_pip_installs_into_the_environment_that_is_active(
    start: Callable[..., Machine],
) -> None:
    started = start("docker")
    wheel(started.work)
    started.run("uv venv -q mine && . mine/bin/activate")
    started.run("pip install --no-index ./tiny-1-py3-none-any.whl")
    assert list((started.work / "mine").rglob("tiny.py"))
    assert not (started.work / ".venv").exists()


def wheel(folder: Path) -> None:
    """A package of one module, as pip takes it without any network."""
    with zipfile.ZipFile(folder / "tiny-1-py3-none-any.whl", "w") as archive:
        archive.writestr("tiny.py", "")
        archive.writestr("tiny-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n")
        archive.writestr(
            "tiny-1.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: a test\nTag: py3-none-any\n"
        )
        archive.writestr("tiny-1.dist-info/RECORD", "tiny.py,,\n")


@DOCKER
def test_an_image_that_is_there_is_not_built_again() -> None:
    heard = Heard()
    name = image()
    assert asyncio.run(ensure_image(base_image(), heard, may_build=False)) == name
    assert asyncio.run(ensure_image(base_image(), heard)) == name
    assert (heard.said, heard.passing) == ([], [])


@DOCKER
def test_an_image_that_is_missing_and_may_not_be_built_is_refused_with_the_command() -> None:
    with pytest.raises(Refusal, match="is missing, and this command does not build it") as caught:
        asyncio.run(ensure_image("vera-test-nonesuch:1", Heard(), may_build=False))
    assert caught.value.hint == "vera build"


@DOCKER
def test_building_on_a_base_image_that_nobody_has_is_one_sentence() -> None:
    heard = Heard()
    with pytest.raises(BoxError, match=r"base image localhost:1/vera-test-nonesuch:1 .*\.$") as caught:
        asyncio.run(build_image("localhost:1/vera-test-nonesuch:1", heard))
    assert caught.value.hint.startswith("docker images")
    assert heard.said[0].startswith("building the sandbox image vera-sandbox:")
    assert any("Step 1" in line or "FROM" in line or "internal" in line for line in heard.passing)


@pytest.fixture
def foreign(tmp_path: Path) -> object:
    """An image whose programs are made for a processor that this machine has not."""
    machine = 243 if os.uname().machine != "riscv64" else 62
    program = b"\x7fELF\x02\x01\x01" + bytes(9) + (2).to_bytes(2, "little") + machine.to_bytes(2, "little")
    for name in ("sh", "python3"):
        file = tmp_path / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(program + bytes(100))
        file.chmod(0o755)
    archive = subprocess.run(["tar", "-C", tmp_path, "-c", "bin"], capture_output=True, check=True).stdout
    name = "vera-test-foreign:1"
    subprocess.run(["docker", "import", "-", name], input=archive, capture_output=True, check=True)
    yield name
    subprocess.run(["docker", "rmi", "--force", name], capture_output=True, check=True)


@DOCKER
def test_an_image_of_another_architecture_is_one_sentence(
    foreign: str, start: Callable[..., Machine]
) -> None:
    with pytest.raises(BoxError, match="made for another processor architecture") as caught:
        start("docker", image=foreign)
    assert caught.value.hint == "vera build"
    with pytest.raises(
        BoxError, match="base image vera-test-foreign:1 is made for another processor"
    ) as caught:
        asyncio.run(build_image(foreign, Heard()))
    assert caught.value.hint == "vera build --base-image debian:bookworm-slim"


@DOCKER
def test_runs_that_start_together_build_once(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []

    async def build_slowly(base: str, *_: object) -> str:
        await asyncio.sleep(0.3)
        built.append(base)
        return ""

    monkeypatch.setattr("vera.sandbox.image.build_image", build_slowly)
    monkeypatch.setattr("vera.sandbox.image.exists", lambda name: bool(built))
    heard = Heard()

    async def together() -> None:
        await asyncio.gather(*(ensure_image("any:1", heard) for _ in range(3)))

    asyncio.run(together())
    assert built == ["any:1"]
    assert heard.said == ["another run builds the sandbox image; waiting for it …"] * 2


@DOCKER
def test_what_exists_is_asked_of_the_engine() -> None:
    assert exists(image())
    assert not exists("vera-test-nonesuch:1")
