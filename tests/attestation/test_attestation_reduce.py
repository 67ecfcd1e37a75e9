"""The reduction: the table of `vera.attestation.reduce`, row by row, and that nothing bad ever helps."""

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import TypeVar, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.exams import exam
from support.rounds import policy
from vera.attestation.objects import (
    Card,
    CheckResult,
    Cluster,
    Confidence,
    Coverage,
    Digest,
    Findings,
    Policy,
    Reading,
    Relation,
    Result,
    Source,
    SpanSelector,
    SubClaim,
    Thesis,
    Unread,
    digest,
    object_id,
)
from vera.attestation.reduce import CAP, COVERAGE_CODES, MAX_CAPS, Reduced, reduce
from vera.evidence.finding import Finding

T = TypeVar("T")

THESIS = digest(b"thesis")
NAMES = {
    "file": "report.txt",
    "file 2": "other.txt",
    "web": "https://a.example/x",
    "web 2": "https://b.example/x",
    "command": "wc -l",
    "not derived": "echo 312",
}
TIERS = {"command": "derived", "not derived": "observed"}
SOURCES = {
    name: Source(
        name=address,
        tier=TIERS.get(name, "captured"),  # type: ignore[arg-type] # one of the three
        canonical=digest(name.encode()),
    )
    for name, address in NAMES.items()
}
IDS = {name: object_id(source) for name, source in SOURCES.items()}


class Objects(msgspec.Struct, frozen=True, kw_only=True):
    """What a reduction reads."""

    thesis: Thesis
    policy: Policy
    findings: Findings
    coverage: Coverage
    cards: Mapping[Digest, Card]

    def reduced(self) -> Reduced:
        return reduce(
            thesis=self.thesis,
            policy=self.policy,
            findings=self.findings,
            coverage=self.coverage,
            cards=self.cards,
            sources={object_id(source): source for source in SOURCES.values()},
        )

    def with_findings(self, **changed: object) -> "Objects":
        return msgspec.structs.replace(self, findings=msgspec.structs.replace(self.findings, **changed))


def card(claim: str, source: str, relation: Relation = "SUPPORTS", agree: int = 1, votes: int = 1) -> Card:
    return Card(
        thesis=THESIS,
        source=IDS[source],
        evidence="ev_0001",
        span=SpanSelector(start=0, end=1, first=1, last=1, sha256=digest(b"x")),
        claim=claim,
        relation=relation,
        confidence=Confidence(method="readings", agree=agree, votes=votes),
        maker="judge",
    )


def readings(*points: int, criteria: Sequence[str] = ("a", "b", "c")) -> tuple[Reading, ...]:
    return tuple(
        Reading(criterion=criteria[index % len(criteria)], points=each) for index, each in enumerate(points)
    )


def hard(claim: str, code: str = "number_not_in_source") -> Finding:
    return Finding(code=code, label="fabricated", severity="hard", message="No.", claim=claim)


def soft(claim: str) -> Finding:
    return Finding(code="wording", label="overconfident", severity="soft", message="Hm.", claim=claim)


def check(claim: str, answer: str) -> CheckResult:
    found = {"claim": claim, "question": "Is it?", "source": "", "label": "x", "answer": answer}
    return msgspec.convert(found, CheckResult)


def objects(
    cards: Iterable[Card],
    *claims: SubClaim,
    rule: str = "model",
    clusters: Sequence[Sequence[str]] = (),
    points: Sequence[int] = (400, 400, 400),
    **findings: object,
) -> Objects:
    return Objects(
        thesis=Thesis(text="How long?", sub_claims=claims or (SubClaim(key="c1", text="312 km."),)),
        policy=policy(rule),
        findings=Findings(readings=readings(*points), exams=(exam(),), **findings),  # type: ignore[arg-type] # its own members
        coverage=Coverage(
            clusters=tuple(
                Cluster(key=str(index), sources=tuple(IDS[name] for name in names), cards=())
                for index, names in enumerate(clusters)
            )
        ),
        cards={object_id(each): each for each in cards},
    )


