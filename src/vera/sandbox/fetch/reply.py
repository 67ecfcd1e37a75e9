"""The response of one hop, and the receipt that the last one becomes."""

import hashlib
import re
import time

import msgspec

from vera.sandbox.egress.authority import Url
from vera.sandbox.fetch.exchange import ResponseHead
from vera.sandbox.fetch.receipt import Hop, Receipt

_CHARSET = re.compile(r"charset\s*=\s*\"?([a-z0-9_.:-]{1,40})")


class FetchReply(msgspec.Struct, frozen=True, kw_only=True):
    """One hop's response; of a redirect the body is not read."""

    url: Url
    head: ResponseHead
    address: str
    tls: str
    certificate: bytes
    location: str = ""
    body: bytes = b""
    wire_size: int = 0
    coding: str = ""


def receipt_of(
    requested: str, reply: FetchReply, followed: tuple[Hop, ...], started: float, began: float
) -> Receipt:
    """`started` is Unix time, `began` the monotonic clock at the same moment."""
    content_type = reply.head.header("content-type").lower()
    charset = _CHARSET.search(content_type)
    return Receipt(
        requested=requested,
        url=str(reply.url),
        status=reply.head.status,
        redirects=followed,
        headers=tuple(pair for pair in reply.head.headers if pair[0] != "set-cookie"),
        address=reply.address,
        tls=reply.tls,
        certificate=hashlib.sha256(reply.certificate).hexdigest() if reply.certificate else "",
        media_type=content_type.partition(";")[0].strip(),
        charset=charset[1] if charset else "",
        encoding=reply.coding,
        size=len(reply.body),
        wire_size=reply.wire_size,
        sha256=hashlib.sha256(reply.body).hexdigest(),
        started=started,
        seconds=time.monotonic() - began,
    )
