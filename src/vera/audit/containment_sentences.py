"""The sentences of a source as the rule `containment` reads them: whole, and with what stands over them.

Wrapped lines are joined, the items of a list stand alone. An item has the meaning that the head of its list
gives it: under "you must do these things:" it is a duty, under "in one of these ways:" it is a choice and
says nothing alone.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from vera.audit.containment_terms import DISTANCE, KINDS, RELATIVES, Token, tokens, without_opening
from vera.text.late_regex import late_regex
from vera.text.negation import State, below, box_of, is_box, is_negative, is_remark
from vera.text.sentences import END
from vera.text.span import Lines
from vera.text.units import unit_words
from vera.text.whole_sentences import runs_on
from vera.text.words import words

SENTENCE_LIMIT = 3_000
"""Characters of the longest sentence that is compared."""

CONTEXT = 60
"""Lines before and after the cited ones in which a sentence may begin, its list may be introduced, or it
ends."""

_TEXT_LIMIT = 400_000
_KEPT = 20_000
"""Characters of the longest text whose sentences are kept: 120 lines of prose have about half of it."""

_WRAPPED = 40
_CLAUSE = (
    r"(?:(?:(?:§{1,2}|Clause|Section|Article|Ziffer|Abschnitt|Artikel)\s)?[0-9]{1,3}(?:\.[0-9]{1,3}){1,4}"
    r"|[A-Z][0-9]{1,2}(?:\.[0-9]{1,2}){0,3}(?=\s{2}))"
    r"(?=\s{1,4}[\"“„«(]?[^\W\d_a-z])"
)
"""The number of a clause before its sentence: "3.1 The rent …", "B4  The insurer …"."""

_MARKER = late_regex(
    rf"(?P<indent>\s{{0,24}})(?:(?P<clause>{_CLAUSE})|"
    r"(?P<bullet>[-*•‣+])\s|\(?(?:(?P<number>[0-9]{1,3}(?:\.[0-9]{1,2}){0,3})"
    r"|(?P<letter>[A-Za-z]|[ivxIVX]{2,5}))[.)](?=\s)|(?P<han>[一二三四五六七八九十]{1,3}、)"
    r"|(?P<section>§{1,2}\s?[0-9]{1,4}[a-z]?)(?=\s))"
)
_NEW_BLOCK = late_regex(
    rf"\s{{0,24}}(?:{_CLAUSE}|"
    r"[-*•‣#|>]|\(?(?:[0-9]{1,3}(?:\.[0-9]{1,2}){0,3}|[A-Za-z]|[ivx]{2,5})[.)]\s|$)"
)
_IN_FORCE = late_regex(
    r"(?i)\s{0,8}(?:section|clause|article|paragraph|rule|§|artikel|absatz|ziffer|art[íi]culo|articolo"
    r"|artigo|第)\s{0,3}"
    r"[^\s:]{1,12}[^:]{0,60}(?<!\w)(?:(?:now|currently) in force|(?<!longer )(?<!not )(?<!yet )in force"
    r"|geltende\w?|(?<!plus )en vigueur|(?<!no )vigente|(?<!più )in vigore"
    r"|(?<!mais )(?<!não está )em vigor|现行)(?!\w)[^:]{0,60}:\s{0,4}\Z"
)
"""The heading of a clause that says that its wording is the one in force."""

_BOX = late_regex(r"\s{0,8}\*(?P<inner>\s.{0,200})\*\s{0,4}\Z")
_ALTERNATIVES = late_regex(
    r"(?i)\b(?:one|any|either|some|none|not|no|neither|ways|alternatives|options|exceptions?|except|unless"
    r"|instead|may|prohibited|forbidden|banned|examples?)\b"
)
_ALTERNATIVE = late_regex(r"[,;]\s{1,4}or,?\s{0,4}\Z")
_DUTIES = late_regex(r"(?i)\byou must (?:also )?(?:do|meet|follow|observe)\b[^:]{0,80}:\s*\Z")
_TURNED = {"may": "must not", "shall": "must not", "can": "cannot"}


class Sentence(NamedTuple):
    """A sentence of a source: its text, its tokens and the line of each.

    `optional` ones are alternatives or exceptions by the head of their list, and say nothing alone. `box` is
    the box that is not ticked at the beginning of the paragraph before them.
    """

    text: str
    tokens: tuple[Token, ...]
    lines: tuple[int, ...]
    optional: bool = False
    box: str = ""


def sentences(lines: Lines, first: int, last: int) -> Iterator[Sentence]:
    """The sentences that touch lines `first` to `last`, whole, read with their surroundings."""
    top, bottom = max(1, first - CONTEXT), min(len(lines), last + CONTEXT)
    text = lines.cut(top, bottom)[:_TEXT_LIMIT].decode("utf-8", "replace")
    read = _sentences if len(text) <= _KEPT else _sentences.__wrapped__
    yield from read(text, top, first, last)


@lru_cache(maxsize=1024)  # other claims ask for the same lines
def _sentences(text: str, top: int, first: int, last: int) -> tuple[Sentence, ...]:
    """The sentences of a text, which begins with line `top`, that touch lines `first` to `last`."""
    found: list[Sentence] = []
    head: _Block | None = None
    alternative = False
    state: State = ""
    above: _Block | None = None
    for block in _numbered(list(_blocks(text.split("\n"), top))):
        if block.first > last:
            break
        if head is not None and head.kind == block.kind != "" and above is not head:
            state = ""  # the next one of the head's own list, behind what the head led into
        denied, state = below(block.text, state, item=bool(block.kind))
        if _ends_list(block, head):
            head, alternative = None, False
        if block.kind:
            alternative = alternative or bool(_ALTERNATIVE.search(block.text))
        if block.line_at(len(block.text)) >= first:
            for sentence in _of_block(block, head, first, last, alternative=alternative):
                found.append(sentence._replace(box=denied or sentence.box))
        if block.text.rstrip().endswith(":"):
            head, alternative = block, False
        above = block if block.text.strip() else above
    return tuple(found)


def with_names(sentence: Sentence, known: Sequence[tuple[str, ...]]) -> Sentence:
    """The sentence with one token for each mention of its document by one of its names, and with "this
    license" for it only where a name says that it is a license."""
    kinds = KINDS.intersection(key for name in known for key in name)
    made: list[Token] = []
    lines: list[int] = []
    index = 0
    while index < len(sentence.tokens):
        size = next((len(name) for name in known if _stands(name, sentence.tokens, index)), 0)
        token = sentence.tokens[index]
        own = token.own and token.key in kinds
        made.append(token._replace(key="self", own=True) if size else token._replace(own=own))
        lines.append(sentence.lines[index])
        index += max(size, 1)
    return sentence._replace(tokens=tuple(made), lines=tuple(lines))


