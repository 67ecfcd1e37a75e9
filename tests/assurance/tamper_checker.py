"""The program of one page in docs/reference/attestation-format.md, run in this process."""

import contextlib
import functools
import io
import re
import sys
import zipfile
from pathlib import Path
from types import CodeType

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "attestation-format.md"
_PROGRAM = re.compile(r"<!-- program: check\.py -->\n```python\n(.*?)```", re.DOTALL)


def rejects(session: Path, keyid: str) -> bool:
    """Whether it says that a session or a bundle does not hold, or breaks on it: its exit code is not 0.

    As the page says, a bundle of an execution is unpacked, and it is given each folder in `theses/`, too.
    """
    if _rejects(session, keyid):
        return True
    folder = session
    if session.is_file():
        folder = session.with_suffix("")
        with zipfile.ZipFile(session) as bundle:
            bundle.extractall(folder)
    return any(_rejects(each, keyid) for each in sorted((folder / "theses").glob("*/")))


def _rejects(session: Path, keyid: str) -> bool:
    before, sys.argv = sys.argv, ["check.py", str(session), keyid]
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(_code(), {"__name__": "__main__"})
    except SystemExit as end:
        return bool(end.code)
    except Exception:  # noqa: BLE001 (a traceback is an exit code of 1)
        return True
    finally:
        sys.argv = before
    return False


@functools.cache
def _code() -> CodeType:
    found = _PROGRAM.search(PAGE.read_text("utf-8"))
    assert found is not None
    return compile(found[1], "check.py", "exec")
