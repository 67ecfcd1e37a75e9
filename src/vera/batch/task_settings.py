"""What the settings of a task come to: held against the real loader, and where its model is then asked."""

from collections.abc import Mapping, Sequence

import msgspec

from vera.batch.task import BatchTask, Scalar
from vera.config import ConfigError
from vera.config.errors import plain
from vera.config.settings import BUILT_IN
from vera.model.types import ModelError
from vera.model.url import normalise

MODEL_FILE = "file"
FOUND_BY_ITSELF = "auto"

CHOSEN_BY_THE_BATCH = {
    "run.work_dir": "each attempt gets a session folder of its own",
    "run.base_dir": "the batch has one base folder: --base-dir",
    "run.input_dir": 'write it as the member "input_dir"',
}


class TaskSettings:
    """Reads the settings of tasks over those of this place and `overrides` (the texts of `-c`).

    Tasks that set the same things are held against the loader once.
    """

    def __init__(self, overrides: Sequence[str] = ()) -> None:
        self._overrides = tuple(overrides)
        self._known: dict[bytes, str] = {}

    def endpoint(self, task: BatchTask) -> str:
        """Where the task's model is asked. Raises ValueError with a sentence for settings that cannot be."""
        key = msgspec.json.encode(task.settings, order="sorted")
        if key not in self._known:
            self._known[key] = self._read(task)
        return self._known[key]

    def _read(self, task: BatchTask) -> str:
        from vera.config import load
        from vera.config.aliases import canonical
        from vera.config.catalogue import catalogue

        for name in task.settings:
            own = canonical(name)
            if own in CHOSEN_BY_THE_BATCH:
                raise ValueError(f"{plain(name)} cannot be set for a task: {CHOSEN_BY_THE_BATCH[own]}.")
            setting = catalogue().get(own)
            if setting is not None and setting.secret:
                raise ValueError(
                    f"{plain(name)} is a key, and no key stands in a task file. Give it in the environment: "
                    f"{setting.env_names[-1]}=…"
                )
        try:
            model = load([*self._overrides, *as_overrides(task.settings)]).settings.model
            if model.file is not None:
                return MODEL_FILE
            return endpoint_of(model.base_url)
        except (ConfigError, ModelError) as error:
            raise ValueError(" ".join(str(error).split())) from None


def endpoint_of(base_url: str) -> str:
    """A model's base URL as an endpoint; `auto` for none. Raises ModelError for what is no address."""
    if base_url in (BUILT_IN, MODEL_FILE, FOUND_BY_ITSELF):
        return base_url
    return normalise(base_url) if base_url else FOUND_BY_ITSELF


def as_overrides(settings: Mapping[str, Scalar]) -> list[str]:
    """Settings in the form of `-c KEY=VALUE`."""
    return [f"{key}={_written(value)}" for key, value in settings.items()]


def _written(value: Scalar) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
