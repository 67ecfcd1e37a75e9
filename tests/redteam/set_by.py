"""Who sets a setting, and whether it is in force then."""

from functools import reduce
from pathlib import Path
from typing import Any

from redteam.attack import Story
from vera import events
from vera.config import ConfigError, Settings, load, public
from vera.config.handed import Handed
from vera.config.logged import Begun, Proof, log_layer


def setting_of(story: Story, folder: Path) -> str:
    """TAKEN where the settings are in force, REFUSED where the run is, IGNORED where another value is."""
    here = folder / "here"
    here.mkdir()
    try:
        settings = _loaded(story, here, folder / "own.yaml")
    except ConfigError:
        return "REFUSED"
    shown = public(settings)
    values = [_value(shown, key) for key in story.settings]
    keys = [key for key in story.settings if key.endswith((".key", "_key"))]
    if keys:
        values = [reduce(getattr, key.split("."), settings).get_secret_value() for key in keys]
    return "TAKEN" if [str(each).lower() for each in values] == _wanted(story) else "IGNORED"


def _wanted(story: Story) -> list[str]:
    return [value.lower() for value in story.settings.values()]


def _loaded(story: Story, here: Path, own: Path) -> Settings:
    mine = [f"{key}={value}" for key, value in story.own.items()]
    match story.origin:
        case "person":
            mine += [f"{key}={value}" for key, value in story.settings.items()]
            return load(mine, {}, {}, here, own).settings
        case "folder":
            own.write_text("".join(f"{key}: {value!r}\n" for key, value in story.own.items()))
            (here / "vera.yaml").write_text("".join(f"{k}: {v!r}\n" for k, v in story.settings.items()))
            return load((), {}, {}, here, own).settings
        case "session":
            return _going_on(story, here, own)
        case other:
            given = Handed(source=other, where=f"the {other} 'x'", settings=dict(story.settings))
            return load(mine, {}, {}, here, own, handed=given).settings


def _going_on(story: Story, here: Path, own: Path) -> Settings:
    """The settings of a run that is resumed from a log that the person's key has not sealed."""
    said = [f"{key}={value}" for key, value in story.settings.items()]
    logged = public(load(said, {}, {}, here, own).settings)
    begun = events.Session(format=1, version="1", settings=logged, seq=1)
    log = log_layer(Begun(begun, events.Task(task="Why?", seq=2), None), Proof())
    mine = [f"{key}={value}" for key, value in story.own.items()]
    return load(mine, {}, {}, here, own, log=log).settings


def _value(shown: dict[str, Any], key: str) -> object:
    value: Any = shown
    for part in key.split("."):
        value = value[part]
    return value
