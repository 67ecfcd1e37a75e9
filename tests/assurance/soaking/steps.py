"""One run of thousands of steps: commands, searches, readings and notes in turn."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from assurance.batteries import Trial
from assurance.soaking.series import Series, disk, family, held
from support.scripted_server import ScriptedServer
from support.turns import final, observation, turn
from vera.protocol import text

CLAUSES = 400


def run_of(trial: Trial, steps: int, allowed: dict[str, float]) -> None:
    """A run of so many steps neither holds nor takes more from step to step than is allowed."""
    documents(trial.folder / "documents")
    work = trial.folder / "work"
    series = Series("1,000 steps")
    every = max(1, steps // 200)
    answered, index = 0.0, -1
    started: list[subprocess.Popen[bytes]] = []

    def script(_: int, body: dict[str, Any]) -> str:
        nonlocal answered, index
        index += 1
        waited = time.monotonic() - answered
        if index and index % every == 0:
            measured = held("", *family(started[0].pid)) | {"disk, MB": disk(work)}
            measured["between two answers, ms"] = 1000 * waited
            series.note(index / 1000, measured)
        server.requests.clear()
        said = last(body) if index >= steps - 2 else reply(index)
        answered = time.monotonic()
        return said

    with ScriptedServer(script) as server, (trial.folder / "said").open("wb") as said:
        words = command(server, trial.folder, steps)
        started.append(subprocess.Popen(words, stdout=said, stderr=said, stdin=subprocess.DEVNULL))
        code = started[0].wait()
    assert code == 0, (trial.folder / "said").read_text()[-2000:]
    replayed = [sys.executable, "-P", "-m", "vera", "replay", str(work)]
    began = time.monotonic()
    subprocess.run(replayed, check=True, stdout=subprocess.DEVNULL, env=os.environ)
    trial.figures["replayed in, s"] = time.monotonic() - began
    series.judge(trial, allowed)


def command(server: ScriptedServer, folder: Path, steps: int) -> list[str]:
    return [
        *(sys.executable, "-P", "-m", "vera", "run", "--quiet", "--sandbox=host"),
        *("--verifier=literal", f"--max-steps={steps}", "--config=policy.stuck_limit=0"),
        *(f"--model-base-url={server.base_url}", f"--work-dir={folder / 'work'}"),
        *(f"--input-dir={folder / 'documents'}", "--task=For how many years is the offer valid?"),
    ]


def documents(place: Path) -> None:
    place.mkdir()
    for number in range(CLAUSES):
        lines = [f"Clause {number}.{line}: the hall may be let for {line} days." for line in range(40)]
        (place / f"clause{number}.txt").write_text("\n".join(lines) + "\n")
    (place / "offer.txt").write_text("The offer is valid for three years.\n")


def reply(index: int) -> str:
    number = index % CLAUSES
    note = f"Step {index}: clause {number} is about the hall." if index % 5 == 0 else None
    match index % 4:
        case 0:
            said = turn("shell", note, cmd=f"echo step {index}; seq 1 120")
        case 1:
            said = turn("search", note, query=f"clause {number} hall days")
        case 2:
            said = turn("read", note, path=f"clause{number}.txt", first=1 + index % 30, last=8 + index % 30)
        case _:
            said = turn("note", text=f"What was learnt at step {index}.")
    return text.render(said)


def last(body: dict[str, Any]) -> str:
    """Reads the offer, then cites it."""
    if found := re.match(r"OBSERVATION (ev_\d+) · read offer", observation(body)):
        return text.render(final(f"The offer is valid for three years [{found[1]}:1]."))
    return text.render(turn("read", path="offer.txt"))
