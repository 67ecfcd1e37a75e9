"""A browser and a dashboard for each module of tests; the example run is made once."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support import evaluated, licence_run
from support.browsers import launched
from support.dashboards import Dashboard, dashboard_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base folder with the finished session work/example, which nobody may change."""
    base = tmp_path_factory.mktemp("example")
    licence_run.make(base)
    return base


@pytest.fixture(scope="module")
def base(example: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same and a result of `vera eval`, for the tests of a module."""
    base = shutil.copytree(example, tmp_path_factory.mktemp("browser") / "base")
    evaluated.make(base / "work" / "eval-dams")
    return base


@pytest.fixture(scope="module")
def dashboard(base: Path) -> Iterator[Dashboard]:
    """The dashboard of that folder. Runs that are started there have no sandbox, whatever the machine has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VERA_SANDBOX__BACKEND", "none")
        patch.setenv("VERA_EGRESS__MODE", "none")
        with dashboard_of(base, base.parent / "keys" / "token") as dashboard:
            yield dashboard


@pytest.fixture(scope="module")
def playwright() -> "Iterator[Playwright]":
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="module")
def browser(playwright: "Playwright") -> "Iterator[Browser]":
    """A browser whose pages are all seen."""
    with launched(playwright) as browser:
        yield browser
