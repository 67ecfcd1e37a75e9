"""A verdict on a request: it answers what was asked and nothing else, and anyone replays it."""

import shutil
from pathlib import Path

import msgspec
import pytest

from support.asked import asked, open_asked, thesis_record
from support.rounds import WATER, evidence, label, labels, policy, record, scores
from support.verified import answer, begin, decide, finish, gathered, read_file, replay, verified
from vera import events
from vera.attestation.build import Built, build, case_of, labels_of, literal_version
from vera.attestation.bundle import pack, unpack
from vera.attestation.gather import GatherError
from vera.attestation.keys import Signer, load_or_create
from vera.attestation.lenses import load_lens
from vera.attestation.objects import (
    Findings,
    Lens,
    Thesis,
    VerifyRequest,
    canonical,
    hexadecimal,
    object_id,
    parse,
)
from vera.attestation.record import Record
from vera.attestation.request import request_key, request_of, restates, sub_claims
from vera.audit import containment, literal

THESIS = "The Elbe is 1094 kilometres long. The Rhine is 1233 kilometres long."
RIVERS = (
    b"Rivers\nThe Elbe is 1094 kilometres long.\nThe Rhine is 1233 kilometres long.\nThe Oder is a river.\n"
)
RESTATED = "The Elbe is 1094 kilometres long [ev_0001:2]. The Rhine is 1233 kilometres long [ev_0001:3]."


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return load_or_create(tmp_path_factory.mktemp("keys") / "keys")


def verify(root: Path, signer: Signer, text: str = RESTATED, **asks: object) -> events.Verifier:
    """A finished session that was asked to verify THESIS."""
    session = open_asked(root, THESIS, **asks)
    try:
        session.emit(events.Corpus(files=1, read=1, size=len(RIVERS), seconds=0.1))
        read_file(session, "rivers.txt", RIVERS)
        begin(session, 1, answer(session, text), literal=literal.VERSION)
        decision = decide(session, signer, 1)
        finish(session, signer, decision)
    finally:
        session.close()
    return decision


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory, signer: Signer) -> Path:
    root = tmp_path_factory.mktemp("asked") / "session"
    assert verify(root, signer, lens="factual", volatility="fast").result == "SUPPORTED"
    return root


@pytest.fixture
def session(original: Path, tmp_path: Path) -> Path:
    shutil.copytree(original, tmp_path / "session")
    for blob in (tmp_path / "session" / "store").glob("*/*"):
        blob.chmod(0o644)
    return tmp_path / "session"


def blob_of(session: Path, name: str) -> Path:
    digits = hexadecimal(name)
    return session / "store" / digits[:2] / digits


def named(session: Path) -> dict[str, Path]:
    request, _ = request_of(THESIS, lens="factual", volatility="fast")
    names = {"request": object_id(request), "proposition": request.thesis, "lens": request.rubric}
    return {name: blob_of(session, each) for name, each in names.items()}


def verdicts(session: Path) -> list[str]:
    return [level.verdict for level in replay(session).levels]


def test_a_verdict_on_a_request_agrees_at_every_level(original: Path) -> None:
    assert verdicts(original) == ["AGREES", "AGREES", "AGREES"]


def test_a_bundle_of_it_replays_elsewhere(original: Path, tmp_path: Path) -> None:
    assert pack(original, tmp_path / "bundle.zip").missing == ()
    (tmp_path / "elsewhere").mkdir()
    unpack(tmp_path / "bundle.zip", tmp_path / "elsewhere")
    assert verdicts(tmp_path / "elsewhere") == ["AGREES", "AGREES", "AGREES"]


@pytest.mark.parametrize("part", ["request", "proposition", "lens"])
def test_what_was_asked_cannot_be_taken_away_or_altered(session: Path, part: str) -> None:
    path = named(session)[part]
    data = path.read_bytes()
    path.unlink()
    assert verdicts(session)[0] == "MISSING"
    path.write_bytes(data.replace(b"e", b"f", 1))
    assert verdicts(session)[0] == "ALTERED"
    path.write_bytes(data)
    assert verdicts(session)[0] == "AGREES"


def test_the_attestation_names_the_request_its_lens_and_when_it_expires(tmp_path: Path) -> None:
    session = open_asked(tmp_path / "s", THESIS, lens="factual", volatility="fast")
    try:
        read_file(session, "rivers.txt", RIVERS)
        begin(session, 1, answer(session, RESTATED), literal=literal.VERSION)
        built = build(gathered(session, 1))
    finally:
        session.close()
    request, _ = request_of(THESIS, lens="factual", volatility="fast")
    attestation = built.attestation
    assert attestation.request == request_key(request)
    assert built.objects[attestation.request] == canonical(request)
    assert attestation.issued_at[:10] == "2025-11-24" and attestation.expires_at[:10] == "2025-11-25"
    thesis = parse(built.objects[attestation.thesis], Thesis)
    assert (thesis.lens, thesis.text) == ("factual", THESIS.rstrip("."))
    assert object_id(load_lens("factual")) in built.objects


