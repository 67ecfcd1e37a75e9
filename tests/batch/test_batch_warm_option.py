"""`--warm` once started sandboxes ahead: it is accepted, starts none, and older sessions still open."""

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from support.batches import BLUE, SHORT, batch, said
from support.box_image import base_image, containers, image
from support.cli import folded
from support.scripted_server import ScriptedServer, Slow
from vera.attestation.bundle import unpack
from vera.cli.batch import run
from vera.cli.replay import replay
from vera.cli.report import report
from vera.cli.show import show
from vera.cli.worker import worker

PREWARMED = Path(__file__).parents[1] / "fixtures" / "older" / "prewarmed.zip"


@pytest.mark.needs("docker")
@pytest.mark.timeout(240)
def test_a_sandbox_starts_with_its_task_whatever_warm_says(tmp_path: Path) -> None:
    image()
    seen: list[int] = []

    def model(index: int, body: dict[str, Any]) -> Slow:
        seen.append(len(containers(tmp_path)))
        return Slow(1.0, BLUE)

    (tmp_path / "runs" / ".warm" / "left").mkdir(parents=True)  # by an older version that was killed
    with ScriptedServer(model) as server:
        boxed = {"sandbox.backend": "docker", "sandbox.base_image": base_image()}
        settings = {**SHORT, **boxed, "model.base_url": server.base_url}
        lines = [{"task": f"What colour is sky {number}?", "settings": settings} for number in range(3)]
        (tmp_path / "tasks.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        done = batch("tasks.jsonl", "--slots", 1, "--warm", 2, "--json", cwd=tmp_path)
    assert said(done)["states"] == {"done": 3}, done.stderr
    assert set(seen) == {1}


@pytest.mark.parametrize(
    ("command", "others"), [(run, ["tasks.jsonl"]), (worker, ["--engine", "postgresql:///v", "--store", "s"])]
)
def test_both_commands_accept_it_and_their_help_says_that_it_does_nothing(
    command: click.Command, others: list[str]
) -> None:
    with_it = command.make_context("vera", [*others, "--warm", "2"]).params
    assert with_it == command.make_context("vera", list(others)).params
    shown = " ".join(CliRunner().invoke(command, ["--help"]).output.split())
    assert "--warm INTEGER RANGE Does nothing;" in shown


def test_a_session_whose_sandbox_was_started_ahead_still_shows_reports_and_replays(tmp_path: Path) -> None:
    session = tmp_path / "s"
    unpack(PREWARMED, session)
    state = folded(session)
    assert state.ended is not None
    shown = CliRunner().invoke(show, [str(session)])
    assert "The sky is blue today." in shown.output
    page = tmp_path / "report.html"
    made = CliRunner().invoke(report, [str(session), "-o", str(page)])
    assert made.exit_code == 0, made.output
    assert "The sky is blue today." in page.read_text()
    replayed = CliRunner().invoke(replay, [str(session), "--any-signer"])
    assert replayed.exit_code == 0, replayed.output
