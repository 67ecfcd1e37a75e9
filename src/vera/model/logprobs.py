"""The probabilities of tokens, as servers send them with an answer."""

from typing import Any

from vera.model import loose
from vera.model.types import Token

TOP_LOGPROBS = 20
"""How many of the likeliest tokens are asked for at a place: the most that OpenAI, vLLM and Ollama give."""

MAX_TOKENS = 8192
MAX_TOKEN_LENGTH = 200


class TokenFold:
    """The tokens of one answer as they come in. What is no list of tokens is passed over."""

    def __init__(self) -> None:
        self._tokens: list[Token] = []

    def add(self, entries: Any) -> None:
        """Take the tokens of one piece: a list of `{"token", "logprob", "top_logprobs": [...]}`."""
        for entry in loose.items(entries, MAX_TOKENS - len(self._tokens)):
            token = loose.mapping(entry)
            likely = _likely(token)
            if likely is not None:
                top = map(_likely, map(loose.mapping, loose.items(token.get("top_logprobs"), TOP_LOGPROBS)))
                self._tokens.append(Token(*likely, tuple(filter(None, top))))

    def value(self) -> tuple[Token, ...]:
        return tuple(self._tokens)


def _likely(token: dict[str, Any]) -> tuple[str, float] | None:
    """(text, logprob) of a token; None unless the number is a logarithm of a probability."""
    text, logprob = token.get("token"), token.get("logprob")
    if not isinstance(text, str) or isinstance(logprob, bool) or not isinstance(logprob, int | float):
        return None
    # Rounding can lift a certain token a little above 0; NaN and infinity are no logarithms here.
    if not -1e6 <= logprob <= 1e-3:
        return None
    return loose.text(text[:MAX_TOKEN_LENGTH]), min(0.0, float(logprob))
