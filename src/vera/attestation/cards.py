"""Evidence cards: what the labels of a round say, bound to bytes.

A label becomes a card only when its place exists and may carry evidence, and one that SUPPORTS only on
lines that the claim cites or that a check of it captured: what no one pointed at supports nothing. Every
other label becomes an omission that says why, so that nothing a reader said is lost without a word.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from math import isqrt
from typing import Literal, get_args

import msgspec

from vera.attestation.objects import (
    KEY_LIMIT,
    NAME_LIMIT,
    NOTE_LIMIT,
    SURROUNDING_LIMIT,
    TEXT_LIMIT,
    Card,
    Confidence,
    Digest,
    Omission,
    Source,
    SpanSelector,
    Superseder,
    bounded,
    canonical,
    digest,
)
from vera.audit.case import Case, CitedLines, places
from vera.audit.checks.scanned import rests_on_scanned_number
from vera.audit.source_text import SourceText
from vera.audit.versions import Superseding, superseding
from vera.events import Evidence, SpanLabel, VerifierCheck, VerifierLabels
from vera.evidence.citation import place_name
from vera.evidence.claim import Relation
from vera.sanitize import one_line

_Z_SQUARED = 27_055
"""The square of the one-sided 95 % point of the normal distribution (1.6449), in ten-thousandths."""

_WINDOW = 4 * SURROUNDING_LIMIT
"""Bytes in which at least SURROUNDING_LIMIT characters of UTF-8 stand."""


_Ranges = list[tuple[int, int]]
"""Ranges of lines, first and last."""


class Cards(msgspec.Struct, frozen=True, kw_only=True):
    """The cards by id, the sources that they and the citations use by id, the canonical bytes of both, the
    labels that are no cards, and the records of how the files among the sources were read."""

    cards: Mapping[Digest, Card]
    sources: Mapping[Digest, Source]
    objects: Mapping[Digest, bytes]
    refused: tuple[Omission, ...]
    opened: tuple[Digest, ...] = ()


def make_cards(
    case: Case,
    thesis: Digest,
    labels: Iterable[VerifierLabels],
    checks: Iterable[VerifierCheck] = (),
    *,
    by_rule: bool,
    with_notes: bool = True,
) -> Cards:
    """A card for each label that holds. `by_rule`: a rule or an entailment judge
    made the labels, who says the same each time, not readings. `with_notes`: each card says how."""
    maker = _CardMaker(case, thesis, checks, by_rule, with_notes)
    for labelled in labels:
        for label in labelled.labels:
            maker.add(labelled, label)
    return Cards(
        cards=dict(sorted(maker.cards.items())),
        sources=maker.sources,
        objects=maker.objects,
        refused=tuple(maker.refused),
        opened=tuple(sorted(maker.opened)),
    )


def lower_bound_bp(agree: int, votes: int) -> int:
    """The one-sided 95 % lower bound of a share (Wilson, 1927), in basis points, rounded down.

    10 of 10 give 7870. Integers only, so that every machine computes the same.
    """
    if votes <= 0 or agree <= 0:
        return 0
    agree = min(agree, votes)
    z, scale = _Z_SQUARED, 10_000
    root_of = z * (4 * agree * (votes - agree) * scale // votes + z)
    root = isqrt(root_of)
    root += root * root < root_of
    return max(0, scale * (2 * agree * scale + z - root) // (2 * (votes * scale + z)))


def origins(evidence: Mapping[str, Evidence]) -> Mapping[str, Evidence]:
    """Each evidence by id, replaced by the first capture of the same text where it was only read again.

    What is read again by its id (`read ev_0003`) does not carry its own receipt, status or raw bytes. A file
    that is read twice keeps the record of its first reading.
    """
    first: dict[tuple[str, str, str], Evidence] = {}
    found = {}
    for each in evidence.values():
        origin = first.setdefault((each.source, each.text.sha256, each.tier), each)
        found[each.id] = origin if _is_bare(each) else msgspec.structs.replace(each, opened=origin.opened)
    return found


class _CardMaker:
    def __init__(
        self,
        case: Case,
        thesis: Digest,
        checks: Iterable[VerifierCheck],
        by_rule: bool,
        with_notes: bool,
    ) -> None:
        self.cards: dict[Digest, Card] = {}
        self.sources: dict[Digest, Source] = {}
        self.objects: dict[Digest, bytes] = {}
        self._source_ids: dict[str, Digest] = {}
        self.refused: list[Omission] = []
        self.opened: set[Digest] = set()
        self._case = case
        self._thesis = thesis
        self._by_rule = by_rule
        self._with_notes = with_notes
        self._claims = {claim.key: claim for claim in case.claims}
        self._origins = origins(case.evidence)
        self._selectors: dict[tuple[str, int, int], SpanSelector] = {}
        cited: dict[str, _Ranges] = {}
        pointed_at: dict[tuple[str, str], _Ranges] = {}
        for claim in case.claims:
            for place in places(case, claim):
                lines = (place.first, place.last)
                cited.setdefault(place.evidence.id, []).append(lines)
                pointed_at.setdefault((claim.key, place.evidence.id), []).append(lines)
                self._source(place.evidence)
        for check in checks:
            for captured in check.citations:
                key = (check.question.claim, captured.evidence)
                pointed_at.setdefault(key, []).append((captured.first, captured.last))
        self._cited = {evidence: _merged(ranges) for evidence, ranges in cited.items()}
        self._pointed_at = {key: _merged(ranges) for key, ranges in pointed_at.items()}

    def add(self, labelled: VerifierLabels, label: SpanLabel) -> None:
        """Keep the label as a card, or as an omission that says why it does not count."""
        evidence = self._case.evidence.get(label.evidence)
        text = self._case.sources.get(evidence.text.sha256) if evidence else None
        problem = self._problem(labelled.claim, label, evidence, text)
        if problem or evidence is None or text is None:
            self._refuse(labelled.claim, label, problem)
            return
        superseded_by = self._superseded_by(evidence, text, label)
        confidence = self._confidence(labelled.claim, label)
        scanned = self._rests_on_scan(labelled.claim, evidence, text, label)
        card = Card(
            thesis=self._thesis,
            source=self._source(evidence),
            evidence=evidence.id,
            span=self._selector(text, evidence.text.sha256, label.first, label.last),
            claim=labelled.claim,
            relation="QUALIFIES" if scanned else _relation(label.relation),
            confidence=confidence,
            maker=_maker(labelled, self._by_rule),
            notes=self._notes(labelled, confidence, superseded_by, scanned=scanned),
            superseded_by=superseded_by,
        )
        self.cards.setdefault(self._keep(card), card)

    def _problem(
        self, claim: str, label: SpanLabel, evidence: Evidence | None, text: SourceText | None
    ) -> str:
        """Why the label is no card, '' when it is one."""
        if claim not in self._claims:
            return "the answer has no such claim"
        if label.relation not in get_args(Relation):
            return f"{label.relation!r} is no relation"
        if evidence is None:
            return "there is no such evidence"
        if text is None:
            return self._case.unreadable.get(evidence.text.sha256, "its text cannot be read").rstrip(".")
        if not 1 <= label.first <= label.last <= len(text.lines):
            return f"it has {len(text.lines)} lines"
        if label.relation == "SUPPORTS" and not _within(self._pointed_at.get((claim, evidence.id)), label):
            return "neither the claim cites these lines nor a check captured them"
        return self._unfit(evidence, label)

    def _unfit(self, evidence: Evidence, label: SpanLabel) -> str:
        """Why the evidence cannot carry a claim, '' when it can."""
        origin = self._origins[evidence.id]
        if evidence.lead or origin.lead:
            return "a search result is a lead; only lines that were read can carry a claim"
        if origin.exit_code:
            return f"its command ended with exit code {origin.exit_code}"
        if origin.http_status is not None and not 200 <= origin.http_status < 300:
            return f"the server answered with HTTP {origin.http_status}"
        if evidence.tier == "captured":
            return ""
        if not self._case.derived(evidence.id):
            return "what the sandbox printed carries a claim only when a clean box prints it again"
        if not _within(self._cited.get(evidence.id), label):
            return "only the cited lines of a command's output were computed again"
        return ""

    def _rests_on_scan(self, claim: str, evidence: Evidence, text: SourceText, label: SpanLabel) -> bool:
        """Whether the span neither supports nor contradicts, because the claim is one of numbers and OCR read
        those of the span."""
        place = CitedLines(evidence, text.seen(evidence.marks), label.first, label.last)
        decides = label.relation in ("SUPPORTS", "CONTRADICTS")
        return decides and rests_on_scanned_number(self._claims[claim], place)

    def _superseded_by(
        self, evidence: Evidence, text: SourceText, label: SpanLabel
    ) -> tuple[Superseder, ...]:
        """What other files say of the span, with the lines that say it."""
        place = CitedLines(evidence, text.seen(evidence.marks), label.first, label.last)
        return tuple(self._superseder(said) for said in superseding(self._case, place))

    def _superseder(self, said: Superseding) -> Superseder:
        other = self._case.evidence[said.evidence]
        text = self._case.sources[other.text.sha256]
        return Superseder(
            name=bounded(other.source, NAME_LIMIT),
            canonical=f"sha256:{other.text.sha256}",
            evidence=bounded(said.evidence, KEY_LIMIT),
            span=self._selector(text, other.text.sha256, said.first, said.last),
            explicit=said.explicit,
        )

    def _selector(self, text: SourceText, sha256: str, first: int, last: int) -> SpanSelector:
        key = (sha256, first, last)
        if key not in self._selectors:
            self._selectors[key] = selector(text, sha256, first, last)
        return self._selectors[key]

    def _refuse(self, claim: str, label: SpanLabel, problem: str) -> None:
        pointer = place_name(label.evidence, label.first, label.last)
        why = f"A label of {pointer} is no card: {problem}."
        self.refused.append(
            Omission(
                cell=bounded(claim, NAME_LIMIT),
                why=bounded(why, TEXT_LIMIT),
                pointer=bounded(pointer, NAME_LIMIT),
            )
        )

    def _confidence(self, claim: str, label: SpanLabel) -> Confidence:
        """That an extract stands where it says is no reading, whoever labels the rest."""
        if self._by_rule or self._claims[claim].form == "extract":
            return Confidence(method="rule")
        votes = max(label.votes, 0)
        agree = min(max(label.agree, 0), votes)
        return Confidence(method="readings", agree=agree, votes=votes, low_bp=lower_bound_bp(agree, votes))

    def _notes(
        self,
        labelled: VerifierLabels,
        confidence: Confidence,
        superseded_by: Iterable[Superseder],
        *,
        scanned: bool,
    ) -> str:
        """How the label came about, and the first file that takes the span back, in a sentence or two.

        Nothing of a source's text is copied: a file's name is all that it may bring in.
        """
        if not self._with_notes:
            return ""
        if self._claims[labelled.claim].form == "extract":
            how = "The lines are shown as they are."
        elif confidence.method == "rule":
            how = f"Labelled by {one_line(labelled.maker, 80)}, which gives the same label each time."
        else:
            how = f"{confidence.agree} of {confidence.votes} readings of the lines say so."
        if scanned:
            how += " OCR read their numbers, so they prove and refute nothing."
        later = next(iter(sorted(superseded_by, key=lambda each: not each.explicit)), None)
        if later is not None:
            verb = "replaces" if later.explicit else "may replace"
            how += f" {one_line(later.name, 120)}, line {later.span.first}, {verb} them."
        return bounded(how, NOTE_LIMIT)

    def _keep(self, value: Card | Source) -> Digest:
        """The object's id; its bytes are kept."""
        data = canonical(value)
        value_id = digest(data)
        self.objects[value_id] = data
        return value_id

    def _source(self, evidence: Evidence) -> Digest:
        known = self._source_ids.get(evidence.id)
        if known is not None:
            return known
        origin = self._origins[evidence.id]
        if origin.opened is not None:
            self.opened.add(f"sha256:{origin.opened.sha256}")
        source = source_object(origin, derived=self._case.derived(evidence.id))
        source_id = self._keep(source)
        self.sources.setdefault(source_id, source)
        self._source_ids[evidence.id] = source_id
        return source_id


