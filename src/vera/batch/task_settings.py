"""What the settings of a task come to: held against the real loader, and where its model is then asked."""

from collections.abc import Sequence

import msgspec

from vera.batch.task import BatchTask
from vera.config import ConfigError
from vera.config.errors import Refused, plain
from vera.config.handed import Allowed, Handed
from vera.config.settings import BUILT_IN, Settings
from vera.model.types import ModelError
from vera.model.url import normalise

MODEL_FILE = "file"
FOUND_BY_ITSELF = "auto"

CHOSEN_BY_THE_BATCH = {
    "run.work_dir": "each attempt gets its own session folder",
    "run.base_dir": "the batch has one base folder: --base-dir",
    "run.input_dir": 'write it as the member "input_dir"',
    "run.inputs": 'write them as the member "inputs"',
}


class TaskSettings:
    """Reads the settings of tasks over those of this place and `overrides` (the texts of `-c`), of which the
    person lets tasks set what is `allowed`.

    Tasks that set the same things are held against the loader once.
    """

    def __init__(self, overrides: Sequence[str] = (), allowed: Allowed | None = None) -> None:
        self._overrides = tuple(overrides)
        self._allowed = allowed or Allowed()
        self._known: dict[bytes, tuple[str, str]] = {}

    def endpoint(self, task: BatchTask) -> tuple[str, str]:
        """Where the task's model is asked, and why the task is refused ('' where it is not).

        Raises ValueError with a sentence for settings that cannot be.
        """
        key = msgspec.json.encode((task.settings, task.input_dir, task.inputs), order="sorted")
        if key not in self._known:
            self._known[key] = self._read(task)
        return self._known[key]

    def _read(self, task: BatchTask) -> tuple[str, str]:
        from vera.config import load
        from vera.config.aliases import canonical
        from vera.config.schema import catalogue

        for name in task.settings:
            own = canonical(name)
            if own in CHOSEN_BY_THE_BATCH:
                raise ValueError(f"{plain(name)} cannot be set for a task: {CHOSEN_BY_THE_BATCH[own]}.")
            setting = catalogue().get(own)
            if setting is not None and setting.secret:
                raise ValueError(
                    f"{plain(name)} is a key, and no task file may hold a key. Give it in the environment: "
                    f"{setting.env_names[-1]}=…"
                )
        why_not = ""
        try:
            try:
                settings = load(self._overrides, handed=handed_of(task, self._allowed)).settings
            except Refused as refused:
                settings, why_not = load(self._overrides).settings, " ".join(str(refused).split())
            return _endpoint(settings), why_not
        except (ConfigError, ModelError) as error:
            raise ValueError(" ".join(str(error).split())) from None


def handed_of(task: BatchTask, allowed: Allowed, text: str = "") -> Handed:
    """What the process of an attempt at a task gets: its settings stay the task's."""
    settings = dict(task.settings)
    if task.input_dir:
        settings["run.input_dir"] = task.input_dir
    if task.inputs:
        settings["run.inputs"] = "\n".join(task.inputs)
    return Handed(
        source="task", where=f"the task {plain(task.label)!r}", text=text, settings=settings, allowed=allowed
    )


def endpoint_of(base_url: str) -> str:
    """A model's base URL as an endpoint; `auto` for none. Raises ModelError for what is no address."""
    if base_url in (BUILT_IN, MODEL_FILE, FOUND_BY_ITSELF):
        return base_url
    return normalise(base_url) if base_url else FOUND_BY_ITSELF


def _endpoint(settings: Settings) -> str:
    return MODEL_FILE if settings.model.file is not None else endpoint_of(settings.model.base_url)
