"""The service with real children: verdicts, evidence, bundles that replay, progress, chats, a killed run."""

import hashlib
import json
import os
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from support.cli import vera
from support.services import LICENCES, PATIENCE, THESIS, Service, ask, bearer, ended
from vera.api import replay
from vera.attestation.objects import Card, object_id, parse
from vera.attestation.request_json import read_request
from vera.dashboard import run_process

QUESTION = "For how long must a written offer for source code be valid under GPL version 3?"
REPORT = 'Of the offer it says "valid for at least five years" [1].\n\n[1]: GPL-3.txt\n'


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Service:
    return Service(tmp_path_factory.mktemp("real"))


@pytest.fixture(scope="module")
def token(service: Service) -> str:
    return service.token()


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[TestClient]:
    with service.running() as client:
        yield client


@pytest.fixture(scope="module")
def done(client: TestClient, token: str) -> Mapping[str, dict[str, Any]]:
    """A job of each kind, at its end."""
    asked: dict[str, dict[str, object]] = {
        "verify": {"text": THESIS, "scope": ["files"], "budget": {"sources": 5}},
        "research": {"question": QUESTION, "require": "verified"},
        "check": {"text": REPORT},
    }
    names = {kind: ask(client, token, kind, body).json()["id"] for kind, body in asked.items()}
    return {kind: ended(client, token, name) for kind, name in names.items()}


def test_a_thesis_comes_back_with_its_verdict_and_the_signed_envelope(done: Mapping[str, Any]) -> None:
    job = done["verify"]
    assert (job["status"], job["exit_code"]) == ("done", 0), job
    result = job["result"]
    assert (result["status"], result["result"], result["session"]) == ("QUOTED", "SUPPORTED", job["id"])
    assert result["envelope"]["signatures"]


def test_a_question_comes_back_with_an_answer_its_citations_and_the_code_that_was_required(
    done: Mapping[str, Any],
) -> None:
    job = done["research"]
    assert (job["status"], job["exit_code"]) == ("done", 3), job
    result = job["result"]
    assert {each["source"] for each in result["citations"]} == {"GPL-3.txt"}
    assert (result["work_dir"], result["input_dir"]) == (job["id"], "licences")
    assert result["envelope"]["payload"]


def test_a_false_quotation_of_a_report_is_found(done: Mapping[str, Any]) -> None:
    job = done["check"]
    assert (job["status"], job["exit_code"], job["result"]["document"]) == ("done", 4, "text"), job
    assert [each["code"] for each in job["result"]["findings"]["problems"]] == ["quotation_false"]


def test_nothing_that_is_told_has_a_path_of_this_machine(done: Mapping[str, Any], service: Service) -> None:
    said = json.dumps(
        {kind: {**job, "result": {**job["result"], "envelope": None}} for kind, job in done.items()}
    )
    assert str(service.place) not in said
    assert str(LICENCES) not in said


def test_a_card_is_the_bytes_of_its_id_and_points_at_bytes_that_are_there(
    client: TestClient, token: str, done: Mapping[str, Any]
) -> None:
    told = done["verify"]["result"]["cards"][0]
    data = client.get(f"/v1/cards/{told['card_id']}", headers=bearer(token)).content
    assert f"sha256:{hashlib.sha256(data).hexdigest()}" == told["card_id"] == object_id(parse(data, Card))
    span = told["span_handle"]
    asked = {"start": span["start"], "end": span["end"]}
    found = client.get(f"/v1/evidence/{span['canonical']}", params=asked, headers=bearer(token)).content
    assert f"sha256:{hashlib.sha256(found).hexdigest()}" == span["sha256"]
    assert b"three" in found


def test_the_bundle_of_a_job_replays(
    client: TestClient, token: str, done: Mapping[str, Any], tmp_path: Path
) -> None:
    for kind in ("verify", "research"):
        answer = client.get(f"/v1/jobs/{done[kind]['id']}/bundle", headers=bearer(token))
        assert answer.headers["content-disposition"].endswith(f'"{done[kind]["id"]}.zip"')
        path = tmp_path / f"{kind}.zip"
        path.write_bytes(answer.content)
        assert [level.verdict for level in replay(path).levels] == ["AGREES", "AGREES", "AGREES"]
    answer = client.get(f"/v1/jobs/{done['check']['id']}/bundle", headers=bearer(token))
    assert answer.json()["error"]["code"] == "no_bundle"


