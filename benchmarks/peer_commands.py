"""How `benchmarks/peers.py` starts each tool, what a scripted model says to it, and where its answer is.

A tool is asked one question in a separate folder, PASS/TOOL/NUMBER below that of the whole run. All are told
the same: answer in one sentence, and cite the lines as FILE:FIRST-LAST. paper-qa cites pieces of text, which
it chooses.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from support.cast import Cast, final, turn
from support.overhead_peers import MINI
from vera.headline import HOLDS

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "examples" / "licences"
MAX_STEPS = 6
MAX_COMPLETION_TOKENS = 512
HOW = " Answer in one sentence, and behind it cite the lines that say so as FILE:FIRST-LAST: MIT.txt:5-7."
CITED = re.compile(r"([\w.+-]+\.txt)\W{0,3}(?:lines?\s*)?(\d{1,5})(?:\s*[-–]\s*(\d{1,5}))?")
MOUNT = "/docs"


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question with its hand-made key: the file and the lines that answer it, words that these hold, and
    words of which the answer has one."""

    id: str
    text: str
    file: str
    first: int
    last: int
    words: tuple[str, ...]
    says: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The right answer as a model could write it."""
        return "The licence says " + " and ".join(f'"{word.strip()}"' for word in self.words)


@dataclass(frozen=True, kw_only=True)
class Server:
    """Where the model is; `embedding` is an embedding model, or ''. `pids` are the processes of both."""

    base_url: str
    key: str = "none"
    embedding: str = ""
    embedding_key: str = "none"
    pids: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a tool said: its answer, (file, text) of what it cites, the tokens that the model read and wrote
    (None: not told), and whether the tool calls its answer proved (None: it says nothing about that)."""

    text: str
    cited: Sequence[tuple[str, str]]
    prompt: int | None = None
    tokens: int | None = None
    proved: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Tool:
    """`package` is what it is installed from; `start` gives the command for a question, `read` the answer
    from what it printed and its folder (None: there is none), `script` what a model says to it. `prepares`
    says that it has to be started once without a question, for its index. `cites` and `goes_on` say what a
    citation is, and how it goes on after a kill."""

    name: str
    package: str
    command: str
    start: Callable[[str, Any, Path, Server], list[str]]
    read: Callable[[str, Path], Answer | None]
    script: Callable[[Question], Callable[[int, dict[str, Any]], Any]]
    environment: Callable[[Server], Mapping[str, str]]
    cites: str
    goes_on: str
    prepares: bool = False


def lines_of(file: str, first: int, last: int) -> str:
    """The text of these lines of a document, '' where there are none. A form feed ends no line."""
    path = FOLDER / Path(file).name
    if not path.is_file() or not 0 < first <= last:
        return ""
    return "\n".join(path.read_text().split("\n")[first - 1 : last])


def cited_in(answer: str) -> list[tuple[str, str]]:
    """The lines that an answer names as FILE:FIRST-LAST."""
    found = CITED.findall(answer)
    return [(file, lines_of(file, int(first), int(last or first))) for file, first, last in found]


def last_json(printed: str) -> dict[str, Any] | None:
    """The object in the last line that a program printed."""
    for line in reversed(printed.splitlines()):
        if line.startswith("{"):
            return dict(json.loads(line))
    return None


def _openai(server: Server) -> dict[str, str]:
    return {"OPENAI_API_KEY": server.key, "EMBEDDING_KEY": server.embedding_key}


def _vera(python: str, asked: Question, folder: Path, server: Server, *, model: str = "") -> list[str]:
    where = ["--input-dir", str(FOLDER), "--work-dir", str(folder / "session"), "--base-dir", str(folder)]
    options = ["--sandbox", "none", "--egress", "none", "--json", "--quiet"]
    address = ["--model-base-url", model or server.base_url]
    return [python, "-m", "vera", "run", "--task", asked.text, *where, *address, *options]


def _vera_answer(printed: str, folder: Path) -> Answer | None:
    if not printed.strip():
        return None
    said = json.loads(printed)
    spent, quotes = said["spent"], [each["quote"] for each in said["citations"]]
    return Answer(
        text=" ".join([said["answer"], *(quotes if said["answer_by"] != "model" else ())]),
        cited=[(each["source"], each["quote"]) for each in said["citations"]],
        prompt=spent["prompt_tokens"],
        tokens=spent["completion_tokens"],
        proved=said["status"] in HOLDS,
    )


def _vera_script(asked: Question) -> Callable[[int, dict[str, Any]], Any]:
    cited = f"{asked.sentence} [ev_0002:{asked.first}-{asked.last}]."
    return Cast(
        [
            turn("search", query=" ".join(asked.words)),
            turn("read", path=asked.file, first=asked.first, last=asked.last),
            final(cited),
        ],
        each_session=True,
    )


def _smolagents(python: str, asked: Question, folder: Path, server: Server) -> list[str]:
    script = str(ROOT / "benchmarks" / "peer_smolagents.py")
    return [python, script, str(FOLDER), asked.text + HOW, server.base_url]


def _named_answer(printed: str, folder: Path) -> Answer | None:
    said = last_json(printed)
    if said is None:
        return None
    cited = [(file, text) for file, text in said.get("cited", cited_in(said["answer"]))]
    return Answer(text=said["answer"], cited=cited, prompt=said["prompt"], tokens=said["tokens"])


def _smolagents_script(asked: Question) -> Callable[[int, dict[str, Any]], Any]:
    answer = f"{asked.sentence} ({asked.file}:{asked.first}-{asked.last})."
    turns = [f"print(search({' '.join(asked.words)!r}))", f"final_answer({answer!r})"]
    return lambda index, body: f"Thought: go on.\n<code>\n{turns[min(index, 1)]}\n</code>"


