"""The probe that every backend shares: start a real box, run a command in it, end it."""

import asyncio
from collections.abc import Awaitable, Callable

from vera.sandbox.box import SupervisedBox
from vera.sandbox.spec import Backend, BoxSpec, Report
from vera.sandbox.types import BoxError

SECONDS = 60.0


async def start(
    backend: Backend,
    spec: BoxSpec,
    *,
    says: str,
    check: Callable[[SupervisedBox], Awaitable[str]] | None = None,
) -> Report:
    """A report with `says` when the box starts and `check` returns no complaint (a sentence)."""
    try:
        launch = await asyncio.to_thread(backend.launch, spec)
        box = SupervisedBox(launch, start_timeout=SECONDS)
        await box.start()
        try:
            result = await box.run("echo ready", timeout=SECONDS)
            if result.head != b"ready\n":
                return Report(
                    backend=backend.name, ok=False, reason="It starts, but its shell does not answer."
                )
            complaint = await check(box) if check else ""
        finally:
            await box.close()
    except BoxError as error:
        return Report(backend=backend.name, ok=False, reason=str(error), hint=error.hint)
    return Report(backend=backend.name, ok=not complaint, reason=complaint or says)
