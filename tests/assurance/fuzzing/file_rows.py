"""Files of others: models, libraries of references, sessions, bundles; and files that change while read."""

import atexit
import contextlib
import functools
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from safetensors.numpy import save
from tokenizers import Tokenizer, models, pre_tokenizers

from assurance.batteries import Trial
from assurance.fuzzing import mutate
from assurance.fuzzing.document_rows import extractor
from assurance.fuzzing.row import Row
from support.altering import lines_of, reseal, rewrite
from support.attacks import OFFLINE, attempt, vera_here
from support.connecting import ZoteroFolder, gathered
from support.dashboards import app_of
from support.gguf_header import LLAMA, header
from support.tiny_entailment import write_judge
from support.turns import final, turn
from vera.attestation.bundle import BundleError, pack, unpack
from vera.attestation.keys import load_or_create
from vera.connectors import ConnectorError
from vera.corpus import Corpus, EmptyCorpus
from vera.corpus.values import UnknownDocument
from vera.document_check.references import of_bibtex
from vera.embedding.transformer import SentenceTransformer
from vera.embedding.values import EmbeddingError
from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable
from vera.model.gguf import read_gguf
from vera.model.types import ModelError
from vera.session.log import LogBroken

ROOT = Path(__file__).parents[3]
kept = contextlib.ExitStack()
atexit.register(kept.close)


def folder() -> Path:
    return Path(kept.enter_context(tempfile.TemporaryDirectory(prefix="vera-fuzz-")))


# Models

GGUFS = (
    header(LLAMA),
    header({**LLAMA, "general.license": "mit", "general.file_type": 15, "x.list": [1, 2, 3]}),
    header(LLAMA, version=2) + bytes(100),
)


def gguf(trial: Trial) -> None:
    """The header of a model file is read, or it is a ModelError."""
    path = trial.folder / trial.random.choice(("m-Q4_K_M.gguf", "m-00001-of-00003.gguf", "m.gguf"))
    path.write_bytes(mutate.data(trial.random, GGUFS))
    with contextlib.suppress(ModelError):
        read_gguf(path)


READS_A_JUDGE = """
import sys
from pathlib import Path
from vera.entailment.choose import open_reader
from vera.entailment.values import EntailmentError
try:
    reader = open_reader(Path(sys.argv[1]), threads=1)
    print(reader.read(["The offer is valid for three years.", ""], "It is valid."))
except EntailmentError as error:
    print("refused:", error)
"""


@functools.cache
def judge() -> Path:
    return write_judge(folder(), {("It is valid.", "The offer is valid."): "SUPPORTS"})


def entailment(trial: Trial) -> None:
    """A judge in a file reads, or is an EntailmentError; it never takes its process with it."""
    draw = trial.random
    shutil.copytree(judge(), trial.folder / "judge")
    name = draw.choice(("model.onnx", "model.onnx", "tokenizer.json", "tokenizer.json", "config.json"))
    path = trial.folder / "judge" / name
    data = path.read_bytes()
    if name == "model.onnx":
        path.write_bytes(_with_graph_changed(draw, data))
    else:
        path.write_bytes(mutate.encoded(draw, json.loads(data)))
    _in_a_process(READS_A_JUDGE, trial.folder / "judge")


def _with_graph_changed(draw: mutate.Draw, data: bytes) -> bytes:
    """The tables are most of the bytes: what is changed is the graph around them, at both ends."""
    head, middle, tail = data[:3000], data[3000:-9000], data[-9000:]
    if draw.random() < 0.5:
        return mutate.data(draw, [head], 8000) + middle + tail
    return head + middle + mutate.data(draw, [tail], 20_000)


def _in_a_process(program: str, place: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", program, str(place)],
        cwd=ROOT / "tests",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stdout[-1000:], done.stderr[-3000:])


READS_AN_EMBEDDER = """
import sys
from pathlib import Path
from vera.embedding.transformer import SentenceTransformer
from vera.embedding.values import EmbeddingError
from vera.session.log import LogBroken
try:
    opened = SentenceTransformer(Path(sys.argv[1]))
    print(opened.embed(["alpha beta", ""]).shape)
    opened.close()
except EmbeddingError as error:
    print("refused:", error)
"""


@functools.cache
def embedder() -> dict[str, bytes]:
    """A tiny model of random numbers."""
    words, size = ("[UNK]", "alpha", "beta"), 8
    dice = np.random.default_rng(7)
    shapes = {"word": len(words), "position": 16, "token_type": 2}
    made = {
        f"embeddings.{name}_embeddings.weight": dice.normal(size=(rows, size)).astype(np.float32)
        for name, rows in shapes.items()
    }
    layer = "encoder.layer.0"
    linear = {
        **{f"{layer}.attention.self.{part}": (size, size) for part in ("query", "key", "value")},
        f"{layer}.attention.output.dense": (size, size),
        f"{layer}.intermediate.dense": (16, size),
        f"{layer}.output.dense": (size, 16),
    }
    for name, shape in linear.items():
        made[f"{name}.weight"] = dice.normal(size=shape).astype(np.float32)
        made[f"{name}.bias"] = np.zeros(shape[0], np.float32)
    for name in ("embeddings", f"{layer}.attention.output", f"{layer}.output"):
        made[f"{name}.LayerNorm.weight"] = np.ones(size, np.float32)
        made[f"{name}.LayerNorm.bias"] = np.zeros(size, np.float32)
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    config = {
        "model_type": "bert",
        "hidden_size": size,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "max_position_embeddings": 16,
    }
    return {
        "config.json": json.dumps(config).encode(),
        "tokenizer.json": tokenizer.to_str().encode(),
        "model.safetensors": save(made),
    }


