"""An input folder with other contents: what a command makes of it tells whether it computes from the input.

Digits are changed, and each file has its lines once more with other letters, so that sums, counts and lists
come out otherwise. A value that stays the same was not computed from the contents. For a count of zero the
words of the command are planted in each file instead: a search that looks at a file then finds them.
"""

import os
import re
import stat
from pathlib import Path
from typing import Literal

MAX_FILES = 500
MAX_BYTES = 8 << 20
"""Of a larger input no changed copy is made."""

EXTRA = "vera-extra.txt"
"""A file more, so that files that are counted come out otherwise, too."""

Change = Literal["other", "planted"]

_DIGITS = str.maketrans("123456789", "475892361")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_TURNED = str.maketrans(
    _LETTERS + _LETTERS.upper(), _LETTERS[13:] + _LETTERS[:13] + (_LETTERS[13:] + _LETTERS[:13]).upper()
)
_WORD = re.compile(r"[^\W\d_]{2,40}")
_MAX_WORDS = 100


def make_changed(source: Path, target: Path, change: Change, command: str) -> int:
    """Write the changed copy of a folder into an empty one; the number of its files, 0 when none can be made:
    it is too large, empty, or not all text. Raises OSError."""
    files = _texts(source)
    if not files:
        return 0
    words = " ".join(list(dict.fromkeys(_WORD.findall(command)))[:_MAX_WORDS])
    for path, text in files.items():
        place = target / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(_planted(text, words) if change == "planted" else _other(text), "utf-8")
        place.chmod(0o644)
    if change == "other":
        (target / EXTRA).write_text(_other(next(iter(files.values()))), "utf-8")
    for folder, _, _ in os.walk(target):
        Path(folder).chmod(0o755)
    return len(files)


def _texts(source: Path) -> dict[str, str]:
    """The files of a folder by their path, none when one is no text or there is too much."""
    found: dict[str, str] = {}
    room = MAX_BYTES
    for folder, _, names in os.walk(source):
        for name in sorted(names):
            path = Path(folder, name)
            known = path.lstat()
            room -= known.st_size
            if not stat.S_ISREG(known.st_mode) or room < 0 or len(found) == MAX_FILES:
                return {}
            try:
                found[path.relative_to(source).as_posix()] = path.read_text("utf-8")
            except UnicodeDecodeError:
                return {}
    return found


def _other(text: str) -> str:
    changed = text.translate(_DIGITS)
    lines = changed.splitlines()
    more = lines[1:] or lines
    end = "" if not changed or changed.endswith("\n") else "\n"
    return changed + end + "".join(f"{line.translate(_TURNED)}\n" for line in more)


def _planted(text: str, words: str) -> str:
    end = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{end}{words}\n"
