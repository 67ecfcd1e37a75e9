"""Whether a text holds an expression of the kind that a question asks for, and how plainly.

An expression whose words all are in the question is not its answer.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice, takewhile

import msgspec

from vera.builtin import patterns
from vera.builtin.defining import defined
from vera.builtin.languages import language_of
from vera.builtin.layout import label_of
from vera.builtin.lexicon import NO_NAMES, NUMBER_WORDS, PEOPLE, STOPWORDS
from vera.builtin.question import BREAKS, Kind, Question, stems_of, time_unit_stems
from vera.builtin.units import begins_with_symbol
from vera.builtin.words import Word, affinity, is_cjk, stem, words

MAX_TEXT_LENGTH = 2000
MAX_REFERENCE_LENGTH = 24
"""Characters before a number in which it may be called a place: "chapters 15 and "."""
_BARE = re.compile(r"[,;.)]|\s*$")
OF_THE_SENTENCE = 0.8
"""A number without a unit behind it counts what its sentence speaks of: "copies, numbering over 100,"."""
OF_A_DAY = 0.6
"""A time of day, or a month without a year, says when."""
SINGLE_NAME = 0.7
"""A single capitalised word may be a person, a product or a place."""
_EXTENT = frozenset(("large", "big", "small"))
"""Of how large something is a plain number may tell."""
_VAGUE = ("one", "a", "an", "no", "several")

_AMOUNTS = frozenset((Kind.COUNT, Kind.DURATION, Kind.MEASURE, Kind.MONEY, Kind.PERCENT))
_NOUNS = {
    stem(noun): group
    for group in ("default", "maximum max limit", "minimum min", "threshold")
    for noun in group.split()
}
"""The nouns of a value (`patterns.VALUE`), by stem, with those that say the same."""
_ABOUT_TEXTS = frozenset(
    ("described", "defined", "explained", "documented", "specified", "stated", "listed", "mentioned", "found")
)
"""Of a thing that this is asked of, a section is the place."""
_ALSO_NAMES = frozenset(("us", "it", "will", "may", "don"))
"""Stop words that are names, too, when all is written in capitals."""
Finder = Callable[[Question, str], float]


class Around(msgspec.Struct, frozen=True):
    """What the lines around a text say of its words: `plain` has the stems of those written in small letters
    or defined as terms, which are no places with a capital either; `file` the words of the file's name.
    """

    plain: frozenset[str] = frozenset()
    file: frozenset[str] = frozenset()


def around_of(texts: Iterable[str], path: str) -> Around:
    """What the texts of one file and its path say of the words in it."""
    plain: set[str] = set()
    for text in texts:
        text = text[:MAX_TEXT_LENGTH]
        terms = (match.group(1) for match in patterns.DEFINED.finditer(text))
        small = (match.group() for match in patterns.SMALL.finditer(text))
        plain.update(word.stem for each in (*terms, *small) for word in words(each))
    return Around(frozenset(plain), frozenset(word.form for word in words(path)))


NOTHING_AROUND = Around()


def strength(question: Question, text: str, around: Around = NOTHING_AROUND) -> float:
    """How plainly the text holds an expression of the question's kind: 0 not at all, 1 exactly.

    Always 0 for the kind `ANY`.
    """
    text = text[:MAX_TEXT_LENGTH]
    if question.kind is Kind.PLACE:
        return _place(question, text, around)
    finder = _FINDERS.get(question.kind)
    found = finder(question, text) if finder else 0.0
    return found if found >= 1.0 or question.kind not in _AMOUNTS else max(found, _stated(question, text))


def _stated(question: Question, text: str) -> float:
    """1 when the text gives the value that the question calls by its noun, in a unit that fits it: "Default:
    10w" for the default."""
    asked = {_NOUNS[term.word.stem] for term in question.terms if term.word.stem in _NOUNS}
    for match in patterns.VALUE.finditer(text):
        noun, number, behind = match.groups()
        if (
            _NOUNS[stem(noun.lower())] in asked
            and number not in question.spoken
            and _fits(question, text, behind or "")
        ):
            return 1.0
    return 0.0


def _of_other_nouns(question: Question, text: str) -> frozenset[int]:
    """Where numbers begin that the text gives for another noun than the question asks by: a default is no
    maximum."""
    asked = {_NOUNS[term.word.stem] for term in question.terms if term.word.stem in _NOUNS}
    matches = patterns.VALUE.finditer(text) if asked else ()
    return frozenset(match.start(2) for match in matches if _NOUNS[stem(match.group(1).lower())] not in asked)


