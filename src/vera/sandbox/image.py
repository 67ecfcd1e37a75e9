"""The image of a docker box: whether it is on this machine, and how it comes there.

A run never pulls an image. Building one may pull its base image, and loads packages from Debian and PyPI.
"""

import asyncio
import contextlib
import fcntl
import os
from collections.abc import AsyncIterator
from typing import Protocol

import platformdirs

from vera.sandbox import build, recipe
from vera.sandbox.backends import docker
from vera.sandbox.types import Refusal

LOCK_SECONDS = 0.2


class Progress(Protocol):
    """Where a long wait is shown: lines that stay, and what goes on at this moment."""

    def say(self, line: str) -> None: ...

    def now(self, line: str) -> None: ...


_SEEN: set[str] = set()
"""Images that were here: the engine is asked for each once. One removed since fails when its box starts."""


def exists(name: str) -> bool:
    """Whether the image is on this machine. Raises BoxError when there is no engine to ask."""
    docker.engine()
    if name not in _SEEN:
        shown = docker.client("image", "inspect", "--format={{.Id}}", name)
        if shown is not None and shown.returncode == 0:
            _SEEN.add(name)
    return name in _SEEN


async def ensure_image(base_image: str, progress: Progress, *, may_build: bool = True) -> str:
    """The name of the image, which is built first when it is missing; runs that start together build it once.

    Raises Refusal when it is missing and may not be built, BoxError when building fails or there is no
    engine.
    """
    name = recipe.image_name(base_image)
    if await asyncio.to_thread(exists, name):
        return name
    if not may_build:
        raise Refusal(
            f"The sandbox image {name} is missing, and this command does not build it.",
            hint="vera build",
        )
    async with _one_at_a_time(progress):
        if not await asyncio.to_thread(exists, name):
            await build_image(base_image, progress)
    return name


async def build_image(base_image: str, progress: Progress, *, no_cache: bool = False) -> str:
    """Build the image, whether it is there or not, and return its name. Raises BoxError."""
    await asyncio.to_thread(docker.engine)
    parts = recipe.files()
    name = recipe.image_name(base_image, parts)
    loop = asyncio.get_running_loop()
    began = loop.time()
    progress.say(f"building the sandbox image {name} on {base_image} (once, about a minute) …")
    await build.run(base_image, name, recipe.archive(parts), progress.now, no_cache=no_cache)
    progress.say(f"built {name} in {loop.time() - began:.0f} s")
    return name


async def build_browser_image(base_image: str, progress: Progress, *, no_cache: bool = False) -> str:
    """Build the image with a browser, on the sandbox image, which is built first when it is missing; its
    name. Raises BoxError."""
    sandbox = await ensure_image(base_image, progress)
    name = recipe.browser_image_name(sandbox)
    loop = asyncio.get_running_loop()
    began = loop.time()
    progress.say(f"building the image with a browser {name} on {sandbox} (once, about a minute) …")
    archive = recipe.archive(recipe.browser_files())
    await build.run(sandbox, name, archive, progress.now, no_cache=no_cache)
    progress.say(f"built {name} in {loop.time() - began:.0f} s")
    return name


@contextlib.asynccontextmanager
async def _one_at_a_time(progress: Progress) -> AsyncIterator[None]:
    folder = platformdirs.user_cache_path("vera", appauthor=False)
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder / "image.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    waiting = False
    try:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not waiting:
                    progress.say("another run builds the sandbox image; waiting for it …")
                    waiting = True
                await asyncio.sleep(LOCK_SECONDS)
        yield
    finally:
        os.close(lock)
