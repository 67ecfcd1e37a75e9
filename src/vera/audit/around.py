"""What stands around a sentence and takes it back, for the rules that read word for word.

The next sentence says that it was deleted or answers "No."; the next item goes on with "unless"; a footnote
denies it; it is set between quotation marks, quoted from a mail, or removed by a diff; the line above breaks
off in the middle of it. A sentence with one of these around it proves nothing: a reader has to say what it
means.
"""

import re

from vera.audit.case import CitedLines
from vera.audit.checks.set_aside import aside_column, is_aside
from vera.audit.leads import disputes, is_alleged, lead_over
from vera.text.headings import divider_over
from vera.text.late_regex import late_regex
from vera.text.negation import UNTICKED, doubtful_turns, is_negative, takes_back
from vera.text.quotation import find_quotations
from vera.text.sentences import END
from vera.text.span import Lines
from vera.text.tables import cells_of
from vera.text.whole_sentences import SMALL_WORDS, line
from vera.text.words import hedges, stems

BEHIND = 6
"""Lines behind the cited ones in which the sentence after them may stand."""

NOTES = 200
"""Lines behind the cited ones in which a footnote may stand."""

_ABOVE = 4
_BEGINNING = 40
"""Characters by which the first sentence of a place is known."""

_PLAIN = frozenset(("text/plain", "message/rfc822"))
_DATA = frozenset(("text/csv", "text/tab-separated-values", "application/json"))

_DENIAL = late_regex(
    r"\W*(?:not|no|nope|never|nein|nicht|niemals|non|pas|jamais)"
    r"(?:[\s,]{1,4}(?:really|any ?more|any ?longer|at all|true|so|yet|quite|mehr|wahr|plus|vrai))*\W*",
    re.IGNORECASE,
)
_GIVEN_UP = late_regex(
    r"(?i)\W*(?:abandoned|dropped|descoped|scrapped|shelved|aufgegeben|fallen ?gelassen|entfallen|entfällt"
    r"|weggefallen|(?:abandonn|écart|retranch)ée?s?|(?:abandon|descart|desech)ad[oa]s?|(?:abbandon|scart)at[oaie]"
    r"|已?(?:放弃|取消|终止))\W*"
)
"""The state of a row that is given up; in a heading such words are said of things: "Abandoned mines"."""
_GOES_ON = late_regex(
    r"\s*(?:(?:[-*•]|\(?\w{1,3}[.)])\s+)?(?:unless|except|but (?:not|only)|only (?:if|when)|if|provided|save"
    r"|sofern|falls|außer|es sei denn|sauf|à moins|salvo|excepto|exceto|a menos que|tranne|eccetto|a meno che"
    r"|a não ser)\b|\s*(?:但|除非|除[^。]{1,20}外|仅限)"
)
_LIMITS = late_regex(
    r"\W*(?:except|excluding|other than|unless|only|but not|if|provided|subject to|until|"
    r"außer|ausgenommen|nur|sofern|falls|wenn|es sei denn|sauf|excepté|hormis|seulement|uniquement|si|"
    r"à moins|salvo|excepto|solo|sólo|únicamente|a menos|exceto|menos|apenas|somente|só|"
    r"tranne|eccetto|soltanto|a meno|a condizione)\b|\W*(?:除|仅|只|但|不包括|如果)",
    re.IGNORECASE,
)
"""How a footnote begins that limits what it is for."""
_CUT_AT_MARK = late_regex(r"(?<![\d.,])\d{1,3}[.,]\s*\Z")
_MORE_DIGITS = late_regex(r"\s*\d{1,6}(?![\d.)]|[.,]\s)")
_CHOICE = late_regex(r"\[(?P<mark>[ xX✓✔]?)\]\s?(?P<what>[^\[\n]{1,80})")
_NOTE_MARK = late_regex(r"[^\s*†‡¹²³⁴-⁹](?P<mark>\*{1,3}|[†‡]|[¹²³⁴-⁹]|\[\^\w{1,8}\])[.!]?\s*\Z")
_SAID = r"(?:[^\s\"“”„«»]+\s+){3,}[^\"“”„«»]+"
_QUOTED = late_regex(
    rf"(?:\s*[\d*•-]{{1,3}}[.)]?\s)?\s*(?:\"{_SAID}\"|[“„]{_SAID}[”“]|«\s?{_SAID}»|»{_SAID}«)"
)
"""A quotation of four words or more: fewer are a term."""
_SUPPOSES = late_regex(
    r"(?i)\W*(?:(?:now|for example|zum beispiel|par exemple)\W+)?(?:suppos(?:e|ing)|imagine|assum(?:e|ing)"
    r"|let us (?:say|suppose|assume)|angenommen|nehmen wir an|stellen (?:sie|wir) (?:sich|uns)"
    r"|gesetzt den fall|supposons|imaginons|admettons|supongamos|imaginemos|supponiamo|immaginiamo"
    r"|suponhamos)\b|\W*(?:假设|假如|设想)"
)
_SAID_SO = late_regex(
    r", so (?:der|die|das|ein|eine|laut|heißt|steht|stand|sagt\w{0,2}|berichte\w{1,3}|jedenfalls|zumindest)\b"
    r"|, (?:dit-on|paraît-il|selon \w{1,20}|à en croire|laut \w{1,20}|heißt es|it is said|so they say)\b"
)
"""What gives a sentence to somebody else: ", so der Hersteller"."""

