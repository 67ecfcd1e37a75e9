"""What a long run sends to its model: VERA's epochs beside a full history and a sliding tail.

    python benchmarks/context.py            prompt bytes and cached prefix over 200 steps, on the wire
    python benchmarks/context.py --steps    time per step over 10,000 steps
    python benchmarks/context.py --llama    the cached tokens that a real llama.cpp server counts

The same script of turns and 1 kB outputs is played in each. "cached" is the share of the prompt's bytes that
are the beginning of the prompt before (what a prefix cache serves); with --llama the server's own count.
"""

import argparse
import asyncio
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from support.cli import records
from support.lanes import FunctionModel, Print, new_session, open_lane
from support.overhead import cached_share
from support.scripted_server import ScriptedServer
from support.turns import turn
from vera import events
from vera.lane import context
from vera.lane.tools.note import Note
from vera.model.connect import connect
from vera.model.types import Message, Model, Request, wire
from vera.protocol import text

OUTPUT_BYTES = {"wire": 1000, "llama": 300}
"""Of each tool call. The random model reads bytes as tokens and has room for 32,768 of them."""
TAIL_STEPS = 6
CACHED_READ = 0.1
"""Price of a cached byte as a share of a new one, as most hosted models ask; for "cost"."""


def reply(number: int, size: int = OUTPUT_BYTES["wire"]) -> str:
    """The script: a command each step, a note every third."""
    note = f"note {number}: what was learnt" if number % 3 == 0 else None
    return text.render(turn("print", size=size, thought=f"Step {number}, go on.", note=note))


def observation(number: int, size: int) -> str:
    return f"OBSERVATION ev_{number:04d} · print\n1| {'x' * (size - 1)}\nStep {number} of 200."


def full_history(head: Sequence[Message], number: int, size: int) -> tuple[Message, ...]:
    """Everything said so far, as most agents send it."""
    said = [m for n in range(1, number) for m in pair(n, size)]
    return (*head, *said)


def sliding_tail(head: Sequence[Message], number: int, size: int) -> tuple[Message, ...]:
    """The specification's first form: pinned notes, then the last steps; both move at each step."""
    notes = [f"- ev_{n:04d} · print" for n in range(1, number)]
    notes += [f"- note {n}: what was learnt" for n in range(3, number, 3)]
    task = Message(role="user", content=f"{head[-1].content}\n\nPINNED notes.md\n" + "\n".join(notes))
    said = [m for n in range(max(1, number - TAIL_STEPS), number) for m in pair(n, size)]
    return (*head[:-1], task, *said)


def pair(number: int, size: int) -> tuple[Message, Message]:
    return (
        Message(role="assistant", content=reply(number, size)),
        Message(role="user", content=observation(number, size)),
    )


def head_of(folder: Path) -> tuple[Message, ...]:
    """System and task message as the lane makes them."""
    session = new_session(folder)
    lane = open_lane(session, FunctionModel(lambda messages: ""), max_steps=1)
    asyncio.run(lane.run())
    head = context.assemble(session.state.lane("main"), session.load)[:2]
    session.close()
    return tuple(head)


def wire_table(folder: Path, steps: int) -> None:
    """200 steps over real HTTP; the others' prompts are made beside, of the same texts."""
    head = head_of(folder / "head")
    with ScriptedServer(lambda index, body: reply(index + 1)) as server:

        async def run() -> None:
            model = await connect(server.root, protocol="text")
            session = new_session(folder / "run")
            await open_lane(session, model, max_steps=steps).run()
            await model.close()
            session.close()

        asyncio.run(run())
        ours = [request.raw_bytes for request in server.requests]
    calls = [record for record in records(folder / "run") if isinstance(record, events.Model)]
    rows = [("VERA (epochs)", ours, cached_share(calls))]
    for name, form in (("sliding tail", sliding_tail), ("full history", full_history)):
        sizes, cached, before = [], 0, b""
        for number in range(1, steps + 1):
            sent = wire(form(head, number, OUTPUT_BYTES["wire"]))
            cached += context.shared_prefix(before, sent)
            sizes.append(len(sent))
            before = sent
        rows.append((name, sizes, cached / sum(sizes)))
    shown = [step for step in (10, 50, 200) if step <= steps]
    steps_head = "".join(f"{f'step {s}':>12}" for s in shown)
    print(f"{'bytes':16}{steps_head}{'largest':>12}{'sum':>14}{'cached':>9}{'cost':>12}")
    for name, sizes, share in rows:
        at = "".join(f"{sizes[step - 1]:>12,}" for step in shown)
        cost = sum(sizes) * (1 - share + CACHED_READ * share)
        print(f"{name:16}{at}{max(sizes):>12,}{sum(sizes):>14,}{share:>9.1%}{cost:>12,.0f}")


