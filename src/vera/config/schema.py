"""The settings as a list: what each is called, and what may be in it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Any, Literal, cast, get_args, get_origin

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from vera.config.errors import plain
from vera.config.section import Section
from vera.config.settings import Settings


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
        """`run.max_steps` as an environment name: `VERA_RUN__MAX_STEPS`."""
        return "VERA_" + self.key.replace(".", "__").upper()

    @property
    def env_names(self) -> tuple[str, ...]:
        """Every environment name, the one that counts first in front."""
        return (self.own_env, *self.env)


@cache
def catalogue() -> Mapping[str, Setting]:
    """Every setting by its dotted key, in the order of the tree."""
    return {each.key: each for each in _settings(Settings, "")}


@cache
def sections() -> Mapping[str, type[Section]]:
    """Every group of settings by its dotted name, each before those that it holds."""
    return dict(_sections(Settings, ""))


def value_of(settings: Section, key: str) -> object:
    """The value of the setting, or the group of settings, with this dotted name."""
    value: object = settings
    for part in key.split("."):
        value = getattr(value, part)
    return value


def written(value: object) -> str:
    """A plain value as one would write it in YAML, on one line and safe for a terminal."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return '""' if value == "" else plain(str(value), 300)


def _sections(section: type[Section], prefix: str) -> Iterator[tuple[str, type[Section]]]:
    for name, field in section.model_fields.items():
        if _is_section(field):
            kind = cast(type[Section], field.annotation)
            yield f"{prefix}{name}", kind
            yield from _sections(kind, f"{prefix}{name}.")


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
    """What may be in a field, in words: `a whole number from 1 to 100`."""
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(get_args(kind))
    if kind is bool:
        return "true or false"
    if kind not in (int, float):
        return "text" if kind is str else "a path"
    words = "a whole number" if kind is int else "a number"
    return words + _within(bounds, "g" if kind is float else "")


def _within(bounds: list[Any], form: str) -> str:
    """The bounds of a number in words, their figures in a form of `format`."""
    words = ""
    for bound in bounds:
        match bound:
            case Ge(ge=least):
                words += f" from {least:{form}}"
            case Gt(gt=below):
                words += f" above {below}"
            case Le(le=most) if " above " in words:
                words += f" and up to {most:g}"
            case Le(le=most):
                words += f" to {most:{form}}"
    return words
