"""Questions: few, bound to a known source, in a clean room, and none that cannot be checked."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from support.judging import TASK, Bench, claim
from support.scripted_server import Fault, ScriptedServer
from vera import events
from vera.audit.taxonomy import TAXONOMY
from vera.evidence.finding import Finding
from vera.verification.context import VerifierContext
from vera.verification.decompose import decompose, listed

PAGE = "The Aster Bridge opened in 1932.\nIda Marlow designed it.\n"
SOURCES = {"bridges/aster.txt": PAGE, "https://quell.example/bridge": "Opened 1932.\n"}
OPENED = claim(1, "The Aster Bridge opened in 1932.", ("ev_0001", 1, 1))
SILENT = claim(2, "The sources do not say what it cost.", form="absence")
ASIDE = claim(3, "Bridges are fine.", load_bearing=False)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "s", SOURCES, [OPENED, SILENT, ASIDE])


def asking(**changed: str) -> dict[str, str]:
    return {
        "claim": "c1",
        "question": "Does the page say that it opened in 1932?",
        "source": "ev_0001",
        "label": "misinterpretation",
        **changed,
    }


def decomposed(
    bench: Bench,
    server: ScriptedServer,
    findings: Sequence[Finding] = (),
    scout: Sequence[events.Question] = (),
    **options: Any,
) -> events.VerifierQuestions:
    async def use(context: VerifierContext) -> events.VerifierQuestions:
        return await decompose(context, 1, bench.case, findings, scout)

    return bench.play(server, use, **options)


def reply(*questions: dict[str, str]) -> str:
    return json.dumps({"questions": list(questions)})


def test_a_question_names_a_claim_a_source_and_a_label(bench: Bench) -> None:
    with ScriptedServer([reply(asking())]) as server:
        found = decomposed(bench, server)
    assert found.questions == (events.Question(**asking()),) and not found.problem
    assert bench.session.state.rounds[1].questions == found
    (io,) = bench.records(events.ModelIo)
    assert (io.scope, io.lane, io.step) == ("verifier_decompose", "verify-1", 1)


@pytest.mark.parametrize(
    "source",
    [
        "ev_0002",
        "bridges/aster.txt",
        "/input/bridges/aster.txt",
        "https://quell.example/bridge",
        "https://asked.example/page",
    ],
)
def test_a_source_is_evidence_a_document_or_an_address_that_was_seen(tmp_path: Path, source: str) -> None:
    task = f"{TASK} See https://asked.example/page."
    bench = Bench(tmp_path / "s", SOURCES, [OPENED], task=task)
    with ScriptedServer([reply(asking(source=source))]) as server:
        assert [question.source for question in decomposed(bench, server).questions] == [source]


@pytest.mark.parametrize(
    "changed",
    [
        {"claim": "c9"},
        {"claim": "c2"},
        {"claim": "c3"},
        {"source": "ev_0099"},
        {"source": "/etc/passwd"},
        {"source": "https://evil.example/?q=When+did+the+Aster+Bridge+open"},
        {"source": ""},
        {"label": "suspicious"},
        {"question": "Run the shell."},
        {"question": ""},
    ],
)
def test_what_names_nothing_known_is_dropped_and_counted(bench: Bench, changed: dict[str, str]) -> None:
    with ScriptedServer([reply(asking(**changed), asking())]) as server:
        found = decomposed(bench, server)
    assert found.questions == (events.Question(**asking()),)
    assert found.problem.startswith("1 of 2 questions ")


def test_a_command_is_no_source_and_a_search_result_neither(bench: Bench) -> None:
    bench.capture("cat /input/a | sort", "x\n", tool="shell", tier="observed")
    found = bench.capture("https://hit.example/", "y\n", lead=True)
    bench.case = type(bench.case)(
        task=TASK,
        answer="",
        claims=(OPENED,),
        evidence=dict(bench.session.state.evidence),
        sources=bench.case.sources,
    )
    wanted = [asking(source="cat /input/a | sort"), asking(source=found.id), asking(source=found.source)]
    with ScriptedServer([reply(*wanted)]) as server:
        assert decomposed(bench, server).questions == ()


def test_there_are_three_at_most_and_those_of_scout_come_first(bench: Bench) -> None:
    scout = events.Question(
        claim="c1", question="Is it so?", source="ev_0001", label="premature_conclusion", kind="coverage"
    )
    many = [asking(question=f"Does it say {n}?") for n in range(10)]
    with ScriptedServer([reply(*many)]) as server:
        found = decomposed(bench, server, scout=[scout])
    assert found.questions[0] == scout and len(found.questions) == 3
    assert "at most 2" in str(server.requests[0].body["messages"][0]["content"])


def test_when_scout_fills_them_no_model_is_asked(bench: Bench) -> None:
    scout = [events.Question(**asking(question=f"Is it {n}?")) for n in range(4)]
    with ScriptedServer([]) as server:
        found = decomposed(bench, server, scout=scout)
    assert found.questions == tuple(scout[:3]) and server.requests == []


def test_nothing_to_doubt_is_no_question_and_no_problem(bench: Bench) -> None:
    with ScriptedServer([reply()]) as server:
        found = decomposed(bench, server)
    assert (found.questions, found.problem) == ((), "")


@pytest.mark.parametrize("said", ["Is it so?", '{"questions": "none"}', Fault(400)])
def test_a_reply_that_is_none_is_a_problem_and_the_round_goes_on(bench: Bench, said: Any) -> None:
    with ScriptedServer([said]) as server:
        found = decomposed(bench, server)
    assert found.questions == () and found.problem


def test_without_a_model_there_are_those_of_scout(bench: Bench) -> None:
    scout = events.Question(**asking())
    found = asyncio.run(decompose(bench.context(None), 1, bench.case, (), [scout]))
    assert found.questions == (scout,) and not found.problem


def test_an_answer_that_states_nothing_is_asked_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "s", SOURCES, [SILENT, ASIDE])
    with ScriptedServer([]) as server:
        assert decomposed(bench, server).questions == ()


def test_the_model_sees_task_claims_findings_and_sources_and_no_chat(bench: Bench) -> None:
    bench.session.emit(events.Note(step=1, text="WORKER NOTE"))
    bench.session.emit(events.Assistant(step=1, content="WORKER CHAT"))
    finding = Finding(
        code="x", label="misinterpretation", severity="soft", message="Another year.", claim="c1"
    )
    with ScriptedServer([reply()]) as server:
        decomposed(bench, server, [finding])
    system, data = (str(message["content"]) for message in server.requests[0].body["messages"])
    for wanted in (f"task| {TASK}", f"c1| {OPENED.text}", "Another year.", "ev_0001| bridges/aster.txt"):
        assert wanted in data
    assert "WORKER" not in data and SILENT.text not in data and ASIDE.text not in data
    assert all(label in system for label in TAXONOMY)


def test_each_document_is_listed_once_the_cited_ones_first(bench: Bench) -> None:
    bench.capture("bridges/aster.txt", PAGE)
    assert [name for name, _ in listed(bench.case)] == ["ev_0001", "ev_0002"]
