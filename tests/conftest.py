"""What every test stands on: a private home, the real parts that it names, and a place for figures.

- `@pytest.mark.needs("docker")`: skipped on a machine without it, and the last lines of the run say what was
  not tested and how to get it. In `VERA_REQUIRE=docker,llama` a missing part is a failure.
- `measured("installed MiB", 41.5)`: a figure that the last lines of the run show.
- Without `--all` and without a path the quick tests run: none of QUICK_WITHOUT, and none that needs a part
  of HEAVY.
- With `-n` (pytest-xdist) each worker has a home, and the last lines are those of all workers together.
"""

import gc
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import platformdirs
import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))  # for checks and choosing

import isolation
import parts

REQUIRE = "VERA_REQUIRE"

# How long an example takes is the machine's load and no failure: what time costs is measured in benchmarks/.
hypothesis.settings.register_profile(
    "vera", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("vera")

QUICK_WITHOUT = frozenset(
    (
        "assurance",
        "batch",
        "bench",
        "browser",
        "end_to_end",
        "redteam",
        "release",
        "sandbox",
        "test_audit_containment_licences.py",
        "test_bootstrap.py",
        "test_check_in_ci.py",
        "test_cli_surroundings.py",
        "test_cli_watch.py",
        "test_corpus_containers.py",
        "test_dashboard_runs.py",
        "test_dashboard_runs_keys.py",
        "test_dashboard_stop.py",
        "test_dashboard_stream.py",
        "test_docs_site.py",
        "test_docs_typed.py",
        "test_extraction_ocr.py",
        "test_gates_no_deadlock.py",
        "test_install.py",
        "test_interop_inspect.py",
        "test_lane_monkey.py",
        "test_runtime_reuse_web.py",
        "test_security_altered.py",
        "test_security_bad_input.py",
        "test_security_found_servers.py",
        "test_security_hidden_text.py",
        "test_security_laundering.py",
        "test_security_routes.py",
        "test_security_trust.py",
        "test_service_chat_clients.py",
        "test_service_how_to.py",
        "test_service_real.py",
    )
)
"""Folders and modules that start the whole program, a browser or a sandbox, have a model write for minutes,
or measure: most of the time."""
HEAVY = frozenset(
    ("bubblewrap", "browser", "chromium", "docker", "inspect", "postgres", "promtool", "pypi", "smollm2")
)

required = pytest.StashKey[frozenset[str]]()
untested = pytest.StashKey[Counter[str]]()
left_out = pytest.StashKey[int]()
figures = pytest.StashKey[list[str]]()
undo = pytest.StashKey[dict[str, str | None]]()
home = pytest.StashKey[Path]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="Run the slow tests too: about half an hour.")
    parser.addoption(
        "--repeat-more",
        action="store_true",
        help="Repeat what can go wrong by chance 20 times instead of 3, try all attacks, not a third, and"
        " kill runs behind every record, not behind some.",
    )


@pytest.fixture(scope="session")
def repeats(pytestconfig: pytest.Config) -> int:
    """How often a test repeats what can go wrong by chance."""
    return 20 if pytestconfig.getoption("--repeat-more") else 3


@pytest.fixture(scope="session")
def repeat_more(pytestconfig: pytest.Config) -> bool:
    return bool(pytestconfig.getoption("--repeat-more"))


def pytest_configure(config: pytest.Config) -> None:
    names = frozenset(name.strip() for name in os.environ.get(REQUIRE, "").split(",") if name.strip())
    if unknown := names - parts.PARTS.keys():
        raise pytest.UsageError(
            f"{REQUIRE} names {', '.join(sorted(unknown))}, which is no part of this table: "
            f"{', '.join(parts.PARTS)}."
        )
    config.stash[required] = names
    config.stash[untested] = Counter()
    config.stash[figures] = []
    # Here and not in a fixture: modules under test are imported while tests are collected.
    config.stash[home] = Path(tempfile.mkdtemp(prefix="vera-test-home-"))
    config.stash[undo] = isolation.apply(isolation.private_environment(config.stash[home]))


def pytest_unconfigure(config: pytest.Config) -> None:
    if undo in config.stash:
        isolation.apply(config.stash[undo])
        shutil.rmtree(config.stash[home], ignore_errors=True)


@pytest.fixture(autouse=True)
def no_kept_exams() -> None:
    """A judge's exam is kept under its address, and the next test's server may have the same port."""
    shutil.rmtree(Path(platformdirs.user_cache_dir("vera")) / "exams", ignore_errors=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves the slow tests out of a run that names neither them nor `--all`."""
    if config.getoption("--all") or config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    slow = {item for item in items if _is_slow(item)}
    if slow:
        config.hook.pytest_deselected(items=list(slow))
        items[:] = [item for item in items if item not in slow]
    config.stash[left_out] = len(slow)


def pytest_collection_finish() -> None:
    """What was collected stays until the end, so no garbage collection needs to look at it again."""
    gc.collect()
    gc.freeze()


def _is_slow(item: pytest.Item) -> bool:
    place = item.path.relative_to(Path(__file__).parent).parts
    parts_needed = {name for marker in item.iter_markers("needs") for name in marker.args}
    return not QUICK_WITHOUT.isdisjoint(place) or not HEAVY.isdisjoint(parts_needed)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips or fails a test whose parts are not all here, before any fixture of it starts."""
    for name in [name for marker in item.iter_markers("needs") for name in marker.args]:
        if name not in parts.PARTS:
            pytest.fail(f"needs({name!r}) is no part of tests/parts.py.", pytrace=False)
        if parts.is_here(name):
            continue
        reason = f"needs {name}. To get it: {parts.PARTS[name].how_to_get}"
        if name in item.config.stash[required]:
            pytest.fail(f"{REQUIRE} has {name}, and it is not here: this test {reason}", pytrace=False)
        item.config.stash[untested][name] += 1
        pytest.skip(reason)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In a worker: hands what the last lines say to the process that prints them."""
    output: dict[str, object] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        stash = session.config.stash
        output["last_lines"] = (stash[figures], dict(stash[untested]), stash.get(left_out, 0))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Takes what a worker hands over; one that crashed hands over nothing."""
    lines, parts_missing, slow = getattr(node, "workeroutput", {}).get("last_lines", ([], {}, 0))
    stash = node.config.stash
    stash[figures] += lines
    stash[untested].update(parts_missing)
    stash[left_out] = max(slow, stash.get(left_out, 0))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> Iterator[None]:
    yield  # everything else speaks first: these lines are the last before the count
    if config.stash[figures]:
        terminalreporter.section("measured")
        for line in config.stash[figures]:
            terminalreporter.line(line)
    if slow := config.stash.get(left_out, 0):
        terminalreporter.section("quick tests only")
        terminalreporter.line(f"{slow} that start the whole program, a browser or a sandbox: --all")
    if config.stash[untested]:
        terminalreporter.section("not tested on this machine")
        for name, count in sorted(config.stash[untested].items()):
            tests = "1 test" if count == 1 else f"{count} tests"
            terminalreporter.line(f"{name} ({tests}). To get it: {parts.PARTS[name].how_to_get}")


@pytest.fixture(scope="session")
def measured(pytestconfig: pytest.Config) -> Callable[[str, object], None]:
    """Keeps a named figure for the last lines of the run."""
    return lambda name, value: pytestconfig.stash[figures].append(f"{name}: {value}")