def verdict(found: Objects) -> tuple[str, str]:
    reduced = found.reduced()
    return reduced.result, reduced.reason


def of_claim(found: Objects, claim: int = 0) -> tuple[str, str]:
    result = found.reduced().claims[claim]
    return result.result, result.reason


TWO = (SubClaim(key="c1", text="One."), SubClaim(key="c2", text="Two."))


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        ([], ("INCONCLUSIVE", "NO_EVIDENCE")),
        ([card("c1", "file")], ("SUPPORTED", "")),
        ([card("c1", "command")], ("SUPPORTED", "")),
        ([card("c1", "not derived")], ("INCONCLUSIVE", "NO_EVIDENCE")),
        ([card("c1", "web")], ("INCONCLUSIVE", "COVERAGE")),
        ([card("c1", "web"), card("c1", "web 2")], ("SUPPORTED", "")),
        ([card("c1", "web"), card("c1", "file")], ("SUPPORTED", "")),
        ([card("c1", "file", "CONTRADICTS")], ("UNSUPPORTED", "REFUTED")),
        ([card("c1", "file"), card("c1", "file 2", "CONTRADICTS")], ("DISPUTED", "")),
        ([card("c1", "web"), card("c1", "web 2", "CONTRADICTS")], ("DISPUTED", "")),
        ([card("c1", "file", "QUALIFIES")], ("INCONCLUSIVE", "PARTIAL")),
        ([card("c1", "file", "IRRELEVANT")], ("INCONCLUSIVE", "NO_EVIDENCE")),
        ([card("c1", "file", agree=1, votes=2)], ("INCONCLUSIVE", "JUDGE_UNRELIABLE")),
        ([card("c1", "file", agree=2, votes=3)], ("SUPPORTED", "")),
        ([card("c1", "file", "CONTRADICTS", 1, 3)], ("INCONCLUSIVE", "JUDGE_UNRELIABLE")),
        ([card("c1", "file", "CONTRADICTS", 2, 3)], ("UNSUPPORTED", "REFUTED")),
        ([card("c1", "not derived", "CONTRADICTS")], ("INCONCLUSIVE", "NO_EVIDENCE")),
        ([card("c1", "web", "CONTRADICTS")], ("INCONCLUSIVE", "COVERAGE")),
        ([card("c1", "web", "CONTRADICTS"), card("c1", "web 2", "CONTRADICTS")], ("UNSUPPORTED", "REFUTED")),
        ([card("c1", "web", "CONTRADICTS"), card("c1", "file", "CONTRADICTS")], ("UNSUPPORTED", "REFUTED")),
        ([card("c1", "file"), card("c1", "not derived", "CONTRADICTS")], ("DISPUTED", "")),
        ([card("c2", "file")], ("INCONCLUSIVE", "NO_EVIDENCE")),
    ],
)
def test_the_cards_of_a_claim_decide(cards: list[Card], expected: tuple[str, str]) -> None:
    assert of_claim(objects(cards)) == verdict(objects(cards)) == expected


def test_copies_and_pages_of_one_domain_count_once() -> None:
    two = [card("c1", "web"), card("c1", "web 2")]
    one = objects(two, clusters=[["web", "web 2"]])
    assert verdict(one) == ("INCONCLUSIVE", "COVERAGE")
    assert one.reduced().claims[0].supports == 1
    assert objects(two, clusters=[["web"], ["web 2"]]).reduced().claims[0].supports == 2


def test_copies_and_pages_of_one_domain_refute_once() -> None:
    two = [card("c1", "web", "CONTRADICTS"), card("c1", "web 2", "CONTRADICTS")]
    assert verdict(objects(two, clusters=[["web", "web 2"]])) == ("INCONCLUSIVE", "COVERAGE")
    assert verdict(objects(two, clusters=[["web"], ["web 2"]])) == ("UNSUPPORTED", "REFUTED")