def _fits(question: Question, text: str, behind: str) -> bool:
    """Whether a value with `behind` it may be of the unit that the question counts in."""
    if question.kind is Kind.PERCENT:
        return behind == "%" or patterns.PER_CENT.search(text) is not None
    if question.kind is Kind.COUNT and question.units:
        named = list(words(behind)) or list(words(text))
        return any(affinity(unit, word) >= 0.7 for unit in question.units for word in named)
    if question.kind is Kind.DURATION:
        return patterns.UNIT_OF_TIME.fullmatch(behind) is not None
    return question.kind is Kind.COUNT or behind != ""


def told(question: Question, text: str) -> float:
    """1 when a text holds a number or a name that the question does not, else 0: what may answer any."""
    text = text[:MAX_TEXT_LENGTH]
    exact = any(_is_exact(match.group().lower()) for match in _numbers(question, text))
    return 1.0 if exact or _name(question, text) else 0.0


def is_open(text: str) -> bool:
    """Whether a text says that something is not known, not agreed or not said."""
    return patterns.OPEN.search(text[:MAX_TEXT_LENGTH]) is not None


def is_only_meant(question: Question, text: str) -> bool:
    """Whether a text says what was to be, or gives the values of an example, and the question does not ask
    for that."""
    text = text[:MAX_TEXT_LENGTH]
    if patterns.MEANT.search(text) and not patterns.ASKS_MEANT.search(question.text):
        return True
    of_a_value = question.kind in _AMOUNTS
    return (
        of_a_value
        and patterns.EXAMPLE.match(text) is not None
        and not patterns.ASKS_EXAMPLE.search(question.text)
    )


def denies(question: Question, text: str) -> bool:
    """Whether a text denies what it says, or something that the question asks about: "without warranty"."""
    asked = {term.word.stem for term in question.terms}

    def kept(match: re.Match[str]) -> str:
        return " " if asked.isdisjoint(word.stem for word in words(match.group())) else match.group()

    return patterns.DENIES.search(patterns.BY_THE_WAY.sub(kept, text[:MAX_TEXT_LENGTH])) is not None


def valued(text: str, *, counts: bool) -> str:
    """What a sentence gives only the value of, without saying what was done: "dividend" of "the dividend was
    7 %", and with `counts` "employees" of "it has 12 employees"."""
    text = text[:MAX_TEXT_LENGTH]
    if match := patterns.NUMBER_OF.search(text):
        return match.group(1).split()[0] if counts else ""
    match = patterns.IT_IS.match(text) or (patterns.THERE_ARE.search(text) if counts else None)
    return match.group(1) if match else ""


