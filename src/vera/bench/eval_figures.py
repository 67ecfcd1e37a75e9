"""The figures of an evaluation, with their 95 % intervals.

Shares have Wilson's interval (1927); means, and ratios of sums over questions, the percentile bootstrap over
questions (Efron, 1979). Citation precision and recall are those of ALCE (Gao et al., EMNLP 2023), with VERA's
verdicts in the place of its judge: the share of citations that support, the share of statements supported.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from statistics import fmean
from typing import Any

from vera.bench.eval_match import RULE
from vera.bench.eval_sessions import Given, Outcome
from vera.bench.figures import bootstrap, ratio_bootstrap, share, wilson
from vera.headline import HEADLINES, HOLDS, STATUSES, Headline


def figures_of(
    outcomes: Sequence[Outcome], seed: int, accepted: Collection[Headline] = HOLDS
) -> dict[str, Any]:
    """All figures, for programs. The same outcomes and seed give the same figures.

    With the verifier an answer counts when its status is one of the `accepted` words.
    """
    counts = Counter(each.status for each in outcomes)
    return {
        "rule": RULE,
        "accepted": [word for word in HEADLINES if word in accepted],
        "statuses": {word: counts[word] for word in STATUSES if counts[word]},
        "questions": len(outcomes),
        "answerable": sum(each.answerable for each in outcomes),
        "unanswerable": sum(not each.answerable for each in outcomes),
        "verifier_off": _answers([(each, each.first, each.first.given) for each in outcomes]),
        "verifier_on": _answers([(each, each.last, each.status in accepted) for each in outcomes]),
        "verifier": _verifier(outcomes, accepted),
        "citations": _citations(outcomes, seed),
        "tokens": _mean([each.tokens for each in outcomes], seed),
        "seconds": _mean([each.seconds for each in outcomes], seed),
        "groups": _groups(outcomes, accepted),
    }


def per_question(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """What came of each question, for programs."""
    return [
        {
            "id": each.question.id,
            "question": each.question.claim or each.question.question,
            "status": each.status,
            "answerable": each.answerable,
            "first_right": each.first.right,
            "right": each.last.right,
            "sole": each.last.sole,
            "tokens": each.tokens,
            "seconds": each.seconds,
            "session": each.session,
        }
        for each in outcomes
    ]


def _answers(read: Sequence[tuple[Outcome, Given, bool]]) -> dict[str, Any]:
    """What one has when the answers that `counts` says count, and the rest is taken for "I do not know"."""
    counted = [(each, given) for each, given, counts in read if counts]
    right = sum(given.right for _, given in counted)
    answerable = sum(each.answerable for each, _, _ in read)
    to_answer = [each for each, _ in counted if each.answerable]
    none = sum(not each.answerable for each, _, _ in read)
    wrongly = len(counted) - len(to_answer)
    sole = [given.sole for _, given in counted if given.right and given.sole is not None]
    return {
        "answered": _share(len(counted), len(read)),
        "answerable_answered": _share(len(to_answer), answerable),
        "right_of_answerable": _share(right, answerable),
        "right_of_answered": _share(right, len(counted)),
        "unanswerable_answered": _share(wrongly, none),
        "decided_rightly": _share(right + none - wrongly, len(read)),
        "sole_of_right": _share(sum(sole), len(sole)),
    }


def _verifier(outcomes: Sequence[Outcome], accepted: Collection[Headline]) -> dict[str, Any]:
    """The verdicts on the answers that runs end with, held against the key."""
    given = [each for each in outcomes if each.last.given]
    wrong = [each for each in given if not each.last.right]
    right = [each for each in given if each.last.right]
    return {
        "false_accept": _share(sum(each.status in accepted for each in wrong), len(wrong)),
        "false_reject": _share(sum(each.status not in accepted for each in right), len(right)),
    }


def _citations(outcomes: Sequence[Outcome], seed: int) -> dict[str, Any]:
    cited = [each.cited for each in outcomes]
    keyed = [each for each in cited if each.places]
    return {
        "precision_by_audit": _ratio([(each.supporting, each.citations) for each in cited], seed),
        "recall_by_audit": _ratio([(each.supported, each.claims) for each in cited], seed),
        "precision_by_key": _ratio([(each.placed, each.citations) for each in keyed], seed),
        "recall_by_key": _ratio([(each.found, each.places) for each in keyed], seed),
    }


def _groups(outcomes: Sequence[Outcome], accepted: Collection[Headline]) -> dict[str, Any]:
    """Of each group of questions: how many, how many accepted, and how many of these right."""
    names = sorted({each.question.group for each in outcomes if each.question.group})
    return {
        name: {
            "questions": len(members),
            "answerable": sum(each.answerable for each in members),
            "accepted": _share(sum(each.status in accepted for each in members), len(members)),
            "accepted_right": sum(each.status in accepted and each.last.right for each in members),
        }
        for name in names
        if (members := [each for each in outcomes if each.question.group == name])
    }


def _share(count: int, of: int) -> dict[str, Any]:
    return {"value": share(count, of), "interval": wilson(count, of), "count": count, "of": of}


def _ratio(parts: Sequence[tuple[int, int]], seed: int) -> dict[str, Any]:
    """A share of things of which a question may have several: they are drawn by question."""
    count, of = sum(each for each, _ in parts), sum(each for _, each in parts)
    interval = wilson(count, of) if count in (0, of) else ratio_bootstrap(parts, seed)
    return {"value": share(count, of), "interval": interval, "count": count, "of": of}


def _mean(values: Sequence[float], seed: int) -> dict[str, Any]:
    return {
        "mean": round(fmean(values), 3) if values else None,
        "interval": bootstrap(values, seed),
        "sum": round(sum(values), 3),
    }