@pytest.mark.parametrize(
    ("question", "web_sources", "relation", "expected"),
    [
        ("What does https://a.example/x say?", 2, "SUPPORTS", ("SUPPORTED", "")),
        ("What does https://a.example/x say?", 2, "CONTRADICTS", ("UNSUPPORTED", "REFUTED")),
        ("What does https://a.example/y say?", 2, "SUPPORTS", ("INCONCLUSIVE", "COVERAGE")),
        ("What does https://a.example/x say?", 3, "SUPPORTS", ("INCONCLUSIVE", "COVERAGE")),
    ],
)
def test_a_page_that_the_question_names_suffices(
    question: str, web_sources: int, relation: str, expected: tuple[str, str]
) -> None:
    found = objects([card("c1", "web", relation)])
    thesis = msgspec.structs.replace(found.thesis, text=question)
    bars = msgspec.structs.replace(found.policy, web_sources=web_sources)
    assert verdict(msgspec.structs.replace(found, thesis=thesis, policy=bars)) == expected


def test_a_card_whose_source_is_unknown_supports_nothing() -> None:
    found = objects([card("c1", "file")])
    args = {name: getattr(found, name) for name in ("thesis", "policy", "findings", "coverage", "cards")}
    assert reduce(**args, sources={}).reason == "NO_EVIDENCE"


@pytest.mark.parametrize(
    ("cards", "codes", "expected"),
    [
        ([card("c1", "file")], ["number_not_in_source"], ("UNSUPPORTED", "NO_EVIDENCE")),
        ([], ["no_citation"], ("UNSUPPORTED", "NO_EVIDENCE")),
        ([card("c1", "file")], ["coverage_missing"], ("INCONCLUSIVE", "COVERAGE")),
        ([card("c1", "file")], ["not_independent"], ("INCONCLUSIVE", "COVERAGE")),
        ([card("c1", "file")], ["not_independent", "no_citation"], ("UNSUPPORTED", "NO_EVIDENCE")),
        ([card("c1", "file", "CONTRADICTS")], ["coverage_missing"], ("UNSUPPORTED", "REFUTED")),
        ([card("c1", "file", "CONTRADICTS")], ["no_citation"], ("UNSUPPORTED", "REFUTED")),
        (
            [card("c1", "file"), card("c1", "web", "CONTRADICTS")],
            ["coverage_missing"],
            ("DISPUTED", ""),
        ),
    ],
)
def test_a_hard_finding_outranks_cards_and_scores(
    cards: list[Card], codes: list[str], expected: tuple[str, str]
) -> None:
    found = objects(cards, findings=tuple(hard("c1", code) for code in codes))
    assert of_claim(found) == verdict(found) == expected


def test_a_soft_finding_is_a_hint() -> None:
    assert verdict(objects([card("c1", "file")], findings=(soft("c1"), soft("")))) == ("SUPPORTED", "")


@pytest.mark.parametrize(
    ("why", "reason"),
    [("reading 1: no JSON", "JUDGE_UNRELIABLE"), ("beyond the budget of 100 claims", "BUDGET")],
)
def test_what_was_not_read_says_why(why: str, reason: str) -> None:
    unread = (Unread(claim="c1", why=why),)
    assert verdict(objects([], unread=unread)) == ("INCONCLUSIVE", reason)
    assert verdict(objects([card("c1", "file")], unread=unread)) == ("SUPPORTED", "")


@pytest.mark.parametrize("claim", ["", "c2", "c9"])
def test_a_hard_finding_beside_the_load_bearing_claims_keeps_the_whole_open(claim: str) -> None:
    claims = (SubClaim(key="c1", text="One."), SubClaim(key="c2", text="Two.", load_bearing=False))
    found = objects([card("c1", "file")], *claims, findings=(hard(claim),))
    assert of_claim(found) == ("SUPPORTED", "")
    assert verdict(found) == ("INCONCLUSIVE", "FINDINGS")


