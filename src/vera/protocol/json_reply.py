"""A reply of a fixed form: one JSON object that fits a struct, out of what a model wrote."""

import re
from typing import TypeVar

import msgspec

from vera.protocol.json_recovery import Broken, read_object, scrub
from vera.protocol.reasoning import after_reasoning
from vera.sanitize import one_line

T = TypeVar("T", bound=msgspec.Struct)

MAX_REPLY_LENGTH = 100_000

_FENCED = re.compile(r"(?:\A|\n)[ \t]*+(?:`{3,}+|~{3,}+)[ \t]*+(?i:json)?+\s*+(?=\{)")


def read_reply(content: str, form: type[T]) -> T | str:
    """The reply as a struct, or why it is not one.

    Accepted are reasoning before the object, a fence around it, and text without braces after it. Members
    that the form does not have are not looked at.
    """
    if len(content) > MAX_REPLY_LENGTH:
        return f"the reply is longer than {MAX_REPLY_LENGTH} characters"
    body = after_reasoning(scrub(content).lstrip("\ufeff"))[0].strip()
    fenced = _FENCED.search(body)
    start = 0 if body.startswith("{") or fenced is None else fenced.end()
    if not body.startswith("{", start):
        return "the reply is no JSON object"
    found = read_object(body, start)
    if isinstance(found, Broken):
        return f"the reply is no JSON object: {found.reason}"
    if "{" in body[:start] or "{" in body[found.end :]:
        return "the reply holds more than one JSON object"
    try:
        return msgspec.convert(found.value, type=form)
    except msgspec.ValidationError as error:
        return f"the reply has not the form asked for: {one_line(str(error), 200)}"
