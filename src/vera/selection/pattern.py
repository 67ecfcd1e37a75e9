"""The user's pattern for verdicts, tried before it is used.

A regular expression may take a time that grows exponentially with the text ("catastrophic backtracking"),
and while it runs nothing else does. The texts that it will read are a model's, so it is tried on texts that
are as long as those will be and bring that about, in a process that can be ended.
"""

import re
import subprocess
import sys

from vera.selection.verdict import MAX_MATCHED_LENGTH

SECONDS = 5.0

_TRY = """
import re, sys
pattern, size = sys.argv[1], int(sys.argv[2])
units = {*"0a A.:\\n-_*", "a1", "a ", "1 ", "FINAL: ", "FINAL: 1\\n", "((", "x,", *pattern}
found = re.compile(pattern)
for unit in sorted(units):
    for end in ("", "!", "\\n"):
        for _ in found.finditer((unit * size)[: size - 1] + end):
            pass
"""


def problem(pattern: str) -> str:
    """What is wrong with a pattern, in half a sentence; '' for one that can be used."""
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"it is no regular expression ({error})"
    command = [sys.executable, "-I", "-S", "-c", _TRY, pattern, str(MAX_MATCHED_LENGTH)]
    try:
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"it takes more than {SECONDS:g} seconds to search {MAX_MATCHED_LENGTH} characters"
    except (OSError, ValueError):
        pass
    return ""