def _mini(python: str, asked: Question, folder: Path, server: Server, *, image: str) -> list[str]:
    """Its docker environment, with the documents mounted to be read only, and its form for models without
    tool calls."""
    settings = {
        "model": {
            "model_class": "litellm_textbased",
            "model_kwargs": {"api_base": server.base_url, "max_tokens": MAX_COMPLETION_TOKENS},
        },
        "environment": {
            "environment_class": "docker",
            "image": image,
            "cwd": MOUNT,
            "run_args": ["--rm", "--network=none", "-v", f"{FOLDER}:{MOUNT}:ro", "-v", f"{folder}:/of:ro"],
        },
        "agent": {"agent_class": "default", "step_limit": MAX_STEPS},
    }
    (folder / "peer.yaml").write_text(yaml.safe_dump(settings))
    submit = " To answer, run: echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; echo 'your answer'"
    task = f"The documents are the files in {MOUNT}. {asked.text}{HOW}{submit}"
    options = ["--config=mini_textbased.yaml", f"--config={folder}/peer.yaml", "--model=openai/local"]
    ends = ["--yolo", "--exit-immediately", f"--output={folder}/trajectory.json"]
    return [python, "-m", "minisweagent.run.mini", *options, f"--task={task}", *ends]


def _mini_answer(printed: str, folder: Path) -> Answer | None:
    path = folder / "trajectory.json"
    if not path.exists():
        return None
    said = json.loads(path.read_text())
    answer = str(said["info"].get("submission", ""))
    usage = [
        message["extra"]["response"]["usage"]
        for message in said["messages"]
        if message.get("role") == "assistant" and "response" in message.get("extra", {})
    ]
    return Answer(
        text=answer,
        cited=cited_in(answer),
        prompt=sum(each["prompt_tokens"] for each in usage),
        tokens=sum(each["completion_tokens"] for each in usage),
    )


def _mini_script(asked: Question) -> Callable[[int, dict[str, Any]], Any]:
    answer = f"{asked.sentence} ({asked.file}:{asked.first}-{asked.last})."
    shown = f"sed -n '{asked.first},{asked.last}p' {asked.file}"
    said = f"echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\ncat <<'END'\n{answer}\nEND"
    turns = [shown, said]
    return lambda index, body: f"THOUGHT: go on.\n\n```mswea_bash_command\n{turns[min(index, 1)]}\n```"


def _mini_environment(server: Server) -> dict[str, str]:
    return {**_openai(server), **MINI}


def _paperqa(python: str, asked: Question | None, folder: Path, server: Server) -> list[str]:
    script = str(ROOT / "benchmarks" / "peer_paperqa.py")
    cache = str(folder.parents[2] / "paper-qa.pickle")
    question = asked.text if asked else ""
    return [python, script, str(FOLDER), question, server.base_url, server.embedding, cache]


def _paperqa_script(asked: Question) -> Callable[[int, dict[str, Any]], Any]:
    """Relevant is the piece that has the words; the answer names it by the key that paper-qa gave it."""

    def said(index: int, body: dict[str, Any]) -> str:
        shown = " ".join(str(body["messages"][-1]["content"]).split())
        if "relevance_score" in str(body["messages"][0]["content"]):
            has = all(" ".join(word.split()) in shown for word in asked.words)
            return json.dumps({"summary": asked.sentence if has else "", "relevance_score": 9 if has else 0})
        keys = re.findall(r"pqac-[0-9a-f]{8}", shown)
        return f"{asked.sentence} ({keys[0]})." if keys else "I cannot answer."

    return said


def _paperqa_environment(server: Server) -> dict[str, str]:
    return {**_openai(server), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}


def tools(image: str) -> dict[str, Tool]:
    """By name. VERA is there twice: with the built-in model it asks no server."""
    of_lines = "lines that the model wrote"
    kept = "stored bytes"
    resumed = "`vera resume`"
    return {
        "VERA": Tool(
            name="VERA", package="vera-agent", command="vera run --json", start=_vera, read=_vera_answer,
            script=_vera_script, environment=_openai, cites=kept, goes_on=resumed,
        ),
        "VERA, built-in": Tool(
            name="VERA, built-in", package="vera-agent", command="vera run --model-base-url builtin --json",
            start=partial(_vera, model="builtin"), read=_vera_answer, script=_vera_script,
            environment=_openai, cites=kept, goes_on=resumed,
        ),
        "mini-swe-agent": Tool(
            name="mini-swe-agent", package="mini-swe-agent", command="mini -c mini_textbased.yaml, docker",
            start=partial(_mini, image=image), read=_mini_answer, script=_mini_script,
            environment=_mini_environment, cites=of_lines, goes_on="no command for it",
        ),
        "smolagents": Tool(
            name="smolagents", package="smolagents", command="CodeAgent (benchmarks/peer_smolagents.py)",
            start=_smolagents, read=_named_answer, script=_smolagents_script, environment=_openai,
            cites=of_lines, goes_on="no: its steps are in memory",
        ),
        "paper-qa": Tool(
            name="paper-qa", package="paper-qa", command="Docs.aquery (benchmarks/peer_paperqa.py)",
            start=_paperqa, read=_named_answer, script=_paperqa_script, environment=_paperqa_environment,
            cites="pieces of 1,500 characters", goes_on="no; what it embedded is kept", prepares=True,
        ),
    }  # fmt: skip
