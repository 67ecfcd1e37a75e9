"""CPU seconds of short commands, beside those of an empty Python program and of run.py before them.

python3 run.py && .venv/bin/python benchmarks/startup.py
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 10
ROOT = Path(__file__).parents[1]
RUN_PY = ROOT / "run.py"
LICENCES = ROOT / "examples" / "licences"
FIRST_QUESTION = "For how many years must a written offer to provide source be valid under the GPL version 3?"
VERA = Path(sys.executable).with_name("vera")
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "vera --help": [VERA, "--help"],
    "python3 run.py --help": [sys.executable, RUN_PY, "--help"],
    "the README's first question": [VERA, "run", FIRST_QUESTION, "--input-dir", LICENCES],
}


def cpu_seconds(argv: list[str | Path]) -> float:
    """User and system time of one run in an empty folder, with everything that it started."""
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(argv, check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a person's Python keeps what it has compiled
    print(f"{'CPU seconds, ' + str(RUNS) + ' runs':<30}{'median':>8}{'least':>8}{'most':>8}")
    for name, argv in COMMANDS.items():
        cpu_seconds(argv)  # the first run compiles and warms the disk cache
        seconds = [cpu_seconds(argv) for _ in range(RUNS)]
        print(f"{name:<30}{statistics.median(seconds):>8.3f}{min(seconds):>8.3f}{max(seconds):>8.3f}")


if __name__ == "__main__":
    main()
