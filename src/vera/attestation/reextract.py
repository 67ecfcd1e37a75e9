"""Level 2 of a replay: canonical text made again from raw bytes by the extractor that was recorded."""

import hashlib
from typing import Literal

from vera import events
from vera.attestation.integrity import Loaded
from vera.attestation.objects import Source, hexadecimal
from vera.attestation.report import Level, Remark, Verdict, counted, cut, level
from vera.extraction.canonical import FORMATS
from vera.extraction.canonical.plugin import EXTRACTOR as PLUGIN
from vera.extraction.extractor import Extractor
from vera.extraction.source import Unreadable, is_read_by_ocr
from vera.store import Store, StoreError

SUBJECT = "text"
_FORMATS = frozenset(known.name for known in FORMATS)


def check_texts(loaded: Loaded) -> Level:
    """Level 2 of a session whose bytes are whole: the texts of all sources of its attestations."""
    if not loaded.rounds:
        sentence = "There is no attestation, so no text needs to be made again."
        return Level(name="L2", subject=SUBJECT, verdict="NOT_ATTESTED", sentence=sentence)
    wanted = {
        hexadecimal(each.canonical)
        for attested in loaded.rounds
        for each in (attested.objects or {}).values()
        if isinstance(each, Source)
    }
    origins = _origins(loaded.records, wanted)
    remarks: list[Remark] = []
    made = 0
    with Extractor() as extractor:
        for evidence in origins:
            found = _extract_again(evidence, loaded.store, extractor)
            remarks += found
            made += not any(each.verdict for each in found)
    by_plugins = _by_others(loaded.records, wanted)
    remarks += map(_not_recomputed, by_plugins)
    plain = len(wanted - {evidence.text.sha256 for evidence in (*origins, *by_plugins)})
    kept = f"; {plain} stored as they came" if plain else ""
    return level(
        "L2", SUBJECT, remarks, f"{counted(made, 'text')} made again from raw bytes: the same{kept}."
    )


def _by_others(records: tuple[events.Record, ...], wanted: set[str]) -> list[events.Evidence]:
    """The first evidence of each wanted text that a format of a plugin made, or a program for OCR."""
    made: dict[str, events.Evidence] = {}
    for each in records:
        if isinstance(each, events.Evidence) and _is_made_elsewhere(each.extractor):
            made.setdefault(each.text.sha256, each)
    return [each for text, each in made.items() if text in wanted]


def _is_made_elsewhere(extractor: str) -> bool:
    return extractor.startswith(PLUGIN) or is_read_by_ocr(extractor)


def _not_recomputed(evidence: events.Evidence) -> Remark:
    """What they give is not made again here, whether they are installed or not. A text that OCR read has its
    picture: else that would be a way to make up a text."""
    if is_read_by_ocr(evidence.extractor) and evidence.raw is None:
        sentence = "OCR is said to have read its text, and there is no picture of it."
        return Remark(verdict="DIFFERS", where=_place(evidence), sentence=sentence)
    made = "read by OCR from a picture" if is_read_by_ocr(evidence.extractor) else "made by a plugin's format"
    return Remark(
        where=_place(evidence),
        sentence=f"Its text was {made}, {cut(evidence.extractor, 80)}: not recomputed.",
    )


def _origins(records: tuple[events.Record, ...], wanted: set[str]) -> list[events.Evidence]:
    """For each wanted text the evidence that say what it was made from, each pair of bytes once.

    What is read again by its id has no separate raw bytes; then those of the first capture count. A text
    that never had any others is what its extractor must make of the text itself.
    """
    of_text: dict[str, list[events.Evidence]] = {}
    for record in records:
        if (
            isinstance(record, events.Evidence)
            and record.text.sha256 in wanted
            and format_named(record.extractor)
        ):
            of_text.setdefault(record.text.sha256, []).append(record)
    found: dict[tuple[str, str, str], events.Evidence] = {}
    for text, captures in of_text.items():
        with_raw = [each for each in captures if each.raw is not None]
        for each in with_raw or captures[:1]:
            found.setdefault((text, each.raw.sha256 if each.raw else "", each.extractor), each)
    return list(found.values())


def format_named(extractor: str) -> str:
    """The format in an extractor's name (html of `html/selectolax-1.0/rules-1`), '' for none of ours."""
    name = extractor.partition("/")[0]
    return name if name in _FORMATS else ""


def is_made_again(evidence: events.Evidence, raw: bytes, extractor: Extractor) -> bool:
    """Whether the text of an evidence comes out of its raw bytes here, or it never had any but its own."""
    if not format_named(evidence.extractor):
        return not _is_made_elsewhere(evidence.extractor) and evidence.raw is None
    return not any(each.verdict for each in _made_again(evidence, raw, extractor))


def _extract_again(evidence: events.Evidence, store: Store, extractor: Extractor) -> list[Remark]:
    """What is to be said about the text of an evidence; nothing when it was made again."""
    blob = evidence.raw or evidence.text
    try:
        return _made_again(evidence, store.get(blob.sha256), extractor)
    except StoreError:
        sentence = f"Its raw bytes are not in the store: blob {blob.sha256}."
        return [Remark(verdict="MISSING", where=_place(evidence), sentence=sentence)]


def _place(evidence: events.Evidence) -> str:
    return f"{evidence.id}, trace.jsonl line {evidence.seq}"


def _made_again(evidence: events.Evidence, raw: bytes, extractor: Extractor) -> list[Remark]:
    def remark(verdict: Verdict | Literal[""], sentence: str) -> list[Remark]:
        return [Remark(verdict=verdict, where=_place(evidence), sentence=sentence)]

    try:
        again = extractor.extract(raw, f"source.{format_named(evidence.extractor)}")
    except Unreadable as reason:
        return remark("UNREADABLE", f"No text can be made of its raw bytes here: {reason}.")
    same_text = hashlib.sha256(again.text).hexdigest() == evidence.text.sha256
    same = same_text and again.marks == evidence.marks and again.dated == evidence.dated
    if again.extractor == evidence.extractor:
        if same:
            return []
        what = (
            "other marks or another date than those in the log"
            if same_text
            else "another text than the stored one"
        )
        return remark("DIFFERS", f"Its raw bytes give {what}.")
    changed = f"Its text was made by {evidence.extractor}; here is {again.extractor}"
    if same:
        return remark("", f"{changed}, which makes the same.")
    made = "the same text with other marks or another date" if same_text else "another"
    return remark("EXTRACTOR_CHANGED", f"{changed}, which makes {made}.")
