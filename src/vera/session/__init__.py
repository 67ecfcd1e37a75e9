"""The session folder: log, ledgers, notes, lock, resume."""

from vera.session.log import LogBroken, LogError, LogInUse, Reader
from vera.session.seal import Integrity, check
from vera.session.session import Session, SessionError, insist_on_place, load_text, rebuild
from vera.store import replace_file

__all__ = [
    "Integrity",
    "LogBroken",
    "LogError",
    "LogInUse",
    "Reader",
    "Session",
    "SessionError",
    "check",
    "insist_on_place",
    "load_text",
    "rebuild",
    "replace_file",
]
