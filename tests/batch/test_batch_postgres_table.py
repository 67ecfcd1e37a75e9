"""`vera table --engine`: the cells of a table on the workers of a cluster."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import postgres
from support.batches import SHORT, batch, commits, slowly, until, worker
from support.cli import vera
from support.postgres import Server
from support.scripted_server import ScriptedServer
from vera.config.handed import as_text

pytestmark = [pytest.mark.needs("postgres"), pytest.mark.timeout(240)]

ASKED = ["table", "--questions", "q.csv", "--input", "docs", "--base-dir", "table"]
OUTS = ("t.html", "t.csv", "t.json")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with postgres.server() as running:
        yield running


def place(folder: Path) -> Path:
    """Three documents and two questions."""
    (folder / "docs").mkdir(parents=True)
    (folder / "table").mkdir()
    for n in range(3):
        (folder / "docs" / f"d{n}.txt").write_text(f"The bridge number {n} is {n + 100} metres long.\n")
    (folder / "q.csv").write_text("question\nHow long is the bridge?\nWhat colour is the sky?\n")
    return folder


def words(*more: object) -> list[str]:
    return [*ASKED, *(word for name in OUTS for word in ("--out", name)), *map(str, more)]


def configured(base_url: str) -> list[str]:
    settings = {**SHORT, "model.base_url": base_url}
    return [word for key, value in settings.items() for word in ("-c", f"{key}={as_text(value)}")]


def test_a_table_of_a_cluster_goes_on_after_a_break_and_has_the_bytes_of_one_machine_s(
    server: Server, tmp_path: Path
) -> None:
    url, here = server.url(server.create_database()), tmp_path / "here"
    with ScriptedServer(slowly(0.3)) as model:
        settings = configured(model.base_url)
        place(here)
        with (
            worker(url, here / "table", "--slots", 1, *settings),
            worker(url, here / "table", "--slots", 1, *settings),
        ):
            command = [sys.executable, "-m", "vera", *words("--engine", url)]
            with subprocess.Popen(
                command, cwd=here, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            ) as process:
                until(lambda: commits(here / "table"), "a commit")
                process.send_signal(signal.SIGINT)
                _, said = process.communicate(timeout=60)
            assert process.returncode == 130, said
            assert "no longer waiting" in said
            partly = (here / "t.csv").read_text()
            assert "not asked yet" in partly
            done = vera(*words("--engine", url), cwd=here)
            asked = len(model.requests)
            again = vera(*words("--engine", url), cwd=here)
            assert len(model.requests) == asked
        assert "not asked yet" not in (here / "t.csv").read_text(), done.stderr
        assert len(commits(here / "table")) == 6
        on_the_cluster = {name: (here / name).read_bytes() for name in OUTS}
        here.rename(tmp_path / "cluster")
        place(here)
        alone = vera(*words(*settings), cwd=here)
    assert (alone.returncode, done.returncode, again.returncode) == (3, 3, 3), alone.stderr
    assert {name: (here / name).read_bytes() for name in OUTS} == on_the_cluster


def test_a_worker_reads_the_documents_of_a_table_and_no_other_folder_that_a_row_names(
    server: Server, tmp_path: Path
) -> None:
    url = server.url(server.create_database())
    place(tmp_path)
    store, secret = tmp_path / "table", tmp_path / "secret"
    secret.mkdir()
    (secret / "key.txt").write_text("The sky is secret.\n")
    (store / ".vera" / "documents").mkdir(parents=True)
    (store / ".vera" / "documents" / "link").symlink_to(secret)
    rows = [
        {"task": "What is the sky?", "input_dir": str(folder)}
        for folder in (secret, store / ".vera" / "documents" / "link", store / ".vera")
    ]
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    with worker(url, store, "--slots", 1, "-c", "model.base_url=builtin"):
        done = batch(
            tasks, "--engine", url, "--base-dir", store, "--json", "--allow-input", tmp_path, cwd=tmp_path
        )
    assert done.returncode == 1, done.stderr
    assert [row["state"] for row in json.loads(done.stdout)["tasks"]] == ["failed"] * 3
    assert all("may be read" in row["reason"] for row in json.loads(done.stdout)["tasks"])


def test_what_the_person_requires_of_every_task_holds_at_the_workers(server: Server, tmp_path: Path) -> None:
    """A budget, `--require` and `--input` are the person's; a worker knows only what stands in the queue."""
    url, store = server.url(server.create_database()), tmp_path / "store"
    store.mkdir()
    place(tmp_path)
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text('{"task": "How long is the bridge number 1?"}\n')
    given = ["--engine", url, "--base-dir", store, "--json", "--require", "verified", "--input", "docs"]
    with worker(url, store, "--slots", 1, "--allow-input", tmp_path, "-c", "model.base_url=builtin"):
        done = batch(tasks, *given, cwd=tmp_path)
    (row,) = json.loads(done.stdout)["tasks"]
    assert (row["status"], row["exit_code"], done.returncode) == ("QUOTED", 3, 3), done.stderr


@pytest.mark.parametrize(
    "given", [("--input", "https://pages.example/a.html"), ("--connector", "d=folder:docs")]
)
def test_what_is_fetched_to_this_machine_is_refused_for_others(
    given: tuple[str, str], tmp_path: Path
) -> None:
    place(tmp_path)
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text('{"task": "How long is the bridge number 1?"}\n')
    done = batch(tasks, "--engine", "postgresql://db.example/x", "--base-dir", tmp_path, *given, cwd=tmp_path)
    assert done.returncode == 2 and "with --engine others run the tasks" in done.stderr
