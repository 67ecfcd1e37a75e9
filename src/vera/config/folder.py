"""What the working folder cannot decide: its files may have come from a stranger."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import SecretStr

from vera.config.catalogue import catalogue, value_of, written
from vera.config.origin import Layer, Origin
from vera.config.settings import Settings

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
    f"budget.{whose}{kind}_price"
    for whose in ("", "verifier_", "selector_")
    for kind in ("input", "cached", "output")
)
"""What a limit on cost is counted by."""


class KeyedAddress(NamedTuple):
    """The settings of an address and of the key that goes there, and how a person names the address."""

    address: str
    key: str
    whose: str
    by_hand: str


KEYED_ADDRESSES = (
    KeyedAddress(
        "model.base_url",
        "model.key",
        "model's",
        "--model-base-url, or MODEL_BASE_URL in the environment",
    ),
    KeyedAddress(
        "verification.model_base_url",
        "verification.model_key",
        "verifier's",
        "--verifier-model-base-url",
    ),
    KeyedAddress(
        "action_verifier.model.base_url",
        "action_verifier.model.key",
        "action verifier's",
        "-c action_verifier.model.base_url=ADDRESS",
    ),
)


def unasked(
    settings: Settings, origin: Mapping[str, Origin], yours: Layer, packaged: Layer, cwd: Path
) -> list[str]:
    """A sentence for each setting that weakens what holds a run, chosen by a file of the working folder.

    That is `cwd`; `yours` are the entries that would win without that folder, `packaged` the defaults.
    """
    sandbox, search, verifier = settings.sandbox, settings.search, settings.action_verifier
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
        "action_verifier.verifier_class": (
            bool(verifier.verifier_class),
            "runs code of its own on this machine",
        ),
        "action_verifier.prompt_dir": (
            verifier.prompt_dir is not None and not _lies_in(cwd, verifier.prompt_dir),
            "reads files outside this folder",
        ),
    }
    for key in ASKED_FIRST:
        wanted = str(yours[key].value or "")
        is_other = str(value_of(settings, key)) != wanted
        weaker[key] = (
            is_other and wanted != str(packaged[key].value or ""),
            "changes what a run must ask before it works",
        )
    for key in LEAST:
        is_less = _number(value_of(settings, key)) < _number(packaged[key].value)
        weaker[key] = (is_less, "asks for less before an answer counts as verified")
    for key in MOST:
        limit, value = _number(yours[key].value), _number(value_of(settings, key))
        weaker[key] = (bool(limit) and not 0 < value <= limit, "lets the run spend more than you allowed")
    if _number(yours["budget.cost"].value):
        for key in PRICES:
            weaker[key] = (True, "decides what your limit on cost is worth")
    problems = []
    for key, (is_weaker, effect) in weaker.items():
        if is_weaker and origin[key].place.of_the_folder:
            setting = catalogue()[key]
            shown = written(value_of(settings, key))
            by_hand = f"{setting.own_env}={shown} in the environment"
            if setting.flag:
                flag = setting.flag if shown == "true" else f"{setting.flag} {shown}"
                by_hand = f"{flag}, or {by_hand}"
            problems.append(
                f"{key}: {shown} {effect}, which {origin[key]} cannot decide for you. If you trust this "
                f"folder and its model, ask for it yourself: {by_hand}"
            )
    return problems


def withhold(values: dict[str, object], origin: dict[str, Origin]) -> list[str]:
    """Takes each key away from an address that the working folder chose, unless it chose both.

    `values` are by the dotted names of their settings, and so is `origin`. Returns a sentence for the person
    for each that was withheld.
    """
    said = []
    for keyed in KEYED_ADDRESSES:
        key, address, source = values[keyed.key], origin[keyed.address], origin[keyed.key]
        given = key.get_secret_value() if isinstance(key, SecretStr) else key
        if not given or not address.place.of_the_folder or source.place.of_the_folder:
            continue
        values[keyed.key] = SecretStr("")
        origin[keyed.key] = Origin(source.place, f"{source.text} (withheld)")
        said.append(
            f"Your key ({source}) is not sent to the {keyed.whose} address, because that comes from "
            f"{address} and not from you. If it may have the key, name the address yourself: {keyed.by_hand}."
        )
    return said


def _lies_in(folder: Path, path: Path) -> bool:
    """Whether a path, which starts at the folder, leads to something inside it."""
    try:
        return (folder / path).resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # a circle of links
        return False


def _number(written: object) -> float:
    """A limit as it was written; 0, which is unlimited, for what is none."""
    try:
        return float(str(written))
    except ValueError:
        return 0.0