def step_table(folder: Path, steps: int) -> None:
    """The harness's own time per step, model and tool taking none."""
    session = new_session(folder / "long")
    stamps: list[tuple[float, float]] = []

    def answer(messages: Sequence[Message]) -> str:
        stamps.append((time.process_time(), time.perf_counter()))
        return reply(len(stamps))

    asyncio.run(open_lane(session, FunctionModel(answer), max_steps=steps).run())
    stamps.append((time.process_time(), time.perf_counter()))
    session.close()
    tenth = steps // 10
    print(f"{'steps':>16}{'CPU ms a step':>16}{'wall ms a step':>16}")
    for start in range(0, steps, tenth):
        end = min(start + tenth, steps)
        cpu, wall = (1000 * (b - a) / (end - start) for a, b in zip(stamps[start], stamps[end], strict=True))
        print(f"{f'{start + 1}-{end}':>16}{cpu:>16.2f}{wall:>16.2f}")


def llama_table(folder: Path, steps: int) -> None:
    """One real server, one slot, the same 1 kB outputs: what it says it had cached."""
    from support.tiny_llama import TinyLlama

    head = head_of(folder / "head")
    (folder / "llama").mkdir()
    print(f"{'':16}{'prompt tokens':>14}{'cached':>9}{'seconds':>9}")
    with TinyLlama(folder / "llama", parallel=1) as llama:

        async def ours(model: Model) -> list[tuple[int, int]]:
            asked: list[tuple[int, int]] = []

            class Counting:
                info = model.info

                async def complete(self, request: Request) -> object:
                    done = await model.complete(
                        Request(messages=request.messages, max_tokens=1, temperature=0)
                    )
                    asked.append((done.usage.prompt_tokens or 0, done.usage.cached_tokens or 0))
                    number = len(asked)
                    choice = done.choices[0].__class__(content=reply(number, OUTPUT_BYTES["llama"]))
                    return done.__class__(choices=(choice,), usage=done.usage)

                async def close(self) -> None:
                    """The model is closed by who opened it."""

            session = new_session(folder / "llama-run")
            limits = {"high_tokens": 12_000, "max_steps": steps}
            await open_lane(session, Counting(), tools=[Print(), Note()], **limits).run()
            session.close()
            return asked

        async def theirs(model: Model, form: object) -> list[tuple[int, int]]:
            asked = []
            for number in range(1, steps + 1):
                messages = form(head, number, OUTPUT_BYTES["llama"])
                done = await model.complete(Request(messages=messages, max_tokens=1, temperature=0))
                asked.append((done.usage.prompt_tokens or 0, done.usage.cached_tokens or 0))
            return asked

        async def all_of_them() -> None:
            model = await connect(llama.base_url, protocol="text")
            for name, play in (
                ("VERA (epochs)", lambda: ours(model)),
                ("sliding tail", lambda: theirs(model, sliding_tail)),
                ("full history", lambda: theirs(model, full_history)),
            ):
                began = time.perf_counter()
                asked = await play()
                total, cached = map(sum, zip(*asked, strict=True))
                print(f"{name:16}{total:>14,}{cached / total:>9.1%}{time.perf_counter() - began:>9.1f}")
            await model.close()

        asyncio.run(all_of_them())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--steps", nargs="?", type=int, const=10_000, help="time per step over so many steps")
    parser.add_argument("--llama", nargs="?", type=int, const=50, help="so many steps against llama.cpp")
    parser.add_argument("--wire", type=int, default=200, help="steps of the table on the wire")
    options = parser.parse_args()
    print(f"{datetime.now(UTC):%Y-%m-%d} · Python {platform.python_version()} · {platform.platform()}")
    folder = Path(tempfile.mkdtemp(prefix="vera-context-"))
    try:
        if options.steps:
            step_table(folder, options.steps)
        elif options.llama:
            llama_table(folder, options.llama)
        else:
            wire_table(folder, options.wire)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
