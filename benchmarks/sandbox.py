"""The sandbox beside `docker exec` and a bare `docker run`: interleaved, in one run, on the real engine.

python3 run.py build && .venv/bin/python benchmarks/sandbox.py

Prints Markdown tables: what a command costs, how long a start takes, what 100 MB of output take. The image is
that of the settings (VERA_BASE_IMAGE counts). In each round every way has its turn; the first round warms all
of them and does not count.
"""

import asyncio
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

from vera.config import load
from vera.sandbox import recipe
from vera.sandbox.backends import open_box
from vera.sandbox.box import SupervisedBox
from vera.sandbox.image import exists
from vera.sandbox.spec import BoxSpec

ROUNDS = 40
MEGABYTES = 100
FLOOD = f"head -c {MEGABYTES * 1_000_000} /dev/zero"
BACKENDS = ("docker", "bubblewrap", "host")
BASELINE_LIMITS = ("--network=none", "--memory=2g", "--pids-limit=256")

# What a program that takes the output of `docker exec` into memory, as harnesses do, needs of it (KiB).
CAPTURE = """\
import resource, subprocess, sys
subprocess.run(sys.argv[1:], capture_output=True, check=True)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""

Way = Callable[[], Awaitable[float]]
"""Does something once; the seconds that it took."""


async def interleaved(ways: dict[str, Way], rounds: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, way in ways.items():
            seconds = await way()
            if number:
                found[name].append(seconds)
    return found


def table(title: str, found: dict[str, list[float]], baseline: str) -> None:
    print(f"\n{title} (ms, {len(found[baseline])} rounds)\n\n| way | median | p95 | beside {baseline} |")
    print("|---|---:|---:|---:|")
    reference = statistics.median(found[baseline])
    for name, seconds in found.items():
        median = statistics.median(seconds)
        p95 = statistics.quantiles(seconds, n=20)[-1]
        print(f"| {name} | {median * 1000:.1f} | {p95 * 1000:.1f} | {median / reference:.3f} |")


def said(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


def program(*argv: str) -> Way:
    """A program run to its end; what it prints is read and thrown away."""

    async def way() -> float:
        began = time.perf_counter()
        process = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE)
        assert process.stdout is not None
        while await process.stdout.read(1 << 20):
            pass
        assert await process.wait() == 0, argv
        return time.perf_counter() - began

    return way


def command(box: SupervisedBox, text: str) -> Way:
    async def way() -> float:
        began = time.perf_counter()
        result = await box.run(text, timeout=120)
        assert result.exit_code == 0, result
        return time.perf_counter() - began

    return way


def first_result(backend: str, image: str, work: Path) -> Way:
    """From nothing to the result of a box's first command. Ending it is not counted."""

    async def way() -> float:
        began = time.perf_counter()
        # As in a session: the engine's events are followed from here on.
        box = await open_box(backend, BoxSpec(work=work, image=image), tell=lambda event, detail: None)
        await box.run("true", timeout=60)
        seconds = time.perf_counter() - began
        await box.close()
        return seconds

    return way


async def peak_of_supervisor(box: SupervisedBox) -> int:
    result = await box.run("awk '/VmHWM/ { print $2 }' /proc/$PPID/status", timeout=10)
    return int(result.head)


def peak_of_this_process() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    raise SystemExit("This system does not say how much memory a process has taken.")


async def main() -> None:
    image = recipe.image_name(load().settings.sandbox.base_image)
    if not exists(image):
        raise SystemExit(f"There is no image {image}. Type: python3 run.py build")
    engine = said("docker", "version", "--format", "{{.Server.Version}}")
    load_average = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"{os.cpu_count()} processors, load {load_average}; Linux {platform.release()}, Docker {engine}, "
          f"Python {platform.python_version()}; image {image}")  # fmt: skip

    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="vera-benchmark-")))
        folder.chmod(0o755)
        works = {backend: folder / backend for backend in BACKENDS}
        for work in works.values():
            work.mkdir()
        container = said("docker", "run", "--detach", "--rm", *BASELINE_LIMITS, image, "sleep", "infinity")
        stack.callback(said, "docker", "rm", "--force", container)
        boxes = {}
        for backend, work in works.items():
            box = await open_box(backend, BoxSpec(work=work, image=image))
            stack.push_async_callback(box.close)
            boxes[backend] = box

        execution = ("docker", "exec", container, "bash", "-c")
        found = await interleaved(
            {
                "docker exec": program(*execution, "true"),
                **{f"sandbox on {backend}": command(box, "true") for backend, box in boxes.items()},
            },
            ROUNDS,
        )
        table("A command, `true`", found, "docker exec")

        starts = {
            f"sandbox on {backend}": first_result(backend, image, works[backend]) for backend in BACKENDS
        }
        bare = {
            "docker run --rm": program("docker", "run", "--rm", image, "true"),
            "docker run --rm --network=none": program(
                "docker", "run", "--rm", "--network=none", image, "true"
            ),
        }
        found = await interleaved({**bare, **starts}, ROUNDS // 2)
        table("From nothing to the first result", found, "docker run --rm")

        found = await interleaved(
            {
                "docker exec": program(*execution, FLOOD),
                **{f"sandbox on {backend}": command(box, FLOOD) for backend, box in boxes.items()},
            },
            ROUNDS // 2,
        )
        table(f"{MEGABYTES} MB of output", found, "docker exec")

        print("\nPeak memory of that (MiB)\n\n| process | MiB |\n|---|---:|")
        for backend, box in boxes.items():
            print(f"| supervisor on {backend} | {await peak_of_supervisor(box) / 1024:.0f} |")
        print(f"| the host side of all three, this program included | {peak_of_this_process() / 1024:.0f} |")
        peak = said(sys.executable, "-c", CAPTURE, *execution, FLOOD)
        print(f"| a program that takes `docker exec` into memory | {int(peak) / 1024:.0f} |")


if __name__ == "__main__":
    asyncio.run(main())
