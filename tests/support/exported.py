"""A finished session as a value, for the exports."""

import hashlib
from typing import Any

import msgspec

from support.run_pages import START, header
from vera import events
from vera.export.finished import Finished
from vera.report.answer import MarkedClaim, Quote, Report
from vera.report.view.model import AttestationView, CardView, ClaimView, RunPage, Timeline
from vera.sandbox.fetch.receipt import Receipt
from vera.store import Store

URL = "https://rivers.example/elbe?a=1&b=2"
BODY = b"<p>The Elbe is 1094 kilometres long.</p>\n"
TEXT = b"The Elbe is 1094 kilometres long.\n"
SAID = "The Elbe is 1094 kilometres long [ev_0002:1]. ~~It is “blue”~~ (dropped) [ev_0003:1]."


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def evidence(number: int, source: str, **members: Any) -> events.Evidence:
    """Evidence of one line."""
    return msgspec.convert(
        {
            "id": f"ev_{number:04}",
            "ts": START,
            "call": "call_0001",
            "step": 1,
            "tool": "fetch",
            "tier": "captured",
            "source": source,
            "summary": "",
            "text": events.Blob(sha(TEXT), len(TEXT)),
            "lines": 1,
            "first": 1,
            "last": 1,
            **members,
        },
        events.Evidence,
        from_attributes=True,
    )


def claim(
    verdict: str, text: str = "The Elbe is 1094 kilometres long [ev_0002:1].", **card: Any
) -> ClaimView:
    """A claim with one card."""
    members = {
        "first": 1,
        "last": 1,
        "source": URL,
        "source_id": sha(TEXT),
        "quotation": (TEXT.decode().strip(),),
        **card,
    }
    one = CardView(id="k1", relation="SUPPORTS", evidence="ev_0002", **members)
    return ClaimView(key="c1", text=text, verdict=verdict, cards=(one,))


def quote(number: int, source: str, **members: Any) -> Quote:
    values = {
        "evidence": f"ev_{number:04}",
        "first": 1,
        "last": 1,
        "source": source,
        "tier": "captured",
        "at": "2026-11-24 12:00:00Z",
        "lines": (TEXT.decode().strip(),),
        "text_sha256": sha(TEXT),
        **members,
    }
    return Quote(**values)


def finished(
    *claims: ClaimView, word: str = "VERIFIED", rule: str = "model", title: str = "The Elbe", **members: Any
) -> Finished:
    """An answer with a citation of a page and one of a file."""
    reason = "each claim is supported by the lines that it cites"
    marked = MarkedClaim(key="c2", text="It is “blue”", start=0, end=5, mark="dropped", findings=("No.",))
    attested = AttestationView(
        id=f"sha256:{sha(b'')}",
        result="SUPPORTED",
        reason="",
        keyid="",
        issued_at="",
        expires_at="",
        rule=rule,
    )
    values: dict[str, Any] = {
        "task": "How long is the Elbe?",
        "word": word,
        "reason": reason,
        "report": Report(
            text=SAID,
            status=f"{word}: {reason}",
            quotes=(quote(2, URL), quote(3, "notes/a.txt")),
            claims=(marked,),
            limits=("No one looked elsewhere.",),
        ),
        "page": RunPage(
            offset=1,
            header=header(verdict=word),
            timeline=Timeline(start=START, end=START + 1),
            claims=claims or (claim("supported"),),
            attestation=attested,
        ),
        "evidence": {
            "ev_0002": evidence(2, URL, title=title, dated="2024-03-01"),
            "ev_0003": evidence(3, "notes/a.txt", dated="2020/2021-05"),
        },
    }
    return Finished(**{**values, **members})


def receipt(body: bytes = BODY, **members: Any) -> Receipt:
    """The receipt of a page of the web."""
    values: dict[str, Any] = {
        "requested": URL,
        "url": URL,
        "status": 200,
        "redirects": (),
        "headers": (("content-type", "text/html; charset=utf-8"), ("content-encoding", "gzip")),
        "address": "192.0.2.7",
        "tls": "TLSv1.3",
        "certificate": sha(b"certificate"),
        "media_type": "text/html",
        "charset": "utf-8",
        "encoding": "gzip",
        "size": len(body),
        "wire_size": 40,
        "sha256": sha(body),
        "started": START,
        "seconds": 0.2,
        **members,
    }
    return Receipt(**values)


def fetched(store: Store, number: int, of: object, body: bytes = BODY) -> events.Evidence:
    """Evidence of a page whose receipt and body are in the store."""
    said = msgspec.json.encode(of)
    store.put(body)
    return evidence(
        number,
        URL,
        raw=events.Blob(sha(body), len(body)),
        receipt=events.Blob(store.put(said), len(said)),
    )
