"""Numbers, dates and amounts of a claim must be in the sources that it cites.

One that is nowhere in the cited sources is the strongest veto that needs no model: on WiCE (Kamoi et al.,
EMNLP 2023) hardly any claim with one is supported. One that stands elsewhere in a source, but not in the
cited lines, or there without its unit, is a veto too. One that people often derive rather than read (three
sons, the second time) is a hint.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain

import msgspec

from vera.audit.case import Case, CitedLines, language_of, statements
from vera.audit.derivable import is_another_share, is_derivable, is_idle
from vera.audit.source_text import SourceText
from vera.audit.table_values import TableValues
from vera.evidence.claim import Claim
from vera.evidence.finding import Finding, Severity
from vera.extraction.containers.names import as_given
from vera.extraction.source import is_read_by_ocr
from vera.text.quantity import Kind, Quantity, quantities
from vera.text.quantity_index import QuantityIndex, backed, backing
from vera.text.units import Unit, unit_symbols, unit_words
from vera.text.whole_sentences import is_row

CLAIM_FINDINGS = 20
"""Findings that are told of one claim, hard ones first."""

_UNIT_WORD = re.compile(r"[^\W\d_]{3,14}")
_AGE = re.compile(r"\b(?:aged?|ages|old(?:er)?)\b", re.IGNORECASE)
_UNIT_SIGN = re.compile(r"[%€£¥₹$]|(?<![^\W_])(?:[A-Z]{3}|km|kg|mm|cm|ms|kB|MB|GB|TB|kW|MW|Hz)(?![^\W_])")
_SCALED_HEAD = re.compile(
    r"\b(?:[ie]n (?:[€£$¥]\s?|US\$ ?|[A-Z]{3} )?(?:thousands?|millions?|billions?|tausend|millionen|milliers)"
    r"|TEUR|kEUR|TUSD)\b"
    r"|\bin (?:T|Mio\.? ?)€|单位[:：]?\s?(?:人民币)?[十百千万亿]"
    r"|(?<![0-9])['’,.]000s?\b(?! )",
    re.IGNORECASE,
)
_VERSION_MARK = re.compile(r"(?<=[^\W\d_])[-_](?=[0-9]{1,4}\.[0-9])")
"""Between a name and its version in an address: GPL-2.1.txt is GPL 2.1."""

_RATE = re.compile(r"\s?(?:/|\s(?:per|an?|each|pro|je|par)\s)\s?[^\W\d_]")
"""Behind the unit of a rate, which a source may write as one sign: "36 cubic metres an hour" and 36 m³/h."""

_MISREAD = "OCR read a source of it, and may have misread it."
_PARTS_KEPT = 16
_HEAD_LINES = 10
_NAMED_SOURCES = 3
_ABSENT: dict[Kind, str] = {
    "date": "date_absent",
    "decade": "date_absent",
    "century": "date_absent",
    "time": "date_absent",
    "percent": "amount_absent",
    "money": "amount_absent",
    "amount": "amount_absent",
}


def numbers(case: Case) -> Iterator[Finding]:
    """What of the numbers of each claim is not in what it cites."""
    sources = _Sources(case)
    for claim, cited in statements(case):
        if all(place.evidence.tier == "observed" for place in cited):
            continue
        found = list(_of_claim(claim, cited, sources))
        if any(is_read_by_ocr(place.evidence.extractor) for place in cited):
            # A digit that OCR misread is missing from the text and not from the page.
            found = [
                msgspec.structs.replace(each, severity="soft", message=f"{each.message} {_MISREAD}")
                for each in found
            ]
        found.sort(key=lambda finding: finding.severity != "hard")
        yield from found[:CLAIM_FINDINGS]


class _Indexed:
    """A source with its index, from which the part of some lines can be cut."""

    def __init__(self, source: SourceText) -> None:
        self.index = QuantityIndex(source.quantities)
        self._quantities = source.quantities
        self._starts = [quantity.start for quantity in source.quantities]
        self._lines = [0]
        for line in source.text.split("\n"):
            self._lines.append(self._lines[-1] + len(line) + 1)
        head = self.between(1, min(_HEAD_LINES, len(self._lines) - 1))
        self.dateline = tuple(
            quantity
            for quantity in head
            if quantity.kind == "date" and any(reading.day for reading in quantity.dates)
        )

    def between(self, first: int, last: int) -> Sequence[Quantity]:
        """The quantities that begin in lines `first` to `last`."""
        low = bisect_left(self._starts, self._lines[first - 1])
        return self._quantities[low : bisect_left(self._starts, self._lines[last])]


class _Sources:
    """The indexes of a case, each made when it is first asked for."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._indexed: dict[SourceText, _Indexed] = {}
        self._described: dict[str, tuple[Quantity, ...]] = {}
        self._parts: dict[tuple[tuple[str, int, int], ...], QuantityIndex] = {}
        self._tables: dict[tuple[str, int, int], TableValues] = {}

    def whole(self, cited: Sequence[CitedLines]) -> list[QuantityIndex]:
        """Everything that each cited source says."""
        captured = {place.evidence.text.sha256: place for place in cited if place.evidence.tier != "observed"}
        return [self._source(place).index for place in captured.values()]

    def beside(self, cited: Sequence[CitedLines]) -> QuantityIndex:
        """The titles and addresses of the sources, and of what a command printed the cited lines, if they
        were printed again in a clean box."""
        return QuantityIndex(self._beside(cited))

    def part(self, cited: Sequence[CitedLines]) -> QuantityIndex:
        """What the cited lines say, read with the heads of their sources: titles, addresses, datelines, and
        the headings over the lines."""
        named = tuple((place.evidence.id, place.first, place.last) for place in cited)
        if named not in self._parts:
            if len(self._parts) == _PARTS_KEPT:
                del self._parts[next(iter(self._parts))]
            self._parts[named] = self._part(cited)
        return self._parts[named]

    def _part(self, cited: Sequence[CitedLines]) -> QuantityIndex:
        found = [*self._beside(cited)]
        for place in cited:
            if place.evidence.tier != "observed":
                found += place.span.quantities
                found += self._source(place).dateline
                found += place.source.beside("\n".join(place.headings))
        return QuantityIndex(found)

    def in_table(self, quantity: Quantity, claim: str, cited: Sequence[CitedLines]) -> bool:
        """Whether a cell of a table in the cited lines has it, in the unit and the scale that the table
        says."""
        for place in cited:
            if place.evidence.tier == "observed":
                continue
            named = (place.evidence.id, place.first, place.last)
            if named not in self._tables:
                self._tables[named] = TableValues(place)
            if self._tables[named].has(quantity, claim):
                return True
        return False

    def names_unit(self, quantity: Quantity, cited: Sequence[CitedLines]) -> bool:
        """Whether the unit of a number that stands without one is said beside it: in the cited lines or over
        them, or, for a row of a table, anywhere in the source. A head that says thousands or millions gives
        it to no number that stands alone."""
        wanted = frozenset(quantity.units)
        for place in cited:
            text = place.span.text
            whole = any(map(is_row, text.split("\n")))
            said = place.source.text if whole else "\n".join((text, *place.headings, place.evidence.title))
            if wanted & _units_named(said) and (quantity.scale > 1 or not _SCALED_HEAD.search(said)):
                return True
        return False

    def _source(self, place: CitedLines) -> _Indexed:
        if place.source not in self._indexed:
            self._indexed[place.source] = _Indexed(place.source)
        return self._indexed[place.source]

    def _beside(self, cited: Sequence[CitedLines]) -> Iterator[Quantity]:
        for place in cited:
            evidence = place.evidence
            if evidence.tier != "observed":
                if evidence.id not in self._described:
                    address = as_given(evidence.source).partition("?")[0].partition("#")[0]
                    address = _VERSION_MARK.sub(" ", address)
                    self._described[evidence.id] = place.source.beside(f"{evidence.title}\n{address}")
                yield from self._described[evidence.id]
            elif self._case.derived(evidence.id):
                yield from place.span.quantities


