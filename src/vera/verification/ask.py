"""One question to the verifier's model: no tools, an answer of a fixed form, both in the log.

A reply is untrusted. It is one JSON object that fits a struct of enums, numbers and short texts, or it is a
problem: nothing is guessed from prose, and no number is read out of it.
"""

import asyncio
import time
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Annotated, Any, Generic, TypeVar

import msgspec

from vera.events import REPETITION
from vera.model.types import Choice, Message, ModelError, NotAsked, Request, Token, wire
from vera.protocol.json_reply import read_reply
from vera.session.calls import log_call, log_failure
from vera.verification.context import VerifierContext

T = TypeVar("T", bound=msgspec.Struct)
R = TypeVar("R")

BYTES_PER_TOKEN = 3
"""Assumed of text in a prompt, on the safe side: English has about 4.5, Chinese about 3."""

HEAD_TOKENS = 1000
"""What a prompt's own words take, beside the data in it."""

MIN_ROOM = 3000

_SCHEMA_WORDS = frozenset(
    {"type", "properties", "required", "items", "minItems", "maxItems", "enum", "anyOf", "pattern"}
)
"""What OpenAI's strict mode and the grammars of llama.cpp, vLLM and SGLang have in common. The grammars, of
servers in this network, have `maxLength` too."""

Lengths = Mapping[str, tuple[int, int]]
"""Of members of a reply that are arrays: how many items they have at least and at most."""
NO_LENGTHS: Lengths = {}

Choices = Mapping[str, Sequence[str]]
"""Of members of the items of a reply's arrays: the texts that are allowed."""
NO_CHOICES: Choices = {}
MAX_CHOICES = 200
"""Texts of a member that a schema lists; where there are more, any is allowed, and it is looked up."""

ClaimKey = Annotated[str, msgspec.Meta(extra_json_schema={"pattern": "^c[0-9]{1,5}$"})]
"""A claim's key in a reply. A schema holds the model to its form; what it names is looked up."""

EvidenceId = Annotated[str, msgspec.Meta(extra_json_schema={"pattern": "^(ev_[0-9]{4,9})?$"})]
"""An evidence id in a reply, or ''; as a ClaimKey."""


