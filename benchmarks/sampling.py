"""Wall time of a step that samples four candidates, beside one call: at once, one after another, or by `n`.

    python benchmarks/sampling.py            a scripted server of 200 ms latency on loopback
    python benchmarks/sampling.py --llama    a real llama.cpp server (random weights, 4 slots, 64 tokens)

"wall ms" is the median over the steps, the client's own share being what is above the latency; "calls",
"kB sent" and "read" (prompt tokens that were in no cache, as the server counted them) are for one step. The
scripted server answers any request after its latency; a real one needs longer for four than for one.
"""

import argparse
import asyncio
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from support.scripted_server import ScriptedServer, Slow
from support.tiny_llama import NEVER_STOPS, TinyLlama
from vera.model.client import ChatClient
from vera.model.connect import connect
from vera.model.types import Message, ModelInfo, Request
from vera.selection.options import Sampling
from vera.selection.sample import Sampled, sample

LATENCY_S = 0.2
CANDIDATES = 4
PROMPT = "x" * 12_000
LLAMA_PROMPT = "the same beginning " * 80

Step = Callable[[int], Awaitable[Sampled]]

SINGLE = Sampling()
BY_N = Sampling(num_candidates=CANDIDATES)
AT_ONCE = Sampling(num_candidates=CANDIDATES, use_n=False)
ROWS: tuple[tuple[str, Sampling, int], ...] = (
    ("one call", SINGLE, 4),
    ("n=4 in one call", BY_N, 4),
    ("4 calls, 4 places", AT_ONCE, 4),
    ("4 calls, 2 places", AT_ONCE, 2),
    ("4 calls in sequence", AT_ONCE, 1),
)
"""Name, sampling, and how many requests the endpoint serves at once."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--llama", action="store_true", help="ask a real llama.cpp server")
    parser.add_argument("--steps", type=int, default=20, help="steps of each row")
    options = parser.parse_args()
    print(f"{datetime.now(UTC):%Y-%m-%d} · Python {platform.python_version()} · {platform.platform()}")
    print(f"{'':24}{'wall ms':>9}{'least':>9}{'most':>9}{'calls':>7}{'kB sent':>9}{'read':>8}")
    if options.llama:
        asyncio.run(llama_table(options.steps))
    else:
        asyncio.run(scripted_table(options.steps))


async def scripted_table(steps: int) -> None:
    for name, sampling, places in ROWS:
        with ScriptedServer(answer) as server:
            info = ModelInfo(kind="openai", parallel=places)
            client = ChatClient(server.base_url, server.model, info=info)
            await row(name, client, request(PROMPT), sampling, steps)
            await client.close()
    with ScriptedServer(lambda index, body: answer(index, {}), honours_n=False) as server:
        # The first step of each process: it learns that the server ignores n.
        async def newly_met(number: int) -> Sampled:
            client = ChatClient(server.base_url, server.model, info=ModelInfo(kind="openai", parallel=4))
            sampled = await sample(client, request(PROMPT)(number), BY_N)
            await client.close()
            return sampled

        await measured("n ignored, first step", newly_met, steps)


async def llama_table(steps: int) -> None:
    with tempfile.TemporaryDirectory(prefix="vera-sampling-") as folder:
        for name, sampling, places in ROWS:
            with TinyLlama(Path(folder), context=8192, parallel=CANDIDATES) as llama:
                found = await connect(llama.base_url, protocol="text")
                await found.close()
                info = msgspec.structs.replace(found.info, parallel=places)
                client = ChatClient(llama.base_url, info.name, info=info)
                asked = request(LLAMA_PROMPT, max_tokens=64, sampling=NEVER_STOPS)
                await row(name, client, asked, sampling, steps)
                await client.close()


def answer(index: int, body: dict[str, Any]) -> Slow:
    return Slow(LATENCY_S, ["An answer of some words."] * int(body.get("n", 1)))


def request(prompt: str, **fields: Any) -> Callable[[int], Request]:
    """The prompt of each step is longer than the one before, as a run's is."""

    def of_step(number: int) -> Request:
        said = (Message(role="user", content=prompt), Message(role="user", content="step " * number))
        return Request(messages=said, **fields)

    return of_step


async def row(
    name: str, client: ChatClient, asked: Callable[[int], Request], sampling: Sampling, steps: int
) -> None:
    async def step(number: int) -> Sampled:
        return await sample(client, asked(number), sampling)

    # The connection and the server's cache are there before the first step that counts.
    await client.complete(asked(0))
    await measured(name, step, steps)


async def measured(name: str, step: Step, steps: int) -> None:
    taken, calls, sent, read = [], 0, 0, 0
    for number in range(1, steps + 1):
        began = time.perf_counter()
        sampled = await step(number)
        taken.append(1000 * (time.perf_counter() - began))
        assert not sampled.problem
        calls += len(sampled.calls)
        for call in sampled.calls:
            assert call.completion is not None
            usage = call.completion.usage
            sent += len(msgspec.json.encode(call.request.messages))
            read += (usage.prompt_tokens or 0) - (usage.cached_tokens or 0)
    figures = (statistics.median(taken), min(taken), max(taken))
    print(
        f"{name:24}" + "".join(f"{figure:>9.0f}" for figure in figures) + f"{calls / steps:>7.1f}"
        f"{sent / steps / 1000:>9.1f}{read / steps:>8.0f}"
    )


if __name__ == "__main__":
    main()
