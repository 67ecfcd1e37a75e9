"""Models that never come to an answer: each run ends within its bound, and hands over the closest lines.

The table of docs/performance.md has what comes out here.
"""

import json
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.attacks import OFFLINE, Ended, vera_here
from support.cli import folded, records
from support.scripted_server import Fault, ScriptedServer, Slow
from support.turns import as_reply, final, observation, turn
from support.verified import replay
from vera import events
from vera.protocol import Turn

ROOT = Path(__file__).parents[2]
LICENCES = ROOT / "examples" / "licences"
QUESTION = "For how long must a written offer for source code be valid under GPL version 3?"
EXAMPLE = final("The answer, each statement with its citation [ev_0003:12-14].")

Says = Callable[[int, dict[str, Any]], Any]


def always(*turns: Turn) -> Says:
    """These turns, one after the other, for ever."""
    return lambda index, body: as_reply(turns[index % len(turns)], "text")


def any_turn(index: int, body: dict[str, Any]) -> Any:
    """A valid turn by chance, always the same for the same index."""
    dice = random.Random(index)
    name = dice.choice(("GPL-3.txt", "BSD.txt", "none.txt"))
    first = dice.randrange(1, 9)
    return as_reply(
        dice.choice(
            [
                turn("search", query=" ".join(dice.sample(["offer", "licence", "three", "years", "x"], 2))),
                turn("read", path=name, first=first, last=first + dice.randrange(4)),
                turn("note", text=f"note {index}"),
            ]
        ),
        "text",
    )


def dies(index: int, body: dict[str, Any]) -> Any:
    return Fault(400, body="gone") if index == 2 else as_reply(turn("note", text="n"), "text")


RAMBLINGS = (
    "A licence is a text.", "Many people ask this.", "It depends.", "Let us begin.", "Offers differ.",
    "I can help with that!", "There are years.", "Software is free.", "Note that I am a model.",
)  # fmt: skip
LIMITS = {"writes a token in 2 s": ("--budget-seconds", "1.5")}

MODELS: dict[str, Says] = {
    "repeats a search": always(turn("search", query="written offer")),
    "searches in ever new words": lambda i, _: as_reply(turn("search", query=f"word{i} offer"), "text"),
    "reads the same lines": always(turn("read", path="BSD.txt", first=1, last=3)),
    "alternates two calls": always(turn("search", query="offer"), turn("read", path="BSD.txt")),
    "writes notes": always(turn("note", text="I should look.")),
    "writes a note and reads its notes": always(
        turn("note", text="I should look."), turn("read", path="/work/notes.md")
    ),
    "calls a tool that there is not": always(turn("browse", url="x")),
    "answers with the example of the prompt": always(EXAMPLE),
    "thinks only": lambda i, _: "<think>Let me think about it.",
    "says nothing": lambda i, _: "",
    "echoes what it is sent": lambda i, body: str(body["messages"][-1]["content"]),
    "rambles": lambda i, _: " ".join(random.Random(i).choices(RAMBLINGS, k=60)),
    "says the same sentence for ever": lambda i, _: "I should look at the licence first. " * 500,
    "breaks off in its JSON": lambda i, _: (
        '{"thought": "Search.", "tool": "search", "args": {"query": "offer'
    ),
    "calls tools in another dialect": lambda i, _: (
        '<function=search><parameter=query>"written offer"</parameter></function>'
    ),
    "writes a token in 2 s": lambda i, _: Slow(2, "Well", after="Well"),
    "breaks every second turn": lambda i, _: (
        "Sure!" if i % 2 else as_reply(turn("note", text="I should look."), "text")
    ),
    "takes valid turns by chance": any_turn,
    "dies after two turns": dies,
}


def run(tmp_path: Path, says: Says, *options: str) -> tuple[Ended, Path]:
    work = tmp_path / "work"
    with ScriptedServer(says) as server:
        words = ["run", "--task", QUESTION, "--work-dir", work, "--model-base-url", server.root]
        words += ["--protocol", "text", "--max-steps", "0", "--json", *OFFLINE, *options]
        return vera_here(*words, cwd=tmp_path), work


def row_of(name: str) -> list[str]:
    """The cells of the model's row in the table of the page."""
    page = (ROOT / "docs" / "performance.md").read_text()
    rows = [line.strip("| ").split(" | ") for line in page.split("\n")]
    return next(cells for cells in rows if cells[0] == name)


