"""The tutorial's run, typed as it stands there, gives the output that stands there."""

import hashlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from docs_pages import DOCS, ROOT, blocks, quoted

from support.cli import vera

TUTORIAL = (DOCS / "tutorial.md").read_text()
BY_HAND = (DOCS / "how-to/check-a-citation.md").read_text()


def output(label: str) -> str:
    return next(block.body for block in blocks(TUTORIAL) if block.label == label)


def command(beginning: str) -> list[str]:
    lines = [line for block in blocks(TUTORIAL) if block.language == "sh" for line in block.body.split("\n")]
    return shlex.split(next(line for line in lines if line.startswith(beginning)))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that has the examples where a clone has them."""
    folder = tmp_path_factory.mktemp("clone")
    (folder / "examples").symlink_to(ROOT / "examples")
    return folder


@pytest.fixture(scope="module")
def first(place: Path) -> "subprocess.CompletedProcess[str]":
    return vera(*command("python3 run.py run")[2:], cwd=place)


def test_the_first_run_gives_the_answer_of_the_tutorial(first: "subprocess.CompletedProcess[str]") -> None:
    assert first.returncode == 3
    assert first.stdout == output("first answer")


def test_the_readme_begins_with_the_same_command() -> None:
    assert shlex.join(command("python3 run.py run")).replace("'", '"') in (ROOT / "README.md").read_text()


@pytest.mark.usefixtures("first")
def test_vera_show_prints_the_evidence_of_the_tutorial(place: Path) -> None:
    shown = vera(*command("vera show work/first --evidence")[1:], cwd=place)
    assert shown.stdout == output("evidence")


@pytest.mark.usefixtures("first")
def test_the_files_of_the_session_are_those_of_the_tutorial_and_of_the_reference(place: Path) -> None:
    found = sorted(path.name for path in (place / "work/first").iterdir())
    listed = next(block.body for block in blocks(TUTORIAL) if block.body.startswith("answer.md\n"))
    assert found == listed.split()
    table = quoted((DOCS / "reference/session-folder.md").read_text().partition("A **projection**")[0])
    assert set(found) <= {word.rstrip("/") for word in table}


@pytest.mark.usefixtures("first")
def test_the_stored_text_is_the_file_with_the_hash_of_the_tutorial(place: Path) -> None:
    raw = (ROOT / "examples/licences/GPL-3.txt").read_bytes()
    digest = hashlib.sha256(raw).hexdigest()
    assert f"{digest}  examples/licences/GPL-3.txt" in TUTORIAL
    assert (place / "work/first/store" / digest[:2] / digest).read_bytes() == raw


@pytest.mark.usefixtures("first")
def test_the_cited_bytes_have_the_hash_and_place_of_the_how_to(place: Path) -> None:
    answer = next(line for line in BY_HAND.split("\n") if line.startswith('{"evidence":"ev_0003"'))
    assert answer[:-1] in (place / "work/first/trace.jsonl").read_text()
    start, size = re.findall(r"tail -c \+(\d+) .* \| head -c (\d+)", BY_HAND)[0]
    raw = (ROOT / "examples/licences/GPL-3.txt").read_bytes()
    cited = raw[int(start) - 1 : int(start) - 1 + int(size)]
    assert f'"sha256":"{hashlib.sha256(cited).hexdigest()}"' in answer


@pytest.mark.usefixtures("first")
def test_the_script_of_the_how_to_checks_a_log_and_finds_a_changed_byte(place: Path, tmp_path: Path) -> None:
    script = next(block.body for block in blocks(BY_HAND) if block.language == "python")
    trace = place / "work/first/trace.jsonl"
    changed = tmp_path / "changed.jsonl"
    log = bytearray(trace.read_bytes())
    log[log.index(b"\n") + 200] ^= 1
    changed.write_bytes(log)

    def check(log: Path) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-I", "-c", script, log], capture_output=True, text=True, env=dict(os.environ)
        )

    whole = check(trace)
    assert whole.returncode == 0, whole.stderr
    seal = (place / "work/first/seal.json").read_text()
    assert all(word in seal for word in (whole.stdout.split()[0], whole.stdout.split()[-1]))
    assert check(changed).stderr == "line 2 is not what was written\n"
