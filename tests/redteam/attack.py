"""An attack: one file in a folder of its family, with an honest twin. How to write one: docs/redteam.md.

Most are data (`FAMILY/NAME.yaml`, members of `Story`). One that needs code is a module (`FAMILY/NAME.py`)
with the texts `CLAIM`, `TRICK` and `TWIN`, the words `MUST_NOT_BE` and `MUST_BE`, and the functions
`attack(place)` and `twin(place)`, which give the word that a person gets to see. `GETS_THROUGH` and `REFUSED`
are optional.
"""

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml

from redteam.place import Place

HERE = Path(__file__).parent
TWIN_ONLY = ("change", "must_be", "refused")

Made = str | dict[str, Any]
"""A text, or a document that is made: a kind of redteam.documents and what it is made of."""


class Story(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is read, what is said of it, and who judges.

    Attributes:
        claim: What is to be believed.
        way: A scripted agent answers (`answer`), the built-in model is asked (`question`), the claim is
            verified as a thesis (`thesis`), or somebody sets a setting (`setting`).
        files: Documents of the input folder by name.
        pages: Web pages by host and path.
        turns: What the agent does before it answers; without any it reads each file, then each page.
        at: The places that the claim cites, as `lease.txt:3`.
        says: The answer, with such places in brackets; without one it is the claim and its places.
        judge: A persona of redteam.judges; `none` is the rule that needs no judge.
        settings: Settings of the person; with the way `setting` those of the origin.
        origin: Who sets them: `person`, `folder`, `task`, `form` or `session`.
        own: What the person has set beside them.
        needs: Parts of tests/parts.py.
    """

    claim: str
    way: Literal["answer", "question", "thesis", "setting"] = "answer"
    question: str = "What do the documents say?"
    files: dict[str, Made] = {}
    pages: dict[str, Made] = {}
    turns: tuple[dict[str, str], ...] = ()
    at: tuple[str, ...] = ()
    says: str = ""
    judge: str = "none"
    settings: dict[str, str] = {}
    origin: Literal["person", "folder", "task", "form", "session"] = "person"
    own: dict[str, str] = {}
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attack:
    """One file. `gets_through` and `refused` are empty where all is as it should be, else they say why."""

    family: str
    name: str
    claim: str
    trick: str
    must_not_be: tuple[str, ...]
    must_be: str
    play: Callable[[Place], str]
    play_twin: Callable[[Place], str]
    needs: tuple[str, ...] = ()
    gets_through: str = ""
    refused: str = ""

    @property
    def id(self) -> str:
        return f"{self.family}/{self.name}"


@cache
def attacks() -> tuple[Attack, ...]:
    """Every attack, by family and name."""
    files = sorted([*HERE.glob("*/*.yaml"), *HERE.glob("*/*.py")])
    return tuple(_of_data(file) if file.suffix == ".yaml" else _of_module(file) for file in files)


def _of_data(file: Path) -> Attack:
    return attack_of(file.parent.name, file.stem, yaml.safe_load(file.read_text("utf-8")))


def attack_of(family: str, name: str, told: dict[str, Any]) -> Attack:
    """The attack that such data tells. Raises msgspec.ValidationError and KeyError."""
    told = dict(told)
    trick, must_not_be, twin = told.pop("trick"), told.pop("must_not_be"), told.pop("twin")
    gets_through = told.pop("gets_through", "")
    told = {**told, "at": _listed(told.get("at"))}
    story = msgspec.convert(told, Story)
    change = {name: value for name, value in twin.items() if name not in TWIN_ONLY}
    if "at" in change:
        change["at"] = _listed(change["at"])
    other = msgspec.convert({**told, **change}, Story)
    return Attack(
        family=family,
        name=name,
        claim=story.claim,
        trick=trick,
        must_not_be=tuple(must_not_be),
        must_be=twin["must_be"],
        play=partial(_play, story),
        play_twin=partial(_play, other),
        needs=story.needs,
        gets_through=gets_through,
        refused=twin.get("refused", ""),
    )


def _listed(value: str | list[str] | None) -> list[str]:
    return [value] if isinstance(value, str) else value or []


def _play(story: Story, place: Place) -> str:
    from redteam.runs import play

    key = msgspec.json.encode(story)
    if key not in place.stage.words:
        place.stage.words[key] = play(story, place)
    return place.stage.words[key]


def _of_module(file: Path) -> Attack:
    module = _imported(file)
    return Attack(
        family=file.parent.name,
        name=file.stem,
        claim=module["CLAIM"],
        trick=module["TRICK"],
        must_not_be=tuple(module["MUST_NOT_BE"]),
        must_be=module["MUST_BE"],
        play=module["attack"],
        play_twin=module["twin"],
        needs=tuple(module.get("NEEDS", ())),
        gets_through=module.get("GETS_THROUGH", ""),
        refused=module.get("REFUSED", ""),
    )


def _imported(file: Path) -> Mapping[str, Any]:
    name = f"redteam.{file.parent.name}.{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return vars(module)
