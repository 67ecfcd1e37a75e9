"""Quotations: what is in quotation marks must be in a source that is cited for it."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from vera.audit.case import Case, CitedLines, places
from vera.audit.edits import blanked
from vera.audit.source_text import SourceText
from vera.evidence.citation import find_citations
from vera.evidence.claim import Claim
from vera.evidence.finding import Finding
from vera.text.late_regex import late_regex
from vera.text.negation import is_negative
from vera.text.quantity_dates import MONTHS
from vera.text.quotation import MIN_WORDS, Quotation, find_quotations, is_open, without_quotations
from vera.text.quote import Located, QuoteIndex, locate
from vera.text.sentences import END
from vera.text.words import STOPWORDS, negations

_SHOWN = 160
_TITLE_WORDS = 12
_PUNCTUATION = "'\"’‘“”.,:;!?()–—-&"
_SMALL = frozenset({"from", "with", "into", "over", "upon", "versus"})
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
_FENCE = late_regex(r"^[ \t]{0,3}(```|~~~)[^\n]*\n.*?(?:^[ \t]{0,3}\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_TURNS = late_regex(
    r"(?i)\b(?:not|never|no|none|neither|nor|cannot|\w{2,8}n['’]t|without|unless|except(?:ing|ion|ions)?|if"
    r"|provided|only|until|but|other than|subject to|save (?:for|as|that)|excluding|however|fails?|failed"
    r"|refused?|den(?:y|ies|ied)|rejects?|rejected|prohibited|forbidden|nicht|kein\w{0,2}|nie|niemals|außer"
    r"|sofern|soweit|wenn|falls|ohne|nur|es sei denn|ne|n['’](?=\w)|pas|jamais|sauf|si|sans|seulement|à moins"
    r"|hormis|nunca|salvo|excepto|sin|sino|sólo|a menos|non|mai|senza|tranne|eccetto|purché|soltanto|não|sem"
    r"|exceto|apenas|somente)\b|[没沒不未无無莫勿]|除非|除了|只有|如果"
)
"""Words that deny, limit or make an exception, in seven languages."""

_NOT_SAID = late_regex(
    r"(?i)\b(?:not|never|no|nowhere|none|without|\w{2,8}n['’]t)\b.{0,80}?\b(?:mention|contain|appear|occur|say|said"
    r"|state|include|use|find|found|call|describe|match|hold|read)"
)


_FRAME_ENDS = late_regex(r"[.!?;。！？；\n]\s*|[”»›」』]\s*|\"(?=\s)|(?<=[\w,.!?])[“«]")
_FRAME_BYTES = 400
"""Before and behind a quotation, where its source says who speaks."""

_ANY_MARK = "“„‟«‹「『”»›」』\"'‘’‚"
_OPENING = re.compile(rf"(?:«[ \u00a0\u202f]?|[{_ANY_MARK}])\Z")
_CLOSING = re.compile(r"[”»›」』“‟«\"](?!\w)|[」』]|(?<=[^\w\s])’(?!\w)")
_WRAP = late_regex(rf"(?<=[^\n]{{49}}[^\n.!?\"”“»«’])\n(?=[^\W\d_]|[{_ANY_MARK}])")
_DENIED_FRAME = late_regex(r"(?i)\b(?:non|mai|não|jamais|pas|nie|niemals|never)\b|[没沒未]")
_DESCRIBED = late_regex(
    r"\b[Tt]he(?:\s[^\W\d_a-z][\w'’-]+)+"
    r"|\b(?i:de[rmns]|das|die|eine?[rmn]?|sein[er]?|ihre?|le|la|les|une?|el|il|his|her|an?)\s[^\W\d_][\w-]+"
)
"""Somebody who is named by what he is, and may be anyone: "der Finanzvorstand", "the Chief Executive"."""

_NO_NAMES = STOPWORDS.union(MONTHS)
_NAME = re.compile(r"\b[^\W\d_a-z][\w'’-]+")


def quotations(case: Case) -> Iterator[Finding]:
    """What is wrong with the quotations of the answer, in order.

    `quotation_false` (hard): it is in no source that its statement cites. `quotation_uncited` (hard):
    nothing is cited. `quotation_not_in_span`: it stands elsewhere in the source (hard), or partly so (soft).
    `quotation_gap`: its ellipsis leaves out a negation, condition or exception of a sentence that it quotes
    (hard), or a negation of another one (soft). `quotation_frame` (hard): its source says that it was not
    said, quotes it within the words of somebody else, or gives it to another one of those that it quotes.
    `quotation_term` (soft): one or two words, or a title, that are nowhere.
    """
    starts = [claim.start for claim in case.claims]
    indexes = _Indexes()
    for quotation in find_quotations(_prose(case.answer), _between_sources(case.answer)):
        claims = _claims_at(case.claims, starts, quotation)
        if not claims or claims[-1].form == "absence":
            continue
        finding = _examine(case, claims, quotation, indexes)
        if finding is not None:
            yield finding


class _Indexes:
    """The cited sources, each folded once."""

    def __init__(self) -> None:
        self._known: dict[SourceText, QuoteIndex] = {}
        self._lowered: dict[SourceText, QuoteIndex] = {}

    def of(self, place: CitedLines) -> QuoteIndex:
        if place.source not in self._known:
            loose = place.evidence.media_type == "application/pdf"
            self._known[place.source] = QuoteIndex(place.source.data, loose=loose)
        return self._known[place.source]

    def locate(self, place: CitedLines, quotation: str) -> Located | None:
        """Where it is in the source, if only up to the case of its letters."""
        found = self.of(place).locate(quotation)
        if found is not None and found.whole:
            return found
        if place.source not in self._lowered:
            loose = place.evidence.media_type == "application/pdf"
            self._lowered[place.source] = QuoteIndex(_lowered(place.source.data), loose=loose)
        wanted = _lowered(quotation.encode("utf-8", "replace")).decode("utf-8", "replace")
        other = self._lowered[place.source].locate(wanted)
        return other if other is not None and other.whole else found


def _lowered(data: bytes) -> bytes:
    """UTF-8 text in lower case, each byte in its place: a letter that would need another number stays."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data.lower()
    return _FOREIGN.sub(_lower, text).encode("utf-8").lower()


