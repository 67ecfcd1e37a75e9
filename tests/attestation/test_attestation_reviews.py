"""What people say of claims: signed beside the log, held against it, and of no weight for the verdict."""

import json
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.verified import ANSWER, verified
from vera.attestation import reviews
from vera.attestation.bundle import pack, replay_bundle
from vera.attestation.keys import Signer, load_or_create
from vera.attestation.outcome import fingerprint, outcome_of
from vera.attestation.replay import replay
from vera.attestation.reviews import FILE, MAX_NOTE, Entry, ReviewError, ReviewLog, append, digest_of
from vera.attestation.signers import UNKNOWN, Signers
from vera.session import check
from vera.session.log import seal_line

CLAIMS = {
    "c1": "The Elbe is 1094 kilometres long.",
    "c2": "The Elbe rises in the Giant Mountains.",
    "c3": "The Rhine is 1233 kilometres long.",
}


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return load_or_create(tmp_path_factory.mktemp("keys") / "keys")


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return load_or_create(tmp_path_factory.mktemp("stranger") / "keys")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, signer: Signer) -> Path:
    root = tmp_path_factory.mktemp("reviewed") / "session"
    verified(root, signer)
    return root


@pytest.fixture
def session(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "session")


def head_of(session: Path) -> str:
    seal = check(session).seal
    assert seal is not None
    return seal.hash


def say(session: Path, signer: Signer, claim: str = "c1", label: str = "agree", note: str = "") -> Entry:
    digest = digest_of(CLAIMS[claim])
    return append(
        session, signer, head=head_of(session), claim=claim, claim_sha256=digest, label=label, note=note
    )


def found(session: Path, signer: Signer, *, any_signer: bool = False) -> ReviewLog:
    log = replay(session, Signers(own=signer.keyid, any_signer=any_signer), 0).reviews
    assert log is not None
    return log


def standings(log: ReviewLog) -> list[str]:
    return [each.standing for each in log.reviews]


def lines(session: Path) -> list[bytes]:
    return (session / FILE).read_bytes().splitlines(keepends=True)


def resealed(line: bytes, **changed: object) -> bytes:
    """The line with other members and a hash that fits, as somebody writes it who has no key."""
    body = {name: value for name, value in json.loads(line).items() if name != "hash"} | changed
    return seal_line(json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode())[0]


def test_a_review_is_signed_and_names_the_head_the_claim_and_the_entry_before(
    session: Path, signer: Signer
) -> None:
    first, second = say(session, signer, note=" Seen. "), say(session, signer, "c2", "disagree")
    assert (first.seq, first.prev, second.seq) == (1, "", 2)
    assert second.prev == json.loads(lines(session)[0])["hash"]
    assert first.session == head_of(session)
    assert (first.claim_sha256, first.note) == (digest_of(CLAIMS["c1"]), "Seen.")
    log = found(session, signer)
    assert standings(log) == ["COUNTED", "COUNTED"]
    assert (log.reviews[0].signed, log.reviews[0].entry) == ("by your key", first)
    assert log.sentence == "2 reviews: 2 count."
    assert [each.entry for each in log.of("c2")] == [second]


def test_what_a_key_says_last_of_a_claim_counts(session: Path, signer: Signer, stranger: Signer) -> None:
    for each, label in ((signer, "agree"), (stranger, "disagree"), (signer, "unsure")):
        say(session, each, "c1", label)
    assert standings(found(session, signer)) == ["REPLACED", "UNTRUSTED", "COUNTED"]


def test_an_unknown_key_is_shown_as_unknown_and_does_not_count(
    session: Path, signer: Signer, stranger: Signer
) -> None:
    say(session, stranger)
    log = found(session, signer)
    assert [(each.standing, each.signed) for each in log.reviews] == [("UNTRUSTED", UNKNOWN)]
    assert log.sentence == "1 review: 1 by an unknown key."
    assert standings(found(session, signer, any_signer=True)) == ["COUNTED"]


