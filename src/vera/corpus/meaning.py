"""Search by meaning: passages are embedded once, and a query finds those whose vectors are closest.

Needs numpy (extra `semantic`): it is imported only where an embedder is given.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager

from vera.corpus import vectors
from vera.corpus.candidates import live
from vera.corpus.fetch import Passage, fetch
from vera.corpus.folder import Folder
from vera.corpus.index import Index
from vera.corpus.passages import Piece, pieces
from vera.corpus.values import Embedded, IndexUnusable, Progress
from vera.embedding.values import Embedder, EmbeddingError

_PROBE = "The quick brown fox jumps over the lazy dog."
_CHUNKS_AT_ONCE = 8
_NOW = 12
"""Chunks that a search itself embeds, of those that its words point to: about three seconds on one core."""
_MAX_QUERY_LENGTH = 4000

Lines = Sequence[tuple[Piece, float]]
"""The passages of a chunk, each with its cosine to a query."""


class Meaning:
    """An embedder with the vectors of one index. Not for use by two threads at once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._model: vectors.Model | None = None
        self._read: tuple[object, vectors.Vectors] | None = None
        self._embedded_now: dict[tuple[int, bytes], tuple[list[Piece], vectors.Matrix]] = {}

    def embed(
        self,
        index: Index,
        folder: Folder,
        exclusive: Callable[[], AbstractContextManager[object]],
        seconds: float,
        tell: Callable[[Progress], None],
    ) -> Embedded:
        """Embed the chunks that have no vectors, for at most `seconds` (0 for no limit).

        What was embedded is committed every few chunks, inside `exclusive`; killed or stopped, the next call
        goes on there. A fault of the embedder, or an index that another process holds, is a sentence in
        `problem`.
        """
        began = time.monotonic()
        total = index.stats().chunks
        try:
            model = self._asked_model()
            with exclusive():
                dropped = vectors.begin(index.db, model)
            note = f"The vectors of another embedding model were dropped: {total} chunks are embedded again."
            done, passages = vectors.counted(index.db)
            first = done
            for chunks in _batches(index):
                if passages >= vectors.MAX_PASSAGES:
                    raise EmbeddingError(
                        f"{passages} passages are embedded, as many as a search compares: what is left is "
                        "found by its words."
                    )
                rows = self._rows(index, folder, chunks)
                with exclusive():
                    vectors.put(index.db, rows)
                done += len(rows)
                passages += sum(len(row.pieces) for row in rows)
                elapsed = time.monotonic() - began
                tell(_progress(done, first, total, elapsed))
                if seconds and elapsed >= seconds:
                    break
        except (EmbeddingError, IndexUnusable) as error:
            done = vectors.counted(index.db)[0]
            return Embedded(model=self._embedder.name, chunks=done, of=total, problem=str(error))
        return Embedded(model=self._embedder.name, chunks=done, of=total, note=note if dropped else "")

    def near(self, index: Index, query: str) -> "Nearest":
        """How close every embedded passage is to a query. Raises EmbeddingError."""
        model = self._asked_model()
        vector = self._checked([query[:_MAX_QUERY_LENGTH]], query=True)[0]
        if not model.is_same(vectors.model_of(index.db)):
            return Nearest(self, vector, None)
        version = index.version()
        if self._read is None or self._read[0] != version:
            self._read = version, vectors.Vectors(index.db, len(model.probe))
        return Nearest(self, vector, self._read[1].near(vector))

    def embed_now(self, passages: Sequence[Passage]) -> None:
        """Embed the first few of these chunks and remember them. Raises EmbeddingError."""
        wanted = [each for each in passages if _key(each) not in self._embedded_now][:_NOW]
        for passage, (places, matrix) in zip(wanted, self._of_texts(wanted), strict=True):
            self._embedded_now[_key(passage)] = places, matrix

    def remembered(self, passage: Passage, vector: vectors.Matrix) -> Lines:
        """The passages of a chunk that `embed_now` embedded, with their cosines."""
        places, matrix = self._embedded_now.get(_key(passage), ((), None))
        return [] if matrix is None else list(zip(places, (matrix @ vector).tolist(), strict=True))

    def _asked_model(self) -> vectors.Model:
        if self._model is None:
            self._model = vectors.Model(self._embedder.key, self._checked([_PROBE])[0])
        return self._model

    def _rows(self, index: Index, folder: Folder, chunks: Sequence[int]) -> list[vectors.Row]:
        """The vectors of these chunks; files that have changed meanwhile are left out."""
        passages, _ = fetch(index, folder, list(live(index.db, chunks).values()))
        return [
            vectors.Row(passage.candidate.id, passage.candidate.digest, places, matrix)
            for passage, (places, matrix) in zip(passages, self._of_texts(passages), strict=True)
        ]

    def _of_texts(self, passages: Sequence[Passage]) -> Iterator[tuple[list[Piece], vectors.Matrix]]:
        places = [list(pieces(passage.text)) for passage in passages]
        texts = [
            "\n".join(line.decode(errors="replace") for line in passage.lines[piece.first : piece.last + 1])
            for passage, some in zip(passages, places, strict=True)
            for piece in some
        ]
        matrix, at = self._checked(texts), 0
        for some in places:
            yield some, matrix[at : at + len(some)]
            at += len(some)

    def _checked(self, texts: Sequence[str], *, query: bool = False) -> vectors.Matrix:
        """The embedder's vectors. Raises EmbeddingError when they are not what it said they would be."""
        if not texts:
            return vectors.nothing(self._embedder.dimension)
        matrix = self._embedder.embed(texts, query=query)
        if matrix.shape != (len(texts), self._embedder.dimension):
            raise EmbeddingError(
                f"The embedding model {self._embedder.name} gave {matrix.shape} numbers where "
                f"{(len(texts), self._embedder.dimension)} were due."
            )
        if not vectors.are_finite(matrix):
            raise EmbeddingError(
                f"The embedding model {self._embedder.name} gave numbers that are not finite."
            )
        return matrix


class Nearest:
    """What a query is close to."""

    def __init__(self, meaning: Meaning, vector: vectors.Matrix, near: vectors.Near | None) -> None:
        self._meaning = meaning
        self._vector = vector
        self._near = near

    def best(self, limit: int) -> list[int]:
        """The chunks of the `limit` closest passages that are embedded, the closest first."""
        return self._near.best(limit) if self._near is not None else []

    def look_at(self, passages: Sequence[Passage]) -> None:
        """Embed the first few of these chunks that have no vectors. Raises EmbeddingError."""
        self._meaning.embed_now([each for each in passages if not self._stored(each)])

    def of(self, passage: Passage) -> Lines:
        """The passages of a chunk with their cosines; empty where it is not embedded."""
        return self._stored(passage) or self._meaning.remembered(passage, self._vector)

    def _stored(self, passage: Passage) -> Lines:
        return self._near.of(passage.candidate.id) if self._near is not None else ()


def _key(passage: Passage) -> tuple[int, bytes]:
    return passage.candidate.id, passage.candidate.digest


def _batches(index: Index) -> Iterator[list[int]]:
    after = 0
    while chunks := vectors.without(index.db, after, _CHUNKS_AT_ONCE):
        yield chunks
        after = chunks[-1]


def _progress(done: int, first: int, total: int, elapsed: float) -> Progress:
    left = (total - done) * elapsed / max(done - first, 1)
    minutes, seconds = divmod(round(left), 60)
    return Progress(
        phase="embedding",
        files=done,
        total=total,
        message=f"Embedded {done} of {total} chunks, {minutes}:{seconds:02} left.",
    )
