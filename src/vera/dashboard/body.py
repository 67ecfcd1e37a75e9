"""The body of a write: a form, read whole within bounds of size and time."""

import asyncio
from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.types import Receive

MAX_BYTES = 64 << 10
MAX_FIELDS = 100
MAX_SECONDS = 10.0
FORM = "application/x-www-form-urlencoded"


class BodyRefused(Exception):
    """A body that is not taken: the status, and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


async def read_form(receive: Receive, content_type: str, content_length: str) -> Mapping[str, str]:
    """The fields of a form, each name once. Raises BodyRefused: 400, 408, 413 or 415."""
    if content_length and (not _is_number(content_length) or int(content_length) > MAX_BYTES):
        raise BodyRefused(413, f"That is too much: {MAX_BYTES} bytes are taken.")
    try:
        async with asyncio.timeout(MAX_SECONDS):
            body = await _read(receive)
    except TimeoutError:
        raise BodyRefused(408, "The body did not come in time.") from None
    if not body:
        return {}
    if content_type.partition(";")[0].strip().lower() != FORM:
        raise BodyRefused(415, f"Send a form ({FORM}).")
    return _fields(body)


async def _read(receive: Receive) -> bytes:
    """The body, however it is sent: one in chunks says no length."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise BodyRefused(400, "The body broke off.")
        body += message.get("body", b"")
        if len(body) > MAX_BYTES:
            raise BodyRefused(413, f"That is too much: {MAX_BYTES} bytes are taken.")
        if not message.get("more_body", False):
            return bytes(body)


def _fields(body: bytes) -> Mapping[str, str]:
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=MAX_FIELDS,
        )
    except ValueError:
        raise BodyRefused(400, "That is no form.") from None
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise BodyRefused(400, "A field of the form comes twice.")
    return fields


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 12
