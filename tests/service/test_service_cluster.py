"""`vera serve --engine` as a person types it: killed workers, a database that goes away, a restart."""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import postgres
from support.batches import until
from support.cli import vera
from support.postgres import PASSWORD, Server
from support.service_load import (
    Cluster,
    ask_all,
    cluster,
    kill,
    questions,
    settled_runs,
    times_asked,
    trouble,
)
from support.services import ended
from vera.batch.postgres_notices import result_notice
from vera.batch.records import Commit

pytestmark = [pytest.mark.needs("postgres"), pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with postgres.server() as running:
        yield running


@pytest.fixture
def url(server: Server) -> str:
    return server.url(server.create_database())


def database_of(url: str) -> str:
    return url.partition("@/")[2].partition("?")[0]


def is_queued(server: Server, url: str) -> bool:
    return bool(server.query(database_of(url), "select 1 from procrastinate_jobs"))


def ask(place: Cluster, token: str, question: str) -> str:
    with place.client(token) as client:
        answer = client.post("/v1/research", json={"question": question})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def test_one_of_two_workers_is_killed_and_the_database_starts_again_and_every_job_ends_once(
    server: Server, url: str, tmp_path: Path
) -> None:
    with cluster(tmp_path, url, latency=0.3) as place:
        asked = questions(place, 12)
        place.serve()
        first, _ = place.worker(), place.worker()
        steps = [(1, lambda: kill(first)), (2, server.restart_at_once)]

        async def all_of_it() -> None:
            await asyncio.gather(ask_all(place, asked), trouble(place, steps))

        asyncio.run(all_of_it())
        runs = settled_runs(place)
        asked_of_model = times_asked(place)
    assert [each.status for each in asked] == ["done"] * 12
    assert sum(not each.shared for each in asked) == len({each.job for each in asked}) == 6
    assert [run.committed for run in runs] == [1] * 6
    assert len(asked_of_model) == 6
    assert sum(asked_of_model.values()) <= sum(run.attempts for run in runs)


def test_a_service_that_was_killed_finds_its_jobs_again_and_one_of_one_machine_refuses_them(
    server: Server, url: str, tmp_path: Path
) -> None:
    with cluster(tmp_path, url) as place:
        token = place.token("one")
        service = place.serve()
        job = ask(place, token, "What colour is sky number 1?")
        until(lambda: is_queued(server, url), "the task in the queue")
        os.kill(service.pid, signal.SIGKILL)
        service.wait()
        alone = vera(
            *("serve", "--base-dir", str(place.base), "--token-file", str(place.tokens), "--port", "0"),
            cwd=tmp_path,
        )
        assert alone.returncode == 2
        assert f"The job {job} is in the queue of a cluster" in alone.stderr
        place.worker()
        until(lambda: list(place.base.glob("runs/*/commit.json")), "the result of the worker")
        place.serve()
        with place.client(token) as client:
            found = ended(client, token, job)
            events = client.get(f"/v1/jobs/{job}/events").text
            bundle = client.get(f"/v1/jobs/{job}/bundle")
    assert found["status"] == "done"
    assert found["result"]["answer"].startswith("The sky is blue today.")
    assert found["result"]["envelope"]["signatures"]
    assert "event: progress" in events
    assert bundle.status_code == 200


def test_a_job_that_a_crash_of_the_database_takes_back_is_queued_again(
    server: Server, url: str, tmp_path: Path
) -> None:
    with cluster(tmp_path, url) as place:
        token = place.token("one")
        place.serve()
        job = ask(place, token, "What colour is sky number 1?")
        until(lambda: is_queued(server, url), "the task in the queue")
        server.query(database_of(url), "delete from procrastinate_jobs")
        server.query(database_of(url), "delete from vera_task")
        place.worker()
        with place.client(token) as client:
            found = ended(client, token, job)
    assert found["status"] == "done", found


def test_a_result_that_somebody_tells_who_is_no_worker_is_not_believed(
    server: Server, url: str, tmp_path: Path
) -> None:
    with cluster(tmp_path, url, latency=0.4, calls=5) as place:
        token = place.token("one")
        place.serve()
        place.worker()
        job = ask(place, token, "What colour is sky number 1?")
        until(lambda: place.model.requests, "the first model call")
        ((task,),) = server.query(database_of(url), "select id from vera_task")
        told = Commit(task=task, attempt=1, session=1, manifest="sha256:0", status="VERIFIED", exit_code=0)
        server.query(database_of(url), f"select pg_notify('vera_moved', '{result_notice(told)}')")
        with place.client(token) as client:
            assert client.get(f"/v1/jobs/{job}").json()["status"] == "running"
            found = ended(client, token, job)
    assert found["status"] == "done", found
    assert found["result"]["envelope"]["signatures"]


def test_a_job_that_the_queue_has_lost_ends_when_its_task_does(
    server: Server, url: str, tmp_path: Path
) -> None:
    with cluster(tmp_path, url, latency=0.4, calls=5) as place:
        token = place.token("one")
        place.serve()
        first = place.worker()
        job = ask(place, token, "What colour is sky number 1?")
        until(lambda: place.model.requests, "the first model call")
        server.query(database_of(url), "delete from procrastinate_jobs")
        kill(first)
        place.worker()
        with place.client(token) as client:
            found = ended(client, token, job)
        assert found["status"] == "done", found
        (run,) = settled_runs(place)
    assert run.attempts == 2


def test_while_the_database_is_away_requests_get_503_and_what_was_taken_is_not_lost(
    server: Server, url: str, tmp_path: Path
) -> None:
    with cluster(tmp_path, url) as place:
        token = place.token("one", at_once=2)
        place.serve()
        job = ask(place, token, "What colour is sky number 1?")
        with place.client(token) as client:
            server.stop_at_once()
            try:
                until(lambda: client.get("/healthz").json()["database"] == "down", "that it is noticed")
                refused = client.post("/v1/research", json={"question": "What colour is sky number 2?"})
                assert (refused.status_code, refused.json()["error"]["code"]) == (503, "no_database")
                assert int(refused.headers["retry-after"]) > 0
                assert client.get(f"/v1/jobs/{job}").json()["status"] == "queued"
            finally:
                server.start()
            until(lambda: client.get("/healthz").json()["database"] == "up", "that it is back")
            place.worker()
            assert ended(client, token, job)["status"] == "done"
            ask(place, token, "What colour is sky number 3?")


def test_a_job_is_cancelled_while_it_waits_and_while_it_runs(url: str, tmp_path: Path) -> None:
    with cluster(tmp_path, url, latency=30.0) as place:
        token = place.token("one", at_once=1)
        place.serve()
        with place.client(token) as client:
            waits = ask(place, token, "What colour is sky number 1?")
            client.delete(f"/v1/jobs/{waits}")
            assert ended(client, token, waits)["status"] == "cancelled"
            worker = place.worker()
            runs = ask(place, token, "What colour is sky number 2?")
            until(lambda: client.get(f"/v1/jobs/{runs}").json()["status"] == "running", "its beginning")
            too_many = client.post("/v1/research", json={"question": "What colour is sky number 3?"})
            assert too_many.json()["error"]["code"] == "too_many_at_once"
            client.delete(f"/v1/jobs/{runs}")
            assert ended(client, token, runs)["status"] == "cancelled"
            assert worker.poll() is None


def test_a_worker_runs_no_job_that_reaches_further_than_its_person_allows(url: str, tmp_path: Path) -> None:
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "sky.txt").write_text("The sky is blue today.\n")
    with cluster(tmp_path, url) as place:
        token = place.token("one")
        place.serve("--input-root", documents)
        place.worker()
        with place.client(token) as client:
            found = ended(client, token, ask(place, token, "What colour is the sky?"))
    assert found["status"] == "failed"
    assert "run.input_dir" in found["error"]["message"], found
    assert str(tmp_path) not in found["error"]["message"]


