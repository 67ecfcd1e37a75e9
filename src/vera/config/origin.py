"""Where a setting's value was written, who wrote it, and which place wins."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Source(StrEnum):
    """Who set a value. Only the person decides everything; the others are held by `config.trust`.

    PERSON: command line, environment, own configuration file, packaged defaults. FOLDER: `vera.yaml` and
    `.env` of the working folder. TASK: a line of a batch file, a row of a queue. FORM: a form of the
    dashboard. SESSION: the log of a run that goes on.
    """

    PERSON = "person"
    FOLDER = "folder"
    TASK = "task"
    FORM = "form"
    SESSION = "session"


class SettingPlace(IntEnum):
    """The places that settings are read from; a higher one wins."""

    DEFAULT = 0
    USER = 1
    FOLDER = 2
    DOTENV = 3
    ENVIRONMENT = 4
    LOG = 5
    OWN_LOG = 6
    """The log of a run that this person began, which their own key has sealed."""
    FILE = 7
    OVERRIDE = 8
    FLAG = 9
    TASK = 10
    FORM = 11

    @property
    def source(self) -> Source:
        """Who wrote it."""
        return _SOURCES.get(self, Source.PERSON)

    @property
    def is_now(self) -> bool:
        """Whether the person says it for this very run: their own log is from an earlier one."""
        return self.source is Source.PERSON and self is not SettingPlace.OWN_LOG


_SOURCES = {
    SettingPlace.FOLDER: Source.FOLDER,
    SettingPlace.DOTENV: Source.FOLDER,
    SettingPlace.LOG: Source.SESSION,
    SettingPlace.TASK: Source.TASK,
    SettingPlace.FORM: Source.FORM,
}


@dataclass(frozen=True)
class Origin:
    """Where a value was written: the place, and the words by which a person finds it (`vera.yaml:3`)."""

    place: SettingPlace
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class WrittenValue:
    """A value as it was written: text, a list of texts, None for nothing (`key:`), or a flag's own value."""

    value: object
    origin: Origin


Layer = Mapping[str, WrittenValue]
"""What one place says: dotted key → entry."""
