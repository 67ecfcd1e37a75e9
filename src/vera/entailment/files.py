"""The files of an entailment judge, found and read.

A folder as `optimum-cli export onnx` and model hubs lay it out: `model.onnx` (or `onnx/model.onnx`, or the
only `.onnx` file), `tokenizer.json`, and `config.json` with the names of the labels in order (`id2label`).
"""

import hashlib
from pathlib import Path
from typing import TypeVar

import msgspec

from vera.decode_errors import DECODE_ERRORS
from vera.entailment.values import (
    CONTRADICTED,
    MARGIN_BP,
    NEITHER,
    RULE,
    STEP_BP,
    SUPPORTED,
    THRESHOLD_BP,
    EntailmentError,
)
from vera.events import EntailmentModel
from vera.sanitize import one_line

T = TypeVar("T")

MAX_MODEL_BYTES = 1 << 30
"""Of the model file: a cross-encoder of 300 million parameters with 8-bit weights has 300 MB."""

MAX_TOKENIZER_BYTES = 64 << 20
MAX_CONFIG_BYTES = 1 << 20
MAX_NAME = 80
"""Characters of a judge's name."""

MAX_TOKENS = 512
"""Tokens of a pair: cross-encoders are trained on no more, and the time grows with the square of it."""

MIN_TOKENS = 32
MAX_FILES = 1000
"""Files of a folder that are looked at."""

_CONFIG = "config.json"
_TOKENIZER = "tokenizer.json"
_NAMES = {
    SUPPORTED: ("entailment", "entailed", "entails", "support", "supported", "supports", "consistent"),
    CONTRADICTED: ("contradiction", "contradicted", "contradicts", "refute", "refuted", "refutes"),
    NEITHER: (
        "neutral",
        "neither",
        "notentailment",
        "notsupported",
        "unsupported",
        "notenoughinfo",
        "nei",
        "inconsistent",
    ),
}
"""What an output stands for → names that models give it, in small letters without other characters."""

_ROLES = {name: role for role, names in _NAMES.items() for name in names}
_ROBERTA = ("roberta", "xlm-roberta", "camembert")
"""Kinds of models whose first positions are no tokens'."""


class JudgeFiles(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge is made of: the bytes of its model and tokenizer, and what its labels depend on."""

    name: str
    model: bytes
    tokenizer: bytes
    about: EntailmentModel


class _Config(msgspec.Struct, frozen=True):
    id2label: dict[str, str] = {}
    max_position_embeddings: int = MAX_TOKENS
    model_type: str = ""
    pad_token_id: int | None = 0


def read_files(path: Path) -> JudgeFiles:
    """The judge of a folder or of an `.onnx` file. Raises EntailmentError; FileNotFoundError when there is
    nothing at `path`."""
    if not path.exists():
        raise FileNotFoundError(path)
    name = name_of(path)
    try:
        file = _model_file(path) if path.is_dir() else path
        beside = file.parent.parent if file.parent.name == "onnx" else file.parent
        model = _bytes(file, MAX_MODEL_BYTES)
        tokenizer = _bytes(beside / _TOKENIZER, MAX_TOKENIZER_BYTES)
        config = _decoded(_bytes(beside / _CONFIG, MAX_CONFIG_BYTES), beside / _CONFIG)
    except OSError as error:
        raise EntailmentError(f"The entailment model {path} cannot be read: {error.strerror}.") from error
    about = EntailmentModel(
        rule=RULE,
        model=hashlib.sha256(model).hexdigest(),
        tokenizer=hashlib.sha256(tokenizer).hexdigest(),
        labels=_labels(config, beside / _CONFIG),
        tokens=_tokens(config, beside / _CONFIG),
        threshold_bp=THRESHOLD_BP,
        margin_bp=MARGIN_BP,
        step_bp=STEP_BP,
    )
    return JudgeFiles(name=name, model=model, tokenizer=tokenizer, about=about)


def name_of(path: Path) -> str:
    """What a person calls the judge at `path`: the folder's name, of a file with its own."""
    path = path.expanduser().resolve()
    return one_line(f"{path.parent.name}/{path.name}" if path.suffix == ".onnx" else path.name, MAX_NAME)


def _model_file(folder: Path) -> Path:
    for usual in (folder / "model.onnx", folder / "onnx" / "model.onnx"):
        if usual.is_file():
            return usual
    found = [
        each
        for place in (folder, folder / "onnx")
        if place.is_dir()
        for each, _ in zip(sorted(place.iterdir()), range(MAX_FILES), strict=False)
        if each.suffix == ".onnx" and each.is_file()
    ]
    if len(found) == 1:
        return found[0]
    if found:
        raise EntailmentError(f"{folder} holds {len(found)} .onnx files: name the one that is to judge.")
    raise EntailmentError(f"{folder} holds no .onnx file: give the folder of a cross-encoder in ONNX.")


def _bytes(file: Path, most: int) -> bytes:
    if not file.is_file():
        raise EntailmentError(f"The entailment model lacks {file.name}: there is no file {file}.")
    with file.open("rb") as opened:
        data = opened.read(most + 1)
    if len(data) > most:
        raise EntailmentError(f"{file} is larger than {most >> 20} MB, the most that a judge may have.")
    return data


def _decoded(data: bytes, file: Path) -> _Config:
    try:
        return msgspec.json.decode(data, type=_Config)
    except DECODE_ERRORS as error:
        raise EntailmentError(f"{file} cannot be read: {error}.") from error


def _labels(config: _Config, file: Path) -> tuple[str, ...]:
    """What each output of the model stands for, in order."""
    names = [config.id2label.get(str(index), "") for index in range(len(config.id2label))]
    roles = [_ROLES.get("".join(filter(str.isalnum, name.lower())), "") for name in names]
    if SUPPORTED not in roles or len(set(roles)) != len(roles) or "" in roles or len(roles) < 2:
        told = ", ".join(names)[:200] or "none"
        raise EntailmentError(
            f"{file} must name two or three labels, one of them entailment, with neutral or contradiction; "
            f"it names: {one_line(told)}."
        )
    return tuple(roles)


def _tokens(config: _Config, file: Path) -> int:
    before = (config.pad_token_id or 0) + 1 if config.model_type in _ROBERTA else 0
    tokens = min(MAX_TOKENS, config.max_position_embeddings - before)
    if tokens < MIN_TOKENS:
        raise EntailmentError(f"{file} says that the model reads {tokens} tokens; {MIN_TOKENS} are needed.")
    return tokens
