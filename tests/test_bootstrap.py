"""run.py, from a clone on a machine that has Python and nothing else, to the `vera` command.

Most of it is told with a miniature project in place of VERA. It has no dependencies and builds itself, so
that real environments and the real pip do what is said here in seconds and without a network.
"""

import ast
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[1]
EXIT_NOT_READY = 5
PATIENCE = 120.0

pytestmark = pytest.mark.needs("ensurepip")

MINIATURE = {
    "pyproject.toml": """
        [build-system]
        requires = []
        build-backend = "backend"
        backend-path = ["."]
        [project]
        name = "vera-agent"
        version = "1"
        [dependency-groups]
        test = []
        """,
    # A PEP 660 backend. It fails or waits when a file in the project asks it to.
    "backend.py": """
        import pathlib, time, zipfile

        def build_editable(folder, config_settings=None, metadata_directory=None):
            if pathlib.Path("fail").exists():
                raise SystemExit("the backend of the miniature project was asked to fail")
            pathlib.Path("building").touch()
            while pathlib.Path("wait").exists():
                time.sleep(0.02)
            info = "vera_agent-1.dist-info/"
            with zipfile.ZipFile(pathlib.Path(folder, "vera_agent-1-py3-none-any.whl"), "w") as wheel:
                wheel.writestr("vera_agent.pth", str(pathlib.Path("src").resolve()))
                wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: vera-agent\\nVersion: 1\\n")
                wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\n")
                wheel.writestr(info + "RECORD", "")
            return "vera_agent-1-py3-none-any.whl"
        """,
    "src/vera/__init__.py": "",
    "src/vera/__main__.py": """
        import json, os, sys
        print(json.dumps({"argv": sys.argv[1:], "cwd": os.getcwd(), "prefix": sys.prefix}))
        sys.exit(3)
        """,
    "src/pytest.py": """
        import json, os, sys
        print(json.dumps({"pytest": sys.argv[1:], "cwd": os.getcwd()}))
        sys.exit(1)
        """,
}


def plant(folder: Path) -> Path:
    """A clone of the miniature project with the real run.py."""
    for name, text in MINIATURE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(dedent(text))
    shutil.copy(ROOT / "run.py", folder)
    return folder


