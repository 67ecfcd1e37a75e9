"""Jobs of the service: one for equal requests, quotas, cancelling, and what a restart knows."""

import asyncio
import json
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from starlette.requests import Request
from starlette.types import Message

from support.services import (
    FAILS,
    LICENCES,
    SAYS,
    THESIS,
    WAITS,
    Service,
    ask,
    bearer,
    ended,
    job_of,
    scripted,
)
from vera.batch.postgres_running import Access
from vera.batch.records import Begun, Commit, History
from vera.batch.runs import Runs
from vera.batch.status import Standing, State
from vera.batch.task import BatchTask
from vera.config import ConfigError
from vera.config.handed import Handed
from vera.dashboard import run_process
from vera.service import app, attempts, cluster, jobs, problems, processes, progress, records, stored, terms
from vera.service.engine import Active
from vera.service.tokens import Tokens, remove

VERIFY = {"text": THESIS, "scope": ["files"]}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(tmp_path)
    yield made
    end_all(made)


def folder_of(service: Service, name: str) -> Path:
    (found,) = service.terms.base.glob(f"serve/*/jobs/{name}")
    return found


def wait_for_process(service: Service, name: str) -> int:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        owner = run_process.read(folder_of(service, name))
        if owner is not None:
            return owner.pid
        time.sleep(0.02)
    raise AssertionError("no process was started")


def test_a_request_gets_202_and_its_job_comes_to_its_result(service: Service) -> None:
    token = service.token()
    with service.running(scripted(SAYS)) as client:
        begun = ask(client, token, "verify", VERIFY)
        assert begun.status_code == 202
        assert begun.headers["location"] == f"/v1/jobs/{begun.json()['id']}"
        job = ended(client, token, begun.json()["id"])
    assert (job["kind"], job["status"], job["exit_code"]) == ("verify", "done", 0)


def test_what_a_job_printed_is_on_the_disk_before_its_end_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / records.OUT).write_bytes(b'{"exit_code": 0}')
    printed = (tmp_path / records.OUT).stat().st_ino
    forced: list[tuple[bool, bool]] = []

    def fsync(descriptor: int) -> None:
        forced.append((os.fstat(descriptor).st_ino == printed, (tmp_path / records.ENDED).exists()))

    monkeypatch.setattr(os, "fsync", fsync)
    records.keep_end(tmp_path, records.Ended(exit_code=0, at=1.0))
    assert forced == [(True, False), (False, False)]
    assert (tmp_path / records.ENDED).exists()


@pytest.mark.parametrize(
    ("script", "has_result", "told_first"),
    [(SAYS, True, True), (SAYS, False, False), (FAILS, False, False)],
)
def test_only_a_result_that_the_engine_has_on_the_disk_is_told_before_its_end_is_written(
    service: Service, monkeypatch: pytest.MonkeyPatch, script: str, has_result: bool, told_first: bool
) -> None:
    token, writes, goes_on = service.token(), threading.Event(), threading.Event()
    keep = records.keep_end

    def slowly(folder: Path, end: records.Ended) -> None:
        writes.set()
        assert goes_on.wait(30)
        keep(folder, end)

    monkeypatch.setattr(jobs, "keep_end", slowly)
    run = processes.Processes.run

    async def ran(engine: processes.Processes, active: Active) -> records.Ended | None:
        end = await run(engine, active)
        active.has_result = has_result
        return end

    monkeypatch.setattr(processes.Processes, "run", ran)
    with service.running(scripted(script)) as client:
        name = ask(client, token, "verify", VERIFY).json()["id"]
        assert writes.wait(30)
        told = job_of(client, token, name)["status"]
        assert told == ("done" if told_first else "running")
        goes_on.set()
        assert ended(client, token, name)["status"] == ("failed" if script == FAILS else "done")
    assert (folder_of(service, name) / records.ENDED).exists()


