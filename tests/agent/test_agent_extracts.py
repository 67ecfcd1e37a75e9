"""Extracts in place of an answer: from pages that a run captured, where there are no documents."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from vera import events
from vera.agent.extracts import Extracts
from vera.agent.lanes import Environment, LaneOptions
from vera.attestation.keys import load_or_create
from vera.config import load
from vera.extraction.extractor import Extractor
from vera.lane.prompts import Prompts
from vera.lane.tools.pages import pages_of
from vera.runtime.verifier_context import open_verifier_context
from vera.session import Session
from vera.state import RunState
from vera.verification.context import VerifierOptions

TASK = "How long must a written offer be valid?"
URL = "https://example.org/terms"
PAGE = b"Terms\n\nA written offer must be valid for at least three years.\nEnd.\n"


@pytest.fixture(scope="module")
def extractor() -> Iterator[Extractor]:
    with Extractor() as made:
        yield made


def captured(session: Session, text: bytes, source: str = URL, **changes: object) -> None:
    """A page that the main lane fetched."""
    lines, receipt = text.count(b"\n"), events.Blob(session.store.put(b"{}"), 2)
    known = {"tier": "captured", "source": source, "receipt": receipt, "http_status": 200, "lead": False}
    session.emit(
        events.Evidence(
            id=session.state.next_evidence_id(), call="", step=1, tool="fetch", summary=f"fetch {source}",
            text=events.Blob(session.store.put(text), len(text)), lines=lines,
            **{"first": 1, "last": lines, **known, **changes},
        )
    )  # fmt: skip


def extracted(session: Session, extractor: Extractor) -> events.Verifier | None:
    session.emit(events.Task(task=TASK), lane="")
    place = Environment(extractor=extractor, box=None, corpus=None)
    context = open_verifier_context(
        session=session,
        settings=load(environ={}, cwd=session.root, user_config=session.root / "none").settings,
        place=place,
        model=None,
        prompts=Prompts(),
        options=VerifierOptions(rule="model", scope=("web",)),
    )
    extracts = Extracts(session, TASK, place, LaneOptions())
    return asyncio.run(extracts.answer(context, load_or_create()))


def test_captured_pages_are_searched_and_cited_under_their_address(
    tmp_path: Path, extractor: Extractor
) -> None:
    session = Session.create(tmp_path, {})
    captured(session, PAGE)
    assert extracted(session, extractor) is not None
    answer = session.state.extracts
    assert answer is not None and answer.by == "builtin"
    (cited,) = answer.citations
    evidence = session.state.evidence[cited.evidence]
    assert (evidence.source, evidence.receipt is not None, cited.first) == (URL, True, 3)
    assert f"1. “at least three years”: {URL} [{cited.evidence}:3" in session.load(answer.text)
    assert session.state.rounds[1].started.rule == "literal" and not session.state.spent.model_calls
    session.close()


def test_what_says_nothing_is_no_page(tmp_path: Path) -> None:
    session = Session.create(tmp_path, {})
    captured(session, PAGE, "https://example.org/gone", http_status=404)
    captured(session, PAGE, "https://example.org/script", low_signal="it has no text")
    captured(session, PAGE, "https://example.org/hits", lead=True)
    captured(session, PAGE, "printed", tier="observed")
    captured(session, PAGE, "a file", receipt=None)
    captured(session, PAGE)
    captured(session, PAGE + b"newer\n")
    assert {name: page.id for name, page in pages_of(session.state).items()} == {URL: "ev_0007"}
    session.close()


def test_without_documents_and_pages_there_are_no_extracts(tmp_path: Path, extractor: Extractor) -> None:
    session = Session.create(tmp_path, {})
    assert extracted(session, extractor) is None and not session.state.lanes
    session.close()


def test_extracts_count_until_the_model_takes_another_turn() -> None:
    answer = events.Answer(seq=1, lane="extracts-1", step=1, text="x", by="builtin")
    state = RunState([answer])
    assert state.answer == state.extracts == answer
    state.apply(events.Assistant(seq=2, lane="main", step=1, content="x"))
    assert state.answer is None and state.answers == {1: answer}


def test_lines_count_as_seen_by_their_text_and_number(tmp_path: Path) -> None:
    session = Session.create(tmp_path, {})
    captured(session, PAGE, first=1, last=1)
    captured(session, PAGE, first=3, last=4)
    text = session.state.evidence["ev_0001"].text.sha256
    seen = {span: session.state.was_seen(text, *span) for span in [(1, 1), (4, 4), (1, 3), (2, 2), (2, 4)]}
    assert seen == {(1, 1): True, (4, 4): True, (1, 3): False, (2, 2): False, (2, 4): False}
    captured(session, PAGE, first=2, last=2)
    assert session.state.was_seen(text, 1, 4) and not session.state.was_seen("0" * 64, 1, 1)
    session.close()
