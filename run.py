#!/usr/bin/env python3
"""Makes VERA ready on its first start, and is the `vera` command from then on.

    python3 run.py run "question" --input-dir DIR    the same as: vera run "question" --input-dir DIR
    python3 run.py test [pytest arguments]           installs what the tests need, then runs the quick ones
    python3 run.py test --all                        all of them, which takes half an hour
    python3 run.py test --long [battery]             the batteries of docs/assurance.md, which take hours

The environment is `.venv` beside this file, with the project installed as it stands here. Only the standard
library is used, and the syntax stays readable by Python 3.6, so that an old Python meets a sentence and not a
SyntaxError. Exit code 5: VERA could not be made ready, and the message says what to type.
"""

# Every command starts here, and pathlib alone would double the few milliseconds that this file costs:
# ruff: noqa: PTH103, PTH107, PTH110, PTH118, PTH120, PTH123, PTH202

import os
import sys

OLDEST_PYTHON = (3, 11)
THIS_PYTHON = sys.version_info[:2]
NEWEST_KNOWN_MINOR = 15
EXIT_NOT_READY = 5
EXIT_INTERRUPTED = 130

ROOT = os.path.dirname(os.path.realpath(__file__))
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
PROJECT = os.path.join(ROOT, "pyproject.toml")
LOG = os.path.join(VENV, "vera-install.log")
LOCK = os.path.join(VENV, "vera-install.lock")
# Stands while an installation changes the environment: whoever finds it under the lock finds a wreck.
UNFINISHED = os.path.join(VENV, "vera-install-unfinished")
# Written last, one for VERA and one for what its tests need; see fingerprint().
STAMP = os.path.join(VENV, "vera-installed")
TEST_STAMP = os.path.join(VENV, "vera-tests-installed")


class NotReady(Exception):
    """VERA cannot start; the message is whole sentences for a person and ends with what to type."""


def refuse_what_cannot_run() -> None:
    """Ends the program with a sentence on Windows and on a Python that is too old."""
    reason = None
    if os.name == "nt":
        reason = (
            "VERA runs on Linux and macOS. On Windows it runs under WSL2: type `wsl --install`,"
            " then start run.py inside that Linux."
        )
    elif THIS_PYTHON < OLDEST_PYTHON:
        reason = (
            f"VERA needs Python {dotted(OLDEST_PYTHON)} or newer, and this is Python {dotted(THIS_PYTHON)}"
            f" ({sys.executable}). {newer_python()}"
        )
    if reason:
        sys.stderr.write(reason + "\n")
        sys.exit(EXIT_NOT_READY)


def dotted(version: "tuple[int, ...]") -> str:
    return ".".join(map(str, version))


def newer_python() -> str:
    """What to type where a Python that is new enough is installed, or else how to get one."""
    import shutil
    import subprocess

    for minor in range(NEWEST_KNOWN_MINOR, OLDEST_PYTHON[1] - 1, -1):
        name = f"python3.{minor}"
        # Asked and not only found: a version manager puts names on PATH that do not run.
        if shutil.which(name) and subprocess.call([name, "-c", ""], stderr=subprocess.DEVNULL) == 0:
            return f"Type: {name} {sys.argv[0]}"
    return "Install one (https://www.python.org/downloads/), then start run.py with it."


refuse_what_cannot_run()


def main(arguments: list[str]) -> int:
    """Becomes `vera` (or pytest) with these arguments; returns an exit code only when it cannot."""
    testing = arguments[:1] == ["test"]
    try:
        if not is_ready(testing):
            make_ready(testing)
        if testing:
            os.chdir(ROOT)
            if arguments[1:2] == ["--long"]:
                command = [os.path.join("tests", "assurance", "runner.py"), *arguments[2:]]
            else:
                command = ["-m", "pytest", *workers(arguments[1:]), *arguments[1:]]
        else:
            command = ["-m", "vera", *arguments]
            # So that a message which says what to type says what works here: `vera` may not be on PATH.
            os.environ["_VERA_COMMAND"] = f"python3 {sys.argv[0]}"
        # -P: a file named like a module in the user's folder is never imported in its place.
        os.execv(PYTHON, [PYTHON, "-P", *command])
    except NotReady as refusal:
        sys.stderr.write(f"{refusal}\n")
    except OSError as error:
        sys.stderr.write(
            f"VERA could not be made ready in {VENV}: {error}."
            f" If that folder is damaged, delete it, then type the same command again.\n"
        )
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted. Type the same command again: the installation starts afresh.\n")
        return EXIT_INTERRUPTED
    return EXIT_NOT_READY