def _new(question: Question, pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Matches that say something that the question did not."""
    for match in pattern.finditer(text):
        if any(word.form not in question.spoken for word in words(match.group())):
            yield match


def _has(question: Question, pattern: re.Pattern[str], text: str) -> float:
    return 1.0 if next(_new(question, pattern, text), None) else 0.0


def _any_of(*found: re.Pattern[str]) -> Finder:
    return lambda question, text: max(_has(question, pattern, text) for pattern in found)


def _at_least(enough: int, pattern: re.Pattern[str]) -> Finder:
    return lambda question, text: min(1.0, sum(1 for _ in islice(pattern.finditer(text), enough)) / enough)


def _numbers(question: Question, text: str) -> Iterator[re.Match[str]]:
    for match in patterns.NUMBER.finditer(text):
        enumerator = match.start() < 3 and text[match.end() : match.end() + 1] in (".", ")")
        reference = patterns.REFERENCE.search(
            text[max(0, match.start() - MAX_REFERENCE_LENGTH) : match.start()]
        )
        if not enumerator and not reference and match.group().lower() not in question.spoken:
            yield match


def _goes_on(word: Word) -> bool:
    """Whether a phrase goes on with a word: "six characters of the message" counts no messages."""
    return word.form not in BREAKS


def _is_exact(number: str) -> bool:
    return number[0].isdigit() or number in NUMBER_WORDS or not number.isascii()


def _count(question: Question, text: str) -> float:
    """A number, best of all one with what the question counts right beside it."""
    in_time = any(unit.stem in time_unit_stems() for unit in question.units)
    counts_people = any(unit.stem in ("people", "person") for unit in question.units)
    plain = 0.4 if question.units else 0.8
    said = patterns.NUMBER_OF.search(text)
    counted = list(words(f"{said.group(1) if said else ''} {label_of(text)}"))
    spoken = list(words(text))
    counted_here = not in_time and any(
        affinity(unit, word) >= 0.7 for unit in question.units for word in spoken
    )
    best = 0.0
    others = _of_other_nouns(question, text)
    for match in _numbers(question, text):
        if match.start() in others:
            continue
        number = match.group().lower()
        after = takewhile(_goes_on, islice(words(text[match.end() : match.end() + 60]), 4))
        before = list(words(text[max(0, match.start() - 30) : match.start()]))[-1:]
        nearby = [*after, *before]
        of_a_kind = counts_people and any(word.stem in stems_of(PEOPLE) for word in nearby)
        named = (affinity(unit, word) for unit in question.units for word in (*counted, *nearby))
        if _is_exact(number) and (
            of_a_kind or any(value >= 0.7 for value in named) or _is_unit(question, text[match.end() :])
        ):
            worth = 1.0
        elif counted_here and _is_exact(number) and _BARE.match(text[match.end() : match.end() + 2]):
            worth = OF_THE_SENTENCE
        elif in_time and any(word.stem in time_unit_stems() for word in nearby):
            worth = 0.6
        else:
            given = question.units or patterns.GIVES.search(text[max(0, match.start() - 24) : match.start()])
            worth = (plain if given else 0.4) if _is_exact(number) else 0.0
        best = max(best, worth * (0.7 if number in _VAGUE else 1.0))
    return best


def _is_unit(question: Question, behind: str) -> bool:
    """Whether a text begins with a Chinese unit or with the symbol of one that the question counts in."""
    return any(
        behind.lstrip().startswith(unit.form) if is_cjk(unit.form) else begins_with_symbol(unit.form, behind)
        for unit in question.units
    )


def _duration(question: Question, text: str) -> float:
    return max(
        _has(question, patterns.DURATION, text),
        0.5 * _has(question, patterns.MEASURE, text),
        0.4 * _has(question, patterns.LASTING, text),
    )


def _measure(question: Question, text: str) -> float:
    plain = 0.6 if not question.spoken.isdisjoint(_EXTENT) else 0.4
    plain = plain if any(_is_exact(match.group().lower()) for match in _numbers(question, text)) else 0.0
    return max(_has(question, patterns.MEASURE, text), 0.8 * _has(question, patterns.DURATION, text), plain)


def _money(question: Question, text: str) -> float:
    """An amount of money; of what is bought, sold, paid or priced nothing else answers."""
    if patterns.TRADES.search(question.text):
        return _has(question, patterns.MONEY, text)
    plain = 0.4 if any(match.group()[0].isdigit() for match in _numbers(question, text)) else 0.0
    return max(
        _has(question, patterns.MONEY, text),
        0.7 * _has(question, patterns.PERCENT, text),
        0.6 * _has(question, patterns.MEASURE, text),
        plain,
    )


def _date(question: Question, text: str) -> float:
    if question.exact:
        month = patterns.ASKS_MONTH.search(question.text) is not None
        return max(
            _has(question, patterns.DATE, text), _has(question, patterns.MONTH, text) if month else 0.0
        )
    return max(
        _has(question, patterns.DATE, text),
        OF_A_DAY * _has(question, patterns.CLOCK, text),
        OF_A_DAY * _has(question, patterns.MONTH, text),
        0.6 * _has(question, patterns.DURATION, text),
        0.35 * _has(question, patterns.DAY, text),
    )


def _clock(question: Question, text: str) -> float:
    return max(_has(question, patterns.CLOCK, text), 0.4 * _date(question, text))


def _name(question: Question, text: str) -> float:
    return 1.0 if next(_names(question, text), None) else 0.0


def _called(question: Question, text: str) -> float:
    """A name; where nouns may all have a capital, only one behind a word like "named"."""
    foreign = any(term.foreign for term in question.terms)
    return _has(question, patterns.NAMED, text) if foreign else _name(question, text)


def _names(question: Question, text: str) -> Iterator[re.Match[str]]:
    """Names that the question does not hold; a single word at the beginning may be none."""
    small = NO_NAMES | _joining(question.text)
    for match in _new(question, patterns.NAME, text):
        told_of = {word.form for word in words(match.group())} - question.spoken
        alone = match.start() == 0 and " " not in match.group()
        if not alone and not told_of <= small and not _is_shouted(match.group()):
            yield match


@lru_cache(maxsize=64)
def _joining(question: str) -> frozenset[str]:
    """The stop words of a question's language: "Der" in front of a word of the question is no name."""
    return language_of(question.lower())


def _is_shouted(name: str) -> bool:
    """Whether words in capitals are a piece of a sentence in capitals ("ABSOLUTELY NO WARRANTY"), no name."""
    return name.isupper() and any(
        len(word.form) > 1 and word.form in STOPWORDS - _ALSO_NAMES for word in words(name)
    )


def _person(question: Question, text: str) -> float:
    """A name of two words, or one behind "by", not one behind "in": that is a place."""
    worth = 0.0
    for match in _names(question, text):
        before = text[max(0, match.start() - 12) : match.start()]
        if patterns.WITHIN.search(before):
            continue
        full = patterns.FULL_NAME.search(match.group()) or patterns.AGENT.search(before)
        worth = max(worth, 1.0 if full else SINGLE_NAME)
    return max(worth, 0.5 * _has(question, patterns.ROLE, text))


def _place(question: Question, text: str, around: Around) -> float:
    """A name behind a preposition, or a path; hardly a name for which nothing says that it is a place."""
    bare = 0.0
    for match in _names(question, text):
        leads = next(words(match.group()))
        if leads.form not in STOPWORDS and not _is_plain(match.group(), around):
            put = patterns.PUTS.search(text[max(0, match.start() - 12) : match.start()])
            bare = max(bare, 0.5 if put else 0.4)
    return max(
        float(any(_is_place(question, match, around) for match in patterns.PLACE.finditer(text))),
        0.9 * any(_is_elsewhere(match.group(), around) for match in _new(question, patterns.PATH, text)),
        bare,
        0.4 * _has(question, patterns.SPOT, text),
    )


def _is_place(question: Question, match: re.Match[str], around: Around) -> bool:
    """Whether a match of `patterns.PLACE` is a place that the question does not hold, no term of the text and
    no part of it."""
    if {word.form for word in words(match.group())} <= question.spoken | NO_NAMES:
        return False
    name = match["name"]
    if name is None:
        return True
    if patterns.TOWARDS.match(match.group()) and not patterns.MOVES.search(question.text):
        return False
    part = patterns.PART_OF_A_TEXT.match(name) and question.spoken.isdisjoint(_ABOUT_TEXTS)
    return not part and not _is_plain(name, around) and not _is_shouted(name)


def _is_plain(name: str, around: Around) -> bool:
    """Whether the text has all words of a name as common nouns or terms, too: "the Program"."""
    telling = [word for word in words(name) if word.form not in NO_NAMES]
    return all(word.stem in around.plain for word in telling)


def _is_elsewhere(path: str, around: Around) -> bool:
    """Whether a path is neither the file's own name nor an abbreviation or words with a stroke: "and/or"."""
    forms = {word.form for word in words(path)} - around.file - STOPWORDS
    return any(len(form) > 1 for form in forms)


def _path(question: Question, text: str) -> float:
    return max(_has(question, patterns.PATH, text), 0.3 * _has(question, patterns.CODE, text))


def _expansion(question: Question, text: str) -> float:
    """Words whose initials spell a term of the question, or the term in brackets behind them."""
    initials = "".join(text[word.start].lower() for word in words(text))
    # Small words ("of", "for") may or may not lend their letter.
    capitals = "".join(text[word.start].lower() for word in words(text) if text[word.start].isupper())
    best = 0.0
    for term in question.terms:
        letters = term.word.form
        if not 2 <= len(letters) <= 10 or not letters.isalpha() or term.weight < 1.0:
            continue
        if letters in capitals or letters in initials:
            return 1.0
        if re.search(rf"\({re.escape(letters)}s?\)", text, re.IGNORECASE):
            best = 0.7
    return best


def _reason(question: Question, text: str) -> float:
    return max(_has(question, patterns.REASON, text), 0.4 if patterns.PURPOSE.search(text) else 0.0)


def _frequency(question: Question, text: str) -> float:
    return max(
        _has(question, patterns.FREQUENCY, text),
        _has(question, patterns.DURATION, text),
        0.4 * _has(question, patterns.FOR_EACH, text),
    )


_FINDERS: dict[Kind, Finder] = {
    Kind.COUNT: _count,
    Kind.DURATION: _duration,
    Kind.MEASURE: _measure,
    Kind.MONEY: _money,
    Kind.PERCENT: _any_of(patterns.PERCENT),
    Kind.DATE: _date,
    Kind.CLOCK: _clock,
    Kind.FREQUENCY: _frequency,
    Kind.PERSON: _person,
    Kind.NAME: _called,
    Kind.CODE: _any_of(patterns.CODE),
    Kind.PATH: _path,
    Kind.LINK: _any_of(patterns.LINK),
    Kind.VERSION: _any_of(patterns.VERSION),
    Kind.DEFINITION: defined,
    Kind.EXPANSION: _expansion,
    Kind.REASON: _reason,
    Kind.METHOD: _at_least(2, patterns.METHOD),
    Kind.PERMISSION: _at_least(1, patterns.PERMISSION),
}
