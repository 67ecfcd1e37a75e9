"""Why one attempt at a request failed, as the retry rule and the person need to know it."""

import msgspec

from vera.model import loose
from vera.model.types import ModelError

TRANSIENT_STATUS = frozenset({408, 409, 429})
"""HTTP status codes worth another attempt, besides every 5xx."""

QUOTED_CHARACTERS = 300


class Failure(Exception):
    """One failed attempt: a sentence, and what the retry rule needs.

    `retry` says whether another attempt may help, `timed_out` that the server was silent too long,
    `retry_after_s` how long it asked to wait, `status` and `body` what it answered, if it did;
    `attempts` how many were made when it was raised for good.
    """

    attempts = 1

    def __init__(
        self,
        sentence: str,
        *,
        retry: bool = False,
        timed_out: bool = False,
        retry_after_s: float | None = None,
        status: int = 0,
        body: bytes = b"",
    ) -> None:
        super().__init__(sentence)
        self.retry = retry
        self.timed_out = timed_out
        self.retry_after_s = retry_after_s
        self.status = status
        self.body = body


class Connection(msgspec.Struct, frozen=True, kw_only=True):
    """What the sentences name: the server's URL, the model, the key to hide, the line for more context."""

    url: str
    model: str = ""
    key: str | None = None
    larger_context: str = ""


def is_transient(status: int) -> bool:
    return status in TRANSIENT_STATUS or 500 <= status <= 599


def quote(body: bytes, key: str | None) -> str:
    """The message in an error body, or its beginning: printable, bounded, never with the key."""
    answer = loose.mapping(loose.decode(body))
    error = answer.get("error", answer)
    message = loose.text(error) or loose.text(loose.mapping(error).get("message"))
    message = message or loose.text(answer.get("detail")) or body.decode("utf-8", "replace")
    if key:
        message = message.replace(key, "[key]")
    message = " ".join("".join(c if c.isprintable() else " " for c in message).split())
    return message if len(message) <= QUOTED_CHARACTERS else message[:QUOTED_CHARACTERS] + "…"


def unreachable(place: Connection, reason: str) -> Failure:
    why = f" ({reason})" if reason else ""
    return Failure(
        f"No model server answers at {place.url}{why}: is the server running? Type: vera doctor",
        retry=True,
    )


def dropped(place: Connection, reason: str) -> Failure:
    return Failure(
        f"The model server at {place.url} broke off before its answer was complete ({reason}): "
        "its own log may say why; also: vera doctor",
        retry=True,
    )


def silent(place: Connection, seconds: float) -> Failure:
    return Failure(
        f"The model server at {place.url} sent nothing for {seconds:.0f} s. "
        f"If this machine is only slow, allow more, for example: MODEL_TIMEOUT={max(60, round(seconds * 4))}",
        retry=True,
        timed_out=True,
    )


def out_of_time(place: Connection) -> Failure:
    return Failure(
        f"The model server at {place.url} was still answering when the time for one request ran out. "
        "A smaller or faster model, or a shorter answer, may fit.",
        timed_out=True,
    )


def not_a_reply(place: Connection, body: bytes) -> Failure:
    return Failure(
        f"{place.url} answered with something that is no chat completion: {quote(body, place.key)!r}. "
        "Is it the address of an OpenAI-compatible server? Type: vera doctor"
    )


def too_long(place: Connection, what: str) -> Failure:
    return Failure(f"The model server at {place.url} sent {what} and was cut off.")


def refused(place: Connection, status: int, body: bytes, retry_after_s: float | None = None) -> Failure:
    """The failure for an HTTP error, or for an error object inside a stream."""
    said = quote(body, place.key) or "no reason given"
    return Failure(
        _refusal(place, status, said),
        retry=is_transient(status),
        retry_after_s=retry_after_s,
        status=status,
        body=body,
    )


def error_of(failure: Failure) -> ModelError:
    """The failure as the rest of VERA sees it, when no further attempt is made."""
    tried = f" ({failure.attempts} attempts)" if failure.attempts > 1 else ""
    return ModelError(f"{failure}{tried}", transient=failure.retry)


def _refusal(place: Connection, status: int, said: str) -> str:
    if status in (401, 403):
        return (
            f"The model server at {place.url} refused the key (HTTP {status}: {said}). "
            "Give the right one, for example: OPENAI_API_KEY=… vera run …"
        )
    if 300 <= status <= 399:
        return (
            f"The model server at {place.url} sends on to another address (HTTP {status}), which is not "
            "followed, so that no key or text reaches a host you did not name. "
            "If that address is right, give it: --model-base-url URL"
        )
    if status in (400, 413, 422) and _speaks_of_context(said):
        more = f" Start it with a larger one: {place.larger_context}" if place.larger_context else ""
        return f"The prompt is longer than the context of the model at {place.url}: {said}.{more}"
    if status == 404:
        return (
            f"The model server at {place.url} does not know the route or the model "
            f"{place.model!r} (HTTP 404: {said}). See what it has: vera doctor"
        )
    if status == 429:
        return f"The model server at {place.url} asks to slow down (HTTP 429: {said})."
    if not status:
        return f"The model server at {place.url} reported an error in the middle of its answer: {said}."
    return f"The model server at {place.url} answered HTTP {status}: {said}."


def _speaks_of_context(said: str) -> bool:
    low = said.lower()
    names_it = "context" in low or "input length" in low or "prompt" in low
    return names_it and any(word in low for word in ("exceed", "maximum", "too long", "longer than"))