def workers(arguments: list[str]) -> list[str]:
    """How many processes share the tests: several for the quick tests together, else as the person says."""
    return ["-n", str(max(2, os.cpu_count() or 1)), "--dist", "worksteal"] if not arguments else []


def is_ready(testing: bool) -> bool:
    """Whether the environment is whole and was made from what stands here now; reads three files."""
    if os.path.exists(UNFINISHED) or not os.access(PYTHON, os.X_OK):
        return False
    wanted = fingerprint()
    return all(read_stamp(stamp) == wanted for stamp in ([STAMP, TEST_STAMP] if testing else [STAMP]))


def fingerprint() -> bytes:
    """What an environment is made from: its birthplace, and the whole of pyproject.toml.

    The text stands for its own hash: comparing 3 kB is quicker than importing hashlib.
    """
    with open(PROJECT, "rb") as project:
        return birthplace() + project.read()


def birthplace() -> bytes:
    """The folder and the interpreter that an environment has written into its files: it cannot move."""
    return b"%s\n%s\n" % (os.fsencode(ROOT), os.fsencode(os.path.realpath(PYTHON)))


def read_stamp(path: str) -> "bytes | None":
    try:
        with open(path, "rb") as stamp:
            return stamp.read()
    except FileNotFoundError:
        return None


def make_ready(testing: bool) -> None:
    """Makes or updates the environment, one process at a time.

    Raises:
        NotReady: pip could not be had, or could not install.
    """
    import time

    lock = take_lock()
    try:
        if is_ready(testing):
            return
        started = time.monotonic()
        what = "VERA and what its tests need" if testing else "VERA"
        sys.stderr.write(f"Installing {what} into {VENV} (once, about half a minute) … ")
        sys.stderr.flush()
        try:
            install(testing, lock)
        except BaseException:
            sys.stderr.write("\n")
            raise
        sys.stderr.write(f"done in {time.monotonic() - started:.0f} s.\n")
    finally:
        os.close(lock)


