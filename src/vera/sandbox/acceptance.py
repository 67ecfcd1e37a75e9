"""The acceptance probes of a backend: a real box in which a program tries to get out, and what it managed."""

import contextlib
import json
import os
import socket
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import msgspec

from vera.decode_errors import DECODE_ERRORS
from vera.sandbox.backends import open_box
from vera.sandbox.spec import BoxSpec, MiB
from vera.sandbox.types import BoxError

PROGRAM = Path(__file__).with_name("probes.py")
SECONDS = 120.0
# Small, so that going over them is quick.
LIMITED = BoxSpec(work=Path(), pids=64, memory=192 * MiB, fsize=32 * MiB, tmp=16 * MiB)
PROBED_LIMITS = ("pids", "memory", "fsize", "tmp")

BY_DESIGN = frozenset({"fifo in /work", "exec from /work"})
# Root inside may change its own root, has the few capabilities that apt needs, and is the supervisor's equal.
BY_DESIGN_IN_LAB = BY_DESIGN | {
    "write /usr",
    "write /etc",
    "write /",
    "root-owned setuid file in /work",
    "descriptors of the supervisor",
    "capabilities",
    "capabilities to come",
}


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One probe: what was tried, whether it worked, and whether it may."""

    name: str
    worked: bool
    by_design: bool

    @property
    def is_opening(self) -> bool:
        return self.worked and not self.by_design


class Acceptance(msgspec.Struct, frozen=True, kw_only=True):
    """What the probes found in a box of that backend."""

    backend: str
    isolation: str
    attempts: list[Attempt]

    @property
    def openings(self) -> list[str]:
        return [attempt.name for attempt in self.attempts if attempt.is_opening]


async def probe(
    backend: str,
    profile: Literal["sealed", "research", "lab"] = "research",
    image: Callable[[], Awaitable[str]] | None = None,
) -> Acceptance:
    """Probe a box as `backend` (or auto) starts it. Raises BoxError where there is none that isolates."""
    if backend in ("host", "none"):
        raise BoxError(
            f"With the sandbox {backend!r} there is nothing to probe: it isolates nothing.",
            hint="vera doctor --sandbox -c sandbox.backend=auto",
        )
    with tempfile.TemporaryDirectory(prefix="vera-probes-") as folder, _host_side(Path(folder)) as offered:
        root = Path(folder)
        root.chmod(0o755)
        work, documents = root / "work", root / "input"
        work.mkdir()
        documents.mkdir()
        spec = replace(LIMITED, work=work, input=documents, profile=profile)
        box = await open_box(backend, spec, image=image)
        try:
            (work / PROGRAM.name).write_bytes(PROGRAM.read_bytes())
            limits = json.dumps({**{name: getattr(LIMITED, name) for name in PROBED_LIMITS}, **offered})
            result = await box.run(f"python3 -I {PROGRAM.name} '{limits}'", timeout=SECONDS)
        finally:
            await box.close()
    try:
        worked = msgspec.json.decode(result.head + result.tail, type=dict[str, bool])
    except DECODE_ERRORS:
        said = (result.head + result.tail)[-300:].decode("utf-8", "replace").strip()
        raise BoxError(
            f"The probes did not run in the {box.backend} sandbox: {said or result.reason}."
        ) from None
    allowed = BY_DESIGN_IN_LAB if profile == "lab" else BY_DESIGN
    attempts = [Attempt(name=name, worked=did, by_design=name in allowed) for name, did in worked.items()]
    return Acceptance(backend=box.backend, isolation=box.isolation, attempts=attempts)


@contextlib.contextmanager
def _host_side(folder: Path) -> Iterator[dict[str, object]]:
    """What a box must not reach: a server on all addresses, an abstract socket, a file, a variable."""
    name = f"vera-probes-{os.getpid()}"
    secret = folder / "secret"
    secret.write_text("secret")
    before = os.environ.get("PROBE_SECRET")
    os.environ["PROBE_SECRET"] = "1"
    try:
        with socket.create_server(("0.0.0.0", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
            abstract.bind("\0" + name)
            abstract.listen()
            yield {"port": server.getsockname()[1], "abstract": name, "secret": str(secret)}
    finally:
        if before is None:
            del os.environ["PROBE_SECRET"]
        else:
            os.environ["PROBE_SECRET"] = before
