"""Embedding models: the numpy encoder, model folders, servers, and what each says when something is wrong."""

import gzip
import json
import os
import shutil
import struct
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from support.bombs import at_most, bomb
from support.tiny_embedding import CONFIG, SIZE, WIDE, tensors, tiny_embedding
from vera.corpus import Corpus, Progress
from vera.embedding import EmbeddingError
from vera.embedding.choose import open_embedder
from vera.embedding.server import ServerEmbedder
from vera.embedding.transformer import SentenceTransformer
from vera.extraction.extractor import Extractor


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A folder with a tiny model of random numbers."""
    return tiny_embedding(tmp_path / "tiny")


def reshaped(folder: Path, **changed: np.ndarray | None) -> None:
    made = {name: tensor for name, tensor in (tensors() | changed).items() if tensor is not None}
    save_file(made, folder / "model.safetensors")


def test_a_folder_and_a_zip_of_it_are_the_same_model(model: Path, tmp_path: Path) -> None:
    archive = tmp_path / "tiny.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in model.iterdir():
            packed.write(file, file.name)
    one, other = SentenceTransformer(model), SentenceTransformer(archive)
    assert one.key == other.key and one.key.startswith("sha256:")
    assert one.dimension == SIZE
    texts = ["alpha beta", "gamma", "alpha " * 100]
    vectors = one.embed(texts)
    assert vectors.shape == (3, SIZE) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert np.array_equal(vectors, other.embed(texts))
    assert np.array_equal(vectors[1], one.embed(["gamma"])[0])  # whatever is embedded beside it
    one.close()
    other.close()


def test_a_damaged_zip_and_a_config_that_is_no_text_are_one_sentence(model: Path, tmp_path: Path) -> None:
    archive = tmp_path / "tiny.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(model.rglob("*")):
            if file.is_file():
                packed.write(file, str(file.relative_to(model)))
    data = bytearray(archive.read_bytes())
    data[60:400] = bytes(byte ^ 0x55 for byte in data[60:400])
    archive.write_bytes(data)
    with pytest.raises(EmbeddingError):
        SentenceTransformer(archive)
    broken = shutil.copytree(model, tmp_path / "broken")
    (broken / "config.json").write_bytes(b'{"hidden_size": "\xff\xfe"}')
    with pytest.raises(EmbeddingError, match=r"config\.json of the embedding model cannot be read"):
        SentenceTransformer(broken)


def test_other_weights_are_another_model(model: Path) -> None:
    before = SentenceTransformer(model).key
    reshaped(model, **{"embeddings.LayerNorm.bias": np.ones(SIZE, np.float32)})
    assert SentenceTransformer(model).key != before


def test_a_prompt_stands_before_queries(model: Path) -> None:
    (model / "config_sentence_transformers.json").write_text('{"prompts": {"query": "alpha "}}')
    found = SentenceTransformer(model)
    assert np.array_equal(found.embed(["beta"], query=True), found.embed(["alpha beta"]))


def lacks_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def has_torn_weights(folder: Path) -> None:
    os.truncate(folder / "model.safetensors", 300)


def has_an_endless_header(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", 1 << 60) + b"{}")


def lacks_a_tensor(folder: Path) -> None:
    reshaped(folder, **{"encoder.layer.0.output.dense.bias": None})


def has_a_narrow_tensor(folder: Path) -> None:
    reshaped(folder, **{"encoder.layer.0.intermediate.dense.weight": np.ones((WIDE, 3), np.float32)})


def is_no_bert(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps(CONFIG | {"model_type": "t5"}))


def has_no_heads(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps(CONFIG | {"num_attention_heads": 0}))


def has_a_broken_config(folder: Path) -> None:
    (folder / "config.json").write_text("{")


def has_a_broken_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{}")


def has_a_dense_module(folder: Path) -> None:
    (folder / "modules.json").write_text('[{"type": "sentence_transformers.models.Dense"}]')


def is_gone(folder: Path) -> None:
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (lacks_weights, "lacks model.safetensors"),
        (has_torn_weights, "model.safetensors in"),
        (has_an_endless_header, "model.safetensors in"),
        (lacks_a_tensor, "has no tensor encoder.layer.0.output.dense.bias"),
        (has_a_narrow_tensor, "has the shape"),
        (is_no_bert, "of the type 't5' cannot be run here"),
        (has_no_heads, "make no sense"),
        (has_a_broken_config, "config.json of the embedding model cannot be read"),
        (has_a_broken_tokenizer, "tokenizer.json in"),
        (has_a_dense_module, "which cannot be run here"),
        (is_gone, "cannot be read"),
    ],
)
def test_what_is_wrong_with_a_model_is_one_sentence(
    model: Path, harm: Callable[[Path], None], sentence: str
) -> None:
    harm(model)
    with pytest.raises(EmbeddingError) as caught:
        SentenceTransformer(model)
    assert sentence in str(caught.value)


def test_numbers_that_are_not_finite_are_refused(model: Path) -> None:
    reshaped(model, **{"embeddings.LayerNorm.bias": np.full(SIZE, np.nan, np.float32)})
    with pytest.raises(EmbeddingError, match="not finite"):
        SentenceTransformer(model).embed(["alpha"])


def test_a_text_without_a_word_has_a_vector(model: Path) -> None:
    vectors = SentenceTransformer(model).embed(["", "alpha"])
    assert np.array_equal(np.linalg.norm(vectors, axis=1).round(5), [0, 1])


def test_none_is_no_embedder_and_a_missing_folder_is_said() -> None:
    assert open_embedder("none") is None
    with pytest.raises(EmbeddingError, match="cannot be read"):
        open_embedder("/nowhere/at/all")


Answer = Callable[[dict[str, list[str]]], bytes]


class Server:
    """A model server on loopback that answers what it is told to."""

    def __init__(self) -> None:
        self.answer: Answer = good
        self.most_characters = 0
        self.coding = ""
        self.keys: list[str | None] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._send(b'{"data": [{"id": "chat"}, {"id": "nomic-embed-text"}]}')

            def do_POST(self) -> None:
                outer.keys.append(self.headers["Authorization"])
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                assert asked["model"] == "nomic-embed-text"
                longest = max(map(len, asked["input"]))
                refused = 0 < outer.most_characters < longest
                self._send(b"too large") if refused else self._send(outer.answer(asked))

            def _send(self, body: bytes) -> None:
                self.send_response(400 if body == b"too large" else 200)
                self.send_header("Content-Length", str(len(body)))
                if outer.coding:
                    self.send_header("Content-Encoding", outer.coding)
                self.end_headers()
                self.wfile.write(body[:-1] if body.endswith(b"!") else body)

            def log_message(self, *_: object) -> None:
                """Silent."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def good(asked: dict[str, list[str]]) -> bytes:
    items = [{"index": at, "embedding": [len(text), 1.0]} for at, text in enumerate(asked["input"])]
    return json.dumps({"data": items[::-1]}).encode()


