"""Where an attack takes place: an empty folder, and servers on loopback that all attacks share."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from support.attacks import Page, Sites
from support.scripted_server import ScriptedServer
from vera.agent.folders import exams_folder
from vera.sandbox.egress import resolve


class Stage:
    """A server that plays the models of a run, and one that plays the web, for one attack after another."""

    def __init__(self) -> None:
        self.plays: Callable[[int, dict[str, Any]], Any] = _nobody
        self.pages: dict[str, Page] = {}
        self.words: dict[bytes, str] = {}
        """The word of each story that was played: many attacks have the same honest twin."""
        self.models = ScriptedServer(lambda index, body: self.plays(index, body), exam="script")
        self.web = Sites(self.pages)


@dataclass
class Place:
    """What one attack, or its twin, has."""

    folder: Path
    stage: Stage
    patch: pytest.MonkeyPatch
    told: dict[str, Any] = field(default_factory=dict)
    """What came of it, for the message of a test that fails."""


def _nobody(index: int, body: dict[str, Any]) -> Any:
    raise AssertionError("nobody plays")


@contextmanager
def open_stage() -> Iterator[Stage]:
    stage = Stage()
    with ExitStack() as stack:
        stack.enter_context(stage.models)
        stack.enter_context(stage.web)
        yield stage


@contextmanager
def open_place(folder: Path, stage: Stage) -> Iterator[Place]:
    """The sandbox's user may enter the folder, every name of a host ends at the stage's web, and no judge has
    sat an exam yet."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    stage.pages.clear()
    shutil.rmtree(exams_folder(), ignore_errors=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resolve, "_getaddrinfo", Sites.names)
        yield Place(folder, stage, patch)


def deeper(place: Place) -> Place:
    """The same stage with another empty folder, for an attack of several runs."""
    number = sum(each.is_dir() for each in place.folder.iterdir())
    folder = place.folder / f"run-{number}"
    folder.mkdir()
    return Place(folder, place.stage, place.patch, place.told)
