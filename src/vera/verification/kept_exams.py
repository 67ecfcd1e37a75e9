"""Exams that are kept for other sessions: a file each in a folder of the person."""

import secrets
from pathlib import Path
from typing import TypeVar

import msgspec

from vera.decode_errors import DECODE_ERRORS

MAX_BYTES = 1 << 20
"""Of one kept exam. A larger file is none of ours."""

T = TypeVar("T")


def load(path: Path, kind: type[T]) -> T | None:
    """What is kept there; None for nothing, and for what cannot be read as `kind`."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        return msgspec.json.decode(data, type=kind) if len(data) <= MAX_BYTES else None
    except (OSError, *DECODE_ERRORS):
        return None


def keep(path: Path, exam: object) -> None:
    """Keep an exam, whole or not at all, where the folder lets us."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{secrets.token_hex(4)}")
        part.write_bytes(msgspec.json.encode(exam))
        part.replace(path)
    except OSError:
        return
