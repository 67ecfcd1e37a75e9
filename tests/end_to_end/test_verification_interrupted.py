"""Ctrl-C while an answer is being verified: what is known is shown, and `vera resume` goes on from there."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.cast import Cast, all_labelled, asking, final, looked_up, turn
from support.cli import folded, records, vera
from support.scripted_server import ScriptedServer, Slow
from vera import events
from vera.session import check

READ = turn("read", path="terms.txt")
GOOD = final("A written offer must be valid for at least three years [ev_0001:3].")
WRONG = final("A written offer must be valid for seven years [ev_0001:3].")
QUESTION = {"claim": "c1", "question": "Is it so?", "source": "terms.txt", "label": "misinterpretation"}
CONFIRMED = looked_up(turn("read", path="terms.txt"), final("yes [ev_0001:3]"))


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "terms.txt").write_text(
        "Terms\n\nA written offer must be valid for at least three years.\nEnd.\n"
    )
    return folder


def hanging(body: dict[str, Any]) -> Slow:
    return Slow(60, "late")


def begin(server: ScriptedServer, documents: Path) -> "subprocess.Popen[str]":
    arguments = [
        "run", "How long must a written offer be valid?", "--input-dir", str(documents), "--work-dir", "w",
        "--sandbox", "none", "--egress", "none", "--protocol", "text", "--model-base-url", server.root,
    ]  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-m", "vera", *arguments],
        cwd=documents.parent,
        env=dict(os.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def interrupted(cast: Cast, part: str, documents: Path, *signals: signal.Signals) -> tuple[str, str]:
    """Run until `part` was asked, send the signals, and return what the run printed (stdout, stderr)."""
    with ScriptedServer(cast) as server:
        process = begin(server, documents)
        wait_until(lambda: cast.asked[part] > 0)
        for each in signals:
            process.send_signal(each)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    return out, err


def resumed(cast: Cast, tmp_path: Path) -> str:
    """The run goes on to a verified answer, and every round has its one verdict."""
    before = (tmp_path / "w" / "trace.jsonl").read_bytes()
    with ScriptedServer(cast) as server:
        done = vera("resume", "w", "-c", f"model.base_url={server.root}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "w" / "trace.jsonl").read_bytes().startswith(before), "a record was lost"
    assert check(tmp_path / "w").verdict == "SEALED"
    log = records(tmp_path / "w")
    begun = [record.round for record in log if isinstance(record, events.VerifierStarted)]
    decided = [record.round for record in log if isinstance(record, events.Verifier)]
    assert begun == decided == list(range(1, len(begun) + 1))
    return done.stdout


@pytest.mark.parametrize("part", ["decompose", "check", "label", "score"])
def test_the_first_interrupt_shows_the_answer_and_the_round_goes_on_when_resumed(
    part: str, documents: Path, tmp_path: Path
) -> None:
    parts = {"decompose": asking(QUESTION), "check": CONFIRMED, part: hanging}
    out, err = interrupted(Cast([READ, GOOD], **parts), part, documents, signal.SIGINT)
    assert "at least three years [ev_0001:3]" in out
    assert "UNRESOLVED: stopped before the answer was verified" in out
    assert "finishing with what is known" in err
    ended = records(tmp_path / "w")[-1]
    assert isinstance(ended, events.RunEnd)
    assert ended.exit_code == 130
    assert not (tmp_path / "w" / "attestation.json").exists()
    again = Cast([], decompose=asking(QUESTION), check=CONFIRMED)
    assert "VERIFIED" in resumed(again, tmp_path)
    assert again.asked["worker"] == 0, "the answer was there already"
    assert (again.asked["decompose"] == 0) is (part != "decompose"), "what was asked is not asked again"


def test_an_interrupt_in_a_later_round_shows_the_best_answer_so_far(documents: Path, tmp_path: Path) -> None:
    out, _ = interrupted(Cast([READ, WRONG, GOOD], score=hanging), "score", documents, signal.SIGINT)
    assert "seven years" in out
    assert "hard finding" in out
    state = folded(tmp_path / "w")
    assert state.chosen is not None and state.chosen.round == 1
    assert (tmp_path / "w" / "attestation.json").exists()
    out = resumed(Cast([]), tmp_path)
    assert "at least three years" in out and "seven" not in out
    chosen = folded(tmp_path / "w").chosen
    assert chosen is not None and chosen.round == 2


@pytest.mark.parametrize(
    "signals", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM,)], ids=["twice", "terminated"]
)
def test_a_run_stopped_at_once_in_its_verification_goes_on_when_resumed(
    signals: tuple[signal.Signals, ...], documents: Path, tmp_path: Path
) -> None:
    cast = Cast([READ, GOOD], label=hanging)
    _, err = interrupted(cast, "label", documents, *signals)
    if signals == (signal.SIGTERM,):
        assert "stopped. Go on with 'vera resume w'" in err
        assert not any(isinstance(record, events.RunEnd) for record in records(tmp_path / "w"))
    again = Cast([], label=all_labelled("SUPPORTS"))
    assert "VERIFIED" in resumed(again, tmp_path)
    assert again.asked["worker"] == 0
