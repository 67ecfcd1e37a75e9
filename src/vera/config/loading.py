"""From all the places where settings are written to one frozen tree."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import SecretStr, ValidationError

from vera.config.aliases import canonical, under_own_names
from vera.config.bounded import expand_home
from vera.config.cross_checks import do_not_fit, idle
from vera.config.environment import dotenv_layer, environment_layer
from vera.config.errors import ConfigError, Refused, plain, sentences
from vera.config.handed import Allowed, Handed
from vera.config.origin import Layer, Origin, SettingPlace, WrittenValue
from vera.config.schema import Setting, catalogue, sections
from vera.config.secret import LITERAL_WARNING, resolve_secret
from vera.config.section import Section
from vera.config.settings import Settings
from vera.config.suggestions import misplaced, unknown
from vera.config.trust import keys_to_withhold, refusals, withheld_sentence, without_foreign_keys
from vera.config.yaml_file import read_layer

S = TypeVar("S", bound=Section)

PACKAGED = Path(__file__).parents[1] / "default.yaml"

ASSIGNMENT = re.compile(r"([\w.-]+)=(.*)", re.DOTALL)
"""`-c` text that sets a value; with a path separator before its `=` it is a file."""

IMPLIED = {"action_verifier.verifier_type": ("action_verifier.enabled", True)}
"""A setting whose option on the command line sets another one too, and to what."""


@dataclass(frozen=True)
class Loaded:
    """The settings, where each came from by its dotted key, and sentences that the person should read.

    `withheld` are the settings of keys that the person has and that do not go to the address in force.
    """

    settings: Settings
    origin: Mapping[str, Origin]
    warnings: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()


def load(
    overrides: Sequence[str] = (),
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    user_config: Path | None = None,
    *,
    handed: Handed | None = None,
    log: Layer | None = None,
) -> Loaded:
    """The settings in force: what was handed over with a task or a form > flag > `-c key=value` >
    `-c file.yaml` > the log of a run that goes on > environment > `.env` in the working folder > `vera.yaml`
    there > user configuration > packaged defaults. It changes nothing anywhere.

    `overrides` are the texts of `-c`, of which a later one wins over an earlier of its kind; `flags` are
    command-line options by the dotted key that they set (None: not given). `environ`, `cwd` and
    `user_config` default to those of the process and the person. What is not the person's word is held by
    `config.trust`.

    Raises ConfigError with a sentence for each unknown key, each value that cannot stand where it was put,
    and the first file that cannot be read; Refused when all that is wrong is that someone set what is not
    theirs to set.
    """
    environ = os.environ if environ is None else environ
    cwd = _working_folder() if cwd is None else cwd
    user_config = user_config_file() if user_config is None else user_config
    problems: list[str] = []
    layers: list[Layer] = [_packaged()]

    def add(layer: Layer | None) -> None:
        known, unknown_keys = _sift(layer or {})
        layers.append(known)
        problems.extend(unknown_keys)

    add(read_layer(user_config, str(user_config), SettingPlace.USER))
    add(read_layer(cwd / "vera.yaml", "vera.yaml", SettingPlace.FOLDER))
    for layer, misspelt in (dotenv_layer(cwd / ".env"), environment_layer(environ)):
        layers.append(layer)
        problems.extend(misspelt)
    layers.append(log or {})
    assignments: dict[str, WrittenValue] = {}
    for text in overrides:
        if match := ASSIGNMENT.fullmatch(text):
            assignments.update(_assignment(canonical(match[1]), match[2]))
        else:
            add(_named_file(text, cwd))
    add(assignments)
    add(_flags(flags or {}))
    add(handed.layer() if handed else None)
    merged = {key: entry for layer in layers for key, entry in layer.items()}
    mine = {key: entry for layer in layers for key, entry in layer.items() if entry.origin.place.is_now}
    winning, warnings = without_foreign_keys(merged, mine)
    loaded = _settle(winning, environ, problems, warnings)
    if all(entry.origin.place.is_now for entry in winning.values()):
        return loaded
    yours = _settle(mine, environ, (), ()).settings
    allowed = handed.allowed if handed else Allowed()
    if refused := refusals(loaded.settings, winning, mine, yours, cwd, allowed):
        raise Refused(refused)
    return _without_keys_of_others(loaded, yours)


def defaults(changes: Mapping[str, object] | None = None) -> Settings:
    """The packaged defaults, with some settings changed by their dotted key; nothing else is read."""
    changed = {
        key: WrittenValue(value, Origin(SettingPlace.FLAG, f"change of {key}"))
        for key, value in (changes or {}).items()
    }
    known, problems = _sift(changed)
    return _settle({**_packaged(), **known}, {}, problems, ()).settings


def public(settings: Section) -> dict[str, object]:
    """The settings as plain values for a log or a page: `set` or `not set` stands for each key."""
    return {name: _public_value(getattr(settings, name)) for name in type(settings).model_fields}


def user_config_file() -> Path:
    """Where the user's settings are, whether or not there are any."""
    from platformdirs import user_config_path

    return user_config_path("vera", appauthor=False) / "config.yaml"


