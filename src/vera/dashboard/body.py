"""The body of a write: a form, read whole within bounds of size and time."""

import asyncio
from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.types import Receive

from vera.dashboard import uploads
from vera.dashboard.uploads import FORM_WITH_FILES, NoForm

MAX_BYTES = 64 << 10
MAX_FIELDS = 100
MAX_TASK = 1 << 20
"""Bytes of a task in a form with files, which is bounded again where it is read."""

MAX_SECONDS = 10.0
FORM = "application/x-www-form-urlencoded"


class BodyRefused(Exception):
    """A body that is not taken: the status, and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


async def read_form(receive: Receive, content_type: str, content_length: str) -> Mapping[str, str]:
    """The fields of a form, each name once. Raises BodyRefused: 400, 408, 413 or 415."""
    body = await _whole(receive, content_length, MAX_BYTES, MAX_SECONDS)
    if not body:
        return {}
    if content_type.partition(";")[0].strip().lower() != FORM:
        raise BodyRefused(415, f"Send a form ({FORM}).")
    return _fields(body)


async def read_form_with_files(
    receive: Receive, content_type: str, content_length: str
) -> tuple[Mapping[str, str], list[tuple[str, bytes]]]:
    """The same of a form that may bring files: they come with the names that were sent."""
    if content_type.partition(";")[0].strip().lower() != FORM_WITH_FILES:
        return await read_form(receive, content_type, content_length), []
    most = uploads.MAX_UPLOAD + MAX_BYTES + MAX_TASK
    body = await _whole(receive, content_length, most, uploads.MAX_SECONDS)
    try:
        pairs, files = await asyncio.to_thread(uploads.parse, body, content_type)
    except NoForm:
        raise BodyRefused(400, "That is no form.") from None
    return _once(pairs), files


async def _whole(receive: Receive, content_length: str, most: int, seconds: float) -> bytes:
    if content_length and (not _is_number(content_length) or int(content_length) > most):
        raise BodyRefused(413, _too_much(most))
    try:
        async with asyncio.timeout(seconds):
            return await _read(receive, most)
    except TimeoutError:
        raise BodyRefused(408, "The body did not come in time.") from None


def _too_much(most: int) -> str:
    taken = f"{uploads.MAX_UPLOAD >> 20} MB of files" if most > uploads.MAX_UPLOAD else f"{most} bytes"
    return f"That is too much: {taken} are taken."


async def _read(receive: Receive, most: int) -> bytes:
    """The body, however it is sent: one in chunks says no length."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise BodyRefused(400, "The body broke off.")
        body += message.get("body", b"")
        if len(body) > most:
            raise BodyRefused(413, _too_much(most))
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
    return _once(pairs)


def _once(pairs: list[tuple[str, str]]) -> Mapping[str, str]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise BodyRefused(400, "A field of the form comes twice.")
    return fields


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 12
