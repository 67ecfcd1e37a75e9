"""The registry of backends, in the order in which they are tried."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from vera.sandbox.backends.bubblewrap import Bubblewrap
from vera.sandbox.backends.docker import Docker
from vera.sandbox.backends.host import Host
from vera.sandbox.box import BoxLimits, SupervisedBox
from vera.sandbox.egress.tunnel import Serve
from vera.sandbox.engine_events import Tell
from vera.sandbox.environment import proxy_environment
from vera.sandbox.spec import Backend, BoxSpec
from vera.sandbox.types import BoxError, Refusal

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
    limits: BoxLimits | None = None,
    log: Callable[[bytes], object] | None = None,
    egress: Serve | None = None,
    image: Callable[[], Awaitable[str]] | None = None,
    tell: Tell | None = None,
    passed_over: Callable[[str, BoxError], object] | None = None,
) -> SupervisedBox:
    """A started box of the first backend that can. Raises BoxError with what each of them said.

    `image` is asked for the image where boxes are made from one, and may take long (see `ensure_image`); a
    Refusal of it ends the search. `passed_over` hears which backends could not before one could, and why.
    With `egress` (an `EgressProxy`'s `serve`, of this box alone) its programs find that proxy in their
    environment; without, the box has no way out. A backend with the host's own network ignores it.
    """
    errors: dict[str, BoxError] = {}
    for backend in choose(name):
        try:
            asked = replace(spec, image=await image()) if backend.has_image and image else spec
            way_out = None if backend.has_network else egress
            proxied = replace(asked, env={**proxy_environment(), **spec.env}) if way_out else asked
            launch = await asyncio.to_thread(backend.launch, proxied)
            box = SupervisedBox(launch, limits=limits, log=log, egress=way_out, tell=tell)
            await box.start()
        except Refusal:
            raise
        except BoxError as error:
            errors[backend.name] = error
        else:
            for passed, why in errors.items():
                if passed_over:
                    passed_over(passed, why)
            return box
    raise _none_could(list(errors.values()))


def _none_could(errors: Sequence[BoxError]) -> BoxError:
    """The error for what the backends said, of which none could make a box."""
    if len(errors) == 1:
        return errors[0]
    said = " ".join(str(error) for error in errors) or "No backend was asked for."
    hint = next((error.hint for error in errors if error.hint), "vera doctor")
    return BoxError(f"There is no sandbox to run commands in. {said}", hint=hint)
