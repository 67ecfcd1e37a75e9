"""Embeddings: texts as vectors whose cosine tells how close their meanings are (extra `semantic`)."""

from vera.embedding.values import Embedder, EmbeddingError

__all__ = ["Embedder", "EmbeddingError"]
