"""A sentence-transformer of a folder, or of a zip file as a package carries it, run by numpy.

The folder is laid out as the sentence-transformers library does: `config.json`, `tokenizer.json`,
`model.safetensors`, and where they are there `1_Pooling/config.json` (mean or first token),
`sentence_bert_config.json` (tokens that are read) and `config_sentence_transformers.json` (prompts).
Needs the extra `semantic`.
"""

import hashlib
import os
import zipfile
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np
import safetensors
import safetensors.numpy
from threadpoolctl import ThreadpoolController
from tokenizers import Tokenizer

from vera.decode_errors import DECODE_ERRORS
from vera.embedding.bert import Bert, Matrix, Shape
from vera.embedding.values import EmbeddingError

T = TypeVar("T")

_CONFIG = "config.json"
_TOKENIZER = "tokenizer.json"
_WEIGHTS = "model.safetensors"
_POOLING = "1_Pooling/config.json"
_LENGTH = "sentence_bert_config.json"
_PROMPTS = "config_sentence_transformers.json"
_MODULES = "modules.json"
_FILES = (_CONFIG, _TOKENIZER, _WEIGHTS, _POOLING, _LENGTH, _PROMPTS, _MODULES)
_MAX_BYTES = {_WEIGHTS: 2 << 30, _TOKENIZER: 64 << 20}
_MAX_BYTES_ELSE = 1 << 20
_MAX_THREADS = 4
_MAX_CHARACTERS = 20_000
_KNOWN_MODULES = ("Transformer", "Pooling", "Normalize")


class _Pooling(msgspec.Struct, frozen=True):
    pooling_mode_mean_tokens: bool = False
    pooling_mode_cls_token: bool = False


class _Length(msgspec.Struct, frozen=True):
    max_seq_length: int | None = None


class _Prompts(msgspec.Struct, frozen=True):
    prompts: dict[str, str] = {}


class _Module(msgspec.Struct, frozen=True):
    type: str


class SentenceTransformer:
    """An `Embedder` whose key is the sha256 of its files. Threads may share it."""

    def __init__(self, path: Path, name: str = "") -> None:
        """Load the model of a folder or zip file, called `name` or as its path. Raises EmbeddingError."""
        self.name = name or path.name
        files = _read_files(path)
        sha256 = hashlib.sha256()
        for name, content in sorted(files.items()):
            sha256.update(f"{name} {len(content)}\n".encode())
            sha256.update(content)
        self.key = f"sha256:{sha256.hexdigest()}"
        shape = _decoded(files, _CONFIG, Shape)
        pooling = _decoded(files, _POOLING, _Pooling, _Pooling(pooling_mode_mean_tokens=True))
        if pooling.pooling_mode_cls_token == pooling.pooling_mode_mean_tokens:
            raise EmbeddingError(f"{path} pools neither by the mean nor by the first token.")
        self._by_first_token = pooling.pooling_mode_cls_token
        for module in _decoded(files, _MODULES, list[_Module], []):
            if module.type.rsplit(".", 1)[-1] not in _KNOWN_MODULES:
                raise EmbeddingError(f"{path} has a module {module.type!r}, which cannot be run here.")
        prompts = _decoded(files, _PROMPTS, _Prompts, _Prompts()).prompts
        self._before_query = prompts.get("query", "")
        self._before_passage = prompts.get("document", prompts.get("passage", ""))
        try:
            self._bert = Bert(safetensors.numpy.load(files[_WEIGHTS]), shape)
        except (safetensors.SafetensorError, KeyError) as error:
            raise EmbeddingError(f"{_WEIGHTS} in {path} cannot be read: {error}.") from error
        longest = min(_decoded(files, _LENGTH, _Length, _Length()).max_seq_length or 512, shape.positions)
        self._tokenizer = _tokenizer(files[_TOKENIZER], max(longest, 8), path)
        self.dimension = shape.hidden_size
        self._threads = min(
            _MAX_THREADS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
        )
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="vera-embed")
        self._blas = ThreadpoolController()

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Matrix:
        """A unit vector for each text. Raises EmbeddingError."""
        before = self._before_query if query else self._before_passage
        given = [before + text[:_MAX_CHARACTERS].encode(errors="replace").decode() for text in texts]
        encoded = self._tokenizer.encode_batch(given)
        # More threads of BLAS only cost at this size: 70 ms a passage become 260 on two busy cores.
        with self._blas.limit(limits=1, user_api="blas"):
            vectors = list(self._pool.map(lambda each: self._vector(each.ids), encoded))
        matrix: Matrix = np.stack(vectors) if vectors else np.empty((0, self.dimension), np.float32)
        if not np.isfinite(matrix).all():
            raise EmbeddingError(f"The embedding model {self.name} gave numbers that are not finite.")
        return matrix

    def close(self) -> None:
        self._pool.shutdown()

    def _vector(self, tokens: Sequence[int]) -> Matrix:
        if not tokens:
            return np.zeros(self.dimension, np.float32)
        states = self._bert.states(np.array(tokens, np.int64))
        pooled: Matrix = states[0] if self._by_first_token else states.mean(axis=0)
        return pooled / max(np.linalg.norm(pooled), np.float32(1e-12))


def _read_files(path: Path) -> dict[str, bytes]:
    """The model's files by name. Raises EmbeddingError."""
    try:
        if path.is_dir():
            found = {name: _read(path / name, name) for name in _FILES if (path / name).is_file()}
        else:
            with zipfile.ZipFile(path) as archive:
                there = set(archive.namelist())
                found = {name: _unzipped(archive, name) for name in _FILES if name in there}
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise EmbeddingError(f"The embedding model {path} cannot be read: {error}.") from error
    missing = [name for name in (_CONFIG, _TOKENIZER, _WEIGHTS) if name not in found]
    if missing:
        raise EmbeddingError(f"The embedding model {path} lacks {', '.join(missing)}.")
    return found


def _read(path: Path, name: str) -> bytes:
    _bounded(path.stat().st_size, name)
    return path.read_bytes()


def _unzipped(archive: zipfile.ZipFile, name: str) -> bytes:
    size = archive.getinfo(name).file_size
    _bounded(size, name)
    with archive.open(name) as member:
        return member.read(size)


def _bounded(size: int, name: str) -> None:
    most = _MAX_BYTES.get(name, _MAX_BYTES_ELSE)
    if size > most:
        raise EmbeddingError(f"The embedding model's {name} has {size} bytes; {most} are the most.")


def _decoded(files: dict[str, bytes], name: str, kind: type[T], absent: T | None = None) -> T:
    if name not in files and absent is not None:
        return absent
    try:
        return msgspec.json.decode(files[name], type=kind)
    except DECODE_ERRORS as error:
        raise EmbeddingError(f"{name} of the embedding model cannot be read: {error}.") from error


def _tokenizer(content: bytes, longest: int, path: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_buffer(content)
    except Exception as error:  # the library raises no narrower one
        raise EmbeddingError(f"{_TOKENIZER} in {path} cannot be read: {error}.") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(longest)
    return tokenizer
