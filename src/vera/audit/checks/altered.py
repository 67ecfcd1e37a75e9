"""Values of a claim that a nearly equal sentence of the cited lines has otherwise.

The number is there, so that `numbers` finds it, but it is another value: "at most" became "at least", BC
became AD, a minus was dropped, the two sides of a rate changed places. Only a sentence that holds
nearly all other words of the claim counts, and where one such sentence agrees with the claim nothing is said.
So a paraphrase is not judged by this, which a rule cannot do.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from itertools import chain, pairwise
from typing import NamedTuple

from vera.audit.case import Case, CitedLines, language_of, statements
from vera.audit.literal import sentences_of
from vera.evidence.finding import Finding
from vera.text.late_regex import late_regex
from vera.text.lexicon import word_set
from vera.text.quantity import Quantity, quantities
from vera.text.units import Unit
from vera.text.value_dress import DOWNWARDS, ERA_BEFORE_CHRIST, Dress, dress
from vera.text.words import STOPWORDS, negations, stem, words

SHARED_PERCENT = 80
"""The share of a claim's other content words that a sentence must hold before its values are compared."""

MIN_WORDS = 2
MAX_LENGTH = 600
"""Characters of a claim and of a sentence that are read."""

MAX_LINES = 60
"""Of a place of more lines nothing is compared."""

_DRESSING = word_set(
    """most least more less fewer maximum minimum max min bc bce ad ce chr christus christi cristo minus
    negative hochstens mindestens maximal minimal mehr weniger als bis plus moins au maximo minimo mas menos
    al massimo almeno meno piu pelo mais ate twice times zweimal dreimal fois veces volte vezes"""
)
"""Words that are compared with the values and are therefore no other words of a sentence."""

_HAN_DRESSING = late_regex(
    "最多|至多|至少|最少|起码|不?(?:超过|多于|少于|高于|低于|大于|小于)|不足|未满|以[上下内]|之内|零下|公元前?"
)
_DIGITS = late_regex(r"[0-9]{1,24}")
_WORD = late_regex(r"\S{1,30}")
_CLAUSE = late_regex(r"(?P<number>[0-9]{1,4})[a-fA-F]")
_WITH_TAIL = late_regex(r"(?P<number>[0-9]{1,12})(?=[½⅓⅔¼¾⅕-⅞⅐⅑⅒])|(?P<ten>10)(?=[⁻⁰¹²³⁴-⁹^]|\*\*)")
_ROW = late_regex(r"\s{0,2}(?:,|and|or|&|und|oder|et|ou|y|o|e|和|与|或|、|-|–|/|:|x|×){1,2}\s{0,2}")
_INTERVAL = late_regex(
    r"(?i)\b(?:every (?:second|other|third|fourth|fifth|two|three|four|five|[2-9])|biennial(?:ly)?"
    r"|triennial(?:ly)?"
    r"|jede[nmrs]? (?:zweite|dritte|vierte|fünfte)[nmrs]?|alle (?:zwei|drei|vier|fünf|[2-9])|zweijährlich"
    r"|tou(?:s|tes) les (?:deux|trois|quatre|cinq|[2-9])|une? \w{2,12} sur (?:deux|trois)"
    r"|cada (?:dos|tres|cuatro|cinco|dois|duas|três|quatro|[2-9])|ogni (?:due|tre|quattro|cinque|[2-9]))\b"
    r"|[每隔](?:两|二|三|四|五|[2-9])"
)
_PER_PERIOD = late_regex(
    r"(?i)\b(?:(?:twice|thrice|(?:two|three|four|five|[2-9]) times) (?:an?|per|every|each|in (?:an?"
    r"|every|each))\b"
    r"|(?:zwei|drei|vier|fünf)mal (?:pro|im|am|in der|in jede[mr]|jährlich|täglich|wöchentlich|monatlich)\b"
    r"|(?:in |an )?jede[nmrs]? \w{2,12} (?:zwei|drei|vier|fünf)mal\b|(?:zwei|drei|vier|fünf)mal jede[nmrs]?\b"
    r"|(?:deux|trois|quatre|cinq|[2-9]) fois (?:par|l['’]an|chaque)|(?:dos|tres|cuatro"
    r"|[2-9]) veces (?:al|por|cada)\b"
    r"|(?:due|tre|quattro|[2-9]) volte (?:al|all['’]|ogni|a)|(?:duas|três|quatro|[2-9]) vezes (?:ao|à"
    r"|por|cada)\b"
    r"|semi-?annual(?:ly)?|half-yearly|halbjährlich)"
    r"|每[年月周天日](?:两|二|三|四|五|[2-9])次"
)
_IN_BRACKETS = r"\([$€£¥]?\s?(?P<number>[0-9][0-9.,'’ \u00a0\u202f]{0,20})\)"
_CELL_IN_BRACKETS = late_regex(
    rf"(?:(?<=\t)|(?<=\s\s)|(?<=\|\s)|(?<=\|)){_IN_BRACKETS}(?=\s*(?:\n|\t|\||\s\s|\Z))"
)
_VALUE_IN_BRACKETS = late_regex(
    rf"(?:[:=：]|\b(?:is|are|was|were|of|at|to|ist|sind|war|waren|betrug|beträgt|betrugen|auf|von|est|sont|était"
    rf"|étaient|de|à|es|era|fue|son|è|erano|di|a|é|foi|eram)|[是为為])\s{{0,8}}(?:[A-Z]{{3}}\s|[$€£¥]\s?)?{_IN_BRACKETS}"
    r"(?=\s?(?:[.;,|\t\n]|\Z|[$€£¥%]|\s[^\W\d_]))"
)
"""A number alone in brackets in the place of a value, behind a colon, a form of "be" or a preposition."""