def test_an_answer_without_a_load_bearing_claim_proves_nothing() -> None:
    light = SubClaim(key="c1", text="The sources do not tell.", form="absence", load_bearing=False)
    assert verdict(objects([card("c1", "file")], light)) == ("INCONCLUSIVE", "NO_EVIDENCE")
    nothing = msgspec.structs.replace(objects([]), thesis=Thesis(text="?", sub_claims=()))
    assert verdict(nothing) == ("INCONCLUSIVE", "NO_EVIDENCE")


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        ([card("c1", "file"), card("c2", "file")], ("SUPPORTED", "")),
        ([card("c1", "file")], ("INCONCLUSIVE", "PARTIAL")),
        ([card("c1", "file"), card("c2", "web")], ("INCONCLUSIVE", "PARTIAL")),
        ([card("c1", "web")], ("INCONCLUSIVE", "NO_EVIDENCE")),
        ([card("c1", "web"), card("c2", "web")], ("INCONCLUSIVE", "COVERAGE")),
        ([card("c1", "file"), card("c2", "file", "CONTRADICTS")], ("UNSUPPORTED", "REFUTED")),
        (
            [
                card("c1", "file"),
                card("c1", "file 2", "CONTRADICTS"),
                card("c2", "file", "CONTRADICTS"),
            ],
            ("UNSUPPORTED", "REFUTED"),
        ),
        ([card("c1", "file"), card("c1", "file 2", "CONTRADICTS")], ("DISPUTED", "")),
    ],
)
def test_the_worst_claim_decides_the_whole(cards: list[Card], expected: tuple[str, str]) -> None:
    assert verdict(objects(cards, *TWO)) == expected


def test_a_claim_with_a_hard_finding_beside_a_supported_one_is_partial() -> None:
    found = objects([card("c1", "file"), card("c2", "file")], *TWO, findings=(hard("c2"),))
    assert verdict(found) == ("UNSUPPORTED", "PARTIAL")


@pytest.mark.parametrize(
    ("points", "before", "expected"),
    [
        ((300, 300, 300), 300, ("SUPPORTED", "")),
        ((400, 299, 200), 299, ("INCONCLUSIVE", "SCORE")),
        ((400, 400, 101), 300, ("SUPPORTED", "")),
        ((400, 400, 0), 400, ("INCONCLUSIVE", "JUDGE_UNRELIABLE")),
        ((400, 400, 400, 0, 0, 0), 400, ("SUPPORTED", "")),
        ((400, 400, 400, 0, 0, 0, 0, 0, 0), 400, ("INCONCLUSIVE", "JUDGE_UNRELIABLE")),
        ((400, 400, 400, 301, 200, 300), 333, ("SUPPORTED", "")),
        ((0, 0, 0), 0, ("INCONCLUSIVE", "JUDGE_UNRELIABLE")),
        ((), 0, ("INCONCLUSIVE", "JUDGE_UNRELIABLE")),
    ],
)
def test_the_score_can_lower_a_result(points: Sequence[int], before: int, expected: tuple[str, str]) -> None:
    found = objects([card("c1", "file")], points=points)
    scores = found.reduced().scores
    assert (scores.before, scores.after) == (before, before)
    assert (scores.readings, scores.unparsed) == (len(points), list(points).count(0))
    assert verdict(found) == expected


def test_the_rule_literal_needs_no_score() -> None:
    assert verdict(objects([card("c1", "file")], rule="literal", points=())) == ("SUPPORTED", "")


def test_no_score_makes_up_for_a_missing_card() -> None:
    assert verdict(objects([], points=(400, 400, 400))) == ("INCONCLUSIVE", "NO_EVIDENCE")


@pytest.mark.parametrize("rule", ["model", "literal"])
@pytest.mark.parametrize("answer", ["unknown", "no"])
def test_a_check_that_was_not_answered_yes_caps_the_score(rule: str, answer: str) -> None:
    found = objects([card("c1", "file")], rule=rule, checks=(check("c1", answer),))
    scores = found.reduced().scores
    assert (scores.before, scores.after) == (400, CAP)
    assert len(scores.caps) == 1 and "c1" in scores.caps[0] and "Is it?" in scores.caps[0]
    assert verdict(found) == ("INCONCLUSIVE", "SCORE")