def test_a_lost_worker_s_session_is_gone_on_with(url: str, tmp_path: Path) -> None:
    with cluster(tmp_path, url, latency=0.4, calls=5) as place:
        token = place.token("one")
        place.serve()
        first = place.worker()
        job = ask(place, token, "What colour is sky number 1?")
        until(lambda: len(place.model.requests) >= 3, "the third model call")
        kill(first)
        place.worker()
        with place.client(token) as client:
            found = ended(client, token, job)
        (run,) = settled_runs(place)
    assert (found["status"], run.attempts) == ("done", 2), found
    assert len(place.model.requests) < 8
    assert found["result"]["envelope"]


def test_a_batch_does_not_list_or_cancel_the_jobs_of_the_service(
    server: Server, url: str, tmp_path: Path
) -> None:
    with cluster(tmp_path, url) as place:
        token = place.token("one")
        place.serve()
        job = ask(place, token, "What colour is sky number 1?")
        until(lambda: is_queued(server, url), "the task in the queue")
        words = ("--engine", url, "--base-dir", str(place.base))
        status = vera("batch", "status", "--json", *words, cwd=tmp_path)
        cancelled = vera("batch", "cancel", "--all", *words, cwd=tmp_path)
        assert json.loads(status.stdout)["tasks"] == [], status.stdout
        assert cancelled.returncode == 0, cancelled.stderr
        place.worker()
        with place.client(token) as client:
            assert ended(client, token, job)["status"] == "done"


def test_the_password_of_the_database_is_in_no_file_no_argument_and_no_answer(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    url = server.url_of_port(server.create_database(), password="")
    with cluster(tmp_path, url) as place:
        token = place.token("one")
        service, worker = place.serve(), place.worker()
        with place.client(token) as client:
            assert ended(client, token, ask(place, token, "What colour is sky number 1?"))["status"] == "done"
        for process in (service, worker):
            assert PASSWORD.encode() not in Path(f"/proc/{process.pid}/cmdline").read_bytes()
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or PASSWORD.encode() not in path.read_bytes(), path
