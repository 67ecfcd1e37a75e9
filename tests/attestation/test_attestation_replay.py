"""Replay: a session held against itself. Whatever was changed, left out or made up is reported."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.documents import make_docx, paragraph
from support.verified import (
    ANSWER,
    PAGE,
    RIVERS,
    answer,
    begin,
    covered,
    decide,
    files,
    finish,
    keep,
    open_session,
    read_file,
    records,
    replay,
    verified,
)
from vera import events
from vera.attestation.build import Built, build
from vera.attestation.envelope import objects_of
from vera.attestation.keys import Signer, load_or_create
from vera.attestation.objects import AnyObject, Attestation, Digest, Findings, Thesis, canonical, object_id
from vera.attestation.record import Record
from vera.attestation.replay import NoSession
from vera.attestation.report import Level, Report
from vera.audit import AuditPolicy
from vera.cli.replay import replay as command
from vera.extraction.canonical import extract
from vera.session import Session
from vera.session.log import Log, seal_line


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return load_or_create(tmp_path_factory.mktemp("keys") / "keys")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory, signer: Signer) -> Path:
    root = tmp_path_factory.mktemp("verified") / "session"
    verified(root, signer)
    return root


@pytest.fixture
def session(original: Path, tmp_path: Path) -> Path:
    """A copy of a verified session, to do with as a test likes."""
    shutil.copytree(original, tmp_path / "session")
    for blob in (tmp_path / "session" / "store").glob("*/*"):
        blob.chmod(0o644)
    return tmp_path / "session"


def verdicts(report: Report) -> list[str]:
    return [level.verdict for level in report.levels]


def said(level: Level) -> str:
    return "\n".join(f"{remark.where}: {remark.sentence}" for remark in level.remarks)


def test_a_verified_session_agrees_at_every_level(original: Path, signer: Signer) -> None:
    report = replay(original, [signer.keyid])
    assert verdicts(report) == ["AGREES", "AGREES", "AGREES"]
    assert report.exit_code == 0
    assert [(each.result, each.keyid, each.chosen) for each in report.attested] == [
        ("SUPPORTED", signer.keyid, True)
    ]
    assert report.levels[2].sentence == "2 texts made again from raw bytes: the same."


def test_it_agrees_wherever_the_session_lies_and_writes_nothing(session: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in files(session)}
    moved = session.rename(session.with_name("moved"))
    assert replay(moved).exit_code == 0
    moved.rename(session)
    assert {path: path.stat().st_mtime_ns for path in files(session)} == before


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_changed_byte_of_log_seal_envelope_card_or_store_is_reported(
    original: Path, data: st.DataObject
) -> None:
    path = data.draw(st.sampled_from(sorted([*files(original), *covered(original)])), label="file")
    whole = path.read_bytes()
    position = data.draw(st.integers(0, len(whole) - 1), label="position")
    value = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[position]), label="byte")
    with rewritten(path, whole[:position] + bytes([value]) + whole[position + 1 :]):
        report = replay(original)
        assert report.levels[0].verdict in ("BROKEN", "ALTERED"), said(report.levels[0])
        assert report.exit_code == 1


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_cut_or_longer_file_is_reported(original: Path, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(sorted(files(original))), label="file")
    whole = path.read_bytes()
    length = data.draw(st.integers(0, len(whole) - 1), label="length")
    longer = data.draw(st.booleans(), label="longer")
    with rewritten(path, whole + b"\n" if longer else whole[:length]):
        assert replay(original).exit_code == 1


class rewritten:  # noqa: N801 (read as a word of the with statement)
    """A file with other content, for the length of a block."""

    def __init__(self, path: Path, content: bytes) -> None:
        self._path, self._content, self._before = path, content, path.read_bytes()

    def __enter__(self) -> None:
        self._mode = self._path.stat().st_mode
        self._path.chmod(0o644)
        self._path.write_bytes(self._content)

    def __exit__(self, *raised: object) -> None:
        self._path.write_bytes(self._before)
        self._path.chmod(self._mode)


def test_a_changed_byte_is_named_with_its_place(session: Path) -> None:
    log = session / "trace.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([*lines[:6], lines[6].replace(b"1", b"2", 1), *lines[7:]]))
    report = replay(session)
    assert verdicts(report) == ["BROKEN", "NOT_CHECKED", "NOT_CHECKED"]
    assert said(report.levels[0]).startswith("trace.jsonl line 7: The log is broken at line 7")


def test_every_missing_file_is_reported(session: Path) -> None:
    public = bytes.fromhex(json.loads((session / "seal.json").read_bytes())["public"])
    for path in list(files(session)):
        kept = path.read_bytes()
        path.unlink()
        if path.name == "trace.jsonl":
            with pytest.raises(NoSession, match=r"no trace\.jsonl"):
                replay(session)
        elif kept == public:
            assert replay(session).exit_code == 0  # the key stands in the envelope too
        else:
            expected = "UNSEALED" if path.name == "seal.json" else "MISSING"
            report = replay(session)
            assert report.exit_code == 1
            assert report.levels[0].verdict == expected, path
        path.write_bytes(kept)


def test_without_the_raw_bytes_the_text_cannot_be_made_again_and_nothing_is_called_tampering(
    session: Path, original: Path
) -> None:
    raw = next(path for path in files(session) if path.read_bytes() == PAGE)
    raw.unlink()
    report = replay(session)
    assert verdicts(report) == ["MISSING", "AGREES", "MISSING"]
    assert "ev_0003" in said(report.levels[2])


@pytest.mark.parametrize("name", ["trace.jsonl", "seal.json", "attestation.json"])
def test_a_link_or_a_pipe_is_not_opened(session: Path, name: str) -> None:
    (session / name).rename(session / "elsewhere")
    (session / name).symlink_to(session / "elsewhere")
    assert replay(session).levels[0].verdict == "ALTERED"
    (session / name).unlink()
    os.mkfifo(session / name)
    report = replay(session)
    assert report.levels[0].verdict == "ALTERED"
    assert "no plain file" in said(report.levels[0])


def test_a_blob_that_is_a_link_or_a_pipe_is_not_opened(session: Path) -> None:
    blob = next(path for path in files(session) if path.read_bytes() == RIVERS)
    blob.unlink()
    blob.symlink_to("/dev/zero")
    assert replay(session).levels[0].verdict == "ALTERED"
    blob.unlink()
    os.mkfifo(blob)
    assert replay(session).levels[0].verdict == "ALTERED"


def test_what_is_no_blob_is_said_and_changes_nothing(session: Path) -> None:
    (session / "store" / "notes.txt").write_text("mine")
    (session / "store" / "ab").mkdir(exist_ok=True)
    (session / "store" / "ab" / "abc").write_text("mine")
    (session / "store" / "ab" / ".new-x").write_text("an unfinished write")
    report = replay(session)
    assert report.exit_code == 0
    assert "store/notes.txt: This is no blob" in said(report.levels[0])
    assert ".new-x" not in said(report.levels[0])


# Who signed.


def test_another_signer_than_the_trusted_one_is_its_own_verdict(
    original: Path, tmp_path: Path, signer: Signer
) -> None:
    other = load_or_create(tmp_path / "keys")
    report = replay(original, [other.keyid])
    assert verdicts(report) == ["UNTRUSTED", "AGREES", "AGREES"]
    assert report.exit_code == 1
    assert replay(original, [other.keyid, signer.keyid]).exit_code == 0
    named = f"key {signer.keyid}: seal.json, round 1 signed by an unknown key: VERA cannot say who made this"
    assert named in said(replay(original).levels[0])


def test_a_whole_session_made_again_by_somebody_else_is_only_told_by_its_key(
    tmp_path: Path, signer: Signer
) -> None:
    impostor = load_or_create(tmp_path / "keys")
    verified(tmp_path / "session", impostor)
    assert replay(tmp_path / "session").exit_code == 0
    assert replay(tmp_path / "session", [signer.keyid]).levels[0].verdict == "UNTRUSTED"


def test_an_unsigned_seal_says_nothing_of_the_end_of_an_attested_log(session: Path, signer: Signer) -> None:
    seal = json.loads((session / "seal.json").read_bytes())
    (session / "seal.json").write_text(json.dumps({"seq": seal["seq"], "hash": seal["hash"]}) + "\n")
    assert replay(session).levels[0].verdict == "UNSEALED"
    assert replay(session, [signer.keyid]).levels[0].verdict == "UNTRUSTED"


def test_a_run_that_was_stopped_after_its_verdict_is_unsealed(tmp_path: Path, signer: Signer) -> None:
    session = open_session(tmp_path)
    begin(session, 1, answer(session))
    decide(session, signer, 1)
    assert verdicts(replay(tmp_path)) == ["AGREES", "AGREES", "AGREES"]  # the seal of the verdict
    session.emit(events.Note(step=3, text="more"))
    report = replay(tmp_path)
    assert verdicts(report) == ["UNSEALED", "AGREES", "AGREES"]
    assert report.exit_code == 1
    session.close()


def test_the_attestation_file_is_that_of_the_chosen_round(tmp_path: Path, signer: Signer) -> None:
    session = open_session(tmp_path)
    begin(session, 1, answer(session, "The Elbe is 1094 kilometres long [ev_0002:2]."))
    first = decide(session, signer, 1)
    begin(session, 2, answer(session))
    second = decide(session, signer, 2)
    finish(session, signer, second)
    session.close()
    report = replay(tmp_path)
    assert report.exit_code == 0
    assert [each.chosen for each in report.attested] == [False, True]
    (tmp_path / "attestation.json").write_bytes(session.store.get(first.envelope.sha256))
    report = replay(tmp_path)
    assert report.levels[0].verdict == "ALTERED"
    assert "is not the envelope of round 2, which was chosen" in said(report.levels[0])


# What was attested.


def cheating(
    change: Callable[[Attestation, dict[Digest, AnyObject]], Attestation],
) -> Callable[[Record], Built]:
    """A verifier that builds an honest attestation and changes it before it signs.

    `change` may replace objects; the ids that the attestation and the cards hold are its own business.
    """

    def make(record: Record) -> Built:
        honest = build(record)
        objects = objects_of(honest.attestation, honest.objects.__getitem__)
        attestation = change(honest.attestation, objects)
        named = {object_id(each): canonical(each) for each in [*objects.values(), attestation]}
        return Built(attestation=attestation, attestation_id=object_id(attestation), objects=named)

    return make


def without_last_claim(attestation: Attestation, objects: dict[Digest, AnyObject]) -> Attestation:
    thesis = objects.pop(attestation.thesis)
    assert isinstance(thesis, Thesis)
    shorter = msgspec.structs.replace(thesis, sub_claims=thesis.sub_claims[:-1])
    objects[object_id(shorter)] = shorter
    return msgspec.structs.replace(
        attestation, thesis=object_id(shorter), claims=attestation.claims[:-1], result="SUPPORTED", reason=""
    )


def said_supported(attestation: Attestation, objects: dict[Digest, AnyObject]) -> Attestation:
    claims = tuple(
        msgspec.structs.replace(claim, result="SUPPORTED", reason="") for claim in attestation.claims
    )
    return msgspec.structs.replace(attestation, result="SUPPORTED", reason="", claims=claims)


def without_findings(attestation: Attestation, objects: dict[Digest, AnyObject]) -> Attestation:
    findings = objects.pop(attestation.findings)
    assert isinstance(findings, Findings)
    none = msgspec.structs.replace(findings, findings=())
    objects[object_id(none)] = none
    return msgspec.structs.replace(attestation, findings=object_id(none))


WRONG = ANSWER + " The Oder is 9999 kilometres long [ev_0002:4]."


def test_an_answer_that_is_wrong_is_not_supported_and_replays_as_that(tmp_path: Path, signer: Signer) -> None:
    decision = verified(tmp_path, signer, WRONG)
    assert decision.result != "SUPPORTED"
    assert replay(tmp_path).exit_code == 0


def test_an_answer_with_an_inconvenient_claim_left_out_does_not_replay(
    tmp_path: Path, signer: Signer
) -> None:
    decision = verified(tmp_path, signer, WRONG, cheating(without_last_claim))
    assert decision.result == "SUPPORTED"
    report = replay(tmp_path, [signer.keyid])
    assert verdicts(report)[:2] == ["AGREES", "DIFFERS"]
    assert "The answer states it, and the attestation leaves it out: The Oder is 9999" in said(
        report.levels[1]
    )
    assert report.exit_code == 1


def test_a_result_that_was_made_up_does_not_replay(tmp_path: Path, signer: Signer) -> None:
    verified(tmp_path, signer, WRONG, cheating(said_supported))
    report = replay(tmp_path)
    assert verdicts(report)[:2] == ["AGREES", "DIFFERS"]
    assert "result: Attested is SUPPORTED" in said(report.levels[1])


def test_an_attestation_of_another_answer_does_not_replay(tmp_path: Path, signer: Signer) -> None:
    def of_another(record: Record) -> Built:
        return build(msgspec.structs.replace(record, answer=ANSWER))

    verified(tmp_path, signer, WRONG, of_another)
    assert "about another answer" in said(replay(tmp_path).levels[1])


def test_a_card_of_other_lines_does_not_replay(tmp_path: Path, signer: Signer) -> None:
    def elsewhere(record: Record) -> Built:
        text = next(data for data in record.texts.values() if data == RIVERS)
        moved = {
            name: data.replace(b"1094", b"1095") if data == text else data
            for name, data in record.texts.items()
        }
        return build(msgspec.structs.replace(record, texts=moved))

    verified(tmp_path, signer, make=elsewhere)
    found = said(replay(tmp_path).levels[1])
    assert "round 1, card sha256:" in found
    assert "and the log does not give it" in found


def test_findings_that_were_dropped_do_not_replay(tmp_path: Path, signer: Signer) -> None:
    verified(
        tmp_path, signer, ANSWER + " The Elbe is the longest river on Earth.", cheating(without_findings)
    )
    report = replay(tmp_path)
    assert verdicts(report)[:2] == ["AGREES", "DIFFERS"]
    assert "Found, and not attested" in said(report.levels[1])


def test_other_rules_are_no_tampering_but_do_not_agree_either(tmp_path: Path, signer: Signer) -> None:
    session = open_session(tmp_path)
    begin(session, 1, answer(session, WRONG), claims="claims/0")
    finish(session, signer, decide(session, signer, 1, cheating(without_last_claim)))
    session.close()
    report = replay(tmp_path)
    assert verdicts(report)[:2] == ["AGREES", "RULES_CHANGED"]
    assert "claims claims/0, here claims/" in report.levels[1].sentence
    assert report.exit_code == 1


def test_older_rules_that_give_the_same_agree(tmp_path: Path, signer: Signer) -> None:
    session = open_session(tmp_path)
    begin(session, 1, answer(session), audit="audit/0")
    finish(session, signer, decide(session, signer, 1))
    session.close()
    assert replay(tmp_path).exit_code == 0


def test_a_verdict_in_the_log_that_is_not_the_attested_one_is_reported(
    tmp_path: Path, signer: Signer
) -> None:
    session = open_session(tmp_path)
    begin(session, 1, answer(session, WRONG))
    emit = session.emit

    def upgraded(event: events.Event, lane: str = "main") -> events.Event:
        if isinstance(event, events.Verifier):
            event = msgspec.structs.replace(event, result="SUPPORTED", reason="")
        return emit(event, lane)

    session.emit = upgraded  # type: ignore[method-assign, assignment] # the forger's own VERA
    finish(session, signer, decide(session, signer, 1))
    session.close()
    report = replay(tmp_path)
    assert report.levels[0].verdict == "ALTERED"
    assert "Round, result, reason or score in the log are not those" in said(report.levels[0])


def test_a_worker_that_writes_verified_itself_is_reported(tmp_path: Path) -> None:
    session = open_session(tmp_path)
    answer(session)
    session.emit(events.Status(step=1, status="VERIFIED"))
    session.finish(events.RunEnd(status="VERIFIED", reason="", exit_code=0, steps=1, seconds=1))
    session.close()
    report = replay(tmp_path)
    assert verdicts(report) == ["AGREES", "DIFFERS", "NOT_ATTESTED"]
    assert report.exit_code == 1


def test_a_session_without_attestation_says_so(tmp_path: Path) -> None:
    session = open_session(tmp_path)
    answer(session)
    session.finish(events.RunEnd(status="UNRESOLVED", reason="", exit_code=3, steps=1, seconds=1))
    session.close()
    report = replay(tmp_path)
    assert verdicts(report) == ["AGREES", "NOT_ATTESTED", "NOT_ATTESTED"]
    assert report.exit_code == 3
    assert replay(tmp_path, level=0).exit_code == 0


def test_a_blob_that_a_verdict_needs_and_nobody_has_is_missing(session: Path) -> None:
    policy = next(path for path in files(session) if b'"kind":"policy/v1"' in path.read_bytes())
    policy.unlink()
    report = replay(session)
    assert report.levels[0].verdict == "MISSING"
    assert report.exit_code == 1


# Text made again.


def evidence_of(session: Session, text: bytes, raw: bytes | None, extractor: str) -> None:
    keep(
        session,
        "read",
        {"path": "page.html"},
        "page.html",
        text,
        extractor=extractor,
        raw=None if raw is None else events.Blob(session.store.put(raw), len(raw)),
    )


def attested(root: Path, signer: Signer, change: Callable[[Session], None]) -> Report:
    """A replay of a session with one more evidence, ev_0004, which its answer cites."""
    session = open_session(root)
    change(session)
    begin(session, 1, answer(session, "The Elbe is 1094 kilometres long [ev_0004:1]."))
    finish(session, signer, decide(session, signer, 1))
    session.close()
    return replay(root)


LENGTH = b"The Elbe is 1094 kilometres long.\n"


def test_a_text_that_its_raw_bytes_do_not_give_differs(tmp_path: Path, signer: Signer) -> None:
    name = extractor_of(tmp_path / "probe")
    report = attested(tmp_path / "s", signer, lambda session: evidence_of(session, LENGTH, PAGE, name))
    assert verdicts(report) == ["AGREES", "AGREES", "DIFFERS"]
    assert "ev_0004" in said(report.levels[2])


def test_a_text_of_another_extractor_is_no_tampering(tmp_path: Path, signer: Signer) -> None:
    report = attested(
        tmp_path, signer, lambda session: evidence_of(session, LENGTH, PAGE, "html/selectolax-0.1/rules-0")
    )
    assert verdicts(report) == ["AGREES", "AGREES", "EXTRACTOR_CHANGED"]
    assert report.exit_code == 1


STRUCK_PAGE = b"<html><body><p>" + LENGTH.strip() + b"</p><s>It is short.</s></body></html>"


def test_marks_and_dates_are_made_again_from_the_raw_bytes(tmp_path: Path, signer: Signer) -> None:
    made = extract(STRUCK_PAGE, "page.html")
    assert [mark.kind for mark in made.marks] == ["struck"]

    def kept(name: str, **members: object) -> Report:
        raw = events.Blob(hashlib.sha256(STRUCK_PAGE).hexdigest(), len(STRUCK_PAGE))

        def change(session: Session) -> None:
            session.store.put(STRUCK_PAGE)
            keep(session, "read", {"path": "p"}, "p", made.text, raw=raw, **members)

        return attested(tmp_path / name, signer, change)

    assert kept("same", extractor=made.extractor, marks=made.marks).exit_code == 0
    for members in ({}, {"marks": made.marks, "dated": "2010"}):
        level = kept(f"other{len(members)}", extractor=made.extractor, **members).levels[2]
        assert (level.verdict, "other marks or another date" in str(level.remarks)) == ("DIFFERS", True)
    assert kept("old", extractor="html/selectolax-1.0/rules-1").levels[2].verdict == "EXTRACTOR_CHANGED"


def test_a_text_that_the_reader_of_before_made_stays_whole_where_the_new_one_makes_the_same(
    tmp_path: Path, signer: Signer
) -> None:
    data = make_docx(paragraph("The Elbe is 1094 kilometres long."))
    report = attested(
        tmp_path, signer, lambda session: evidence_of(session, LENGTH, data, "docx/lxml-6.1.3/rules-2")
    )
    assert verdicts(report) == ["AGREES", "AGREES", "AGREES"]
    assert "which makes the same" in str(report.levels[2].remarks)


def test_what_ocr_read_is_not_made_again_and_without_a_picture_it_differs(
    tmp_path: Path, signer: Signer
) -> None:
    def read(name: str, raw: bytes | None) -> Report:
        return attested(
            tmp_path / name,
            signer,
            lambda session: evidence_of(session, LENGTH, raw, "ocr/tesseract-5.3.0-eng/rules-1"),
        )

    report = read("kept", b"\x89PNG\r\n a picture")
    assert verdicts(report) == ["AGREES", "AGREES", "AGREES"]
    (remark,) = report.levels[2].remarks
    assert "read by OCR from a picture, ocr/tesseract-5.3.0-eng/rules-1: not recomputed" in remark.sentence
    without = read("without", None)
    assert verdicts(without) == ["AGREES", "AGREES", "DIFFERS"]
    assert "there is no picture of it" in str(without.levels[2].remarks)


def test_raw_bytes_that_nobody_can_read_are_unreadable(tmp_path: Path, signer: Signer) -> None:
    report = attested(
        tmp_path, signer, lambda session: evidence_of(session, LENGTH, b"%PDF-1.7 broken", "pdf/x/rules-1")
    )
    assert verdicts(report) == ["AGREES", "AGREES", "UNREADABLE"]


def test_a_text_that_claims_an_extractor_without_raw_bytes_differs(tmp_path: Path, signer: Signer) -> None:
    """Else leaving out the raw bytes would be the way to make up a page."""
    page = b"<html><body><p>The Elbe is 1094 kilometres long.</p></body></html>\n"
    name = extractor_of(tmp_path / "probe")
    report = attested(tmp_path / "s", signer, lambda session: evidence_of(session, page, None, name))
    assert report.levels[2].verdict == "DIFFERS"


def test_what_was_read_again_by_its_id_rests_on_the_first_capture(tmp_path: Path, signer: Signer) -> None:
    def again(session: Session) -> None:
        first = read_file(session, "again.html", b"<html><body><p>" + LENGTH + b"</p></body></html>")
        keep(
            session,
            "read",
            {"path": first.id},
            first.source,
            session.store.get(first.text.sha256),
            extractor=first.extractor,
        )

    session = open_session(tmp_path)
    again(session)
    begin(session, 1, answer(session, "The Elbe is 1094 kilometres long [ev_0005:1]."))
    finish(session, signer, decide(session, signer, 1))
    session.close()
    assert verdicts(replay(tmp_path)) == ["AGREES", "AGREES", "AGREES"]


def extractor_of(root: Path) -> str:
    session = open_session(root)
    session.close()
    return session.state.evidence["ev_0003"].extractor


# A log that somebody wrote anew, chain and all.


def rewrite(root: Path, change: Callable[[events.Record], events.Record]) -> None:
    """Write the log of a session again with some records changed, every hash made to fit."""
    log = records(root)
    (root / "trace.jsonl").unlink()
    times = iter([record.ts for record in log])
    again = Log.create(root / "trace.jsonl", lambda: next(times))
    for record in log:
        again.append(change(record), record.lane)
    again.close()


def test_a_log_with_a_new_chain_does_not_fit_its_seal_nor_its_attestation(session: Path) -> None:
    def longer(record: events.Record) -> events.Record:
        if isinstance(record, events.Task):
            return msgspec.structs.replace(record, task="How short is the Elbe?")
        return record

    rewrite(session, longer)
    assert replay(session).levels[0].verdict == "BROKEN"
    (session / "seal.json").unlink()
    report = replay(session)
    assert report.levels[0].verdict == "ALTERED"
    assert "was made at another place of the log, or of another log" in said(report.levels[0])


@pytest.mark.parametrize("value", [b"[" * 100_000 + b"]" * 100_000, b'"\xff"', b'"\\ud800"', b"1e999"])
def test_a_line_that_no_reader_should_be_given_is_a_sentence(tmp_path: Path, value: bytes) -> None:
    body = b'{"type":"session","seq":1,"ts":1.0,"format":1,"version":"x","settings":{"a":%b}}' % value
    (tmp_path / "trace.jsonl").write_bytes(seal_line(body)[0])
    report = replay(tmp_path)
    assert verdicts(report) == ["BROKEN", "NOT_CHECKED", "NOT_CHECKED"]
    assert "line 1" in report.levels[0].sentence


def test_a_lowered_bar_is_said(tmp_path: Path, signer: Signer) -> None:
    session = open_session(tmp_path)
    begin(session, 1, answer(session), web_sources=1, audit_policy=AuditPolicy(negative_families=1))
    finish(session, signer, decide(session, signer, 1))
    session.close()
    report = replay(tmp_path)
    assert report.exit_code == 0
    assert "asks for less than the default: web_sources 1 of 2, negative_families 1 of 2" in said(
        report.levels[1]
    )


# The command.


def run(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(command, arguments)
    return done.exit_code, done.stdout, done.stderr


def test_the_command_prints_a_line_a_level(original: Path, signer: Signer) -> None:
    code, out, _ = run(str(original), "--trust", signer.keyid)
    assert code == 0
    assert out.splitlines()[:3] == [
        "L0 integrity  AGREES  21 records, sealed; 16 blobs, all whole.",
        "L1 verdict    AGREES  1 verdict computed again from the log: the same.",
        "L2 text       AGREES  2 texts made again from raw bytes: the same.",
    ]
    assert "round 1, chosen: SUPPORTED" in out
    assert "signed by a key that --trust names" in out


def test_the_command_as_json(original: Path) -> None:
    code, out, _ = run(str(original), "--json", "--level", "1", "--any-signer")
    report = json.loads(out)
    assert (code, report["exit_code"]) == (0, 0)
    assert [level["verdict"] for level in report["levels"]] == ["AGREES", "AGREES"]
    assert report["attested"][0]["result"] == "SUPPORTED"


@pytest.mark.parametrize("keyid", ["", "abc", "A" * 64, "0" * 63, "0" * 65])
def test_a_key_id_that_is_none_is_wrong_usage(original: Path, keyid: str) -> None:
    code, _, error = run(str(original), "--trust", keyid)
    assert code == 2
    assert "is no key id" in error


def test_no_session_and_no_bundle_are_a_sentence(tmp_path: Path) -> None:
    code, _, error = run(str(tmp_path))
    assert (code, error) == (1, f"vera: There is no session in {tmp_path} (no trace.jsonl).\n")
    (tmp_path / "file").write_bytes(b"no zip")
    code, _, error = run(str(tmp_path / "file"))
    assert code == 1
    assert "is no bundle of VERA" in error
    assert run(str(tmp_path / "nothing"))[0] == 1


def test_no_control_code_of_a_session_reaches_the_terminal(tmp_path: Path, signer: Signer) -> None:
    verified(tmp_path, signer, WRONG, cheating(without_last_claim))
    session_with_escape = tmp_path / "store" / "\x1b[31m"
    session_with_escape.write_text("red")
    _, out, _ = run(str(tmp_path))
    assert "\x1b" not in out