def embedding(trial: Trial) -> None:
    """An embedding model in a folder or a zip embeds, or it is an EmbeddingError."""
    draw = trial.random
    files = dict(embedder())
    name = draw.choice(list(files))
    json_file = name.endswith(".json")
    files[name] = (
        mutate.encoded(draw, json.loads(files[name])) if json_file else mutate.data(draw, [files[name]])
    )
    place = trial.folder / "model"
    if draw.random() < 0.3:
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
            for each, data in files.items():
                archive.writestr(each, data)
        place.write_bytes(mutate.data(draw, [held.getvalue()]) if draw.random() < 0.5 else held.getvalue())
    else:
        place.mkdir()
        for each, data in files.items():
            (place / each).write_bytes(data)
    if name == "tokenizer.json":
        _in_a_process(READS_AN_EMBEDDER, place)
        return
    with contextlib.suppress(EmbeddingError):
        opened = SentenceTransformer(place)
        opened.embed(["alpha beta", ""])
        opened.close()


# Libraries

BIB = (
    "@article{smith2020,\n  title = {The {H}all},\n  author = {Smith, Ann and de la Cruz, J.},\n"
    "  year = 2020,\n"
    "  file = {Full Text:files/1/Smith.txt:text/plain;b.txt}, doi = {10.1000/xyz}\n}\n"
    '@string{x = "y"}\n@comment{z}\n@book(jones, title = "A" # x # {B \\& C}, date = {2019-04})\n'
)


def library(trial: Trial) -> None:
    """A library of references is documents and what is left out, or a ConnectorError."""
    draw = trial.random
    made = mutate.text(draw, [BIB], 1 << 16)
    for reference in of_bibtex(made):
        repr(reference)
    (trial.folder / "refs.bib").write_text(made.encode("utf-8", "replace").decode(), newline="")
    (trial.folder / "b.txt").write_text("b\n")
    with contextlib.suppress(ConnectorError):
        gathered(trial.folder / "a", f"papers=bibtex:{trial.folder / 'refs.bib'}")
    home = trial.folder / "zotero"
    zotero = ZoteroFolder(home)
    zotero.add("storage:a.txt", title="A", extra="Citation Key: smith2020", date="2020")
    database = home / "zotero.sqlite"
    database.write_bytes(mutate.data(draw, [database.read_bytes()]))
    with contextlib.suppress(ConnectorError):
        gathered(trial.folder / "b", f"library=zotero:{home}")


# Sessions and bundles


@functools.cache
def session() -> Path:
    place = folder()
    said = [turn("read", path="terms.txt"), final("Three years [ev_0001:1].")]
    files = {"terms.txt": "The offer must be valid for at least three years.\n"}
    attempt(place, said, *OFFLINE, question="How long?", files=files)
    return place / "work"


@functools.cache
def bundle() -> bytes:
    path = folder() / "bundle.zip"
    pack(session(), path)
    return path.read_bytes()


def bundled(trial: Trial) -> None:
    """A bundle is unpacked, or it is a BundleError."""
    path, place = trial.folder / "bundle.zip", trial.folder / "opened"
    path.write_bytes(mutate.data(trial.random, [bundle()]))
    place.mkdir()
    with contextlib.suppress(BundleError):
        unpack(path, place)


LOOKS = (
    ("show", "work"),
    ("show", "work", "--steps"),
    ("replay", "work"),
    ("list", "--base-dir", "."),
    ("rebuild", "work"),
    ("export", "work", "--bundle", "out.zip"),
    ("metrics", "work"),
    ("review", "work"),
    ("resume", "work"),
    ("report", "work", "--output", "r.html"),
    ("recheck", "work"),
)
PAGES = (
    "",
    "/steps",
    "/steps/1",
    "/claim/c1",
    "/again",
    "/share/report.html",
    "/compare?a=1&b=2",
    "/log/run",
)
SMALL_FILES = ("tags.json", "run.pid", "reviews.jsonl", "evaluation.json", "session.log", "batch.json")


