"""The mutation run over the trust chain makes the changes that it says, one at a time."""

import runpy
from pathlib import Path

RUN = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "mutation.py"))


def test_each_mutant_has_one_change() -> None:
    text = "def f(a, b):\n    if not a and b >= 3:\n        return True\n    return False\n"
    changed = {each.what: each.text for each in RUN["mutants"]("f.py", text)}
    assert changed["GtE → Lt"].count("if not a and b < 3:") == 1
    assert "if not a and b > 3:" in changed["GtE → Gt"]
    assert "if not a or b >= 3:" in changed["And → Or"]
    assert "if not not a and b >= 3:" in changed["not → (nothing)"]
    assert "if False:" in changed["if … → if False"]
    assert "b >= 4" in changed["3 → 4"] and "return False\n    return False" in changed["True → False"]


def test_each_part_names_files_and_tests_that_there_are() -> None:
    root = Path(__file__).parents[2]
    for part in RUN["PARTS"].values():
        assert all((root / "src" / "vera" / each).is_file() for each in part.files)
        assert all((root / each).exists() for each in part.tests)
