"""Whether an answer states the thesis that was asked about, word for word, and nothing else.

The answer of a request's session restates the sentences of its thesis, each followed by citations. An answer
that says another thing, be it a word less, would be a verdict on that other thing.
"""

from collections.abc import Sequence

from vera.attestation.objects import VerifyRequest
from vera.attestation.report import cut
from vera.audit.claims import split
from vera.audit.sentences import sentences
from vera.evidence.citation import find_citations
from vera.evidence.claim import Claim
from vera.text.markdown import plain


def sub_claims(request: VerifyRequest) -> tuple[str, ...]:
    """The sentences of the thesis in order: what an answer must state, each with its own citations."""
    text = request.text
    return tuple(text[first:last].strip() for first, last in sentences(text, 0, len(text), {}, ()))


def restates(request: VerifyRequest, answer: str) -> str:
    """'' when the answer states the thesis of the request word for word, else in a sentence how it differs.

    Citations, white space, marks of emphasis and the last full stop may differ. Every word must be in a
    claim, and every claim must state something of the world.
    """
    spans = _citations(answer)
    said, asked = _words(_without(answer, spans)), _words(request.text)
    if said != asked:
        return _difference(asked, said)
    claims = split(answer)
    for claim in claims:
        if claim.form != "statement":
            return f"What it says is no statement that a source could support: {cut(claim.text)}"
    if claims and (missed := _outside(answer, spans, claims)):
        return f"A part of the thesis is in no claim: {cut(missed)}"
    return ""


def _citations(answer: str) -> list[tuple[int, int]]:
    """Where the brackets of citations stand, in order, each once."""
    return list(dict.fromkeys((each.start, each.end) for each in find_citations(answer)))


def _without(answer: str, spans: Sequence[tuple[int, int]]) -> str:
    parts, position = list[str](), 0
    for start, end in spans:
        parts.append(answer[position:start])
        position = end
    return " ".join([*parts, answer[position:]])


def _words(text: str) -> list[str]:
    words = plain(text).split()
    if words:
        words[-1] = words[-1].rstrip(".") or words[-1]
    return words


def _difference(asked: Sequence[str], said: Sequence[str]) -> str:
    """The first words that differ, with some before them."""
    place = next(
        (index for index, pair in enumerate(zip(asked, said, strict=False)) if pair[0] != pair[1]),
        min(len(asked), len(said)),
    )
    wanted, found = (" ".join(words[max(0, place - 3) : place + 5]) for words in (asked, said))
    if not said:
        return "The answer states nothing of the thesis."
    return f"The thesis reads “{cut(wanted, 100)}”, and the answer “{cut(found, 100)}”."


def _outside(answer: str, spans: Sequence[tuple[int, int]], claims: Sequence[Claim]) -> str:
    """The first words of the answer that are in no claim and in no citation."""
    ranges = sorted([*spans, *((claim.start, claim.end) for claim in claims)])
    position = 0
    for start, end in [*ranges, (len(answer), len(answer))]:
        between = answer[position:start] if start > position else ""
        if any(char.isalnum() for char in between):
            return between
        position = max(position, end)
    return ""
