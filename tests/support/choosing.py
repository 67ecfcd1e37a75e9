"""Whole runs that sample several turns for a step: `vera run` in this process against a scripted server.

    play = Play([[NOTED, READ], [GOOD]], judge=prefers("terms.txt"))
    with server(play) as worker:
        run = choose(tmp_path, worker, "--num-candidates", 2, "--action-verifier", "llm")
    assert run.acted == ["read", "final"]

The candidates of a step are those of the script, wherever they were asked for: in one request by `n`, or by
requests of their own, which are told apart by their seed (`-c` SEEDED; the first of them has none).
"""

import multiprocessing
import os
import re
import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from support.attacks import Ended, vera_here
from support.cli import folded, records
from support.scripted_server import ScriptedServer
from support.turns import answered_turns, as_reply, final, turn
from vera import events
from vera.protocol import Turn, text
from vera.session import load_text
from vera.state import RunState
from vera.store import Store

E = TypeVar("E", bound=events.Event)
Judge = Callable[[dict[str, Any]], Any]

QUESTION = "For how many years must a written offer be valid?"
TERMS = "Terms\n\nA written offer must be valid for at least three years.\nEnd.\n"

READ = turn("read", path="terms.txt", thought="The terms come first.")
NOTED = turn("note", text="Nothing was read so far.", thought="I write something down.")
SEARCH = turn("search", query="written offer valid", thought="I look it up.")
GOOD = final("A written offer must be valid for at least three years [ev_0001:3].")
BROKEN = "I would rather talk about it."

FIRST_SEED = 100
SEEDED = ("-c", f"candidate_sampling.sampling_kwargs.seed={FIRST_SEED}")
APART = ("-c", "candidate_sampling.use_n=false", *SEEDED)
"""A request for each candidate."""

JUDGE = "You choose the next action of a research agent."
_CANDIDATE = re.compile(r"^Candidate (\d+)$", re.MULTILINE)


def is_judge(body: dict[str, Any]) -> bool:
    """Whether a request asks which candidate should run."""
    return JUDGE in str(body["messages"][0]["content"])


def shown(body: dict[str, Any]) -> dict[int, str]:
    """The candidates that a judge is shown, by their numbers."""
    parts = _CANDIDATE.split(str(body["messages"][-1]["content"]).partition("\nWhich of the candidates ")[0])
    return {int(number): said for number, said in zip(parts[1::2], parts[2::2], strict=True)}


def prefers(*words: str) -> Judge:
    """A judge that names the candidate with the earliest of these words in its action, else the first."""

    def judge(body: dict[str, Any]) -> str:
        candidates = shown(body)
        for word in words:
            for number, said in candidates.items():
                if word in said:
                    return f"The other brings nothing.\nFINAL: {number}"
        return f"FINAL: {min(candidates)}"

    return judge


def nobody(body: dict[str, Any]) -> Any:
    raise AssertionError("no judge was to be asked")


class Play:
    """The script: the candidates of each step of the agent, and whoever judges.

    `asked` has the bodies of the agent's requests, `judged` those of the judge's. A step with too few
    candidates begins again with the first, the script goes on with its last step.
    """

    def __init__(self, steps: Sequence[Sequence[Turn | str | dict[str, Any]]], judge: Judge = nobody) -> None:
        self._steps = [[_reply(each) for each in step] for step in steps]
        self._judge = judge
        self._lock = threading.Lock()
        self.asked: list[dict[str, Any]] = []
        self.judged: list[dict[str, Any]] = []

    def __call__(self, index: int, body: dict[str, Any]) -> Any:
        if is_judge(body):
            with self._lock:
                self.judged.append(body)
            return self._judge(body)
        with self._lock:
            self.asked.append(body)
        candidates = self._steps[min(answered_turns(body), len(self._steps) - 1)]
        if "n" in body:
            return [candidates[place % len(candidates)] for place in range(body["n"])]
        return candidates[(body.get("seed", FIRST_SEED) - FIRST_SEED) % len(candidates)]

    def prompts(self) -> list[list[dict[str, Any]]]:
        """The messages of each of the agent's requests."""
        return [body["messages"] for body in self.asked]


def _reply(said: Turn | str | dict[str, Any]) -> Any:
    return as_reply(said, "text") if isinstance(said, Turn) else said


