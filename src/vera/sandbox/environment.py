"""The environment that every command of a box sees, the same on each backend."""

from pathlib import PurePosixPath

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

PROXY_PORT = 3128


def proxy_environment(port: int = PROXY_PORT) -> dict[str, str]:
    """Variables that lead programs to the box's own end of the tunnel: there is no other way out.

    Small letters for curl, wget, git and apt, large ones for most others; pip, uv and npm read both.
    """
    address = f"http://127.0.0.1:{port}"
    direct = "localhost,127.0.0.1,::1"
    return {
        **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), address),
        **dict.fromkeys(("no_proxy", "NO_PROXY"), direct),
        "NODE_USE_ENV_PROXY": "1",
    }


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
