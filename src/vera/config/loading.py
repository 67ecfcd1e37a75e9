"""From all the places where settings are written to one frozen tree."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr, ValidationError

from vera.config.bounded import expand_home
from vera.config.catalogue import Setting, catalogue, sections, unknown, written
from vera.config.environment import dotenv_layer, environment_layer
from vera.config.errors import ConfigError, plain, sentences
from vera.config.origin import Entry, Layer, Origin, Place
from vera.config.secret import LITERAL_WARNING, is_reference, resolve_secret
from vera.config.settings import BudgetSettings, Section, Settings
from vera.config.yaml_file import read_layer

PACKAGED = Path(__file__).parents[1] / "default.yaml"

ASSIGNMENT = re.compile(r"([\w.-]+)=(.*)", re.DOTALL)
"""`-c` text that sets a value; with a path separator before its `=` it is a file."""


@dataclass(frozen=True)
class Loaded:
    """The settings, where each came from by its dotted key, and sentences that the person should read."""

    settings: Settings
    origin: Mapping[str, Origin]
    warnings: tuple[str, ...] = ()


def load(
    overrides: Sequence[str] = (),
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    user_config: Path | None = None,
) -> Loaded:
    """The settings in force: flag > `-c key=value` > `-c file.yaml` > environment > `.env` in the working
    folder > `vera.yaml` there > user configuration > packaged defaults. It changes nothing anywhere.

    `overrides` are the texts of `-c`, of which a later one wins over an earlier of its kind; `flags` are
    command-line options by the dotted key that they set (None: not given). `environ`, `cwd` and
    `user_config` default to those of the process and the person.

    Raises ConfigError with a sentence for each unknown key, each value that cannot stand where it was put,
    and the first file that cannot be read.
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

    add(read_layer(user_config, str(user_config), Place.USER))
    add(read_layer(cwd / "vera.yaml", "vera.yaml", Place.FOLDER))
    for layer, misspelt in (dotenv_layer(cwd / ".env"), environment_layer(environ)):
        layers.append(layer)
        problems.extend(misspelt)
    assignments: dict[str, Entry] = {}
    for text in overrides:
        if match := ASSIGNMENT.fullmatch(text):
            assignments.update(_assignment(match[1], match[2]))
        else:
            add(_named_file(text, cwd))
    add(assignments)
    add({key: _flag(key, value) for key, value in (flags or {}).items() if value is not None})
    merged = {key: entry for layer in layers for key, entry in layer.items()}
    return _settle(merged, environ, problems, _without_the_folder(layers))


def defaults(changes: Mapping[str, object] | None = None) -> Settings:
    """The packaged defaults, with some settings changed by their dotted key; nothing else is read."""
    changed = {
        key: Entry(value, Origin(Place.FLAG, f"change of {key}")) for key, value in (changes or {}).items()
    }
    known, problems = _sift(changed)
    merged = {**_packaged(), **known}
    return _settle(merged, {}, problems, merged).settings


def public(settings: Section) -> dict[str, object]:
    """The settings as plain values for a log or a page: `set` or `not set` stands for each key."""
    return {name: _public_value(getattr(settings, name)) for name in type(settings).model_fields}


def user_config_file() -> Path:
    """Where the person's own settings stand, whether or not there are any."""
    from platformdirs import user_config_path

    return user_config_path("vera", appauthor=False) / "config.yaml"


def _working_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise ConfigError("The working folder does not exist any more. Go to another one: cd") from None


def _packaged() -> Layer:
    layer = read_layer(PACKAGED, PACKAGED.name, Place.DEFAULT)
    if layer is None or layer.keys() != catalogue().keys():
        raise ConfigError(f"The packaged defaults are damaged ({PACKAGED}); install VERA again.")
    return {key: Entry(entry.value, Origin(Place.DEFAULT, "default")) for key, entry in layer.items()}


def _named_file(text: str, cwd: Path) -> Layer:
    layer = read_layer(cwd / expand_home(Path(text)), text, Place.FILE)
    if layer is None:
        raise ConfigError(
            f"-c {plain(text)} is neither KEY=VALUE nor a file that exists. An example: -c run.max_steps=20"
        )
    return layer


def _assignment(key: str, value: str) -> Layer:
    setting = catalogue().get(key)
    hidden = setting is None or setting.secret
    shown = "…" if hidden else plain(value, 60)
    return {key: Entry(value, Origin(Place.OVERRIDE, f"-c {plain(key)}={shown}"))}


