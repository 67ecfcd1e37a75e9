"""Asking whether a response of before still stands: a conditional request (RFC 9110, section 13.1)."""

import re

import msgspec

from vera.sandbox.fetch.exchange import Fields
from vera.sandbox.fetch.receipt import Fetched, Receipt

NOT_MODIFIED = 304

_CONDITIONS = (("etag", "If-None-Match"), ("last-modified", "If-Modified-Since"))
_PLAIN = re.compile(r"[\x21-\x7e][\x20-\x7e]{0,999}")


def validators(receipt: Receipt) -> Fields:
    """The header lines that make a request for the same address conditional; none where its server gave no
    validator."""
    if receipt.status not in (200, NOT_MODIFIED):
        return ()
    given = dict(reversed(receipt.headers))
    return tuple(
        (condition, given[name]) for name, condition in _CONDITIONS if _PLAIN.fullmatch(given.get(name, ""))
    )


def confirmed(kept: Fetched, receipt: Receipt) -> Fetched:
    """The kept bytes under the receipt of the response (status 304) that says they still stand.

    What that response leaves out is as it was; the validators that it does not repeat hold on (RFC 9111,
    section 3.2).
    """
    before = kept.receipt
    given = {name for name, _ in receipt.headers}
    held = tuple(pair for pair in before.headers if pair[0] not in given and pair[0] in dict(_CONDITIONS))
    merged = msgspec.structs.replace(
        receipt,
        headers=(*receipt.headers, *held),
        media_type=receipt.media_type or before.media_type,
        charset=receipt.charset or before.charset,
        encoding=before.encoding,
        size=before.size,
        sha256=before.sha256,
    )
    return Fetched(receipt=merged, body=kept.body)
