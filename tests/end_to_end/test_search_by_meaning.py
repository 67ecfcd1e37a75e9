"""`vera index` and `vera run` with the real all-MiniLM-L6-v2: closest lines, never an answer."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.needs("minilm")


def vera(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
    }
    command = [sys.executable, "-m", "vera", *arguments, "-c", "search.embedding=minilm"]
    return subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False)


def test_a_paraphrase_brings_the_closest_lines_and_no_verdict(tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "animals.txt").write_text("The vet sees dogs and cats on Monday mornings.\n")
    (papers / "keys.txt").write_text("ssh-agent keeps private keys in memory during a session.\n")
    indexed = vera(tmp_path, "index", "papers", "--json")
    assert indexed.returncode == 0, indexed.stderr
    question = "When can I bring my sick puppy to a physician?"
    run = ("run", question, "--input-dir", "papers", "--work-dir", "work", "--model-base-url", "builtin")
    done = vera(tmp_path, *run, "--json")
    result = json.loads(done.stdout)
    assert result["status"] == "UNRESOLVED", done.stderr
    assert "by meaning (all-MiniLM-L6-v2): 2 of 2 chunks" in done.stderr
    log = (tmp_path / "work" / "trace.jsonl").read_text()
    assert ", by meaning)" in log and "dogs and cats" in log
    assert "[" in result["answer"] and "Nearest lines found" in result["answer"]