def source_object(evidence: Evidence, *, derived: bool) -> Source:
    """The source of an evidence; `derived` when a clean box printed the same."""
    printed: Literal["derived", "observed"] = "derived" if derived else "observed"
    return Source(
        name=bounded(evidence.source, NAME_LIMIT),
        tier="captured" if evidence.tier == "captured" else printed,
        canonical=f"sha256:{evidence.text.sha256}",
        raw=f"sha256:{evidence.raw.sha256}" if evidence.raw else "",
        extractor=bounded(evidence.extractor, NAME_LIMIT),
        media_type=bounded(evidence.media_type, NAME_LIMIT),
        retrieval=f"sha256:{evidence.receipt.sha256}" if evidence.receipt else "",
    )


def selector(text: SourceText, sha256: str, first: int, last: int) -> SpanSelector:
    """Lines `first` to `last` of a text as a selector. Raises IndexError when they do not exist."""
    span = text.lines.span(sha256, first, last)
    return SpanSelector(
        start=span.start,
        end=span.end,
        first=first,
        last=last,
        sha256=f"sha256:{span.sha256}",
        prefix=_decoded(text.whole[max(0, span.start - _WINDOW) : span.start])[-SURROUNDING_LIMIT:],
        suffix=_decoded(text.whole[span.end : span.end + _WINDOW])[:SURROUNDING_LIMIT],
    )