def _flag(key: str, value: object) -> Entry:
    setting = catalogue().get(key)
    name = setting.flag if setting and setting.flag else f"for {key}"
    return Entry(value, Origin(Place.FLAG, f"flag {name}"))


def _sift(layer: Layer) -> tuple[Layer, list[str]]:
    """The entries of a layer that are settings, and a sentence for each that is none."""
    # A group whose lines are all commented out is null in YAML; it says nothing.
    strangers = [
        (entry.origin, key)
        for key, entry in layer.items()
        if key not in catalogue() and not (key in sections() and entry.value is None)
    ]
    known = {key: entry for key, entry in layer.items() if key in catalogue()}
    return known, sentences(strangers, unknown)


def _without_the_folder(layers: Sequence[Layer]) -> Layer:
    """What would be in force if the working folder said nothing."""
    return {
        key: entry for layer in layers for key, entry in layer.items() if not entry.origin.place.of_the_folder
    }


def _settle(merged: Layer, environ: Mapping[str, str], problems: list[str], yours: Layer) -> Loaded:
    """Converts and checks the winning values; `problems` are those found before, `yours` the entries that
    would win without the working folder."""
    problems = list(problems)
    warnings: list[str] = []
    tree: dict[str, dict[str, object]] = {name: {} for name in sections()}
    for key, entry in merged.items():
        setting = catalogue()[key]
        try:
            value = _value(setting, entry, environ, warnings)
        except ConfigError as error:
            problems.append(f"{key} ({entry.origin}): {error}")
            value = SecretStr("")
        tree[setting.section][setting.leaf] = value
    origin = {key: entry.origin for key, entry in merged.items()}
    warnings += _withhold(tree, origin)
    try:
        settings = Settings.model_validate(tree)
    except ValidationError as error:
        problems += [_sentence(each["loc"], merged) for each in error.errors(include_input=False)]
    else:
        problems += _unasked(settings, origin, yours)
        problems += _without_prices(settings.budget)
    if problems:
        raise ConfigError(problems)
    return Loaded(settings, origin, tuple(warnings))


def _unasked(settings: Settings, origin: Mapping[str, Origin], yours: Layer) -> list[str]:
    """A sentence for each setting that weakens what holds a run, chosen by a file of the working folder."""
    sandbox, search, packaged = settings.sandbox, settings.search, _packaged()
    weaker = {
        "sandbox.backend": (sandbox.backend == "host", "runs commands without isolation"),
        "sandbox.profile": (sandbox.profile == "lab", "makes commands root in their sandbox"),
        "sandbox.privileged": (sandbox.privileged, "takes the sandbox's isolation away"),
        "sandbox.base_image": (
            sandbox.base_image != packaged["sandbox.base_image"].value,
            "decides which system commands run in",
        ),
        "policy.official_domains": (
            bool(settings.policy.official_domains),
            "decides whose word is official",
        ),
        "search.searxng_url": (bool(search.searxng_url), "opens a place that may be in your own network"),
    }
    for key in ASKED_FIRST:
        wanted = str(yours[key].value or "")
        is_other = str(getattr(settings.run, key.partition(".")[2])) != wanted
        weaker[key] = (
            is_other and wanted != str(packaged[key].value or ""),
            "changes what a run must ask before it works",
        )
    for key in LEAST:
        section, name = key.split(".")
        value = getattr(getattr(settings, section), name)
        is_less = value < int(str(packaged[key].value))
        weaker[key] = (is_less, "asks for less before an answer counts as verified")
    for key in MOST:
        limit = _number(yours[key].value)
        value = getattr(settings.budget, key.partition(".")[2])
        weaker[key] = (bool(limit) and not 0 < value <= limit, "lets the run spend more than you allowed")
    if _number(yours["budget.cost"].value):
        for key in PRICES:
            weaker[key] = (True, "decides what your limit on cost is worth")
    problems = []
    for key, (is_weaker, effect) in weaker.items():
        if is_weaker and origin[key].place.of_the_folder:
            setting = catalogue()[key]
            value = written(getattr(getattr(settings, setting.section), setting.leaf))
            by_hand = f"{setting.own_env}={value} in the environment"
            if setting.flag:
                flag = setting.flag if value == "true" else f"{setting.flag} {value}"
                by_hand = f"{flag}, or {by_hand}"
            problems.append(
                f"{key}: {value} {effect}, which {origin[key]} cannot decide for you. If you trust this "
                f"folder and its model, ask for it yourself: {by_hand}"
            )
    return problems


