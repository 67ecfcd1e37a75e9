"""The environment that every command of a box sees, the same on each backend."""

from pathlib import PurePosixPath

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def environment(work: str = "/work", *, path: str = SYSTEM_PATH) -> dict[str, str]:
    """Variables for a box whose work folder is `work` (a path as the box sees it).

    No pager, colour, prompt or progress bar waits for a person; caches lie in the work folder, so they
    outlive the box and share a file system with the virtual environment there. (Its `bin` is put on PATH
    by the supervisor for the shell alone: what lies there must never be taken for the supervisor.)
    """
    cache = PurePosixPath(work) / ".cache"
    return {
        "HOME": work,
        "PATH": path,
        "USER": "vera",
        "LOGNAME": "vera",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        "PYTHONUNBUFFERED": "1",
        "PIP_PROGRESS_BAR": "off",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_CACHE_DIR": str(cache / "pip"),
        "UV_CACHE_DIR": str(cache / "uv"),
        "UV_NO_PROGRESS": "1",
        "UV_PYTHON_DOWNLOADS": "never",
        "XDG_CACHE_HOME": str(cache),
        "npm_config_cache": str(cache / "npm"),
        "PLAYWRIGHT_BROWSERS_PATH": str(cache / "playwright"),
    }
