"""The cross-encoder: how its files are read, what it makes of long lines, what it refuses in one sentence."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from support.tiny_entailment import model_of, write_judge
from vera.entailment import EntailmentError, PairReader, Shares
from vera.entailment import files as reading
from vera.entailment.choose import open_reader
from vera.entailment.onnx_reader import MAX_PIECES
from vera.entailment.values import relation

pytestmark = pytest.mark.needs("onnx")

CLAIM = "The bridge opened in 1901."
LINES = "It was opened to traffic in the year 1901."
FILLER = "The keeper counted boats and wrote their number down. " * 60


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pairs = {(CLAIM, LINES): "SUPPORTS", (CLAIM, "It never opened."): "CONTRADICTS"}
    return write_judge(tmp_path_factory.mktemp("judges") / "judge", pairs)


@pytest.fixture
def reader(judge: Path) -> PairReader:
    return open_reader(judge)


def said(reader: PairReader, *texts: str) -> list[str]:
    return [relation(each) for each in reader.read(texts, CLAIM)]


def test_it_gives_what_it_learned(reader: PairReader) -> None:
    assert said(reader, LINES, "It never opened.") == ["SUPPORTS", "CONTRADICTS"]


def test_no_lines_say_nothing(reader: PairReader) -> None:
    assert reader.read([""], CLAIM) == [Shares(0, 0)]
    assert reader.read([], CLAIM) == []


def test_threads_do_not_change_a_label(judge: Path) -> None:
    texts = [LINES, "It never opened.", FILLER]
    one, three = (open_reader(judge, threads).read(texts, CLAIM) for threads in (1, 3))
    assert all(abs(a.supported - b.supported) <= 1 for a, b in zip(one, three, strict=True))


def _word_judge(folder: Path, labels: Sequence[str] = ("entailment", "neutral", "contradiction")) -> Path:
    """A judge that says supported of lines with the word "yes" and contradicted of those with "no"."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "[SEP]": 1, "yes": 2, "no": 3}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A", pair="$A [SEP] $B", special_tokens=[("[SEP]", 1)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    weights = np.float32([[0, 1, 0], [0, 1, 0], [9, 0, 0], [0, 0, 9]])[:, : len(labels)]
    nodes = [
        helper.make_node("Gather", ["weights", "input_ids"], ["votes"]),
        helper.make_node("ReduceMax", ["votes"], ["logits"], axes=[1], keepdims=0),
    ]
    model = model_of(
        nodes,
        inputs=("input_ids",),
        constants={"weights": weights},
        outputs={"logits": ["batch", len(labels)]},
    )
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    (folder / "config.json").write_text(json.dumps({"id2label": dict(enumerate(labels))}))
    return folder


def test_long_lines_are_read_in_pieces_and_the_best_piece_counts(tmp_path: Path) -> None:
    reader = open_reader(_word_judge(tmp_path / "words"))
    far = "word " * 3000
    assert said(reader, f"{far} yes", f"yes {far}", far) == ["SUPPORTS", "SUPPORTS", "IRRELEVANT"]
    assert said(reader, f"{far} no {far}") == ["CONTRADICTS"]


def test_lines_of_which_one_piece_supports_and_another_contradicts_say_nothing(tmp_path: Path) -> None:
    reader = open_reader(_word_judge(tmp_path / "words"))
    assert said(reader, f"yes {'word ' * 3000} no") == ["IRRELEVANT"]


def test_pieces_overlap_so_that_neighbouring_words_are_read_together(tmp_path: Path) -> None:
    """Lines of 800 words make two pieces; every pair of neighbours stands in one of them."""
    from vera.entailment.onnx_reader import OnnxReader

    reader = OnnxReader(reading.read_files(_word_judge(tmp_path / "words")))
    pieces = list(reader._pieces(" ".join(map(str, range(800))), 500))
    numbers = [[int(word) for word in piece.split()] for piece in pieces]
    assert all(any(n in each and n + 1 in each for each in numbers) for n in range(799))
    assert all(len(each) <= 500 for each in numbers)


def test_a_model_with_two_labels_never_contradicts(tmp_path: Path) -> None:
    reader = open_reader(_word_judge(tmp_path / "words", ("entailment", "not_entailment")))
    assert said(reader, "yes", "no", "word") == ["SUPPORTS", "IRRELEVANT", "IRRELEVANT"]


def test_more_than_the_budget_of_one_claim_is_not_read(tmp_path: Path) -> None:
    reader = open_reader(_word_judge(tmp_path / "words"))
    with pytest.raises(EntailmentError, match=rf"beyond the budget of {MAX_PIECES}"):
        reader.read(["word " * 25_000], CLAIM)
    with pytest.raises(EntailmentError, match="more than 200000 characters"):
        reader.read(["word " * 50_000], CLAIM)
    with pytest.raises(EntailmentError, match="longer than the entailment judge reads"):
        reader.read(["yes"], "word " * 600)


def test_text_that_is_no_unicode_is_read(tmp_path: Path) -> None:
    assert said(open_reader(_word_judge(tmp_path / "words")), "\ud800 yes") == ["SUPPORTS"]


@pytest.mark.parametrize("where", ["beside the model", "in the working folder", "by an absolute path"])
def test_weights_in_another_file_are_never_read(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hash of the model would not cover them, and the library looks for them in the working folder."""
    judge = _word_judge(tmp_path / "words")
    model = onnx.load_model(str(judge / "model.onnx"))
    onnx.save_model(
        model, str(judge / "model.onnx"), save_as_external_data=True, location="w.bin", size_threshold=0
    )
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(judge if where == "beside the model" else elsewhere)
    if where == "in the working folder":
        (elsewhere / "w.bin").write_bytes((judge / "w.bin").read_bytes())
    if where == "by an absolute path":
        named = onnx.load_model(str(judge / "model.onnx"), load_external_data=False)
        for each in named.graph.initializer:
            for entry in each.external_data:
                if entry.key == "location":
                    entry.value = str(judge / "w.bin")
        (judge / "model.onnx").write_bytes(named.SerializeToString())
    with pytest.raises(EntailmentError, match="no ONNX model that can be run"):
        open_reader(judge)


def test_a_tokenizer_that_panics_is_one_sentence(tmp_path: Path) -> None:
    judge = _word_judge(tmp_path / "words")
    told = json.loads((judge / "tokenizer.json").read_text())
    pattern = {"Regex": "(?:a|aa|aaa)+b"}
    told["pre_tokenizer"] = {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}
    (judge / "tokenizer.json").write_text(json.dumps(told))
    with pytest.raises(EntailmentError, match="tokenizer of the entailment judge failed"):
        open_reader(judge).read(["a" * 34], CLAIM)


def _without(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def _write(name: str, data: bytes) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).write_bytes(data)

    return change


def _model(nodes: Sequence[onnx.NodeProto], inputs: Sequence[str] = ("input_ids",)) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        constants = {"weights": np.zeros((4, 3), np.float32), "zero": np.float32(0), "one": np.int64([1])}
        model = model_of(nodes, inputs=inputs, constants=constants, outputs={"logits": ["batch", "labels"]})
        (folder / "model.onnx").write_bytes(model.SerializeToString())

    return change


_VOTES = helper.make_node("Gather", ["weights", "input_ids"], ["votes"])
_SUM = helper.make_node("ReduceMax", ["votes"], ["logits"], axes=[1], keepdims=0)
_NAN = [
    _VOTES,
    helper.make_node("ReduceMax", ["votes"], ["zeros"], axes=[1], keepdims=0),
    helper.make_node("Div", ["zeros", "zeros"], ["logits"]),
]
_ONE_NUMBER = [
    helper.make_node("Cast", ["input_ids"], ["numbers"], to=TensorProto.FLOAT),
    helper.make_node("ReduceMax", ["numbers"], ["logits"], axes=[1], keepdims=1),
]

REFUSED = {
    "no model": (_without("model.onnx"), "holds no .onnx file"),
    "no tokenizer": (_without("tokenizer.json"), "lacks tokenizer.json"),
    "no config": (_without("config.json"), "lacks config.json"),
    "a model that is none": (_write("model.onnx", b"\x08\x01junk"), "no ONNX model that can be run"),
    "a tokenizer that is none": (_write("tokenizer.json", b"[1]"), "tokenizer.json of words cannot be read"),
    "a config that is none": (_write("config.json", b"\xff"), "config.json cannot be read"),
    "labels without names": (_write("config.json", b'{"id2label": {"0": "A", "1": "B"}}'), "it names: A, B"),
    "two of one name": (
        _write("config.json", b'{"id2label": {"0": "entailment", "1": "SUPPORTS"}}'),
        "must name two or three labels",
    ),
    "no room": (
        _write(
            "config.json", b'{"id2label": {"0": "entailment", "1": "neutral"}, "max_position_embeddings": 8}'
        ),
        "reads 8 tokens",
    ),
    "other inputs": (_model([_VOTES, _SUM], ("input_ids", "pixels")), "are not those of a cross-encoder"),
    "no number": (_model(_NAN), "numbers that are not finite"),
    "another count of labels": (
        _model(_ONE_NUMBER),
        "an output of the shape (1, 1) for 1 pairs and 3 labels",
    ),
    "two models": (_write("another.onnx", b""), None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_judge_that_cannot_be_used_is_refused_in_one_sentence(tmp_path: Path, name: str) -> None:
    folder = _word_judge(tmp_path / "words")
    change, expected = REFUSED[name]
    change(folder)
    if expected is None:
        assert said(open_reader(folder), "yes") == ["SUPPORTS"]
        (folder / "model.onnx").rename(folder / "one.onnx")
        expected = "holds 2 .onnx files"
    with pytest.raises(EntailmentError) as error:
        open_reader(folder).read(["yes"], "word")
    assert expected in str(error.value)
    assert "\n" not in str(error.value)
    assert str(error.value).endswith((".", '"'))


def test_a_tokenizer_of_another_model_is_refused_when_it_is_used(tmp_path: Path, judge: Path) -> None:
    folder = _word_judge(tmp_path / "words")
    (folder / "tokenizer.json").write_bytes((judge / "tokenizer.json").read_bytes())
    with pytest.raises(EntailmentError, match="words cannot be run"):
        open_reader(folder).read([LINES], CLAIM)


def test_a_model_that_never_ends_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from vera.entailment import onnx_reader

    monkeypatch.setattr(onnx_reader, "MAX_SECONDS", 0.2)
    folder = _word_judge(tmp_path / "words")
    _model(_endless())(folder)
    with pytest.raises(EntailmentError, match="words cannot be run"):
        open_reader(folder).read(["yes"], "word")


def _endless() -> list[onnx.NodeProto]:
    """A loop over a billion rounds."""
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["still"]),
            helper.make_node("Add", ["carried", "zero"], ["next"]),
        ],
        "body",
        [
            value("round", TensorProto.INT64, []),
            value("go", TensorProto.BOOL, []),
            value("carried", TensorProto.FLOAT, None),
        ],
        [value("still", TensorProto.BOOL, []), value("next", TensorProto.FLOAT, None)],
    )
    rounds = helper.make_tensor("rounds", TensorProto.INT64, [], [10**9])
    always = helper.make_tensor("always", TensorProto.BOOL, [], [True])
    return [
        helper.make_node("Constant", [], ["rounds"], value=rounds),
        helper.make_node("Constant", [], ["always"], value=always),
        _VOTES,
        helper.make_node("ReduceMax", ["votes"], ["start"], axes=[1], keepdims=0),
        helper.make_node("Loop", ["rounds", "always", "start"], ["logits"], body=body),
    ]


def test_a_huge_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _word_judge(tmp_path / "words")
    monkeypatch.setattr(reading, "MAX_TOKENIZER_BYTES", 10)
    with pytest.raises(EntailmentError, match="the most that a judge may have"):
        open_reader(folder)


def test_a_file_is_named_with_its_folder_and_finds_what_lies_beside_it(tmp_path: Path) -> None:
    folder = _word_judge(tmp_path / "words")
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model_int8.onnx")
    reader = open_reader(folder / "onnx" / "model_int8.onnx")
    assert (reader.name, said(reader, "yes")) == ("onnx/model_int8.onnx", ["SUPPORTS"])
    assert open_reader(folder).about == reader.about


def test_nothing_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(EntailmentError, match="There is no entailment model at"):
        open_reader(tmp_path / "nowhere")


def test_without_the_extra_it_says_what_to_type(judge: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from vera.entailment import choose

    monkeypatch.setattr(choose, "find_spec", lambda name: None if name == "onnxruntime" else object())
    with pytest.raises(EntailmentError, match=r"needs onnxruntime: .* -m pip install -e .*semantic"):
        open_reader(judge)
