"""Plays a story: a run of VERA in this process, with the documents, pages, agent and judge that it names."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import vera
from redteam import documents
from redteam.attack import Made, Story
from redteam.cast import RedCast
from redteam.judges import JUDGES
from redteam.place import Place
from redteam.set_by import setting_of
from support.attacks import article
from support.turns import final, turn
from vera.protocol import Turn

_CITED = re.compile(r"\[([^\[\]]+?)(:[\d,\- ]+)?\]")
TOLD = ("status", "result", "reason", "answer", "summary")


def play(story: Story, place: Place) -> str:
    """The word that the person sees."""
    if story.way == "setting":
        return setting_of(story, place.folder)
    folder = place.folder / "documents"
    folder.mkdir()
    for name, made in story.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(documents.make(made))
    for address, page in story.pages.items():
        place.stage.pages[_served(address)] = _page(page)
    match story.way:
        case "answer":
            return _answered(story, place, folder if story.files else None)
        case "question":
            return _asked(story, place, folder)
        case _:
            return _verified(story, place, folder)


def _answered(story: Story, place: Place, folder: Path | None) -> str:
    turns, ids = _turns(story, place)
    said = story.says or f"{story.claim.rstrip('.')} {' '.join(f'[{each}]' for each in story.at)}."
    answer = _CITED.sub(lambda found: _citation(found, ids), said)
    rule = "literal" if story.judge == "none" else "model"
    judge = JUDGES.get(story.judge)
    place.stage.plays = RedCast([*turns, final(answer)], answer, judge)
    root = place.stage.models.root
    settings = {
        "model.base_url": root,
        "model.protocol": "text",
        "run.mode": "agent",
        "verification.rule": rule,
        "sandbox.backend": "bubblewrap" if _has_shell(story) else "none",
        **_web(story, place),
        **story.settings,
    }
    question = re.sub(r"<([^<>\s]+)>", lambda found: place.stage.web.url(found[1]), story.question)
    return _research(question, folder, place, settings)


def _asked(story: Story, place: Place, folder: Path) -> str:
    settings = {"model.base_url": "builtin", "sandbox.backend": "none", "egress.mode": "none"}
    return _research(story.question, folder, place, {**settings, **story.settings})


def _research(question: str, folder: Path | None, place: Place, settings: Mapping[str, str]) -> str:
    said: list[str] = []
    done = vera.research(
        question,
        input_dir=folder,
        work_dir=place.folder / "work",
        overrides=[f"{key}={value}" for key, value in {"verification.rounds": "1", **settings}.items()],
        progress=said.append,
    )
    place.told = {"said": said, "done": done}
    is_extract = "extracts chosen by word match" in done.answer
    return "EXTRACTS" if is_extract and settings["model.base_url"] != "builtin" else done.status


def _verified(story: Story, place: Place, folder: Path) -> str:
    settings = {"model.base_url": "builtin", "sandbox.backend": "none", "egress.mode": "none"}
    done = vera.verify(
        story.claim,
        input_dir=folder,
        work_dir=place.folder / "work",
        overrides=[f"{key}={value}" for key, value in {**settings, **story.settings}.items()],
    )
    place.told = {"done": done}
    return done.word


def _turns(story: Story, place: Place) -> tuple[list[Turn], dict[str, str]]:
    """The agent's turns before its answer, and the evidence that each file, page or call becomes."""
    said: Sequence[Mapping[str, str]] = story.turns or [
        *({"read": name} for name in story.files),
        *({"fetch": address} for address in story.pages),
    ]
    turns, ids = [], dict[str, str]()
    for each in said:
        turns.append(_turn(each, place))
        if next(iter(each)) != "note":
            ids[each.get("as") or _called(each)] = f"ev_{len(ids) + 1:04}"
    return turns, ids


def _called(told: Mapping[str, str]) -> str:
    return next(iter(told.values()))


def _turn(told: Mapping[str, str], place: Place) -> Turn:
    (tool, value), *_ = told.items()
    match tool:
        case "read":
            span = {name: int(told[name]) for name in ("first", "last") if name in told}
            return turn("read", note=told.get("note", f"Read {value}."), path=value, **span)
        case "fetch":
            return turn("fetch", note=f"Get {value}.", url=place.stage.web.url(value))
        case "shell":
            return turn("shell", note="A command.", cmd=value)
        case "search":
            return turn("search", note="Look.", query=value)
        case "note":
            return turn("note", text=value)
        case _:
            raise AssertionError(f"{tool} is no tool of a story")


def _citation(found: re.Match[str], ids: Mapping[str, str]) -> str:
    return f"[{ids[found[1]]}{found[2] or ''}]" if found[1] in ids else found[0]


def _has_shell(story: Story) -> bool:
    return any("shell" in each for each in story.turns)


def _web(story: Story, place: Place) -> dict[str, str]:
    if not story.pages:
        return {"egress.mode": "none"}
    hosts = {_served(address).partition("/")[0] for address in story.pages}
    allowed = ",".join(f"{host}:{place.stage.web.port}" for host in sorted(hosts))
    return {"egress.mode": "allowlist", "egress.allow": allowed, "egress.allow_cidrs": "127.0.0.0/8"}


def _served(address: str) -> str:
    """Host and path as the stage's web knows them."""
    host, slash, path = address.partition("/")
    host = host.rpartition("@")[2].rstrip(".").lower().encode("idna").decode()
    return f"{host}{slash}{path.partition('?')[0]}"


def _page(made: Made) -> Any:
    if isinstance(made, str):
        return article("A page", *made.strip().split("\n"))
    if "html" in made:
        return made.get("status", 200), dict(made.get("headers", {})), str(made["html"]).encode()
    if "redirect" in made:
        return 302, {"Location": made["redirect"]}, b""
    paragraphs = str(made["text"]).strip().split("\n")
    return article(made["title"], *paragraphs, status=made.get("status", 200), **made.get("headers", {}))
