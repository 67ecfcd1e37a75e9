"""What to leave out when a server refuses an optional field by name."""

import re

import msgspec

from vera.model import loose
from vera.model.failure import Failure
from vera.model.types import Request
from vera.model.wire import Dialect

N_NAMED = re.compile(r"""['"`]n['"`]|\bn\b ?(?:>|=|must|is|should|values?)""")

LOGPROBS_NAMED = re.compile(r"log_?prob", re.IGNORECASE)

SCHEMA_WORDS = frozenset({"response_format", "json_schema", "schema", "grammar", "format"})
TOOL_WORDS = frozenset({"tools", "tool", "tool_choice", "tool_calls", "functions"})


def without_refused_field(dialect: Dialect, request: Request, refusal: Failure) -> Dialect | None:
    """The dialect for another try after this refusal, or None when it names no field we can do without."""
    param, said = _named(refusal.body)
    if request.logprobs and dialect.logprobs and _refuses_logprobs(refusal.status, f"{param} {said}"):
        return msgspec.structs.replace(dialect, logprobs=False)
    if refusal.status not in (400, 422):
        return None
    if dialect.stream_options and "stream_options" in (param, *_words(said)):
        return msgspec.structs.replace(dialect, stream_options=False)
    if dialect.token_field == "max_tokens" and "max_completion_tokens" in _words(said):
        return msgspec.structs.replace(dialect, token_field="max_completion_tokens")
    if dialect.n and request.n > 1 and (param == "n" or N_NAMED.search(said)):
        return msgspec.structs.replace(dialect, n=False)
    if dialect.temperature and "temperature" in (param, *_words(said)):
        return msgspec.structs.replace(dialect, temperature=False)
    return None


def refused_protocol(request: Request, refusal: Failure) -> str:
    """The protocol (json_schema, tools) that this refusal is about, or ''."""
    if refusal.status not in (400, 422, 501):
        return ""
    param, said = _named(refusal.body)
    words = {param, *_words(said.lower())}
    if request.schema is not None and words & SCHEMA_WORDS:
        return "json_schema"
    if request.tools and words & TOOL_WORDS:
        return "tools"
    return ""


def _refuses_logprobs(status: int, said: str) -> bool:
    """OpenAI answers 403 for a model whose logprobs are not given out."""
    return status in (400, 403, 422, 501) and LOGPROBS_NAMED.search(said) is not None


def _named(body: bytes) -> tuple[str, str]:
    """(the parameter an error names in its own field, the whole of what it says, bounded)."""
    error = loose.mapping(loose.mapping(loose.decode(body)).get("error"))
    return loose.text(error.get("param")), body[:4000].decode("utf-8", "replace").replace('\\"', '"')


def _words(said: str) -> set[str]:
    return set(re.findall(r"\w+", said))
