"""Regular expressions that are compiled when they are first used.

Most of the patterns that tell languages, dates, quantities and negations apart are for texts that a run never
meets, and compiling them all was a sixth of the start of `vera run`.
"""

import re
from typing import Any, cast

_KEPT = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")


def late_regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, but an error in the pattern is raised at its first use."""
    return cast("re.Pattern[str]", _Late(pattern, flags))


class _Late:
    def __init__(self, pattern: str, flags: int) -> None:
        self._written = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(*self._written)
        for kept in _KEPT:
            setattr(self, kept, getattr(compiled, kept))  # the next use asks the pattern itself
        return getattr(compiled, name)
