"""Settings: one typed tree, read from flags, files and the environment.

The names below are loaded when they are first used: Pydantic costs 0.1 s, and who only prints a help page or
catches a `ConfigError` shall not pay it.
"""

import importlib
from typing import TYPE_CHECKING

from vera.config.errors import ConfigError as ConfigError
from vera.config.origin import Origin as Origin
from vera.config.origin import SettingPlace as SettingPlace

if TYPE_CHECKING:
    from vera.config.loading import Loaded as Loaded
    from vera.config.loading import defaults as defaults
    from vera.config.loading import load as load
    from vera.config.loading import public as public
    from vera.config.loading import user_config_file as user_config_file
    from vera.config.secret import resolve_secret as resolve_secret
    from vera.config.settings import Settings as Settings

LAZY = {
    "Loaded": "vera.config.loading",
    "Settings": "vera.config.settings",
    "defaults": "vera.config.loading",
    "load": "vera.config.loading",
    "public": "vera.config.loading",
    "resolve_secret": "vera.config.secret",
    "user_config_file": "vera.config.loading",
}
"""Public name → the module that holds it."""


def __getattr__(name: str) -> object:
    if name not in LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(LAZY[name]), name)