_REFERS_BACK = late_regex(
    r"(?i)\s*(?:(?:this|that|it|which|das|dies|es|cela|ceci|ce|eso|esto|ciò|isso) "
    r"(?:was|is|were|had|has|war|ist|gilt|galt|est|était|fut|era|fue|es|è|foi)\b"
    r"|c['’](?:est|était|fut)\b|so (?:stand|steht|war|heißt|hieß|was|were)\b)"
)
"""How a clause behind a semicolon begins that speaks of the one before it: "; this was so until 2019"."""

_FIELD = late_regex(r"\s*(?:[-*]\s)?[\w\"'.-]{0,40}\s?[:=]\s?\(?|\W*")
_HUNK = late_regex(r"^@@ ", re.MULTILINE)
_PAGE_NUMBER = late_regex(r"\W*(?:page\s|seite\s)?\d{1,4}(?:\s?(?:of|/|von)\s?\d{1,4})?\W*", re.IGNORECASE)
_RUNNING_TITLE = 40
_LAST_WORD = late_regex(r"([^\W\d_]+)\W{0,3}\Z")
_BROKEN_OFF = late_regex(r"(?:\.\.\.|…|[,;–—])\s*\Z")
_GAP = late_regex(r"[a-z,] {4,}[a-z]")


def taken_back(claim: str, sentence: str, behind: str, place: CitedLines) -> bool:
    """Whether what stands around a sentence of the place, which the claim has from it, leaves open whether
    its source means it. `behind`: the sentence after it, '' where there is none."""
    return (
        _denied_behind(behind)
        or _is_quoted(claim, sentence, place)
        or _is_removed(sentence, place)
        or _has_denying_note(sentence, place)
        or _goes_on_in_digits(sentence, behind)
        or _is_divided_off(sentence, place)
        or _begins_above(sentence, place)
        or _runs_through_columns(sentence, place)
        or _is_led(sentence, place)
        or _is_supposed(sentence, place)
        or _is_refused_beside(sentence, place)
        or bool(aside_column(claim, place, line_of(sentence, place)))
        or _takes_itself_back(claim, sentence)
    )


def behind_of(place: CitedLines) -> str:
    """The lines behind a place."""
    last = min(len(place.source.lines), place.last + BEHIND)
    return _lines(place, place.last + 1, last)


def _lines(place: CitedLines, first: int, last: int) -> str:
    return place.source.lines.cut(first, last).decode("utf-8", "replace") if first <= last else ""


def _denied_behind(behind: str) -> bool:
    if not behind.strip():
        return False
    chosen = [found["what"] for found in _CHOICE.finditer(behind) if found["mark"].strip()]
    return (
        _DENIAL.fullmatch(behind) is not None
        or _GOES_ON.match(behind) is not None
        or takes_back(behind)
        or any(map(is_negative, chosen))
    )


def _is_quoted(claim: str, sentence: str, place: CitedLines) -> bool:
    """Whether it is somebody else's: it begins as a quotation, is quoted in a mail, or what the claim has
    stands between its quotation marks."""
    kind = place.evidence.media_type
    if kind in _PLAIN and sentence.lstrip().startswith(">"):
        return True
    if kind in _DATA:
        return False
    return _QUOTED.match(sentence) is not None or _quotes(claim, sentence)


def _quotes(claim: str, sentence: str) -> bool:
    """Whether a sentence only quotes what the claim says. The value of a field has such marks, too."""
    said = frozenset(stems(claim))
    if not said or find_quotations(claim):
        return False
    return any(
        said <= frozenset(stems(each.text)) and not _FIELD.fullmatch(sentence[: each.start])
        for each in find_quotations(sentence)
    )


def _is_removed(sentence: str, place: CitedLines) -> bool:
    """Whether it is a line that a diff takes out."""
    begins = sentence.lstrip()
    if not begins.startswith("-") or begins[1:2].isspace():
        return False
    return _HUNK.search(_lines(place, max(1, place.first - NOTES), place.first - 1)) is not None


def _has_denying_note(sentence: str, place: CitedLines) -> bool:
    found = _NOTE_MARK.search(sentence)
    if found is None:
        return False
    last = min(len(place.source.lines), place.last + NOTES)
    notes = (line.strip() for line in _lines(place, place.first, last).split("\n"))
    said = (note[len(found["mark"]) :] for note in notes if note.startswith(found["mark"]))
    return any(
        is_negative(note) or takes_back(note) or hedges(note) or doubtful_turns(note) or _LIMITS.match(note)
        for note in said
    )


