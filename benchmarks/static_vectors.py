"""Static embeddings for comparison: a vector a token, averaged, without a forward pass.

The table is MiniLM's own input embeddings. VERA does not ship it: docs/performance.md has what it measured.
"""

import zipfile
from collections.abc import Sequence

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from tokenizers import Tokenizer

from vera.embedding.choose import minilm

Matrix = NDArray[np.float32]


class Static:
    """An `Embedder` over a table of tokens."""

    name = "static"
    key = "benchmark static 1"

    def __init__(self) -> None:
        with zipfile.ZipFile(minilm()) as archive:
            tensors = safetensors.numpy.load(archive.read("model.safetensors"))
            self._tokenizer = Tokenizer.from_str(archive.read("tokenizer.json").decode())
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._table: Matrix = next(v for k, v in tensors.items() if k.endswith("word_embeddings.weight"))
        self.dimension = self._table.shape[1]

    @property
    def megabytes(self) -> float:
        return self._table.nbytes / 1e6

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Matrix:
        found = np.zeros((len(texts), self.dimension), np.float32)
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        for row, each in enumerate(encoded):
            found[row] = self._table[each.ids].mean(axis=0) if each.ids else 1.0
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        unit: Matrix = found / np.maximum(lengths, np.float32(1e-9))
        return unit

    def close(self) -> None:
        """Nothing is held."""
