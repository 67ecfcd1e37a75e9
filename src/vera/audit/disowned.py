"""Whether the lines around a sentence disown it, for the rules that read word for word.

Three shapes: a lead above it ("the plaintiff submits:", "none of the following is true"), which holds as far
as its paragraph or list goes; a remark below it that points back ("all of the above is invented"), in its
paragraph, at the beginning of the next one or at the end of the document; and an opening that sets the whole
document apart (a specimen, a novel, a draft that was refused). What these may say is in
`vera.text.disowned`.
"""

from collections.abc import Iterator, Sequence

from vera.audit.case import CitedLines
from vera.text.disowned import (
    closes_over,
    disowns_above,
    disowns_below,
    disowns_beside,
    is_all_invented,
    is_key,
    is_lead,
    is_of_many,
    is_quiz,
    leads_with_colon,
    opens_apart,
    plain,
    turns,
)
from vera.text.headings import is_marked, over
from vera.text.late_regex import late_regex
from vera.text.negation import UNTICKED
from vera.text.sentences import END
from vera.text.span import Lines
from vera.text.whole_sentences import runs_on

REACH = 60
"""Lines above a sentence in which its lead may stand, and behind it in which a key may."""

_REMARKS = 8
"""Lines of its paragraph behind a sentence in which a remark may point back to it."""

_FIRST = 3
_LAST = 3
"""Lines at the beginning and at the end of a document that may speak of all of it."""

_HEAD_LENGTH = 160
"""Characters of the longest line that is taken for a title, or for the head of a list without a colon."""

_WIDTH = 120
"""Characters of the longest line of a text whose lines are not its paragraphs."""

_STOPS = (".", "!", "?", "。", "！", "？", ";", "；")
_LABEL_LENGTH = 60
_LINE_LENGTH = 4_000
_BEGINS = 40
"""Characters by which a sentence is found in its lines."""

_DATA = frozenset(("text/csv", "text/tab-separated-values", "application/json"))
_ITEM = late_regex(
    r"(?P<indent>\s{0,24})(?:[-*•‣+·]\s|\(?(?:[0-9]{1,3}(?:\.[0-9]{1,2}){0,3}|[A-Za-z]|[ivxIVX]{2,5})[.)]\s"
    r"|[一二三四五六七八九十]{1,3}、|[①-⑳])"
)
_LIMIT_OF_CODE = late_regex(r"\s{0,12}(?:```|~~~)")


def disowned(claim: str, sentence: str, behind: str, place: CitedLines) -> bool:
    """Whether the words around a sentence of a place disown it. `behind`: the sentence after it."""
    if place.evidence.media_type in _DATA:
        return False
    lines = place.source.lines
    number = line_of(sentence, place)
    return (
        _is_labelled(claim, sentence)
        or _is_led(lines, number, sentence, place.source.language)
        or _is_under(lines, number)
        or disowns_above(plain(behind), near=True)
        or any(map(disowns_above, _behind(lines, number, sentence)))
        or any(map(closes_over, _closing(lines, number)))
        or any(map(opens_apart, _opening(lines, number)))
        or _is_asked(lines, number)
    )


def line_of(sentence: str, place: CitedLines) -> int:
    """The line of a place in which a sentence begins, its first line where that cannot be told."""
    begins = _beginning(sentence)
    for number in range(place.first, place.last + 1) if place.last > place.first else ():
        line = " ".join(_text(place.source.lines, number).split())
        if line and (begins in line or (len(line) < _BEGINS and begins.startswith(line))):
            return number
    return place.first


def _beginning(sentence: str) -> str:
    return " ".join(sentence.lstrip(UNTICKED).split())[:_BEGINS]


def _is_labelled(claim: str, sentence: str) -> bool:
    """Whether a sentence itself begins with a label that disowns it, and the claim leaves that out."""
    label, colon, said = plain(sentence).partition(":")
    if not colon or len(label) > _LABEL_LENGTH or not said.strip() or label.strip("☐ ") in plain(claim):
        return False
    return disowns_beside(f"{label.strip('☐ ')}:")


# Above


def _is_led(lines: Lines, number: int, sentence: str, language: str) -> bool:
    """Whether a lead over a line disowns it."""
    here = _text(lines, number)
    if "\t" in here:  # a row of a table
        return False
    item = _ITEM.match(here)
    indent = len(item["indent"]) if item else 0
    if not item and turns(plain(here)):
        return False
    before = here[: max(0, here.find(_beginning(sentence)))]
    paragraph = [before] if before.strip() else []
    is_short = len(here.rstrip()) <= _WIDTH and END.search(here.rstrip()[:-1]) is None
    gap = False
    for above in range(number - 1, max(0, number - 1 - REACH), -1):
        text = _text(lines, above)
        if is_marked(text):
            break
        if not text.strip() or _LIMIT_OF_CODE.match(text):
            gap = gap or not text.strip()
            continue
        other = _ITEM.match(text)
        if item and (len(text) - len(text.lstrip()) > indent or (other and len(other["indent"]) == indent)):
            gap = False  # an item of the same list, or what belongs to one
            continue
        if item and not gap and _continues_item(lines, above):
            continue
        if gap or item or leads_with_colon(plain(text)):
            return _leads(lines, above, language, over_list=item is not None and not gap) or _points(
                paragraph
            )
        if other and not item and _continues_item(lines, above + 1):
            item, indent = other, len(other["indent"])
            continue
        if other or turns(plain(text)) or not (is_short and _is_sentence(lines, above)):
            break
        paragraph.insert(0, text)
    return _points(paragraph)


