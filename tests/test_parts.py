"""The marker `needs(part)` and the private home, shown by test runs inside test runs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SAMPLE = """
import os, pathlib, pytest

@pytest.mark.needs("ripgrep")
def test_with_ripgrep(): pass

@pytest.mark.needs("ripgrep")
def test_with_ripgrep_too(): pass

@pytest.mark.needs("a part that nobody knows")
def test_with_a_slip_of_the_pen(): pass

def test_of_the_home():
    assert "MODEL_BASE_URL" not in os.environ
    assert "VERA_SOME_SETTING" not in os.environ
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        assert "vera-test-home-" in os.environ[name]
    pathlib.Path.home().joinpath("left-behind").touch()
    pathlib.Path("home").write_text(str(pathlib.Path.home()))

def test_with_a_figure(measured):
    measured("bytes", 12)
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A folder of tests that stands on the same conftest.py as this one."""
    for name in ("conftest.py", "parts.py", "isolation.py"):
        shutil.copy(TESTS / name, tmp_path)
    (tmp_path / "test_sample.py").write_text(SAMPLE)
    return tmp_path


def pytest_run(suite: Path, *argv: str, **environment: str) -> tuple[int, list[str]]:
    """Exit code and output of a test run on a machine without ripgrep."""
    base = [sys.executable, "-m", "pytest", "-c", TESTS.parent / "pyproject.toml", "--rootdir", suite, suite]
    done = subprocess.run(
        [*base, "-p", "no:cacheprovider", "-p", "pytest_timeout", *argv],
        cwd=suite,
        env={**os.environ, "PATH": str(suite), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, (done.stdout + done.stderr).splitlines()


def test_a_missing_part_skips_its_tests_and_the_last_lines_say_how_to_get_it(suite: Path) -> None:
    code, lines = pytest_run(suite, "-k", "ripgrep or figure")
    assert code == 0
    assert "1 passed, 2 skipped" in lines[-1]
    assert lines[-2].startswith("ripgrep (2 tests). To get it: sudo apt install ripgrep")
    assert "not tested on this machine" in lines[-3]
    assert lines[-4] == "bytes: 12"


def test_a_missing_part_that_is_required_is_a_failure(suite: Path) -> None:
    code, lines = pytest_run(suite, "-k", "ripgrep", VERA_REQUIRE="ripgrep")
    assert code == 1
    assert "2 errors" in lines[-1]
    assert any("VERA_REQUIRE has ripgrep, and it is not here" in line for line in lines)


def test_a_required_part_that_nobody_knows_stops_the_run(suite: Path) -> None:
    code, lines = pytest_run(suite, VERA_REQUIRE="dokcer")
    assert code == pytest.ExitCode.USAGE_ERROR
    assert any("VERA_REQUIRE names dokcer" in line for line in lines)


def test_a_marker_that_names_an_unknown_part_is_a_failure(suite: Path) -> None:
    code, lines = pytest_run(suite, "-k", "slip")
    assert code == 1
    assert any("is no part of tests/parts.py" in line for line in lines)


def test_tests_have_a_private_home_that_goes_with_them(suite: Path) -> None:
    code, lines = pytest_run(
        suite, "-k", "of_the_home", MODEL_BASE_URL="http://192.0.2.1/v1", VERA_SOME_SETTING="1"
    )
    assert code == 0, lines
    assert not Path((suite / "home").read_text()).exists()


def test_a_python_of_pyenv_is_found_below_the_real_home(suite: Path) -> None:
    program = suite / "home" / ".pyenv" / "versions" / "3.14.99" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    needing = "import pytest\n@pytest.mark.needs('python3.14')\ndef test_of_a_python(): pass\n"
    (suite / "test_sample.py").write_text(needing)
    code, lines = pytest_run(suite, HOME=str(suite / "home"), PYENV_ROOT="")
    assert code == 0 and "1 passed in" in lines[-1], lines


def test_without_all_and_without_a_path_only_the_quick_tests_run(suite: Path) -> None:
    (suite / "test_sample.py").write_text("def test_quick(): pass\n")
    (suite / "browser").mkdir()
    (suite / "browser" / "test_slow.py").write_text("def test_slow(): pass\n")
    (suite / "test_heavy.py").write_text(
        "import pytest\n@pytest.mark.needs('docker')\ndef test_heavy(): pass\n"
    )
    settings = suite / "pytest.ini"
    settings.write_text("[pytest]\ntestpaths = .\nmarkers = needs(part)\n")
    base = [sys.executable, "-m", "pytest", "-c", str(settings), "--collect-only", "-q"]

    def collected(*argv: str) -> str:
        return subprocess.run(
            [*base, "-p", "no:cacheprovider", *argv], cwd=suite, capture_output=True, text=True, check=True
        ).stdout

    quick = collected()
    assert "test_quick" in quick and "test_slow" not in quick and "test_heavy" not in quick
    assert "quick tests only" in quick
    everything = collected("--all")
    assert "test_slow" in everything and "test_heavy" in everything and "quick tests" not in everything
    assert "test_slow" in collected("browser/test_slow.py")
