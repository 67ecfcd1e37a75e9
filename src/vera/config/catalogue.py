"""The settings as a list: what each is called, what may stand in it, and which one was meant."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Any, Literal, cast, get_args, get_origin

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from vera.config.errors import plain
from vera.config.settings import Section, Settings

LONGEST_NAME = 100
"""Longer ones are cut before they are compared with every setting: comparing is quadratic."""


@dataclass(frozen=True)
class Setting:
    """One setting as people write it. `own_env` always works, `env` holds its names in the specifications."""

    key: str
    description: str
    allowed: str
    env: tuple[str, ...]
    flag: str
    secret: bool
    text: bool
    optional: bool

    @property
    def section(self) -> str:
        return self.key.rpartition(".")[0]

    @property
    def leaf(self) -> str:
        return self.key.rpartition(".")[2]

    @property
    def own_env(self) -> str:
        return own_name(self.key)

    @property
    def env_names(self) -> tuple[str, ...]:
        """Every environment name, the one that counts first in front."""
        return (self.own_env, *self.env)


def own_name(key: str) -> str:
    """`run.max_steps` as an environment name: `VERA_RUN__MAX_STEPS`."""
    return "VERA_" + key.replace(".", "__").upper()


@cache
def catalogue() -> Mapping[str, Setting]:
    """Every setting by its dotted key, in the order of the tree."""
    return {each.key: each for each in _settings(Settings, "")}


@cache
def sections() -> Mapping[str, type[Section]]:
    """Every group of settings by its dotted name."""
    return {
        name: cast(type[Section], field.annotation)
        for name, field in Settings.model_fields.items()
        if _is_section(field)
    }


def written(value: object) -> str:
    """A plain value as one would write it in YAML, on one line and safe for a terminal."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return '""' if value == "" else plain(str(value), 300)


def unknown(name: str) -> str:
    """The sentence on a key that is no setting, with the one that was probably meant."""
    if name in sections():
        members = ", ".join(key for key, each in catalogue().items() if each.section == name)
        return f"{name} is a group of settings: {members}."
    owner = next((key for key in catalogue() if name.startswith(f"{key}.")), None)
    if owner:
        return f"{owner} takes one value, not a group of them."
    wanted = name[:LONGEST_NAME].lower().replace("-", "_")
    leaf = wanted.rpartition(".")[2]
    homes = [each for each in catalogue().values() if each.leaf == leaf]
    shown = plain(name)
    if wanted in catalogue():
        return f"There is no setting {shown}: write {wanted}."
    if homes:
        groups = " and ".join(each.section for each in homes)
        return f"There is no setting {shown}: {leaf} belongs to {groups}: write {_either(homes)}."
    if near := _near(wanted, [*catalogue(), *sections()]) or _with_leaf(
        _near(leaf, {each.leaf for each in catalogue().values()})
    ):
        return f"There is no setting {shown}. Did you mean {' or '.join(near)}?"
    return f"There is no setting {shown}. To see them all: vera config"


def unknown_env(name: str) -> str:
    """The sentence on a `VERA_…` environment name that is no setting."""
    names = {own: each for each in catalogue().values() for own in each.env_names}
    wanted = name[:LONGEST_NAME].upper()
    bare = wanted.removeprefix("VERA_")
    leaf = bare.rpartition("__")[2].lower()
    homes = [each for each in catalogue().values() if each.leaf == leaf]
    shown = plain(name)
    if bare in names:
        return f"There is no setting {shown}: write {bare} or {names[bare].own_env}."
    if homes:
        groups = " and ".join(each.section for each in homes)
        own = " or ".join(each.own_env for each in homes)
        return f"There is no setting {shown}: {leaf} belongs to {groups}: write {own}."
    if near := _near(wanted, names):
        return f"There is no setting {shown}. Did you mean {near[0]}?"
    return f"There is no setting {shown}. To see them all: vera config"


def _near(name: str, names: Collection[str]) -> list[str]:
    from difflib import get_close_matches  # only who mistyped needs it

    return get_close_matches(name, sorted(names), n=1)


def _with_leaf(leaves: list[str]) -> list[str]:
    return [key for key, each in catalogue().items() if each.leaf in leaves]


def _either(settings: list[Setting]) -> str:
    return " or ".join(each.key for each in settings)


def _settings(section: type[BaseModel], prefix: str) -> Iterator[Setting]:
    for name, field in section.model_fields.items():
        if _is_section(field):
            yield from _settings(cast(type[BaseModel], field.annotation), f"{prefix}{name}.")
        else:
            yield _describe(f"{prefix}{name}", field)


def _is_section(field: FieldInfo) -> bool:
    return isinstance(field.annotation, type) and issubclass(field.annotation, Section)


def _describe(key: str, field: FieldInfo) -> Setting:
    names = cast(Mapping[str, Any], field.json_schema_extra)
    kinds = [kind for kind in get_args(field.annotation) if kind is not NoneType]
    optional = NoneType in get_args(field.annotation)
    kind = kinds[0] if optional else field.annotation
    # Annotated[…] inside a union still wraps the type that counts.
    kind = getattr(kind, "__origin__", kind) if hasattr(kind, "__metadata__") else kind
    allowed = names["allowed"] or _allowed(kind, field.metadata)
    return Setting(
        key=key,
        description=field.description or "",
        allowed=f"{allowed}, or null" if optional else allowed,
        env=tuple(names["env"]),
        flag=names["flag"],
        secret=kind is SecretStr,
        text=kind in (str, SecretStr),
        optional=optional,
    )


def _allowed(kind: Any, bounds: list[Any]) -> str:
    """What may stand in a field, in words: `a whole number from 1 to 100`."""
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(get_args(kind))
    if kind is bool:
        return "true or false"
    if kind not in (int, float):
        return "text" if kind is str else "a path"
    words = "a whole number" if kind is int else "a number"
    for bound in bounds:
        match bound:
            case Ge(ge=least):
                words += f" from {least:g}" if kind is float else f" from {least}"
            case Gt(gt=below):
                words += f" above {below}"
            case Le(le=most) if " above " in words:
                words += f" and up to {most:g}"
            case Le(le=most):
                words += f" to {most:g}" if kind is float else f" to {most}"
    return words
