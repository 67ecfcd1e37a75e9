"""A process that holds a box, to be killed by a test: BACKEND WORK IMAGE COMMAND. Says READY when it runs."""

import asyncio
import sys
from pathlib import Path

from vera.sandbox.backends import open_box
from vera.sandbox.spec import BoxSpec


async def main(backend: str, work: str, image: str, command: str) -> None:
    box = await open_box(backend, BoxSpec(work=Path(work), image=image))
    try:
        await box.run("sleep 3000 &", timeout=60)
        busy = asyncio.create_task(box.run(command, timeout=600)) if command else None
        await asyncio.sleep(0.2)
        sys.stdout.write("READY\n")
        sys.stdout.flush()
        await (busy or asyncio.sleep(600))
    finally:
        await box.close()


asyncio.run(main(*sys.argv[1:]))
