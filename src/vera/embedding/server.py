"""The embeddings endpoint of a model server: `POST /v1/embeddings` of the OpenAI protocol.

LM Studio, Ollama, vLLM and llama.cpp serve it. What it answers is untrusted: the reply is bounded, and
count, order, dimension and every number are checked.
"""

from collections.abc import Iterator, Sequence
from typing import TypeVar

import httpx
import msgspec
import numpy as np
from numpy.typing import NDArray

from vera.content_coding import DecodeError, Decoder, TooLarge
from vera.decode_errors import DECODE_ERRORS
from vera.embedding.values import EmbeddingError
from vera.sanitize import one_line

Matrix = NDArray[np.float32]
T = TypeVar("T")

_AT_ONCE = 32
_MAX_CHARACTERS = 2000
"""Servers refuse what is longer than their context: with 512 tokens this is near the limit."""
_LEAST_CHARACTERS = 250
"""Below that a refusal has another reason."""
_MAX_BYTES_A_TEXT = 1 << 18
_MAX_DIMENSION = 8192
_SHOWN = 200
"""Characters of what a server says of a refusal."""
_CONNECT_S = 5.0
_ANSWER_S = 120.0


class _Item(msgspec.Struct, frozen=True):
    embedding: list[float]
    index: int


class _Reply(msgspec.Struct, frozen=True):
    data: list[_Item]


class _Listed(msgspec.Struct, frozen=True):
    id: str


class _Models(msgspec.Struct, frozen=True):
    data: list[_Listed]


class _Refused(EmbeddingError):
    """The server answered that it does not embed this."""


class ServerEmbedder:
    """An `Embedder` whose key is the server's address with the model's name: another model under the same
    name is told by what it makes of a fixed sentence, which is kept with the vectors."""

    def __init__(self, base_url: str, model: str = "", key: str = "", *, local: bool = True) -> None:
        """Ask the server at `base_url` (with its `/v1`) for one vector; `model` is the one that serves
        embeddings, empty for the first whose name says so, else the first. `key` goes to this server only.
        `local`: no proxy of the environment is used. Raises EmbeddingError."""
        self._client = httpx.Client(
            base_url=f"{base_url.rstrip('/')}/",
            headers={"Accept-Encoding": "gzip", **({"Authorization": f"Bearer {key}"} if key else {})},
            timeout=httpx.Timeout(_ANSWER_S, connect=_CONNECT_S),
            trust_env=not local,
        )
        self._url = base_url.rstrip("/")
        try:
            self._model = model or self._first_model()
            self.name = f"{self._model or 'the model'} at {self._url}"
            self.key = f"server {self._url} {self._model}"
            self.dimension = self._asked(["dimension"]).shape[1]
        except BaseException:
            self.close()
            raise

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Matrix:
        """A unit vector for each text. Raises EmbeddingError."""
        parts = [self._fitting(texts[at : at + _AT_ONCE]) for at in range(0, len(texts), _AT_ONCE)]
        return np.concatenate(parts) if parts else np.empty((0, self.dimension), np.float32)

    def close(self) -> None:
        self._client.close()

    def _first_model(self) -> str:
        listed = self._decoded(self._bytes("GET", "models", None, _MAX_BYTES_A_TEXT), _Models)
        names = [each.id for each in listed.data]
        return next((name for name in names if "embed" in name.lower()), names[0] if names else "")

    def _fitting(self, texts: Sequence[str]) -> Matrix:
        """The vectors of the texts. Where the server refuses them, each is asked by itself, and one that is
        refused is cut: tables and code have more tokens than their length tells."""
        try:
            vectors = self._asked(texts)
        except _Refused:
            if len(texts) > 1:
                return np.concatenate([self._fitting([text]) for text in texts])
            shorter = texts[0][: min(len(texts[0]), _MAX_CHARACTERS) // 2]
            if len(shorter) < _LEAST_CHARACTERS:
                raise
            return self._fitting([shorter])
        if vectors.shape[1] != self.dimension:
            raise EmbeddingError(f"{self._url} gave vectors of another dimension than before.")
        return vectors

    def _asked(self, texts: Sequence[str]) -> Matrix:
        given = [text[:_MAX_CHARACTERS].encode(errors="replace").decode() or " " for text in texts]
        body = {"model": self._model, "input": given}
        content = self._bytes("POST", "embeddings", body, _MAX_BYTES_A_TEXT * len(texts))
        items = sorted(self._decoded(content, _Reply).data, key=lambda item: item.index)
        if [item.index for item in items] != list(range(len(texts))):
            raise EmbeddingError(f"{self._url} gave {len(items)} vectors for {len(texts)} texts.")
        if len({len(item.embedding) for item in items}) != 1:
            raise EmbeddingError(f"{self._url} gave vectors of different dimensions.")
        return self._unit(np.array([item.embedding for item in items], np.float64))

    def _unit(self, matrix: NDArray[np.float64]) -> Matrix:
        """The vectors with length 1. Raises EmbeddingError."""
        if not 1 <= matrix.shape[1] <= _MAX_DIMENSION or not np.isfinite(matrix).all():
            raise EmbeddingError(f"{self._url} gave vectors with numbers that are not finite, or with none.")
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not lengths.all() or not np.isfinite(lengths).all():
            raise EmbeddingError(f"{self._url} gave a vector without a direction.")
        unit: Matrix = (matrix / lengths).astype(np.float32)
        return unit

    def _bytes(self, method: str, path: str, body: object, most: int) -> bytes:
        try:
            with self._client.stream(method, path, json=body) as response:
                if response.status_code != httpx.codes.OK:
                    said = one_line(_beginning(response).decode(errors="replace"), _SHOWN)
                    status = f"{response.status_code}: {said}" if said else f"{response.status_code}."
                    raise _Refused(f"{self._url}/{path} answered HTTP {status}")
                return b"".join(_content(response, most))
        except TooLarge:
            raise EmbeddingError(f"{self._url}/{path} answered with more than {most} bytes.") from None
        except DecodeError as error:
            raise EmbeddingError(f"{self._url}/{path} cannot be read: {error}.") from None
        except httpx.HTTPError as error:
            why = str(error) or type(error).__name__
            raise EmbeddingError(f"{self._url}/{path} cannot be asked: {why}.") from error

    def _decoded(self, content: bytes, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(content, type=kind)
        except DECODE_ERRORS as error:
            raise EmbeddingError(f"{self._url} answered what is no list of vectors: {error}.") from error


def _content(response: httpx.Response, most: int) -> Iterator[bytes]:
    """The body without its content coding. Raises TooLarge, DecodeError."""
    decoder = Decoder(response.headers.get("content-encoding", ""), most)
    for piece in response.iter_raw():
        yield decoder.feed(piece)
    decoder.finish()


def _beginning(response: httpx.Response) -> bytes:
    try:
        return next(_content(response, _MAX_BYTES_A_TEXT), b"")
    except (TooLarge, DecodeError):
        return b""
