"""The model of the battery `crash`: every part of a run is played from what the prompt shows, so that a run
goes on after a crash where it was, whatever was lost."""

import functools
import re
from typing import Any

from support.cast import agreeing, asking, part_of, scored
from support.choosing import is_judge, prefers
from support.scripted_server import ScriptedServer
from support.turns import as_reply, final, observation, turn

TASK = "How long must a written offer be valid, and how many lines has the file?"
TERMS = "Terms\n\nA written offer must be valid for three years.\nEnd.\n"
EFFECT = "count.txt"
COMMAND = f"echo ran >> {EFFECT}; wc -l < {{}}/terms.txt"
"""Counts how often it ran, and prints what is cited."""

TRUE = "A written offer must be valid for three years"
FALSE = "A written offer must be valid for seven years"
LINES = "The file has 4 lines"

_READ = re.compile(r"OBSERVATION (ev_\d+) · read terms\.txt · lines 1-4 ")
_COUNTED = re.compile(r"OBSERVATION (ev_\d+) · shell echo ran [^\n]*· exit 0 ")
_SKY = re.compile(r"What colour is sky number (\d+)")
_FOLDER = re.compile(r"^INPUT FILES: 1 under (.+):$", re.MULTILINE)


def worker(body: dict[str, Any]) -> Any:
    """Reads the file, counts its lines once, answers wrongly, and then rightly: what a command that was
    interrupted would have said is left out."""
    messages = [(each["role"], str(each["content"])) for each in body["messages"]]
    shown = "\n".join(text for role, text in messages if role != "assistant")
    said = "\n".join(text for role, text in messages if role == "assistant")
    read, counted, folder = _READ.findall(shown), _COUNTED.findall(shown), _FOLDER.findall(shown)
    if sky := _SKY.search(shown):
        answered = final(f"The sky is blue today, number {sky[1]}.")
        return answered if "echo ran" in said else turn("shell", cmd=f"echo ran >> {EFFECT}")
    if not read:
        return turn("read", path="terms.txt")
    if "echo ran" not in said and folder:
        return turn("shell", cmd=COMMAND.format(folder[0]), note="the term stands in line 3")
    if FALSE not in said:
        return final(f"{FALSE} [{read[-1]}:3].")
    lines = f" {LINES} [{counted[-1]}:1]." if counted else ""
    return final(f"{TRUE} [{read[-1]}:3].{lines}")


def check(body: dict[str, Any]) -> Any:
    found = re.findall(r"OBSERVATION (ev_\d+) ", observation(body))
    return final(f"yes [{found[0]}:3]") if found else turn("read", path="terms.txt")


QUESTION = {
    "claim": "c1",
    "question": "Does the file say that a written offer must be valid for three years?",
    "source": "terms.txt",
    "label": "misinterpretation",
}
CHOICE = prefers("echo ran", '"terms.txt"', "[ev_")
"""A judge of candidates that takes the scripted one."""
OTHERS = [turn("search", query="written offer valid"), turn("note", text="Nothing was read so far.")]
"""What the model proposes beside it."""


def reply(index: int, body: dict[str, Any]) -> Any:
    """What the server says to a request, by what the request shows alone."""
    if is_judge(body):
        return CHOICE(body)
    match part_of(body):
        case "worker":
            said = [worker(body), *OTHERS][: body.get("n", 1)]
            return [as_reply(each, "text") for each in said]
        case "check":
            return as_reply(check(body), "text")
        case "label":
            return agreeing(f"{TRUE}.", f"{LINES}.")(body)
        case "score":
            return scored(4)(body)
        case _:
            return asking(QUESTION)(body)


@functools.cache
def model() -> ScriptedServer:
    """The server of this process, as long as it lives: a judge's exam is kept for its address."""
    server = ScriptedServer(reply, kind="llamacpp", honours_n=True)
    server.__enter__()
    return server
