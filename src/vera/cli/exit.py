"""Errors that end a command: one sentence on stderr and the exit code that goes with it."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from vera.cli.registry import COMMANDS

if TYPE_CHECKING:
    from vera.session.seal import Integrity

ERROR = 1
USAGE = 2
NOT_READY = 5
INTERRUPTED = 130

_COMMANDS = re.compile(rf"\bvera ({'|'.join(COMMANDS)})\b")


def as_typed(sentence: str) -> str:
    """The sentence with its commands as this person types them (`python3 run.py resume …`)."""
    typed = os.environ.get("_VERA_COMMAND", "vera")
    return _COMMANDS.sub(lambda found: f"{typed} {found.group(1)}", sentence)


def stop(sentence: str, code: int) -> NoReturn:
    """End the command: `sentence` on stderr, exit with `code`."""
    from vera.report.printable import printable

    click.echo(f"vera: {printable(as_typed(sentence))}", err=True)
    raise SystemExit(code)


def whole_log(session: Path) -> "Integrity":
    """What a check of a session's log found. Ends the command where there is none, or it was altered."""
    from vera.session import check

    if session.is_file():
        stop(f"{session} is a file, and a session is a folder. A bundle is checked by: vera replay", ERROR)
    try:
        integrity = check(session)
    except FileNotFoundError:
        stop(f"there is no session in {session} (no trace.jsonl).", ERROR)
    if integrity.verdict == "BROKEN":
        stop(integrity.sentence, ERROR)
    return integrity


def in_words(error: Exception) -> str:
    """The error as one sentence."""
    if isinstance(error, OSError):
        where = f" ({error.filename})" if error.filename else ""
        return f"{error.strerror or error}{where}."
    return str(error)


@contextmanager
def clean_errors() -> Iterator[None]:
    """Foreseeable failures inside end the command by a sentence, never by a traceback."""
    try:
        yield
    except KeyboardInterrupt:
        stop("interrupted.", INTERRUPTED)
    except BrokenPipeError:
        raise SystemExit(ERROR) from None
    except OSError as error:
        stop(in_words(error), ERROR)
    except Exception as error:
        if _is_out_of_memory(error):
            stop("There is not enough memory here to go on. What was written is kept.", ERROR)
        if (code := _code_of(error)) is None:
            raise
        stop(str(error), code)


def _is_out_of_memory(error: Exception) -> bool:
    """Whether the system gave no memory, be it for the stack of another thread."""
    return isinstance(error, MemoryError) or str(error) == "can't start new thread"


def _code_of(error: Exception) -> int | None:
    """The exit code of a foreseeable failure, None for a bug. The classes are loaded only to be compared."""
    from vera.agent.errors import SetupError, TaskTooLong
    from vera.attestation.objects import ObjectError
    from vera.attestation.proposition import RequestError
    from vera.attestation.signers import TrustError
    from vera.config import ConfigError
    from vera.lane.prompts import PromptError
    from vera.session import LogError, SessionError
    from vera.store import StoreError

    if isinstance(error, SetupError):
        return error.exit_code
    if isinstance(error, ConfigError | PromptError | TaskTooLong | RequestError):
        return USAGE
    errors = SessionError | LogError | StoreError | ObjectError | TrustError
    return ERROR if isinstance(error, errors) else None
