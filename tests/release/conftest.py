"""What the tests of a release share: the release, the wheels that it needs, and the image, each made once."""

import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.box_image import base_image
from support.releases import ROOT, download, one, typed


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `.ci/release` makes from the last commit."""
    folder = tmp_path_factory.mktemp("release") / "dist"
    typed(ROOT / ".ci" / "release", folder)
    return folder


@pytest.fixture(scope="session")
def wheel(release: Path) -> Path:
    return one(release, "*.whl")


@pytest.fixture(scope="session")
def wheels(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, and every package that it needs, for the Python that runs the tests."""
    folder = tmp_path_factory.mktemp("wheels")
    download(folder, f"{sys.version_info.major}.{sys.version_info.minor}", f"{wheel}[cluster]")
    return folder


@pytest.fixture(scope="session")
def python_of_base() -> str:
    """The version of Python in the image that containers are made from."""
    version = "import sys; print('%d.%d' % sys.version_info[:2])"
    return typed("docker", "run", "--rm", base_image(), "python3", "-c", version).strip()


@pytest.fixture(scope="session")
def context(wheel: Path, python_of_base: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The working tree with a folder of wheels, and with files of secrets, as a builder gets it."""
    place = tmp_path_factory.mktemp("context")
    shutil.copytree(ROOT / "src", place / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "deploy", place / "deploy", ignore=shutil.ignore_patterns("wheels"))
    for name in ("pyproject.toml", "README.md", "LICENSE", ".dockerignore"):
        shutil.copy(ROOT / name, place)
    for name in (".env", "src/vera/.env", "deploy/.env", "deploy/wheels/.env"):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text("OPENAI_API_KEY=not-to-be-seen\n")
    download(place / "deploy" / "wheels", python_of_base, f"{wheel}[cluster]")
    (place / "deploy" / "wheels" / wheel.name).unlink()  # the image is that of the working tree
    return place


@pytest.fixture(scope="session")
def image(context: Path) -> Iterator[str]:
    """The name of the image that deploy/Dockerfile makes from the working tree."""
    name = f"vera-test-{uuid.uuid4().hex[:12]}"
    dockerfile = context / "deploy" / "Dockerfile"
    # The stage that builds leaves an image without a name, which is found by this label.
    marked = dockerfile.read_text().replace("AS build\n", f"AS build\nLABEL vera.test={name}\n")
    dockerfile.write_text(marked)
    typed("docker", "build", "--build-arg", f"BASE={base_image()}", "-f", dockerfile, "-t", name, context)
    yield name
    subprocess.run(["docker", "rmi", "--force", name], capture_output=True, check=False)
    prune = ["docker", "image", "prune", "--force", "--filter", f"label=vera.test={name}"]
    subprocess.run(prune, capture_output=True, check=False)