_NO_VALUE = late_regex(r"(?:[0-9]{1,2}|1[0-9]{3}|20[0-9]{2})")
"""In brackets the number of a note, or a year."""

_OF_EITHER_SIGN = late_regex(
    r"(?i)\b(?:results?|profits?|income|earnings|surplus\w{0,2}|gains?|returns?|margins?|cash ?flows?"
    r"|balances?|changes?|growth|equity|net assets|ebit(?:da)?|ebt"
    r"|\w{0,20}ergebnis\w{0,3}|\w{0,20}gewinn\w{0,3}|\w{0,20}überschuss|saldo|veränderung|eigenkapital|rendite"
    r"|résultats?|bénéfices?|excédents?|solde|variation|capitaux propres|rendement"
    r"|resultados?|beneficios?|ganancias?|superávit|variación|patrimonio neto"
    r"|risultat[oi]|util[ei]|variazione|avanzo|lucros?|saldos?|variação)\b|利润|利潤|收益|结果|余额|变动|现金流"
)
"""Items of accounts that may be above or below zero. Rent and wages in brackets are simply what was paid."""

_COSTS = late_regex(
    r"(?i)\b(?:costs?|expens\w{1,4}|tax\w{0,5}|fees?|charg\w{1,3}|spen[dt]\w{0,3}|pa(?:y|id)\w{0,6}"
    r"|outflows?|outlays?|used in|depreciat\w{2,3}|amorti[sz]at\w{2,3}|impairments?|write-?(?:offs?|downs?)"
    r"|\w{0,20}kosten|aufw[aä]nd\w{0,8}|ausgaben?|\w{0,20}steuern?|abfl[uü]ss\w{0,2}|abschreibung\w{0,2}"
    r"|charges?|dépenses?|impôts?|coûts?|décaissements?|amortissements?|gastos?|costes?|costos?|impuestos?|pagos?"
    r"|cost[oi]|spes[ae]|imposte|oneri|custos?|despesas?|impostos?)\b|成本|费用|費用|支出|税"
)
"""What is paid: it may be told without its minus."""

_BRACKETS = late_regex(
    r"(?i)\b(?:in (?:brackets|parenthes[ei]s)|bracketed|in klammern|entre parenthèses"
    r"|entre paréntesis|tra parentesi|entre parênteses)|括号"
)


class Value(NamedTuple):
    """A number of a text: what it is without what is around it, and that."""

    core: Decimal | str
    quantity: Quantity
    dress: Dress


