"""Judges that cannot judge: false theses over real lines, and no way to call them true.

The worker states a thesis and cites the real line that it altered, or that says nothing of it. A judge that
does not read must not make it true, neither by its labels nor by failing its exam.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from support import theses_known as known
from support.judged import Verdicts, with_key
from vera.agent.conclusion import Result
from vera.attestation import exam, probed
from vera.attestation.keys import Signer, load_or_create


def all_yes(claim: str, spans: Sequence[str]) -> list[str]:
    return ["SUPPORTS"] * len(spans)


def always_against(claim: str, spans: Sequence[str]) -> list[str]:
    return ["CONTRADICTS"] * len(spans)


def echo(claim: str, spans: Sequence[str]) -> list[str]:
    """Repeats the example that the prompt had before: the first supports, the second does not."""
    return ["SUPPORTS", "IRRELEVANT"][: len(spans)]


def first_place(claim: str, spans: Sequence[str]) -> list[str]:
    return ["SUPPORTS", *["IRRELEVANT"] * (len(spans) - 1)]


def lazy(claim: str, spans: Sequence[str]) -> list[str]:
    """Compares words: most of the claim's words in the span is SUPPORTS."""
    words = set(claim.lower().rstrip(".").split())
    return [
        "SUPPORTS" if len(words & set(span.lower().rstrip(".").split())) >= 0.5 * len(words) else "IRRELEVANT"
        for span in spans
    ]


UNFIT = {
    "all yes": all_yes,
    "always against": always_against,
    "echo": echo,
    "first place": first_place,
    "lazy": lazy,
}

STATED = {
    (text.removesuffix("."), known.FACTS[number].source): relation
    for theses, relation in ((known.TRUE, "SUPPORTS"), (known.FALSE, "IRRELEVANT"))
    for number, text in theses
}
"""What a reader says of each thesis over the line that is cited for it."""

Results = Callable[[str, object], list[Result]]


def competent(claim: str, spans: Sequence[str]) -> list[str]:
    """Has the key of the exam and of the theses; of a probe it sees whether the sentence stands there."""
    labels = with_key({})(claim, spans)
    for index, span in enumerate(spans):
        if (found := STATED.get((claim.removesuffix("."), span))) is not None:
            labels[index] = found
        elif claim in span:
            labels[index] = "SUPPORTS"
    return labels


@pytest.fixture(scope="module")
def signer() -> Signer:
    return load_or_create()


@pytest.fixture
def verdicts(tmp_path: Path, signer: Signer) -> Verdicts:
    return Verdicts(tmp_path, signer)


def line_of(number: int) -> int:
    return known.FIRST_LINE + number


def supported(result: Result) -> bool:
    return result.exit_code == 0 or result.status in ("VERIFIED", "QUOTED")


@pytest.mark.parametrize("name", UNFIT)
def test_a_judge_that_does_not_read_makes_no_false_thesis_true(name: str, verdicts: Verdicts) -> None:
    assert len(known.FALSE) >= 60
    for number, thesis in known.FALSE:
        result = verdicts.of(thesis, line_of(number), UNFIT[name], name)
        assert not supported(result), thesis


def test_a_judge_that_is_always_against_refutes_nothing_that_stands_there(verdicts: Verdicts) -> None:
    for number, thesis in known.TRUE:
        assert verdicts.of(thesis, line_of(number), always_against, "no").exit_code != 4, thesis


def test_a_competent_judge_loses_at_most_two_of_sixty_true_ones(verdicts: Verdicts) -> None:
    lost = [
        thesis
        for number, thesis in known.TRUE
        if verdicts.of(thesis, line_of(number), competent).status != "VERIFIED"
    ]
    assert len(known.TRUE) >= 60 and len(lost) <= 2, lost


def test_a_competent_judge_makes_no_false_thesis_true(verdicts: Verdicts) -> None:
    wrong = [
        thesis for number, thesis in known.FALSE if supported(verdicts.of(thesis, line_of(number), competent))
    ]
    assert not wrong


@pytest.mark.parametrize("name", ["all yes", "lazy"])
def test_what_is_held_back_without_the_exam(
    name: str,
    verdicts: Verdicts,
    monkeypatch: pytest.MonkeyPatch,
    measured: Callable[[str, object], None],
) -> None:
    """Nothing switches the exam off but a test; then the probes, and last the checks without a model, are
    what stands between such a judge and a false thesis."""
    monkeypatch.setattr(exam.Grade, "passed", property(lambda grade: True))
    monkeypatch.setattr(exam.Grade, "hopeless", property(lambda grade: False))
    held = sum(
        not supported(verdicts.of(thesis, line_of(number), UNFIT[name], "a"))
        for number, thesis in known.FALSE
    )
    measured(f"false theses held back without the exam, judge {name!r}", f"{held} of {len(known.FALSE)}")
    monkeypatch.setattr(probed, "_distrust", lambda labelled, wrong: "")
    alone = sum(
        not supported(verdicts.of(thesis, line_of(number), UNFIT[name], "b"))
        for number, thesis in known.FALSE
    )
    measured(
        f"false theses held back by the checks without a model alone, judge {name!r}",
        f"{alone} of {len(known.FALSE)}",
    )
    assert alone <= held