ALTERATIONS: dict[str, tuple[Callable[[list[bytes]], list[bytes]], list[str]]] = {
    "a label": (
        lambda line: [line[0].replace(b'"agree"', b'"unsure"'), *line[1:]],
        ["ALTERED", "ALTERED", "ALTERED"],
    ),
    "a label, hashed again": (
        lambda line: [resealed(line[0], label="disagree"), *line[1:]],
        ["ALTERED", "ALTERED", "ALTERED"],
    ),
    "a note of the last one, hashed again": (
        lambda line: [*line[:2], resealed(line[2], note="other")],
        ["COUNTED", "COUNTED", "ALTERED"],
    ),
    "the key of the last one": (
        lambda line: [*line[:2], resealed(line[2], keyid="0" * 64)],
        ["COUNTED", "COUNTED", "ALTERED"],
    ),
    "the time of the last one, beyond what JSON can hold": (
        lambda line: [*line[:2], resealed(line[2], at=2**60)],
        ["COUNTED", "COUNTED", "ALTERED"],
    ),
    "an entry is taken out": (lambda line: [line[0], line[2]], ["COUNTED", "ALTERED"]),
    "the first is taken out": (lambda line: line[1:], ["ALTERED", "ALTERED"]),
    "the order": (lambda line: [line[1], line[0], line[2]], ["ALTERED", "ALTERED", "ALTERED"]),
    "an entry comes twice": (
        lambda line: [*line, line[2]],
        ["COUNTED", "COUNTED", "COUNTED", "ALTERED"],
    ),
    "the last is torn": (lambda line: [*line[:2], line[2][:-20]], ["COUNTED", "COUNTED", "ALTERED"]),
    "the last has no line end": (
        lambda line: [*line[:2], line[2][:-1]],
        ["COUNTED", "COUNTED", "ALTERED"],
    ),
    "a member more": (
        lambda line: [*line[:2], resealed(line[2], more=1)],
        ["COUNTED", "COUNTED", "ALTERED"],
    ),
    "a version of later": (
        lambda line: [*line[:2], resealed(line[2], format=2)],
        ["COUNTED", "COUNTED", "ALTERED"],
    ),
    "no JSON": (lambda line: [*line, b"agree\n"], ["COUNTED", "COUNTED", "COUNTED", "ALTERED"]),
}


@pytest.mark.parametrize("what", ALTERATIONS)
def test_an_altered_entry_is_found_and_never_counts(what: str, session: Path, signer: Signer) -> None:
    for claim in CLAIMS:
        say(session, signer, claim)
    change, expected = ALTERATIONS[what]
    (session / FILE).write_bytes(b"".join(change(lines(session))))
    log = found(session, signer)
    assert standings(log) == expected
    assert all(each.why and each.entry is None for each in log.bad)


@pytest.mark.parametrize(("cut", "kept"), [(20, 2), (1, 3)], ids=["an entry", "its line end"])
def test_what_a_crash_left_of_the_last_entry_is_no_hindrance(
    cut: int, kept: int, session: Path, signer: Signer
) -> None:
    for claim in CLAIMS:
        say(session, signer, claim)
    (session / FILE).write_bytes(b"".join(lines(session))[:-cut])
    say(session, signer, "c1", "unsure")
    assert len(lines(session)) == kept + 1
    assert standings(found(session, signer)) == ["REPLACED", *["COUNTED"] * kept]


def test_that_last_entries_were_cut_off_is_not_seen(session: Path, signer: Signer) -> None:
    for claim in CLAIMS:
        say(session, signer, claim)
    (session / FILE).write_bytes(b"".join(lines(session)[:2]))
    assert found(session, signer).sentence == "2 reviews: 2 count."


@settings(max_examples=60)
@given(place=st.integers(min_value=0), bit=st.integers(0, 7))
def test_no_changed_bit_counts(
    tmp_path_factory: pytest.TempPathFactory, made: Path, signer: Signer, place: int, bit: int
) -> None:
    session = tmp_path_factory.mktemp("bits")
    entry = say_at(session, made, signer)
    data = bytearray((session / FILE).read_bytes())
    data[place % len(data)] ^= 1 << bit
    (session / FILE).write_bytes(data)
    log = reviews.read_reviews(
        session, head_of(made), {"c1": digest_of(CLAIMS["c1"])}, Signers(own=signer.keyid)
    )
    assert log is not None
    assert entry.label == "agree"
    assert "COUNTED" not in standings(log)


def say_at(folder: Path, session: Path, signer: Signer) -> Entry:
    return append(
        folder,
        signer,
        head=head_of(session),
        claim="c1",
        claim_sha256=digest_of(CLAIMS["c1"]),
        label="agree",
    )


def test_a_review_of_another_session_is_foreign(session: Path, signer: Signer, tmp_path: Path) -> None:
    verified(tmp_path / "other", signer, ANSWER.replace("The Rhine is", "The Rhine itself is"))
    say(tmp_path / "other", signer)
    shutil.copy(tmp_path / "other" / FILE, session / FILE)
    log = found(session, signer)
    assert standings(log) == ["FOREIGN"] and not list(log.of("c1"))
    assert log.sentence == "1 review: 1 of another session."