def test_a_check_that_says_yes_or_is_about_a_side_remark_caps_nothing() -> None:
    claims = (SubClaim(key="c1", text="One."), SubClaim(key="c2", text="Two.", load_bearing=False))
    checks = (check("c1", "yes"), check("c2", "unknown"))
    found = objects([card("c1", "file")], *claims, checks=checks)
    assert found.reduced().scores.caps == ()


@pytest.mark.parametrize("rule", ["model", "literal"])
@pytest.mark.parametrize("form", ["statement", "absence"])
def test_a_claim_that_bears_no_load_leaves_the_answer_partial(rule: str, form: str) -> None:
    light = SubClaim(key="c2", text="So it is.", form=form, load_bearing=False)
    found = objects([card("c1", "file")], SubClaim(key="c1", text="One."), light, rule=rule)
    assert verdict(found) == ("INCONCLUSIVE", "PARTIAL")
    alone = objects([card("c1", "file")], SubClaim(key="c1", text="One."), rule=rule)
    assert verdict(alone) == ("SUPPORTED", "")


def test_an_open_check_of_no_known_claim_counts_as_one_of_the_answer() -> None:
    assert verdict(objects([card("c1", "file")], checks=(check("c9", "unknown"),)))[1] == "SCORE"


@pytest.mark.parametrize(
    ("code", "said"),
    [("coverage_missing", "too little was searched"), ("not_independent", "not independent")],
)
def test_what_was_not_covered_caps_the_score_and_says_so(code: str, said: str) -> None:
    scores = objects([card("c1", "file")], findings=(hard("c1", code),)).reduced().scores
    assert scores.after == CAP
    assert said in scores.caps[0]


def test_a_web_claim_with_one_source_caps_the_score_and_says_so() -> None:
    assert objects([card("c1", "web")]).reduced().scores.caps == (
        "c1 is a claim about the web: independent sources 1, needed 2.",
    )
    assert not objects([card("c1", "file")]).reduced().scores.caps


def test_many_caps_are_told_as_a_number() -> None:
    claims = [SubClaim(key=f"c{number}", text="x") for number in range(500)]
    caps = objects([card(claim.key, "web") for claim in claims], *claims).reduced().scores.caps
    assert len(caps) == MAX_CAPS + 1
    assert "480 more" in caps[-1]


# Properties

KEYS = ("c1", "c2", "c3")
RELATIONS: tuple[Relation, ...] = get_args(Relation)
CODES = ("number_not_in_source", *sorted(COVERAGE_CODES))

favourable = st.sampled_from(["SUPPORTS", "SUPPORTS", "SUPPORTS", *RELATIONS])
some_cards = st.builds(
    card,
    st.sampled_from(KEYS),
    st.sampled_from(list(NAMES)),
    favourable,
    st.integers(0, 3),
    st.integers(1, 3),
)
some_findings = st.builds(hard, st.sampled_from([*KEYS, "", "c9"]), st.sampled_from(CODES)) | st.builds(
    soft, st.sampled_from([*KEYS, ""])
)
some_checks = st.builds(check, st.sampled_from(KEYS), st.sampled_from(["yes", "yes", "no", "unknown"]))
some_claims = st.lists(
    st.builds(SubClaim, key=st.sampled_from(KEYS), text=st.just("x"), load_bearing=st.booleans()),
    max_size=3,
    unique_by=lambda claim: claim.key,
)
some_points = st.lists(st.sampled_from([0, 100, 200, 299, 300, 301, 400, 400, 400]), max_size=6)


@st.composite
def some_objects(draw: st.DrawFn) -> Objects:
    """Any objects; half of them with enough for a claim to be supported, so that verdicts differ."""
    kept = draw(st.lists(some_cards, max_size=10))
    claims = draw(some_claims)
    if draw(st.booleans()):
        kept += [card(claim.key, draw(st.sampled_from(["file", "command"]))) for claim in claims]
    return objects(
        kept,
        *claims,
        rule=draw(st.sampled_from(["model", "literal"])),
        clusters=draw(st.lists(st.permutations(list(NAMES)).map(lambda p: p[:2]), max_size=2)),
        points=draw(st.just([400, 400, 400]) | some_points),
        findings=tuple(draw(st.lists(some_findings, max_size=2) | st.just([]))),
        checks=tuple(draw(st.lists(some_checks, max_size=2) | st.just([]))),
    )