def _working_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise ConfigError("The working folder does not exist any more. Go to another one: cd") from None


@cache
def _packaged() -> Layer:
    layer = read_layer(PACKAGED, PACKAGED.name, SettingPlace.DEFAULT)
    if layer is None or layer.keys() != catalogue().keys():
        raise ConfigError(f"The packaged defaults are damaged ({PACKAGED}); install VERA again.")
    return {
        key: WrittenValue(entry.value, Origin(SettingPlace.DEFAULT, "default"))
        for key, entry in layer.items()
    }


def _named_file(text: str, cwd: Path) -> Layer:
    layer = read_layer(cwd / expand_home(Path(text)), text, SettingPlace.FILE)
    if layer is None:
        raise ConfigError(
            f"-c {plain(text)} is neither KEY=VALUE nor a file that exists. An example: -c run.max_steps=20"
        )
    return layer


def _assignment(key: str, value: str) -> Layer:
    setting = catalogue().get(key)
    hidden = setting is None or setting.secret
    shown = "…" if hidden else plain(value, 60)
    return {key: WrittenValue(value, Origin(SettingPlace.OVERRIDE, f"-c {plain(key)}={shown}"))}


def _flags(flags: Mapping[str, object]) -> Layer:
    layer = {key: _flag(key, value) for key, value in flags.items() if value is not None}
    for key, (other, value) in IMPLIED.items():
        if key in layer:
            layer.setdefault(other, WrittenValue(value, layer[key].origin))
    return layer


def _flag(key: str, value: object) -> WrittenValue:
    setting = catalogue().get(key)
    name = setting.flag if setting and setting.flag else f"for {key}"
    return WrittenValue(value, Origin(SettingPlace.FLAG, f"flag {name}"))


def _sift(layer: Layer) -> tuple[Layer, list[str]]:
    """The entries of a layer that are settings, and a sentence for each that is not a setting."""
    layer, twice = under_own_names(layer)
    strangers: dict[str, tuple[object, str]] = {}
    for key, entry in layer.items():
        # A group whose lines are all commented out is null in YAML; it says nothing.
        if key not in catalogue() and not (key in sections() and entry.value is None):
            # A block that is indented too far is one mistake, however much it holds.
            block = misplaced(key)
            strangers.setdefault(block or key, (entry.origin, key))
    known = {key: entry for key, entry in layer.items() if key in catalogue()}
    return known, twice + sentences(strangers.values(), unknown)


