"""A first day with VERA: the script in examples/ that goes from the first question to another agent's."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples" / "first-day.sh"


@pytest.mark.needs("curl")
@pytest.mark.timeout(300)
def test_a_first_day_from_the_first_question_to_another_agent(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    environment = {
        **os.environ,
        "VERA": f"{sys.executable} -m vera",
        "PYTHON": sys.executable,
        "PORT": port,
        "MODEL_BASE_URL": "builtin",
    }
    done = subprocess.run(
        ["sh", SCRIPT, tmp_path / "day"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    steps = done.stdout.split("\n== ")[1:]
    assert len(steps) == 10
    said = dict(enumerate(steps, 1))
    for number, text in {
        1: "“at least three years”: GPL-3.txt",
        2: "> The lease begins on 1 March 2024 and ends on 28 February 2029.",
        3: "> The electricity meter showed 4,812 kilowatt hours.",
        4: "“1,240 euros”: lease.pdf",
        5: "REFUTED: the lines below say otherwise",
        6: '"2,840 euros" is nowhere in the cited source lease.pdf',
        7: "L2 text       AGREES",
        8: "28 February 2029",
        9: '"name":"verify_claim"',
        10: "QUOTED",
    }.items():
        assert text in said[number], said[number]
    assert (tmp_path / "day" / "lease" / "answer.md").is_file()
