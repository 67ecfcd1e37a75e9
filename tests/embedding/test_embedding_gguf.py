"""An embedding model in a GGUF file: a tiny BERT of random numbers, served by a real llama.cpp."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from support.benchmarks import loaded
from vera.embedding import EmbeddingError
from vera.embedding.choose import open_embedder
from vera.embedding.gguf import GgufEmbedder

SIZE, WIDE, PLACES = 32, 64, 128
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "alpha", "beta", "gamma", "##s")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    dice = np.random.default_rng(3)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(WORDS), SIZE),
        "embeddings.position_embeddings.weight": (PLACES, SIZE),
        "embeddings.token_type_embeddings.weight": (2, SIZE),
        "embeddings.LayerNorm.weight": (SIZE,),
        "embeddings.LayerNorm.bias": (SIZE,),
        "encoder.layer.0.intermediate.dense.weight": (WIDE, SIZE),
        "encoder.layer.0.intermediate.dense.bias": (WIDE,),
        "encoder.layer.0.output.dense.weight": (SIZE, WIDE),
        "encoder.layer.0.output.dense.bias": (SIZE,),
    }
    for name in ("self.query", "self.key", "self.value", "output.dense"):
        shapes[f"encoder.layer.0.attention.{name}.weight"] = (SIZE, SIZE)
        shapes[f"encoder.layer.0.attention.{name}.bias"] = (SIZE,)
    for name in ("attention.output.LayerNorm", "output.LayerNorm"):
        shapes[f"encoder.layer.0.{name}.weight"] = shapes[f"encoder.layer.0.{name}.bias"] = (SIZE,)
    config = {
        "max_position_embeddings": PLACES,
        "hidden_size": SIZE,
        "num_hidden_layers": 1,
        "intermediate_size": WIDE,
        "num_attention_heads": 2,
    }
    tensors = {name: dice.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    out = tmp_path_factory.mktemp("bert") / "tiny.gguf"
    with loaded("minilm_gguf") as converter:
        converter.write_bert(out, config, {word: at for at, word in enumerate(WORDS)}, tensors)
    return out


@pytest.fixture(scope="module")
def embedder(file: Path) -> Iterator[GgufEmbedder]:
    opened = open_embedder(str(file))
    assert isinstance(opened, GgufEmbedder)
    yield opened
    opened.close()


@pytest.mark.needs("llama")
def test_a_gguf_file_gives_unit_vectors_and_is_known_by_its_hash(embedder: GgufEmbedder, file: Path) -> None:
    assert (embedder.name, embedder.dimension) == ("tiny.gguf", SIZE)
    assert embedder.key == f"gguf sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"
    vectors = embedder.embed(["alpha beta", "gamma", "alpha beta"])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.allclose(vectors[0], vectors[2], atol=1e-4)
    assert float(vectors[0] @ vectors[1]) < 0.999


@pytest.mark.needs("llama")
def test_a_text_longer_than_the_model_reads_is_cut(embedder: GgufEmbedder) -> None:
    vectors = embedder.embed(["alpha " * 300, "beta"])
    assert vectors.shape == (2, SIZE)


@pytest.mark.needs("llama")
def test_a_server_that_is_killed_is_one_sentence(file: Path) -> None:
    opened = GgufEmbedder(file)
    pid = opened.pid
    assert pid is not None
    psutil.Process(pid).kill()
    with pytest.raises(EmbeddingError, match=r"cannot be asked"):
        opened.embed(["alpha"])
    opened.close()
    assert not psutil.pid_exists(pid)


@pytest.mark.parametrize(("content", "sentence"), [(None, "does not exist"), (b"no", "is not a GGUF model")])
def test_what_is_no_gguf_file_is_one_sentence_with_what_to_type(
    tmp_path: Path, content: bytes | None, sentence: str
) -> None:
    path = tmp_path / "model.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(EmbeddingError) as caught:
        open_embedder(str(path))
    assert sentence in str(caught.value) and "-c search.embedding=FILE.gguf" in str(caught.value)
