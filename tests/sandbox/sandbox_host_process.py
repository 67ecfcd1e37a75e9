"""A process that holds a box, to be killed by a test. Says READY when its command runs.

BACKEND WORK IMAGE COMMAND [PROFILE]
"""

import asyncio
import signal
import sys
from pathlib import Path

from vera.sandbox.backends import open_box
from vera.sandbox.spec import BoxSpec


async def main(backend: str, work: str, image: str, command: str, profile: str = "research") -> None:
    spec = BoxSpec(work=Path(work), image=image, profile=profile)  # type: ignore[arg-type] # one of the three
    # With someone to tell, the engine's events are followed by a program that has to end, too.
    box = await open_box(backend, spec, tell=lambda event, detail: None)
    try:
        await box.run("sleep 3000 &", timeout=60)
        busy = asyncio.create_task(box.run(command, timeout=600)) if command else None
        await asyncio.sleep(0.2)
        sys.stdout.write("READY\n")
        sys.stdout.flush()
        await (busy or asyncio.sleep(600))
    finally:
        await box.close()


# Whoever started the tests may have had interrupts ignored (nohup, a background job): not here.
signal.signal(signal.SIGINT, signal.default_int_handler)
asyncio.run(main(*sys.argv[1:]))
