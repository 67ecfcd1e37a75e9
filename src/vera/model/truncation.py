"""Noticing that a server cut the prompt or the answer without saying so."""

from vera.model.types import Choice, Request, Usage

SMALLEST_CONTEXT = 512
"""Tokens. Below it a power of two is chance, not a context size."""

JUDGED_FROM_BYTES = 8192
"""Prompts shorter than this fit everywhere and their bytes a token vary too much."""

BYTES_A_TOKEN_IMPOSSIBLE = 10
BYTES_A_TOKEN_DOUBTFUL = 6
"""English prose has about 4.5 bytes a token, code 3, Chinese 4; only long runs of blanks pass 6."""


def truncation(
    request: Request, choices: tuple[Choice, ...], usage: Usage, context_tokens: int | None
) -> str:
    """How the server cut, as half a sentence; '' when nothing shows that it did.

    The answer: it ended for its length before `max_tokens` was reached. The prompt: the server counted
    far fewer tokens than so many bytes can be, all the more when the count is a context size.
    """
    of_answer = ""
    if len(choices) == 1 and choices[0].finish_reason == "length":
        of_answer = _of_answer(request, usage, context_tokens)
    return of_answer or _of_prompt(request, usage, context_tokens)


def _of_answer(request: Request, usage: Usage, context_tokens: int | None) -> str:
    """How the server cut an answer that ended for its length."""
    prompt, completion = usage.prompt_tokens, usage.completion_tokens
    if not prompt or not completion:
        return ""
    total = prompt + completion
    if completion < request.max_tokens and _is_context(total, context_tokens):
        return f"the server's context of {total} tokens was full and cut the answer"
    if completion < request.max_tokens * 0.9:
        return f"the server cut the answer at {completion} of the {request.max_tokens} tokens allowed"
    return ""


def _of_prompt(request: Request, usage: Usage, context_tokens: int | None) -> str:
    prompt = usage.prompt_tokens
    sent = sum(len((m.content or "").encode("utf-8", "replace")) for m in request.messages)
    if prompt and sent >= JUDGED_FROM_BYTES:
        ratio = sent / prompt
        if ratio > BYTES_A_TOKEN_IMPOSSIBLE or (
            ratio > BYTES_A_TOKEN_DOUBTFUL and _is_context(prompt, context_tokens)
        ):
            return f"the server read only {prompt} tokens of a prompt of {sent} bytes"
    return ""


def _is_context(tokens: int, context_tokens: int | None) -> bool:
    power_of_two = tokens >= SMALLEST_CONTEXT and tokens & (tokens - 1) == 0
    return power_of_two or (context_tokens is not None and tokens >= context_tokens - 8)