def _settle(
    merged: Layer, environ: Mapping[str, str], problems: Sequence[str], warnings: Sequence[str]
) -> Loaded:
    """Converts and checks the winning values; `problems` and `warnings` are those found before."""
    problems, warnings = list(problems), list(warnings)
    values: dict[str, object] = {}
    for key, entry in merged.items():
        try:
            values[key] = _value(catalogue()[key], entry, environ, warnings)
        except ConfigError as error:
            problems.append(f"{key} ({entry.origin}): {error}")
            values[key] = SecretStr("")
    origin = {key: entry.origin for key, entry in merged.items()}
    try:
        settings = Settings.model_validate(_tree(values))
    except ValidationError as error:
        problems += [_sentence(each["loc"], merged) for each in error.errors(include_input=False)]
    else:
        problems += do_not_fit(settings)
        warnings += idle(settings)
    if problems:
        raise ConfigError(problems)
    settings.remember(
        {key: each.place.source for key, each in origin.items() if each.place is not SettingPlace.DEFAULT}
    )
    return Loaded(settings, origin, tuple(warnings))


def _without_keys_of_others(loaded: Loaded, yours: Settings) -> Loaded:
    """Takes each key away from an address for which the person did not give it."""
    withheld = keys_to_withhold(loaded.settings, loaded.origin, yours)
    if not withheld:
        return loaded
    settings, origin = loaded.settings, dict(loaded.origin)
    said = [withheld_sentence(keyed, origin) for keyed in withheld]
    for keyed in withheld:
        settings = _replaced(settings, keyed.key.split("."), SecretStr(""))
        origin[keyed.key] = Origin(origin[keyed.key].place, f"{origin[keyed.key].text} (withheld)")
    return Loaded(settings, origin, (*said, *loaded.warnings), tuple(keyed.key for keyed in withheld))


def _replaced(section: S, path: Sequence[str], value: object) -> S:
    """The section with one value below it replaced."""
    name, *rest = path
    new = _replaced(getattr(section, name), rest, value) if rest else value
    return section.model_copy(update={name: new})


def _tree(values: Mapping[str, object]) -> dict[str, Any]:
    """From dotted names to groups within groups."""
    tree: dict[str, Any] = {}
    for key, value in values.items():
        *groups, leaf = key.split(".")
        branch = tree
        for group in groups:
            branch = branch.setdefault(group, {})
        branch[leaf] = value
    return tree


def _value(setting: Setting, entry: WrittenValue, environ: Mapping[str, str], warnings: list[str]) -> object:
    if setting.secret:
        return _secret(setting, entry, environ, warnings)
    if setting.text:
        return "" if entry.value is None else entry.value
    if setting.optional and entry.value in ("", "null"):
        return None
    return entry.value


def _secret(setting: Setting, entry: WrittenValue, environ: Mapping[str, str], warnings: list[str]) -> object:
    """The key itself, or what the person's words for it lead to."""
    if isinstance(entry.value, SecretStr):
        return entry.value
    text = entry.value if isinstance(entry.value, str) else "" if entry.value is None else None
    place = entry.origin.place
    if text is None or place is SettingPlace.ENVIRONMENT:
        return entry.value
    secret, warning = resolve_secret(text, environ)
    if warning and not (warning == LITERAL_WARNING and place in (SettingPlace.USER, SettingPlace.FILE)):
        warnings.append(f"{setting.key} ({entry.origin}): {warning}")
    return secret


def _sentence(location: tuple[int | str, ...], merged: Layer) -> str:
    """What is wrong with a value: the setting, what is allowed, what was found and where."""
    # Behind the name of a setting Pydantic adds which member of a union it tried.
    names = (".".join(map(str, location[:length])) for length in range(1, len(location) + 1))
    key = next(name for name in names if name in catalogue())
    setting, entry = catalogue()[key], merged[key]
    return f"{key} must be {setting.allowed}, but {entry.origin} gives {_shown(setting, entry.value)}."


def _shown(setting: Setting, value: object) -> str:
    if setting.secret:
        return "something else (hidden)"
    if value is None:
        return "nothing"
    if isinstance(value, list):
        return "a list"
    return repr(plain(value)) if isinstance(value, str) else plain(str(value))


def _public_value(value: object) -> object:
    if isinstance(value, Section):
        return public(value)
    if isinstance(value, SecretStr):
        return "set" if value.get_secret_value() else "not set"
    return str(value) if isinstance(value, Path) else value