@pytest.fixture
def server() -> Iterator[Server]:
    started = Server()
    yield started
    started.close()


def test_a_server_gives_unit_vectors_in_the_order_of_the_texts(server: Server) -> None:
    found = ServerEmbedder(server.url, key="secret")
    assert (found.dimension, found.name) == (2, f"nomic-embed-text at {server.url}")
    vectors = found.embed([str(number) * (number % 7 + 1) for number in range(70)])
    assert np.allclose(
        vectors[:, 0] / vectors[:, 1],
        [number % 7 + 1 if number < 10 else 2 * (number % 7 + 1) for number in range(70)],
    )
    assert set(server.keys) == {"Bearer secret"}
    found.close()


def data(*rows: list[object]) -> bytes:
    return json.dumps({"data": [{"index": at, "embedding": row} for at, row in enumerate(rows)]}).encode()


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda asked: data([1.0, 2.0, 3.0]), "another dimension"),
        (lambda asked: data([1.0, 2.0], [1.0, 2.0]), "gave 2 vectors for 1 texts"),
        (lambda asked: b'{"data": [{"index": 0, "embedding": [NaN, 1.0]}]}', "no list of vectors"),
        (lambda asked: b'{"data": [{"index": 0, "embedding": [1e999, 1.0]}]}', "no"),
        (lambda asked: data([0.0, 0.0]), "without a direction"),
        (lambda asked: data([]), "none"),
        (lambda asked: b"<html>", "no list of vectors"),
        (lambda asked: b" " * (1 << 19), "more than"),
        (lambda asked: b'{"data": [], "more": ' + b"[" * 100_000, "no list of vectors"),
        (lambda asked: b'{"data": []}!', "cannot be asked"),
    ],
)
def test_what_a_server_answers_is_not_believed(server: Server, answer: Answer, sentence: str) -> None:
    found = ServerEmbedder(server.url)
    server.answer = answer
    with pytest.raises(EmbeddingError) as caught:
        found.embed(["text"])
    assert sentence in str(caught.value)
    found.close()


