"""Static embeddings for comparison: a vector a token, averaged, without a forward pass.

`table`: MiniLM's own input embeddings. `distilled`: what MiniLM makes of each token alone, without its first
principal component, each weighed by how rare its rank says it is, as model2vec does (Tulkens and van Dongen,
2024). VERA does not ship this: docs/performance.md says what it measured.
"""

import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from tokenizers import Tokenizer

from vera.search.embedding.choose import minilm, open_embedder

Matrix = NDArray[np.float32]

KINDS = ("table", "distilled")
_BATCH = 512
_RARE = 1e-4
_DROPPED = 1


class Static:
    """An `Embedder` over a table of tokens. `keep`: where the distilled table is kept between runs."""

    def __init__(self, kind: str, keep: Path) -> None:
        with zipfile.ZipFile(minilm()) as archive:
            tensors = safetensors.numpy.load(archive.read("model.safetensors"))
            self._tokenizer = Tokenizer.from_str(archive.read("tokenizer.json").decode())
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        if kind == "distilled":
            self._table = self._distilled(keep)
        else:
            self._table = next(v for k, v in tensors.items() if k.endswith("word_embeddings.weight"))
        self.name, self.key = f"static {kind}", f"benchmark static {kind} 1"
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

    def _distilled(self, keep: Path) -> Matrix:
        if keep.is_file():
            kept: Matrix = np.load(keep)
            return kept
        teacher = open_embedder("minilm")
        assert teacher is not None
        size = self._tokenizer.get_vocab_size()
        words = [(self._tokenizer.id_to_token(index) or "").removeprefix("##") for index in range(size)]
        parts = [teacher.embed(words[at : at + _BATCH]) for at in range(0, size, _BATCH)]
        teacher.close()
        table = np.concatenate(parts)
        table -= table.mean(axis=0)
        first = np.linalg.svd(table[:: max(1, size // 4000)], full_matrices=False)[2][:_DROPPED]
        table -= (table @ first.T) @ first
        # The vocabulary is in order of frequency: Zipf's law gives each rank its share.
        share = 1 / (np.arange(size) + 1)
        share /= share.sum()
        table *= (_RARE / (_RARE + share)).astype(np.float32)[:, None]
        np.save(keep, table)
        return table
