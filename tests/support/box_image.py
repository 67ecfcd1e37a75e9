"""The image of docker boxes on this machine, built from the real Dockerfile when it is not there yet; and
the boxes that are there."""

import asyncio
import json
import os
import subprocess
from functools import cache
from pathlib import Path

import pytest

from vera.config.loading import defaults
from vera.sandbox.image import ensure_image, exists
from vera.sandbox.types import BoxError

BASE_VARIABLE = "VERA_BASE_IMAGE"
# What .ci/run makes.
OWN_BASE = "vera-base:bookworm"


@cache
def base_image() -> str:
    """The one that is named, the one of .ci/run where it is, else the default."""
    named = os.environ.get(BASE_VARIABLE)
    return named or (OWN_BASE if exists(OWN_BASE) else defaults().sandbox.base_image)


def image() -> str:
    """The sandbox's own image, built from the real Dockerfile when this machine does not have it yet."""
    name, problem = build_once()
    if problem:
        # Named on purpose it must be usable; a machine without network is none to blame.
        report = pytest.fail if BASE_VARIABLE in os.environ else pytest.skip
        report(f"{problem} Name an image of this machine, a Debian, in {BASE_VARIABLE}.")
    return name


@cache
def build_once() -> tuple[str, str]:
    """The image's name, and why it could not be built, if so."""
    try:
        return asyncio.run(ensure_image(base_image(), Silent())), ""
    except BoxError as error:
        return "", str(error)


class Silent:
    def say(self, line: str) -> None:
        """Nobody reads it."""

    now = say


def containers(folder: Path) -> list[str]:
    """The names of the docker boxes that were started with something of this folder mounted, in order."""
    shown = subprocess.run(
        ["docker", "ps", "--all", "--no-trunc", "--filter=label=vera.sandbox", "--format={{json .}}"],
        capture_output=True,
        text=True,
        check=False,
    )
    found = [json.loads(line) for line in shown.stdout.splitlines()]
    return sorted(each["Names"] for each in found if f"{folder}/" in each["Mounts"])
