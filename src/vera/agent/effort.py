"""How many steps an effort is worth."""

from vera.config import Loaded, SettingPlace, Settings

STEPS_BY_EFFORT = {"quick": 20, "normal": 80, "thorough": 200}


def with_effort(loaded: Loaded) -> Settings:
    """The settings with the steps that the effort is worth, unless steps were set by anyone."""
    settings = loaded.settings
    if loaded.origin["run.max_steps"].place is not SettingPlace.DEFAULT:
        return settings
    run = settings.run.model_copy(update={"max_steps": STEPS_BY_EFFORT[settings.run.effort]})
    return settings.model_copy(update={"run": run})
