"""A first day in a clean Debian: an ordinary user clones the last commit and runs the script in examples/.

The container has no network. pip takes every package from a folder of wheels that was filled before.
"""

import subprocess
import tomllib
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.box_image import base_image
from support.first_day import insist_on_all_steps
from support.releases import ROOT, download, typed

pytestmark = [pytest.mark.needs("docker", "pypi", "git"), pytest.mark.timeout(900)]

DEBIAN = """
FROM {base}
RUN apt-get update && apt-get install -y --no-install-recommends python3-venv && useradd --create-home reader
USER reader
WORKDIR /home/reader
RUN git config --global safe.directory /upstream
ENV PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels
"""
TYPED = "git clone --quiet file:///upstream vera && cd vera && sh examples/first-day.sh"


@pytest.fixture
def debian() -> Iterator[str]:
    """The image of a machine with git, curl and Python's venv, and nothing of VERA."""
    name = f"vera-test-{uuid.uuid4().hex[:12]}"
    dockerfile = DEBIAN.format(base=base_image())
    built = subprocess.run(
        ["docker", "build", "--quiet", "--tag", name, "-"],
        input=dockerfile,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr[-4000:]
    yield name
    subprocess.run(["docker", "rmi", "--force", name], capture_output=True, check=False)


def test_a_first_day_in_a_clean_debian_from_the_clone_on(
    debian: str, python_of_base: str, tmp_path: Path
) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    download(tmp_path / "wheels", python_of_base, *project["dependencies"], *extras["mcp"])
    clone = ["-c", "safe.directory=*", "clone", "--quiet", "--bare", f"file://{ROOT}", tmp_path / "upstream"]
    typed("git", *clone)
    mounts = [f"--volume={tmp_path / name}:/{name}:ro" for name in ("wheels", "upstream")]
    said = typed("docker", "run", "--rm", "--network=none", *mounts, debian, "sh", "-euc", TYPED)
    insist_on_all_steps(said)
    assert "\n== 0. install VERA" in said
