"""A model call as the log has it: one `model` record of what it cost, and one `model_io` of what was said."""

import hashlib
from typing import Any

from vera import events
from vera.events import Text, text_size
from vera.model.types import Completion, Request
from vera.sanitize import one_line
from vera.session.session import Session
from vera.usage import json_size

MAX_ERROR_LENGTH = 500


def log_call(
    session: Session,
    lane: str,
    step: int,
    scope: str,
    model: str,
    request: Request,
    completion: Completion,
    *,
    at_seq: int,
    sent: bytes,
    prefix: int = 0,
    parameters: dict[str, Any] | None = None,
    keep_request: bool = True,
) -> Text:
    """Write a call down that was answered, and give its first answer's content as the log has it.

    `sent` is `vera.model.types.wire` of its messages, `prefix` how many bytes at their start were those of
    the prompt before. `parameters` are further ones than model, temperature and length. With `keep_request`
    the messages are kept too: for calls that cannot be made again from the log up to `at_seq`.
    """
    choice, usage, others = completion.choices[0], completion.usage, completion.choices[1:]
    session.emit(
        events.Model(
            step=step,
            scope=scope,
            latency_s=round(completion.latency_s, 6),
            first_byte_s=round(completion.first_byte_s, 6),
            finish_reason=choice.finish_reason,
            n_messages=len(request.messages),
            input_bytes=len(sent),
            prefix_bytes=prefix,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cached_tokens=usage.cached_tokens,
            attempts=completion.attempts,
            truncated=completion.truncated,
            candidates=request.n,
        ),
        lane=lane,
    )
    content = session.text(choice.content)
    session.emit(
        events.ModelIo(
            step=step,
            scope=scope,
            at_seq=at_seq,
            request_sha256=hashlib.sha256(sent).hexdigest(),
            request_bytes=len(sent),
            parameters={
                "model": model,
                "temperature": request.temperature,
                "max_tokens": request.max_tokens,
                **(parameters or {}),
                **request.sampling,
            },
            content=content,
            reasoning=session.text(choice.reasoning),
            tool_calls=choice.tool_calls,
            finish_reason=choice.finish_reason,
            request=session.text(sent.decode()) if keep_request else "",
            other_bytes=sum(
                text_size(each.content) + text_size(each.reasoning) + json_size(each.tool_calls)
                for each in others
            ),
        ),
        lane=lane,
    )
    return content


def log_failure(
    session: Session,
    lane: str,
    step: int,
    scope: str,
    request: Request,
    problem: str,
    *,
    latency_s: float,
    sent: bytes,
    prefix: int = 0,
) -> str:
    """Write a call down that was made and not answered; gives `problem` as the log has it."""
    error = one_line(problem, MAX_ERROR_LENGTH)
    session.emit(
        events.Model(
            step=step,
            scope=scope,
            latency_s=round(latency_s, 6),
            n_messages=len(request.messages),
            input_bytes=len(sent),
            prefix_bytes=prefix,
            error=error,
            candidates=request.n,
        ),
        lane=lane,
    )
    return error
