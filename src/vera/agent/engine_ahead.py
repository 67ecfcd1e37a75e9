"""What is asked of the container engine before there is a session, so that nobody waits for it after."""

import asyncio
import contextlib

from vera.agent import box_ahead
from vera.config.settings import AUTO, BUILT_IN, Settings
from vera.sandbox import image, recipe
from vera.sandbox.backends import choose
from vera.sandbox.types import BoxError


class Engine:
    """The engine, asked in a thread while the run looks for its model. `ready` waits for its answers."""

    def __init__(self, settings: Settings) -> None:
        self._backend = settings.sandbox.backend
        self._base_image = settings.sandbox.base_image
        self._asked: asyncio.Task[None] | None = None
        # Where the model may turn out to be the built-in one no box may be wanted: nothing is asked yet.
        may_be_builtin = settings.model.file is None and settings.model.base_url in ("", AUTO, BUILT_IN)
        if not may_be_builtin and not box_ahead.is_waiting():
            self._asked = asyncio.create_task(asyncio.to_thread(self._ask))

    async def ready(self) -> None:
        """The boxes of the dead are gone, and what could be known of the engine is. Raises BoxError for a
        backend that there is not."""
        if self._asked is None:
            self._asked = asyncio.create_task(asyncio.to_thread(self._ask))
        await asyncio.shield(self._asked)

    async def close(self) -> None:
        """Wait for what was asked; its problems are of no interest any more."""
        if self._asked is not None:
            await asyncio.gather(self._asked, return_exceptions=True)

    def _ask(self) -> None:
        backends = choose(self._backend)
        for backend in backends:
            backend.reap()
        # What is wrong is said when the box starts: here only the answers are looked up that it will need.
        with contextlib.suppress(BoxError):
            if any(backend.has_image for backend in backends):
                name = recipe.image_name(self._base_image)
                image.exists(name)
                image.exists(recipe.browser_image_name(name))