@pytest.mark.parametrize("state", ["done", "failed"])
def test_of_a_cluster_only_a_committed_result_is_one_that_is_on_the_disk(
    service: Service, state: State
) -> None:
    kept = records.Records(service.terms.base / "serve" / "one")
    active = Active(kept, kept.add("verify", b"{}", "share", "digest", "", 1.0))
    engine = cluster.Cluster(service.terms, Access(url="postgresql://none/none", base=service.terms.base))
    task = BatchTask(id="0" * 64, kind="job", text="a job")
    out = Runs(service.terms.base).output(task.id, 1)
    out.parent.mkdir(parents=True)
    out.write_bytes(b'{"exit_code": 3}')
    commit = Commit(task=task.id, attempt=1, session=1, manifest="", status="", exit_code=3)
    history = History(
        begun=(Begun(task=task.id, number=1, worker="w", ts=1.0),),
        commit=commit if state == "done" else None,
    )
    watched = cluster._Watched(task=task, folder={}, active=active, over=Future())
    engine._settled(watched, history, Standing(state=state))
    assert (active.place.folder / records.OUT).exists()
    assert active.has_result == (state == "done")


def test_what_a_job_printed_at_a_worker_is_on_the_disk_before_it_is_a_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, forced = tmp_path / "1.out", list[int]()
    out.write_bytes(b'{"exit_code": 0}')
    monkeypatch.setattr(os, "fsync", lambda descriptor: forced.append(os.fstat(descriptor).st_ino))
    assert attempts._left_by(out, tmp_path / "1.stderr") == ({"exit_code": 0}, "")
    assert forced == [out.stat().st_ino]


def test_a_child_that_fails_leaves_its_last_sentence_as_the_error(service: Service) -> None:
    token = service.token()
    with service.running(scripted(FAILS)) as client:
        job = ended(client, token, ask(client, token, "research", {"question": "Why?"}).json()["id"])
    assert (job["status"], job["exit_code"]) == ("failed", 5)
    assert job["error"] == {"code": "job_failed", "message": "it broke in a sentence."}


def test_equal_requests_at_one_time_share_a_job_and_others_do_not(service: Service) -> None:
    one, two = service.token("one", at_once=20), service.token("two")
    with service.running(scripted(WAITS)) as client:
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: ask(client, one, "verify", VERIFY).json(), range(8)))
        assert len({each["id"] for each in answers}) == 1
        assert [each["shared"] for each in answers].count(False) == 1
        own = answers[0]["id"]
        same = ask(client, one, "verify", {**VERIFY, "risk": "med", "budget": {"sources": 12}}).json()
        assert same["id"] == own
        for other in ({"budget": {"sources": 3}}, {"risk": "high"}, {"text": "The Elbe is a river."}):
            assert ask(client, one, "verify", {**VERIFY, **other}).json()["id"] != own
        assert ask(client, two, "verify", VERIFY).json()["id"] != own
        end_all(service)


def end_all(service: Service) -> None:
    for path in service.terms.base.glob("serve/*/jobs/*"):
        owner = run_process.read(path)
        if owner is not None:
            run_process.send(owner, signal.SIGKILL, to_group=True)


def test_the_same_idempotency_key_gets_the_same_job_also_after_its_end_and_a_restart(
    service: Service,
) -> None:
    token = service.token()
    with service.running(scripted(SAYS)) as client:
        first = ask(client, token, "verify", VERIFY, idempotency_key="k1").json()["id"]
        ended(client, token, first)
        assert ask(client, token, "verify", VERIFY, idempotency_key="k1").json()["id"] == first
        assert ask(client, token, "verify", VERIFY, idempotency_key="k2").json()["id"] != first
        other = ask(client, token, "verify", {**VERIFY, "risk": "high"}, idempotency_key="k1")
        assert (other.status_code, other.json()["error"]["code"]) == (409, "key_of_another")
    with service.running(scripted(SAYS)) as client:
        assert ask(client, token, "verify", VERIFY, idempotency_key="k1").json()["id"] == first