def _decoded(window: bytes) -> str:
    """The text of a window that may begin or end within a character."""
    start = 0
    while start < len(window) and 0x80 <= window[start] < 0xC0:
        start += 1
    return window[start:].decode("utf-8", "replace")


def _merged(ranges: _Ranges) -> _Ranges:
    """The ranges of lines in order, those that meet made one."""
    merged: _Ranges = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged


def _within(merged: _Ranges | None, label: SpanLabel) -> bool:
    """Whether all lines of the label are in one of the merged ranges."""
    if not merged:
        return False
    index = bisect_right(merged, label.first, key=lambda lines: lines[0]) - 1
    return index >= 0 and label.last <= merged[index][1]


def _is_bare(evidence: Evidence) -> bool:
    own = (evidence.raw, evidence.receipt, evidence.exit_code, evidence.http_status)
    return all(part is None for part in own)


def _relation(name: str) -> Relation:
    """The relation of this name. Raises msgspec.ValidationError for another."""
    relation: Relation = msgspec.convert(name, Relation)
    return relation


def _maker(labelled: VerifierLabels, by_rule: bool) -> str:
    what = "settings" if by_rule else "prompt"
    prompt = f" with {what} sha256:{labelled.prompt_sha256}" if labelled.prompt_sha256 else ""
    return bounded(labelled.maker + prompt, NAME_LIMIT)