@pytest.mark.parametrize("name", MODELS)
def test_an_endless_model_ends_within_its_bound_with_the_right_lines(name: str, tmp_path: Path) -> None:
    done, work = run(tmp_path, MODELS[name], "--input-dir", str(LICENCES), *LIMITS.get(name, ()))
    said = json.loads(done.out)
    state = folded(work)
    ended = state.lane("main").ended
    assert ended is not None
    quoted = any("valid for at least three years" in each["quote"] for each in said["citations"])
    was = [name, str(state.lane("main").step), str(said["spent"]["completion_tokens"])]
    was += [ended.reason, f"{said['status']}, {done.code}"]
    assert [*was, "yes" if quoted else "no"] == row_of(name)
    assert said["answer_by"] == "builtin" and "the model gave no usable answer" in said["answer"]
    assert replay(work, (), 2).exit_code == 0
    lanes = [each.lane for each in records(work) if isinstance(each, events.LaneStarted | events.LaneEnded)]
    if ended.reason == "parse_error":  # one that takes no turns is asked to write
        assert lanes[-2:] == ["guided-1"] * 2
        del lanes[-2:]
    assert set(lanes[:-2]) == {"main"} and lanes[-2:] == ["extracts-1"] * 2


def test_extracts_take_no_tokens_and_stay_apart_from_the_model(tmp_path: Path) -> None:
    _, work = run(tmp_path, MODELS["writes notes"], "--input-dir", str(LICENCES))
    state = folded(work)
    by_model = [each for each in records(work) if isinstance(each, events.Model) and each.lane == "main"]
    assert state.spent.model_calls == len(by_model) == state.lane("main").step
    assert "I should look." in (work / "answer.md").read_text(), "what the model noted is kept"


def test_without_documents_there_are_no_lines_and_it_is_said(tmp_path: Path) -> None:
    done, work = run(tmp_path, MODELS["writes notes"])
    said = json.loads(done.out)
    assert (done.code, said["status"], said["answer_by"], said["citations"]) == (3, "UNRESOLVED", "", [])
    assert "there are no lines to show" in said["answer"]
    assert "extracts-1" not in folded(work).lanes


def test_lines_that_do_not_answer_keep_the_exit_code_of_the_cause(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("Bread is baked from flour and water.\n")
    done, _ = run(tmp_path, MODELS["dies after two turns"], "--input-dir", str(tmp_path / "in"))
    said = json.loads(done.out)
    assert (done.code, said["status"], said["answer_by"]) == (5, "UNRESOLVED", "builtin")
    assert "go on with 'vera resume" in done.error


def test_a_run_whose_model_was_lost_goes_on_with_it(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("Bread is baked from flour and water.\n")

    def says(index: int, body: dict[str, Any]) -> Any:
        if index < 3:
            return dies(index, body)
        found = re.search(r"ev_\d{4}", observation(body))
        read = turn("read", path="a.txt")
        return as_reply(
            final(f"Bread is baked from flour and water [{found[0]}:1].") if found else read, "text"
        )

    work = tmp_path / "work"
    with ScriptedServer(says) as server:
        first = vera_here(
            "run", "--task", QUESTION, "--work-dir", work, "--model-base-url", server.root, "--protocol",
            "text", "--input-dir", tmp_path / "in", "--verifier", "literal", *OFFLINE, cwd=tmp_path,
        )  # fmt: skip
        assert first.code == 5
        again = vera_here("resume", work, "--json", cwd=tmp_path)
    said = json.loads(again.out)
    assert said["answer_by"] == "model" and said["answer"].startswith("Bread is baked from flour")
    assert replay(work, (), 2).exit_code == 0


@pytest.mark.parametrize(
    "limit", [("--budget-tokens", "3000"), ("--max-steps", "2"), ("--budget-seconds", "2")]
)
def test_a_spent_budget_still_gives_extracts(limit: tuple[str, str], tmp_path: Path) -> None:
    done, work = run(tmp_path, MODELS["writes notes"], "--input-dir", str(LICENCES), "-c",
                     "policy.stuck_limit=0", *limit)  # fmt: skip
    ended = folded(work).lane("main").ended
    assert ended is not None and ended.reason == limit[0].rpartition("-")[2].replace("seconds", "time")
    said = json.loads(done.out)
    assert (done.code, said["status"], said["answer_by"]) == (0, "QUOTED", "builtin")
    assert "three years" in "".join(each["quote"] for each in said["citations"])


def test_a_cancelled_run_gets_no_extracts(tmp_path: Path) -> None:
    work = tmp_path / "work"

    def says(index: int, body: dict[str, Any]) -> Any:
        if index == 3:
            process.send_signal(signal.SIGINT)
        return as_reply(turn("note", text="n"), "text")

    with ScriptedServer(says) as server:
        process = subprocess.Popen(
            [sys.executable, "-m", "vera", "run", "--task", QUESTION, "--work-dir", work, "--model-base-url",
             server.root, "--protocol", "text", "--input-dir", LICENCES, *OFFLINE, "-c",
             "policy.stuck_limit=0", "--max-steps", "0"],
            cwd=tmp_path, env={**os.environ}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert folded(work).extracts is None and b"word match" not in out