def test_a_compressed_answer_is_read(server: Server) -> None:
    found = ServerEmbedder(server.url)
    server.coding, server.answer = "gzip", lambda asked: gzip.compress(good(asked))
    assert found.embed(["text"]).shape == (1, 2)
    found.close()


@pytest.mark.parametrize(
    ("layers", "sentence"), [(1, "more than"), (2, "its content coding is"), (0, "damaged")]
)
def test_an_answer_that_unfolds_without_end_is_cut_off(server: Server, layers: int, sentence: str) -> None:
    found = ServerEmbedder(server.url)
    server.coding = ", ".join(["gzip"] * layers) or "gzip"
    server.answer = lambda asked: bomb(layers) if layers else b"no gzip"
    with at_most(50), pytest.raises(EmbeddingError, match=sentence):
        found.embed(["text"])
    found.close()


def test_a_text_that_a_server_refuses_is_cut_and_the_others_are_not(server: Server) -> None:
    found = ServerEmbedder(server.url)
    server.most_characters = 600
    vectors = found.embed(["a", "b" * 1900, "c" * 7])
    assert np.allclose(vectors[:, 0] / vectors[:, 1], [1, 475, 7])
    found.close()


def test_a_server_that_refuses_everything_is_asked_a_few_times(server: Server) -> None:
    found = ServerEmbedder(server.url)
    server.most_characters, before = 1, len(server.keys)
    with pytest.raises(EmbeddingError, match="answered HTTP 400"):
        found.embed(["many " * 400] * 32)
    assert len(server.keys) - before == 5
    found.close()


def stopped(server: Server) -> None:
    server.close()


def narrower(server: Server) -> None:
    server.answer = lambda asked: data(*([[1.0]] * len(asked["input"])))


def no_numbers(server: Server) -> None:
    server.answer = lambda asked: b'{"data": [{"index": 0, "embedding": [NaN, 1.0]}]}'


def torn(server: Server) -> None:
    server.answer = lambda asked: b'{"data": []}!'


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (stopped, "cannot be asked"),
        (torn, "cannot be asked"),
        (narrower, "gave vectors of another dimension than before."),
        (no_numbers, "answered what is no list of vectors"),
    ],
)
def test_a_server_that_fails_in_the_middle_is_one_sentence_and_words_go_on(
    server: Server, tmp_path: Path, harm: Callable[[Server], None], sentence: str
) -> None:
    folder = tmp_path / "input"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number:02}.txt").write_text(f"the harbour of town{number}\n")
    found = ServerEmbedder(server.url)

    def fail(progress: Progress) -> None:
        if progress.phase == "embedding":
            harm(server)

    with Extractor() as extractor, Corpus(folder, tmp_path / "cache", extractor, found) as corpus:
        corpus.update()
        embedded = corpus.embed(progress=fail)
        assert 0 < embedded.chunks < embedded.of == 20
        assert sentence in embedded.problem and "\n" not in embedded.problem
        hits = corpus.search("harbour town7")
        assert (hits.hits[0].path, hits.hits[0].by) == ("07.txt", "words")
        assert hits.note.startswith("Searched by words only: ") and sentence in hits.note
    found.close()


def test_a_server_that_is_gone_is_said(server: Server) -> None:
    server.close()
    with pytest.raises(EmbeddingError, match="cannot be asked"):
        ServerEmbedder(server.url)


@pytest.mark.needs("minilm")
def test_the_real_minilm_knows_a_paraphrase() -> None:
    found = open_embedder("minilm")
    assert found is not None and found.dimension == 384
    ages = found.embed(["How old are you?", "What is your age?", "The database file is locked."])
    near, far = float(ages[0] @ ages[1]), float(ages[0] @ ages[2])
    # 0.761 and -0.042 by onnxruntime with the exact gelu.
    assert (round(near, 2), round(far, 2)) == (0.76, -0.04)
    found.close()
