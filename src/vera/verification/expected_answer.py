"""The score that a model means: the expectation over the tokens it might have written.

After LLM-as-a-Verifier (arXiv:2607.05391): the probabilities that a server gives for the tokens at the place
of the score say more than the one that was written, and separate answers that would tie.
"""

import math
import re
from collections.abc import Iterable

from vera.model.types import Token

_PLACE = re.compile(r'"score"\s{0,20}:\s{0,20}')
_SCORE = re.compile(r'[\s":]*([1-4])[\s",}]*')


def expected_points(tokens: Iterable[Token], content: str, score: int) -> int | None:
    """The expected score in hundredths (100 to 400), over the tokens 1 to 4 at the place of the score.

    None when the place cannot be found among `tokens` (of which `content` is the end, after any reasoning),
    or the token there is not the `score` that was read from the reply.
    """
    token = _token_at_score(tuple(tokens), content)
    if token is None or _digit(token.text) != score:
        return None
    weights: dict[int, float] = {}
    for text, logprob in {token.text: token.logprob, **dict(token.top)}.items():
        if digit := _digit(text):
            weights[digit] = weights.get(digit, 0.0) + math.exp(logprob)
    total = sum(weights.values())
    if total <= 0:
        return None
    return round(100 * sum(digit * weight for digit, weight in weights.items()) / total)


def _token_at_score(tokens: tuple[Token, ...], content: str) -> Token | None:
    written = "".join(token.text for token in tokens)
    place = _PLACE.search(written, max(0, written.rfind(content.strip())))
    if place is None:
        return None
    end = 0
    for token in tokens:
        end += len(token.text)
        # The digit may share its token with what stands before it.
        if end > place.end() or (end == place.end() and _digit(token.text)):
            return token
    return None


def _digit(text: str) -> int:
    """The score that a token says, 0 when it says none."""
    found = _SCORE.fullmatch(text)
    return int(found[1]) if found else 0