def events_of(client: TestClient, token: str, name: str, last: str = "") -> list[tuple[str, str, Any]]:
    """(event, id, data) of each message of the whole stream."""
    headers = {**bearer(token), **({"last-event-id": last} if last else {})}
    text = client.get(f"/v1/jobs/{name}/events", headers=headers).text
    found = []
    for message in text.strip().split("\n\n"):
        fields = dict(line.partition(": ")[::2] for line in message.split("\n"))
        if "event" in fields:
            found.append((fields["event"], fields.get("id", ""), json.loads(fields["data"])))
    return found


def test_progress_is_told_in_order_and_goes_on_behind_the_last_event(
    client: TestClient, token: str, done: Mapping[str, Any]
) -> None:
    name = done["verify"]["id"]
    whole = events_of(client, token, name)
    assert (whole[0][0], whole[-1][0], whole[-1][2]["status"]) == ("status", "done", "done")
    progress = [each for each in whole if each[0] == "progress"]
    assert [each[2]["seq"] for each in progress] == sorted(each[2]["seq"] for each in progress)
    assert progress[0][2]["type"] == "session"
    middle = len(progress) // 2
    rest = [each for each in events_of(client, token, name, progress[middle][1]) if each[0] == "progress"]
    assert rest == progress[middle + 1 :]
    forged = str(int(progress[0][1]) + 3)
    assert events_of(client, token, name, forged)[-1][0] == "done"
    for wrong in ("x", "-1", "9" * 17):
        answer = client.get(f"/v1/jobs/{name}/events", headers={**bearer(token), "last-event-id": wrong})
        assert answer.status_code == 400


def test_the_same_thesis_again_is_answered_by_the_verdict_of_before_in_its_own_session(
    client: TestClient, token: str, done: Mapping[str, Any], service: Service
) -> None:
    again = ended(
        client, token, ask(client, token, "verify", {"text": THESIS, "scope": ["files"]}).json()["id"]
    )
    assert again["result"]["reused"]
    assert again["id"] != done["verify"]["id"]
    assert again["result"]["attestation_id"] == done["verify"]["result"]["attestation_id"]
    stored = list(service.terms.base.glob(f"serve/*/work/{again['id']}/store/*/*"))
    asked = next(
        json.loads(each.read_bytes()) for each in stored if b'"request/v1"' in each.read_bytes()[-4000:]
    )
    assert read_request(json.dumps(asked).encode()).text == again["result"]["thesis"]


def chat(client: TestClient, token: str, **more: object) -> Any:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
    ]
    body = {"model": "vera", "messages": messages, "temperature": 0.2, **more}
    return client.post("/v1/chat/completions", json=body, headers=bearer(token))


def test_a_chat_client_that_streams_gets_the_answer_in_pieces(client: TestClient, token: str) -> None:
    lines = [
        line.removeprefix("data: ") for line in chat(client, token, stream=True).text.split("\n") if line
    ]
    assert lines[-1] == "[DONE]"
    chunks = [json.loads(line) for line in lines[:-1] if not line.startswith(":")]
    assert {each["object"] for each in chunks} == {"chat.completion.chunk"}
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    text = "".join(each["choices"][0]["delta"].get("content", "") for each in chunks)
    assert "Sources:\n[ev_" in text
    assert text.rpartition("\n")[2].startswith("QUOTED")
    assert (chunks[-1]["choices"][0]["finish_reason"], chunks[-1]["vera"]["status"]) == ("stop", "QUOTED")


def test_a_run_whose_server_and_process_were_killed_is_gone_on_with_by_vera_resume(tmp_path: Path) -> None:
    service = Service(tmp_path)
    token = service.token()
    with service.running() as client:
        name = ask(client, token, "research", {"question": QUESTION}).json()["id"]
        (base,) = service.terms.base.glob("serve/*")
        seal = base / "work" / name / "seal.json"  # from then on it is known for the person's
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and not seal.exists():
            time.sleep(0.005)
        owner = run_process.read(base / "jobs" / name)
    assert owner is not None
    os.kill(owner.pid, signal.SIGKILL)
    with service.running() as client:
        assert ended(client, token, name)["status"] in ("interrupted", "failed")
    resumed = vera("resume", base / "work" / name, "--json", "-q", cwd=service.terms.base)
    assert json.loads(resumed.stdout)["status"] == "QUOTED", resumed.stderr
