"""The size of the house: the last column of the table in docs/design.md.

.venv/bin/python benchmarks/house.py

Counted over the syntax tree. Lines of code are those without blank lines, comments and docstrings. McCabe's
number is ruff's (C901); the wide one counts `and`, `or`, conditional expressions and comprehensions, too.
"""

import ast
import io
import statistics
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from test_structure import SOURCE, module_name, read_imports

ROOT = Path(__file__).parents[1]
LONG_LINES = 50
MANY_BRANCHES = 10
SMALL_FILE = 60

Function = ast.FunctionDef | ast.AsyncFunctionDef
BRANCHES = (
    *(ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.IfExp, ast.comprehension),
    *(ast.Assert, ast.match_case),
)


def functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def docstrings(tree: ast.AST) -> Iterator[ast.Expr]:
    """Strings that are statements: those of modules, classes and functions, and those below a constant."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node


def code_lines(text: str, tree: ast.AST) -> int:
    """Lines on which code stands."""
    lines: set[int] = set()
    silent = {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in silent:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in docstrings(tree):
        lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def branches(function: Function) -> int:
    """The wide number; a function inside counts for itself and for the one around it."""
    count = 1
    for node in ast.walk(function):
        count += isinstance(node, BRANCHES) + (len(node.values) - 1 if isinstance(node, ast.BoolOp) else 0)
    return count


def main() -> None:
    """Print the figures, a line each."""
    files = sorted(SOURCE.rglob("*.py"))
    texts = {path: path.read_text() for path in files}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    every = [function for tree in trees.values() for function in functions(tree)]
    public = [each for each in every if not each.name.startswith("_")]
    lengths = [(each.end_lineno or each.lineno) - each.lineno + 1 for each in every]
    importers = Counter(imported for _, imported in {(i.importer, i.imported) for i in read_imports(SOURCE)})
    single = [path for path in files if importers[module_name(path, SOURCE.parent)] == 1]
    others = {path: path.read_text() for path in sorted((ROOT / "benchmarks").rglob("*.py"))}
    code = sum(code_lines(text, ast.parse(text)) for text in (*texts.values(), *others.values()))
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--isolated",
        "--select",
        "C901",
        "--output-format",
        "concise",
        str(SOURCE),
    ]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    sizes = {path: len(text.splitlines()) for path, text in texts.items()}
    print(f"files of src: {len(files)}")
    print(f"lines of src: {sum(sizes.values()):,}")
    print(f"lines of code, src and benchmarks: {code:,}")
    print(f"median file, function: {statistics.median(sizes.values()):.0f}, {statistics.median(lengths):.0f}")
    print(f"functions over {LONG_LINES} lines: {sum(length > LONG_LINES for length in lengths)}")
    print(f"McCabe over {MANY_BRANCHES}, by ruff: {said.count('C901')}")
    print(f"the same, wide: {sum(branches(each) > MANY_BRANCHES for each in every)}")
    small = sum(sizes[path] < SMALL_FILE for path in single)
    print(f"one importer; under {SMALL_FILE} lines: {len(single)}; {small}")
    told = sum(bool(ast.get_docstring(each)) for each in public)
    print(f"public functions with a docstring: {told / len(public):.0%}")


if __name__ == "__main__":
    main()
