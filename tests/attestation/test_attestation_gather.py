"""Gathering a round from a log: the same before the verdict is written and ever after."""

import hashlib
import json
from pathlib import Path

import msgspec
import pytest

from support.verified import (
    ANSWER,
    QUESTION,
    RIVERS,
    answer,
    begin,
    decide,
    gathered,
    keep,
    open_session,
    records,
    verified,
)
from vera import events
from vera.attestation import gather as module
from vera.attestation.gather import GatherError, gather, rfc3339
from vera.attestation.keys import Signer, load_or_create
from vera.audit import Lookup
from vera.session import Session
from vera.store import Store


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return load_or_create(tmp_path_factory.mktemp("keys") / "keys")


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return open_session(tmp_path / "session")


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_live_and_in_every_replay_the_record_is_the_same(session: Session, signer: Signer) -> None:
    begin(session, 1, answer(session))
    live = gathered(session, 1)
    decide(session, signer, 1)
    session.emit(events.Note(step=3, text="later"))
    keep(session, "search", {"query": "later"}, "search", b"none\n", lead=True)
    assert gathered(session, 1) == live


def test_it_holds_the_question_the_answer_and_the_cited_texts(session: Session) -> None:
    begin(session, 1, answer(session))
    record = gathered(session, 1)
    assert (record.task, record.answer, record.round) == (QUESTION, ANSWER, 1)
    assert list(record.evidence) == ["ev_0001", "ev_0002", "ev_0003"]
    assert record.texts[sha256(RIVERS)] == RIVERS
    assert len(record.texts) == 2  # what only a search printed is not read
    assert record.unreadable == {}
    assert record.policy.rule == "literal"


def test_log_head_and_time_are_those_of_the_record_before_the_verdict(
    session: Session, signer: Signer
) -> None:
    begin(session, 1, answer(session))
    decision = decide(session, signer, 1)
    lines = (session.root / "trace.jsonl").read_bytes().splitlines()
    before = json.loads(lines[decision.seq - 2])
    record = gathered(session, 1)
    assert record.log == (decision.seq - 1, before["hash"]) == (before["seq"], decision.prev)
    assert record.issued_at == rfc3339(before["ts"])


def test_times_are_rfc_3339_in_utc_with_milliseconds() -> None:
    assert rfc3339(1_764_000_004.25) == "2025-11-24T16:00:04.250Z"
    assert rfc3339(0.0) == "1970-01-01T00:00:00.000Z"
    with pytest.raises(GatherError, match="no time"):
        rfc3339(1e300)


def test_searches_become_lookups_with_their_words_and_hits(session: Session) -> None:
    keep(session, "search", {"query": "Elbe  \n source"}, "search", b"no hit\n", summary="search · 0 hits")
    keep(session, "news", {"q": "Elbe flood"}, "news", b"3\n", lead=True, summary="news · 13 results")
    keep(session, "read", {"path": "ev_0001"}, "search", b"2\n", lead=True, summary="read · 2 lines")
    keep(session, "read", {"path": "x"}, "x", b"2\n", summary='read "5 hits" · 5 hits')
    begin(session, 1, answer(session))
    assert gathered(session, 1).lookups == (
        Lookup(tool="search", query="Elbe length", evidence="ev_0001", hits=2),
        Lookup(tool="search", query="Elbe source", evidence="ev_0004", hits=0),
        Lookup(tool="news", query="Elbe flood", evidence="ev_0005", hits=13),
    )


@pytest.mark.parametrize("arguments", ["", "[]", "null", '{"query": 3}', "[" * 100_000, "{"])
def test_a_search_whose_words_cannot_be_read_is_no_lookup(session: Session, arguments: str) -> None:
    call = session.state.next_call_id()
    session.emit(events.ToolStarted(step=1, call=call, tool="search", args=session.text(arguments)))
    template = session.state.evidence["ev_0001"]
    session.emit(msgspec.structs.replace(template, id="ev_0004", call=call))
    begin(session, 1, answer(session))
    assert len(gathered(session, 1).lookups) == 1


def test_a_text_that_is_gone_or_altered_is_unreadable_in_words_that_name_no_place(session: Session) -> None:
    begin(session, 1, answer(session))
    rivers, page = (session.state.evidence[name].text.sha256 for name in ("ev_0002", "ev_0003"))
    session.store.path(rivers).unlink()
    session.store.path(page).chmod(0o644)
    session.store.path(page).write_bytes(b"other")
    record = gathered(session, 1)
    assert record.unreadable == {rivers: "it is not in the store", page: "its stored bytes were altered"}
    assert record.texts == {}


