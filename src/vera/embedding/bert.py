"""The forward pass of a BERT encoder (Devlin et al. 2019) in numpy: MiniLM, BGE, E5, GTE and XLM-RoBERTa.

One sequence at a time, so that a text has the same vector whatever is embedded beside it. `gelu` is
computed by its tanh form (Hendrycks and Gimpel 2016), which moves a vector's cosine by about 2e-6.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from vera.embedding.values import EmbeddingError

Matrix = NDArray[np.float32]

_PREFIXES = ("", "bert.", "roberta.", "model.")
_GELU = ("gelu", "gelu_new", "gelu_pytorch_tanh")
_ROBERTA = ("roberta", "xlm-roberta")
_TANH_SCALE = np.float32(math.sqrt(2 / math.pi))
_TANH_CUBIC = np.float32(0.044715 * math.sqrt(2 / math.pi))
_MAX_LAYERS = 48


class Shape(msgspec.Struct, frozen=True):
    """What of `config.json` the forward pass needs."""

    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    max_position_embeddings: int
    model_type: str = "bert"
    hidden_act: str = "gelu"
    layer_norm_eps: float = 1e-12
    position_embedding_type: str = "absolute"
    pad_token_id: int = 0

    @property
    def first_position(self) -> int:
        """The row of the position table that belongs to the first token."""
        return self.pad_token_id + 1 if self.model_type in _ROBERTA else 0

    @property
    def positions(self) -> int:
        """The tokens that a sequence may have."""
        return self.max_position_embeddings - self.first_position


class _Linear(NamedTuple):
    weight: Matrix
    bias: Matrix

    def __call__(self, states: Matrix) -> Matrix:
        out: Matrix = states @ self.weight
        out += self.bias
        return out


class _Norm(NamedTuple):
    weight: Matrix
    bias: Matrix
    epsilon: float

    def __call__(self, states: Matrix) -> Matrix:
        out: Matrix = states - states.mean(axis=-1, keepdims=True)
        variance = np.einsum("ij,ij->i", out, out)[:, None] / np.float32(out.shape[1])
        out /= np.sqrt(variance + np.float32(self.epsilon))
        out *= self.weight
        out += self.bias
        return out


class _Layer(NamedTuple):
    qkv: _Linear
    attended: _Linear
    attended_norm: _Norm
    wider: _Linear
    narrower: _Linear
    norm: _Norm


class Bert:
    """An encoder with its weights. Threads may share it."""

    def __init__(self, tensors: Mapping[str, Matrix], shape: Shape) -> None:
        """Raises EmbeddingError when it is another kind of model, or a tensor is missing or misshapen."""
        _refuse_others(shape)
        self.shape = shape
        self._tensors = tensors
        self._prefix = next(
            (each for each in _PREFIXES if f"{each}embeddings.word_embeddings.weight" in tensors), ""
        )
        size = shape.hidden_size
        self._words = self._tensor("embeddings.word_embeddings.weight", None, size)
        positions = self._tensor("embeddings.position_embeddings.weight", shape.max_position_embeddings, size)
        kinds = self._tensor("embeddings.token_type_embeddings.weight", None, size)
        self._positions = (positions + kinds[0])[shape.first_position :]
        self._norm = self._read_norm("embeddings.LayerNorm")
        self._layers = [self._read_layer(number) for number in range(shape.num_hidden_layers)]
        self._tensors = {}

    def states(self, tokens: NDArray[np.int64]) -> Matrix:
        """The last hidden state of each token: a row of `hidden_size` numbers."""
        if tokens.size and (tokens.min() < 0 or tokens.max() >= len(self._words)):
            raise EmbeddingError("The tokenizer gives tokens that the embedding model does not have.")
        states = self._norm(self._words[tokens] + self._positions[: len(tokens)])
        for layer in self._layers:
            states = layer.attended_norm(layer.attended(self._attention(layer.qkv(states))) + states)
            states = layer.norm(layer.narrower(_gelu(layer.wider(states))) + states)
        return states

    def _attention(self, qkv: Matrix) -> Matrix:
        count, heads = len(qkv), self.shape.num_attention_heads
        width = self.shape.hidden_size // heads
        query, key, value = qkv.reshape(count, 3, heads, width).transpose(1, 2, 0, 3)
        scores: Matrix = query @ key.transpose(0, 2, 1)
        scores /= np.float32(math.sqrt(width))
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed: Matrix = (scores @ value).transpose(1, 0, 2).reshape(count, -1)
        return mixed

    def _read_layer(self, number: int) -> _Layer:
        name, size = f"encoder.layer.{number}", self.shape.hidden_size
        parts = [
            self._read_linear(f"{name}.attention.self.{each}", size) for each in ("query", "key", "value")
        ]
        return _Layer(
            qkv=_Linear(
                np.ascontiguousarray(np.concatenate([part.weight for part in parts], axis=1)),
                np.concatenate([part.bias for part in parts]),
            ),
            attended=self._read_linear(f"{name}.attention.output.dense", size),
            attended_norm=self._read_norm(f"{name}.attention.output.LayerNorm"),
            wider=self._read_linear(f"{name}.intermediate.dense", size),
            narrower=self._read_linear(f"{name}.output.dense", None),
            norm=self._read_norm(f"{name}.output.LayerNorm"),
        )

    def _read_linear(self, name: str, width: int | None) -> _Linear:
        weight = self._tensor(f"{name}.weight", None, width)
        return _Linear(np.ascontiguousarray(weight.T), self._tensor(f"{name}.bias", len(weight)))

    def _read_norm(self, name: str) -> _Norm:
        size = self.shape.hidden_size
        weight, bias = self._tensor(f"{name}.weight", size), self._tensor(f"{name}.bias", size)
        return _Norm(weight, bias, self.shape.layer_norm_eps)

    def _tensor(self, name: str, *shape: int | None) -> Matrix:
        """A tensor of this shape; None for any length."""
        tensor = self._tensors.get(self._prefix + name)
        if tensor is None:
            raise EmbeddingError(f"The embedding model has no tensor {name}: it is no BERT, or is cut short.")
        wanted = zip(tensor.shape, shape, strict=False)
        if tensor.ndim != len(shape) or any(length not in (None, found) for found, length in wanted):
            raise EmbeddingError(f"The tensor {name} of the embedding model has the shape {tensor.shape}.")
        return tensor.astype(np.float32, copy=False)


def _refuse_others(shape: Shape) -> None:
    if shape.model_type not in ("bert", *_ROBERTA) or shape.position_embedding_type != "absolute":
        raise EmbeddingError(
            f"An embedding model of the type {shape.model_type!r} cannot be run here: take one of the "
            "type bert or xlm-roberta, such as all-MiniLM-L6-v2."
        )
    if shape.hidden_act not in _GELU:
        raise EmbeddingError(
            f"An embedding model with the activation {shape.hidden_act!r} cannot be run here."
        )
    sizes = shape.hidden_size, shape.num_hidden_layers, shape.num_attention_heads, shape.positions
    if min(sizes) < 1 or shape.num_hidden_layers > _MAX_LAYERS or sizes[0] % sizes[2]:
        raise EmbeddingError("The sizes in the config.json of the embedding model make no sense.")


def _gelu(states: Matrix) -> Matrix:
    out: Matrix = states * states
    out *= _TANH_CUBIC
    out += _TANH_SCALE
    out *= states
    np.tanh(out, out=out)
    out += np.float32(1)
    out *= states
    out *= np.float32(0.5)
    return out
