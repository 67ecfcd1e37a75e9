"""VERA as a model of any chat client: the form of OpenAI's `chat/completions`.

The last message of the user is the question. The answer is the text of a job of research with its citations
and one line that says how strongly it is proved; `vera` beside it holds the same for programs.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import msgspec

from vera.service.bodies import QUESTION_LIMIT, ChatBody, ResearchBody
from vera.service.engine import Active
from vera.service.jobs import Jobs
from vera.service.problems import ErrorReply, Refused
from vera.service.records import JobView
from vera.service.terms import Terms

MODEL = "vera"
WAIT_SECONDS = 10.0
"""Between two comments that keep a stream open while VERA works."""

PIECE = 400
"""Characters of a piece of a streamed answer."""

MAX_QUOTE = 300
MAX_CITATIONS = 50


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """The one answer."""

    index: int
    message: dict[str, str]
    finish_reason: str


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens that the run's models were sent and wrote."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatReply(msgspec.Struct, frozen=True, kw_only=True):
    """A completion. `vera` holds job, session, status, attestation and citations of the answer."""

    id: str
    object: str
    created: int
    model: str
    choices: tuple[Choice, ...]
    usage: Usage
    vera: dict[str, Any]


class ModelEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A model that can be named in a chat."""

    id: str
    object: str = "model"
    created: int = 0
    owned_by: str = "vera"


class ModelList(msgspec.Struct, frozen=True, kw_only=True):
    """What can be named as `model`."""

    data: tuple[ModelEntry, ...]
    object: str = "list"


def models_of(terms: Terms) -> ModelList:
    """One model for each input root; with one root, or none, it is called `vera`."""
    names = [f"{MODEL}/{root}" for root in terms.roots] if len(terms.roots) > 1 else [MODEL]
    return ModelList(data=tuple(ModelEntry(id=name) for name in names))


def research_of(body: ChatBody, *, web: bool) -> bytes:
    """The body of the research that a chat asks for: `vera/INPUT` names the documents. Raises Refused (400,
    404)."""
    name, _, folder = body.model.partition("/")
    if name != MODEL:
        raise Refused(404, "no_model", f"There is no model {body.model[:80]!r}. GET /v1/models lists them.")
    if body.n not in (None, 1):
        raise Refused(400, "invalid_request", "One answer is given: leave n out.")
    question = next((each.text for each in reversed(body.messages) if each.role == "user"), "").strip()
    if not question:
        raise Refused(400, "invalid_request", "There is no message of the user with a text.")
    if len(question) > QUESTION_LIMIT:
        sentence = f"The last message of the user is too long: {QUESTION_LIMIT} characters are taken."
        raise Refused(400, "invalid_request", sentence)
    return msgspec.json.encode(ResearchBody(question=question, input=folder, web=web))


def completion(view: JobView, created: float, model: str) -> ChatReply:
    """The answer of a job that is done, by the name of the `model` that was asked.
    Raises Refused where it came to none.
    """
    result = _result(view)
    spent = result.get("spent")
    tokens = spent if isinstance(spent, dict) else {}
    sent, wrote = _count(tokens.get("prompt_tokens")), _count(tokens.get("completion_tokens"))
    return ChatReply(
        id=f"chatcmpl-{view.id}",
        object="chat.completion",
        created=int(created),
        model=model,
        choices=(
            Choice(index=0, message={"role": "assistant", "content": text_of(result)}, finish_reason="stop"),
        ),
        usage=Usage(prompt_tokens=sent, completion_tokens=wrote, total_tokens=sent + wrote),
        vera=member_of(view, result),
    )


async def chunks(jobs: Jobs, active: Active, created: float, model: str) -> AsyncGenerator[bytes, None]:
    """The answer as a stream of chunks; comments while the job works. Whoever hangs up lets go of the job."""
    job, over = active.job, False
    try:
        yield _chunk(job.id, created, model, {"role": "assistant", "content": ""})
        while not active.over.is_set():
            try:
                async with asyncio.timeout(WAIT_SECONDS):
                    await active.over.wait()
            except TimeoutError:
                yield b": VERA works\n\n"
        over = True
        view = await jobs.view(active.records, job)
        try:
            result = _result(view)
        except Refused as refused:
            yield _data(ErrorReply(error=refused.body().error))
            return
        for piece in _pieces(text_of(result)):
            yield _chunk(job.id, created, model, {"content": piece})
        yield _chunk(job.id, created, model, {}, finish="stop", vera=member_of(view, result))
        yield b"data: [DONE]\n\n"
    finally:
        if not over:
            jobs.leave(active)


def text_of(result: dict[str, Any]) -> str:
    """The answer, what its citations point at, and how strongly it is proved."""
    lines = [str(result.get("answer") or "No answer was reached.")]
    quoted = [each for each in result.get("citations", []) if isinstance(each, dict)][:MAX_CITATIONS]
    if quoted:
        lines += ["", "Sources:"]
    for each in quoted:
        quote = " ".join(str(each.get("quote", "")).split())
        shown = quote if len(quote) <= MAX_QUOTE else quote[: MAX_QUOTE - 1] + "…"
        where = f"{each.get('source')}, lines {each.get('first')}-{each.get('last')}"
        lines.append(f"{each.get('citation')} {where}: “{shown}”")
    reason = f": {result['reason']}" if result.get("reason") else ""
    return "\n".join([*lines, "", f"{result.get('status')}{reason}"])


def member_of(view: JobView, result: dict[str, Any]) -> dict[str, Any]:
    """What programs read beside the text."""
    names = ("status", "reason", "exit_code", "attestation", "claims", "citations")
    return {"job": view.id, "session": view.session, **{name: result.get(name) for name in names}}


def _result(view: JobView) -> dict[str, Any]:
    """Raises Refused for a job without a result."""
    if view.result is not None:
        return view.result
    if view.error is not None:
        raise Refused(502, view.error.code, view.error.message)
    raise Refused(502, view.status, f"The job {view.id} was {view.status}.")


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + PIECE] for at in range(0, len(text), PIECE))


def _chunk(
    name: str, created: float, model: str, delta: dict[str, str], finish: str | None = None, **more: object
) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": f"chatcmpl-{name}", "object": "chat.completion.chunk", "created": int(created)}
    return _data({**head, "model": model, "choices": [choice], **more})


def _data(value: object) -> bytes:
    return b"data: %s\n\n" % msgspec.json.encode(value)


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