def turned(sentence: Sentence) -> Iterator[Sentence]:
    """ "No work may be sold" as "a work may not be sold"; "neither A nor B may" as two such sentences."""
    found = sentence.tokens
    denial = _denial(found)
    if denial is None:
        return
    start, verb = denial
    if found[verb].tag == "be":
        denied: tuple[Token, ...] = (found[verb], Token("not", "not"))
    elif found[verb].key in _TURNED:
        denied = (found[verb]._replace(key=_TURNED[found[verb].key]),)
    else:
        return
    nor = next((i for i in range(start, verb) if found[i].key == "nor"), verb)
    for first, last in ((start + 1, nor), (nor + 1, verb)):
        if first < last:
            lines = sentence.lines
            yield sentence._replace(
                tokens=(*found[first:last], *denied, *found[verb + 1 :]),
                lines=(*lines[first:last], *[lines[verb]] * len(denied), *lines[verb + 1 :]),
            )


def _denial(found: Sequence[Token]) -> tuple[int, int] | None:
    """Where a sentence has the "no" or "neither" that it begins with, and its verb; None for no such one."""
    start = next((i for i, token in enumerate(found[:6]) if token.key in ("no", "neither")), None)
    verb = next((i for i, token in enumerate(found) if token.tag in ("mode", "be")), None)
    if start is None or verb is None or without_opening(found[:start]) or found[start + 1].tag == "mark":
        return None
    bound = any(token.key in RELATIVES or token.tag == "limit" for token in found[:verb])
    return None if bound else (start, verb)


def _stands(name: Sequence[str], found: Sequence[Token], index: int) -> bool:
    there = found[index : index + len(name)]
    return tuple(token.key for token in there) == tuple(name) and all(token.capital for token in there)


class _Block(NamedTuple):
    """Lines that belong together: a paragraph, an item of a list, or a short line by itself.

    `kind` is how an item is marked (bullet, number, letter), '' for anything else.
    """

    text: str
    starts: tuple[int, ...]
    first: int
    kind: str
    indent: int
    begun: int

    def line_at(self, offset: int) -> int:
        return self.first + bisect_right(self.starts, offset) - 1


def _ends_list(block: _Block, head: _Block | None) -> bool:
    """Whether a block is outside the list of a head: an item of the same kind as the head is the next one."""
    if not block.kind:
        return bool(block.text.strip())
    if head is None or not head.kind:
        return False
    return block.kind == head.kind or block.indent < head.indent