def _goes_on_in_digits(sentence: str, behind: str) -> bool:
    """Whether a stop behind a number may be a decimal mark, whose digits stand behind it: "rose to 3. 75"."""
    return _CUT_AT_MARK.search(sentence) is not None and _MORE_DIGITS.match(behind) is not None


def _is_divided_off(sentence: str, place: CitedLines) -> bool:
    """Whether a row that divides its table sets aside what stands below it."""
    lines, number = place.source.lines, line_of(sentence, place)
    heading = divider_over(lambda each: line(lines, each), number)
    return bool(heading) and is_aside(heading)


def _is_led(sentence: str, place: CitedLines) -> bool:
    """Whether what leads into a sentence of the source denies, limits or disputes it."""
    if place.evidence.media_type in _DATA:
        return False
    return disputes(lead_over(place.source.lines, line_of(sentence, place)))


def _is_supposed(sentence: str, place: CitedLines) -> bool:
    """Whether the sentence before it asks its reader to suppose something, of which it may tell the rest."""
    number = line_of(sentence, place)
    near = " ".join(_lines(place, max(1, number - 1), number).split())
    before = near.partition(" ".join(sentence.split())[:_BEGINNING])[0].rstrip()
    return (
        _SUPPOSES.match([before[at:] for at in (0, *(end.end() for end in END.finditer(before)))][-1])
        is not None
    )


def _is_refused_beside(sentence: str, place: CitedLines) -> bool:
    """Whether a later cell of its row says no or sets it aside: withdrawn, no, abgelehnt."""
    text = line(place.source.lines, line_of(sentence, place))
    cells = cells_of(text, place.evidence.media_type)
    begins = " ".join(sentence.strip(" |").split())[:_BEGINNING]
    at = next(
        (at for at, cell in enumerate(cells) if begins.startswith(cell[:_BEGINNING]) and cell), len(cells)
    )
    return any(map(_refuses, cells[at + 1 :]))


def _refuses(cell: str) -> bool:
    """Whether a cell says no, or that what its row holds was given up."""
    return _DENIAL.fullmatch(cell) is not None or is_aside(cell) or _GIVEN_UP.fullmatch(cell) is not None


def _takes_itself_back(claim: str, sentence: str) -> bool:
    """Whether a sentence gives what it has said to somebody else, or says behind a semicolon that it is not
    so or no longer so."""
    if (found := _SAID_SO.search(sentence)) is None:
        _, mark, tail = sentence.partition(";")
        taken = mark and (_REFERS_BACK.match(tail) or is_aside(tail) or is_alleged(tail))
    else:
        taken, tail = True, sentence[found.start() :]
    return bool(taken) and not frozenset(stems(tail)) <= frozenset(stems(claim))


def line_of(sentence: str, place: CitedLines) -> int:
    """The line of a place in which a sentence begins, its first line where that cannot be told."""
    begins = " ".join(sentence.lstrip(UNTICKED).split())[:_BEGINNING]
    for number in range(place.first, place.last + 1) if place.last > place.first else ():
        text = " ".join(line(place.source.lines, number).split())
        if text and (begins in text or (len(text) < _BEGINNING and begins.startswith(text))):
            return number
    return place.first


def _begins_above(sentence: str, place: CitedLines) -> bool:
    """Whether the first sentence of a place begins in a line above it that breaks off, behind a blank line, a
    page number or a running title."""
    begins = " ".join(sentence.split())[:_BEGINNING]
    if not " ".join(place.span.text[: 4 * _BEGINNING].split()).startswith(begins):
        return False
    above = _lines(place, max(1, place.first - _ABOVE), place.first - 1).split("\n")
    told = [line.strip() for line in above if line.strip()]
    turned = False
    while told and (_PAGE_NUMBER.fullmatch(told[-1]) or _is_running_title(told)):
        told.pop()
        turned = True
    if not told or not (turned or begins[:1].islower()):
        return False
    return _breaks_off(told[-1])


def _breaks_off(text: str) -> bool:
    """Whether a line ends in the middle of a sentence."""
    last = _LAST_WORD.search(text)
    return _BROKEN_OFF.search(text) is not None or (last is not None and last[1].lower() in SMALL_WORDS)


def _runs_through_columns(sentence: str, place: CitedLines) -> bool:
    """Whether a line of the sentence has a gap as between the columns of a page, where nothing was struck."""
    said = " ".join(sentence.split())
    lines = [line.strip() for line in place.span.text.split("\n")]
    if not any(_GAP.search(line) is not None and " ".join(line.split()) in said for line in lines):
        return False
    whole = Lines(place.source.whole).cut(place.first, place.last).decode("utf-8", "replace")
    return any(_GAP.search(line.strip()) is not None for line in whole.split("\n"))


def _is_running_title(told: list[str]) -> bool:
    return len(told) > 1 and len(told[-1]) < _RUNNING_TITLE and _PAGE_NUMBER.fullmatch(told[-2]) is not None