class Line:
    """A claim or a sentence with its values and its other words."""

    def __init__(self, text: str, spoken: str) -> None:
        self.text = text
        self.found = [each for each in quantities(text, spoken) if each.kind != "relative"]
        self.values = [_value(text, each) for each in self.found]
        spans = [(each.start, each.end) for each in self.found]
        self.content = frozenset(
            stem(word.form)
            for word in words(_HAN_DRESSING.sub(lambda match: " " * len(match[0]), text))
            if word.form not in STOPWORDS | _DRESSING
            and not (len(word.form) == 1 and word.form.isascii())
            and not any(start < word.end and word.start < end for start, end in spans)
        )

    def skeleton(self) -> list[str]:
        """The words in order, each value a '#'."""
        marks = [(each.start, "#") for each in self.found]
        marks += [
            (word.start, word.form)
            for word in words(self.text)
            if word.form not in ("a", "an", "the")
            and not any(each.start < word.end and word.start < each.end for each in self.found)
        ]
        return [form for _, form in sorted(marks)]


def altered(case: Case) -> Iterator[Finding]:
    """`value_altered` (hard), once for each statement."""
    for claim, cited in statements(case):
        if not cited or len(claim.text) > MAX_LENGTH:
            continue
        if any(place.evidence.tier == "observed" or place.last - place.first >= MAX_LINES for place in cited):
            continue
        spoken = language_of(cited)
        ours = Line(claim.text, spoken)
        near = _near(ours, cited, spoken)
        found = difference(ours, near) if near else ""
        found = found or _of_brackets(ours, cited)
        if not found:
            continue
        place = cited[0]
        yield Finding(
            code="value_altered",
            label="misinterpretation",
            severity="hard",
            claim=claim.key,
            evidence=place.evidence.id,
            first=place.first,
            last=place.last,
            message=f"The cited lines say it otherwise: “{found}”. Give the value as it is written there.",
            detail=found,
        )


def _near(ours: Line, cited: Sequence[CitedLines], spoken: str) -> list[Line]:
    """The sentences that hold nearly all other words of the claim, the nearest ones."""
    if len(ours.content) < MIN_WORDS:
        return []
    found: list[tuple[int, Line]] = []
    for place in cited:
        for sentence in sentences_of(place.span.text):
            if len(sentence) > MAX_LENGTH:
                continue
            line = Line(sentence, spoken)
            shared = len(ours.content & line.content)
            if 100 * shared >= SHARED_PERCENT * len(ours.content):
                found.append((shared, line))
    best = max((shared for shared, _ in found), default=0)
    return [line for shared, line in found if shared == best]


def difference(ours: Line, near: Sequence[Line]) -> str:
    """What of the nearest sentences is otherwise in all of them; '' for nothing."""
    for value in ours.values:
        there = [(line, other) for line in near for other in line.values if other.core == value.core]
        if there and all(_turned(ours, value, line, other) for line, other in there):
            return _shown(*there[0])
    for rule in (_swapped, _frequency):
        said = [rule(ours, line) for line in near]
        if all(said):
            return said[0]
    return ""


def _value(text: str, quantity: Quantity) -> Value:
    digits = _DIGITS.match(text, quantity.start)
    clause = _CLAUSE.fullmatch(quantity.text)
    tailed = _WITH_TAIL.match(text, quantity.start)
    end = quantity.end if quantity.spelled or not digits else digits.end()
    core: Decimal | str = quantity.value.copy_abs().normalize()
    if clause:
        core = Decimal(clause["number"])
    elif tailed:
        core = Decimal(tailed[0])
    elif quantity.kind == "identifier" or (quantity.kind == "date" and not quantity.value):
        core = quantity.text.casefold()
    around = dress(text, quantity.start, end, quantity.end)
    if quantity.value < 0:
        around = around._replace(minus=True)
    return Value(core, quantity, around)


def _turned(ours: Line, value: Value, line: Line, other: Value) -> bool:
    """Whether what is at the same number makes it another value."""
    mine, theirs = value.dress, other.dress
    if {mine.bound, theirs.bound} == {"above", "below"}:
        return _denies(ours.text) == _denies(line.text)
    if mine.era != theirs.era and "before" in (mine.era, theirs.era):
        era, text = (theirs.era, line.text) if mine.era == "before" else (mine.era, ours.text)
        return bool(era) or not ERA_BEFORE_CHRIST.search(text)
    if mine.minus != theirs.minus and not (DOWNWARDS.search((line if mine.minus else ours).text)):
        return not (mine.minus and _is_in_brackets(line.text, other.quantity))
    return mine.tail != theirs.tail


