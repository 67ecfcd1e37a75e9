"""What the arguments of the Python API may be. Anything else is an error of one sentence."""

from collections.abc import Iterable
from pathlib import Path
from typing import get_args

from vera.attestation.request import RequestError
from vera.config import ConfigError, Settings
from vera.config.settings import Required


def question_of(given: object) -> str:
    """The question. Raises RequestError for what is no text, or empty."""
    if not isinstance(given, str) or not given.strip():
        raise RequestError("The question is empty, or no text. Ask it in a sentence.")
    return given


def required_of(given: object) -> Required:
    """What an answer must be at least, in upper or lower case. Raises RequestError."""
    word = given.lower() if isinstance(given, str) else ""
    for known in get_args(Required):
        if word == known:
            return known  # type: ignore[no-any-return] # get_args does not say of what
    raise RequestError(f"There is no require={given!r}. It is 'quoted' or 'verified'.")


def texts_of(name: str, given: object) -> tuple[str, ...]:
    """The texts of a list; None is an empty one. Raises RequestError for a single text, which would be read
    letter by letter, and for items that are none."""
    if given is None:
        return ()
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise RequestError(
            f"{name} is a list of texts, and {type(given).__name__} was given. Put it into [ ]."
        )
    items = tuple(given)
    for item in items:
        if not isinstance(item, str) or not item.strip():
            raise RequestError(f"{name} holds {item!r}, which is no text or an empty one.")
    return items


def lines_of(name: str, given: object) -> tuple[str, ...]:
    """The texts of a list, each in one line. Raises RequestError."""
    items = texts_of(name, given)
    if not all(is_one_line(item) for item in items):
        raise RequestError(f"An item of {name} begins or ends with a blank, or has a line break.")
    return items


def inputs_of(given: object) -> tuple[str, ...] | None:
    """Files, folders and addresses; None where the argument was left out. Raises RequestError."""
    if given is None:
        return None
    if isinstance(given, str | Path):
        given = (given,)
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise RequestError(f"inputs is a list of paths and addresses, and {type(given).__name__} was given.")
    items = tuple(given)
    if not items:
        raise RequestError("inputs is empty: no input is given. Name one, or leave inputs out.")
    for item in items:
        if not isinstance(item, str | Path):
            raise RequestError(f"inputs holds {item!r}, which is neither a path nor an address.")
        if not is_one_line(str(item)):
            raise RequestError("An input is empty, begins or ends with a blank, or has a line break.")
    return tuple(map(str, items))


def path_of(name: str, given: object) -> Path | None:
    """A file or folder; None where the argument was left out. Raises RequestError."""
    if given is None:
        return None
    if not isinstance(given, str | Path):
        raise RequestError(f"{name} is a path, and {type(given).__name__} was given.")
    if not str(given).strip():
        raise RequestError(f"{name} is empty. Name a path, or leave {name} out.")
    return Path(given)


def settings_of(given: object) -> Settings | None:
    """The settings that were given whole. Raises ConfigError for anything else."""
    if given is None or isinstance(given, Settings):
        return given
    raise ConfigError(
        f"settings is no {type(given).__name__}. Make it with vera.config.defaults, or give overrides "
        "such as 'model.base_url=builtin'."
    )


def overrides_of(given: object) -> tuple[str, ...]:
    """The texts of `-c`. Raises ConfigError for what is no list of texts."""
    try:
        return texts_of("overrides", given)
    except RequestError as error:
        raise ConfigError(str(error)) from None


def is_one_line(text: str) -> bool:
    """Whether a text is one line without blanks around it."""
    return text == text.strip() and len(text.splitlines()) == 1
