"""An entailment judge in a round: what it labels counts after its exam, and before that it can only lower."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from support.entailing import QUOTED, REWORDED, entailed, trained
from support.verified import records, replay
from vera import events
from vera.attestation.exam import SPANS
from vera.attestation.keys import Signer, load_or_create
from vera.attestation.objects import Attestation, Card, Findings, Policy, hexadecimal, parse
from vera.headline import headline
from vera.session import Session
from vera.store import Store

pytestmark = pytest.mark.needs("onnx")


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return load_or_create(tmp_path_factory.mktemp("keys") / "keys")


class Verdict:
    """What was attested in a session."""

    def __init__(self, root: Path, decision: events.Verifier) -> None:
        store = Store(root / "store")
        self.attestation = parse(store.get(hexadecimal(decision.attestation)), Attestation)
        self.policy = parse(store.get(hexadecimal(self.attestation.policy)), Policy)
        self.findings = parse(store.get(hexadecimal(self.attestation.findings)), Findings)
        self.cards = [parse(store.get(hexadecimal(each)), Card) for each in self.attestation.cards]
        self.word = headline(decision.result, decision.reason, self.policy.rule)
        self.log = records(root)

    def said(self, kind: type[events.Record]) -> list[events.Record]:
        return [each for each in self.log if isinstance(each, kind)]


def verdict(
    tmp_path: Path,
    signer: Signer,
    text: str = REWORDED,
    labels: Mapping[int, str] | None = None,
    *,
    always: str = "",
    exams: Path | None = None,
) -> Verdict:
    judge = trained(tmp_path / "judge", text, labels, always=always)
    return Verdict(tmp_path / "session", entailed(tmp_path / "session", signer, judge, text, exams=exams))


def test_what_a_judge_that_passed_supports_is_verified(tmp_path: Path, signer: Signer) -> None:
    found = verdict(tmp_path, signer)
    assert (found.word, found.policy.rule) == ("VERIFIED", "entailment")
    assert {card.relation for card in found.cards} == {"SUPPORTS"}


def test_the_attestation_names_the_files_and_the_settings(tmp_path: Path, signer: Signer) -> None:
    import hashlib

    found = verdict(tmp_path, signer)
    (exam,) = found.findings.exams
    assert exam.passed
    assert exam.entailment is not None
    files = {name: (tmp_path / "judge" / name).read_bytes() for name in ("model.onnx", "tokenizer.json")}
    assert exam.entailment.model == hashlib.sha256(files["model.onnx"]).hexdigest()
    assert exam.entailment.tokenizer == hashlib.sha256(files["tokenizer.json"]).hexdigest()
    assert exam.entailment.labels == ("contradicted", "supported", "neither")
    assert (exam.entailment.threshold_bp, exam.entailment.margin_bp, exam.entailment.step_bp) == (
        5000,
        500,
        1,
    )
    assert {card.maker for card in found.cards} == {f"judge with settings sha256:{exam.prompt}"}


def test_the_same_answer_by_the_rule_alone_is_not_supported(tmp_path: Path, signer: Signer) -> None:
    judge = tmp_path / "no judge"
    decision = entailed(tmp_path / "session", signer, judge)
    assert (decision.result, decision.supported) == ("UNSUPPORTED", 0) or decision.result == "INCONCLUSIVE"


def test_what_it_contradicts_is_refuted(tmp_path: Path, signer: Signer) -> None:
    found = verdict(tmp_path, signer, labels={1: "CONTRADICTS"})
    assert found.word == "REFUTED"


def test_what_it_leaves_open_is_not_supported(tmp_path: Path, signer: Signer) -> None:
    found = verdict(tmp_path, signer, labels={1: "IRRELEVANT"})
    assert found.word == "PARTIAL"


def test_the_floor_outranks_it(tmp_path: Path, signer: Signer) -> None:
    wrong = REWORDED.replace("1094", "2094")
    found = verdict(tmp_path, signer, wrong)
    assert found.word == "PARTIAL"
    assert any(each.severity == "hard" for each in found.findings.findings)


@pytest.mark.parametrize("always", ["SUPPORTS", "IRRELEVANT"])
def test_one_that_failed_supports_nothing(tmp_path: Path, signer: Signer, always: str) -> None:
    found = verdict(tmp_path, signer, always=always)
    assert (found.policy.rule, found.findings.exams[0].passed) == ("literal", False)
    assert found.word == "UNRESOLVED"
    assert all(card.relation == "IRRELEVANT" for card in found.cards)


def test_one_that_failed_leaves_what_stands_word_for_word_quoted(tmp_path: Path, signer: Signer) -> None:
    found = verdict(tmp_path, signer, QUOTED, always="SUPPORTS")
    assert found.word == "QUOTED"


def test_an_answer_that_only_points_at_lines_is_quoted(tmp_path: Path, signer: Signer) -> None:
    """The judge has read nothing of it, so it is not VERIFIED."""
    judge, text = trained(tmp_path / "judge"), "1. rivers.txt [ev_0002:2]\n2. sources.html [ev_0003:2]"
    found = Verdict(tmp_path / "session", entailed(tmp_path / "session", signer, judge, text))
    assert (found.word, found.policy.rule) == ("QUOTED", "literal")


def test_one_that_failed_can_lower(tmp_path: Path, signer: Signer) -> None:
    root = tmp_path / "session"
    judge = _fails_but_sees(tmp_path / "judge", {1: "CONTRADICTS"})
    found = Verdict(root, entailed(root, signer, judge, QUOTED))
    assert (found.findings.exams[0].passed, found.word) == (False, "PARTIAL")
    assert [card.relation for card in found.cards if card.claim == "c1"] == ["QUALIFIES"]
    assert [card.relation for card in found.cards if card.claim == "c2"] == ["SUPPORTS"]
    assert replay(root).exit_code == 0


def test_one_that_failed_and_contradicts_everything_lowers_nothing(tmp_path: Path, signer: Signer) -> None:
    """It says CONTRADICTS of a sentence that stands in its lines, so its probes show that it is blind."""
    found = verdict(tmp_path, signer, QUOTED, always="CONTRADICTS")
    assert (found.findings.exams[0].passed, found.word) == (False, "QUOTED")


def test_one_whose_probes_are_wrong_is_not_believed(tmp_path: Path, signer: Signer) -> None:
    from support.entailing import pairs_of
    from support.tiny_entailment import write_judge

    root = tmp_path / "session"
    blind = dict.fromkeys(pairs_of(REWORDED), "SUPPORTS")
    judge = write_judge(tmp_path / "judge", blind)
    found = Verdict(root, entailed(root, signer, judge))
    assert (found.findings.exams[0].passed, found.word) == (True, "UNRESOLVED")
    assert found.attestation.reason == "JUDGE_UNRELIABLE"


def test_a_pass_is_kept_for_other_sessions(tmp_path: Path, signer: Signer) -> None:
    judge, exams = trained(tmp_path / "judge"), tmp_path / "exams"
    for name in ("first", "second"):
        entailed(tmp_path / name, signer, judge, exams=exams)
    sat = [
        each
        for name in ("first", "second")
        for each in records(tmp_path / name)
        if isinstance(each, events.VerifierExam)
    ]
    assert [(each.kept, each.right, each.passed) for each in sat] == [
        (False, SPANS, True),
        (True, SPANS, True),
    ]


def test_another_file_sits_another_exam(tmp_path: Path, signer: Signer) -> None:
    exams = tmp_path / "exams"
    entailed(tmp_path / "first", signer, trained(tmp_path / "judge"), exams=exams)
    other = trained(tmp_path / "elsewhere" / "judge", always="SUPPORTS")
    found = Verdict(tmp_path / "second", entailed(tmp_path / "second", signer, other, exams=exams))
    assert not found.findings.exams[0].passed
    assert len(list(exams.iterdir())) == 2


BROKEN = {
    "a file that is no ONNX": ("model.onnx", b"not a model"),
    "an empty file": ("model.onnx", b""),
    "a tokenizer that is none": ("tokenizer.json", b"{}"),
    "labels without names": ("config.json", b'{"id2label": {"0": "LABEL_0", "1": "LABEL_1"}}'),
}


@pytest.mark.parametrize("name", BROKEN)
def test_with_a_broken_judge_the_run_goes_on_by_rule(tmp_path: Path, signer: Signer, name: str) -> None:
    judge = trained(tmp_path / "judge", QUOTED)
    file, data = BROKEN[name]
    (judge / file).write_bytes(data)
    root = tmp_path / "session"
    found = Verdict(root, entailed(root, signer, judge, QUOTED))
    assert (found.policy.rule, found.word) == ("literal", "QUOTED")
    (exam,) = found.findings.exams
    assert exam.unfinished.endswith(".")
    assert "\n" not in exam.unfinished
    assert replay(root).exit_code == 0


def test_a_log_that_calls_a_language_model_an_entailment_judge_supports_nothing(
    tmp_path: Path, signer: Signer
) -> None:
    """Under the rule entailment no score is asked for, so only an entailment judge may label under it."""
    from support.verified import answer, begin, gathered, open_session
    from vera.attestation.build import build

    session = open_session(tmp_path / "session")
    begin(session, 1, answer(session, QUOTED), judge="judge", rule="entailment")
    built = build(gathered(session, 1))
    session.close()
    assert built.attestation.result == "INCONCLUSIVE"
    assert "SUPPORTS" not in {card.relation for card in _cards(built.objects)}


def _cards(objects: Mapping[str, bytes]) -> list[Card]:
    return [parse(data, Card) for data in objects.values() if b'"kind":"card/v1"' in data]


def _fails_but_sees(folder: Path, labels: Mapping[int, str]) -> Path:
    """A judge that has every pair of the answer right, and all of its exam wrong."""
    from support import exams
    from support.entailing import pairs_of
    from support.tiny_entailment import write_judge

    wrong = {pair: "IRRELEVANT" if label == "SUPPORTS" else "SUPPORTS" for pair, label in exams.key().items()}
    return write_judge(folder, {**wrong, **pairs_of(QUOTED, labels)})


def test_a_session_that_was_killed_reads_no_claim_twice(tmp_path: Path, signer: Signer) -> None:
    """What is logged is left, as with every judge."""
    import asyncio

    from support.verified import answer, begin, gathered, open_session
    from vera.attestation.build import case_of
    from vera.entailment.choose import open_reader
    from vera.lane.prompts import Prompts
    from vera.verification.context import VerifierContext, VerifierOptions
    from vera.verification.entailment import label_entailed

    judge = trained(tmp_path / "judge")
    session: Session = open_session(tmp_path / "session")
    begin(session, 1, answer(session, REWORDED))
    context = VerifierContext(
        session=session,
        model=None,
        prompts=Prompts(),
        open_tools=lambda lane: pytest.fail(lane),
        open_box=None,
        options=VerifierOptions(rule="entailment"),
        entailment=lambda: open_reader(judge),
        entailment_name="judge",
    )
    case = case_of(gathered(session, 1))
    before = len(session.state.rounds[1].labels)
    for _ in range(2):
        asyncio.run(label_entailed(context, 1, case, lambda _: None))
    labelled = session.state.rounds[1].labels[before:]
    session.close()
    assert [each.claim for each in labelled] == ["c1", "c2"]
    assert msgspec.to_builtins(labelled[0].labels)[0]["relation"] == "SUPPORTS"
