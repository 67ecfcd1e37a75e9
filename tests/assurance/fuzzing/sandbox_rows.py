"""Frames between VERA and a sandbox, both ways; and what a browser in one says of a page."""

import asyncio
import contextlib
import json
import subprocess
import sys
from pathlib import Path
from unittest import mock

from assurance.batteries import Trial
from assurance.fuzzing import mutate
from assurance.fuzzing.row import Row
from vera.sandbox import box, frames
from vera.sandbox.box import SUPERVISOR, BoxLimits, SupervisedBox, supervisor_command
from vera.sandbox.egress.dial import Dialer
from vera.sandbox.egress.policy import NetworkPolicy
from vera.sandbox.egress.proxy import EgressProxy
from vera.sandbox.spec import UNLIMITED, Launch
from vera.sandbox.types import BoxError

# Plays a supervisor: takes the source, answers the start, and says what it was told to say.
HOSTILE = """
import os, sys
def take(n):
    data = b""
    while len(data) < n:
        data += os.read(0, n - len(data)) or sys.exit()
take(int.from_bytes(os.read(0, 4), "big"))
data = memoryview(open(sys.argv[1], "rb").read())
while data:
    data = data[os.write(1, data[:65536]):]
os.read(0, 1)
"""
TOLD = (
    {"ev": "ready", "pid": 7, "python": "3.11.2", "bash": "5.2"},
    {"ev": "net", "do": "listening", "k": 3128},
    {"ev": "net", "do": "open", "c": 1},
    {"ev": "net", "do": "data", "c": 1},
    {"ev": "net", "do": "ack", "c": 1, "k": 5},
    {"ev": "net", "do": "end", "c": 1},
    {"ev": "net", "do": "close", "c": 1},
    {
        "ev": "done",
        "id": "ID",
        "code": 0,
        "size": 5,
        "sha256": "0" * 64,
        "head": 5,
        "cwd": "/work",
        "spool": "",
    },
    {"ev": "done", "id": "ID", "code": None, "reason": "timeout", "shell": "restored", "seconds": 1e9},
    {"ev": "error", "id": "ID", "error": "no"},
    {"ev": "pong", "processes": 3},
)
PAYLOADS = (b"", b"hello", b"GET http://a.test/ HTTP/1.1\r\n\r\n", b"x" * 300_000)


def frame(draw: mutate.Draw, told: dict[str, object]) -> bytes:
    """A frame, whose header and lengths may lie."""
    payload = draw.choice(PAYLOADS)
    if draw.random() < 0.6:
        return frames.encode(told, payload)
    header = mutate.encoded(draw, {**told, "n": draw.choice((len(payload), 0, -5, 1 << 40, 10))})
    size = draw.choice((len(header),) * 5 + (0, 1, 1 << 16, (1 << 32) - 1))
    return size.to_bytes(4, "big") + header + payload


def from_the_box(trial: Trial) -> None:
    """Whatever a box says, it starts and runs commands, or there is a BoxError; nothing waits for ever."""
    draw = trial.random
    said = (
        [frame(draw, told) for told in TOLD[:2]] if draw.random() < 0.2 else [*map(frames.encode, TOLD[:2])]
    )
    said += [frame(draw, draw.choice(TOLD)) for _ in range(draw.choice((1, 5, 40)))]
    words = mutate.data(draw, said) if draw.random() < 0.1 else b"".join(said)
    script = trial.folder / "said"
    launch = Launch(
        backend="hostile",
        isolation="",
        argv=(sys.executable, "-I", "-S", "-c", HOSTILE, str(script)),
        env={},
        remove=lambda: None,
    )

    async def talk() -> None:
        policy = NetworkPolicy.of("none")
        proxy = EgressProxy(policy, Dialer(policy.addresses))
        made = SupervisedBox(
            launch, limits=BoxLimits(grace=0.1), start_timeout=2.0, egress=proxy.serve, proxy_port=0
        )
        script.write_bytes(words.replace(b"ID", f"{made._tag}-0001".encode()))
        try:
            with contextlib.suppress(BoxError):
                await made.start()
                await made.run("echo hello", timeout=0.3)
        finally:
            await made.close()

    with mock.patch.object(box, "ANSWER_SLACK", 0.5), mock.patch.object(box, "CLOSE_SECONDS", 1.0):
        asyncio.run(talk())


ORDERS = (
    {"op": "run", "id": "1", "timeout": 1.0, "grace": 0.1, "head": 99, "tail": 99, "spool": 9, "limit": 1000},
    {"op": "cancel", "id": "1"},
    {"op": "ping"},
    {"op": "net", "do": "listen", "k": 0},
    {"op": "net", "do": "data", "c": 1},
    {"op": "net", "do": "ack", "c": 1, "k": 3},
)


def to_the_box(trial: Trial) -> None:
    """Whatever is said to a supervisor, it ends with its host, in order, and says why where it must."""
    draw = trial.random
    said = b"".join(
        frame(draw, draw.choice(ORDERS)).replace(b"hello", b"echo a") for _ in range(draw.choice((1, 4, 12)))
    )
    source = SUPERVISOR.read_bytes()
    run_dir, work = trial.folder / "run", trial.folder / "work"
    work.mkdir()
    done = subprocess.run(
        supervisor_command(sys.executable, str(run_dir), str(work), UNLIMITED),
        input=len(source).to_bytes(4, "big") + source + said,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in (0, 1), done
    assert b"Traceback" not in done.stderr, done.stderr
    assert not run_dir.exists(), sorted(map(str, Path(run_dir).iterdir()))
    assert json.loads(done.stdout[4 : 4 + int.from_bytes(done.stdout[:4], "big")] or "{}") is not None


ROWS = (
    Row("frames: from a sandbox", from_the_box, 10, 150, share=3),
    Row("frames: to a sandbox", to_the_box, 10, 100, share=2),
)