def server(play: Callable[[int, dict[str, Any]], Any], **face: Any) -> ScriptedServer:
    """A server that gives `n` candidates at once, unless `face` says otherwise."""
    return ScriptedServer(play, **{"kind": "llamacpp", "honours_n": True, **face})


NOT_HERE = Ended(-1, "", "")


@dataclass(frozen=True)
class Chosen:
    """What came of a run; `ended` is how it ended in this process, where it did."""

    work: Path
    ended: Ended = NOT_HERE

    @cached_property
    def records(self) -> list[events.Record]:
        return records(self.work)

    @cached_property
    def state(self) -> RunState:
        return folded(self.work)

    def of(self, kind: type[E]) -> list[E]:
        """The records of one kind in the main lane."""
        return [each for each in self.records if isinstance(each, kind) and each.lane == "main"]

    def load(self, kept: events.Text) -> str:
        return load_text(Store(self.work / "store"), kept)

    @property
    def selections(self) -> list[events.Selection]:
        return self.of(events.Selection)

    @property
    def deciders(self) -> list[str]:
        return [each.decider for each in self.selections]

    @property
    def acted(self) -> list[str]:
        """What the turns that count asked for: a tool, `final`, or `broken`."""
        parsed = [text.parse(self.load(each.content)).turn for each in self.of(events.Assistant)]
        return ["broken" if each is None else each.action.tool or "final" for each in parsed]

    @property
    def kinds(self) -> list[str]:
        """The kinds of the main lane's records, in order."""
        return [events.kind(each) for each in self.records if each.lane == "main"]


def choose(
    folder: Path,
    worker: ScriptedServer,
    *more: object,
    name: str = "w",
    files: str = TERMS,
    **options: object,
) -> Chosen:
    """Ask QUESTION of a folder with one document. `options` are settings with `__` for the dot."""
    ended = vera_here(*arguments(folder, worker, *more, name=name, files=files, **options), cwd=folder)
    return Chosen(folder / name, ended)


def arguments(
    folder: Path,
    worker: ScriptedServer,
    *more: object,
    name: str = "w",
    files: str = TERMS,
    **options: object,
) -> list[str]:
    """`run …` of `choose`."""
    documents = folder / "documents"
    documents.mkdir(exist_ok=True)
    (documents / "terms.txt").write_text(files)
    given: list[object] = [
        *("run", QUESTION, "--input-dir", documents, "--work-dir", folder / name),
        *("--egress", "auto" if "host" in more else "none", "--protocol", "text"),
        *("--model-base-url", worker.root),
        *("--verifier", "literal", "--verifier-rounds", 1, "-c", "notes.update_interval=1000"),
    ]
    if "--sandbox" not in more:
        given += ["--sandbox", "none"]
    for key, value in options.items():
        given += ["-c", f"{key.replace('__', '.')}={value}"]
    return [str(each) for each in [*given, *more]]


def resume(run: Chosen, worker: ScriptedServer, *more: object) -> Chosen:
    """`vera resume` of a run, with the server where it is now."""
    address = ("-c", f"model.base_url={worker.root}")
    return Chosen(run.work, vera_here("resume", run.work, *address, *more, cwd=run.work.parent))


def plain(record: events.Record) -> dict[str, Any]:
    """A record without what is another at each run: its time, its chain, and how long things took."""
    left_out = ("ts", "prev", "latency_s", "first_byte_s", "seconds")
    return {key: value for key, value in msgspec.to_builtins(record).items() if key not in left_out}


_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["vera.cli.run", "vera.cli.resume", "vera.cli.execute", "httpx", "jinja2"])


def killed_behind(typed: Sequence[str], record: int) -> int | None:
    """`vera TYPED` in a process that is killed once this record of the log (from 1) is written; its exit
    code."""
    process = _CONTEXT.Process(target=_until, args=(list(typed), record))
    process.start()
    process.join(60)
    assert process.exitcode is not None, "the run hung"
    return process.exitcode


def _until(typed: list[str], record: int) -> None:
    from vera.cli import main
    from vera.session import log

    real = log.Log.append

    def append(self: log.Log, event: Any, lane: str, *, sync: bool = False) -> Any:
        written = real(self, event, lane, sync=sync)
        if written.seq == record:
            os.kill(os.getpid(), signal.SIGKILL)
        return written

    log.Log.append = append  # type: ignore[method-assign] # the one that kills
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    main(typed, prog_name="vera")