def of_a_stranger(trial: Trial) -> None:
    """A session of any content is looked at: each command ends with a sentence, each page is no 500."""
    draw = trial.random
    work = trial.folder / "work"
    shutil.copytree(session(), work)
    draw.choice((_with_files_changed, _with_records_changed))(draw, work)
    for words in draw.sample(LOOKS, 3):
        ended = vera_here(*words, cwd=trial.folder)
        assert 0 <= ended.code <= 6, ended
    with app_of(trial.folder) as client:
        for page in (
            "/",
            f"/s/work{draw.choice(PAGES)}",
            f"/s/work{draw.choice(PAGES)}",
            "/over-time",
            "/metrics",
        ):
            assert client.get(page, headers={"accept": "text/html"}).status_code != 500, page


def _with_files_changed(draw: mutate.Draw, work: Path) -> None:
    there = [each for each in work.rglob("*") if each.is_file()]
    for _ in range(draw.choice((1, 1, 2))):
        path = draw.choice([*there, *(work / name for name in SMALL_FILES)])
        data = b"{}\n"
        if path.exists():
            path.chmod(0o600)
            data = path.read_bytes()
        path.write_bytes(_changed_file(draw, data))


def _changed_file(draw: mutate.Draw, data: bytes) -> bytes:
    if draw.random() < 0.5 or not data.startswith(b"{"):
        return mutate.data(draw, [data])
    lines = data.split(b"\n")
    at = draw.randrange(len(lines))
    with contextlib.suppress(ValueError):
        lines[at] = mutate.encoded(draw, json.loads(lines[at]))
    return b"\n".join(lines)


def _with_records_changed(draw: mutate.Draw, work: Path) -> None:
    """A log that says other things, under a good chain and a seal that fits."""
    records = lines_of(work)
    for _ in range(draw.choice((1, 3))):
        at = draw.randrange(len(records))
        made = mutate.value(draw, records[at])
        if isinstance(made, dict) and isinstance(made.get("type"), str):
            records[at] = made
    with contextlib.suppress(UnicodeEncodeError, RecursionError):
        rewrite(work, records)
    with contextlib.suppress(LogBroken, OSError, ValueError, IndexError):
        reseal(work, load_or_create(work.parent / "keys"), draw)


# Files that change

WORDS = "The offer must be valid for at least three years, says line {}.\n"


def changing(trial: Trial) -> None:
    """A file that is cut, grown or replaced while it is read is bounded, and is read or named."""
    draw = trial.random
    place = trial.folder / "documents"
    place.mkdir()
    path = place / "terms.txt"
    whole = "".join(WORDS.format(number) for number in range(draw.choice((10, 300, 5000, 20_000)))).encode()
    path.write_bytes(whole)
    stop = threading.Event()
    changes = [draw.choice(CHANGES) for _ in range(400)]
    changer = threading.Thread(target=_change, args=(path, whole, changes, stop), daemon=True)
    changer.start()
    try:
        for _ in range(20):
            with contextlib.suppress(Unreadable):
                read = read_regular(place, "terms.txt", len(whole))
                assert len(read) <= len(whole)
        with Corpus(place, trial.folder / "index", extractor()) as corpus:
            for _ in range(2):
                with contextlib.suppress(EmptyCorpus):
                    corpus.update()
                for hit in corpus.search("offer three years", limit=3).hits:
                    with contextlib.suppress(UnknownDocument, Unreadable):
                        corpus.document(hit.path)
        report = trial.folder / "report.md"
        report.write_text('It says "must be valid for at least three years" [1].\n\n[1]: terms.txt\n')
        ended = vera_here("check", report, "--sources", place, cwd=trial.folder)
        assert ended.code in (0, 1, 2, 3, 4), ended
    finally:
        stop.set()
        changer.join(30)


def _change(
    path: Path, whole: bytes, changes: list[Callable[[Path, bytes], None]], stop: threading.Event
) -> None:
    for change in changes * 1000:
        if stop.is_set():
            return
        with contextlib.suppress(FileNotFoundError):
            change(path, whole)
        stop.wait(0.001)


def _cut(path: Path, whole: bytes) -> None:
    os.truncate(path, len(whole) // 3)


def _emptied(path: Path, whole: bytes) -> None:
    os.truncate(path, 0)


def _grown(path: Path, whole: bytes) -> None:
    with path.open("ab") as file:
        file.write(whole[: 1 << 16])


def _written(path: Path, whole: bytes) -> None:
    path.write_bytes(whole)


def _replaced(path: Path, whole: bytes) -> None:
    other = path.with_name("other")
    other.write_bytes(whole[: len(whole) // 2])
    other.replace(path)


def _gone(path: Path, whole: bytes) -> None:
    path.unlink(missing_ok=True)


CHANGES = (_cut, _emptied, _grown, _written, _written, _replaced, _gone, _written)

ROWS = (
    Row("files: the header of a GGUF model", gguf, 5, 64, share=3),
    Row("files: an entailment model", entailment, 10, 64, share=1, wall=300),
    Row("files: an embedding model", embedding, 20, 200, share=1, wall=300),
    Row("files: libraries of references", library, 20, 200, share=2),
    Row("files: bundles", bundled, 10, 100, share=3),
    Row("files: a session of somebody else", of_a_stranger, 60, 300, share=2, wall=300),
    Row("files that change while they are read", changing, 60, 300, share=1, wall=300),
)