def _is_sentence(lines: Lines, number: int) -> bool:
    """Whether a line is a short sentence, as those are that stand line by line under their lead, or goes on
    in the next one. A paragraph that is one long line, or a line of code, does not count."""
    text = _text(lines, number).rstrip()
    if runs_on(text, _text(lines, number + 1)):
        return len(text) <= _WIDTH
    return len(text) <= _WIDTH and text.endswith(_STOPS) and END.search(text[:-1]) is None


def _continues_item(lines: Lines, number: int) -> bool:
    """Whether a line without a mark goes on the item above it."""
    for above in range(number - 1, max(0, number - 1 - _REMARKS), -1):
        if not runs_on(_text(lines, above), _text(lines, above + 1)):
            return False
        if _ITEM.match(_text(lines, above)):
            return True
    return False


def _leads(lines: Lines, last: int, language: str, *, over_list: bool) -> bool:
    """Whether the paragraph that ends with line `last` leads into what is below it, and disowns that."""
    first = last
    while first > 1 and last - first < _REMARKS and runs_on(_text(lines, first - 1), _text(lines, first)):
        first -= 1
    sentences = list(_sentences([_text(lines, number) for number in range(first, last + 1)]))
    if not sentences:
        return False
    final = sentences[-1]
    if leads_with_colon(final):
        return disowns_below(final, language) or _all_invented(sentences)
    if over_list and len(final) <= _HEAD_LENGTH and disowns_below(f"{final.rstrip('. ')}:", heading=True):
        return True
    return any(map(disowns_below, sentences)) or _all_invented(sentences)


def _points(paragraph: Sequence[str]) -> bool:
    """Whether the sentence before one in its paragraph points to what follows and disowns it, or an earlier
    one that speaks of several things."""
    sentences = [told for told in _sentences(paragraph) if not leads_with_colon(told)]
    told = [each for index, each in enumerate(sentences, 1) if index == len(sentences) or is_of_many(each)]
    return any(map(disowns_below, told)) or _all_invented(sentences)


def _all_invented(sentences: Sequence[str]) -> bool:
    """Whether one of the sentences leads on, and one says that all that is told is invented."""
    return any(map(is_lead, sentences)) and any(map(is_all_invented, sentences))


def _is_under(lines: Lines, number: int) -> bool:
    """Whether a heading of Markdown says of the sentences under it that none is so."""
    names = over(lambda each: text if is_marked(text := _text(lines, each)) else "", number)
    return any(disowns_below(plain(name), heading=True) for name in names)


def _opening(lines: Lines, number: int) -> Iterator[str]:
    """The titles among the first lines of a document."""
    seen = 0
    for first in range(1, min(number, 4 * _FIRST)):
        text = _text(lines, first)
        if seen < _FIRST and text.strip():
            seen += 1
            if len(text) <= _HEAD_LENGTH:
                yield plain(text)


# Below


def _behind(lines: Lines, number: int, sentence: str) -> Iterator[str]:
    """The sentences behind one: of its paragraph, and the first one of the next."""
    here = _text(lines, number)
    block = [here[max(0, here.find(_beginning(sentence))) :]]
    after = ""
    for below in range(number + 1, min(len(lines), number + _REMARKS) + 1):
        text = _text(lines, below)
        if is_marked(text):
            break
        if not text.strip():
            following = (_text(lines, each) for each in range(below + 1, min(len(lines), below + 3) + 1))
            after = next((each for each in following if each.strip()), "")
            break
        block.append(text)
    yield from list(_sentences(block))[1:]
    if after and not is_marked(after):
        yield from list(_sentences([after]))[:1]


def _closing(lines: Lines, number: int) -> Iterator[str]:
    """The sentences of the last lines of a document that stand behind a line."""
    seen = 0
    for last in range(len(lines), max(number, len(lines) - 4 * _LAST), -1):
        text = _text(lines, last)
        if seen < _LAST and text.strip():
            seen += 1
            yield from _sentences([text])


def _is_asked(lines: Lines, number: int) -> bool:
    """Whether a line is one of a quiz: a question stands over it, or a key below it that calls one false."""
    for above in range(number - 1, max(0, number - 1 - REACH), -1):
        text = _text(lines, above)
        if len(text) <= _HEAD_LENGTH and is_quiz(plain(text)):
            return True
        if is_marked(text):
            break
    last = min(len(lines), number + REACH)
    return any(is_key(plain(_text(lines, below))) for below in range(number + 1, last + 1))


def _text(lines: Lines, number: int) -> str:
    """The text of a line, '' behind the last one."""
    if number > len(lines):
        return ""
    return lines.cut(number, number)[:_LINE_LENGTH].decode("utf-8", "replace")


def _sentences(lines: Sequence[str]) -> Iterator[str]:
    """The sentences of lines, `plain`: wrapped lines are joined."""
    parts: list[str] = []
    for text in lines:
        if parts and runs_on(parts[-1], text):
            parts[-1] = f"{parts[-1]} {text}"
        else:
            parts.append(text)
    for part in parts:
        begun = 0
        for end in [*(match.end() for match in END.finditer(part)), len(part)]:
            if part[begun:end].strip():
                yield plain(part[begun:end].strip())
            begun = end
