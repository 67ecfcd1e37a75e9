"""The stream of a session: nothing lost, nothing twice, whatever breaks."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from support.browsers import offsets
from support.dashboards import PATIENCE, Dashboard, Grown, Message, dashboard_of, messages, start

EVENTS = "/s/work~2Fexample/events"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Dashboard]:
    with dashboard_of(tmp_path, tmp_path / "token") as dashboard:
        yield dashboard


@contextmanager
def stream(
    dashboard: Dashboard, path: str = EVENTS, **headers: str
) -> Iterator[tuple[httpx.Response, Iterator[Message]]]:
    with dashboard.client(**headers) as client, client.stream("GET", path) as answer:
        yield answer, messages(answer.iter_lines())


def taken(found: Iterator[Message], count: int) -> list[Message]:
    return [next(found) for _ in range(count)]


def test_a_message_is_a_record_and_its_id_the_byte_behind_it(served: Dashboard, tmp_path: Path) -> None:
    log = Grown(tmp_path / "work" / "example")
    log.append(3)
    with stream(served) as (answer, found):
        assert answer.headers["content-type"].startswith("text/event-stream")
        got = taken(found, 5)
    lines = log.path.read_bytes().splitlines(keepends=True)
    assert [each.data.encode() + b"\n" for each in got] == lines
    assert [int(each.id) for each in got] == [sum(map(len, lines[: n + 1])) for n in range(5)]


def test_events_by_the_work_dir_are_the_same(served: Dashboard, tmp_path: Path) -> None:
    Grown(tmp_path / "work" / "example")
    with stream(served) as (_, one), stream(served, "/events?work_dir=./work/example") as (_, other):
        assert taken(one, 2) == taken(other, 2)


def test_a_stream_goes_on_where_it_was(served: Dashboard, tmp_path: Path) -> None:
    log = Grown(tmp_path / "work" / "example")
    log.append(8)
    with stream(served) as (_, found):
        got = taken(found, 10)
    with stream(served, f"{EVENTS}?from={got[3].id}") as (_, found):
        assert taken(found, 6) == got[4:]
    with stream(served, f"{EVENTS}?from=0", last_event_id=got[6].id) as (_, found):
        assert taken(found, 3) == got[7:]


def test_half_a_line_is_sent_when_it_is_whole(served: Dashboard, tmp_path: Path) -> None:
    log = Grown(tmp_path / "work" / "example")
    pause = threading.Event()
    with stream(served) as (_, found):
        taken(found, 2)
        for _ in range(20):
            log.append_in_halves(pause)
        assert [json.loads(each.data)["seq"] for each in taken(found, 20)] == list(range(3, 23))


def test_a_stream_may_wait_for_a_log_that_is_not_there_yet(served: Dashboard, tmp_path: Path) -> None:
    (tmp_path / "work" / "example").mkdir(parents=True)
    with stream(served) as (_, found), stream(served, f"{EVENTS}?view=page&from=0") as (_, frames):
        log = Grown(tmp_path / "work" / "example")
        assert [json.loads(each.data)["type"] for each in taken(found, 2)] == ["session", "task"]
        seen: list[int] = []
        while len(seen) < 2:
            seen += [line["seq"] for line in json.loads(next(frames).data)["lines"]]
        assert seen == [1, 2]
        log.append()
        assert json.loads(next(found).data)["seq"] == 3


@pytest.mark.parametrize("offset", ["1", "999999", "17"])
def test_an_offset_at_which_no_record_ends_is_a_problem_in_words(
    served: Dashboard, tmp_path: Path, offset: str
) -> None:
    Grown(tmp_path / "work" / "example")
    with stream(served, f"{EVENTS}?from={offset}") as (_, found):
        (problem,) = list(found)
    assert problem.event == "problem"
    assert "Load the page again" in json.loads(problem.data)


@pytest.mark.parametrize("offset", ["-1", "x", "1e3", "9" * 30, "٣"])
def test_what_is_no_offset_is_400(served: Dashboard, tmp_path: Path, offset: str) -> None:
    Grown(tmp_path / "work" / "example")
    with served.client() as client:
        assert client.get(EVENTS, params={"from": offset}).status_code == 400


def test_a_broken_log_ends_the_stream_with_the_line(served: Dashboard, tmp_path: Path) -> None:
    log = Grown(tmp_path / "work" / "example")
    with stream(served) as (_, found):
        taken(found, 2)
        with log.path.open("ab") as file:
            file.write(b'{"type":"container_event","seq":3,"event":"x"}\n')
        (problem,) = list(found)
    assert problem.event == "problem"
    assert "broken at line 3" in json.loads(problem.data)
    with served.client() as client:
        assert client.get("/s/work~2Fexample").status_code == 200


def test_a_replaced_log_ends_the_stream_and_a_new_one_shows_the_new_log(
    served: Dashboard, tmp_path: Path
) -> None:
    log = Grown(tmp_path / "work" / "example")
    log.append(50)
    with stream(served) as (_, found):
        taken(found, 52)
        log.path.rename(log.path.with_name("old"))
        Grown(tmp_path / "work" / "example", "Another question")
        (problem,) = list(found)
    assert "replaced" in json.loads(problem.data)
    with stream(served) as (_, found):
        assert "Another question" in taken(found, 2)[1].data


def test_a_log_that_became_a_link_is_not_followed(served: Dashboard, tmp_path: Path) -> None:
    log = Grown(tmp_path / "work" / "example")
    with stream(served) as (_, found):
        taken(found, 2)
        log.path.unlink()
        log.path.symlink_to("/etc/passwd")
        (problem,) = list(found)
    assert problem.event == "problem"
    with served.client() as client:
        assert client.get(EVENTS).status_code == 404


def test_a_huge_record_is_sent_as_a_summary(served: Dashboard, tmp_path: Path) -> None:
    log = Grown(tmp_path / "work" / "example")
    log.append(1, detail="x" * 100_000)
    log.append(1)
    with stream(served) as (_, found):
        got = taken(found, 4)
    summary = json.loads(got[2].data)
    assert (summary["type"], summary["seq"], summary["truncated"]) == ("container_event", 3, True)
    assert summary["bytes"] > 100_000
    assert json.loads(got[3].data)["seq"] == 4


def test_many_records_larger_than_a_chunk_come_whole_and_in_order(served: Dashboard, tmp_path: Path) -> None:
    log = Grown(tmp_path / "work" / "example")
    for _ in range(4):
        log.append(1, detail="x" * 400_000)
        log.append(40, detail="y" * 10_000)
    with stream(served) as (_, found):
        assert [json.loads(each.data)["seq"] for each in taken(found, 166)] == list(range(1, 167))


def test_a_frame_of_a_page_has_its_lines_texts_and_changed_parts(served: Dashboard, tmp_path: Path) -> None:
    log = Grown(tmp_path / "work" / "example")
    begin = log.size
    with stream(served, f"{EVENTS}?view=page&from={begin}") as (_, found):
        log.append(3)
        seen, frames = [], []
        while len(seen) < 3:
            frames.append(next(found))
            frame = json.loads(frames[-1].data)
            seen += frame["lines"]
            assert frame["reload"] is False
            assert frame["offset"] == int(frames[-1].id)
            assert isinstance(frame["live"], dict)
    assert [line["seq"] for line in seen] == [3, 4, 5]
    assert seen[0]["offset"] == begin
    assert int(frames[-1].id) == log.size
    assert frame["changed"]["events"] == 5


def test_a_page_that_is_far_behind_is_told_to_load_again(served: Dashboard, tmp_path: Path) -> None:
    log = Grown(tmp_path / "work" / "example")
    begin = log.size
    log.append(1500)
    with stream(served, f"{EVENTS}?view=page&from={begin}") as (_, found):
        frame = json.loads(next(found).data)
        assert (frame["reload"], frame["lines"], frame["offset"]) == (True, [], log.size)
        log.append()
        frame = json.loads(next(found).data)
        assert (frame["reload"], [line["seq"] for line in frame["lines"]]) == (False, [1503])


def test_a_page_of_another_log_is_told_to_load_again(served: Dashboard, tmp_path: Path) -> None:
    Grown(tmp_path / "work" / "example")
    with stream(served, f"{EVENTS}?view=page&from=99999") as (_, found):
        assert json.loads(next(found).data)["reload"] is True


def test_nothing_is_lost_or_doubled_when_the_server_is_killed(tmp_path: Path) -> None:
    log = Grown(tmp_path / "work" / "example")
    records = 1500
    dashboard = start(tmp_path, tmp_path / "token")
    got: list[Message] = []

    def listen() -> None:
        while len(got) < records + 2:
            known = {"last_event_id": got[-1].id} if got else {}
            try:
                with stream(dashboard, **known) as (_, found):
                    for each in found:
                        got.append(each)
                        if len(got) == records + 2:
                            return
            except httpx.TransportError:
                time.sleep(0.05)

    def write() -> None:
        for _ in range(records):
            log.append_in_halves()

    threads = [threading.Thread(target=work, daemon=True) for work in (listen, write)]
    for thread in threads:
        thread.start()
    again: Dashboard | None = None
    try:
        for wanted in (200, 700):
            while len(got) < wanted:
                time.sleep(0.01)
            dashboard.kill()
            again = start(tmp_path, tmp_path / "token", dashboard.port)
            dashboard.process = again.process
        for thread in threads:
            thread.join(PATIENCE)
    finally:
        dashboard.kill()
    assert [json.loads(each.data)["seq"] for each in got] == list(range(1, records + 3))
    assert [int(each.id) for each in got] == sorted({int(each.id) for each in got})


def test_many_clients_each_get_every_record_in_order(served: Dashboard, tmp_path: Path) -> None:
    log = Grown(tmp_path / "work" / "example")
    clients, records = 40, 300

    async def one(client: httpx.AsyncClient) -> list[int]:
        seen: list[int] = []
        async with client.stream("GET", EVENTS) as answer:
            async for line in answer.aiter_lines():
                if line.startswith("data: "):
                    seen.append(json.loads(line[6:])["seq"])
                    if len(seen) == records + 2:
                        return seen
        return seen

    async def every() -> list[list[int]]:
        bearer = {"authorization": f"Bearer {served.token}"}
        limits = httpx.Limits(max_connections=clients)
        async with httpx.AsyncClient(
            base_url=served.url, headers=bearer, timeout=PATIENCE, limits=limits, trust_env=False
        ) as client:
            listening = [asyncio.create_task(one(client)) for _ in range(clients)]
            for _ in range(records // 10):
                log.append(10)
                await asyncio.sleep(0.01)
            return await asyncio.gather(*listening)

    assert asyncio.run(every()) == [list(range(1, records + 3))] * clients


def test_a_client_that_does_not_read_costs_no_memory_and_others_nothing(
    served: Dashboard, tmp_path: Path
) -> None:
    psutil = pytest.importorskip("psutil")
    log = Grown(tmp_path / "work" / "example")
    process = psutil.Process(served.process.pid)
    with stream(served) as (answer, _), stream(served) as (_, found):
        assert answer.status_code == 200
        taken(found, 2)
        before = process.memory_info().rss
        log.append(4000, detail="x" * 8000)
        taken(found, 4000)
        grown = process.memory_info().rss - before
    assert grown < 24 << 20


def test_ctrl_c_ends_streams_and_server(tmp_path: Path) -> None:
    Grown(tmp_path / "work" / "example")
    dashboard = start(tmp_path, tmp_path / "token")
    with stream(dashboard) as (_, found):
        taken(found, 2)
        dashboard.process.send_signal(signal.SIGINT)
        assert list(found) == []
        assert dashboard.process.wait(10) == 0
    assert dashboard.process.stdout is not None
    dashboard.process.stdout.close()


def test_ctrl_c_wakes_a_server_that_looks_at_the_clock_once_an_hour(tmp_path: Path) -> None:
    program = (
        "from vera.dashboard import serve; serve.DATE_SECONDS = 3600.0\nfrom vera.cli import main; main()"
    )
    arguments = ["dashboard", "--base-dir", str(tmp_path), "--port", "0", "--no-open"]
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments, "--token-file", str(tmp_path / "token")],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stdout is not None
        port = next(found[1] for line in process.stdout if (found := re.search(r":(\d+)/\?token=", line)))
        assert httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=PATIENCE, trust_env=False).text == "ok\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0


def test_several_pages_share_a_stream_each_from_where_it_is(served: Dashboard, tmp_path: Path) -> None:
    logs = {f"work~2Fshared-{number}": Grown(tmp_path / "work" / f"shared-{number}") for number in (1, 2)}
    (one, two) = logs
    begun = logs[two].size
    with stream(served, f"/events/pages?s={one}:0&s={two}:{begun}&s=work~2Fgone:0") as (_, found):
        first = {message.event: json.loads(message.data) for message in (next(found) for _ in range(3))}
        assert "no session" in first["work~2Fgone.problem"]
        assert len(first[one]["lines"]) == 2 and first[two]["lines"] == []
        logs[two].append(3)
        lines: list[int] = []
        while len(lines) < 3:
            message = next(found)
            assert message.event == two
            lines += [line["offset"] for line in json.loads(message.data)["lines"]]
        assert lines == [each for each in offsets(logs[two].path) if each >= begun]
        with logs[one].path.open("ab") as file:
            file.write(b"{}\n")
        broken = next(message for message in found if message.event == f"{one}.problem")
        assert "broken at line 3" in broken.data
        logs[two].append(1)
        assert next(found).event == two, "the others go on"


@pytest.mark.parametrize(
    "asked", ["", "s=", "s=work~2Fx:-1", "s=work~2Fx:1e3", "&".join(["s=work~2Fx:0"] * 65)]
)
def test_what_names_no_pages_is_refused(served: Dashboard, asked: str) -> None:
    with served.client() as client:
        assert client.get(f"/events/pages?{asked}").status_code in (400, 404)


def test_the_list_of_sessions_is_told_to_be_fetched_when_it_has_changed(
    served: Dashboard, tmp_path: Path
) -> None:
    """In the same stream as sessions, from the moment at which the page of the list was made."""
    log = Grown(tmp_path / "work" / "example")
    made = round(1000 * time.time()) + 1
    with stream(served, f"/events/pages?s=.:{made}&s=work~2Fexample:{log.size}") as (_, found):
        first = {each.event: json.loads(each.data) for each in taken(found, 2)}
        assert first["."] == {"offset": made, "lines": [], "live": {}, "changed": {}, "reload": False}
        Grown(tmp_path / "work" / "other")
        changed = next(each for each in found if each.event == ".")
        assert json.loads(changed.data)["reload"] and int(changed.id) > made
    with stream(served, "/events/pages?s=.:0") as (_, found):
        (late,) = taken(found, 1)
        assert json.loads(late.data)["reload"] and int(late.id) > 0