def test_a_verdict_on_another_request_differs(tmp_path: Path, signer: Signer) -> None:
    """A session that was asked one thing, whose attestation says that it was asked an easier one."""

    def lowered(record: Record) -> Built:
        assert record.asked is not None
        request = msgspec.structs.replace(record.asked.request, risk="low")
        return build(
            msgspec.structs.replace(record, asked=msgspec.structs.replace(record.asked, request=request))
        )

    session = open_asked(tmp_path / "s", THESIS, risk="high")
    try:
        read_file(session, "rivers.txt", RIVERS)
        begin(session, 1, answer(session, RESTATED), literal=literal.VERSION)
        finish(session, signer, decide(session, signer, 1, lowered))
    finally:
        session.close()
    report = replay(tmp_path / "s")
    assert [level.verdict for level in report.levels] == ["AGREES", "DIFFERS", "AGREES"]
    assert any("another request" in remark.sentence for remark in report.levels[1].remarks)


def test_a_request_whose_thesis_is_not_that_of_its_text_is_no_request(tmp_path: Path) -> None:
    session = open_asked(tmp_path / "s", THESIS)
    try:
        ask = asked(THESIS)
        forged = canonical(msgspec.structs.replace(ask.request, text="The Elbe is 1 kilometre long"))
        blob = events.Blob(session.store.put(forged), len(forged))
        budget = msgspec.structs.asdict(ask.budget)
        session.emit(events.VerifyRequested(request=blob, thesis_id=ask.request.thesis, **budget))
        read_file(session, "rivers.txt", RIVERS)
        with pytest.raises(GatherError, match="not the one that its text states"):
            begin(session, 1, answer(session, RESTATED))
    finally:
        session.close()


@pytest.mark.parametrize(
    ("said", "how"),
    [
        (RESTATED, ""),
        (RESTATED.replace(". ", ".\n\n"), ""),
        (RESTATED.rstrip(".").replace("Rhine", "**Rhine**"), ""),
        ("The Elbe is 1094 kilometres long. The Rhine is 1233 kilometres long.", ""),
        (
            "The Elbe is 1094 kilometres long [ev_0001:2].",
            "The thesis reads “is 1094 kilometres long. The Rhine is 1233",
        ),
        (
            RESTATED.replace("1233", "1230"),
            "The thesis reads “The Rhine is 1233 kilometres long”, and the answer “The Rhine is 1230",
        ),
        (RESTATED.replace("is 1094", "is not 1094"), "The thesis reads “The Elbe is 1094 kilometres long."),
        (
            RESTATED + " The Oder is a river [ev_0001:4].",
            "The thesis reads “is 1233 kilometres long”, and the answer “is 1233 kilometres long. The Oder",
        ),
        ("Rivers are long [ev_0001:2].", "The thesis reads “The Elbe is 1094 kilometres”, and the answer"),
        ("", "The answer states nothing of the thesis."),
        ("[ev_0001:2]", "The answer states nothing of the thesis."),
    ],
)
def test_an_answer_restates_the_thesis_word_for_word(said: str, how: str) -> None:
    request, _ = request_of(THESIS)
    found = restates(request, said)
    assert found.startswith(how) and bool(found) is bool(how)


def test_the_sub_claims_of_a_thesis_are_its_sentences() -> None:
    request, _ = request_of("Dr. Smith paid 3.5 million on 5 May. He never paid it back.")
    assert sub_claims(request) == ("Dr. Smith paid 3.5 million on 5 May.", "He never paid it back")


@pytest.mark.parametrize(
    "thesis", ["No source says how long the river is", "The documents do not say who paid"]
)
def test_a_thesis_about_what_the_sources_tell_is_no_statement_of_the_world(thesis: str) -> None:
    request, _ = request_of(thesis)
    assert restates(request, thesis + ".").startswith("What it says is no statement")


@pytest.mark.parametrize(
    "said",
    [
        "The Elbe is 1094 kilometres long [ev_0001:2].",
        "The Elbe is 1094 kilometres long [ev_0001:2]. The Rhine is 1233 kilometres long [ev_0001:3]. "
        "The Oder is a river [ev_0001:4].",
        "The Oder is a river [ev_0001:4].",
    ],
)
def test_a_worker_cannot_verify_something_else_than_was_asked(
    tmp_path: Path, signer: Signer, said: str
) -> None:
    decision = verify(tmp_path / "s", signer, said)
    assert (decision.result, decision.reason) == ("INCONCLUSIVE", "FINDINGS")
    assert verdicts(tmp_path / "s") == ["AGREES", "AGREES", "AGREES"]


