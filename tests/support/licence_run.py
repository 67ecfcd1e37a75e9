"""An example run over the licences of `examples`, whose models are scripted: two rounds, then VERIFIED.

The first answer has a number that its lines do not have; the verifier sends it back, and the second is right.
"""

import json
import re
import shutil
from pathlib import Path
from typing import Any

from support.cast import Cast, asking, final, scored, turn
from support.cli import vera
from support.scripted_server import ScriptedServer, Slow
from support.turns import answered_turns, as_reply, observation
from vera.protocol import Turn

EXAMPLES = Path(__file__).parents[2] / "examples" / "licences"
FOLDER = "licences"
"""Where `make` lays the documents, below the base folder."""

QUESTION = (
    "For how long must a written offer of source code be valid under the GPL 3, and when do patent licenses "
    "end under the Apache License 2.0?"
)
WRONG = (
    "Under the GPL version 3 a written offer must be valid for at least five years [ev_0002:258-261].\n\n"
    "Under the Apache License 2.0 the patent licenses granted to you terminate as of the date such "
    "litigation is filed [ev_0004:86-88]."
)
RIGHT = (
    "Under the GPL version 3 a written offer must be valid for at least three years [ev_0002:258-261], and "
    "for as long as you offer spare parts or customer support for that product model [ev_0002:259-261].\n\n"
    "Under the Apache License 2.0 the patent licenses granted to you terminate as of the date such "
    "litigation is filed [ev_0004:86-88].\n\n"
    "The Mozilla Public License 2.0 has a rule of its own: rights granted to you terminate if you assert a "
    "patent infringement claim [ev_0005:249-254; ev_0005:256-259]."
)
TURNS: tuple[Turn, ...] = (
    turn(
        "search", query="written offer valid years", thought="Find where the GPL speaks of a written offer."
    ),
    turn("read", path="GPL-3.txt", first=245, last=268, thought="Section 6 has it; read it whole."),
    turn(
        "search",
        query="patent litigation terminate date filed",
        thought="Now the Apache License.",
        note="GPL 3, section 6b: a written offer, at least three years [ev_0002:258-261].",
    ),
    turn("read", path="Apache-2.0.txt", first=74, last=88, thought="Section 3 is about patents."),
    turn("read", path="MPL-2.0.txt", first=242, last=262, thought="Another licence has a like clause."),
    final(WRONG, thought="Both are found."),
    turn(
        "read",
        path="GPL-3.txt",
        first=257,
        last=261,
        note="The years of the written offer were wrong: see [ev_0002:259].",
        thought="The verifier is right: look at the number again.",
    ),
    final(RIGHT, thought="It says three, not five."),
)
CHECKED = {
    "claim": "c1",
    "question": "Does section 6b of the GPL 3 ask for at least three years?",
    "source": "GPL-3.txt",
    "label": "misinterpretation",
}


def label(body: dict[str, Any]) -> str:
    """What the judge says of each span: that it contradicts "five", and that exceptions qualify a rule."""
    shown = str(body["messages"][-1]["content"])
    claim = " ".join(re.findall(r"^claim\| (.*)$", shown, re.MULTILINE))
    spans = re.findall(r"<<<DATA \w+ span (\d+) .*?\n(.*?)\nDATA \w+>>>", shown, re.DOTALL)

    def relation(rows: str) -> str:
        if "five years" in claim:
            return "CONTRADICTS"
        return "QUALIFIES" if "shall survive termination" in rows else "SUPPORTS"

    return json.dumps({"spans": [{"index": int(index), "relation": relation(rows)} for index, rows in spans]})


def check(body: dict[str, Any]) -> Any:
    """A check lane that reads the clause again, and cites what it has just read."""
    if not answered_turns(body):
        return as_reply(turn("read", path="GPL-3.txt", first=257, last=261), "text")
    (evidence,) = set(re.findall(r"ev_\d{4}", observation(body)))
    return as_reply(final(f"yes [{evidence}:258-260]"), "text")


def score(body: dict[str, Any]) -> str:
    """The judge's points: few for the wrong number."""
    return str(scored(2 if "five years" in str(body["messages"][-1]["content"]) else 4)(body))


def script(pace: float = 0.0) -> "Paced":
    """The model of the run. `pace`: seconds that it takes for a turn, so that a timeline shows something."""
    return Paced(
        Cast(
            TURNS,
            decompose=asking(CHECKED),
            check=check,
            label=label,
            score=score,
        ),
        pace,
    )


class Paced:
    """A script whose replies take a time of their own: about `pace` seconds, the same in each run."""

    def __init__(self, cast: Cast, pace: float) -> None:
        self._cast, self._pace = cast, pace

    def __call__(self, index: int, body: dict[str, Any]) -> Any:
        said = self._cast(index, body)
        return Slow(self._pace * (0.6 + index * 7 % 5 / 4), said) if self._pace else said


def model(pace: float = 0.0) -> ScriptedServer:
    """A server that plays it."""
    return ScriptedServer(script(pace))


def make(
    base: Path, work_dir: str = "work/example", pace: float = 0.0, *options: str, exit_code: int = 0
) -> Path:
    """Run it to its end, with more `options`; its session."""
    shutil.copytree(EXAMPLES, base / FOLDER, dirs_exist_ok=True)
    with model(pace) as server:
        done = vera(
            "run", QUESTION, "--input-dir", FOLDER, "--work-dir", work_dir, "--model-base-url", server.root,
            "--protocol", "text", "--sandbox", "none", "--egress", "none", *options, cwd=base,
        )  # fmt: skip
    assert done.returncode == exit_code, done.stderr
    return base / work_dir