def _of_claim(claim: Claim, cited: Sequence[CitedLines], sources: _Sources) -> Iterator[Finding]:
    read = quantities(claim.text, language_of(cited))
    asked = [
        quantity
        for quantity in read
        if not is_idle(quantity, claim.text) or is_another_share(quantity, claim.text, cited)
    ]
    if not asked:
        return
    whole, beside, part = sources.whole(cited), sources.beside(cited), sources.part(cited)
    told: set[str] = set()
    for quantity in asked:
        here = backing(quantity, part)
        if (
            quantity.text in told
            or here == "stated"
            or (here == "unclear" and _reads_table(quantity, cited, sources))
            or sources.in_table(quantity, claim.text, cited)
        ):
            continue
        told.add(quantity.text)
        yield from _of_quantity(quantity, claim, cited, whole, beside)


def _reads_table(quantity: Quantity, cited: Sequence[CitedLines], sources: _Sources) -> bool:
    """Whether the cited lines have the number without its unit, and the unit beside it or over it."""
    return bool(quantity.units) and sources.names_unit(quantity, cited)


def _of_quantity(
    quantity: Quantity,
    claim: Claim,
    cited: Sequence[CitedLines],
    whole: Sequence[QuantityIndex],
    beside: QuantityIndex,
) -> Iterator[Finding]:
    """What is wrong with a quantity that the cited lines do not state."""
    backings = {backing(quantity, index) for index in whole}
    derivable = is_derivable(quantity, claim.text, cited)
    if "stated" in backings or backed(quantity, beside):
        if not derivable:
            yield _elsewhere(quantity, claim, cited)
    elif (
        quantity.units
        and "unclear" in backings
        and not derivable
        and not _RATE.match(claim.text, quantity.end)
    ):
        yield _other_unit(quantity, claim, cited)
    else:
        yield _missing(quantity, claim, cited, hard="unclear" not in backings and not derivable)