def start(clone: Path, *argv: str, cwd: Path | None = None, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, clone / "run.py", *argv],
        cwd=cwd or clone,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(clone: Path, *argv: str, cwd: Path | None = None, **environment: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of `python3 run.py` with these arguments."""
    process = start(clone, *argv, cwd=cwd, **environment)
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "what this test waits for did not happen"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone that has been started once. A test that harms it also shows how it is mended."""
    clone = plant(tmp_path_factory.mktemp("clone"))
    code, out, err = run(clone, "first", "start")
    assert (code, json.loads(out)["argv"]) == (3, ["first", "start"])
    assert err.startswith("Installing VERA into ")
    assert len(err.splitlines()) == 1
    return clone


def test_it_becomes_the_command_in_the_persons_folder(clone: Path, tmp_path: Path) -> None:
    code, out, _ = run(clone, "run", "a question", "--json", cwd=tmp_path)
    assert code == 3
    assert json.loads(out) == {
        "argv": ["run", "a question", "--json"],
        "cwd": str(tmp_path),
        "prefix": str(clone / ".venv"),
    }


def test_the_second_start_says_nothing_and_calls_no_pip(clone: Path, tmp_path: Path) -> None:
    _, out, err = run(clone, "again", PIP_LOG=str(tmp_path / "pip.log"))
    assert json.loads(out)["argv"] == ["again"]
    assert err == ""
    assert not (tmp_path / "pip.log").exists()


def test_a_file_of_the_person_named_like_a_module_is_not_imported(clone: Path, tmp_path: Path) -> None:
    for name in ("vera.py", "json.py"):
        (tmp_path / name).write_text("raise SystemExit('imported from the wrong place')")
    code, out, err = run(clone, cwd=tmp_path)
    assert (code, err) == (3, "")
    assert json.loads(out)["cwd"] == str(tmp_path)


def test_tests_run_in_the_clone_with_their_arguments_and_exit_code(clone: Path, tmp_path: Path) -> None:
    code, out, err = run(clone, "test", "-k", "some", cwd=tmp_path)
    assert (code, json.loads(out)) == (1, {"pytest": ["-k", "some"], "cwd": str(clone)})
    assert err.startswith("Installing VERA and what its tests need into ")
    _, out, err = run(clone, "test", cwd=tmp_path)
    assert (json.loads(out)["pytest"][0], err) == ("-n", "")


def test_a_changed_project_file_is_installed_again(clone: Path, tmp_path: Path) -> None:
    with (clone / "pyproject.toml").open("a") as project:
        project.write("# changed\n")
    _, _, err = run(clone, PIP_LOG=str(tmp_path / "pip.log"))
    assert err.startswith("Installing VERA into ")
    assert (tmp_path / "pip.log").exists()
    assert run(clone)[2] == ""


def test_a_failed_installation_ends_with_the_last_lines_of_pip_and_harms_nothing(clone: Path) -> None:
    good = (clone / "pyproject.toml").read_text()
    (clone / "fail").touch()
    (clone / "pyproject.toml").write_text(good + "# newer\n")
    code, out, err = run(clone)
    (clone / "fail").unlink()
    assert (code, out) == (EXIT_NOT_READY, "")
    assert "VERA could not be installed: pip ended with exit code 1, and said:\n  " in err
    assert "type the same command again" in err
    assert "Traceback" not in err
    assert "asked to fail" in (clone / ".venv" / "vera-install.log").read_text()

    (clone / "pyproject.toml").write_text(good)
    assert run(clone)[2] == "", "the environment from before was whole, and still is"


def dangling_interpreter(clone: Path) -> Path:
    (clone / ".venv" / "bin" / "python").unlink()
    (clone / ".venv" / "bin" / "python").symlink_to("/nowhere/python3")
    return clone


def unfinished_installation(clone: Path) -> Path:
    (clone / ".venv" / "vera-install-unfinished").touch()
    return clone


def moved_clone(clone: Path) -> Path:
    """The environment has its old place written into its files; the clone is then moved back."""
    return clone.rename(clone.with_name("elsewhere"))


@pytest.mark.parametrize("harm", [dangling_interpreter, unfinished_installation, moved_clone])
def test_a_broken_environment_is_made_afresh(harm: Callable[[Path], Path], clone: Path) -> None:
    stale = clone / ".venv" / "lib" / "stale"
    stale.touch()
    harmed = harm(clone)
    code, out, err = run(harmed)
    assert (code, json.loads(out)["prefix"]) == (3, str(harmed / ".venv"))
    assert err.startswith("Installing VERA into ")
    assert not (harmed / ".venv" / "lib" / "stale").exists()
    assert run(harmed)[2] == ""
    if harmed != clone:
        harmed.rename(clone)


@pytest.fixture
def killed_while_installing(tmp_path: Path) -> Iterator[Path]:
    """A clone whose first start was ended by SIGKILL while its pip works on (until the file `wait` goes)."""
    clone = plant(tmp_path)
    (clone / "wait").touch()
    first = start(clone)
    try:
        wait_for((clone / "building").exists)
        first.send_signal(signal.SIGKILL)
        first.wait(PATIENCE)
        yield clone
    finally:
        (clone / "wait").unlink(missing_ok=True)
        first.kill()
        first.communicate(timeout=PATIENCE)


def test_starts_at_the_same_time_wait_for_one_installation(killed_while_installing: Path) -> None:
    clone = killed_while_installing
    assert not (clone / ".venv" / "vera-installed").exists()
    both = [start(clone, "one"), start(clone, "two")]
    assert all(process.stderr is not None for process in both)
    heard = [process.stderr.readline() for process in both if process.stderr]
    assert heard == ["Another run.py is installing VERA here; waiting for it.\n"] * 2
    (clone / "wait").unlink()
    ends = [process.communicate(timeout=PATIENCE) for process in both]
    assert [json.loads(out)["argv"] for out, _ in ends] == [["one"], ["two"]]
    assert sorted(err.startswith("Installing VERA into ") for _, err in ends) == [False, True]


@pytest.fixture
def without_pip(tmp_path: Path) -> dict[str, str]:
    """The environment of a Debian that has Python, but neither python3-venv nor python3-pip."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(
        "import sys\nsys.modules['ensurepip'] = sys.modules['pip'] = None\n"
    )
    (tmp_path / "bin").mkdir()
    executable(tmp_path / "bin" / "apt-get", "")
    return {"PYTHONPATH": str(tmp_path / "site"), "PATH": str(tmp_path / "bin")}


def executable(path: Path, script: str) -> None:
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)


def test_without_any_way_to_pip_the_line_to_type_is_said(tmp_path: Path, without_pip: dict[str, str]) -> None:
    code, out, err = run(plant(tmp_path / "clone"), **without_pip)
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    sudo = "" if os.geteuid() == 0 else "sudo "
    assert (code, out) == (EXIT_NOT_READY, "")
    assert f" Type:\n  {sudo}apt install python{version}-venv\nthen type the same command again." in err


def test_without_ensurepip_another_tool_on_path_brings_pip(
    tmp_path: Path, without_pip: dict[str, str]
) -> None:
    executable(tmp_path / "bin" / "virtualenv", 'exec "$3/bin/python" -I -m ensurepip --default-pip\n')
    code, out, _ = run(plant(tmp_path / "clone"), "here", **without_pip)
    assert (code, json.loads(out)["argv"]) == (3, ["here"])


def test_a_place_that_cannot_hold_an_environment_is_named(tmp_path: Path) -> None:
    clone = plant(tmp_path)
    (clone / ".venv").write_text("a file of another tool")
    code, _, err = run(clone)
    assert code == EXIT_NOT_READY
    assert err.startswith(f"VERA could not be made ready in {clone / '.venv'}: ")
    assert len(err.splitlines()) == 1


def pretend(change: str) -> tuple[int, str]:
    """Exit code and stderr of run.py after a change to what Python says about itself."""
    code = f"import os, runpy, sys; {change}; runpy.run_path({str(ROOT / 'run.py')!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_an_old_python_gets_one_sentence() -> None:
    code, err = pretend("sys.version_info = (3, 9, 18, 'final', 0)")
    assert code == EXIT_NOT_READY
    assert err.startswith("VERA needs Python 3.11 or newer, and this is Python 3.9 (")
    assert len(err.splitlines()) == 1


def test_an_old_python_can_read_the_file() -> None:
    ast.parse((ROOT / "run.py").read_text(), feature_version=(3, 6))


def test_what_tests_need_is_a_list_that_every_pip_understands() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert all(isinstance(requirement, str) for requirement in project["dependency-groups"]["test"])


def test_windows_is_sent_to_wsl2() -> None:
    code, err = pretend("os.name = 'nt'")
    assert code == EXIT_NOT_READY
    assert "WSL2" in err
    assert len(err.splitlines()) == 1


@pytest.mark.needs("pypi")
@pytest.mark.timeout(900)
def test_a_clone_of_vera_itself_answers_at_its_first_start(tmp_path: Path) -> None:
    for name in ("run.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    process = start(tmp_path, "--version")
    out, err = process.communicate(timeout=600)
    assert (process.returncode, out[:5]) == (0, "vera,"), err
    assert err.startswith("Installing VERA into ")
    code, again, silence = run(tmp_path, "--version")
    assert (code, again, silence) == (0, out, "")
