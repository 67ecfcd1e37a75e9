"""The claims of an answer: what it states, sentence by sentence, with the citations of each.

A citation belongs to the sentence it ends, before or after the full stop; one in the middle of a sentence
covers what stands before it, where that is its own clause (`vera.audit.compound`). It reaches no
further: the sentences before it in a paragraph, and the items below a cited lead-in, need their own
citations, so that a person sees at each statement where it stands. A lead-in that denies or limits its items
("It is not true that:") is part of what each of them says. A line that holds nothing but citations
belongs to the sentence above it, or to the whole table. Code and quotes belong to the cited sentence above
them; else each such block is one claim.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby, islice, pairwise
from typing import Literal, NamedTuple

import msgspec

from vera.audit.absence import is_absence
from vera.audit.checkable import checkable, has_digit
from vera.audit.checkable import names as capitalised
from vera.audit.compound import JOINT, Clause, first_clause, next_clause
from vera.audit.leads import headed, turns_items
from vera.audit.pointers import AROUND, Pointers
from vera.audit.sentences import sentences
from vera.disclosure import DISCLOSURES
from vera.evidence.citation import CITATION_LIMIT, Citation, find_citations
from vera.evidence.claim import Cite, Claim
from vera.text.lexicon import has_verb
from vera.text.markdown import Block, blocks, plain
from vera.text.sentences import END

VERSION = "claims/8"
"""Changes whenever the same answer may give other claims: replay then says RULES_CHANGED."""

CLAIM_LIMIT = 10_000
"""Claims of one answer, with the one that stands for what was not read."""

Role = Literal["sentence", "heading", "row", "code", "quote"]

_SEARCHED = re.compile(
    r"Searched the input files for: “[^“”\n]{1,2000}”(?:; “[^“”\n]{1,2000}”){0,7}\.\s{0,8}"
)
_OF_ITSELF = frozenset(plain(sentence) for sentence in DISCLOSURES)
"""What the built-in model says of itself, word for word, and its label of nearest lines: no statements."""

_EXTRACTS = re.compile(
    r"^These are extracts chosen by word match\b[^\n]{0,80}, not a synthesis", re.MULTILINE
)
_ATTRIBUTION = re.compile(r"(?:—|–|--)\s")
_QUOTE_MARK = re.compile(r"[ \t]{0,16}(?:>[ \t]?){1,8}")
_CELL = re.compile(r"(?<!\\)\|")
_LABEL = re.compile(
    r"(?:(?:short|final|direct|brief) )?(?:answer|summary|conclusion|result): (?=\S)", re.IGNORECASE
)
_SAYS = re.compile(r"[^\W_]|[✀-✔✗-✘❌❎✅☐-☒👍👎🆗🚫⛔]")
"""A tick alone says yes."""

_LETTER = re.compile(r"[^\W\d_]")
_SHORT = 2000
_LEADS_IN = (":", "：")
_ASKS = ("?", "？")
_CLOSES = (".", "!", "。", "！")
_MAX_CUTS = 20
_LEAD_LENGTH = 300


def split(answer: str, names: Collection[str] = ()) -> tuple[Claim, ...]:
    """The claims of an answer in Markdown, in order.

    `names` are the paths, URLs and titles of the cited sources: a cited line that holds nothing but one of
    them (`vera.audit.pointers`) is an extract.

    A claim is every cited sentence, and every sentence that holds a number, name, date or quotation
    (`vera.audit.checkable`). Any other sentence, also a bare "Yes.", an item of a list, the row of a table or
    a block of code, is one that does not count for the verdict: nothing is checked of it, and a person is
    told so. What only orders the answer is not a claim: a heading, a question, and a lead-in that ends in a
    colon ("The following apply:") and leads to something, while they hold no number and no quotation and say
    nothing of a name. So is what the built-in model says of itself. Every digit of the answer stands between
    `start` and `end` of some claim, but for those of citations, of the numbering of lists and headings, and
    of the line in which the built-in model says what it searched for. At most CLAIM_LIMIT claims and
    CITATION_LIMIT citations are read: the rest of a longer answer is one load-bearing claim without
    citations. Linear in the length.
    """
    reader = _Reader(answer, names)
    units = _attached(reader.units())
    known = {name for unit in units if unit.role != "heading" for name in capitalised(unit.text)}
    found = (claim for unit in units if (claim := _claim(unit, known, reader.points, units[-1])) is not None)
    claims = list(islice(found, CLAIM_LIMIT + 1))
    rest = reader.end
    if len(claims) + bool(answer[rest:].strip()) > CLAIM_LIMIT:
        rest = claims[CLAIM_LIMIT - 1].start
        del claims[CLAIM_LIMIT - 1 :]
    if answer[rest:].strip():
        left = f"The last {len(answer) - rest} characters of the answer, more than are read of one."
        claims.append(Claim(key="", text=left, start=rest, end=len(answer)))
    return tuple(msgspec.structs.replace(claim, key=f"c{number}") for number, claim in enumerate(claims, 1))


def readable(answer: str) -> tuple[list[Citation], int]:
    """The citations of an answer that are read, and where in it reading ends.

    That is its length, unless it has more than CITATION_LIMIT citations.
    """
    found = find_citations(answer)
    if len(found) < CITATION_LIMIT:
        return found, len(answer)
    last = found[-1].start
    whole = [citation for citation in found if citation.start < last]
    if len(whole) + len(find_citations(answer[last:])) <= CITATION_LIMIT:
        return found, len(answer)
    return whole, last


class _Bracket(NamedTuple):
    """Citations that share a bracket."""

    start: int
    end: int
    cites: tuple[Cite, ...]


class _Unit(NamedTuple):
    """A sentence, or a block that is not taken apart, before it is known whether it is a claim.

    `digits` says that a number stands at its place in the answer, also one that `text` leaves out; `table`
    numbers the tables, 0 outside of them; `item` says that it is a list item that only points.
    """

    role: Role
    start: int
    end: int
    text: str
    cites: tuple[Cite, ...]
    digits: bool
    table: int = 0
    item: bool = False


class _Table(NamedTuple):
    """A table: its number, its head while no row has taken it, and the cells of the head."""

    number: int = 0
    waiting: Block | None = None
    columns: Sequence[str] = ()


class _Reader:
    """An answer as units. `end` is where reading ends."""

    def __init__(self, answer: str, names: Collection[str]) -> None:
        found, self.end = readable(answer)
        self._answer = answer[: self.end]
        self._brackets = [
            _Bracket(start, end, tuple(Cite(each.evidence, each.first, each.last) for each in group))
            for (start, end), group in groupby(found, lambda each: (each.start, each.end))
        ]
        self._starts = [bracket.start for bracket in self._brackets]
        self._ends = {bracket.start: bracket.end for bracket in self._brackets}
        self._closed = frozenset(self._ends.values())
        self._pointers = Pointers(names)
        self._only_extracts = _EXTRACTS.search(self._answer) is not None

    def units(self) -> Iterator[_Unit]:
        table = _Table()
        lead = ""
        for block in blocks(self._answer, self._stands_alone):
            lead = self._led(block, lead)
            if block.kind != "row":
                yield from self._head_alone(table)
                table = _Table(table.number + 1)
            match block.kind:
                case "header":
                    table = _Table(table.number, block, self._cells(block))
                case "row":
                    yield self._row(block, table)
                    table = table._replace(waiting=None)
                case "paragraph":
                    yield from self._paragraph(block)
                case "item":
                    yield from self._item(block, lead)
                case "heading":
                    text = self._text(block.body, block.end)
                    yield self._unit("heading", block.start, block.body, block.end, text)
                case "code":
                    text = " ".join(self._bare(block.body, block.end).split()).rstrip("`~ ")
                    yield self._unit("code", block.start, block.body, block.end, text)
                case "quote":
                    yield self._unit("quote", block.start, block.body, block.end, self._quote(block))
        yield from self._head_alone(table)

    def points(self, text: str) -> str | None:
        """The cited source that `text` names and says nothing else (`Pointers.name_in`)."""
        return self._pointers.name_in(text, only_extracts=self._only_extracts)

    def _led(self, block: Block, before: str) -> str:
        """What leads into a block and turns what it says, given what led into the one before it."""
        if block.kind == "item":
            return before
        if block.kind != "paragraph" or self._is_cited(block.start, block.end):
            return ""
        said = self._text(max(block.body, block.end - _SHORT), block.end)
        lead = said[max((end.end() for end in END.finditer(said)), default=0) :].strip()[-_LEAD_LENGTH:]
        return lead if lead.endswith(_LEADS_IN) and turns_items(lead) else ""

    def _stands_alone(self, start: int, end: int) -> bool:
        """Lines that are no part of a paragraph: extracts, and what the built-in model searched for."""
        if _SEARCHED.fullmatch(self._answer, start, end):
            return True
        return (
            self._is_cited(start, end) and end - start < _SHORT and bool(self.points(self._text(start, end)))
        )

    def _paragraph(self, block: Block) -> Iterator[_Unit]:
        _, start, body, end = block
        if _SEARCHED.fullmatch(self._answer, start, end):
            return
        if self._is_cited(body, end) and end - body < _SHORT:
            text = self._text(body, end)
            name = self.points(text)
            if name is not None:
                unit = self._unit("sentence", start, body, end, text if name else "")
                yield unit._replace(item=block.kind == "item")
                return
        for first, last in sentences(self._answer, body, end, self._ends, self._closed):
            if _SAYS.search(self._answer, first, last):
                yield from self._clauses(start if first == body else first, first, last)

    def _item(self, block: Block, lead: str) -> Iterator[_Unit]:
        """An item of a list, each unit of it behind what leads into the list."""
        for unit in self._paragraph(block):
            yield unit._replace(text=f"{lead} {unit.text}") if lead and unit.text else unit

    def _clauses(self, start: int, body: int, end: int) -> Iterator[_Unit]:
        """The sentence from `body` to `end` (with its list marker from `start`), taken apart if compound."""
        brackets = self._within(body, end)
        follows = [*self._starts_of(brackets[1:]), end]
        cuts = [
            bracket.end
            for bracket, until in zip(brackets, follows, strict=False)
            if self._answer[bracket.end : until].strip(AROUND)
        ]
        shared: tuple[Cite, ...] = ()
        if brackets and not cuts:
            shared = self._cites(body, end)
            cuts = [match.start() for match in JOINT.finditer(self._answer, body, brackets[0].start)]
        for first, last, text in self._cut(body, cuts, end, own_subject=bool(shared)):
            said = text if (label := _LABEL.match(text)) is None else text[label.end() :]
            unit = self._unit("sentence", start if first == body else first, first, last, said)
            yield unit._replace(cites=shared) if shared else unit

    def _cut(self, body: int, cuts: list[int], end: int, own_subject: bool) -> Iterator[tuple[int, int, str]]:
        """The clauses of a sentence that stand alone, with `own_subject` only where each names its own."""
        if not 0 < len(cuts) <= _MAX_CUTS:
            yield body, end, self._text(body, end)
            return
        begun = body
        clause = first_clause(self._text(body, cuts[0]))
        for cut, following in pairwise([*cuts, end]):
            more = self._text(cut, following)
            after = next_clause(more, clause) if clause else None
            if clause is None:
                clause = first_clause(self._text(body, following))
            elif after is None or (own_subject and after.subject == clause.subject):
                clause = _continued(clause, more)
            else:
                yield begun, cut, clause.text
                begun, clause = cut, after
        yield begun, end, clause.text if clause and begun > body else self._text(begun, end)

    def _row(self, block: Block, table: _Table) -> _Unit:
        """A row as "Paris; 2020: 42": columns are named where their names hold numbers, give the numbers
        below them a unit, or turn what stands below them."""
        start = table.waiting.start if table.waiting else block.start
        cells = [
            headed(table.columns[place], cell) if place < len(table.columns) and cell else cell
            for place, cell in enumerate(self._cells(block))
        ]
        text = "; ".join(cell for cell in cells if cell)
        return self._unit("row", start, start, block.end, text)._replace(table=table.number)

    def _head_alone(self, table: _Table) -> Iterator[_Unit]:
        if table.waiting is not None:
            yield self._row(table.waiting, _Table(table.number))

    def _cells(self, block: Block) -> list[str]:
        line = self._bare(block.body, block.end).strip()
        return [plain(cell.replace("\\|", "|")) for cell in _CELL.split(line.removeprefix("|"))]

    def _quote(self, block: Block) -> str:
        """The words of a quote in quotation marks, its attribution behind them."""
        lines = [
            _QUOTE_MARK.sub("", line, count=1) for line in self._bare(block.start, block.end).split("\n")
        ]
        last = lines.pop().strip() if len(lines) > 1 and _ATTRIBUTION.match(lines[-1].strip()) else ""
        words = plain(" ".join(lines)).strip('"“”')
        return " ".join(part for part in (f"“{words}”" if words else "", plain(last)) if part)

    def _unit(self, role: Role, start: int, body: int, end: int, text: str) -> _Unit:
        first, last = self._trimmed(start, end)
        return _Unit(role, first, last, text, self._cites(start, end), has_digit(self._bare(body, end)))

    def _trimmed(self, start: int, end: int) -> tuple[int, int]:
        text = self._answer[start:end]
        return start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())

    def _within(self, start: int, end: int) -> list[_Bracket]:
        return self._brackets[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def _cites(self, start: int, end: int) -> tuple[Cite, ...]:
        return tuple(cite for bracket in self._within(start, end) for cite in bracket.cites)

    def _is_cited(self, start: int, end: int) -> bool:
        return bisect_left(self._starts, start) < bisect_left(self._starts, end)

    def _bare(self, start: int, end: int) -> str:
        """The answer from `start` to `end` without its citations."""
        parts: list[str] = []
        for bracket in self._within(start, end):
            parts.append(self._answer[start : bracket.start])
            start = bracket.end
        return " ".join([*parts, self._answer[start:end]])

    def _text(self, start: int, end: int) -> str:
        return plain(self._bare(start, end))

    @staticmethod
    def _starts_of(brackets: Iterable[_Bracket]) -> Iterator[int]:
        return (bracket.start for bracket in brackets)


def _continued(clause: Clause, more: str) -> Clause:
    """The clause with what belongs to it."""
    space = "" if more.startswith((",", ";", ".")) else " "
    return Clause(f"{clause.text}{space}{more}", clause.subject)


def _attached(units: Iterable[_Unit]) -> list[_Unit]:
    """The units, with citations, quotes and code that belong to the unit before them joined to it."""
    joined: list[_Unit] = []
    for unit in units:
        before = joined[-1] if joined else None
        if before is None or before.role == "heading" or before.item:
            joined.append(unit)
        elif _only_cites(unit) and not before.cites:
            _cite(joined, unit)
        elif _belongs(unit, before):
            joined[-1] = before._replace(
                end=unit.end,
                text=f"{before.text} {unit.text}",
                cites=before.cites + unit.cites,
                digits=before.digits or unit.digits,
            )
        else:
            joined.append(unit)
    return joined


def _only_cites(unit: _Unit) -> bool:
    return unit.role == "sentence" and not unit.text and not unit.item


def _cite(joined: list[_Unit], citations: _Unit) -> None:
    """Give citations that stand alone to the unit above, or to all rows of the table above."""
    last = joined[-1]
    joined[-1] = last._replace(end=citations.end, cites=citations.cites)
    for place in range(len(joined) - 2, -1, -1):
        if last.role != "row" or joined[place].table != last.table or joined[place].cites:
            break
        joined[place] = joined[place]._replace(cites=citations.cites)


def _belongs(unit: _Unit, before: _Unit) -> bool:
    """Whether a quote or code goes on with the sentence before it."""
    if before.role != "sentence":
        return False
    introduced = before.text.endswith((":", "："))
    if unit.role == "quote":
        if unit.cites:
            return introduced and not before.cites and bool(checkable(before.text, small_numbers=False))
        return introduced or bool(before.cites)
    return unit.role == "code" and introduced and bool(before.cites) and not unit.cites


def _claim(
    unit: _Unit, known: Collection[str], points: Callable[[str], str | None], last: _Unit
) -> Claim | None:
    """What a unit states, None when it states nothing. `last` is the last unit of the answer."""
    if unit.role == "sentence" and unit.text in _OF_ITSELF:
        return None
    form = _form(unit, points)
    is_unchecked = form == "statement" and not (unit.cites or unit.digits or _states(unit, known))
    if is_unchecked and _only_orders(unit, is_last=unit is last):
        return None
    return Claim(
        key="",
        text=unit.text,
        start=unit.start,
        end=unit.end,
        cites=unit.cites,
        form=form,
        load_bearing=form != "absence" and not is_unchecked,
    )


def _form(unit: _Unit, points: Callable[[str], str | None]) -> str:
    """The form of the claim that a unit makes (`Claim.form`)."""
    if unit.role != "sentence":
        return "statement"
    if unit.cites:
        return "statement" if points(unit.text) is None else "extract"
    return "absence" if is_absence(unit.text) else "statement"


def _only_orders(unit: _Unit, *, is_last: bool) -> bool:
    """Whether a unit without anything to check only orders the answer. By its place and its last mark, not by
    its words: so it is the same in every language."""
    text = unit.text
    if not _SAYS.search(text) or text.endswith(_ASKS):
        return True
    if text.endswith(_LEADS_IN):
        return not is_last
    return unit.role == "heading" and not text.endswith(_CLOSES) and not has_verb(text)


def _is_caseless(text: str) -> bool:
    """Whether its letters have no capitals, as those of Chinese, Arabic and Hebrew, but for a few."""
    letters = _LETTER.findall(text, 0, _SHORT)
    cased = sum(1 for letter in letters if letter.lower() != letter.upper())
    return 2 * cased < len(letters)


def _states(unit: _Unit, known: Collection[str]) -> bool:
    """Whether a sentence holds something to check; a heading or lead-in only with more than a name."""
    if _is_caseless(unit.text):  # what of it is a name, no one can tell
        return unit.role != "heading" and not unit.text.endswith((":", "：", "?", "？"))
    if unit.role == "row":  # no word of a row begins a sentence
        return bool(checkable(f"row: {unit.text}"))
    if unit.role != "heading" and not unit.text.endswith((":", "：")):
        return bool(checkable(unit.text, known))
    found = {each.kind for each in checkable(unit.text, known, small_numbers=False)}
    return bool(found - {"name"}) or ("name" in found and has_verb(unit.text) and not unit.text.endswith("?"))