def test_the_texts_of_one_verdict_are_bounded(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_TEXT_BYTES", len(RIVERS))
    begin(session, 1, answer(session))
    record = gathered(session, 1)
    assert list(record.texts) == [sha256(RIVERS)]
    assert len(record.unreadable) == 1


def test_what_labels_and_checks_point_at_is_read_too(session: Session) -> None:
    begin(session, 1, answer(session, "The Elbe is 1094 kilometres long [ev_0002:2]."))
    assert len(gathered(session, 1).texts) == 1
    label = events.SpanLabel(evidence="ev_0003", first=1, last=1, relation="QUALIFIES")
    session.emit(events.VerifierLabels(round=1, claim="c1", labels=(label,), maker="m"))
    assert len(gathered(session, 1).texts) == 2
    question = events.Question(claim="c1", question="Is it?", source="ev_0001", label="wrong_evidence")
    session.emit(
        events.VerifierCheck(round=1, check=1, question=question, check_lane="check-1.1", answer="unknown")
    )
    assert len(gathered(session, 1).texts) == 3


def test_commands_and_output_of_a_derivation_are_strings(session: Session) -> None:
    script = session.store.put(b"print(1094)\n")
    answered = answer(session)
    begin(session, 1, answered)
    session.emit(
        events.Derivation(
            round=1,
            evidence="ev_0002",
            command=session.text("c" * 5000),
            outcome="same",
            output=session.text("o" * 5000),
            scripts=(("a.py", script), ("gone.py", "0" * 64), ("bad.py", "../etc/passwd")),
        )
    )
    record = gathered(session, 1)
    assert (record.derivations[0].command, record.derivations[0].output) == ("c" * 5000, "o" * 5000)
    assert record.texts[script] == b"print(1094)\n"


def test_only_the_round_asked_for_counts_and_of_a_repeated_one_the_last(session: Session) -> None:
    first = answer(session, "The Elbe is 1094 kilometres long [ev_0002:2].")
    begin(session, 1, first)
    begin(session, 2, answer(session))
    session.emit(events.VerifierScore(round=1, scores=(), problem="not of round 2"))
    session.emit(events.VerifierScore(round=2, scores=(), problem="unparsable"))
    assert gathered(session, 1).answer != ANSWER
    assert gathered(session, 2).answer == ANSWER
    assert gathered(session, 2).notes == ("unparsable",)
    begin(session, 2, first)
    assert gathered(session, 2).answer != ANSWER
    assert gathered(session, 2).notes == ()


def test_who_gives_the_verdict_is_in_the_log(session: Session) -> None:
    begin(session, 1, answer(session))
    log = records(session.root)
    assert isinstance(log[0], events.Session)
    assert gathered(session, 1).verifier == f"vera {log[0].version}, literal"


def test_a_round_that_was_never_begun(session: Session) -> None:
    answer(session)
    with pytest.raises(GatherError, match="Round 7 of verification was never begun"):
        gathered(session, 7)


@pytest.mark.parametrize("seq", [0, -1, 1, 10_000])
def test_a_round_about_a_record_that_is_no_answer(session: Session, seq: int) -> None:
    begin(session, 1, answer(session))
    log = records(session.root)
    log = [
        msgspec.structs.replace(record, answer_seq=seq)
        if isinstance(record, events.VerifierStarted)
        else record
        for record in log
    ]
    with pytest.raises(GatherError, match="is no answer"):
        gather(log, session.store, 1)


def test_a_policy_or_an_answer_that_is_gone_is_named(session: Session, signer: Signer) -> None:
    begin(session, 1, answer(session, "The Elbe is 1094 kilometres long [ev_0002:2]. " * 200))
    log = records(session.root)
    started = next(each for each in log if isinstance(each, events.VerifierStarted))
    answered = next(each for each in log if isinstance(each, events.Answer))
    assert isinstance(answered.text, events.Blob)
    for blob, what in ((started.policy, "policy"), (answered.text, "answer")):
        kept = session.store.get(blob.sha256)
        session.store.path(blob.sha256).unlink()
        with pytest.raises(GatherError, match=what) as caught:
            gathered(session, 1)
        assert caught.value.missing == blob.sha256
        session.store.put(kept)


def test_a_session_that_was_moved_gives_the_same_record(tmp_path: Path, signer: Signer) -> None:
    verified(tmp_path / "a", signer)
    before = gather(records(tmp_path / "a"), Store(tmp_path / "a" / "store"), 1)
    (tmp_path / "a").rename(tmp_path / "b")
    assert gather(records(tmp_path / "b"), Store(tmp_path / "b" / "store"), 1) == before