def supported(found: Objects) -> bool:
    return found.reduced().result == "SUPPORTED"


@given(some_objects())
def test_supported_means_every_condition_of_the_design(found: Objects) -> None:
    reduced = found.reduced()
    assert reduced.result in get_args(Result)
    assert (reduced.reason == "") == (reduced.result in {"SUPPORTED", "DISPUTED"})
    bearing = {claim.key for claim in found.thesis.sub_claims if claim.load_bearing}
    results = {claim.claim: claim.result for claim in reduced.claims}
    no_hard = all(finding.severity != "hard" for finding in found.findings.findings)
    good_score = not reduced.scores.caps
    if found.policy.rule == "model":
        good_score = reduced.scores.after >= found.policy.min_score
    if reduced.result == "SUPPORTED":
        assert bearing and no_hard and good_score
        assert all(results[key] == "SUPPORTED" for key in bearing)


@given(some_objects(), some_findings)
def test_one_more_finding_never_supports(found: Objects, finding: Finding) -> None:
    worse = found.with_findings(findings=(*found.findings.findings, finding))
    assert supported(found) or not supported(worse)
    if finding.severity == "hard":
        assert not supported(worse)


@given(some_objects(), some_cards.map(lambda c: msgspec.structs.replace(c, relation="CONTRADICTS")))
def test_one_more_contradicting_card_never_supports(found: Objects, more: Card) -> None:
    worse = msgspec.structs.replace(found, cards={**found.cards, object_id(more): more})
    assert supported(found) or not supported(worse)


@given(some_objects(), st.data())
def test_a_card_less_never_supports_unless_it_contradicted(found: Objects, data: st.DataObject) -> None:
    helping = [card_id for card_id, each in found.cards.items() if each.relation != "CONTRADICTS"]
    gone = set(data.draw(st.lists(st.sampled_from(helping)))) if helping else set()
    kept = {card_id: each for card_id, each in found.cards.items() if card_id not in gone}
    assert supported(found) or not supported(msgspec.structs.replace(found, cards=kept))


@given(some_objects(), st.data())
def test_a_lower_score_never_supports(found: Objects, data: st.DataObject) -> None:
    lower = tuple(
        msgspec.structs.replace(
            reading, points=data.draw(st.integers(min(100, reading.points), reading.points))
        )
        for reading in found.findings.readings
    )
    worse = found.with_findings(readings=lower)
    assert worse.reduced().scores.after <= found.reduced().scores.after
    assert supported(found) or not supported(worse)


@given(some_objects(), some_checks.filter(lambda each: each.answer != "yes"))
def test_one_more_open_check_never_supports(found: Objects, more: CheckResult) -> None:
    worse = found.with_findings(checks=(*found.findings.checks, more))
    assert supported(found) or not supported(worse)


@given(some_objects())
def test_no_score_supports_what_the_cards_do_not(found: Objects) -> None:
    literal = msgspec.structs.replace(
        found, policy=msgspec.structs.replace(found.policy, rule="literal", min_score=0)
    ).with_findings(readings=())
    model = msgspec.structs.replace(found, policy=msgspec.structs.replace(found.policy, rule="model"))
    assert supported(literal) or not supported(model)


@given(some_objects(), st.randoms())
def test_the_order_of_cards_findings_and_checks_changes_nothing(found: Objects, random: Random) -> None:
    def shuffled(values: Iterable[T]) -> list[T]:
        mixed = list(values)
        random.shuffle(mixed)
        return mixed

    other = msgspec.structs.replace(found, cards=dict(shuffled(found.cards.items())))
    other = other.with_findings(findings=tuple(shuffled(found.findings.findings)))
    first, second = found.reduced(), other.reduced()
    assert (first.result, first.reason, first.claims) == (second.result, second.reason, second.claims)
    assert first.scores.after == second.scores.after
