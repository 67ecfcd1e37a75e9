"""Values of a claim that a nearly equal sentence of the cited lines has otherwise.

The number is there, so that `numbers` finds it, but it is another value: "at most" became "at least", BC
became AD, a minus or a half was dropped, the two sides of a rate changed places. Only a sentence that holds
nearly all other words of the claim counts, and where one such sentence agrees with the claim nothing is said.
So a paraphrase is not judged by this, which a rule cannot do.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from vera.audit.case import Case, CitedLines, language_of, statements
from vera.audit.literal import sentences_of
from vera.evidence.finding import Finding
from vera.text.late_regex import late_regex
from vera.text.lexicon import word_set
from vera.text.quantity import Quantity, quantities
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
    negative half quarter respectively hochstens mindestens maximal minimal mehr weniger als bis
    halb halbe halben halbes plus moins au demi demie respectivement maximo minimo mas menos al
    media medio respectivamente massimo almeno meno piu mezza mezzo rispettivamente pelo mais ate
    meia meio twice times zweimal dreimal fois veces volte vezes"""
)
"""Words that are compared with the values and are therefore no other words of a sentence."""

_HAN_DRESSING = late_regex(
    "最多|至多|至少|最少|起码|不?(?:超过|多于|少于|高于|低于|大于|小于)|不足|未满|以[上下内]|之内|零下|公元前?|分别"
)
_EXTREME = late_regex("(?:mindest|hochst|maximal|minimal)(?=[a-z]{3})")
"""Before the word that it bounds: Mindestalter."""

_DIGITS = late_regex(r"[0-9]{1,24}")
_CLAUSE = late_regex(r"(?P<number>[0-9]{1,4})[a-fA-F]")
_WITH_TAIL = late_regex(r"(?P<number>[0-9]{1,12})(?=[½⅓⅔¼¾⅕-⅞⅐⅑⅒])|(?P<ten>10)(?=[⁻⁰¹²³⁴-⁹^]|\*\*)")
_BETWEEN = late_regex(r"(?i)(?<!\w)(?:between|zwischen|entre|tra|fra)\s(?:the\s)?\Z")
_JOINED = late_regex(r"\s(?:and|und|et|y|e)\s(?:the\s)?")
_TO = late_regex(r"\s?(?:[-–—~～]|to|bis|à|a|至|到)\s?")
_FROM = late_regex(r"(?i)(?<!\w)(?:from|von|vom|de|du|da|dal|del|des|desde)\s(?:the\s)?\Z|[从自由]\Z")
_ROW = late_regex(r"\s{0,2}(?:,|and|or|&|und|oder|et|ou|y|o|e|和|与|或|、|-|–|/|:|x|×){1,2}\s{0,2}")
_GRADE = late_regex(r"(?<![\w+.-])(?P<letters>[A-Z]{1,3}[0-9]?)(?P<sign>[+−-])(?![\w+−-])(?!\s?[0-9])")
_MOST = late_regex(r"(?i)maxim|máxim|massim|(?<!\w)höchst|最[多大高]|至多|上限")
_LEAST = late_regex(r"(?i)minim|mínim|(?<!\w)mindest|最[少小低]|至少|下限")
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
_NOUN_LIST = (
    "dozen hour day year month mile pint kilo litre liter million billion metre meter dutzend stunde tag jahr"
    " monat pfund million douzaine heure journée année livre docena hora año día millón libra litro dozzina"
    " ora anno milione chilo dúzia ano dia milhão quilo"
)
_NOUNS = "|".join(dict.fromkeys(_NOUN_LIST.split()))
_WHOLE = late_regex(
    rf"(?i)(?<!\w)(?:an?|one|per|ein\w{{0,2}}|une?|un[oa]?|uma?)[\s'’](?P<noun>{_NOUNS})(?!\w)|一个?(?P<han>打|小时|年|天|月|公斤|斤|公里)"
)
_HALF = late_regex(
    r"(?i)(?<!\w)(?:half|halb\w{0,2}|demi|medi[oa]|mezz[oa]?|mei[oa])(?:[\s'’-]|\s(?:an?|une?)\s)"
    rf"(?:an?\s|une?\s)?(?P<noun>{_NOUNS})(?!\w)|半个?(?P<han>打|小时|年|天|月|公斤|斤|公里)"
)
_BRACKETED = late_regex(
    r"(?:(?<=\t)|(?<=\s\s)|(?<=\|\s)|(?<=\|))\([$€£¥]?\s?(?P<number>[0-9][0-9.,]{0,20})\)(?=\s*(?:\n"
    r"|\t|\||\s\s|\Z))"
)
_BRACKETS = late_regex(
    r"(?i)\b(?:in (?:brackets|parenthes[ei]s)|bracketed|in klammern|entre parenthèses"
    r"|entre paréntesis|tra parentesi|entre parênteses)|括号"
)
_RESPECTIVELY = late_regex(r"(?i)\b(?:respectively|respectivement|respectivamente|rispettivamente)\b|分别")
_NAMES = late_regex(r"(?P<one>[A-ZÀ-Þ][\w'’-]{1,30})\s(?:and|und|et|y|e)\s(?P<other>[A-ZÀ-Þ][\w'’-]{1,30})")
_SEGMENT = late_regex(
    r"[,;]\s|\s(?:and|but|while|whereas|und|aber|während|et|mais|tandis|y|e|mientras|mentre|enquanto)\s"
)


