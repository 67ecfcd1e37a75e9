"""The pages that a run fetched as a web archive: WARC 1.1 (ISO 28500:2017).

A fetched page is a `response` record. Its headers are those of the receipt: names in lower case, without
Set-Cookie. The body is the stored one, with content coding undone, so headers that speak of the bytes on the
wire are kept under the prefix `X-Archive-Orig-`. A page that a browser rendered is a `resource` record: the
DOM, not what a server sent. Records have fixed ids, so the same session gives the same bytes.
"""

import base64
import hashlib
import ipaddress
import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from http import HTTPStatus

import msgspec

from vera.decode_errors import DECODE_ERRORS
from vera.events import Blob, Evidence
from vera.export.finished import Finished
from vera.report.printable import one_printable_line
from vera.report.timestamps import utc
from vera.sandbox.fetch.receipt import Fetched, Receipt
from vera.sandbox.render.rendered import RenderReceipt
from vera.store import Store
from vera.version import __version__

MAX_BYTES = 4 << 30
"""Of all bodies together."""

ON_THE_WIRE = frozenset(("content-encoding", "transfer-encoding", "content-length"))
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
_URI = re.compile(r"https?://[!-~]{1,8000}")

HONEST = (
    "What was kept of each page: status, headers without Set-Cookie, and the body with its content coding "
    "undone. The status line is written from the status. Headers under X-Archive-Orig- speak of the bytes on "
    "the wire, which were not kept. Resource records are the DOM of a rendered page. Requests were not kept."
)


class _Opened(msgspec.Struct, frozen=True):
    """Of the record of a reading, how the file was fetched."""

    retrieval: Receipt | None = None


class NoPages(Exception):
    """The session fetched no page; the message says so."""


def warc(finished: Finished, store: Store) -> Iterator[bytes]:
    """The records of the archive, each whole. Raises NoPages, and StoreError for bytes that were altered."""
    pages = list(_pages(finished.evidence.values(), store))
    if not pages:
        raise NoPages("This session fetched no page of the web, so there is nothing for a web archive.")
    yield _info(finished)
    left = MAX_BYTES
    for receipt, blob in pages:
        left -= blob.size
        if left < 0:
            return
        yield _record(receipt, store.get(blob.sha256))


def _pages(evidence: Iterable[Evidence], store: Store) -> Iterator[tuple[Receipt | RenderReceipt, Blob]]:
    """The receipts with the bodies that they are of, each once."""
    seen = set()
    for each in evidence:
        receipt = _receipt_of(each, store)
        key = msgspec.json.encode(receipt)
        if receipt is None or not _URI.fullmatch(receipt.url) or key in seen:
            continue
        seen.add(key)
        body = next((blob for blob in (each.raw, each.text) if blob and blob.sha256 == receipt.sha256), None)
        if body is not None:
            yield receipt, body


def _receipt_of(evidence: Evidence, store: Store) -> Receipt | RenderReceipt | None:
    """How an evidence was fetched: in the run, or as an input before it; None where it was not."""
    if evidence.receipt is not None:
        return _receipt(store.get(evidence.receipt.sha256))
    if not evidence.origin or evidence.opened is None:
        return None
    try:
        return msgspec.json.decode(store.get(evidence.opened.sha256), type=_Opened).retrieval
    except DECODE_ERRORS:
        return None


def _receipt(data: bytes) -> Receipt | RenderReceipt | None:
    """The receipt of a page; None for that of a search."""
    kinds: Sequence[type[Receipt] | type[RenderReceipt]] = (Receipt, RenderReceipt)
    for kind in kinds:
        try:
            return msgspec.json.decode(data, type=kind)
        except DECODE_ERRORS:
            continue
    return None


def _info(finished: Finished) -> bytes:
    fields = {
        "software": f"VERA {__version__}",
        "format": "WARC File Format 1.1",
        "conformsTo": "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "description": f"Pages that a run fetched. {finished.word}: {finished.reason}. {HONEST}",
    }
    block = "".join(f"{name}: {_line(value)}\r\n" for name, value in fields.items()).encode()
    at = finished.page.header.last_ts
    return _whole("warcinfo", at, block, {"Content-Type": "application/warc-fields"}, str(at))


def _record(receipt: Receipt | RenderReceipt, body: bytes) -> bytes:
    headers = {"WARC-Target-URI": receipt.url}
    key = f"{receipt.url} {receipt.started!r} {receipt.sha256}"
    if isinstance(receipt, RenderReceipt):
        headers["Content-Type"] = "text/html; charset=utf-8"
        return _whole("resource", receipt.started, body, headers, key)
    headers["Content-Type"] = "application/http;msgtype=response"
    headers["WARC-Payload-Digest"] = _digest(body)
    if address := _address(receipt.address):
        headers["WARC-IP-Address"] = address
    return _whole("response", receipt.started, _head(receipt, body) + body, headers, key)


def _head(receipt: Receipt, body: bytes) -> bytes:
    """The status line and the headers of a response."""
    status = Fetched(receipt=receipt, body=body).status
    phrase = next((each.phrase for each in HTTPStatus if each == status), "")
    lines = [f"HTTP/1.1 {status} {phrase}"]
    for name, value in receipt.headers:
        if _NAME.fullmatch(name):
            kept = f"X-Archive-Orig-{name}" if name.lower() in ON_THE_WIRE else name
            lines.append(f"{kept}: {_line(value)}")
    lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "replace")


def _whole(kind: str, at: float, block: bytes, headers: dict[str, str], key: str) -> bytes:
    """A record with its header, block and the two empty lines behind it."""
    named = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<{uuid.uuid5(uuid.NAMESPACE_URL, f'{kind} {key}').urn}>",
        "WARC-Date": utc(at).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        **headers,
        "WARC-Block-Digest": _digest(block),
        "Content-Length": str(len(block)),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"WARC/1.1\r\n{head}\r\n".encode() + block + b"\r\n\r\n"


def _digest(data: bytes) -> str:
    return f"sha256:{base64.b32encode(hashlib.sha256(data).digest()).decode()}"


def _address(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return ""


def _line(text: str) -> str:
    """A value that cannot begin another header."""
    return " ".join(one_printable_line(text).split())