def test_a_key_names_also_the_job_that_it_came_to_share(service: Service) -> None:
    token = service.token()
    with service.running(scripted(WAITS)) as client:
        first = ask(client, token, "verify", VERIFY).json()["id"]
        assert ask(client, token, "verify", VERIFY, idempotency_key="k").json()["id"] == first
        client.delete(f"/v1/jobs/{first}", headers=bearer(token))
        ended(client, token, first)
        assert ask(client, token, "verify", VERIFY, idempotency_key="k").json()["id"] == first


def test_a_token_has_so_many_jobs_at_once_and_so_many_requests_an_hour(service: Service) -> None:
    few, often = service.token("few", at_once=1), service.token("often", per_hour=2)
    with service.running(scripted(WAITS)) as client:
        assert ask(client, few, "verify", VERIFY).status_code == 202
        refused = ask(client, few, "research", {"question": "Why?"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too_many_at_once")
        assert int(refused.headers["retry-after"]) > 0
        codes = [ask(client, often, "verify", VERIFY).status_code for _ in range(3)]
        assert codes == [202, 202, 429]
        last = ask(client, often, "verify", VERIFY)
        assert last.json()["error"]["code"] == "hour_used_up"
        assert 3000 < int(last.headers["retry-after"]) <= 3601
        end_all(service)


def test_what_was_asked_in_the_last_hour_counts_after_a_restart(service: Service) -> None:
    token = service.token(per_hour=1)
    with service.running(scripted(SAYS)) as client:
        ended(client, token, ask(client, token, "verify", VERIFY).json()["id"])
    with service.running(scripted(SAYS)) as client:
        assert ask(client, token, "verify", VERIFY).status_code == 429


def test_of_many_requests_as_many_wait_as_the_queue_holds(service: Service) -> None:
    token = service.token(at_once=1000, per_hour=2000)
    with service.running(scripted(WAITS), at_once=1, most_waiting=5) as client:
        answers = [ask(client, token, "check", {"text": f"Report {n}."}) for n in range(60)]
        codes = [each.status_code for each in answers]
        assert codes.count(202) == 6
        assert {each.json()["error"]["code"] for each in answers[6:]} == {"queue_full"}
        assert all("retry-after" in each.headers for each in answers[6:])
        end_all(service)


def test_a_waiting_job_that_is_cancelled_is_never_started(service: Service) -> None:
    token = service.token()
    with service.running(scripted(WAITS), at_once=1) as client:
        first = ask(client, token, "check", {"text": "One."}).json()["id"]
        second = ask(client, token, "check", {"text": "Two."}).json()["id"]
        assert job_of(client, token, second)["status"] == "queued"
        for _ in range(2):
            answer = client.delete(f"/v1/jobs/{second}", headers=bearer(token))
            assert (answer.status_code, answer.json()["status"]) == (200, "cancelled")
        client.delete(f"/v1/jobs/{first}", headers=bearer(token))
        assert ended(client, token, first)["status"] == "cancelled"
        assert not (folder_of(service, second) / "run.pid").exists()


def test_cancelling_at_any_moment_of_a_start_ends_the_job(service: Service) -> None:
    token = service.token(at_once=30)
    with service.running(scripted(WAITS), at_once=4) as client:
        for number in range(12):
            name = ask(client, token, "check", {"text": f"Report {number}."}).json()["id"]
            time.sleep(0.004 * (number % 4))
            client.delete(f"/v1/jobs/{name}", headers=bearer(token))
            assert ended(client, token, name)["status"] == "cancelled"


def test_a_job_that_has_ended_stays_as_it_is_when_it_is_cancelled(service: Service) -> None:
    token = service.token()
    with service.running(scripted(SAYS)) as client:
        name = ask(client, token, "verify", VERIFY).json()["id"]
        before = ended(client, token, name)
        client.delete(f"/v1/jobs/{name}", headers=bearer(token))
        assert job_of(client, token, name) == before


def test_a_server_that_starts_again_knows_every_job_and_starts_what_waited(service: Service) -> None:
    token = service.token()
    with service.running(scripted(SAYS)) as client:
        done = ask(client, token, "verify", VERIFY).json()["id"]
        ended(client, token, done)
    with service.running(scripted(WAITS), at_once=1) as client:
        running = ask(client, token, "check", {"text": "One."}).json()["id"]
        waiting = ask(client, token, "check", {"text": "Two."}).json()["id"]
        pid = wait_for_process(service, running)
    with service.running(scripted(SAYS), at_once=2) as client:
        assert job_of(client, token, done)["status"] == "done"
        assert job_of(client, token, running)["status"] == "running"
        assert ended(client, token, waiting)["status"] == "done"
        os.kill(pid, signal.SIGKILL)
        assert ended(client, token, running)["status"] in ("interrupted", "failed")


def test_a_running_job_of_an_earlier_server_can_be_cancelled(service: Service) -> None:
    token = service.token()
    with service.running(scripted(WAITS)) as client:
        name = ask(client, token, "check", {"text": "One."}).json()["id"]
        wait_for_process(service, name)
    with service.running(scripted(SAYS)) as client:
        client.delete(f"/v1/jobs/{name}", headers=bearer(token))
        assert ended(client, token, name)["status"] == "cancelled"


def test_a_line_of_the_index_that_was_torn_costs_no_other_job(service: Service) -> None:
    token = service.token()
    with service.running(scripted(SAYS)) as client:
        first = ask(client, token, "verify", VERIFY).json()["id"]
        ended(client, token, first)
    (index,) = service.terms.base.glob("serve/*/jobs.jsonl")
    with index.open("ab") as file:
        file.write(b'{"id": "2026')
    with service.running(scripted(SAYS)) as client:
        second = ask(client, token, "check", {"text": "Two."}).json()["id"]
        ended(client, token, second)
    with service.running(scripted(SAYS)) as client:
        assert {job_of(client, token, name)["status"] for name in (first, second)} == {"done"}


def test_a_token_made_again_under_a_name_does_not_see_the_jobs_of_before(service: Service) -> None:
    before = service.token("laptop")
    with service.running(scripted(SAYS)) as client:
        name = ask(client, before, "verify", VERIFY).json()["id"]
        ended(client, before, name)
        remove(service.token_file, "laptop")
        again = service.token("laptop")
        assert client.get(f"/v1/jobs/{name}", headers=bearer(before)).status_code == 401
        assert client.get(f"/v1/jobs/{name}", headers=bearer(again)).status_code == 404


def test_output_that_is_no_whole_object_is_no_result(service: Service) -> None:
    token = service.token()
    with service.running(scripted('print(\'{"exit_code": 0, "stat\')')) as client:
        job = ended(client, token, ask(client, token, "verify", VERIFY).json()["id"])
    assert (job["status"], job["result"]) == ("failed", None)


def test_no_path_of_the_machine_is_in_what_is_told(service: Service) -> None:
    token = service.token()
    script = (
        f"import sys; print('vera: no folder {service.terms.base}/serve/x.', file=sys.stderr); sys.exit(1)"
    )
    with service.running(scripted(script)) as client:
        job = ended(client, token, ask(client, token, "verify", VERIFY).json()["id"])
    assert job["error"]["message"] == "no folder BASE/serve/x."
    assert str(service.place) not in json.dumps(job)


def test_a_job_that_takes_too_long_is_ended_also_when_it_does_not_listen(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "EXTRA_SECONDS", -3599.8)
    monkeypatch.setattr(processes, "GRACE_SECONDS", 0.1)
    token = service.token()
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(100)"
    with service.running(scripted(deaf)) as client:
        job = ended(client, token, ask(client, token, "check", {"text": "One."}).json()["id"])
    assert (job["status"], job["error"]["code"], job["exit_code"]) == ("failed", "timed_out", -9)


def test_after_an_hour_a_token_may_ask_again(service: Service) -> None:
    now = [1_800_000_000.0]
    token = service.token(per_hour=1)
    with service.running(scripted(SAYS), clock=lambda: now[0]) as client:
        codes = []
        for seconds in (0, 3599, 2):
            now[0] += seconds
            codes.append(ask(client, token, "verify", VERIFY).status_code)
    assert codes == [202, 429, 202]


def test_a_chat_that_hangs_up_ends_its_job_unless_another_waits_for_it(service: Service) -> None:
    service.token()
    (token,) = Tokens(service.token_file).all()

    async def states() -> list[str]:
        queue = jobs.Jobs(service.terms, processes.Processes(service.terms, command=scripted(WAITS)))
        found = [(await queue.submit(token, "check", b'{"text": "One."}'))[0] for _ in range(2)]
        assert isinstance(found[0], jobs.Active)
        assert found[0] is found[1]
        queue.leave(found[0])
        await asyncio.sleep(0.1)
        seen = [found[0].state, str(found[0].over.is_set())]
        queue.leave(found[0])
        await asyncio.wait_for(found[0].over.wait(), 30)
        return [*seen, found[0].records.state(found[0].job)]

    assert asyncio.run(states()) == ["running", "False", "cancelled"]


def test_a_token_has_so_many_streams_open(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "MAX_STREAMS", 0)
    token = service.token()
    with service.running(scripted(SAYS)) as client:
        name = ask(client, token, "verify", VERIFY).json()["id"]
        answer = client.get(f"/v1/jobs/{name}/events", headers=bearer(token))
    assert (answer.status_code, answer.json()["error"]["code"]) == (429, "too_many_streams")


def test_settings_that_are_allowed_are_read_once_and_those_that_are_not_are_refused_each_time(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def load(*given: object, handed: Handed) -> None:
        asked.append(handed.settings)
        if handed.settings["run.max_steps"] == 0:
            raise ConfigError("No.")

    monkeypatch.setattr(terms, "load", load)
    for text, steps in (("one", 4), ("two", 4), ("three", 5)):
        settings = {"run.max_steps": steps}
        service.terms.insist_on_allowed(Handed(source="task", where="a test", text=text, settings=settings))
    for _ in range(2):
        with pytest.raises(ConfigError):
            settings = {"run.max_steps": 0}
            service.terms.insist_on_allowed(Handed(source="task", where="a test", settings=settings))
    assert asked == [{"run.max_steps": steps} for steps in (4, 5, 0, 0)]


def test_what_waited_is_held_against_the_terms_of_the_server_that_starts_it(service: Service) -> None:
    token = service.token()
    service.terms = msgspec.structs.replace(service.terms, egress=True)
    with service.running(scripted(WAITS), at_once=1) as client:
        ask(client, token, "check", {"text": "One."})
        name = ask(client, token, "check", {"text": "Two.", "fetch": True}).json()["id"]
    service.terms = msgspec.structs.replace(service.terms, egress=False)
    with service.running(scripted(SAYS)) as client:
        job = ended(client, token, name)
    assert (job["status"], job["error"]["code"]) == ("failed", "not_allowed")


def test_a_chat_is_refused_before_its_job_is_made_and_counts_also_without_a_stream(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "MAX_STREAMS", 0)
    token = service.token()
    asked = {"messages": [{"role": "user", "content": "Why?"}]}
    with service.running(scripted(WAITS)) as client:
        for stream in (True, False):
            answer = client.post(
                "/v1/chat/completions", json={**asked, "stream": stream}, headers=bearer(token)
            )
            assert (answer.status_code, answer.json()["error"]["code"]) == (429, "too_many_streams")
    assert not list(service.terms.base.glob("serve/*/jobs/*"))


QUESTION = [{"role": "user", "content": "Why?"}]


def test_the_model_of_a_reply_can_be_sent_back_where_there_are_several_inputs(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    service = Service(tmp_path, roots=[LICENCES, tmp_path / "other"])
    token = service.token()
    with service.running(scripted(SAYS)) as client:
        path, model = "/v1/chat/completions", "vera/licences"
        for _ in range(2):
            asked = {"model": model, "messages": QUESTION}
            answer = client.post(path, json=asked, headers=bearer(token))
            model = answer.json()["model"]
        streamed = client.post(path, json={**asked, "stream": True}, headers=bearer(token))
    assert (answer.status_code, model) == (200, "vera/licences")
    assert streamed.text.count('"model":"vera/licences"') == streamed.text.count('"object"')


def test_a_long_chat_is_answered_and_a_long_question_is_refused_in_its_own_words(service: Service) -> None:
    token = service.token()
    earlier = [{"role": "assistant", "content": "Because."}] * 500
    long = [{"role": "user", "content": "y" * 20_001}]
    with service.running(scripted(SAYS)) as client:
        for messages, status in (([*earlier, *QUESTION], 200), (long, 400)):
            answer = client.post("/v1/chat/completions", json={"messages": messages}, headers=bearer(token))
            assert answer.status_code == status
    assert "last message of the user is too long: 20000" in answer.json()["error"]["message"]


def test_a_job_whose_process_was_killed_says_so(service: Service) -> None:
    token = service.token()
    script = "import os, sys; print('a line', file=sys.stderr, flush=True); os.kill(os.getpid(), 9)"
    with service.running(scripted(script)) as client:
        job = ended(client, token, ask(client, token, "verify", VERIFY).json()["id"])
    assert job["error"]["code"] == "job_failed"
    assert "was killed (SIGKILL)" in job["error"]["message"]


def test_a_chat_that_has_ended_counts_no_more(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "MAX_STREAMS", 1)
    token = service.token()
    asked = {"messages": [{"role": "user", "content": "Why?"}]}
    with service.running(scripted(SAYS)) as client:
        for stream in (True, False, True, False):
            answer = client.post(
                "/v1/chat/completions", json={**asked, "stream": stream}, headers=bearer(token)
            )
            assert answer.status_code == 200


@pytest.mark.parametrize("ranges", ["", "bytes=zzz", "bytes=9999999-"])
def test_a_bundle_leaves_no_file_behind_whatever_range_is_asked_for(
    ranges: str, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "pack", lambda session, file: file.write_bytes(b"packed"))
    token = service.token()
    with service.running(scripted(SAYS)) as client:
        name = ask(client, token, "verify", VERIFY).json()["id"]
        ended(client, token, name)
        answer = client.get(f"/v1/jobs/{name}/bundle", headers={**bearer(token), "range": ranges})
    assert (answer.status_code, answer.content) == (200, b"packed")
    assert not list(service.terms.base.rglob("*.zip"))


def test_what_a_service_that_was_killed_left_of_a_bundle_is_removed_at_the_next_start(
    service: Service,
) -> None:
    service.token()
    with service.running(scripted(SAYS)):
        pass
    (kept,) = service.terms.base.glob("serve/*/jobs")
    (kept.parent / "bundles").mkdir()
    (kept.parent / "bundles" / ".new-1.zip").write_bytes(b"half")
    with service.running(scripted(SAYS)):
        assert not (kept.parent / "bundles").exists()


def test_what_a_service_that_was_killed_left_half_written_is_removed_at_the_next_start(
    service: Service,
) -> None:
    token = service.token()
    with service.running(scripted(SAYS)) as client:
        done = ask(client, token, "verify", VERIFY).json()["id"]
        ended(client, token, done)
    folder = folder_of(service, done)
    for name in ("ended.json", "in.json"):  # killed while it wrote that the job has ended
        (folder / name).replace(folder / f"{name}.new")
    named = folder.with_name("20251124T170000-" + "0" * 16)  # killed before the index named it
    begun = folder.with_name("20251124T170000-" + "1" * 16)  # lost from the index, but with a result
    for each in (named, begun):
        each.mkdir()
        (each / "body.json.new").write_bytes(b"{")
    (begun / "out.json").write_bytes(b"{}")
    with service.running(scripted(SAYS)) as client:
        assert job_of(client, token, done)["status"] == "done"
    assert {each.name for each in folder.parent.iterdir()} == {done, begun.name}
    assert {each.name for each in folder.iterdir()} == {"body.json", "out.json", "run.pid", "said.log"}


def test_a_stream_of_a_job_whose_end_could_not_be_written_waits_between_two_looks(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.token()
    (token,) = Tokens(service.token_file).all()
    looks = []

    async def look() -> None:
        queue = jobs.Jobs(service.terms, processes.Processes(service.terms))
        own = await queue.records(token)
        job = own.add("check", b"{}", "share", "body", "", 1_800_000_000.0)
        monkeypatch.setattr(queue, "state", lambda *_: looks.append(1) or "queued")
        closing = asyncio.Event()
        asyncio.get_running_loop().call_later(0.3, closing.set)
        async for _ in progress.stream(queue, own, job, 0, closing):
            pass

    asyncio.run(look())
    assert len(looks) == 1


def test_streams_that_are_asked_for_at_one_time_are_counted_before_they_begin(service: Service) -> None:
    service.token()

    async def ask_for_streams() -> int:
        handlers, request = await waiting_job(service)
        for _ in range(app.MAX_STREAMS):
            await handlers.events(request)
        with pytest.raises(problems.TryLater) as refused:
            await handlers.events(request)
        return refused.value.status

    assert asyncio.run(ask_for_streams()) == 429


def test_a_stream_ends_at_its_next_event_when_its_token_is_removed(service: Service) -> None:
    service.token()
    sent: list[Message] = []

    async def listen() -> None:
        handlers, request = await waiting_job(service)

        async def receive() -> Message:
            await asyncio.sleep(30)
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)
            if message.get("body"):
                remove(service.token_file, "one")

        answer = await handlers.events(request)
        async with asyncio.timeout(30):
            await answer(request.scope, receive, send)
        await handlers.events(request)  # the stream that has ended counts no more

    asyncio.run(listen())
    assert len([each for each in sent if each.get("body")]) == 1
    assert sent[-1]["more_body"] is False


async def waiting_job(service: Service) -> tuple[app.Service, Request]:
    """The handlers of a service, and a request for the events of a job that waits."""
    known = Tokens(service.token_file)
    (token,) = known.all()
    queue = jobs.Jobs(service.terms, processes.Processes(service.terms))
    job = (await queue.records(token)).add("check", b"{}", "share", "body", "", 1_800_000_000.0)
    scope = {"type": "http", "headers": [], "path_params": {"id": job.id}, "token": token, "asgi": {}}
    return app.Service(queue, known), Request(scope)


def test_an_index_takes_no_more_than_the_next_start_can_read(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MAX_INDEX_BYTES", records.MAX_LINE + 1)
    token = service.token()
    with service.running(scripted(WAITS)) as client:
        assert ask(client, token, "verify", VERIFY).status_code == 202
        for text, key in (("The Elbe is a river.", ""), (THESIS, "k")):
            full = ask(client, token, "verify", {**VERIFY, "text": text}, idempotency_key=key)
            assert (full.status_code, full.json()["error"]["code"]) == (503, "too_many_jobs")
    assert len(list(service.terms.base.glob("serve/*/jobs/*"))) == 1
    with records.held(service.terms.base):
        pass


def test_an_index_that_is_too_large_is_not_taken_for_none(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = service.token()
    with service.running(scripted(SAYS)) as client:
        ended(client, token, ask(client, token, "verify", VERIFY).json()["id"])
    monkeypatch.setattr(records, "MAX_INDEX_BYTES", 100)
    with pytest.raises(records.InUse, match="is larger than"), records.held(service.terms.base):
        pass
    (index,) = service.terms.base.glob("serve/*/jobs.jsonl")
    with pytest.raises(OSError, match=re.escape(str(index))):
        records.Records(index.parent)
