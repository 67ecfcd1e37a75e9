"""What a lane that may not search gets to see of a verdict: ids, enumerated words and sentences of ours.

No byte of a source is in it: not a quotation, not a title, not the path of a page. A source that was left out
is named by its domain at most, and a sentence that goes on to name sources is cut before it does.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from vera import events
from vera.attestation.objects import Attestation, Coverage, Omission, Thesis, hexadecimal, parse
from vera.store import Store

MAX_CARDS = 12
MAX_LISTED = 12
_WORDS = 240

_CELL = re.compile(r"files|web|kb|connectors|languages [a-z, -]{2,80}|c[0-9]{1,5}(?: × [a-z_]{1,40})?")
"""Cells that VERA names itself. Any other is the name of a source, which others chose."""
_DOMAIN = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,80})")
_URL = re.compile(r"https?://", re.IGNORECASE)


def as_json(received: events.AttestationReceived, store: Store) -> dict[str, Any]:
    """The verdict under the specification's names. Raises StoreError, ObjectError."""
    attestation = parse(store.get(hexadecimal(received.attestation)), Attestation)
    coverage = parse(store.get(hexadecimal(attestation.coverage)), Coverage)
    thesis = parse(store.get(hexadecimal(attestation.thesis)), Thesis)
    texts = {claim.key: claim.text for claim in thesis.sub_claims}
    return {
        "handle": received.handle,
        "result": received.result,
        "reason": received.reason,
        "attestation_id": received.attestation,
        "thesis_id": received.thesis_id,
        "expires_at": received.expires_at,
        "verifier_version": attestation.verifier,
        "evidence_set_hash": attestation.evidence_set,
        "sub_claims": [
            {
                "key": each.claim,
                "text": texts.get(each.claim, ""),
                "result": each.result,
                "reason": each.reason,
                "supports": each.supports,
                "contradicts": each.contradicts,
            }
            for each in attestation.claims
        ],
        "cards": list(received.cards),
        "contradictions": len(coverage.contradictions),
        "omissions": list(_omissions(coverage.omissions)),
        "hyperthesis": [
            {"boundary": each.boundary, "blind_spot": without_names(each.blind_spot)}
            for each in attestation.hyperthesis
        ],
        "receipts": list(attestation.receipts),
    }


def in_words(received: events.AttestationReceived, store: Store) -> str:
    """The verdict as an observation. Raises StoreError, ObjectError."""
    shown = as_json(received, store)
    handle = received.handle
    lines = [f"attestation {received.attestation}", f"thesis {received.thesis_id}"]
    lines += [f"{each['key']} {_result(each)}: {each['text']}" for each in shown["sub_claims"][:MAX_LISTED]]
    lines.append(f"cards ({len(received.cards)}): {_some(received.cards, MAX_CARDS, handle)}")
    if shown["contradictions"]:
        lines.append(f"contradictions between cards: {shown['contradictions']}")
    lines.append(f"not covered: {_some(shown['omissions'], MAX_LISTED, handle)}")
    lines.append("cannot be ruled out:")
    lines += [f"- {each['boundary']}: {each['blind_spot']}" for each in shown["hyperthesis"][:MAX_LISTED]]
    if received.result == "SUPPORTED":
        lines.append(
            f"State a sub-claim word for word and cite it at the end of the sentence: [{handle}:c1]."
        )
    else:
        lines.append("Not SUPPORTED: do not state it. Ask for something narrower, or say what is open.")
    return "\n".join(lines)


def without_names(sentence: str) -> str:
    """A sentence of ours up to where it goes on to name sources, which others have named."""
    head = sentence.partition(": ")[0].split("\n")[0]
    return head[:_WORDS].rstrip(".") + "."


def _omissions(omissions: tuple[Omission, ...]) -> Iterator[str]:
    for each in omissions:
        cell = each.cell if _CELL.fullmatch(each.cell) else "a source"
        domain = _domain(each.pointer) or _domain(each.cell)
        yield f"{cell} ({domain})" if domain else cell


def _domain(pointer: str) -> str:
    """The host of a URL, '' for anything else."""
    if not _URL.match(pointer):
        return ""
    try:
        host = urlsplit(pointer).hostname or ""
    except ValueError:
        return ""
    return host if _DOMAIN.fullmatch(host) else ""


def _result(claim: Mapping[str, Any]) -> str:
    return f"{claim['result']} ({claim['reason']})" if claim["reason"] else str(claim["result"])


def _some(names: Any, most: int, handle: str) -> str:
    if not names:
        return "none"
    more = f" and {len(names) - most} more (read {handle})" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def encoded(received: events.AttestationReceived, store: Store) -> str:
    """The verdict as indented JSON. Raises StoreError, ObjectError."""
    return msgspec.json.format(msgspec.json.encode(as_json(received, store))).decode()
