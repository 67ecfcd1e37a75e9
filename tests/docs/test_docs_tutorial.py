"""The tutorial's run, typed as it stands there, gives the output that stands there."""

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from docs_pages import DOCS, ROOT, blocks, quoted

from support.cli import vera

TUTORIAL = (DOCS / "tutorial.md").read_text()
BY_HAND = (DOCS / "how-to/check-a-citation.md").read_text()


TIME = re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ")
ID_OF_A_RUN = re.compile(r"(?m)^  sha256:[0-9a-f]{64}$|\bkey [0-9a-f]{64}\b")


def output(label: str, page: str = TUTORIAL) -> str:
    return next(block.body for block in blocks(page) if block.label == label)


def command(beginning: str) -> list[str]:
    lines = [line for block in blocks(TUTORIAL) if block.language == "sh" for line in block.body.split("\n")]
    return shlex.split(next(line for line in lines if line.startswith(beginning)))


def timeless(text: str) -> str:
    """The text without what differs from run to run: times, ids of attestations, the user's key."""
    return ID_OF_A_RUN.sub("<id>", TIME.sub("<time>", text))


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
    assert first.returncode == 0
    assert TIME.search(first.stdout)
    assert timeless(first.stdout) == timeless(output("first answer"))


def test_the_first_run_says_what_the_tutorial_says_on_the_way(
    first: "subprocess.CompletedProcess[str]",
) -> None:
    def lines(text: str) -> list[str]:
        return [
            re.sub(r"\d+\.\d s\b|index up to date|\d+ looked at in ", "", line) for line in text.split("\n")
        ]

    said = next(block.body for block in blocks(TUTORIAL) if block.body.startswith("input: 14 files"))
    assert lines(first.stderr) == lines(said)


def test_the_readme_begins_with_the_same_command_and_the_same_answer() -> None:
    readme = (ROOT / "README.md").read_text()
    assert shlex.join(command("python3 run.py run")).replace("'", '"') in readme
    assert timeless(output("first answer")) in timeless(readme)


@pytest.mark.usefixtures("first")
@pytest.mark.parametrize("page", ["tutorial.md", "how-to/replay-a-session.md"])
def test_vera_replay_agrees_as_the_page_shows(place: Path, page: str) -> None:
    shown = vera("replay", "work/first", cwd=place)
    assert shown.returncode == 0
    assert timeless(shown.stdout) == timeless(output("replay", (DOCS / page).read_text()))


@pytest.mark.usefixtures("first")
def test_the_changed_byte_of_the_tutorial_is_reported_as_it_shows(place: Path) -> None:
    block = next(block.body for block in blocks(TUTORIAL) if "work/changed" in block.body)
    change = block.partition("vera replay")[0]
    subprocess.run(["/bin/sh", "-ec", change], cwd=place, check=True)
    shown = vera(*command("vera replay work/changed")[1:], cwd=place)
    assert shown.returncode == 1
    assert timeless(shown.stdout) == timeless(output("changed"))


@pytest.mark.usefixtures("first")
def test_a_bundle_replays_elsewhere_and_its_signer_can_be_pinned(place: Path, tmp_path: Path) -> None:
    made = vera("export", "work/first", "--bundle", tmp_path / "first.zip", cwd=place)
    said = next(
        block.body
        for block in blocks((DOCS / "how-to/replay-a-session.md").read_text())
        if block.body.startswith("first.zip: ")
    )
    assert made.stdout.endswith(said)
    assert vera("replay", "first.zip", cwd=tmp_path).returncode == 0
    assert vera("replay", "first.zip", "--trust", "0" * 64, cwd=tmp_path).returncode == 1


@pytest.mark.usefixtures("first")
def test_the_attestation_is_read_as_the_pages_say(place: Path) -> None:
    by_hand = {
        line
        for page in ("reference/findings.md", "how-to/check-a-citation.md")
        for block in blocks((DOCS / page).read_text())
        for line in block.body.split("\n")
        if line.startswith("python3 -c ")
    }
    (typed,) = by_hand
    words = shlex.split(typed)
    read = subprocess.run([sys.executable, *words[1:]], cwd=place, capture_output=True, text=True, check=True)
    assert '"result": "SUPPORTED"' in read.stdout
    assert '"hyperthesis"' in read.stdout


@pytest.mark.usefixtures("first")
def test_the_json_of_a_result_has_the_members_of_the_how_to(place: Path) -> None:
    page = (DOCS / "how-to/stop-resume-limit.md").read_text()
    documented = json.loads(next(block.body for block in blocks(page) if block.language == "json"))
    shown = json.loads(vera("show", "work/first", "--json", cwd=place).stdout)

    def members(result: dict[str, Any]) -> list[list[str]]:
        return [sorted(each) for each in (result, result["claims"][0], result["citations"][0])]

    assert all(shown.pop(name) for name in ("log", "signed", "keyid"))
    assert members(documented) == members(shown)
    assert documented["exit_code"] == shown["exit_code"] == 0


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
    assert f"{whole.stdout.split()[0]} records, last hash " in BY_HAND
    assert check(changed).stderr == "line 2 is not what was written\n"
