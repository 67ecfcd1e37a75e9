"""The rule `containment`: what lines of a source say of a thesis, without a model.

A sentence supports a thesis when it holds one of the thesis' forms (`containment_forms`): every word, number,
name, negation and modal of it, in its order, and when nothing that the sentence says besides changes
that. What may stand between or beside the words is a short list: another member of an enumeration, a
parenthesis or a clause that adds, a second main clause. A condition, an exception or a limit that the
thesis leaves out makes the sentence QUALIFY it, as does every other rest. The thesis may name the
document instead of its words ("GPL version 3 requires that …"); then the source must be the document of
that name and version.

A sentence contradicts a thesis only when it would support it but for one number, or but for one modal or
negation that says the opposite. A negation or an alternative in brackets or in doubt ("must (not)") proves
neither reading, and a sentence that is taken back ("(repealed)", a box that is not ticked) proves nothing.

The rule is made for precision: what it calls supported, the sentence says. A paraphrase, and what needs two
sentences, are left to a model.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from vera.audit.around import BEHIND, taken_back
from vera.audit.case import Case, CitedLines
from vera.audit.containment_forms import Form, forms, names
from vera.audit.containment_match import Budget, Outcome, Reading, known
from vera.audit.containment_sentences import Sentence, sentences, turned, with_names
from vera.audit.containment_terms import PREPOSITIONS, Token, tokens
from vera.audit.labels import labelled, of_extract
from vera.audit.source_text import SourceText
from vera.events import Evidence, VerifierLabels
from vera.evidence.claim import Claim, Relation
from vera.text.lexicon import word_set
from vera.text.negation import doubtful_turns
from vera.text.quantity_dates import MONTHS
from vera.text.units import unit_symbols, unit_words
from vera.text.words import differs_in_marks, stem

VERSION = "containment/10"
"""The maker of the labels; changes whenever the same lines may get another label."""

SPAN_LIMIT = 40_000
"""Bytes: more than that is no place where a statement stands."""

THESIS_LIMIT = 1_000
"""Characters of the longest thesis that is compared."""

ABOUT_LINES = 3
ABOUT_LENGTH = 120
"""The first lines of a file, and their characters, that may name it."""

_OPPOSITE: Mapping[str, tuple[str, ...]] = {
    "must": ("need not", "must not", "shall not"),
    "shall": ("need not", "must not", "shall not"),
    "need not": ("must",),
    "may": ("must not",),
    "can": ("must not",),
    "must not": ("may", "must"),
    "shall not": ("may", "must"),
    "cannot": ("may",),
    "will": ("will not",),
    "will not": ("will",),
}
_SMALLER = word_set("less fewer shorter smaller lower earlier younger")
_COMPARED = _SMALLER | word_set("more greater longer larger higher later older")
_SECTIONS = word_set("section article paragraph version chapter clause part exhibit appendix page line step")


def label(claim: Claim, place: CitedLines, about: str = "") -> Relation:
    """What the cited lines say of the claim.

    `about` holds what may name the document in the claim: its path, and on further lines its title or its
    first lines; '' when nothing may.
    """
    if claim.form == "extract":
        return of_extract(claim, place)
    start, end = place.source.lines.bounds(place.first, place.last)
    if claim.form != "statement" or end - start > SPAN_LIMIT or len(claim.text) > THESIS_LIMIT:
        return "IRRELEVANT"
    thesis = _forms(claim.text, about)
    if not thesis:
        return "IRRELEVANT"
    names_of = names(about) if about else ()
    budget = Budget()
    found: set[Relation] = set()
    turns = doubtful_turns(claim.text)
    for sentence, behind in _with_next(place):
        if doubtful_turns(sentence.box + sentence.text) != turns:
            continue
        if differs_in_marks(claim.text, sentence.text):
            continue
        seen = with_names(sentence, tuple(name.keys for name in names_of))
        relation = _relation(thesis, seen, (place.first, place.last), budget)
        if relation != "IRRELEVANT" and not taken_back(claim.text, sentence.text, behind, place):
            found.add(relation)
    if {"SUPPORTS", "CONTRADICTS"} <= found:
        return "QUALIFIES"
    return next((one for one in ("SUPPORTS", "CONTRADICTS", "QUALIFIES") if one in found), "IRRELEVANT")


def _with_next(place: CitedLines) -> Iterator[tuple[Sentence, str]]:
    """The sentences of a place, each with the text of the one behind it, '' for the last of the source."""
    lines = place.source.lines
    said = list(sentences(lines, place.first, place.last))
    end = min(len(lines), place.last + BEHIND)
    rest = sentences(lines, place.last + 1, end) if place.last < end else iter(())
    last = next((each.text for each in rest if each not in said), "")
    yield from zip(said, [*(each.text for each in said[1:]), last], strict=False)


def labels(case: Case, number: int) -> tuple[VerifierLabels, ...]:
    """The labels of every claim that cites something, in the order of the claims."""
    return labelled(
        case,
        number,
        lambda claim, place: label(claim, place, about(place.evidence, place.source)),
        VERSION,
    )


def about(evidence: Evidence, source: SourceText) -> str:
    """What may name a document in a claim: of a file its path, its title and its first lines; of a page
    and of what a command printed nothing, since those are written by whoever wants to be believed."""
    if evidence.tier != "captured" or "://" in evidence.source or evidence.receipt is not None:
        return ""
    head: list[str] = []
    for number in range(1, min(len(source.lines), 12) + 1):
        line = source.lines.cut(number, number)[: 4 * ABOUT_LENGTH].decode("utf-8", "replace").strip()
        if line and len(head) < ABOUT_LINES:
            head.append(line[:ABOUT_LENGTH])
    return "\n".join((evidence.source, *([evidence.title] if evidence.title else []), *head))


def spans(source: SourceText, text: str, k: int, about: str = "") -> tuple[tuple[int, int], ...]:
    """Lines of a document that could carry a statement: at most `k` pairs (first, last), best first.

    A pair holds a whole sentence, and the head of its list when the sentence needs it to say something. With
    `about`, as for `label`, the words of the statement that only name the document are not looked for.
    """
    text = text[:THESIS_LIMIT]
    said = min(
        (form.tokens for form in _forms(text, about)[:4] if any(_tells(token) for token in form.tokens)),
        key=len,
        default=tuple(tokens(text)),
    )
    wanted = {stem(key) for token in said if token.tag in ("word", "number") for key in token.key.split("|")}
    query = " ".join(key.lstrip("#") for token in said for key in token.key.split("|"))
    scores: dict[tuple[int, int], float] = {}
    for rank, passage in enumerate(source.passages.best(query, 3 * k)):
        for sentence in sentences(source.lines, passage.first, passage.last):
            held = wanted & {stem(token.key) for token in sentence.tokens}
            score = len(held) - rank / 1000 - len(sentence.tokens) / 10_000
            pair = min(sentence.lines), max(sentence.lines)
            scores[pair] = max(score, scores.get(pair, 0.0))
    chosen = sorted((-score, pair) for pair, score in scores.items() if score > 0)
    return tuple(pair for _, pair in chosen[:k])


def _tells(token: Token) -> bool:
    """Whether the token is a word of what is stated, rather than the document that it is stated of."""
    return token.tag in ("word", "number") and not token.own


@lru_cache(maxsize=64)
def _forms(text: str, names_of: str) -> tuple[Form, ...]:
    return forms(text, names_of)


# A thesis in a sentence


def _relation(thesis: Sequence[Form], sentence: Sentence, cited: tuple[int, int], budget: Budget) -> Relation:
    if sentence.text.rstrip("\"'”’) ").endswith("?"):
        return "IRRELEVANT"
    qualified = False
    readings = [sentence, *turned(sentence)]
    for reading in readings:
        for outcome in _outcomes(thesis, reading, cited, budget):
            if outcome == "SUPPORTS":
                return "SUPPORTS"
            qualified = True
    for reading in readings:
        others = _opposites(thesis, reading, universal=reading is not sentence)
        if "SUPPORTS" in _outcomes(others, reading, cited, budget, exact=True):
            return "CONTRADICTS"
    return "QUALIFIES" if qualified else "IRRELEVANT"


def _outcomes(
    thesis: Iterator[Form] | Sequence[Form],
    sentence: Sentence,
    cited: tuple[int, int],
    budget: Budget,
    *,
    exact: bool = False,
) -> Iterator[Outcome]:
    keys = {token.key for token in sentence.tokens}
    own = any(token.own for token in sentence.tokens)
    for form in thesis:
        if not budget.take(len(form.tokens)):
            return
        if all(own if token.own and token.key == "self" else known(token, keys) for token in form.tokens):
            outcome = Reading(form, sentence, cited, exact=exact).outcome(budget)
            if outcome:
                yield outcome


# Opposites


def _opposites(thesis: Sequence[Form], sentence: Sentence, *, universal: bool) -> Iterator[Form]:
    """The forms with the one number, modal or negation that the sentence has instead.

    `universal`: the sentence said that no such thing was so. That "a dividend was not paid" may be another
    dividend than the one that was.
    """
    numbers = list(dict.fromkeys(token.key for token in sentence.tokens if token.tag == "number"))
    for form in thesis:
        for index, token in enumerate(form.tokens):
            before = form.tokens[index - 1].key if index else ""
            others: list[Token] = []
            if token.tag == "number" and not (_is_name(form, index) or _is_one_of_many(form, index)):
                others = [
                    token._replace(key=key)
                    for key in numbers[:8]
                    if not _digits(key) & _digits(token.key) and not _is_within(token, key, form, index)
                ]
            elif token.tag == "mode" and token.key in _OPPOSITE:
                others = [token._replace(key=key) for key in _OPPOSITE[token.key]]
            for other in others:
                yield form._replace(tokens=(*form.tokens[:index], other, *form.tokens[index + 1 :]))
            if token.key == "not" and (before == "be" or (before == "was" and _is_certain(form))):
                yield form._replace(tokens=(*form.tokens[:index], *form.tokens[index + 1 :]))
            elif token.key == "no" and not index and not form.agentless:
                yield form._replace(tokens=form.tokens[1:])
            elif token.tag == "be" and _is_plain(form, index):
                if token.key == "was" and not (universal or _is_certain(form)):
                    continue
                denied = (*form.tokens[: index + 1], Token("not", "not"), *form.tokens[index + 1 :])
                yield form._replace(tokens=denied)


def _digits(key: str) -> frozenset[str]:
    """The digits of a number without marks, zeros before it and zeros of a fraction, in each way to read it:
    1250, 1.250, 1,250 and 1250,00 may be one number, by the language that they are written in, and so may
    2.5 and 2.50, or 9:00 and 09:00. None of them denies another."""
    plain = (key, re.sub(r"[.,]0{1,9}\Z", "", key), re.sub(r"(?<=[.,])([0-9]*?)0{1,9}\Z", r"\1", key))
    return frozenset(re.sub(r"[^0-9]", "", each).lstrip("0") for each in plain)


def _is_within(token: Token, other: str, form: Form, index: int) -> bool:
    """Whether a bound of the thesis holds where another bound of its kind does: who has three years has at
    least two."""
    side = _side([each.key for each in form.tokens[max(0, index - 3) : index]])
    try:
        ours, theirs = (Decimal(key.lstrip("#").replace(",", "")) for key in (token.key, other))
    except InvalidOperation:
        return False
    return theirs > ours if side == "above" else side == "below" and theirs < ours


def _side(before: Sequence[str]) -> str:
    """The side on which the values are meant of a number behind these words: above, below, or ''."""
    last, other, denied = ("", "", "", *before)[-1], ("", "", "", *before)[-2], ("", "", "", *before)[-3]
    if last in ("least", "over", "above", "exceeding", "minimum"):
        return "above"
    if last in ("most", "under", "below", "maximum") or (other, last) == ("up", "to"):
        return "below"
    if last == "than" and other in _COMPARED:
        turned = denied in ("no", "not")
        return "below" if (other in _SMALLER) != turned else "above"
    return ""


def _is_name(form: Form, index: int) -> bool:
    """Whether a number belongs to the name of a thing: what is said of Pier 2 denies nothing of Pier 3."""
    before = form.tokens[index - 1] if index else Token("", "")
    following = next((each.key for each in form.tokens[index + 1 : index + 2]), "")
    if before.key in _SECTIONS:
        return True
    is_money = before.key.upper() in unit_symbols()
    is_measured = is_money or following == "%" or following in unit_words() or following in MONTHS
    return (
        before.capital
        and before.tag == "word"
        and not (is_measured or before.key in PREPOSITIONS or before.key in MONTHS)
    )


def _is_one_of_many(form: Form, index: int) -> bool:
    """Whether a number is of a time of day for some thing, which others may do at another: a ferry leaves at
    10:15."""
    beside = form.tokens[max(0, index - 1) : index + 2]
    return any(each.key == ":" for each in beside) and form.tokens[0].before in ("a", "an")


def _is_certain(form: Form) -> bool:
    """Whether the thesis speaks of one certain thing: a name, or with "the" or "this" before it."""
    first = form.tokens[0]
    return first.own or first.before in ("the", "this", "these")


def _is_plain(form: Form, index: int) -> bool:
    """Whether the form of "be" there is not denied and the thesis has no modal."""
    following = form.tokens[index + 1 : index + 2]
    modal = form.floating or any(one.tag == "mode" for one in form.tokens)
    return not modal and not any(one.key == "not" for one in following)
