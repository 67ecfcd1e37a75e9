"""`vera verify` with an entailment judge in a file, and `vera replay` of it, as a person types them."""

import json
from pathlib import Path

import pytest

from support.cli import records, vera
from support.tiny_entailment import write_judge
from vera import events

pytestmark = pytest.mark.needs("onnx")

THESIS = "The ferry from Anholt makes four trips on each day of summer."
LINE = "In summer the ferry leaves Anholt four times a day.\n"
OTHERS = "The harbour was built in 1902 by the town.\nThe keeper of the light does not live on the island.\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "ferry.txt").write_text(LINE + OTHERS)
    return tmp_path


def verified(home: Path, work: str, *options: object) -> tuple[dict[str, object], list[events.Record]]:
    """The verdict on the thesis, and the log of its session."""
    folders = {"XDG_CACHE_HOME": str(home / "cache"), "XDG_CONFIG_HOME": str(home / "config")}
    arguments = ("verify", THESIS, "--input-dir", "papers", "--work-dir", work, "--fresh", "--json", "-q")
    done = vera(*arguments, *options, cwd=home, **folders)
    assert done.stdout, done.stderr
    return json.loads(done.stdout), records(home / work)


def test_a_thesis_in_other_words_is_verified_and_its_labels_come_out_again(home: Path) -> None:
    """A first run shows which lines and probes a judge is asked about; the second has one that knows them."""
    literal, log = verified(home, "first", "--entailment-model", write_judge(home / "blind", {}))
    lines = {cite.strip() for cite in (LINE, *OTHERS.splitlines())}
    probes = [each for each in log if isinstance(each, events.VerifierProbe) and each.probe]
    text = (LINE + OTHERS).splitlines()
    shown = {
        (each.claim, text[each.first - 1]): "SUPPORTS" if each.probe == "stated" else "IRRELEVANT"
        for each in probes
    }
    known = {(THESIS, line): "SUPPORTS" if line == LINE.strip() else "IRRELEVANT" for line in lines}
    judge = write_judge(home / "judge", {**known, **shown})
    found, log = verified(home, "second", "--entailment-model", judge)
    assert (found["status"], literal["status"]) == ("VERIFIED", "UNRESOLVED"), found
    (exam,) = [each for each in log if isinstance(each, events.VerifierExam)]
    assert (exam.model, exam.passed) == ("judge", True)
    done = vera("replay", "second", "--any-signer", "--entailment-model", judge, cwd=home)
    assert done.returncode == 0, done.stdout
    assert "read 1 claim again, with its exam and its probes." in done.stdout


def test_a_file_that_is_not_there_is_said_and_the_rule_labels(home: Path) -> None:
    found, log = verified(home, "work", "--entailment-model", "nowhere")
    (exam,) = [each for each in log if isinstance(each, events.VerifierExam)]
    assert exam.problem == "There is no entailment model at nowhere."
    assert found["status"] == "UNRESOLVED"


def test_the_rule_without_a_file_is_wrong_usage(home: Path) -> None:
    done = vera("verify", THESIS, "--input-dir", "papers", "--verifier", "entailment", cwd=home)
    assert done.returncode == 2
    assert "name one with --entailment-model" in done.stderr


def test_a_project_folder_cannot_name_the_judge(home: Path) -> None:
    (home / "vera.yaml").write_text("verification:\n  entailment_model: theirs\n")
    done = vera("verify", THESIS, "--input-dir", "papers", cwd=home)
    assert done.returncode == 2
    assert "verification.entailment_model" in done.stderr
