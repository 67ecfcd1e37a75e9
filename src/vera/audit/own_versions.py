"""What a document says of clauses in it: that one was repealed, was suspended, or is corrected further on.

Only what names the clause, quotes the words, or stands as a remark at the clause is believed. A clause that
was replaced or amended may stand here as it is now, so that counts only where the new wording follows. The
clauses that an amendment names are those of another document.
"""

from collections.abc import Callable, Iterator

import msgspec

from vera.audit.case import CitedLines
from vera.audit.checks.set_aside import is_aside
from vera.evidence.corrections import corrected, differs, takes_out
from vera.evidence.superseding import MAX_CHARACTERS, Statement
from vera.evidence.superseding_words import AMENDING, CORRECTION, MARKED_HEAD, REMARK, STATUS
from vera.text.headings import over
from vera.text.late_regex import late_regex
from vera.text.whole_sentences import line

_HEAD_LINES = 5
_STATUS_LINES = 3
_MAX_HEADING = 120
_REACH = 60
_WHEN = late_regex(
    r"(?i)\b(?:when|whenever|upon|once|while|until|during|on (?!\d|the \d|January|February|March|April|May"
    r"|June|July"
    r"|August|September|October|November|December)\w|wenn|bei|sobald|solange|während|bis|lorsqu\w{1,3}"
    r"|pendant"
    r"|jusqu\w{1,2}|en cas|cuando|mientras|hasta|en caso|quando|mentre|durante|fino|in caso|em caso"
    r"|enquanto|até)\b"
    r"|时，|期间|之前"
)
"""What makes the end of a clause a rule for a case, rather than something that happened."""


class Own(msgspec.Struct, frozen=True, kw_only=True):
    """What a document says of cited lines in it, in lines `first` to `last`. `whole`: of all of it."""

    first: int
    last: int
    text: str
    whole: bool = False


def said_of_own(
    place: CitedLines,
    stated: tuple[Statement, ...],
    clauses: tuple[str, ...],
    *,
    fits: Callable[[tuple[str, ...], tuple[str, ...]], bool],
    is_own: Callable[[str], bool],
    is_head: Callable[[str], bool],
) -> Iterator[Own]:
    """What the text of a place says of it elsewhere. `fits`: whether clauses that are named are the cited
    ones; `is_own`: whether words can mean this document; `is_head`: whether a line begins a clause."""
    yield from _remarks(place, is_head)
    is_amendment = _amends(place)
    for statement in stated:
        if _touches(place, statement.first, statement.last) or not statement.firm or statement.heads:
            continue
        named = [thing for thing in statement.things if thing.clauses]
        mine = next((thing for thing in named if is_own(thing.words) and fits(thing.clauses, clauses)), None)
        if statement.wording is not None:
            meant = mine is not None or (not named and _is_correction(place, statement.first))
            told = meant and takes_out(statement.wording, place.span.text)
        else:
            ended = statement.ends and not _WHEN.search(statement.text)
            follows = (
                statement.replaces and statement.text.endswith((":", "：")) and statement.first > place.last
            )
            told = mine is not None and not is_amendment and (ended or follows)
        if told and not _is_aside(place, statement.first):
            yield Own(first=statement.first, last=statement.last, text=statement.text)
    for number, sentence in corrected(place.source.text[:MAX_CHARACTERS]):
        if not _touches(place, number, number) and differs(sentence, place.span.text):
            yield Own(first=number, last=number, text=sentence)


def _remarks(place: CitedLines, is_head: Callable[[str], bool]) -> Iterator[Own]:
    """Remarks that stand at the clause: a bracket below it, a word in its heading, the document's status."""
    lines = place.source.lines
    for number in range(1, min(_STATUS_LINES, place.first - 1) + 1):
        text = line(lines, number)
        if is_head(text) or not text.strip():
            break
        if len(text) <= _MAX_HEADING and STATUS.match(text):
            yield Own(first=number, last=number, text=text.strip(), whole=True)
    for number in range(place.first - 1, max(0, place.first - _REACH), -1):
        text = line(lines, number)
        if is_head(text):
            if len(text) <= _MAX_HEADING and not text.rstrip().endswith(".") and MARKED_HEAD.search(text):
                yield Own(first=number, last=number, text=text.strip())
            break
    for number in range(place.last + 1, min(len(lines), place.last + _REACH) + 1):
        text = line(lines, number)
        if REMARK.match(text):
            yield Own(first=number, last=number, text=text.strip())
        if REMARK.match(text) or not text.strip() or is_head(text):
            break


def _touches(place: CitedLines, first: int, last: int) -> bool:
    return first <= place.last and place.first <= last


def _amends(place: CitedLines) -> bool:
    """Whether the document is one that changes another, whose clauses it names."""
    lines = place.source.lines
    head = (line(lines, number) for number in range(1, min(len(lines), _HEAD_LINES) + 1))
    return AMENDING.search("\n".join([place.evidence.title, *head])) is not None


def _is_correction(place: CitedLines, number: int) -> bool:
    """Whether a line is part of a correction, or under the heading of some."""
    lines = place.source.lines
    if any(CORRECTION.match(each) for each in over(lambda at: line(lines, at), number)):
        return True
    for each in range(number, max(0, number - _HEAD_LINES), -1):
        text = line(lines, each)
        if CORRECTION.match(text):
            return True
        if not text.strip():
            return False
    return False


def _is_aside(place: CitedLines, number: int) -> bool:
    lines = place.source.lines
    return any(map(is_aside, over(lambda at: line(lines, at), number)))
