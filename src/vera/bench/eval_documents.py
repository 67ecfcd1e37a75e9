"""Made-up documents with planted facts, and what may be asked of them in vain.

Beside the facts stand the things that lead astray: names that differ in a letter, values of other years,
values that no longer hold, facts of one thing in two files, facts that are said to be open.
"""

import random
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from vera.bench.eval_world import PLACES, Attribute, Domain, Value, World, draw

QUESTIONS_EACH = 5
"""Things are described in such a number that about so many questions are asked of each."""

_STATED = 0.62
_WITHHELD = 0.35
_SUPERSEDED = 0.15
_IN_A_LETTER = 0.2
_TWIN_DESCRIBED = 0.5
_BY_NAME = 0.3
_FIRST_YEAR = 2012
_LAST_YEAR = 2024
_YEARS = 3
_WIDTH = 88

_WITHHOLDING = (
    "The {label}{of} has not been disclosed.",
    "Nothing was agreed yet on the {label}{of}.",
    "The {label}{of} was discussed and left open.",
)
_ONCE = (" Until {y} it was {v}.", " It had been {v} before {y}.", " The entry of {y} still said {v}.")
_WITH_ARTICLE = ("instrument", "vessel")
_MARKS = "BCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Behind a name when the list of names is used again."""


class Fact(msgspec.Struct, frozen=True):
    """What the file `file` says of a thing in the words `said`; `year` is 0 but for yearly values."""

    entity: str
    attribute: Attribute
    value: Value
    year: int
    file: str
    said: str


class Missing(msgspec.Struct, frozen=True):
    """What may be asked of a thing and is nowhere said. `group` says in which way it is missing."""

    group: str
    entity: str
    attribute: Attribute
    year: int = 0


class Document(msgspec.Struct, frozen=True):
    """A file and its text."""

    name: str
    text: str


class Documents(msgspec.Struct, frozen=True):
    """All documents, with what is in them and what does not."""

    documents: tuple[Document, ...]
    facts: tuple[Fact, ...]
    missing: tuple[Missing, ...]


def write_documents(dice: random.Random, questions: int, world: World) -> Documents:
    """Documents that about `questions` questions can be asked about. The same dice give the same bytes."""
    return _Writer(dice, questions, world).written()


