"""The wheel as a person uses it who has no source, and no network: pip, uvx and pipx."""

import shutil
import sys
from pathlib import Path

import pytest

from support.releases import ROOT, typed

pytestmark = [pytest.mark.needs("pypi", "ensurepip"), pytest.mark.timeout(900)]
QUESTION = "For how many years must a written offer to provide source be valid under the GPL version 3?"
NOWHERE = {
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "ALL_PROXY": "http://127.0.0.1:9",
}
"""Where a program that asks the network after all finds nothing."""


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `uvx` and `pipx`."""
    environment = tmp_path_factory.mktemp("tools") / "environment"
    typed(sys.executable, "-m", "venv", environment)
    typed(environment / "bin" / "pip", "install", "--quiet", "uv", "pipx")
    return environment / "bin"


@pytest.fixture
def offline(wheels: Path, tmp_path: Path) -> dict[str, str]:
    """The variables that have pip and uv take packages from the folder of wheels alone."""
    place = {"UV_CACHE_DIR": "uv", "PIPX_HOME": "pipx", "PIPX_BIN_DIR": "bin"}
    return {
        **NOWHERE,
        **{name: str(tmp_path / folder) for name, folder in place.items()},
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        "UV_PYTHON": sys.executable,
        "UV_PYTHON_DOWNLOADS": "never",
        "PIPX_DEFAULT_PYTHON": sys.executable,
    }


def test_a_folder_of_wheels_installs_without_a_network_and_the_first_run_is_proved(
    wheels: Path, offline: dict[str, str], tmp_path: Path
) -> None:
    typed(sys.executable, "-m", "venv", "--without-pip", tmp_path / "environment")
    programs = tmp_path / "environment" / "bin"
    pip = [sys.executable, "-m", "pip", "--python", str(programs / "python"), "install", "--quiet"]
    typed(*pip, "--no-compile", "vera-agent[cluster]", **offline)
    shutil.copytree(ROOT / "examples" / "licences", tmp_path / "licences")
    asked = ["run", "--task", QUESTION, "--input-dir", "licences", "--work-dir", "session"]
    said = typed(
        programs / "vera",
        *asked,
        "--model-base-url",
        "builtin",
        "--egress",
        "none",
        "-q",
        cwd=tmp_path,
        **offline,
    )
    assert "at least three years" in said
    assert typed(programs / "vera", "replay", "session", cwd=tmp_path, **offline).count("AGREES") == 3


def test_uvx_runs_the_wheel(
    tools: Path, wheel: Path, wheels: Path, offline: dict[str, str], tmp_path: Path
) -> None:
    from_wheels = ["--no-index", "--find-links", str(wheels), "--from", wheel]
    said = typed(tools / "uvx", *from_wheels, "vera", "--version", cwd=tmp_path, **offline)
    assert said == "vera, version 0.1.0\n"


def test_pipx_runs_and_installs_the_wheel(
    tools: Path, wheel: Path, wheels: Path, offline: dict[str, str], tmp_path: Path
) -> None:
    from_wheels = ["--pip-args", f"--no-index --find-links {wheels}"]
    typed(tools / "pipx", "install", *from_wheels, wheel, cwd=tmp_path, **offline)
    assert typed(tmp_path / "bin" / "vera", "--version", cwd=tmp_path) == "vera, version 0.1.0\n"
    said = typed(
        tools / "pipx", "run", *from_wheels, "--spec", wheel, "vera", "--version", cwd=tmp_path, **offline
    )
    assert said == "vera, version 0.1.0\n"
