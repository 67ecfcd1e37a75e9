"""A replay computes the labels of an entailment judge again, from a file that a person names."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.entailing import QUOTED, entailed, replayed, trained
from support.verified import records, verified
from vera import events
from vera.attestation.keys import Signer, load_or_create
from vera.attestation.report import Level, Report
from vera.entailment.values import Shares, relation, reproduces

pytestmark = pytest.mark.needs("onnx")

ONE_CORE = """
import json, os, sys
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from vera.cli import main
sys.argv = ["vera", *sys.argv[1:]]
main()
"""


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return load_or_create(tmp_path_factory.mktemp("keys") / "keys")


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(tmp_path_factory.mktemp("judges") / "judge")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory, signer: Signer, judge: Path) -> Path:
    root = tmp_path_factory.mktemp("entailed") / "session"
    entailed(root, signer, judge, threads=3)
    return root


def verdicts(report: Report) -> Level:
    return next(level for level in report.levels if level.name == "L1")


def test_the_labels_come_out_again_in_another_process_with_another_number_of_threads(
    session: Path, judge: Path
) -> None:
    """They were given by three threads; here by one, in a process that has one core."""
    arguments = ["replay", str(session), "--any-signer", "--entailment-model", str(judge), "--json"]
    done = subprocess.run(
        [sys.executable, "-c", ONE_CORE, *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    report = json.loads(done.stdout)
    assert (done.returncode, report["exit_code"]) == (0, 0)
    told = [each["sentence"] for level in report["levels"] for each in level["remarks"]]
    sha256 = hashlib.sha256((judge / "model.onnx").read_bytes()).hexdigest()
    assert f"judge (sha256 {sha256}) read 2 claims again, with its exam and its probes." in told


def test_without_the_file_the_bytes_agree_and_it_says_so(session: Path, judge: Path, tmp_path: Path) -> None:
    sha256 = hashlib.sha256((judge / "model.onnx").read_bytes()).hexdigest()
    for path in (None, tmp_path / "nowhere"):
        report = replayed(session, path)
        assert report.exit_code == 0
        (told,) = [each.sentence for each in verdicts(report).remarks if each.where == "entailment judge"]
        assert told.startswith(
            f"The labels of judge were not recomputed: the model file with sha256 {sha256}"
        )


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_swapped_file_is_reported(session: Path, judge: Path, tmp_path: Path, name: str) -> None:
    copy = tmp_path / "judge"
    shutil.copytree(judge, copy)
    other = trained(tmp_path / "other", QUOTED, always="SUPPORTS")
    (copy / name).write_bytes((other / name).read_bytes())
    report = replayed(session, copy)
    assert (verdicts(report).verdict, report.exit_code) == ("NOT_REPRODUCED", 1)
    assert verdicts(report).sentence.startswith(f"Another {name.partition('.')[0]} file: ")
    assert "ALTERED" not in {level.verdict for level in report.levels}


def test_labels_that_the_judge_does_not_give_are_not_reproduced(
    tmp_path: Path, signer: Signer, judge: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A maker who writes another label into the log than the file gives."""
    from vera.attestation import entailed as room

    monkeypatch.setattr(room, "relation", lambda shares: "CONTRADICTS")
    root = tmp_path / "session"
    assert entailed(root, signer, judge).result == "UNSUPPORTED"
    monkeypatch.undo()
    report = replayed(root, judge)
    assert (verdicts(report).verdict, report.exit_code) == ("NOT_REPRODUCED", 1)
    assert "was labelled CONTRADICTS, and is not here" in verdicts(report).sentence
    assert replayed(root, None).exit_code == 0


def test_an_exam_that_the_judge_does_not_pass_is_not_reproduced(
    tmp_path: Path, signer: Signer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A maker whose judge fails, and who logs the replies of one that passes."""
    from support import exams
    from vera.verification import exam as room

    def cheat(reader: object, seed: int | None = None) -> room.Kept:
        return room.Kept(seed=0, sat_at=1_764_000_000.0, replies=exams.replies(exams.competent))

    monkeypatch.setattr(room, "sit_entailment", cheat)
    root, blind = tmp_path / "session", trained(tmp_path / "judge", always="SUPPORTS")
    entailed(root, signer, blind)
    report = replayed(root, blind)
    assert verdicts(report).verdict == "NOT_REPRODUCED"
    assert any(each.where.startswith("exam, sheet ") for each in verdicts(report).remarks)


def test_a_session_names_no_file_that_a_replay_opens(session: Path, judge: Path) -> None:
    """Whoever wrote the session would choose what is loaded here: the log holds hashes and no path."""
    assert str(judge) not in (session / "trace.jsonl").read_text()
    (sat,) = [each for each in records(session) if isinstance(each, events.VerifierExam)]
    assert (sat.model, sat.server) == ("judge", "")


def test_a_session_without_such_a_judge_replays_as_before(
    tmp_path: Path, signer: Signer, judge: Path
) -> None:
    verified(tmp_path / "session", signer)
    with_file, without = replayed(tmp_path / "session", judge), replayed(tmp_path / "session", None)
    assert with_file == without
    assert without.exit_code == 0


def test_a_bundle_is_held_against_the_file_too(session: Path, judge: Path, tmp_path: Path) -> None:
    from vera.attestation.bundle import pack, replay_bundle
    from vera.attestation.signers import Signers

    pack(session, tmp_path / "session.vera")
    report = replay_bundle(tmp_path / "session.vera", Signers(any_signer=True), 2, judge)
    assert report.exit_code == 0
    assert any("read 2 claims again" in each.sentence for each in verdicts(report).remarks)


@pytest.mark.parametrize(
    ("supported", "contradicted", "label"),
    [
        (9000, 100, "SUPPORTS"),
        (5500, 0, "SUPPORTS"),
        (5499, 0, "IRRELEVANT"),
        (5100, 4000, "IRRELEVANT"),
        (100, 5500, "CONTRADICTS"),
        (7000, 7000, "IRRELEVANT"),
    ],
)
def test_a_share_near_the_threshold_is_neither(supported: int, contradicted: int, label: str) -> None:
    assert relation(Shares(supported, contradicted)) == label


@pytest.mark.parametrize("moved", range(-500, 501, 100))
@pytest.mark.parametrize("share", [4999, 5000, 5499, 5500, 5999, 6001])
def test_a_processor_that_differs_by_the_margin_reproduces_every_label(share: int, moved: int) -> None:
    for then, now in ((share, share + moved), (share + moved, share)):
        assert reproduces(relation(Shares(then, 0)), Shares(now, 0))
        assert reproduces(relation(Shares(0, then)), Shares(0, now))


def test_one_that_differs_by_more_does_not() -> None:
    assert not reproduces("SUPPORTS", Shares(4999, 0))
    assert not reproduces("IRRELEVANT", Shares(6001, 0))
    assert not reproduces("CONTRADICTS", Shares(9000, 100))
    assert not reproduces("", Shares(9000, 100))