def _lower(run: re.Match[str]) -> str:
    lower = ((letter, letter.lower()) for letter in run[0])
    return "".join(
        other if len(other.encode("utf-8")) == len(letter.encode("utf-8")) else letter
        for letter, other in lower
    )


def _is_heading(quotation: str, place: CitedLines) -> bool:
    """Whether it is in the title of the page or in a heading over the cited lines."""
    wanted = quotation.lower()
    return any(locate(wanted, name.lower()) for name in (place.evidence.title, *place.headings))


def _prose(answer: str) -> str:
    """The answer with citations and blocks of code blanked; every place stays where it is."""
    pieces = [(cite.start, cite.end) for cite in find_citations(answer)]
    pieces += [block.span() for block in _FENCE.finditer(answer)]
    return blanked(answer, sorted(pieces))


def _between_sources(answer: str) -> list[tuple[int, int]]:
    """The citations behind which another source is cited: what is quoted before and behind is not one."""
    cites = find_citations(answer)
    return [(cite.start, cite.end) for cite, after in pairwise(cites) if cite.evidence != after.evidence]


def _claims_at(claims: Sequence[Claim], starts: Sequence[int], quotation: Quotation) -> Sequence[Claim]:
    """The claims in which the quotation stands; one of several sentences is in several."""
    first = max(0, bisect_right(starts, quotation.start) - 1)
    last = bisect_right(starts, quotation.end - 1)
    return [claim for claim in claims[first:last] if claim.end > quotation.start]


def _examine(case: Case, claims: Sequence[Claim], quotation: Quotation, indexes: _Indexes) -> Finding | None:
    cited = [place for claim in claims for place in places(case, claim)]
    claim = next((claim for claim in reversed(claims) if claim.cites), claims[0])
    if not cited:
        excused = claim.cites or _is_term(quotation.text) or locate(quotation.text, case.task)
        return None if excused else _uncited(claim, quotation)
    found = [(place, located) for place in cited if (located := indexes.locate(place, quotation.text))]
    whole = [(place, located) for place, located in found if located.whole]
    if whole:
        return _in_span(claim, quotation, cited, whole)
    if any(_is_heading(quotation.text, place) for place in cited):
        return None
    if _is_term(quotation.text) and not _altered(quotation, cited, indexes):
        return _term(claim, quotation, cited[0])
    said = " ".join(claim.text for claim in claims)[:2000]
    if not found and _NOT_SAID.search(without_quotations(said)):
        return None
    return _cut(claim, quotation, *found[0]) if found else _false(claim, quotation, cited, indexes)


def _is_term(text: str) -> bool:
    """Whether it is one or two words, or set like a title: it need not be a quotation."""
    parts = [word.strip(_PUNCTUATION) for word in text.split()]
    telling = [word for word in parts if word and (len(word) > 3 or word[0].isupper())]
    if len(parts) < MIN_WORDS:
        return text.isascii()
    if len(parts) > _TITLE_WORDS or len(telling) < 2:
        return False
    return all(map(_is_in_title_case, telling))


def _is_in_title_case(word: str) -> bool:
    return word[0].isupper() or word[0].isdigit() or word in _SMALL