def _number(written: object) -> float:
    """A limit as it was written; 0, which is unlimited, for what is none."""
    try:
        return float(str(written))
    except ValueError:
        return 0.0


def _without_prices(budget: BudgetSettings) -> list[str]:
    """A sentence when cost is limited and cannot be known."""
    missing = [f"budget.{name}" for name in ("input_price", "output_price") if getattr(budget, name) is None]
    if not budget.cost or not missing:
        return []
    return [
        f"budget.cost: a limit on cost needs the prices of a million tokens: set {' and '.join(missing)}, "
        f"for example -c {missing[0]}=2.5"
    ]


def _value(setting: Setting, entry: Entry, environ: Mapping[str, str], warnings: list[str]) -> object:
    if setting.secret:
        return _secret(setting, entry, environ, warnings)
    if setting.text:
        return "" if entry.value is None else entry.value
    if setting.optional and entry.value in ("", "null"):
        return None
    return entry.value


def _secret(setting: Setting, entry: Entry, environ: Mapping[str, str], warnings: list[str]) -> object:
    """The key itself: the person's own places may say where it lies, the working folder may not.

    A file that came with a cloned folder could otherwise have any file of this machine sent as a key.
    """
    if isinstance(entry.value, SecretStr):
        return entry.value
    text = entry.value if isinstance(entry.value, str) else "" if entry.value is None else None
    place = entry.origin.place
    if text is None or place is Place.ENVIRONMENT:
        return entry.value
    if place.of_the_folder:
        if is_reference(text):
            raise ConfigError("A file of the working folder cannot say where a key lies on this machine.")
        return text
    secret, warning = resolve_secret(text, environ)
    if warning and not (warning == LITERAL_WARNING and place in (Place.USER, Place.FILE)):
        warnings.append(f"{setting.key} ({entry.origin}): {warning}")
    return secret


LEAST = (
    "verification.web_sources",
    "policy.negative_claim_min_official",
    "policy.negative_claim_min_independent",
)
"""What an answer needs at least: only a person lowers it."""

ASKED_FIRST = ("run.lane", "run.require_theses", "run.risk")
"""What a working session must ask before it works: once a person has set it, the working folder leaves it."""

MOST = ("budget.tokens", "budget.cost", "budget.seconds", "budget.searches")
"""What a run may spend at most: the working folder lowers it only."""

PRICES = tuple(
    f"budget.{whose}{kind}_price" for whose in ("", "verifier_") for kind in ("input", "cached", "output")
)
"""What a limit on cost is counted by."""

KEYED_ADDRESSES = (
    ("model", "base_url", "key", "--model-base-url, or MODEL_BASE_URL in the environment"),
    ("verification", "model_base_url", "model_key", "--verifier-model-base-url"),
)
"""Section, address, the key that goes there, and how a person names the address."""


def _withhold(tree: dict[str, dict[str, object]], origin: dict[str, Origin]) -> list[str]:
    """Takes each key away from an address that the working folder chose, unless it chose both.

    Returns a sentence for the person for each that was withheld.
    """
    said = []
    for section, address_name, key_name, by_hand in KEYED_ADDRESSES:
        key, address = tree[section][key_name], origin[f"{section}.{address_name}"]
        source = origin[f"{section}.{key_name}"]
        given = key.get_secret_value() if isinstance(key, SecretStr) else key
        if not given or not address.place.of_the_folder or source.place.of_the_folder:
            continue
        tree[section][key_name] = SecretStr("")
        origin[f"{section}.{key_name}"] = Origin(source.place, f"{source.text} (withheld)")
        whose = "model's" if section == "model" else "verifier's"
        said.append(
            f"Your key ({source}) is not sent to the {whose} address, because that comes from {address} and "
            f"not from you. If it may have the key, name the address yourself: {by_hand}."
        )
    return said


def _sentence(location: tuple[int | str, ...], merged: Layer) -> str:
    """What is wrong with a value: the setting, what is allowed, what was found and where."""
    key = ".".join(str(part) for part in location[:2])
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