def _is_in_brackets(text: str, quantity: Quantity) -> bool:
    """Whether a number alone in brackets is in the place of a value, as accounts write a minus."""
    return any(
        match.start("number") <= quantity.start < match.end("number")
        for pattern in (_CELL_IN_BRACKETS, _VALUE_IN_BRACKETS)
        for match in pattern.finditer(text)
    )


def _denies(text: str) -> bool:
    return sum(1 for _ in negations(text)) % 2 == 1


def _shown(line: Line, value: Value) -> str:
    """A value with the words around it."""
    start, end = value.quantity.start - 14, value.quantity.end + 10
    around = [word.span() for word in _WORD.finditer(line.text) if word.end() > start and word.start() < end]
    return " ".join(line.text[around[0][0] : around[-1][1]].split())


def _swapped(ours: Line, line: Line) -> str:
    """The same sentence with the same values in another order: 100 g of sugar per 38 g."""
    mine = _with_units(ours.values)
    for start in _runs(ours, line) if len(mine) > 1 else ():
        theirs = _with_units(line.values[start : start + len(mine)])
        apart = [at for at, (one, other) in enumerate(zip(mine, theirs, strict=True)) if one != other]
        if not apart or sorted(map(str, mine)) != sorted(map(str, theirs)):
            continue
        kept = frozenset(pairwise(mine)) & frozenset(pairwise(theirs))
        together = frozenset(chain.from_iterable(kept))
        if all(mine[at] in together for at in apart):
            continue  # what belongs together changed places together
        between = [
            ours.text[one.end : other.start] for one, other in pairwise(ours.found[apart[0] : apart[-1] + 1])
        ]
        if not all(map(_ROW.fullmatch, between)):
            return _shown(line, line.values[start + apart[0]])
    return ""


def _with_units(values: Sequence[Value]) -> list[tuple[Decimal | str, tuple[Unit, ...]]]:
    return [(value.core, value.quantity.units) for value in values]


def _runs(ours: Line, line: Line) -> Iterator[int]:
    """Where a sentence has the claim but for its values: the number of the first of these there."""
    wanted, there = ours.skeleton(), line.skeleton()
    for at in range(len(there) - len(wanted) + 1):
        if there[at : at + len(wanted)] == wanted:
            yield there[:at].count("#")


def _frequency(ours: Line, line: Line) -> str:
    """Every second year and twice a year."""
    for one, other in ((_INTERVAL, _PER_PERIOD), (_PER_PERIOD, _INTERVAL)):
        theirs = other.search(line.text)
        if theirs and one.search(ours.text) and not other.search(ours.text) and not one.search(line.text):
            return theirs[0]
    return ""


def _of_brackets(ours: Line, cited: Sequence[CitedLines]) -> str:
    """A loss, which its source writes in brackets, as a plain value: in a table that says what the brackets
    mean, or of an item that may be above or below zero."""
    if DOWNWARDS.search(ours.text) or _COSTS.search(ours.text):
        return ""
    text = "\n".join(place.span.text for place in cited)
    patterns = [_CELL_IN_BRACKETS] if any(_BRACKETS.search(place.source.text) for place in cited) else []
    if _OF_EITHER_SIGN.search(ours.text):
        patterns = [_CELL_IN_BRACKETS, _VALUE_IN_BRACKETS]
    stated = {each.quantity.unscaled for each in ours.values if _is_plain(ours.text, each.quantity)}
    for match in chain.from_iterable(pattern.finditer(text) for pattern in patterns):
        inside = {each.value.copy_abs() for each in quantities(match["number"], language_of(cited))}
        if (
            stated & inside
            and not _NO_VALUE.fullmatch(match["number"])
            and not _is_plain_elsewhere(inside, match, text)
        ):
            return match[0].strip()
    return ""


def _is_plain(text: str, quantity: Quantity) -> bool:
    """Whether a number is no count of things, and has no brackets itself."""
    counts = quantity.counts and not quantity.units and quantity.scale == 1
    return not counts and text[max(0, quantity.start - 1) : quantity.start] != "("


def _is_plain_elsewhere(values: Collection[Decimal], brackets: re.Match[str], text: str) -> bool:
    """Whether a text has one of these values outside of these brackets."""
    return any(
        each.value.copy_abs() in values and not brackets.start() < each.start < brackets.end()
        for each in quantities(text)
    )
