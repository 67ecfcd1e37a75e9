"""An archive that unfolds to gigabytes, sent with the form of a run: the run ends, and keeps its bounds."""

import resource
import time
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from support.dashboard_runs import asked, use_plain_machine
from support.dashboards import PATIENCE, app_of
from support.scripted_server import ScriptedServer
from support.turns import as_reply, final, observation, turn

MEGABYTES = 4096
"""What the archive unfolds to."""

MEMORY = 1 << 20
"""kB that the process of the run may take at its most."""

STORED = 32 << 20
"""Bytes that its session may take."""


def bomb() -> bytes:
    """An archive of 8 files of zeros, which together have MEGABYTES."""
    file, zeros = BytesIO(), bytes(1 << 20)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number in range(8):
            with archive.open(f"{number}.txt", "w") as member:
                for _ in range(MEGABYTES // 8):
                    member.write(zeros)
    return file.getvalue()


def test_a_run_over_an_archive_that_was_dropped_on_the_form_keeps_its_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_plain_machine(monkeypatch)
    turns = [turn("read", path="/input/bomb.zip"), final("It is not known.")]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    files = [("files", ("bomb.zip", bomb())), ("files", ("notes.txt", b"The dam is 185 m high.\n"))]
    with (
        ScriptedServer([as_reply(each, "text") for each in turns], exhausted="repeat") as server,
        app_of(tmp_path) as client,
    ):
        form = asked(server, "What is in the archive?")
        answer = client.post("/start", data=form, files=files, headers={"x-vera": "1"})
        assert answer.status_code == 204, answer.text
        deadline = time.monotonic() + 3 * PATIENCE
        while "Ended with exit code" not in client.get(answer.headers["location"]).text:
            assert time.monotonic() < deadline, [each.read_text() for each in tmp_path.rglob("run.log")]
            time.sleep(0.2)
        told = [observation(each.body) for each in server.requests]
    assert "notes.txt" in told[0] and "bomb.zip" in told[1] and "error" in told[1]
    (session,) = (tmp_path / "work").glob("ui-run-*")
    assert "bomb.zip" in (session / "run.log").read_text()
    assert sum(each.stat().st_size for each in session.rglob("*") if each.is_file()) < STORED
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss <= max(before, MEMORY)