def _altered(quotation: Quotation, cited: Sequence[CitedLines], indexes: _Indexes) -> bool:
    """Whether it is in a cited source but for letters or digits within its words."""
    near = (indexes.of(place).nearest(quotation.text) for place in cited)
    return any(difference is not None and difference.misspelt for difference in near)


def _term(claim: Claim, quotation: Quotation, place: CitedLines) -> Finding:
    return Finding(
        code="quotation_term",
        label="wrong_evidence",
        severity="soft",
        claim=claim.key,
        evidence=place.evidence.id,
        message=f"“{_short(quotation.text)}” is in no cited source; if it is a quotation, cite its "
        "lines, else drop the quotation marks.",
        detail=_short(quotation.text),
    )


def _in_span(
    claim: Claim,
    quotation: Quotation,
    cited: Sequence[CitedLines],
    found: Sequence[tuple[CitedLines, Located]],
) -> Finding | None:
    """The quotation is true; whether it is in the lines that are cited."""
    for place, located in found:
        if _covered(place, located, cited):
            return _gap(claim, quotation, place, located) or _frame(claim, quotation, place, located)
    for place in cited:
        span = place.span.data
        if QuoteIndex(span).locate(quotation.text) or QuoteIndex(span.lower()).locate(quotation.text.lower()):
            return None
        if _is_heading(quotation.text, place):
            return None
    place, located = found[0]
    where = _lines(located.first, located.last)
    return Finding(
        code="quotation_not_in_span",
        label="wrong_evidence",
        severity="soft" if _touched(place, located, cited) else "hard",
        claim=claim.key,
        evidence=place.evidence.id,
        first=located.first,
        last=located.last,
        message=f"The quotation “{_short(quotation.text)}” is in {where} of {place.evidence.id}, not in "
        f"the cited lines; cite {where}.",
        detail=f"{place.evidence.id}:{located.first}-{located.last}",
    )


def _covered(place: CitedLines, located: Located, cited: Sequence[CitedLines]) -> bool:
    """Whether the cited lines of this source hold all lines of the quotation."""
    line = located.first
    for other in sorted(_of_source(place, cited), key=lambda other: other.first):
        if other.first <= line <= other.last:
            line = other.last + 1
    return line > located.last


def _touched(place: CitedLines, located: Located, cited: Sequence[CitedLines]) -> bool:
    """Whether the cited lines of this source hold some line of the quotation."""
    return any(
        other.first <= located.last and located.first <= other.last for other in _of_source(place, cited)
    )


def _of_source(place: CitedLines, cited: Sequence[CitedLines]) -> list[CitedLines]:
    return [other for other in cited if other.evidence.text.sha256 == place.evidence.text.sha256]


def _gap(claim: Claim, quotation: Quotation, place: CitedLines, located: Located) -> Finding | None:
    """What is wrong with the words left out for an ellipsis: they deny or limit what is quoted, or make one
    sentence of two."""
    for (_, end), (start, _) in pairwise(located.parts):
        left_out = place.source.data[end:start].decode("utf-8", "replace")
        of_quoted = _of_quoted(left_out)
        turning = _TURNS.search(of_quoted)
        denied = negations(left_out)
        if turning or denied:
            what = f"leaves out holds “{turning[0] if turning else denied[0].form}”"
        elif _joins_sentences(left_out):
            what = "leaves out is the end of one sentence and the beginning of another"
        else:
            continue
        return Finding(
            code="quotation_gap",
            label="misinterpretation",
            severity="soft" if denied and not turning else "hard",
            claim=claim.key,
            evidence=place.evidence.id,
            first=located.first,
            last=located.last,
            message=f"What “{_short(quotation.text)}” {what}; quote the whole sentence.",
            detail=_short(" ".join(left_out.split())),
        )
    return None


def _frame(claim: Claim, quotation: Quotation, place: CitedLines, located: Located) -> Finding | None:
    """Whether what its source says around the words gives them to another speaker than the claim does."""
    data, start, end = place.source.data, located.parts[0][0], located.parts[-1][1]
    above = _unwrapped(data[max(0, start - _FRAME_BYTES) : start]).rpartition("\n")[2]
    below = _unwrapped(data[end : end + _FRAME_BYTES]).partition("\n")[0]
    opening = _OPENING.search(above)
    if _is_term(quotation.text) or opening is None:
        return None  # a title, or words that are not said there
    above = above[: opening.start()]
    before = _FRAME_ENDS.split(above.rstrip(_ANY_MARK))[-1]
    behind = _behind(quotation.text, below)
    said = claim.text[: max(0, quotation.start - claim.start)] + claim.text[quotation.end - claim.start :]
    if _is_denied(before) and not _is_denied(said):
        what = "is said there not to have been said"
    elif is_open(above):
        what = "is quoted there within the words of somebody else"
    elif other := _other_speaker(said, f"{before} {behind}", f"{above} {below}"):
        what = f"is given there to {other}"
    else:
        return None
    return Finding(
        code="quotation_frame",
        label="misinterpretation",
        severity="hard",
        claim=claim.key,
        evidence=place.evidence.id,
        first=located.first,
        last=located.last,
        message=f"“{_short(quotation.text)}” {what}; say who said it.",
        detail=_short(" ".join(before.split())),
    )


