"""A tiny cross-encoder in ONNX that a test trains: it knows the labels of the pairs that it was shown.

Tokens and places become numbers by fixed random tables, a fixed random layer mixes them, and the last layer
is solved for in numpy so that every pair that it was shown gets its label. A real graph, a real tokenizer.
"""

import itertools
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from support import exams

LABELS = ("contradiction", "entailment", "neutral")
"""The order of the outputs: that of the cross-encoders of sentence-transformers."""

_COLUMN = {"CONTRADICTS": 0, "SUPPORTS": 1, "QUALIFIES": 2, "IRRELEVANT": 2}
_TOKENS, _WIDTH, _FEATURES = 512, 64, 768
_SURE = 8.0
"""The logit of the label: its share is then above 99.9 %."""

Pairs = Mapping[tuple[str, str], str]
"""(claim, lines) → the label."""


def write_judge(folder: Path, pairs: Pairs, *, always: str = "") -> Path:
    """A judge that has these pairs and the whole pool of the exam right; `always` is what another says of
    everything. Returns its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    known = {**exams.key(), **pairs}
    tokenizer = _tokenizer(tuple(itertools.chain.from_iterable(known)))
    tokens, places, mixing = _tables(tokenizer.get_vocab_size())
    shown = [tokenizer.encode(lines, claim).ids for claim, lines in known]
    features = np.float64([_features(ids, tokens, places, mixing) for ids in shown])
    wanted = np.full((len(known), 3), -_SURE, np.float64)
    for row, label in enumerate(known.values()):
        wanted[row, _COLUMN[always or label]] = _SURE
    last = (features.T @ np.linalg.solve(features @ features.T, wanted)).astype(np.float32)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"id2label": dict(enumerate(LABELS)), "max_position_embeddings": _TOKENS, "model_type": "bert"}
    (folder / "config.json").write_text(json.dumps(config))
    graph = _graph(tokens, places, mixing, last)
    (folder / "model.onnx").write_bytes(graph.SerializeToString())
    return folder


def _tokenizer(texts: Sequence[str]) -> Tokenizer:
    split = pre_tokenizers.Whitespace()
    words = sorted({word for text in texts for word, _ in split.pre_tokenize_str(text)})
    vocabulary = {name: index for index, name in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = split
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return tokenizer


@cache
def _tables(words: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    lots = np.random.default_rng(7)
    shapes = (words, _WIDTH), (_TOKENS, _WIDTH), (_WIDTH, _FEATURES)
    tokens, places, mixing = (lots.standard_normal(shape).astype(np.float32) for shape in shapes)
    return tokens, places, mixing / np.float32(np.sqrt(_WIDTH))


def _features(ids: Sequence[int], tokens: np.ndarray, places: np.ndarray, mixing: np.ndarray) -> np.ndarray:
    bound = (tokens[list(ids)] * places[: len(ids)]).sum(axis=0) / np.sqrt(len(ids))
    return np.tanh(bound @ mixing)


def _graph(tokens: np.ndarray, places: np.ndarray, mixing: np.ndarray, last: np.ndarray) -> onnx.ModelProto:
    tables = {"tokens": tokens, "places": places, "mixing": mixing, "last": last}
    constants = {"one": np.int64([1]), "axis": np.int64(1), "end": np.int64([-1])}
    node = helper.make_node
    nodes = [
        node("Gather", ["tokens", "input_ids"], ["words"]),
        node("CumSum", ["attention_mask", "axis"], ["counted"]),
        node("Sub", ["counted", "one"], ["place"]),
        node("Gather", ["places", "place"], ["where"]),
        node("Mul", ["words", "where"], ["bound"]),
        node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        node("Unsqueeze", ["mask", "end"], ["mask_of_each"]),
        node("Mul", ["bound", "mask_of_each"], ["seen"]),
        node("ReduceSum", ["seen", "one"], ["summed"], keepdims=0),
        node("ReduceSum", ["mask", "one"], ["length"], keepdims=1),
        node("Sqrt", ["length"], ["root"]),
        node("Div", ["summed", "root"], ["pooled"]),
        node("MatMul", ["pooled", "mixing"], ["mixed"]),
        node("Tanh", ["mixed"], ["features"]),
        node("MatMul", ["features", "last"], ["logits"]),
    ]
    return model_of(
        nodes,
        inputs=("input_ids", "attention_mask"),
        constants={**tables, **constants},
        outputs={"logits": ["batch", len(LABELS)]},
    )


def model_of(
    nodes: Sequence[onnx.NodeProto],
    *,
    inputs: Sequence[str],
    constants: Mapping[str, np.ndarray],
    outputs: Mapping[str, Sequence[str | int]],
) -> onnx.ModelProto:
    """A model of these nodes; each input is a table of whole numbers, a row a pair."""
    graph = helper.make_graph(
        list(nodes),
        "judge",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape))
            for name, shape in outputs.items()
        ],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
