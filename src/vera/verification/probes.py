"""Probes: claims whose labels are known, made mechanically of the sentences that an answer cites.

A sentence is in its own lines; with a number changed or denied it does not, nor do lines that share no
word of content with it say it. A judge that cannot tell these apart is not to be believed about the rest
(counterfactual evaluation: Kaushik et al., arXiv:1909.12434; CheckList: Ribeiro et al., arXiv:2005.04118).
One claim is invented, and shown all that the judge was shown for the answer: whoever obeys a line of that, or
says SUPPORTS to whatever it is asked, says it here as well. It can be made of any answer, however short its
lines are.
Which sentences are taken is decided by hashes: the same case gives the same probes.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Literal

import msgspec

from vera.audit.case import Case, CitedLines, statements
from vera.audit.containment_sentences import sentences
from vera.evidence.claim import Cite
from vera.text.late_regex import late_regex
from vera.text.words import negations, stems

MAX_PROBES = 4
MAX_ALTERED = MAX_PROBES - 2

NO_PROBE = "No claims with known labels could be made of the cited lines."

INVENTED = (
    "The ferry to Lomsund carries sheep across the fjord in winter.",
    "A clockmaker from Tarvik repairs the astronomical dial every autumn.",
    "Two glaciers near Orvenna feed the turquoise lagoon.",
    "The lighthouse keeper of Sundgard breeds carrier pigeons.",
    "Volcanic ash coloured the sunsets over Perrano for a decade.",
    "The choir of Lindholt rehearses madrigals in a disused brewery.",
    "Cedar smoke preserves the herring of the Ostra islanders.",
    "An amateur astronomer in Kelmora discovered the comet.",
)
"""About places that are not on any map."""

MAX_PLACES = 24
MAX_SENTENCES = 60
MAX_SOURCES = 8
SPAN_LIMIT = 20_000
"""Characters of a cited place that are read to find a claim that it does not make."""
MAX_LINES = 400
"""Of each source so many lines at most are looked at for what is about something else."""

_SHARED = 2
"""Content words that a sentence shares with the claim that cites it, so that it could be a claim itself."""
_MIN_STEMS = 4

_PROSE = late_regex(r"(?![a-z])[^\W_][\w ,.;%'’\"“”()€$£°/–—，、；（）-]{10,298}[.!。！]")
"""A plain sentence: nothing in it looks like a label, markup or a form."""
_NUMBER = late_regex(
    r"(?<![\w.,:/-])(?:[0-9]{1,3}(?:,[0-9]{3}){1,4}|[0-9]{2,9})(?:\.[0-9]{1,6})?(?![\w/-]|[.,:][0-9])"
)
_YEAR = late_regex(r"(?:1[0-9]|20)[0-9]{2}")
_VERB = late_regex(r"\b(?:is|are|was|were|will|must|may|can|shall|should)\b")
_DENIED = late_regex(
    r"\b(?:is|are|was|were|will|must|may|can|shall|should|does|do|did)(?P<not> not)\b(?! only\b)"
)
_SOME = late_regex(
    r"(?i)\b(?:all|every|each|some|both|any|either|most|many|several|few|only|if|unless|sometimes|often)\b"
)
"""What is true of some, or now and then, can be true together with its denial."""

Kind = Literal["stated", "number", "negation", "unrelated", "invented"]


class Probe(msgspec.Struct, frozen=True):
    """A claim and the lines that are shown for it; `kind` is how it was made, and so what they say of it."""

    kind: Kind
    claim: str
    cite: Cite


class _Sentence(msgspec.Struct, frozen=True):
    """A cited sentence, the text of the lines it is in, and the stems of its content words."""

    text: str
    cite: Cite
    shown: str
    stems: frozenset[str]


def probes_of(case: Case, most_shown: int) -> tuple[Probe, ...]:
    """At most MAX_PROBES: one that its lines state and up to MAX_ALTERED that they do not, where the cited
    lines have a sentence to make them of, and one that is invented; () where nothing is cited. `most_shown`:
    bytes of the lines of one probe at most. Pure."""
    pool = list(islice(_sentences(case, most_shown), MAX_SENTENCES))
    elsewhere = _Elsewhere(case, most_shown)
    makers: dict[Kind, Callable[[_Sentence], Iterator[Probe]]] = {
        "number": _numbers,
        "negation": _negations,
        "unrelated": elsewhere.probes,
    }
    made = [list(islice(_made(kind, make, pool), MAX_ALTERED)) for kind, make in makers.items()]
    in_turn = [probes[turn] for turn in range(MAX_ALTERED) for probes in made if turn < len(probes)]
    stated = [Probe("stated", each.text, each.cite) for each in _ordered("stated", pool)[:1]]
    return (*stated, *in_turn[:MAX_ALTERED], *_invented(case))


def _invented(case: Case) -> Iterator[Probe]:
    """A claim that shares no content word with what is cited, of the first place that is."""
    cited = [place for _, found in islice(statements(case), MAX_PLACES) for place in found]
    said = {stem for place in cited for stem in stems(place.span.text[:SPAN_LIMIT])}
    apart = [
        text
        for text in sorted(INVENTED, key=lambda each: _hash(each + case.answer))
        if said.isdisjoint(stems(text))
    ]
    for text in apart[:1] if cited else ():
        yield Probe("invented", text, Cite(cited[0].evidence.id, cited[0].first, cited[0].last))


def _made(
    kind: Kind, make: Callable[[_Sentence], Iterator[Probe]], pool: Sequence[_Sentence]
) -> Iterator[Probe]:
    """The probes of one kind, of different sentences first."""
    rest: list[Iterator[Probe]] = []
    for sentence in _ordered(kind, pool):
        probes = make(sentence)
        yield from islice(probes, 1)
        rest.append(probes)
    for probes in rest:
        yield from probes


def _ordered(kind: Kind, pool: Sequence[_Sentence]) -> list[_Sentence]:
    return sorted(
        pool, key=lambda each: _hash(f"{kind}\n{each.cite.evidence}:{each.cite.first}\n{each.text}")
    )


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def _sentences(case: Case, most_shown: int) -> Iterator[_Sentence]:
    """The plain sentences within cited lines that are about what the citing claim is about, each once."""
    seen: set[tuple[str, str]] = set()
    for place, about in islice(_places(case), MAX_PLACES):
        for found in sentences(place.source.lines, place.first, place.last):
            text = " ".join(found.text.split())
            first, last = min(found.lines), max(found.lines)
            content = frozenset(stems(text))
            if (
                found.optional
                or not place.first <= first <= last <= place.last
                or not _could_be_claimed(text, content, about)
                or (place.evidence.id, text) in seen
            ):
                continue
            seen.add((place.evidence.id, text))
            lines = place.source.lines.cut(first, last)
            shown = " ".join(lines.decode("utf-8", "replace").split())
            if len(lines) <= most_shown and text in shown:
                yield _Sentence(text, Cite(place.evidence.id, first, last), shown, content)


def _could_be_claimed(text: str, content: frozenset[str], about: frozenset[str]) -> bool:
    """Whether it is a plain sentence that says enough, and shares words with a claim."""
    return bool(_PROSE.fullmatch(text)) and len(content) >= _MIN_STEMS and len(content & about) >= _SHARED


def _places(case: Case) -> Iterator[tuple[CitedLines, frozenset[str]]]:
    """The captured lines that claims cite, each with the stems of its claim."""
    for claim, cited in statements(case):
        about = frozenset(stems(claim.text))
        for place in cited:
            if place.evidence.tier == "captured" and not place.evidence.lead:
                yield place, about


def _numbers(sentence: _Sentence) -> Iterator[Probe]:
    """The sentence with one number changed, to one that its lines do not have."""
    text = sentence.text
    for shift in (4, 2):
        for found in _NUMBER.finditer(text):
            other = _changed(found.group(), shift)
            if other not in sentence.shown:
                yield Probe("number", text[: found.start()] + other + text[found.end() :], sentence.cite)


def _changed(number: str, shift: int) -> str:
    """Another number of the same form: of a year another decade, else another first digit."""
    place = 2 if _YEAR.fullmatch(number) else 0
    digit = int(number[place])
    other = (digit + shift) % 10 if place else 1 + (digit - 1 + shift) % 9
    return f"{number[:place]}{other}{number[place + 1 :]}"


def _negations(sentence: _Sentence) -> Iterator[Probe]:
    """The sentence denied; one that denies, without its "not"."""
    text = sentence.text
    if _SOME.search(text):
        return
    denying = negations(text)
    if not denying and (verb := _VERB.search(text)):
        yield Probe("negation", f"{text[: verb.end()]} not{text[verb.end() :]}", sentence.cite)
    elif len(denying) == 1 and (denied := _DENIED.search(text)):
        start, end = denied.span("not")
        yield Probe("negation", text[:start] + text[end:], sentence.cite)


class _Elsewhere:
    """Lines of the cited sources, to be shown for sentences that they have nothing to do with."""

    def __init__(self, case: Case, most_shown: int) -> None:
        sources = {place.evidence.text.sha256: place for place, _ in _places(case)}
        self._lines = [
            (cite, content)
            for place in list(sources.values())[:MAX_SOURCES]
            for cite, content in _lines(place, most_shown)
        ]

    def probes(self, sentence: _Sentence) -> Iterator[Probe]:
        """The sentence over lines that share no content word with it, those of another source first."""
        apart = [cite for cite, content in self._lines if content.isdisjoint(sentence.stems)]
        own = sentence.cite.evidence
        apart.sort(key=lambda cite: (cite.evidence == own, _hash(f"{cite.evidence}:{cite.first}")))
        for cite in apart:
            yield Probe("unrelated", sentence.text, cite)


def _lines(place: CitedLines, most_shown: int) -> Iterator[tuple[Cite, frozenset[str]]]:
    lines = place.source.lines
    for number in range(1, min(len(lines), MAX_LINES) + 1):
        data = lines.cut(number, number)
        if len(data) <= most_shown:
            content = frozenset(stems(data.decode("utf-8", "replace")))
            if len(content) >= _MIN_STEMS:
                yield Cite(place.evidence.id, number, number), content
