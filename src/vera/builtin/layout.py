"""The layout of plain text: headings, paragraphs, list items, table rows, and sentences over wrapped lines.

Works on any numbered lines, with gaps: a text is cut into pieces (a sentence, or one line of a sentence that
is longer than a citation may be), each with the headings and the lead-in under which it stands.
"""

import re
from collections.abc import Iterator, Mapping

import msgspec

from vera.builtin.words import Word, words
from vera.text.late_regex import late_regex
from vera.text.sentences import GERMAN_DATE

MAX_CITED_LINES = 6

_ATX = late_regex(r"^ {0,3}(#{1,6})\s+(.+?)\s*#*$")
_UNDERLINE = late_regex(r"^\s{0,3}(?:={3,}|-{3,}|~{3,}|\*{3,}|\^{3,})\s*$")
_RULE = late_regex(r"^\W*$")
_NUMBERED = late_regex(
    r"^(?:§ ?|section |article |chapter |appendix )?(\d+(?:\.\d+)*[.:)]?|[a-z][.)]|[ivx]+[.)])\s+\S", re.I
)
_ITEM = late_regex(
    r"^\s*(?:[-*•·‣◦+–]\s+|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)]\s+|\((?:\d{1,3}|[a-z]|[ivx]{1,4})\)\s*|--?[A-Za-z?][\w-]*)"
)
_TABLE = late_regex(r"\s*\||.*\S\t+\S|\|.*\|")
_SENTENCE_END = late_regex(r"[.!?…]+[\"'”’)\]]*(?=\s|$)|[。！？]+[」』”]*")
_ABBREVIATION = late_regex(
    r"(?:\b(?:e\.g|i\.e|etc|cf|vs|no|nos|mr|mrs|ms|dr|prof|st|jr|sr|inc|ltd|co|corp|dept|art|sec|fig|figs|vol|pp|"
    r"ed|eds|approx|ca|al|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|bzw|z\.b|d\.h|u\.s|u\.k|a\.m|p\.m|gen|col|"
    r"lt|rev|hon)|(?<![\w°])[A-Z]|^\s*\(?\w{1,4})\.$",
    re.I,
)
_ORDINAL = late_regex(GERMAN_DATE)
_MAX_ASKED_LENGTH = 4
MAX_TERM_LENGTH = 70
WRAPPED = 120
"""A longer line was not wrapped for paper: it is a whole paragraph."""
_HYPHENATED = late_regex(r"[\u2010\u00ad] ")
_BRACKETED = late_regex(r"\[[^\[\]]*\]|<[^<>]*>")
_FIELD = late_regex(r"^\s{0,8}[^\W\d_][\w()/'’ .-]{0,39}:\s{1,8}\S.{0,99}$")
"""A line that may be a field of a form: "Floor area: 42 square metres"."""
_ROW_LABEL = late_regex(
    r"^\s{0,8}(?:\|\s{0,8}([^|\n]{2,60}?)\s{0,40}\||([^\W\d_][\w()/'’ .-]{0,39}):\s{1,8}\S|"
    r"([^|\t\n]{2,60}?)\s{0,8}\t+\S)"
)
_LABEL = late_regex(r"^\W{0,8}(\w[^:.\n]{0,50}?)[\"”*_`]{0,3}(?::\s|\s{2,}|\s[—–-]\s|[\"”]? means\b)")
_CLAUSE_END = late_regex(r"[;:,—–]\s*(?:and|or)?\s*$")


class Piece(msgspec.Struct, frozen=True):
    """A sentence, or one line of a long one.

    `sentence` numbers the sentence it belongs to, `block` its paragraph; `clause_start` says that it begins a
    sentence or a clause, `ends` that its sentence ends with it. `context` holds the headings and the lead-in
    above, nearest last; `heading` marks a heading itself, `lead_in` a sentence that ends in a colon,
    `columns` a row whose nearest context is the head of its table.
    """

    first: int
    last: int
    text: str
    words: tuple[Word, ...]
    sentence: int
    block: int
    starts: bool
    clause_start: bool
    ends: bool
    context: tuple[str, ...]
    heading: bool = False
    lead_in: bool = False
    columns: bool = False