@pytest.mark.parametrize(("claim", "text"), [("c9", "A claim."), ("c1", CLAIMS["c2"])])
def test_a_review_of_a_claim_that_the_answer_does_not_have_is_foreign(
    claim: str, text: str, session: Path, signer: Signer
) -> None:
    append(
        session,
        signer,
        head=head_of(session),
        claim=claim,
        claim_sha256=digest_of(text),
        label="agree",
    )
    assert standings(found(session, signer)) == ["FOREIGN"]


def test_of_an_altered_session_no_review_counts(session: Path, signer: Signer) -> None:
    say(session, signer)
    log = (session / "trace.jsonl").read_bytes()
    (session / "trace.jsonl").write_bytes(log.replace(b"Elbe", b"Oder", 1))
    assert standings(found(session, signer)) == ["FOREIGN"]
    (session / "trace.jsonl").write_bytes(log)
    (session / "seal.json").unlink()
    assert standings(found(session, signer)) == ["FOREIGN"]


def test_no_review_changes_what_a_replay_concludes(session: Path, signer: Signer, stranger: Signer) -> None:
    known = Signers(own=signer.keyid)
    before, outcome, seen = replay(session, known), outcome_of(session, known), fingerprint(session)
    assert before.reviews is None
    for label in ("disagree", "unsure"):
        say(session, signer, "c1", label)
        say(session, stranger, "c2", label)
    with (session / FILE).open("ab") as file:
        file.write(b"not a review\n")
    after = replay(session, known)
    assert after.reviews is not None and after.reviews.bad
    assert msgspec.structs.replace(after, reviews=None) == before
    assert after.exit_code == before.exit_code == 0
    assert (outcome_of(session, known), fingerprint(session)) == (outcome, seen)


def test_a_bundle_carries_the_reviews_and_its_replay_checks_them(
    session: Path, signer: Signer, tmp_path: Path
) -> None:
    known = Signers(own=signer.keyid)
    say(session, signer)
    pack(session, tmp_path / "good.zip")
    report = replay_bundle(tmp_path / "good.zip", known, 0)
    assert report.reviews == found(session, signer) and standings(report.reviews) == ["COUNTED"]
    (session / FILE).write_bytes(lines(session)[0].replace(b'"agree"', b'"unsure"'))
    pack(session, tmp_path / "bad.zip")
    report = replay_bundle(tmp_path / "bad.zip", known, 0)
    assert report.reviews is not None and standings(report.reviews) == ["ALTERED"]
    assert report.exit_code == 0


def test_a_link_and_a_pipe_are_neither_read_nor_written(
    session: Path, signer: Signer, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").write_bytes(b"")
    (session / FILE).symlink_to(tmp_path / "elsewhere")
    assert "not followed" in found(session, signer).sentence
    with pytest.raises(ReviewError, match="is a link"):
        say(session, signer)
    assert (tmp_path / "elsewhere").read_bytes() == b""
    (session / FILE).unlink()
    os.mkfifo(session / FILE)
    assert "not a file" in found(session, signer).sentence
    with pytest.raises(ReviewError, match="no plain file"):
        say(session, signer)


def test_nothing_is_added_to_an_altered_file_or_beyond_the_bounds(
    session: Path, signer: Signer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ReviewError, match=f"{MAX_NOTE} is the most"):
        say(session, signer, note="x" * (MAX_NOTE + 1))
    with pytest.raises(ReviewError, match="agree, disagree, unsure"):
        say(session, signer, label="perhaps")
    say(session, signer, note="\ud800 " + "é" * (MAX_NOTE - 2))
    say(session, signer)
    monkeypatch.setattr(reviews, "MAX_ENTRIES", 2)
    with pytest.raises(ReviewError, match="holds 2 entries"):
        say(session, signer)
    monkeypatch.setattr(reviews, "MAX_ENTRIES", 1)
    log = found(session, signer)
    assert len(log.reviews) == 1 and "What follows the first 1 was not read." in log.sentence
    monkeypatch.setattr(reviews, "MAX_BYTES", 10)
    assert "larger than" in found(session, signer).sentence
    monkeypatch.undo()
    (session / FILE).write_bytes(b"\n" * 100_000)
    assert len(found(session, signer).reviews) == reviews.MAX_ENTRIES
    with pytest.raises(ReviewError, match="was altered"):
        say(session, signer)


def test_people_who_review_at_once_keep_one_chain(session: Path, signer: Signer, stranger: Signer) -> None:
    def work(each: Signer) -> None:
        for _ in range(5):
            say(session, each)

    threads = [threading.Thread(target=work, args=(each,)) for each in (signer, stranger, signer)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log = found(session, signer)
    assert len(log.reviews) == 15 and not log.bad
