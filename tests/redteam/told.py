"""Runs of code attacks: the question, the documents and the agent in a few words."""

from collections.abc import Mapping
from typing import Any

import vera
from redteam.cast import RedCast
from redteam.judges import Judge
from redteam.place import Place
from support.turns import final, turn
from vera.protocol import Turn

TEXT = "Rules\nMembers may vote by hand in the hall.\nThey meet on Mondays.\n"
TRUE = "Members may vote by hand in the hall [ev_0001:2]."
FALSE = "Members may vote by telephone [ev_0001:2]."
READ = turn("read", path="rules.txt")


def run(
    place: Place,
    answer: str = TRUE,
    *turns: Turn,
    judge: Judge | None = None,
    files: Mapping[str, str | bytes] | None = None,
    rule: str = "model",
    base_url: str = "",
    settings: Mapping[str, object] | None = None,
    **more: Any,
) -> Any:
    """What `vera.research` gives. The agent reads rules.txt where no turns are given."""
    folder = place.folder / "documents"
    folder.mkdir(exist_ok=True)
    for name, content in (files or {"rules.txt": TEXT}).items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    place.stage.plays = RedCast([*(turns or [READ]), final(answer)], answer, judge)
    chosen = {
        "model.base_url": base_url or place.stage.models.root,
        "model.protocol": "text",
        "run.mode": "agent",
        "verification.rule": rule,
        "verification.rounds": 1,
        "sandbox.backend": "none",
        "egress.mode": "none",
        **(settings or {}),
    }
    said: list[str] = []
    done = vera.research(
        "How may members vote?",
        input_dir=folder,
        work_dir=place.folder / "work",
        overrides=[f"{key}={value}" for key, value in chosen.items()],
        progress=said.append,
        **more,
    )
    place.told = {"done": done, "said": said}
    return done


def word(done: Any) -> str:
    """The word of the agent's answer; EXTRACTS where lines of the documents were given in its place."""
    return "EXTRACTS" if "extracts chosen by word match" in done.answer else str(done.status)
