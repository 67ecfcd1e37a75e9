"""VERA: a research agent whose every statement points at bytes that anyone can check.

`vera.verify`, `vera.research`, `vera.check`, `vera.replay` and whatever else `vera.api` exports are names of
this package, and so is `__version__`. The first use of one loads what has it; `import vera` loads nothing.
"""

_API = frozenset(
    (
        "BundleError",
        "CheckReport",
        "ConfigError",
        "LogError",
        "ModelError",
        "NoSession",
        "PromptError",
        "ReplayReport",
        "RequestError",
        "Researched",
        "SessionError",
        "Settings",
        "SetupError",
        "StoreError",
        "TaskTooLong",
        "Verified",
        "check",
        "check_async",
        "replay",
        "replay_async",
        "research",
        "research_async",
        "verify",
        "verify_async",
    )
)


def __getattr__(name: str) -> object:
    if name == "__version__":
        from vera.version import __version__

        return __version__
    if name not in _API:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("vera.api"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_API, "__version__"})