def pieces(lines: Mapping[int, str], *, tabular: bool = False) -> list[Piece]:
    """The pieces of numbered lines, in order. `tabular`: every line is its own row (CSV, TSV)."""
    layout = _Layout()
    for number in sorted(lines):
        layout.add(number, lines[number], lines.get(number + 1), tabular)
    layout.close()
    return layout.pieces


def label_of(text: str) -> str:
    """What a field or a row of a table calls its value, '' where a text is neither: "Floor area".

    A term with a tab and a whole paragraph behind it gives no value.
    """
    match = _ROW_LABEL.match(text)
    if match is None or (match.group(3) and len(text) > WRAPPED):
        return ""
    return next((str(group) for group in match.groups() if group), "")


def is_heading(line: str, before: str | None, after: str | None) -> bool:
    """Whether a line, seen between its neighbours (None: unknown), reads like a heading."""
    stripped = line.strip()
    if not stripped or len(stripped) > 100 or _RULE.match(stripped):
        return False
    if _ATX.match(line) or (after is not None and _UNDERLINE.match(after) and not _TABLE.match(line)):
        return True
    if asks(stripped):
        return not before and len(stripped) > 8
    if _is_term(stripped, after):
        return True
    alone = not (before or "").strip() and after is not None and not after.strip()
    capitals = stripped.isupper() and sum(char.isalpha() for char in stripped) > 2
    if capitals and not stripped.endswith((".", ",", ";")):
        return not (before or "").strip()
    if not alone or stripped.endswith((",", ";", ":")) or (_ITEM.match(line) and not stripped[0].isdigit()):
        return False
    if _NUMBERED.match(stripped):
        # "6. Conveying Source." is a heading, "A. Press the button." answers a question.
        return len(stripped) <= 80 and (stripped[0].isdigit() or not stripped.endswith("."))
    return stripped[0].isupper() and len(stripped) <= 60 and not stripped.endswith(".")


def _is_term(stripped: str, after: str | None) -> bool:
    """Whether a line is the term of a definition list in text whose paragraphs are a line each: a paragraph
    follows that is longer than a line on paper."""
    return (
        len(stripped) <= MAX_TERM_LENGTH
        and not stripped.endswith((".", ",", ";", ":"))
        and after is not None
        and len(after) > WRAPPED
        and after[0].isupper()
        and not _ITEM.match(stripped)
    )


def asks(text: str) -> bool:
    """Whether a text ends in a question mark, Markdown emphasis and closing quotes aside."""
    return text.rstrip(" \t*_\"'”’)").endswith(("?", "？"))


def _level(line: str) -> int:
    if atx := _ATX.match(line):
        return len(atx.group(1))
    if numbered := _NUMBERED.match(line.strip()):
        return 2 + numbered.group(1).count(".")
    return 2 if not line.startswith(" ") else 3


def _is_row(line: str, before: str | None, after: str | None) -> bool:
    """Whether a line is a row of a table, or one of several fields, one below the other."""
    if _TABLE.match(line):
        return True
    beside = (before is not None and _FIELD.match(before)) or (after is not None and _FIELD.match(after))
    return bool(beside and _FIELD.match(line))


