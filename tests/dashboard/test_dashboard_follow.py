"""One follower a session: read once, shared by all, let go when nobody looks."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from support.dashboards import Grown
from vera.dashboard import stream
from vera.dashboard.follow import MAX_FOLLOWED, Followers
from vera.dashboard.server_sent_events import HEARTBEAT
from vera.dashboard.sessions import Sessions
from vera.dashboard.stream import EventStream, record_chunks, shared_chunks


def followers() -> Followers:
    return Followers(lambda session: False, lambda session, header: {"events": str(header.events)})


def run(work: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(60):
            await work

    asyncio.run(bounded())


def test_who_asks_for_the_same_gets_the_same_bytes(tmp_path: Path) -> None:
    Grown(tmp_path / "run").append(5)

    async def work() -> None:
        follower = followers().of(Sessions(tmp_path).by_work_dir("run"))
        await follower.fresh()
        assert follower.records_after(0)[1] is follower.records_after(0)[1]
        assert follower.frame_after(0)[1] is follower.frame_after(0)[1]

    run(work())


def test_a_log_is_looked_at_only_while_somebody_listens(tmp_path: Path) -> None:
    log = Grown(tmp_path / "run")

    async def work() -> None:
        follower = followers().of(Sessions(tmp_path).by_work_dir("run"))
        gone, has_all = asyncio.Event(), asyncio.Event()

        async def receive() -> dict[str, Any]:
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if b'"type":"task"' in message.get("body", b""):
                has_all.set()

        answer = EventStream(record_chunks(follower, 0), follower)
        client = asyncio.create_task(answer({"type": "http", "method": "GET"}, receive, send))
        await has_all.wait()
        assert follower.is_watched
        gone.set()
        await client
        assert not follower.is_watched
        assert len(asyncio.all_tasks()) == 1
        log.append()
        await asyncio.sleep(0.2)
        behind = follower.offset
        await follower.fresh()
        assert behind < follower.offset == log.size

    run(work())


def test_a_stream_in_which_nothing_happens_has_a_heartbeat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Grown(tmp_path / "run")
    monkeypatch.setattr(stream, "HEARTBEAT_SECONDS", 0.01)

    async def work() -> None:
        follower = followers().of(Sessions(tmp_path).by_work_dir("run"))
        chunks = record_chunks(follower, 0)
        got = [await anext(chunks) for _ in range(4)]
        assert got[2:] == [HEARTBEAT, HEARTBEAT]
        await chunks.aclose()

    run(work())


def test_a_stream_of_several_pages_has_a_heartbeat_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "HEARTBEAT_SECONDS", 0.01)
    for name in ("one", "other"):
        Grown(tmp_path / name)

    async def work() -> None:
        every, sessions = followers(), Sessions(tmp_path)
        chunks = shared_chunks({every.of(sessions.by_work_dir(name)): 0 for name in ("one", "other")}, {})
        got = [await anext(chunks) for _ in range(5)]
        assert got[3:] == [HEARTBEAT, HEARTBEAT]
        await chunks.aclose()
        await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()})  # what was started for it ends

    run(work())


def test_a_stream_ends_when_the_server_does(tmp_path: Path) -> None:
    Grown(tmp_path / "run")

    async def work() -> None:
        every = followers()
        chunks = record_chunks(every.of(Sessions(tmp_path).by_work_dir("run")), 0)
        got = [await anext(chunks) for _ in range(2)]
        every.close()
        assert [chunk async for chunk in chunks] == []
        assert len(got) == 2

    run(work())


def test_sessions_that_nobody_watches_are_let_go(tmp_path: Path) -> None:
    async def work() -> None:
        every, sessions = followers(), Sessions(tmp_path)
        first = every.of(sessions.folder("watched"))
        second = every.of(sessions.folder("idle"))
        with first.watched():
            for number in range(MAX_FOLLOWED):
                every.of(sessions.folder(f"run-{number}"))
            assert every.of(sessions.folder("watched")) is first
            assert every.of(sessions.folder("idle")) is not second

    run(work())


def test_an_error_of_ours_ends_the_streams_in_words(tmp_path: Path) -> None:
    """One that only kept silent would look like a run that does."""
    log = Grown(tmp_path / "run")

    async def work() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
        follower = followers().of(Sessions(tmp_path).by_work_dir("run"))
        await follower.fresh()
        with follower.watched():
            serial = follower.serial

            def broken() -> None:
                raise RuntimeError("a bug")

            follower._fold.apply = lambda record, offset: broken()  # type: ignore[method-assign]  # a bug
            log.append()
            await follower.moved(serial)
        assert "Something went wrong" in follower.problem

    run(work())
