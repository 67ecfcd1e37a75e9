"""Model servers that were found on this machine, for the form that starts a run."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

from vera.dashboard.run_form import StartForm, with_models
from vera.model.probe import Found, discover

KEPT_SECONDS = 20.0
"""For which what was found is shown again."""

PATIENCE_SECONDS = 0.8
"""What the form waits; who is slower is found when it is opened again."""


class FoundModels:
    """What was found last; nothing is sent to a server but the questions that tell what it is."""

    def __init__(self, look: Callable[[], Awaitable[Sequence[Found]]] = discover) -> None:
        self._look = look
        self._found: Sequence[Found] = ()
        self._looked = -KEPT_SECONDS
        self._looking: asyncio.Task[None] | None = None

    async def on(self, form: StartForm) -> StartForm:
        """The form with the models that were found, where none is configured."""
        if form.locked or form.values.get("model_base_url"):
            return form
        if self._looking is None and time.monotonic() - self._looked >= KEPT_SECONDS:
            self._looking = asyncio.create_task(self._look_again())
        if self._looking is not None:
            await asyncio.wait([self._looking], timeout=PATIENCE_SECONDS)
        return with_models(form, self._found)

    async def _look_again(self) -> None:
        try:
            self._found = [each for each in await self._look() if each.models]
        finally:
            self._looked, self._looking = time.monotonic(), None