def _behind(quoted: str, below: str) -> str:
    """What goes on behind the mark that closes a quotation; nothing where that ends the sentence."""
    closing = _CLOSING.search(below)
    if closing is None or (quoted + below[: closing.start()]).endswith((".", "。")):
        return ""
    return _FRAME_ENDS.split(below[closing.end() :].lstrip(_ANY_MARK + ","))[0]


def _unwrapped(data: bytes) -> str:
    """A text in which a long line that ends no sentence goes on in the next one."""
    return _WRAP.sub(" ", data.decode("utf-8", "ignore"))


def _is_denied(frame: str) -> bool:
    return is_negative(frame) or _DENIED_FRAME.search(frame) is not None


def _other_speaker(said: str, frame: str, line: str) -> str:
    """Who is named beside the words, where the claim names another one whom the same line names elsewhere."""
    beside = _names(_DESCRIBED.sub(" ", frame))
    if not beside or set(_names(said)) & set(beside):
        return ""
    claimed = _names(_DESCRIBED.sub(" ", said))
    return beside[-1] if any(name in line for name in claimed) else ""


def _names(text: str) -> list[str]:
    """The words with a capital, without one that begins the text and may be any word where there are more."""
    found = [name for name in _NAME.findall(text) if name.lower() not in _NO_NAMES]
    return found[1:] if len(found) > 1 and text.lstrip(_ANY_MARK + " ").startswith(found[0]) else found


def _joins_sentences(left_out: str) -> bool:
    """Whether the beginning of one sentence is joined with the end of another."""
    ends = [match.end() for match in END.finditer(left_out)]
    if not ends:
        return False
    return any(map(str.isalnum, left_out[: ends[0]])) and any(map(str.isalnum, left_out[ends[-1] :]))


def _of_quoted(left_out: str) -> str:
    """What is left out of the sentences that are quoted: to the end of the first, from the start of the last;
    sentences left out as a whole are another matter."""
    ends = [match.end() for match in END.finditer(left_out)]
    return f"{left_out[: ends[0]]} {left_out[ends[-1] :]}" if ends else left_out


def _uncited(claim: Claim, quotation: Quotation) -> Finding:
    return Finding(
        code="quotation_uncited",
        label="missing_source",
        severity="hard",
        claim=claim.key,
        message=f"No source is cited for the quotation “{_short(quotation.text)}”; cite the lines it is "
        "in, or drop it.",
        detail=_short(quotation.text),
    )


def _cut(claim: Claim, quotation: Quotation, place: CitedLines, located: Located) -> Finding:
    words = place.source.data[max(0, located.start - 40) : located.end + 40].decode("utf-8", "ignore")
    return Finding(
        code="quotation_false",
        label="fabricated",
        severity="hard",
        claim=claim.key,
        evidence=place.evidence.id,
        first=located.first,
        last=located.last,
        message=f"The quotation “{_short(quotation.text)}” begins or ends inside a word of "
        f"{place.evidence.id}; quote whole words.",
        detail=f"there: …{' '.join(words.split())}…",
    )


def _false(claim: Claim, quotation: Quotation, cited: Sequence[CitedLines], indexes: _Indexes) -> Finding:
    near = [(place, near) for place in cited if (near := indexes.of(place).nearest(quotation.text))]
    names = ", ".join(dict.fromkeys(place.evidence.id for place in cited))
    message = f"The quotation “{_short(quotation.text)}” is not in {_short(names)}"
    if not near:
        return Finding(
            code="quotation_false",
            label="fabricated",
            severity="hard",
            claim=claim.key,
            evidence=cited[0].evidence.id,
            message=f"{message}, and nothing like it; quote what is there, or drop it.",
            detail=_short(quotation.text),
        )
    place, difference = max(near, key=lambda pair: pair[1].shared)
    where = f"{_lines(difference.first, difference.last)} of {place.evidence.id}"
    return Finding(
        code="quotation_false",
        label="fabricated",
        severity="hard",
        claim=claim.key,
        evidence=place.evidence.id,
        first=difference.first,
        last=difference.last,
        message=f"{message} as it is written; the nearest is in {where}. Quote it exactly.",
        detail=difference.marked,
    )


def _lines(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first}-{last}"


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
