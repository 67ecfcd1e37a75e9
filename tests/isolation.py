"""A private home for a test run: no test reads or writes the person's own settings, keys and caches."""

import os
from pathlib import Path

import platformdirs

OURS = ("VERA_", "MODEL_", "OPENAI_", "BRAVE_", "NEGATIVE_CLAIM_", "QUERY_", "CONTEXT_")
"""Environment names that begin so are settings of VERA or keys for it."""

KEPT = ("VERA_BASE_IMAGE",)
"""What the sandbox's image is built on belongs to the machine that tests run on, not to a person."""

ALSO_OURS = (
    "ACTION_TAIL_MESSAGES",
    "DOMAIN_SHIFT_LIMIT",
    "FAILURE_ESCALATION_LIMIT",
    "HOST",
    "MAX_STEPS",
    "MAX_TOOL_SECONDS",
    "MOVE_REPEAT_LIMIT",
    "NOTES_UPDATE_INTERVAL",
    "PORT",
    "PROMPT_PROFILE",
    "SOURCE_BUDGET",
    "STAGNATION_LIMIT",
    "SYSTEM_ROLE",
    "VERIFIER_ROUNDS",
)

TERMINAL = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE")
"""These change what a command prints, so a test that wants one sets it."""


def private_environment(home: Path) -> dict[str, str | None]:
    """The changes to the environment for a run whose home is that folder; None removes a name."""
    changes: dict[str, str | None] = {
        name: None
        for name in os.environ
        if (name.startswith(OURS) and name not in KEPT) or name in ALSO_OURS + TERMINAL
    }
    # Each program that a test starts would compile all that it imports, which costs more than most tests.
    changes["PYTHONDONTWRITEBYTECODE"] = None
    changes |= what_tools_keep_in_the_real_home()
    changes["HOME"] = str(home)
    for name, folder in {
        "XDG_CONFIG_HOME": ".config",
        "XDG_DATA_HOME": ".local/share",
        "XDG_STATE_HOME": ".local/state",
        "XDG_CACHE_HOME": ".cache",
    }.items():
        changes[name] = str(home / folder)
    # A proxy is for the internet: servers that tests start on loopback are spoken to directly.
    direct = ",".join(filter(None, [os.environ.get("NO_PROXY"), "127.0.0.1", "localhost", "::1"]))
    changes["NO_PROXY"] = changes["no_proxy"] = direct
    return changes


def what_tools_keep_in_the_real_home() -> dict[str, str | None]:
    """Where pip, docker, Playwright and pyenv find what they need, said by name as their home moves away."""
    pip_config = platformdirs.user_config_path("pip", appauthor=False) / "pip.conf"
    real = {
        "PIP_CACHE_DIR": platformdirs.user_cache_path("pip", appauthor=False),
        "DOCKER_CONFIG": Path.home() / ".docker",
        "PLAYWRIGHT_BROWSERS_PATH": platformdirs.user_cache_path("ms-playwright", appauthor=False),
    }
    if pip_config.exists():
        real["PIP_CONFIG_FILE"] = pip_config
    if (Path.home() / ".pyenv").is_dir():
        real["PYENV_ROOT"] = Path.home() / ".pyenv"
    return {name: str(path) for name, path in real.items() if not os.environ.get(name)}


def apply(changes: dict[str, str | None]) -> dict[str, str | None]:
    """Changes the environment of this process; the return value, applied, changes it back."""
    before = {name: os.environ.get(name) for name in changes}
    for name, value in changes.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    return before
