"""What is refused: one shape for every error, `{"error": {"code", "message"}}`."""

from collections.abc import Mapping
from http import HTTPStatus

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

MAX_SENTENCE = 1000

_ROUTING = {404: "There is nothing at this address.", 405: "That cannot be done at this address."}


class ErrorBody(msgspec.Struct, frozen=True, kw_only=True):
    """A stable word for programs, and a sentence for people."""

    code: str
    message: str


class ErrorReply(msgspec.Struct, frozen=True, kw_only=True):
    """The body of every answer that is an error."""

    error: ErrorBody


class Refused(Exception):
    """A request that goes no further: status, code, a sentence, and headers for the answer."""

    def __init__(
        self, status: int, code: str, sentence: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(sentence)
        self.status = status
        self.code = code
        self.headers = dict(headers or {})

    def body(self) -> ErrorReply:
        return ErrorReply(error=error_of(self.code, str(self)))


class TryLater(Refused):
    """A request that can be sent again after `seconds`."""

    def __init__(self, status: int, code: str, sentence: str, seconds: float) -> None:
        whole = max(1, round(seconds + 0.5))
        super().__init__(status, code, sentence, {"retry-after": str(whole)})


def error_of(code: str, sentence: str) -> ErrorBody:
    """The sentence on one line, cut."""
    from vera.report.printable import one_printable_line

    line = one_printable_line(sentence)
    return ErrorBody(code=code, message=line if len(line) <= MAX_SENTENCE else line[: MAX_SENTENCE - 1] + "…")


def as_json(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON answer."""
    return Response(msgspec.json.encode(value), status, headers, media_type="application/json")


def refusal(refused: Refused) -> Response:
    """The answer to what was refused."""
    return as_json(refused.body(), refused.status, refused.headers)


async def by_router(request: Request, error: Exception) -> Response:
    """The answer to an address that is not there, and to a method that it does not take."""
    assert isinstance(error, HTTPException)
    code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
    sentence = _ROUTING.get(error.status_code, str(error.detail))
    return refusal(Refused(error.status_code, code, sentence, error.headers))
