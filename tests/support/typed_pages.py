"""The commands that a page shows, typed in order in a folder that looks like a clone."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORLD = Path(__file__).with_name("typed_world.py")
SECONDS = 300.0
HOSTS = "127.0.0.1 localhost db.example\n::1 localhost\n"

VERA = f"""#!{sys.executable} -IS
import json, os, socket, struct, sys
if "PYTHONPATH" in os.environ:
    os.execv({sys.executable!r}, [{sys.executable!r}, "-m", "vera", *sys.argv[1:]])
with socket.socket(socket.AF_UNIX) as asked:
    asked.connect(os.environ["TYPED_FORKS"])
    request = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(asked, [struct.pack("!Q", len(request))], [0, 1, 2])
    asked.sendall(request)
    code = int.from_bytes(asked.recv(4), "big", signed=True)
sys.exit(code if code >= 0 else 128 - code)
"""
PYTHON = f"""#!/bin/sh
if [ "${{1:-}}" = run.py ]; then shift; exec vera "$@"; fi
exec {sys.executable} "$@"
"""


@dataclass(frozen=True)
class Step:
    """A command of a page. `before` are lines that a reader types from the page's words; at `port` (0 for no
    port) it serves until the page is done; else `wanted` is the exit code that it has to end with."""

    typed: str
    before: str = ""
    port: int | None = None
    wanted: int = 0

    @property
    def ends(self) -> int:
        """The code that is noted where all is well."""
        return self.wanted if self.port is None else 0


@dataclass(frozen=True)
class Done:
    """How a command ended; `code` is None for one that was not reached or did not come up."""

    step: Step
    code: int | None
    out: str
    err: str


class World:
    """The process in a network namespace; `shared` is its /mnt."""

    def __init__(self, process: "subprocess.Popen[str]", shared: Path) -> None:
        self._process = process
        self.shared = shared

    def typed(self, steps: Sequence[Step], clone: Path, home: Path, servers: Sequence[str]) -> list[Done]:
        """Type commands in a clone, with their servers around; stops at the first that ends otherwise."""
        assert self._process.stdin is not None and self._process.stdout is not None
        for each in self.shared.iterdir():
            shutil.rmtree(each)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for number, step in enumerate(steps):
                _written(folder / f"{number:03}.sh", step)
            environment = {
                "HOME": str(home),
                "PATH": f"{clone}/.venv/bin:{os.environ['PATH']}",
                "TESTS": str(ROOT / "tests"),
                **{name: str(home / place) for name, place in XDG.items()},
            }
            request = {
                "steps": name,
                "cwd": str(clone),
                "environment": environment,
                "servers": servers,
                "seconds": SECONDS,
            }
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            assert self._process.stdout.readline(), "the world has ended"
            return [_done(folder / f"{number:03}.sh", step) for number, step in enumerate(steps)]


XDG = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_CACHE_HOME": ".cache",
}


@contextmanager
def world(folder: Path) -> Iterator[World]:
    """A separate network with nothing but loopback, in which every port is free."""
    shared, hosts = folder / "mnt", folder / "hosts"
    shared.mkdir()
    hosts.write_text(HOSTS)
    box = ["bwrap", "--dev-bind", "/", "/", "--unshare-net", "--die-with-parent"]
    if os.geteuid() == 0:  # Postgres runs as another user
        box += ["--cap-add", "ALL"]
    box += ["--bind", str(shared), "/mnt", "--ro-bind", str(hosts), "/etc/hosts"]
    process = subprocess.Popen(
        [*box, sys.executable, "-P", str(WORLD)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield World(process, shared)
    finally:
        process.communicate(timeout=60)


def clone_at(folder: Path, files: Mapping[str, str]) -> tuple[Path, Path]:
    """What a reader has: a clone, and a home with a folder of documents."""
    clone, home = folder / "vera", folder / "home"
    (clone / ".venv" / "bin").mkdir(parents=True)
    for name in ("examples", "deploy"):
        shutil.copytree(ROOT / name, clone / name)
    for name, text in {"vera": VERA, "python3": PYTHON, "python": PYTHON}.items():
        (clone / ".venv" / "bin" / name).write_text(text)
        (clone / ".venv" / "bin" / name).chmod(0o755)
    shutil.copytree(ROOT / "examples" / "lease", home / "contracts")
    for path, text in files.items():
        (clone / path).parent.mkdir(parents=True, exist_ok=True)
        (clone / path).write_text(text)
    return clone, home


def commands(block: str) -> list[str]:
    """The commands of a block of shell: lines that belong together are one."""
    found, held = [], ""
    for line in block.splitlines(keepends=True):
        held += line
        if held.strip() and _is_whole(held):
            found.append(held.strip())
            held = ""
    assert not held.strip(), held
    return found


def _is_whole(text: str) -> bool:
    if text.rstrip("\n").endswith("\\"):
        return False
    done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
    return done.returncode == 0 and not done.stderr


def _written(path: Path, step: Step) -> None:
    path.write_text(step.typed + "\n")
    path.with_name(f"{path.name}.wanted").write_text(str(step.wanted))
    if step.before:
        path.with_name(f"{path.name}.before").write_text(step.before + "\n")
    if step.port is not None:
        path.with_name(f"{path.name}.port").write_text(str(step.port))


def _done(path: Path, step: Step) -> Done:
    def read(what: str) -> str:
        file = path.with_name(f"{path.name}.{what}")
        return file.read_text(errors="replace") if file.exists() else ""

    return Done(step, int(read("code")) if read("code").strip() else None, read("out"), read("err"))