def _missing(quantity: Quantity, claim: Claim, cited: Sequence[CitedLines], *, hard: bool) -> Finding:
    if hard:
        message = (
            f'"{quantity.text}" is nowhere in {_named(cited)}: give the value that is there, '
            "cite a source that has this one, or drop it."
        )
        code = _ABSENT.get(quantity.kind, "number_absent")
        return _finding(code, "fabricated", "hard", message, quantity, claim, cited)
    message = (
        f'"{quantity.text}" is not in {_named(cited)} as it is written here: '
        "say how it follows, or say what is there."
    )
    return _finding("number_unclear", "misinterpretation", "soft", message, quantity, claim, cited)


def _other_unit(quantity: Quantity, claim: Claim, cited: Sequence[CitedLines]) -> Finding:
    message = (
        f'"{quantity.text}" is not in {_named(cited)}: no amount of that unit there has this value. '
        "Give the value that is there, or drop it."
    )
    return _finding("amount_absent", "fabricated", "hard", message, quantity, claim, cited)


def _elsewhere(quantity: Quantity, claim: Claim, cited: Sequence[CitedLines]) -> Finding:
    message = f'"{quantity.text}" is in {_named(cited)}, but not in the lines that are cited: cite others.'
    return _finding("number_not_in_span", "wrong_evidence", "hard", message, quantity, claim, cited)


@lru_cache(maxsize=4)
def _units_named(text: str) -> frozenset[Unit]:
    """The units that a text names, with a number before them or without."""
    named = (unit_words().get(word.lower(), ()) for word in _UNIT_WORD.findall(text))
    ages = unit_words()["year"] if _AGE.search(text) else ()
    signs = (unit_symbols().get(sign, ()) for sign in _UNIT_SIGN.findall(text))
    return frozenset(unit for units in chain(named, signs, [ages]) for unit in units)


def _finding(
    code: str,
    label: str,
    severity: Severity,
    message: str,
    quantity: Quantity,
    claim: Claim,
    cited: Sequence[CitedLines],
) -> Finding:
    place = cited[0]
    return Finding(
        code=code,
        label=label,
        severity=severity,
        message=message,
        claim=claim.key,
        evidence=place.evidence.id,
        first=place.first,
        last=place.last,
        detail=quantity.text,
    )


def _named(cited: Sequence[CitedLines]) -> str:
    """The cited sources as a message names them: "the cited source ev_0003"."""
    names = list(dict.fromkeys(place.evidence.id for place in cited))
    if len(names) == 1:
        return f"the cited source {names[0]}"
    more = f" and {len(names) - _NAMED_SOURCES} more" if len(names) > _NAMED_SOURCES else ""
    return f"the cited sources {', '.join(names[:_NAMED_SOURCES])}{more}"
