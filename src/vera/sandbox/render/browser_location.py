"""A box with a browser in it: the ways to have one on this machine, and what to say when there is none."""

import asyncio
import os
import shutil
from dataclasses import replace
from pathlib import Path

import msgspec

from vera.sandbox import image, recipe
from vera.sandbox.backends import choose, open_box
from vera.sandbox.box import SupervisedBox
from vera.sandbox.egress.tunnel import Serve
from vera.sandbox.engine_events import Tell
from vera.sandbox.render import chromium
from vera.sandbox.render.rendered import RenderError
from vera.sandbox.spec import BoxSpec
from vera.sandbox.types import BoxError

INSTALL = {
    "bubblewrap": "install both with: sudo apt install chromium bubblewrap",
    "docker": "build the docker image that has one: vera build --browser",
}
INSTEAD = "Until then look for the text at another address or source."


class Way(msgspec.Struct, frozen=True, kw_only=True):
    """A way to have a browser in a box: `program` as the box sees it, from the folder of this machine that
    the box is shown as /input, or from an image."""

    backend: str
    program: str
    folder: Path | None = None
    image: str = ""


class BrowserBox(msgspec.Struct, frozen=True):
    """A started box, and the browser's program as the box sees it."""

    box: SupervisedBox
    program: str


def ways(backend: str, base_image: str) -> tuple[list[Way], dict[str, str]]:
    """The ways that there are under this choice of sandbox, best first, and why the others cannot be used.

    No box is started; asking the docker engine may block for a moment. Raises BoxError for a backend that
    there is not.
    """
    named = [each.name for each in choose(backend)]
    found: list[Way] = []
    problems: dict[str, str] = {}
    if "bubblewrap" in named:
        here = chromium.installed(Path.home(), os.environ)
        if here is None or shutil.which("bwrap") is None:
            missing = "Chromium" if here is None else "bubblewrap"
            problems["bubblewrap"] = f"{missing} is not installed on this machine"
        else:
            found.append(Way(backend="bubblewrap", program=here.program, folder=here.folder))
    if "docker" in named:
        name = recipe.browser_image_name(recipe.image_name(base_image))
        try:
            if image.exists(name):
                found.append(Way(backend="docker", program=chromium.IN_IMAGE, image=name))
            else:
                problems["docker"] = "the docker image with a browser is not built"
        except BoxError as error:
            problems["docker"] = _clause(error)
    return found, problems


async def open_browser_box(
    backend: str, base_image: str, spec: BoxSpec, *, egress: Serve | None, tell: Tell | None = None
) -> BrowserBox:
    """A box of the person's choice of sandbox: bubblewrap with this machine's Chromium comes first, then the
    docker image that has one. An image is never built here. Without `egress` the browser reaches nothing.

    Raises RenderError (`no_browser`) with what to install, BoxError for a backend that there is not.
    """
    found, problems = await asyncio.to_thread(ways, backend, base_image)
    for way in found:
        shown = replace(spec, input=way.folder, image=way.image)
        try:
            return BrowserBox(await open_box(way.backend, shown, egress=egress, tell=tell), way.program)
        except BoxError as error:
            problems[way.backend] = _clause(error)
    raise RenderError(_nothing(backend, problems), "no_browser")


def _clause(error: BoxError) -> str:
    return str(error).rstrip(".")


def _nothing(backend: str, problems: dict[str, str]) -> str:
    if not problems:
        return (
            f"No page can be rendered: a browser needs a sandbox, and this run's is {backend}. {INSTEAD} "
            "(A run with --sandbox auto can render.)"
        )
    ways = "; or ".join(f"{problem} ({INSTALL[name]})" for name, problem in problems.items())
    return f"No page can be rendered, there is no browser for it: {ways}. {INSTEAD}"
