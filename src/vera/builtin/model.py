"""The built-in extractive model: searches, reads, and cites lines; it does not write."""

from vera.builtin.conversation import understand
from vera.builtin.plan import next_turn
from vera.model.types import Choice, Completion, ModelInfo, Request
from vera.protocol.text import render


class Extractive:
    """A `Model` without a language model: deterministic, local, honest about what it is.

    It reads nothing but the request's messages and answers with one turn in the text form. The same
    messages give the same bytes. With `instead` it answers where another model gave no usable answer, and
    says so.
    """

    def __init__(self, *, instead: bool = False) -> None:
        self._instead = instead

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(kind="builtin", name="extractive", protocol="text", local=True)

    async def complete(self, request: Request) -> Completion:
        """Never raises; `temperature`, `schema`, `tools` and the token limits have no meaning here."""
        choice = Choice(content=render(next_turn(understand(request.messages), instead=self._instead)))
        return Completion(choices=(choice,) * max(1, request.n))

    async def close(self) -> None:
        """Nothing is held open."""