def _of_block(
    block: _Block, head: _Block | None, first: int, last: int, *, alternative: bool
) -> Iterator[Sentence]:
    introduction = _last_sentence(head.text) if head else ""
    optional = alternative or _is_open(introduction)
    duties = not optional and bool(_DUTIES.search(introduction))
    box = box_of(block.text[block.begun :])
    for begun, text in _pieces(block, first, last):
        found = tokens(text)
        numbers = tuple(block.line_at(begun + token.start) for token in found)
        if found:
            yield Sentence(text, found, numbers, optional, box if begun > block.begun else "")
            if duties and head is not None:
                yield _as_duty(Sentence(text, found, numbers), head)


def _pieces(block: _Block, first: int, last: int) -> Iterator[tuple[int, str]]:
    """Where each sentence of a block begins that touches lines `first` to `last`, and its text."""
    for begun, end in pairwise((block.begun, *_ends(block))):
        text = block.text[begun:end]
        touches = block.line_at(max(begun, end - 1)) >= first and block.line_at(begun) <= last
        if touches and text.strip() and len(text) <= SENTENCE_LIMIT:
            yield begun, text


def _ends(block: _Block) -> Iterator[int]:
    """The ends of sentences but for those before a remark, or a box at the very end, that takes them back."""
    text = block.text
    ends = [match.end() for match in END.finditer(text) if match.end() > block.begun]
    for end, following in pairwise((*ends, len(text))):
        rest = text[end:following]
        if not is_remark(rest) and not (following == len(text) and is_box(rest)):
            yield end
    yield len(text)


def _is_open(introduction: str) -> bool:
    """Whether the head of a list leaves open which of its items hold, or denies or doubts them."""
    doubted = any(token.key in DISTANCE for token in tokens(introduction[-SENTENCE_LIMIT:]))
    return doubted or bool(_ALTERNATIVES.search(introduction.rpartition(",")[2]))


def _last_sentence(text: str) -> str:
    start = max((match.end() for match in END.finditer(text)), default=0)
    return text[start:].strip()


def _as_duty(item: Sentence, head: _Block) -> Sentence:
    """An item of "you must do these things:" as a sentence: "you must …"."""
    line = head.line_at(len(head.text) - 1)
    return item._replace(
        tokens=(Token("you", "word"), Token("must", "mode"), *item.tokens), lines=(line, line, *item.lines)
    )


def _blocks(lines: Sequence[str], first: int) -> Iterator[_Block]:
    block: list[str] = []
    start = first
    for number, raw in enumerate(lines, first):
        boxed = _BOX.match(raw)
        line = boxed["inner"] if boxed else raw
        if block and _is_new(line, block[-1]):
            yield _block(block, start)
            block, start = [], number
        block.append(line)
    if block:
        yield _block(block, start)


def _is_new(line: str, above: str) -> bool:
    """Whether a line begins another block than the line above it."""
    short = len(above) < _WRAPPED or not above.strip()
    return bool(short or _NEW_BLOCK.match(line) or _is_in_force(above)) and not runs_on(above, line)


def _is_in_force(line: str) -> bool:
    return line.rstrip().endswith(":") and _IN_FORCE.match(line) is not None and not is_negative(line)


def _block(lines: Sequence[str], first: int) -> _Block:
    starts: list[int] = []
    offset = 0
    for line in lines:
        starts.append(offset)
        offset += len(line) + 1
    marker = _MARKER.match(lines[0])
    if marker and marker["clause"] and _is_measured(lines[0], marker.end()):
        marker = None
    kind = (marker.lastgroup or "") if marker else ""
    begun, indent = (marker.end(), len(marker["indent"])) if marker else (0, 0)
    return _Block(" ".join(lines), tuple(starts), first, kind, indent, begun)


def _numbered(blocks: Sequence[_Block]) -> Iterator[_Block]:
    """The blocks; a bare number before a word numbers no clause where the number before or after it is
    nowhere: it may be a decimal."""
    numbers = {_number(block) for block in blocks if block.kind == "clause"}
    for block in blocks:
        if block.kind == "clause":
            letter, front, last = _number(block)
            named = block.text[: block.begun].strip().count(" ") > 0
            if not (named or numbers & {(letter, front, last - 1), (letter, front, last + 1)}):
                yield block._replace(kind="", begun=0)
                continue
        yield block


def _number(block: _Block) -> tuple[str, str, int]:
    """The letter of a clause, its number but for the last part, and that part."""
    front, _, last = block.text[: block.begun].split()[-1].rpartition(".")
    letter = "" if front else last[0]
    return letter, front, int(last.lstrip(letter))


def _is_measured(line: str, end: int) -> bool:
    """Whether the word behind a number is its unit or scale: "2.5 Liter", "3.1 Million"."""
    word = next(iter(words(line[end : end + 60])), None)
    return word is not None and (word.form in unit_words() or word.form.startswith(("million", "milliard")))
