"""What is asked for: the bodies of requests, read within bounds of size, time and form."""

import asyncio
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta
from starlette.types import Receive

from vera.attestation.request_json import ConnectorName, RequestAsked, insist_on_unique_members
from vera.service.problems import Refused

MAX_BYTES = 2 << 20
"""Of a body."""

MAX_SECONDS = 20.0
"""In which a body has to come."""

QUESTION_LIMIT = 20_000
REPORT_LIMIT = 1 << 20

Input = Annotated[str, Meta(max_length=1000)]
"""A folder of documents: the name of an input root, and perhaps the way to a folder in it."""
Day = Annotated[str, Meta(max_length=10)]
Required = Literal["quoted", "verified"]


class Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A body whose members are a closed list."""


class VerifyBody(RequestAsked, frozen=True, kw_only=True):
    """`POST /v1/verify`: a VERIFY_REQUEST with its budget, and where it is to be looked up.

    `input` names a folder of documents of the service. With `require: verified` the exit code is 3 for what
    is less than VERIFIED. `fresh` looks again where the same request was verified before.
    """

    input: Input = ""
    require: Required = "quoted"
    fresh: bool = False

    def asked(self) -> RequestAsked:
        """The request alone, as `vera verify --request` reads it."""
        return RequestAsked(**{name: getattr(self, name) for name in RequestAsked.__struct_fields__})


class ResearchBudget(Body, frozen=True, kw_only=True):
    """What a run may spend, within what the service allows; what is left out is the service's own limit."""

    tokens: Annotated[int, Meta(ge=1, le=10**9)] | None = None
    seconds: Annotated[float, Meta(gt=0, le=604_800)] | None = None
    searches: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    steps: Annotated[int, Meta(ge=1, le=10_000)] | None = None


class ResearchBody(Body, frozen=True, kw_only=True):
    """`POST /v1/research`: a question to be answered with citations. `connectors` names
    configured connectors whose documents are read, too. `web` lets the run open public pages, where the
    service allows it."""

    question: Annotated[str, Meta(min_length=1, max_length=QUESTION_LIMIT)]
    input: Input = ""
    connectors: Annotated[tuple[ConnectorName, ...], Meta(max_length=20)] = ()
    web: bool = False
    require: Required = "quoted"
    form: Literal["answer", "report"] = "answer"
    mode: Literal["auto", "agent", "guided", "quick"] = "auto"
    budget: ResearchBudget = ResearchBudget()


class CheckBody(Body, frozen=True, kw_only=True):
    """`POST /v1/check`: a report in Markdown, held against the documents it cites. `fetch` gets the pages
    that it links, where the service allows it."""

    text: Annotated[str, Meta(min_length=1, max_length=REPORT_LIMIT)]
    input: Input = ""
    fetch: bool = False
    strict: bool = False
    require: Required = "quoted"
    not_before: Day = ""
    not_after: Day = ""


class TextPart(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a message; of other types than `text` nothing is read."""

    type: str
    text: str = ""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A message of a conversation."""

    role: Annotated[str, Meta(max_length=40)]
    content: str | tuple[TextPart, ...] | None = None

    @property
    def text(self) -> str:
        """Its text."""
        if self.content is None or isinstance(self.content, str):
            return self.content or ""
        return "\n".join(part.text for part in self.content if part.type == "text")


class ChatBody(msgspec.Struct, frozen=True, kw_only=True):
    """`POST /v1/chat/completions`: the last message of the user is the question. What else a client of a
    model sends (temperature, earlier messages, tools) is taken and not used."""

    messages: Annotated[tuple[Message, ...], Meta(min_length=1)]
    model: Annotated[str, Meta(max_length=200)] = "vera"
    stream: bool | None = False
    n: int | None = 1


AnyBody = VerifyBody | ResearchBody | CheckBody
Form = TypeVar("Form", bound=msgspec.Struct)


async def read_body(receive: Receive, content_type: str, content_length: str) -> bytes:
    """The bytes of a JSON body. Raises Refused: 400, 408, 413, 415."""
    _check_headers(content_type, content_length)
    body = bytearray()
    try:
        async with asyncio.timeout(MAX_SECONDS):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise Refused(400, "invalid_request", "The body broke off.")
                body += message.get("body", b"")
                if len(body) > MAX_BYTES:
                    raise _too_large()
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        raise Refused(408, "too_slow", "The body did not come in time.") from None


def _check_headers(content_type: str, content_length: str) -> None:
    """Raises Refused where the headers already say that the body is not taken."""
    if content_type.partition(";")[0].strip().lower() != "application/json":
        raise Refused(415, "not_json", "Send JSON, with the header 'Content-Type: application/json'.")
    if content_length and not (content_length.isascii() and content_length.isdigit()):
        raise Refused(400, "invalid_request", "The header Content-Length is no number.")
    if content_length and (len(content_length) > 12 or int(content_length) > MAX_BYTES):
        raise _too_large()


def decoded(data: bytes, form: type[Form]) -> Form:
    """The body as its form has it. Raises Refused (400)."""
    try:
        insist_on_unique_members(data)
        return msgspec.json.decode(data, type=form)
    except (ValueError, RecursionError) as error:
        sentence = f"That body does not fit: {error}. GET /openapi.json says what does."
        raise Refused(400, "invalid_request", sentence) from None


def _too_large() -> Refused:
    return Refused(413, "too_large", f"That is too much: {MAX_BYTES >> 20} MB are taken.")
