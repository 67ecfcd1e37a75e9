"""The registry of backends, in the order in which they are tried."""

import asyncio
from collections.abc import Callable

from vera.sandbox.backends.bubblewrap import Bubblewrap
from vera.sandbox.backends.docker import Docker
from vera.sandbox.backends.host import Host
from vera.sandbox.box import Limits, SupervisedBox
from vera.sandbox.spec import Backend, BoxSpec
from vera.sandbox.types import BoxError

BACKENDS: tuple[Backend, ...] = (Docker(), Bubblewrap(), Host())
# Only when spelled out: it isolates nothing.
NEVER_CHOSEN = frozenset({"host"})


def choose(name: str = "auto") -> tuple[Backend, ...]:
    """The backends to try, in order: for `auto` all that isolate, for `none` no one, else the one named.

    Raises BoxError for an unknown name.
    """
    if name == "auto":
        return tuple(backend for backend in BACKENDS if backend.name not in NEVER_CHOSEN)
    if name == "none":
        return ()
    named = tuple(backend for backend in BACKENDS if backend.name == name)
    if not named:
        known = ", ".join(["auto", *(backend.name for backend in BACKENDS), "none"])
        raise BoxError(f"There is no sandbox backend {name!r}; there are {known}.", hint="vera doctor")
    return named


async def open_box(
    name: str,
    spec: BoxSpec,
    *,
    limits: Limits | None = None,
    log: Callable[[bytes], object] | None = None,
) -> SupervisedBox:
    """A started box of the first backend that can. Raises BoxError with what each of them said."""
    errors: list[BoxError] = []
    for backend in choose(name):
        try:
            launch = await asyncio.to_thread(backend.launch, spec)
            box = SupervisedBox(launch, limits=limits, log=log)
            await box.start()
        except BoxError as error:
            errors.append(error)
        else:
            return box
    if len(errors) == 1:
        raise errors[0]
    said = " ".join(str(error) for error in errors) or "No backend was asked for."
    hint = next((error.hint for error in errors if error.hint), "vera doctor")
    raise BoxError(f"There is no sandbox to run commands in. {said}", hint=hint)