def test_the_finding_says_what_was_asked(tmp_path: Path) -> None:
    built = build(thesis_record("The river is 400 km long [ev_0001:2]."))
    findings = parse(built.objects[built.attestation.findings], Findings).findings
    (found,) = [each for each in findings if each.code == "not_the_thesis"]
    assert (found.severity, found.label, found.claim) == ("hard", "misread_task", "")
    assert found.message.startswith(
        "The answer does not state the thesis word for word. The thesis reads “The river"
    )


def test_every_part_of_a_thesis_must_hold() -> None:
    """A sentence without a number or a name bears no load in an answer, which is then PARTIAL; in a thesis it
    is a claim."""
    about = asked("The river is 312 km long. It is beautiful.")
    found = (labels("c1", label("ev_0001", 2, 2)),)
    said = "The river is 312 km long [ev_0001:2]. It is beautiful."
    built = build(thesis_record(said, about=about, labels=found, scores=scores(400)))
    assert [(each.claim, each.result) for each in built.attestation.claims] == [
        ("c1", "SUPPORTED"),
        ("c2", "INCONCLUSIVE"),
    ]
    assert (built.attestation.result, built.attestation.reason) == ("INCONCLUSIVE", "PARTIAL")
    free = build(record(said, (evidence("ev_0001"),), labels=found, scores=scores(400)))
    assert (free.attestation.result, free.attestation.reason) == ("INCONCLUSIVE", "PARTIAL")


def test_the_rule_without_a_model_is_the_one_that_the_policy_names() -> None:
    def makers(record: Record) -> set[str]:
        return {each.maker for each in labels_of(record, case_of(record))}

    wide, strict = (policy("literal", literal=each) for each in (containment.VERSION, literal.VERSION))
    assert makers(thesis_record(policy=wide)) == {containment.VERSION}
    assert makers(thesis_record(policy=strict)) == {literal.VERSION}
    assert makers(record("It is 312 km long [ev_0001:2].", (evidence("ev_0001"),), policy=wide)) == {
        literal.VERSION
    }
    assert (literal_version(True), literal_version(False)) == (containment.VERSION, literal.VERSION)


def test_rules_that_changed_are_told_apart_from_tampering(tmp_path: Path, signer: Signer) -> None:
    session = open_asked(tmp_path / "s", THESIS)
    try:
        read_file(session, "rivers.txt", RIVERS)
        begin(session, 1, answer(session, RESTATED), literal="containment/0")

        def otherwise(record: Record) -> Built:
            return build(msgspec.structs.replace(record, verifier="another verifier"))

        finish(session, signer, decide(session, signer, 1, otherwise))
    finally:
        session.close()
    level = replay(tmp_path / "s").levels[1]
    assert level.verdict == "RULES_CHANGED"
    assert f"literal containment/0, here {containment.VERSION}" in level.sentence


OTHER = b"Another page says that the river is 312 km long.\n"


def quoted() -> Record:
    found = policy("literal", literal="literal/1", audit="audit/2", claims="claims/1", reduce="reduce/1")
    return record("The river is 312 km long [ev_0001:2].", [evidence("ev_0001")], [WATER], policy=found)


def test_an_attestation_from_before_requests_keeps_its_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its id was computed by the code that knew no request, with the first version of the rule.

    (What a model labels rests on its exam now.)
    """
    monkeypatch.setattr(literal, "VERSION", "literal/1")
    attestation = "sha256:26be64caaa9fd8e2db7692d249228eef692287039099c3516a17a3dec6f4cd36"
    assert build(quoted()).attestation_id == attestation


def test_a_session_that_was_asked_a_question_replays_as_before(tmp_path: Path, signer: Signer) -> None:
    verified(tmp_path / "s", signer)
    assert verdicts(tmp_path / "s") == ["AGREES", "AGREES", "AGREES"]


def test_a_lens_in_the_store_replays_after_the_packaged_one_changed(tmp_path: Path, signer: Signer) -> None:
    lens = Lens(name="factual", description="As it was in another version.", file_sources=1)
    decision = verify(tmp_path / "s", signer, lens=lens)
    assert decision.result == "SUPPORTED"
    assert verdicts(tmp_path / "s") == ["AGREES", "AGREES", "AGREES"]


def test_a_request_is_read_from_its_canonical_bytes_only() -> None:
    request, _ = request_of(THESIS)
    data = canonical(request)
    assert parse(data, VerifyRequest) == request
    with pytest.raises(ValueError, match="canonical"):
        parse(data.replace(b",", b", ", 1), VerifyRequest)
