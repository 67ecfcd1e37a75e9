"""Labelled data, read from files that the caller names: none of it is part of VERA.

WiCE (Kamoi et al., EMNLP 2023): JSON lines with a claim of Wikipedia, the sentences of the page that it
cites, a label, and sets of sentences that support it. QuoteSum (Schuster et al., NAACL 2024): JSON lines with
a summary in which people marked what is taken from numbered sources, `[ 2 the words ]`. FEVER pairs (Thorne
et al., NAACL 2018) and COVID-Fact (Saakyan et al., ACL 2021): three files whose lines belong together,
evidence, claim and label. AVeriTeC (Schlichtkrull et al., NeurIPS 2023): a JSON list of claims with a label
and questions, whose answers are the evidence.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from vera.bench.eval_data import DataError
from vera.decode_errors import DECODE_ERRORS

LINE_LIMIT = 16_000_000
"""Bytes of the longest line; a file with a longer one is no such data."""
ROW_LIMIT = 1_000_000

_SOURCES = 8
_SUPPORTED = frozenset(("supports", "supported", "support", "entailment", "entailed", "true", "1"))
_NOT_SUPPORTED = frozenset(
    ("refutes", "refuted", "contradiction", "not_entailment", "not_supported", "partially_supported",
     "neutral", "not enough info", "not_enough_info", "nei", "false", "0")
)  # fmt: skip
_WICE_LABELS = frozenset(("supported", "partially_supported", "not_supported"))
_AVERITEC_LABELS = {
    "Supported": True,
    "Refuted": False,
    "Conflicting Evidence/Cherrypicking": False,
    "Not Enough Evidence": None,
}
_FILE_LIMIT = 256_000_000
_DOUBLED = re.compile(r'"(.*""[^"].*)"', re.DOTALL)
_MARKED = re.compile(
    r"\[ ?(?P<source>[0-9]) (?P<words>[^\[\]]{0,4000}(?:\[[^\[\]]{0,200}\][^\[\]]{0,4000})?) ?\]"
)

Row = TypeVar("Row")


class CheckedClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim, the lines of the page it cites, and whether people say that it is fully supported.

    `gold` are the numbers (from 1) of lines that somebody needed to support it.
    """

    text: str
    page: tuple[str, ...]
    supported: bool
    gold: frozenset[int] = frozenset()


class Marked(msgspec.Struct, frozen=True):
    """Words that people took from a source, and that source, its title in the first line; '' for none."""

    words: str
    source: str


class _Wice(msgspec.Struct):
    label: str
    claim: str
    evidence: list[str]
    supporting_sentences: list[list[int]]


class _QuoteSum(msgspec.Struct):
    summary: str
    title1: str = ""
    title2: str = ""
    title3: str = ""
    title4: str = ""
    title5: str = ""
    title6: str = ""
    title7: str = ""
    title8: str = ""
    source1: str = ""
    source2: str = ""
    source3: str = ""
    source4: str = ""
    source5: str = ""
    source6: str = ""
    source7: str = ""
    source8: str = ""


class _Answer(msgspec.Struct):
    answer: str
    boolean_explanation: str = ""


class _Question(msgspec.Struct):
    question: str
    answers: list[_Answer]


class _Averitec(msgspec.Struct):
    claim: str
    label: str
    questions: list[_Question]


def read_wice(path: Path, limit: int = ROW_LIMIT) -> Iterator[CheckedClaim]:
    """The first `limit` claims. Raises DataError."""
    for number, row in _json_lines(path, _Wice, "WiCE", limit):
        if row.label not in _WICE_LABELS:
            raise DataError(f"{path}, line {number}: {row.label[:40]!r} is no label of WiCE.")
        gold = {index for chosen in row.supporting_sentences for index in chosen}
        if any(not 0 <= index < len(row.evidence) for index in gold):
            raise DataError(f"{path}, line {number}: a supporting sentence that the page does not have.")
        yield CheckedClaim(
            text=row.claim,
            page=tuple(row.evidence),
            supported=row.label == "supported",
            gold=frozenset(index + 1 for index in gold),
        )