class _Writer:
    """Writes one world, in a fixed order of draws."""

    def __init__(self, dice: random.Random, questions: int, world: World) -> None:
        self._dice = dice
        self._world = world
        self._documents: list[Document] = []
        self._facts: list[Fact] = []
        self._missing: list[Missing] = []
        letters = 3 + questions // 60
        self._letters: dict[str, list[str]] = {f"letter-{number:02}.txt": [] for number in range(1, letters)}
        self._things = max(2, questions // QUESTIONS_EACH)

    def written(self) -> Documents:
        described = self._cast()
        while described:
            domain = described[0][0]
            together = [each for each in described if each[0] is domain][: self._dice.choice((1, 1, 1, 3))]
            described = [each for each in described if each not in together]
            self._file(domain, [entity for _, entity in together])
        for name, said in self._letters.items():
            if said:
                self._dice.shuffle(said)
                self._documents.append(
                    Document(name, "\n".join(["To the office", "", *self._wrapped(said)]) + "\n")
                )
        return Documents(tuple(self._documents), tuple(self._facts), tuple(self._missing))

    def _cast(self) -> list[tuple[Domain, str]]:
        """The things that are described. Of a pair of names one may be left out, to be asked for in vain."""
        pairs = [(domain, pair) for domain in self._world.domains for pair in domain.names]
        self._dice.shuffle(pairs)
        described: list[tuple[Domain, str]] = []
        for number in range(self._things):
            again, place = divmod(number, len(pairs))
            domain, names = pairs[place]
            name, twin = (f"{each} {_mark(again)}".strip() for each in names)
            described.append((domain, name))
            if self._dice.random() < _TWIN_DESCRIBED:
                described.append((domain, twin))
            else:
                years = {each: self._year() if each.yearly else 0 for each in domain.attributes.values()}
                self._missing += [Missing("no such thing", twin, *each) for each in years.items()]
        return described

    def _file(self, domain: Domain, entities: Sequence[str]) -> None:
        """A document about one thing, or one with a section for each of several."""
        alone = len(entities) == 1
        number = len(self._documents) + 1
        subject = entities[0] if alone else f"{domain.name} register"
        name = f"{number:03}-{_slug(subject)}{self._dice.choice(('.md', '.txt'))}"
        lines = [] if alone else [f"# {domain.name.capitalize()} register {number}", "", self._filler(), ""]
        for entity in entities:
            title = domain.title.format(e=entity) if alone else entity
            title = title[:1].upper() + title[1:]
            underlined = alone and name.endswith(".txt")
            lines += (
                [title, "=" * len(title), ""] if underlined else [f"{'#' if alone else '##'} {title}", ""]
            )
            lines += [*self._described(name, domain, entity), "", self._filler(), ""]
        self._documents.append(Document(name, "\n".join(lines).rstrip() + "\n"))

    def _described(self, file: str, domain: Domain, entity: str) -> list[str]:
        """What a document says of a thing: in sentences, as fields, or as a table."""
        form = self._dice.choice(("prose", "prose", "fields", "table"))
        said = [
            line
            for attribute in domain.attributes.values()
            for line in self._about(file, domain, entity, attribute, form)
        ]
        match form:
            case "prose":
                self._dice.shuffle(said)
                return self._wrapped(said) if file.endswith(".txt") else self._wrapped(said, 10_000)
            case "table":
                return ["| | |", "|---|---|", *said]
            case _:
                return said

    def _about(
        self, file: str, domain: Domain, entity: str, attribute: Attribute, form: str
    ) -> Iterator[str]:
        if attribute.yearly:
            first = self._dice.randint(_FIRST_YEAR, _LAST_YEAR - _YEARS)
            for year in range(first, first + _YEARS):
                yield self._stated(file, domain, entity, attribute, form, year)
            for year in (first - 1, first + _YEARS):
                self._missing.append(Missing("another year", entity, attribute, year))
        elif self._dice.random() < _STATED:
            if self._dice.random() < _IN_A_LETTER:
                letter = self._dice.choice(list(self._letters))
                self._letters[letter].append(self._stated(letter, domain, entity, attribute, "letter"))
            else:
                yield self._stated(file, domain, entity, attribute, form)
        elif form == "prose" and self._dice.random() < _WITHHELD:
            self._missing.append(Missing("said to be open", entity, attribute))
            label = attribute.label[:1].lower() + attribute.label[1:]
            of = f" of {entity}" if self._dice.random() < _BY_NAME else ""
            yield self._dice.choice(_WITHHOLDING).format(label=label, of=of)
        else:
            self._missing.append(Missing("not said of it", entity, attribute))

    def _stated(
        self, file: str, domain: Domain, entity: str, attribute: Attribute, form: str, year: int = 0
    ) -> str:
        """The words of a fact, as their own line or as a sentence, with a value of before at times."""
        value = draw(attribute.value, self._dice, self._world)
        label = f"{attribute.label} {year}" if year else attribute.label
        match form:
            case "fields":
                said = f"{label}: {value.text}"
            case "table":
                said = f"| {label} | {value.text} |"
            case _:
                named = form == "letter" or self._dice.random() < _BY_NAME
                said = self._sentence(domain, entity if named else "", attribute, value, year)
        self._facts.append(Fact(entity, attribute, value, year, file, said))
        if form == "prose" and not year and self._dice.random() < _SUPERSEDED:
            said += self._superseded(attribute, value)
        return said

    def _superseded(self, attribute: Attribute, value: Value) -> str:
        """Words about an earlier value; '' where the same value is drawn."""
        old = draw(attribute.value, self._dice, self._world)
        if old.text == value.text:
            return ""
        return self._dice.choice(_ONCE).format(y=self._year(), v=old.text)

    def _sentence(self, domain: Domain, entity: str, attribute: Attribute, value: Value, year: int) -> str:
        """A sentence about `entity`, or about the thing that a heading above names."""
        named = f"the {entity}" if entity and domain.name in _WITH_ARTICLE else entity
        subject = named or domain.noun[:1].lower() + domain.noun[1:]
        places = {word: f" {word} {subject}" if entity else "" for word in PLACES}
        start = subject[:1].upper() + subject[1:]
        said = self._dice.choice(attribute.say).format(S=start, s=subject, v=value.text, y=year, **places)
        return said[:1].upper() + said[1:]

    def _wrapped(self, sentences: Iterable[str], width: int = _WIDTH) -> list[str]:
        """Paragraphs of a few sentences, fillers among them, in lines of at most `width` characters."""
        waiting, lines = list(sentences), list[str]()
        while waiting:
            size = self._dice.choice((1, 2, 3))
            paragraph, waiting = waiting[:size], waiting[size:]
            if self._dice.random() < 1 / 3:
                paragraph.insert(self._dice.randint(0, len(paragraph)), self._filler())
            wrap = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
            lines += ["", *wrap.wrap(" ".join(paragraph))] if lines else wrap.wrap(" ".join(paragraph))
        return lines

    def _filler(self) -> str:
        return self._dice.choice(self._world.fillers)

    def _year(self) -> int:
        return self._dice.randint(_FIRST_YEAR, _LAST_YEAR)


def _mark(again: int) -> str:
    """'' the first time, then B, C, …, BB, …: never a word."""
    mark = ""
    while again:
        again, place = divmod(again - 1, len(_MARKS))
        mark = _MARKS[place] + mark
    return mark


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
