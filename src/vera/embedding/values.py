"""What an embedding back end is: texts in, unit vectors out."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]
    """A row of float32 for each text."""


class EmbeddingError(Exception):
    """Texts could not be embedded; the message is a whole sentence that says why."""


class Embedder(Protocol):
    """Turns texts into vectors whose cosine tells how close their meanings are.

    `key` names the model and its version, for vectors of two models cannot be compared; `name` is what a
    person calls it. `dimension` is the length of a vector.
    """

    @property
    def key(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> "Matrix":
        """A unit vector for each text, which is cut where it is longer than the model reads.

        `query`: the texts are questions; some models read these with other words before them.
        Raises EmbeddingError.
        """
        ...

    def close(self) -> None:
        """Free what is held."""
        ...