class Value(NamedTuple):
    """A number of a text: what it is without what is around it, and that."""

    core: Decimal | str
    quantity: Quantity
    dress: Dress
    in_range: bool


class Line:
    """A claim or a sentence with its values and its other words."""

    def __init__(self, text: str, spoken: str) -> None:
        self.text = text
        self.found = [each for each in quantities(text, spoken) if each.kind != "relative"]
        self.values = [_value(text, self.found, at) for at in range(len(self.found))]
        spans = [(each.start, each.end) for each in self.found]
        self.content = frozenset(
            stem(_EXTREME.sub("", word.form))
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
    for rule in (_swapped, _another_code, _grade, _half, _extreme, _frequency, _respectively, _of_another):
        said = [rule(ours, line) for line in near]
        if all(said):
            return said[0]
    return ""


def _value(text: str, found: Sequence[Quantity], at: int) -> Value:
    quantity = found[at]
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
    if quantity.kind == "percent" and not around.measure:
        around = around._replace(measure="percent")
    if quantity.value < 0:
        around = around._replace(minus=True)
    return Value(core, quantity, around, _in_range(text, found, at))


def _in_range(text: str, found: Sequence[Quantity], at: int) -> bool:
    """Whether it is one end of a range: between twelve and fifteen, 12 to 15; from 12 to 15 is a change."""
    for low, high in ((at - 1, at), (at, at + 1)):
        if (
            low < 0
            or high >= len(found)
            or {found[low].kind, found[high].kind} & {"date", "time", "identifier"}
        ):
            continue
        between = text[found[low].end : found[high].start]
        before = text[max(0, found[low].start - 12) : found[low].start]
        if _BETWEEN.search(before) and _JOINED.fullmatch(between):
            return True
        measured = found[high].kind in ("amount", "percent", "money")
        if measured and _TO.fullmatch(between) and not _FROM.search(before):
            return True
    return False


def _turned(ours: Line, value: Value, line: Line, other: Value) -> bool:
    """Whether what is at the same number makes it another value."""
    mine, theirs = value.dress, other.dress
    if mine.bound and theirs.bound and mine.bound != theirs.bound:
        return _denies(ours.text) == _denies(line.text)
    if mine.era != theirs.era and "before" in (mine.era, theirs.era):
        lacking = line if mine.era == "before" else ours
        return bool(mine.era and theirs.era) or not ERA_BEFORE_CHRIST.search(lacking.text)
    if mine.minus != theirs.minus and not (DOWNWARDS.search((line if mine.minus else ours).text)):
        return True
    if mine.measure and theirs.measure and mine.measure != theirs.measure:
        return True
    if mine.sign and theirs.sign and mine.sign != theirs.sign:
        return True
    if mine.part != theirs.part or mine.tail != theirs.tail:
        return True
    return other.in_range and not (value.in_range or mine.bound or value.quantity.hedge)


def _denies(text: str) -> bool:
    return sum(1 for _ in negations(text)) % 2 == 1


def _shown(line: Line, value: Value) -> str:
    start, end = max(0, value.quantity.start - 14), value.quantity.end + 10
    return " ".join(line.text[start:end].split())


def _swapped(ours: Line, line: Line) -> str:
    """The same sentence with the same values in another order: 100 g of sugar per 38 g."""
    mine = [(value.core, value.quantity.units) for value in ours.values]
    for start in _runs(ours, line, len(mine)) if len(mine) > 1 else ():
        theirs = [(value.core, value.quantity.units) for value in line.values[start : start + len(mine)]]
        apart = [at for at, (one, other) in enumerate(zip(mine, theirs, strict=True)) if one != other]
        if not apart or sorted(map(str, mine)) != sorted(map(str, theirs)):
            continue
        kept = frozenset(pairwise(mine)) & frozenset(pairwise(theirs))
        if all(any(mine[at] in pair for pair in kept) for at in apart):
            continue  # what belongs together changed places together
        between = [
            ours.text[one.end : other.start] for one, other in pairwise(ours.found[apart[0] : apart[-1] + 1])
        ]
        if not all(map(_ROW.fullmatch, between)):
            return _shown(line, line.values[start + apart[0]])
    return ""


def _runs(ours: Line, line: Line, count: int) -> Iterator[int]:
    """Where a sentence has the claim but for its values: the number of the first of these there."""
    wanted, there = ours.skeleton(), line.skeleton()
    for at in range(len(there) - len(wanted) + 1):
        if there[at : at + len(wanted)] == wanted:
            yield there[:at].count("#")


def _another_code(ours: Line, line: Line) -> str:
    """The same sentence with another code: H₂SO₃ for H₂SO₄."""
    said = _code(line.text)
    for start in _runs(ours, line, len(ours.values)):
        theirs = line.values[start : start + len(ours.values)]
        for value, other in zip(ours.values, theirs, strict=True):
            if not (_is_code(value) and _is_code(other)):
                continue
            if _code(value.quantity.text) not in said and _code(other.quantity.text) not in _code(ours.text):
                return _shown(line, other)
    return ""


def _is_code(value: Value) -> bool:
    """Letters and digits in one word."""
    quantity = value.quantity
    return quantity.kind == "identifier" and any(map(str.isalpha, quantity.text))


def _code(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _grade(ours: Line, line: Line) -> str:
    """A grade or a group with another sign, or without the one it has: A for A+."""
    mine = {match[0].replace("−", "-") for match in _GRADE.finditer(ours.text)}
    for match in _GRADE.finditer(line.text):
        letters = match["letters"]
        if match[0].replace("−", "-") in mine:
            continue
        turned = {f"{letters}+", f"{letters}-"} & mine
        alone = re.compile(rf"(?<=[\w)] ){letters}(?![\w+−-])")
        if not turned and (mine or not alone.search(ours.text) or alone.search(line.text)):
            continue
        if not any(each in line.text for each in turned):
            return match[0]
    return ""


def _half(ours: Line, line: Line) -> str:
    """A dozen for half a dozen, an hour for half an hour."""
    for one, other in ((_WHOLE, _HALF), (_HALF, _WHOLE)):
        mine, theirs = _counted(one, ours.text), _counted(other, line.text)
        only = (mine & theirs) - _counted(other, ours.text) - _counted(one, line.text)
        if only:
            return next(match[0] for match in other.finditer(line.text) if _noun(match) in only)
    return ""


def _counted(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    return frozenset(map(_noun, pattern.finditer(text)))


def _noun(match: re.Match[str]) -> str:
    return (match["noun"] or match["han"]).lower()


def _extreme(ours: Line, line: Line) -> str:
    """A least value for a largest one: Mindestalter for Höchstalter."""
    for one, other in ((_MOST, _LEAST), (_LEAST, _MOST)):
        theirs = other.search(line.text)
        turned = one.search(ours.text) and not other.search(ours.text) and not one.search(line.text)
        if theirs and turned and _denies(ours.text) == _denies(line.text):
            return theirs[0]
    return ""


def _frequency(ours: Line, line: Line) -> str:
    """Every second year and twice a year."""
    for one, other in ((_INTERVAL, _PER_PERIOD), (_PER_PERIOD, _INTERVAL)):
        theirs = other.search(line.text)
        if theirs and one.search(ours.text) and not other.search(ours.text) and not one.search(line.text):
            return theirs[0]
    return ""


def _respectively(ours: Line, line: Line) -> str:
    """A and B have 40 and 25, respectively, where the sentence gives A 25 and B 40."""
    names = _NAMES.search(ours.text)
    if names is None or not _RESPECTIVELY.search(ours.text) or len(ours.values) != 2 or len(line.values) != 2:
        return ""
    if {value.core for value in ours.values} != {value.core for value in line.values}:
        return ""
    one, other = (line.text.find(names[group]) for group in ("one", "other"))
    first, second = (value.quantity.start for value in line.values)
    if min(one, other) < 0 or not min(one, other) < first < second:
        return ""
    in_turn = min(one, other) < first < max(one, other) < second or max(one, other) < first
    same = line.values[0].core == ours.values[0].core
    return _shown(line, line.values[0]) if in_turn and (one < other) != same else ""


def _of_another(ours: Line, line: Line) -> str:
    """The one number of the claim, which the sentence gives to something else: each of its parts names behind
    its number what that is for."""
    if len(ours.values) != 1 or len(line.values) < 2:
        return ""
    value = ours.values[0]
    mine = _behind(ours, value, len(ours.text))
    ends = [*(match.end() for match in _SEGMENT.finditer(line.text)), len(line.text)]
    parts = [
        (other, _behind(line, other, next(end for end in ends if end >= other.quantity.end)))
        for other in line.values
    ]
    if not all(part for _, part in parts) or len({other.quantity.units for other in line.values}) > 1:
        return ""
    common = frozenset.intersection(*(part for _, part in parts))
    here = [part - common for other, part in parts if other.core == value.core]
    elsewhere = [(other, part - common) for other, part in parts if other.core != value.core]
    if len(here) != 1 or not here[0] or here[0] & ours.content:
        return ""
    return next((_shown(line, other) for other, part in elsewhere if part and part <= mine), "")


def _behind(line: Line, value: Value, end: int) -> frozenset[str]:
    """The content words from a value to an end."""
    written = line.text[value.quantity.end : end]
    return frozenset(stem(word.form) for word in words(written) if word.form not in STOPWORDS)


def _of_brackets(ours: Line, cited: Sequence[CitedLines]) -> str:
    """A loss, which its table writes in brackets and says so, as a plain value."""
    if DOWNWARDS.search(ours.text):
        return ""
    text = "\n".join(place.span.text for place in cited)
    if not any(_BRACKETS.search(place.source.text) for place in cited):
        return ""
    for match in _BRACKETED.finditer(text):
        inside = {each.value.copy_abs() for each in quantities(match["number"])}
        bare = [each for each in quantities(text) if each.value.copy_abs() in inside]
        plain = [each for each in bare if not match.start() < each.start < match.end()]
        if not plain and any(value.quantity.value in inside for value in ours.values):
            return match[0]
    return ""