class _Layout:
    """Collects lines into blocks and blocks into pieces."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self._block: list[tuple[int, str]] = []
        self._headings: list[tuple[int, str]] = []
        self._lead_in = ""
        self._asked = ""
        self._columns = ""
        self._blocks = 0
        self._sentences = 0
        self._before: tuple[int, str] | None = None
        self._is_item = False

    def add(self, number: int, line: str, after: str | None, tabular: bool) -> None:
        before = self._before[1] if self._before and self._before[0] == number - 1 else None
        self._before = (number, line)
        if before is None:
            self.close()
        if _RULE.match(line):
            self.close()
        elif tabular or _is_row(line, before, after):
            self.close()
            self._row(number, line)
            if tabular and number == 1:
                self._columns = line
        elif is_heading(line, before, after):
            self.close()
            self._heading(number, line)
        else:
            self._text(number, line)

    def close(self) -> None:
        """End the block that is open, if any."""
        if not self._block:
            return
        if not self._is_item:
            self._lead_in = ""
        context = self._context_of(self._block)
        self._blocks += 1
        for sentence in _sentences(self._block):
            self._sentence(sentence, context)
        last = self._block[-1][1].rstrip()
        if last.endswith((":", "：")):
            self._lead_in = self._last_sentence()
        elif asks(last):
            self._asked = " ".join(line.strip() for _, line in self._block[-_MAX_ASKED_LENGTH:])
        self._block = []
        self._is_item = False

    def _text(self, number: int, line: str) -> None:
        item = _ITEM.match(line) is not None
        if self._block and (item or self._outdented(line)):
            self.close()
        if not self._block:
            self._is_item = item
        self._block.append((number, line))

    def _last_sentence(self) -> str:
        parts: list[str] = []
        for piece in reversed(self.pieces):
            if piece.sentence != self._sentences:
                break
            parts.append(piece.text)
        return " ".join(reversed(parts))

    def _outdented(self, line: str) -> bool:
        indent, previous = _indent(line), _indent(self._block[-1][1])
        return indent < previous and self._block[-1][1].rstrip().endswith((".", "。", "!", "?", ":"))

    def _heading(self, number: int, line: str) -> None:
        level, title = _level(line), line.strip().strip("#").strip()
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        context = tuple(text for _, text in self._headings)
        self._headings.append((level, title))
        self._lead_in = self._asked = ""
        self._blocks += 1
        self._sentences += 1
        self.pieces.append(
            Piece(
                number,
                number,
                line,
                tuple(words(line)),
                self._sentences,
                self._blocks,
                True,
                True,
                True,
                context,
                True,
            )
        )

    def _row(self, number: int, line: str) -> None:
        self._blocks += 1
        head = (self._columns,) if self._columns else ()
        self._sentence([(number, line)], (*self._context_of([]), *head), columns=bool(head))

    def _context_of(self, block: list[tuple[int, str]]) -> tuple[str, ...]:
        titles = [title for _, title in self._headings]
        return (*titles, *filter(None, (self._asked, self._lead_in)), *(_tag(block) if block else []))

    def _sentence(
        self, lines: list[tuple[int, str]], context: tuple[str, ...], *, columns: bool = False
    ) -> None:
        self._sentences += 1
        colon = lines[-1][1].rstrip().endswith((":", "："))
        groups = [lines] if lines[-1][0] - lines[0][0] < MAX_CITED_LINES else [[line] for line in lines]
        clause = True
        # The first line of a long sentence may hold but a word or two of it, after another sentence's end.
        begins = 1 if len(groups) > 1 and len(lines[0][1].split()) <= 3 else 0
        for index, group in enumerate(groups):
            text = _HYPHENATED.sub("", " ".join(part.strip() for _, part in group))
            self.pieces.append(
                Piece(
                    first=group[0][0],
                    last=group[-1][0],
                    text=text,
                    words=tuple(words(text)),
                    sentence=self._sentences,
                    block=self._blocks,
                    starts=index <= begins,
                    clause_start=clause or index <= begins,
                    ends=index == len(groups) - 1,
                    context=context,
                    lead_in=colon,
                    columns=columns,
                )
            )
            clause = bool(_CLAUSE_END.search(text[-12:]))


def _tag(block: list[tuple[int, str]]) -> list[str]:
    """What a block says it is about: the term of a definition list, the option of a manual, a bold word."""
    first = block[0][1]
    if len(block) > 1 and len(first.strip()) <= 70 and _indent(block[1][1]) > _indent(first) + 1:
        return [_BRACKETED.sub(" ", first).strip()] if not first.rstrip().endswith((".", ":")) else []
    if match := _LABEL.match(first):
        return [match.group(1)]
    return []


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _sentences(block: list[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """The sentences of a block, each as the (line number, part of the line) it is on."""
    current: list[tuple[int, str]] = []
    for index, (number, line) in enumerate(block):
        position = 0
        following = block[index + 1][1].lstrip()[:1] if index + 1 < len(block) else ""
        for match in _SENTENCE_END.finditer(line):
            rest = line[match.end() :].lstrip()[:1] or following
            if (
                _ORDINAL.match(line, match.end())
                or rest.islower()
                or _ABBREVIATION.search(line[max(0, match.end() - 16) : match.end()])
            ):
                continue
            current.append((number, line[position : match.end()]))
            yield current
            current, position = [], match.end()
        if line[position:].strip():
            current.append((number, line[position:]))
    if current:
        yield current
