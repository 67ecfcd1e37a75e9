"""Does a test notice when one line of the trust chain is wrong?

    python benchmarks/mutation.py [--part log]... [--most 40] [--seed 0]

Of each part a sample of single changes is tried: a comparison turned round, a condition negated, `and` for
`or`, a number one higher, a guard that never acts. Each is made in a copy of src/, and the part's tests run
against the copy until the first failure. What no test notices has survived and is printed with its line.
The table says how many of each part's possible changes were tried. A change that runs out of time counts as
noticed: a loop that never ends is seen.
"""

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 180
"""A run of a part's tests that takes longer has hung."""


class Part(NamedTuple):
    """Files below src/vera, and the tests that are nearest to them."""

    files: tuple[str, ...]
    tests: tuple[str, ...]


PARTS = {
    "log": Part(("session/log.py",), ("tests/session",)),
    "seal": Part(("session/seal.py",), ("tests/session", "tests/attestation/test_attestation_signers.py")),
    "store": Part(("store.py",), ("tests/test_store.py", "tests/session")),
    "reduce": Part(
        ("attestation/reduce.py", "attestation/tiers.py"),
        (
            "tests/attestation/test_attestation_reduce.py",
            "tests/attestation/test_attestation_reduce_request.py",
            "tests/attestation/test_attestation_reduce_rows.py",
            "tests/attestation/test_attestation_tiers.py",
            "tests/attestation/test_attestation_build.py",
        ),
    ),
    "gates": Part(
        tuple(
            f"gates/{name}.py"
            for name in (
                "assert_first", "brave_budget", "brave_circuit", "conclusion_ready", "contract",
                "destructive", "domain_shift", "notes_gate", "query_mutation", "query_vector",
                "search_budget", "source_budget", "stagnation", "stuck",
            )
        ),
        (
            "tests/gates/test_gates_assert_first.py", "tests/gates/test_gates_contract.py",
            "tests/gates/test_gates_destructive.py", "tests/gates/test_gates_search.py",
            "tests/gates/test_gates_stuck.py", "tests/gates/test_gates_turns.py",
        ),
    ),
    "egress": Part(
        ("sandbox/egress/policy.py",),
        ("tests/sandbox/test_sandbox_egress_policy.py", "tests/sandbox/test_sandbox_egress_address.py"),
    ),
}  # fmt: skip

OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
EDGE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}


class Mutant(NamedTuple):
    """A file with one change: `text` is the whole of it."""

    file: str
    line: int
    what: str
    text: str


def mutants(file: str, text: str) -> Iterator[Mutant]:
    """Every single change of a file that the operators know, without docstrings and annotations."""
    tree = ast.parse(text)
    for number, node in enumerate(ast.walk(tree)):
        for what, change in _changes(node):
            other = copy.deepcopy(tree)
            target = next(each for at, each in enumerate(ast.walk(other)) if at == number)
            change(target)
            line = getattr(node, "lineno", 0)
            yield Mutant(file, line, what, ast.unparse(ast.fix_missing_locations(other)))


def _changes(node: ast.AST) -> Iterator[tuple[str, "Change"]]:
    match node:
        case ast.Compare(ops=[operator]):
            for table in (OPPOSITE, EDGE):
                if type(operator) in table:
                    new = table[type(operator)]
                    yield f"{type(operator).__name__} → {new.__name__}", _Set("ops", [new()])
        case ast.BoolOp(op=operator):
            other = ast.Or if isinstance(operator, ast.And) else ast.And
            yield f"{type(operator).__name__} → {other.__name__}", _Set("op", other())
        case ast.UnaryOp(op=ast.Not()):
            yield "not → (nothing)", _Unwrap()
        case ast.Constant(value=bool() as value):
            yield f"{value} → {not value}", _Set("value", not value)
        case ast.Constant(value=int() as value):
            yield f"{value} → {value + 1}", _Set("value", value + 1)
        case ast.If():
            yield "if … → if False", _Set("test", ast.Constant(False))


class _Set(NamedTuple):
    """Gives a node another member."""

    member: str
    value: object

    def __call__(self, node: ast.AST) -> None:
        setattr(node, self.member, self.value)


class _Unwrap:
    """Takes the `not` away, as twice `not`."""

    def __call__(self, node: ast.AST) -> None:
        assert isinstance(node, ast.UnaryOp)
        node.operand = ast.UnaryOp(ast.Not(), node.operand)


Change = _Set | _Unwrap


def survives(mutant: Mutant, tests: Sequence[str], copied: Path) -> bool:
    """Whether all tests pass with the mutant in the place of its file."""
    place = copied / "vera" / mutant.file
    before = place.read_text()
    place.write_text(mutant.text)
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            capture_output=True,
            check=False,
            timeout=SECONDS,
            env={**os.environ, "PYTHONPATH": str(copied)},
        )
    except subprocess.TimeoutExpired:
        return False
    finally:
        place.write_text(before)
    return done.returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", action="append", choices=sorted(PARTS))
    parser.add_argument("--most", type=int, default=40, help="changes tried of a part; 0 is all")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="vera-mutation-") as folder:
        copied = Path(folder) / "src"
        shutil.copytree(ROOT / "src", copied, ignore=shutil.ignore_patterns("__pycache__"))
        for name in given.part or PARTS:
            part = PARTS[name]
            every = [
                each
                for file in part.files
                for each in mutants(file, (ROOT / "src" / "vera" / file).read_text())
            ]
            tried = every
            if given.most and len(every) > given.most:
                tried = random.Random(given.seed).sample(every, given.most)
            lived = []
            for mutant in tried:
                if survives(mutant, part.tests, copied):
                    lived.append(mutant)
                    print(f"survived: {mutant.file}:{mutant.line}: {mutant.what}", flush=True)
            rows.append(
                f"| {name} | {len(every)} | {len(tried)} | {len(tried) - len(lived)} | {len(lived)} |"
            )
    print("| part | possible | tried | noticed | survived |\n|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
