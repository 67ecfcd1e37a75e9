"""Sitting the exam: in the log, from the cache, with what it costs bounded, and what a failure changes."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from support import exams
from support.judging import Bench, claim
from support.scripted_server import Fault, ScriptedServer, Slow
from vera import events
from vera.attestation.exam import paper
from vera.model.types import Model, ModelInfo
from vera.verification import exam
from vera.verification.context import VerifierContext

CLAIM = claim(1, "The Aster Bridge opened in 1932.", ("ev_0001", 1, 1))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "session", {"a.txt": "The Aster Bridge opened in 1932.\n"}, [CLAIM])


def judged_by(judge: exams.Judge) -> Callable[[int, dict[str, Any]], str]:
    return lambda index, body: exams.sat_by(judge, body)


def yes(claim: str, spans: Sequence[str]) -> list[str]:
    return ["SUPPORTS"] * len(spans)


def sit(bench: Bench, server: ScriptedServer, folder: Path | None = None, **options: Any) -> VerifierContext:
    async def use(context: VerifierContext) -> VerifierContext:
        return await exam.examined(msgspec.structs.replace(context, exams=folder), lambda sentence: None)

    return bench.play(server, use, **options)


def test_who_has_passed_stays_and_the_log_has_what_it_said(bench: Bench) -> None:
    with ScriptedServer(judged_by(exams.competent), exam="script") as server:
        context = sit(bench, server)
    (sat,) = bench.records(events.VerifierExam)
    assert context.model is not None and context.options.rule == "model"
    assert (sat.passed, sat.right, sat.of, sat.roles) == (True, 60, 60, ("labels", "scores"))
    said = tuple(bench.session.load(reply) for reply in sat.replies)
    assert said == exams.replies(exams.competent, sat.seed)
    assert len(server.requests) == 12
    assert bench.session.state.exams == (sat,)


def test_who_has_failed_is_not_used_and_is_not_asked_to_the_end(bench: Bench) -> None:
    with ScriptedServer(judged_by(yes), exam="script") as server:
        context = sit(bench, server)
    assert context.model is None and context.options.rule == "literal"
    assert len(server.requests) <= 2
    (sat,) = bench.records(events.VerifierExam)
    assert not sat.passed and not sat.problem


def test_it_is_asked_as_in_a_run(bench: Bench) -> None:
    with ScriptedServer(judged_by(exams.competent), exam="script") as server:
        sit(bench, server, protocol="json_schema")
    sheets = paper(bench.session.state.exams[0].seed)
    for request, sheet in zip(server.requests, sheets, strict=True):
        system, data = (str(message["content"]) for message in request.body["messages"])
        assert "You label spans of text" in system and sheet.claim in data
        schema = request.body["response_format"]["json_schema"]["schema"]["properties"]["spans"]
        assert schema["minItems"] == schema["maxItems"] == len(sheet.items)


def test_a_session_examines_a_model_once(bench: Bench) -> None:
    with ScriptedServer(judged_by(exams.competent), exam="script") as server:
        sit(bench, server)
        sit(bench, server)
    assert len(server.requests) == 12 and len(bench.session.state.exams) == 1


def other(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "other", {"a.txt": "The Aster Bridge opened in 1932.\n"}, [CLAIM])


def test_a_pass_is_kept_and_its_replies_are_taken_over(bench: Bench, tmp_path: Path) -> None:
    second = other(tmp_path)
    with ScriptedServer(judged_by(exams.competent), exam="script") as server:
        sit(bench, server, tmp_path / "exams")
        sit(second, server, tmp_path / "exams")
    assert len(server.requests) == 12
    one, two = bench.session.state.exams[0], second.session.state.exams[0]
    assert two.kept and not one.kept and (two.seed, two.replies) == (one.seed, one.replies)


@pytest.mark.parametrize(
    ("judge", "seconds", "kept"),
    [
        (exams.competent, 6.9 * 86_400, True),
        (exams.competent, 7.1 * 86_400, False),
        (yes, 3500.0, True),
        (yes, 3700.0, False),
        (exams.competent, -60.0, False),
    ],
)
def test_a_pass_is_kept_a_week_and_a_failure_an_hour(
    judge: exams.Judge, seconds: float, kept: bool, bench: Bench, tmp_path: Path
) -> None:
    second = other(tmp_path)
    with ScriptedServer(judged_by(judge), exam="script") as server:
        sit(bench, server, tmp_path / "exams")
        (path,) = (tmp_path / "exams").iterdir()
        old = msgspec.json.decode(path.read_bytes(), type=exam.Kept)
        path.write_bytes(msgspec.json.encode(msgspec.structs.replace(old, sat_at=old.sat_at - seconds)))
        sit(second, server, tmp_path / "exams")
    assert second.session.state.exams[0].kept == kept


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"seed": 1, "sat_at": 1e999, "replies": []}'])
def test_a_kept_exam_that_cannot_be_read_is_none(content: bytes, bench: Bench, tmp_path: Path) -> None:
    second = other(tmp_path)
    with ScriptedServer(judged_by(exams.competent), exam="script") as server:
        sit(bench, server, tmp_path / "exams")
        (path,) = (tmp_path / "exams").iterdir()
        path.write_bytes(content)
        assert sit(second, server, tmp_path / "exams").model is not None
    assert not second.session.state.exams[0].kept


def test_another_model_server_or_file_is_examined_again(tmp_path: Path) -> None:
    who = ModelInfo(kind="openai", base_url="http://a.test/v1", name="qwen", weights="Q4")
    others = [
        msgspec.structs.replace(who, **changed)
        for changed in (
            {},
            {"name": "qwen2"},
            {"base_url": "http://b.test/v1"},
            {"weights": "Q8"},
            {"protocol": "json_schema"},
        )
    ]
    asked = []
    for number, info in enumerate(others):
        model = InProcess(exams.competent, info)
        examine(Bench(tmp_path / str(number), {"a.txt": "A.\n"}, []), model, tmp_path / "exams")
        asked.append(model.asked)
    assert asked == [12] * 5
    own = msgspec.structs.replace(who, own=True)
    moved = msgspec.structs.replace(own, base_url="http://127.0.0.1:4711/v1")
    for number, (info, calls) in enumerate([(own, 12), (moved, 0)]):
        model = InProcess(exams.competent, info)
        examine(Bench(tmp_path / f"own{number}", {"a.txt": "A.\n"}, []), model, tmp_path / "exams")
        assert model.asked == calls, "a file that VERA serves itself has another address each time"


class InProcess:
    """A judge as a model, without a server."""

    def __init__(self, judge: exams.Judge, info: ModelInfo) -> None:
        self._judge, self.info, self.asked = judge, info, 0

    async def complete(self, request: Any) -> Any:
        from vera.model.types import Choice, Completion

        self.asked += 1
        body = {"messages": [{"role": each.role, "content": each.content} for each in request.messages]}
        return Completion(choices=(Choice(content=exams.sat_by(self._judge, body)),))

    async def close(self) -> None:
        """Nothing to close."""


def examine(bench: Bench, model: Model, folder: Path, reader: Model | None = None) -> VerifierContext:
    context = msgspec.structs.replace(bench.context(model), exams=folder, reader=reader)
    return asyncio.run(exam.examined(context, lambda sentence: None))


def test_each_of_two_models_sits_for_what_it_is_used(bench: Bench, tmp_path: Path) -> None:
    judge = InProcess(exams.competent, ModelInfo(kind="openai", name="big"))
    reader = InProcess(exams.competent, ModelInfo(kind="openai", name="small"))
    context = examine(bench, judge, tmp_path, reader)
    assert context.reader is reader and context.model is judge
    assert [(sat.model, sat.roles) for sat in bench.session.state.exams] == [
        ("small", ("labels",)),
        ("big", ("scores",)),
    ]


def test_a_reader_that_fails_leaves_the_labels_to_the_judge(bench: Bench, tmp_path: Path) -> None:
    judge = InProcess(exams.competent, ModelInfo(kind="openai", name="big"))
    context = examine(bench, judge, tmp_path, InProcess(yes, ModelInfo(kind="openai", name="small")))
    assert context.reader is None and context.model is judge
    assert bench.session.state.exams[-1].roles == ("labels", "scores")


def test_a_model_that_gives_no_reply_is_no_failure(bench: Bench, tmp_path: Path) -> None:
    with ScriptedServer([Fault(401), *["{}"] * 20], exam="script") as server:
        context = sit(bench, server, tmp_path / "exams")
    (sat,) = bench.records(events.VerifierExam)
    assert context.model is not None and not sat.passed and "the model failed" in sat.problem
    assert not (tmp_path / "exams").exists(), "and it is not kept"
    with ScriptedServer(judged_by(exams.competent), exam="script") as server:
        sit(bench, server)
    assert bench.session.state.exams[-1].passed, "it is examined again"


def test_without_a_judge_there_is_no_exam(bench: Bench) -> None:
    with ScriptedServer([]) as server:
        sit(bench, server, rule="literal")
    assert not bench.session.state.exams and not server.exams


def test_an_exam_that_takes_too_long_is_not_finished(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    class Sleeper(InProcess):
        async def complete(self, request: Any) -> Any:
            await asyncio.sleep(3)

    monkeypatch.setattr(exam, "MAX_SECONDS", 0.05)
    context = bench.context(Sleeper(yes, ModelInfo(kind="openai", name="slow")))
    asyncio.run(exam.examined(context, lambda sentence: None))
    assert "took longer" in bench.session.state.exams[0].problem


def test_as_many_sheets_are_asked_at_once_as_the_server_serves(bench: Bench) -> None:
    def slowly(index: int, body: dict[str, Any]) -> Slow:
        return Slow(0.1, exams.sat_by(exams.competent, body))

    with ScriptedServer(slowly, exam="script") as server:
        sit(bench, server, parallel=4)
    assert 1 < server.most_at_once <= 4