def read_quotesum(path: Path, limit: int = ROW_LIMIT) -> Iterator[Marked]:
    """What is marked in the first `limit` summaries. Raises DataError."""
    for _, row in _json_lines(path, _QuoteSum, "QuoteSum", limit):
        for mark in _MARKED.finditer(row.summary):
            which = int(mark["source"])
            source = getattr(row, f"source{which}") if 1 <= which <= _SOURCES else ""
            title = getattr(row, f"title{which}") if source else ""
            if mark["words"].strip():
                yield Marked(mark["words"].strip(), f"{title}\n{source}" if source else "")


def read_pairs(evidence: Path, claims: Path, labels: Path, limit: int = ROW_LIMIT) -> Iterator[CheckedClaim]:
    """The first `limit` lines of three parallel files. Raises DataError.

    A label is SUPPORTS, entailment or 1 for a supported claim; REFUTES, NOT ENOUGH INFO, not_entailment or 0
    for another. A claim that is in quotation marks as a cell of a table is read as what the cell holds.
    """
    rows = [_lines(path) for path in (evidence, claims, labels)]
    for number, (page, claim, label) in enumerate(_in_step(rows, (evidence, claims, labels)), 1):
        if number > limit:
            return
        name = label.strip().lower()
        if name not in _SUPPORTED | _NOT_SUPPORTED:
            raise DataError(
                f"{labels}, line {number}: {label.strip()[:40]!r} is no label; SUPPORTS, entailment or 1, "
                "and REFUTES, NOT ENOUGH INFO, not_entailment or 0 are known."
            )
        yield CheckedClaim(text=_cell(claim.strip()), page=(page.strip(),), supported=name in _SUPPORTED)


def read_averitec(path: Path, limit: int = ROW_LIMIT) -> Iterator[CheckedClaim]:
    """The first `limit` claims whose evidence is called enough. Raises DataError."""
    try:
        if path.stat().st_size > _FILE_LIMIT:
            raise DataError(f"{path} has more than {_FILE_LIMIT} bytes.")
        rows = msgspec.json.decode(path.read_bytes(), type=list[_Averitec])
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    except DECODE_ERRORS as error:
        raise DataError(f"{path} holds no list of AVeriTeC ({error}).") from None
    read = 0
    for number, row in enumerate(rows, 1):
        if row.label not in _AVERITEC_LABELS:
            raise DataError(f"{path}, claim {number}: {row.label[:40]!r} is no label of AVeriTeC.")
        supported = _AVERITEC_LABELS[row.label]
        if supported is None or read == limit:
            continue
        read += 1
        page: list[str] = []
        for each in row.questions:
            page.append(each.question)
            page += [f"{found.answer} {found.boolean_explanation}".strip() for found in each.answers]
        yield CheckedClaim(text=row.claim, page=tuple(page), supported=supported)


def _cell(text: str) -> str:
    """What a cell of a table holds, where it is written with its quotation marks doubled."""
    return cell[1].replace('""', '"') if (cell := _DOUBLED.fullmatch(text)) else text


def _in_step(rows: list[Iterator[str]], paths: tuple[Path, ...]) -> Iterator[tuple[str, str, str]]:
    while True:
        page, claim, label = (next(lines, None) for lines in rows)
        if page is None and claim is None and label is None:
            return
        if page is None or claim is None or label is None:
            raise DataError(f"{', '.join(map(str, paths))} do not have the same number of lines.")
        yield page, claim, label


def _json_lines(path: Path, kind: type[Row], name: str, limit: int) -> Iterator[tuple[int, Row]]:
    read = 0
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        if read == limit:
            return
        try:
            row = msgspec.json.decode(line, type=kind)
        except DECODE_ERRORS as error:
            raise DataError(f"{path}, line {number}: no row of {name} ({error}).") from None
        read += 1
        yield number, row
    if not read:
        raise DataError(f"{path} holds no rows of {name}.")


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open("rb") as file:
            for _ in range(ROW_LIMIT):
                line = file.readline(LINE_LIMIT)
                if not line:
                    return
                if len(line) == LINE_LIMIT:
                    raise DataError(f"{path} has a line of more than {LINE_LIMIT} bytes.")
                yield line.decode()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is not UTF-8 text.") from None
