"""Where a setting's value was written, and which place wins."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum


class Place(IntEnum):
    """The places that settings are read from; a higher one wins."""

    DEFAULT = 0
    USER = 1
    FOLDER = 2
    DOTENV = 3
    ENVIRONMENT = 4
    FILE = 5
    OVERRIDE = 6
    FLAG = 7

    @property
    def of_the_folder(self) -> bool:
        """Whether it came with the working folder, and so perhaps from a stranger whose files these are."""
        return self in (Place.FOLDER, Place.DOTENV)


@dataclass(frozen=True)
class Origin:
    """Where a value was written: the place, and the words by which a person finds it (`vera.yaml:3`)."""

    place: Place
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Entry:
    """A value as it was written: text, a list of texts, None for nothing (`key:`), or a flag's own value."""

    value: object
    origin: Origin


Layer = Mapping[str, Entry]
"""What one place says: dotted key → entry."""
