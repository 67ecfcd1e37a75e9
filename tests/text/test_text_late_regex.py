"""Patterns that are compiled when they are first used."""

import gc
import importlib
import re
import warnings
from pathlib import Path

import pytest

import vera
from vera.text import late_regex

ROOT = Path(vera.__file__).parent
USERS = sorted(path for path in ROOT.rglob("*.py") if "import late_regex\n" in path.read_text("utf-8"))


def test_every_late_pattern_of_the_program_can_be_compiled() -> None:
    for path in USERS:
        importlib.import_module(".".join(("vera", *path.relative_to(ROOT).with_suffix("").parts)))
    gc.unfreeze()  # what was collected, which conftest.py has frozen, is not listed
    late = [each for each in gc.get_objects() if isinstance(each, late_regex._Late)]
    gc.freeze()
    assert len(late) > 200
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for pattern in late:
            re.compile(*pattern._written)


def test_a_late_pattern_does_what_a_compiled_one_does() -> None:
    late, now = (
        late_regex.late_regex(r"(?P<word>[a-z]+)", re.IGNORECASE),
        re.compile(r"(?P<word>[a-z]+)", re.I),
    )
    text = "One, two"
    assert late.findall(text) == now.findall(text)
    assert late.sub("x", text) == now.sub("x", text)
    assert (late.pattern, late.flags, late.groupindex) == (now.pattern, now.flags, now.groupindex)
    with pytest.raises(re.error):
        late_regex.late_regex("(").search("")