class ModelReply(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """What came back: `value`, or a `problem` in half a sentence.

    `tokens` are the answer's tokens with their probabilities, where they were asked for and given.
    `unanswered`: the model gave no reply at all. `unreachable`: asking again is no use now.
    """

    value: T | None = None
    problem: str = ""
    content: str = ""
    tokens: tuple[Token, ...] = ()
    unanswered: bool = False
    unreachable: bool = False


def prompt(context: VerifierContext, template: str, **values: Any) -> tuple[Message, ...]:
    """The messages that a template makes: its part `system`, then its part `data`."""
    system = context.prompts.render(template, part="system", **values)
    data = context.prompts.render(template, part="data", **values)
    role = context.options.system_role
    if role == "user":
        return (Message(role="user", content=f"{system}\n\n{data}"),)
    return (Message(role=role, content=system), Message(role="user", content=data))


def room(context: VerifierContext) -> int:
    """How many bytes of data fit into one prompt."""
    context_tokens = context.model.info.context_tokens if context.model else None
    high = context.options.high_tokens
    tokens = high if context_tokens is None else min(high, context_tokens * 7 // 10)
    return max(MIN_ROOM, (tokens - context.options.answer_tokens - HEAD_TOKENS) * BYTES_PER_TOKEN)


class Line:
    """The line to the model in one lane.

    Once the model cannot be reached, nothing more is asked on it: each reply says so at once.
    """

    def __init__(self, context: VerifierContext, lane: str, scope: str) -> None:
        self._context, self._lane, self._scope = context, lane, scope
        self._down = ""

    async def ask(
        self,
        step: int,
        messages: tuple[Message, ...],
        form: type[T],
        *,
        lengths: Lengths = NO_LENGTHS,
        choices: Choices = NO_CHOICES,
        logprobs: bool = False,
    ) -> ModelReply[T]:
        """As the function `ask`."""
        if self._down:
            return ModelReply(problem=self._down, unanswered=True, unreachable=True)
        reply = await ask(
            self._context,
            lane=self._lane,
            step=step,
            scope=self._scope,
            messages=messages,
            form=form,
            lengths=lengths,
            choices=choices,
            logprobs=logprobs,
        )
        if reply.unreachable:
            self._down = reply.problem
        return reply


async def together(context: VerifierContext, jobs: Iterable[Coroutine[Any, Any, R]]) -> list[R]:
    """The results of the jobs, in their order, begun in that order, as many at once as the endpoint serves.

    When one raises, the others are cancelled and it is raised.
    """
    begun = list(jobs)
    free = asyncio.Semaphore(max(1, context.model.info.parallel if context.model else 1))

    async def in_turn(job: Coroutine[Any, Any, R]) -> R:
        async with free:
            return await job

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(in_turn(job)) for job in begun]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    finally:
        for job in begun:
            job.close()  # one that never had its turn
    return [task.result() for task in tasks]


async def ask(
    context: VerifierContext,
    *,
    lane: str,
    step: int,
    scope: str,
    messages: tuple[Message, ...],
    form: type[T],
    lengths: Lengths = NO_LENGTHS,
    choices: Choices = NO_CHOICES,
    logprobs: bool = False,
) -> ModelReply[T]:
    """Ask the model once. Never raises for a model that fails or answers nonsense: that is a problem.

    `lengths` bounds arrays of the reply and `choices` names what their items may hold, for a server that
    keeps to a schema.
    """
    model = context.model
    if model is None:
        return ModelReply(problem="there is no verifier model", unanswered=True, unreachable=True)
    request = Request(
        messages=messages,
        temperature=0.0,
        max_tokens=context.options.answer_tokens,
        schema=schema_of(form, lengths, choices, bounded=model.info.local)
        if model.info.protocol == "json_schema"
        else None,
        logprobs=logprobs,
    )
    session, at_seq, sent, started = (
        context.session,
        context.session.state.seq,
        wire(messages),
        time.monotonic(),
    )
    try:
        completion = await model.complete(request)
    except NotAsked as why:
        # No call was made, so none is logged.
        return ModelReply(problem=str(why), unanswered=True, unreachable=True)
    except ModelError as error:
        took = time.monotonic() - started
        said = log_failure(session, lane, step, scope, request, str(error), latency_s=took, sent=sent)
        return ModelReply(problem=f"the model failed: {said}", unanswered=True, unreachable=error.transient)
    log_call(
        session,
        lane,
        step,
        scope,
        model.info.name,
        request,
        completion,
        at_seq=at_seq,
        sent=sent,
        parameters={"schema": request.schema is not None, "logprobs": request.logprobs},
    )
    return _read(completion.choices[0], form)


_ENDED = {
    "length": " (it was cut off at the token limit)",
    REPETITION: " (it repeated itself and was stopped)",
}


def _read(choice: Choice, form: type[T]) -> ModelReply[T]:
    value = read_reply(choice.content, form)
    if isinstance(value, str):
        cut = _ENDED.get(choice.finish_reason, "")
        return ModelReply(problem=value + cut, content=choice.content, tokens=choice.tokens)
    return ModelReply(value=value, content=choice.content, tokens=choice.tokens)


def schema_of(
    form: type[msgspec.Struct],
    lengths: Lengths = NO_LENGTHS,
    choices: Choices = NO_CHOICES,
    *,
    bounded: bool = False,
) -> dict[str, Any]:
    """The JSON Schema of a struct for strict decoding: closed objects, all members required, no `$ref`.

    The arrays that `lengths` names have so many items: an array without end is what a small model fills
    until its reply is cut. A member of their items that `choices` names is one of its texts. With `bounded`
    texts have their greatest length.
    """
    (schema,), components = msgspec.json.schema_components([form])
    words = _SCHEMA_WORDS | {"maxLength"} if bounded else _SCHEMA_WORDS
    inlined: dict[str, Any] = _inlined(schema, components, words)
    for member, (least, most) in lengths.items():
        array = inlined["properties"][member]
        array |= {"minItems": least, "maxItems": most}
        for name, texts in choices.items():
            if 0 < len(texts) <= MAX_CHOICES:
                array["items"]["properties"][name] = {"type": "string", "enum": list(texts)}
    return inlined


def _inlined(schema: dict[str, Any], components: dict[str, Any], words: frozenset[str]) -> dict[str, Any]:
    if "$ref" in schema:
        return _inlined(components[schema["$ref"].rpartition("/")[2]], components, words)
    kept = {word: value for word, value in schema.items() if word in words}
    if "properties" in kept:
        kept["properties"] = {
            name: _inlined(member, components, words) for name, member in kept["properties"].items()
        }
        kept["required"] = list(kept["properties"])
        kept["additionalProperties"] = False
    if "items" in kept:
        kept["items"] = _inlined(kept["items"], components, words)
    if "anyOf" in kept:
        kept["anyOf"] = [_inlined(choice, components, words) for choice in kept["anyOf"]]
    return kept
