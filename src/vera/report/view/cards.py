"""Evidence cards as they are shown: where each points, who published the source, and what is there."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from vera import events
from vera.attestation.cards import source_object
from vera.attestation.coverage import is_web
from vera.attestation.objects import Card, Digest, Source, hexadecimal
from vera.attestation.source_types import source_type
from vera.evidence.citation import Citation
from vera.evidence.claim import Cite
from vera.evidence.domains import registrable_domain
from vera.evidence.official import official_names
from vera.extraction.source import is_read_by_ocr
from vera.report.view.model import RELATIONS, CardView, PdfPlace, ShownPlace
from vera.report.view.quotations import Quotations
from vera.report.view.words import one_line

MAX_CARDS = 100
"""Of one claim."""

PDF = "application/pdf"

_NAME_SHOWN = 500


class Owners(msgspec.Struct, frozen=True):
    """By what the class of a source is told: the names in the question, and what a person listed."""

    names: frozenset[str]
    official: frozenset[str] = frozenset()

    @classmethod
    def of(cls, text: str, official: Iterable[str] = ()) -> "Owners":
        return cls(official_names(text), frozenset(official))

    def source_class(self, source: Source) -> str:
        return source_type(source, self.names, self.official)


def attested_cards(
    cards: Sequence[tuple[Digest, Card]],
    sources: Mapping[Digest, Source],
    evidence: Mapping[str, events.Evidence],
    quotations: Quotations,
    owners: Owners,
) -> tuple[CardView, ...]:
    """The cards of one claim, those that speak first. `evidence` says when their bytes were taken."""
    ordered = sorted(cards, key=lambda pair: (RELATIONS.index(pair[1].relation), pair[1].evidence))
    made = (
        _attested(name, card, sources.get(card.source), evidence.get(card.evidence), quotations, owners)
        for name, card in ordered[:MAX_CARDS]
    )
    return _with_pictures(made, evidence)


def _attested(
    name: Digest,
    card: Card,
    source: Source | None,
    evidence: events.Evidence | None,
    quotations: Quotations,
    owners: Owners,
) -> CardView:
    shown = CardView(
        id=name,
        relation=card.relation,
        evidence=one_line(card.evidence),
        first=card.span.first,
        last=card.span.last,
        source="",
        source_id="",
        at=evidence.captured_ts if evidence else 0.0,
        problem="The source of this card cannot be read from the store.",
        maker=one_line(card.maker),
    )
    if source is None:
        return shown
    text = hexadecimal(source.canonical)
    read = evidence if evidence is not None and evidence.text.sha256 == text else None
    marks = read.marks if read else ()
    quoted = quotations.cut(text, card.span.first, card.span.last, hexadecimal(card.span.sha256), marks)
    return msgspec.structs.replace(
        shown,
        source_id=text,
        tier=source.tier,
        quotation=quoted.lines,
        marks=marks,
        problem=quoted.problem,
        pdf=pdf_place(read, card.span.first) if read else None,
        **_whose(source, owners),
    )


def labelled_cards(
    labels: Iterable[events.VerifierLabels],
    evidence: Mapping[str, events.Evidence],
    quotations: Quotations,
    owners: Owners,
) -> tuple[CardView, ...]:
    """What was labelled of one claim before there is a verdict: no cards yet, so they have no ids."""
    pairs = [(each, label) for each in labels for label in each.labels if label.relation in RELATIONS]
    pairs.sort(key=lambda pair: (RELATIONS.index(pair[1].relation), pair[1].evidence))
    made_cards = (
        _labelled(label, made.maker, evidence.get(label.evidence), quotations, owners)
        for made, label in pairs[:MAX_CARDS]
    )
    return _with_pictures(made_cards, evidence)


def _labelled(
    label: events.SpanLabel,
    maker: str,
    evidence: events.Evidence | None,
    quotations: Quotations,
    owners: Owners,
) -> CardView:
    shown = CardView(
        id="",
        relation=label.relation,
        evidence=one_line(label.evidence),
        first=label.first,
        last=label.last,
        source="",
        source_id="",
        problem="There is no such evidence.",
        maker=one_line(maker),
    )
    if evidence is None:
        return shown
    # No span is hashed yet: that the text is the one of its name in the log is checked by the store.
    quoted = quotations.cut(evidence.text.sha256, label.first, label.last, "", evidence.marks)
    return msgspec.structs.replace(
        shown,
        source_id=evidence.text.sha256,
        tier=one_line(evidence.tier),
        at=evidence.captured_ts,
        quotation=quoted.lines,
        marks=evidence.marks,
        problem=quoted.problem,
        pdf=pdf_place(evidence, label.first),
        **_whose(source_object(evidence, derived=False), owners),
    )


def _with_pictures(
    cards: Iterable[CardView], evidence: Mapping[str, events.Evidence]
) -> tuple[CardView, ...]:
    """The cards, those of a rendered page with what it looked like; what is read again by its id has the text
    of the page, and no picture."""
    shown = {
        each.text.sha256: ShownPlace(
            each.shown.picture.sha256, each.shown.layout.sha256, each.shown.width, each.shown.height
        )
        for each in evidence.values()
        if each.shown is not None
    }
    return tuple(
        msgspec.structs.replace(card, shown=shown[card.source_id]) if card.source_id in shown else card
        for card in cards
    )


def with_cited(
    cards: Iterable[CardView], cites: Sequence[Cite | Citation], evidence: Mapping[str, events.Evidence]
) -> tuple[CardView, ...]:
    """The cards, each with those of its lines that `cites` name, also by another reading of the same text; of
    a PDF the page is that of the first."""
    texts = {name: each.text.sha256 for name, each in evidence.items()}
    made = (msgspec.structs.replace(card, cited=_cited(card, cites, texts)) for card in cards)
    return tuple(
        msgspec.structs.replace(card, pdf=pdf_place(evidence[card.evidence], card.extent[0]))
        if card.pdf is not None and card.cited
        else card
        for card in made
    )


def _cited(
    card: CardView, cites: Sequence[Cite | Citation], texts: Mapping[str, str]
) -> tuple[tuple[int, int], ...]:
    lines: list[tuple[int, int]] = []
    for each in cites:
        same = each.evidence == card.evidence
        if each.first is None and same:
            return ()
        if each.first is not None and (same or texts.get(each.evidence) == card.source_id):
            lines.append((max(card.first, each.first), min(card.last, each.last or each.first)))
    return joined(lines)


def joined(lines: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Ranges of lines in order, those that overlap or touch as one; empty ones are left out."""
    made: list[tuple[int, int]] = []
    for first, last in sorted(each for each in lines if each[0] <= each[1]):
        if made and first <= made[-1][1] + 1:
            made[-1] = made[-1][0], max(last, made[-1][1])
        else:
            made.append((first, last))
    return tuple(made)


def pdf_place(evidence: events.Evidence, line: int) -> PdfPlace | None:
    """The page of a PDF that holds a line of its text; None for every other source."""
    if evidence.raw is None or evidence.media_type != PDF or not evidence.pages:
        return None
    page = bisect_right(evidence.pages, line)
    if not page:
        return None
    behind = evidence.pages[page] - 1 if page < len(evidence.pages) else 0
    return PdfPlace(evidence.raw.sha256, page, evidence.pages[page - 1], behind)


def _whose(source: Source, owners: Owners) -> dict[str, Any]:
    domain = registrable_domain(source.name) if is_web(source) else ""
    return {
        "source": one_line(source.name, _NAME_SHOWN),
        "domain": one_line(domain),
        "source_class": owners.source_class(source),
        "by_ocr": is_read_by_ocr(source.extractor),
    }
