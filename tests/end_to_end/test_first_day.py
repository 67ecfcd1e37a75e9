"""A first day with VERA: the script in examples/ that goes from the first question to another agent's.

In a clean Debian, from the clone on: tests/release/test_release_first_day.py.
"""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from support.first_day import SCRIPT, insist_on_all_steps


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
    insist_on_all_steps(done.stdout)
    assert (tmp_path / "day" / "lease" / "answer.md").is_file()