def take_lock() -> int:
    """Waits until no other run.py installs here; the lock ends with the descriptor that is returned."""
    import fcntl

    os.makedirs(VENV, exist_ok=True)
    lock = os.open(LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.stderr.write("Another run.py is installing VERA here; waiting for it.\n")
        fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def install(testing: bool, lock: int) -> None:
    whole = is_whole()
    with open(UNFINISHED, "wb"), open(LOG, "wb"):
        pass
    if not whole:
        clear_environment()
        create_environment()
    if not has_pip():
        bring_pip(lock)
    wanted = ["--editable", ROOT, *(test_requirements() if testing else [])]
    pip_exit = run([PYTHON, "-I", "-m", "pip", "install", "--progress-bar=off", *wanted], lock)
    if pip_exit != 0:
        if whole and pip_exit > 0:
            os.remove(UNFINISHED)  # pip ended by itself and put back what it had found
        raise NotReady(
            f"VERA could not be installed: pip ended with exit code {pip_exit}, and said:\n"
            f"{what_pip_said()}\n"
            f"This is usually a network problem. Check your connection or proxy, then type the same command "
            f"again (the whole log: {LOG})."
        )
    os.sync()  # a stamp must not reach the disk before what it vouches for
    for stamp in [STAMP, TEST_STAMP] if testing else [STAMP]:
        with open(stamp, "wb") as file:
            file.write(fingerprint())
    os.remove(UNFINISHED)


def is_whole() -> bool:
    """Whether an environment stands here that can be added to, ours or one that a person has made."""
    import subprocess

    if os.path.exists(UNFINISHED) or not os.path.exists(os.path.join(VENV, "pyvenv.cfg")):
        return False
    stamp = read_stamp(STAMP)
    if stamp is not None and not stamp.startswith(birthplace()):
        return False
    new_enough = f"import sys; sys.exit(sys.version_info < {OLDEST_PYTHON})"
    try:
        return subprocess.call([PYTHON, "-I", "-c", new_enough], stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def clear_environment() -> None:
    """Empties the environment, but for the lock that others may wait for and the mark of a wreck."""
    import shutil

    with os.scandir(VENV) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            elif entry.path not in (LOCK, UNFINISHED):
                os.remove(entry.path)


def create_environment() -> None:
    try:
        import venv
    except ImportError:
        raise NotReady(how_to_get_pip()) from None
    # Without pip: the module that brings it may be missing, and there are other ways (bring_pip).
    venv.EnvBuilder(symlinks=True, with_pip=False, prompt="vera").create(VENV)


def has_pip() -> bool:
    import subprocess

    return subprocess.call([PYTHON, "-I", "-c", "import pip"], stderr=subprocess.DEVNULL) == 0


def bring_pip(lock: int) -> None:
    """Puts pip into the environment by the first way that works here.

    Raises:
        NotReady: none did; the message has the line to type for this system.
    """
    import importlib.util
    import shutil

    base = getattr(sys, "_base_executable", sys.executable)  # not the environment that is being made
    ways = [[base, "-m", "pip", "--python", PYTHON, "install", "pip"]]
    if importlib.util.find_spec("ensurepip"):
        ways.insert(0, [PYTHON, "-I", "-m", "ensurepip", "--default-pip"])
    ways.append(["uv", "pip", "install", "--python", PYTHON, "pip"])
    ways.append(["virtualenv", "--python", base, VENV])
    if not any(shutil.which(way[0]) and run(way, lock) == 0 and has_pip() for way in ways):
        raise NotReady(how_to_get_pip())


def how_to_get_pip() -> str:
    import shutil

    version = dotted(THIS_PYTHON)
    package_of = {
        "apt-get": f"apt install python{version}-venv",
        "dnf": "dnf install python3-pip",
        "zypper": "zypper install python3-pip",
        "apk": "apk add py3-pip",
        "pacman": "pacman -S python-pip",
    }
    lines = [line for manager, line in package_of.items() if shutil.which(manager)]
    sudo = "sudo " if os.geteuid() != 0 else ""
    advice = (
        sudo + lines[0]
        if lines
        else f"{sys.executable} get-pip.py (from https://bootstrap.pypa.io/get-pip.py)"
    )
    return (
        f"This Python {version} ({sys.executable}) lacks the part that makes virtual environments with pip."
        f" Type:\n  {advice}\nthen type the same command again."
    )


def test_requirements() -> list[str]:
    """The `test` dependency group, read here because pip knows groups only since 25.1."""
    import tomllib

    with open(PROJECT, "rb") as project:
        requirements: list[str] = tomllib.load(project)["dependency-groups"]["test"]
    return requirements


def run(argv: list[str], lock: int) -> int:
    """Runs one installing step into the log and returns its exit code (negative: the signal that ended it).

    The step inherits the lock: when run.py is killed, no other step starts before its pip has ended too.
    """
    import subprocess

    settings = {"PIP_USER": "0", "PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    with open(LOG, "ab") as log:
        return subprocess.call(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, **settings},
            pass_fds=[lock],
        )


def what_pip_said(most: int = 4, tail_bytes: int = 16384) -> str:
    """The last lines of the log that give a reason, or else its last lines."""
    with open(LOG, "rb") as log:
        log.seek(max(0, os.path.getsize(LOG) - tail_bytes))
        lines = [line for line in log.read().decode("utf-8", "replace").splitlines() if line.strip()]
    reasons = [line for line in lines if "ERROR: " in line or "connection broken" in line]
    return "\n".join("  " + line.strip()[:300] for line in (reasons or lines)[-most:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
