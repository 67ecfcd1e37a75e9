"""The header of a GGUF model file: enough of it to know how much memory a context takes.

Format: github.com/ggml-org/ggml/blob/master/docs/gguf.md, versions 2 and 3, little-endian. Only the key-value
part is read, with a bound on everything that the file itself claims.
"""

import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from vera.model.types import ModelError

MAX_HEADER_BYTES = 256 * 1024 * 1024
MAX_KEYS = 10_000
MAX_KEY_BYTES = 65_535
MAX_KEPT_STRING = 4096
MAX_KEPT_ITEMS = 4096
STRING, ARRAY = 8, 9
SCALARS = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}
"""GGUF value type → struct format."""

SHARD = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$")

QUANTISATIONS = (
    dict(enumerate(("F32", "F16", "Q4_0", "Q4_1")))
    | dict(enumerate(("Q8_0", "Q5_0", "Q5_1", "Q2_K", "Q3_K_S", "Q3_K_M", "Q3_K_L", "Q4_K_S", "Q4_K_M"), 7))
    | dict(enumerate(("Q5_K_S", "Q5_K_M", "Q6_K", "IQ2_XXS", "IQ2_XS", "Q2_K_S", "IQ3_XS", "IQ3_XXS"), 16))
    | dict(enumerate(("IQ1_S", "IQ4_NL", "IQ3_S", "IQ3_M", "IQ2_S", "IQ2_M", "IQ4_XS", "IQ1_M", "BF16"), 24))
    | dict(enumerate(("TQ1_0", "TQ2_0", "MXFP4_MOE"), 36))
)
"""`general.file_type` → its name (llama.cpp, `llama_ftype`)."""

_QUANTISED = re.compile(
    r"[._-]((?:I?Q|TQ)\d(?:_[0-9A-Z]+){0,2}|BF16|F16|F32|MXFP4(?:_MOE)?)\.gguf$", re.IGNORECASE
)
_LICENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+-]{0,59}")


class GgufModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model file: `bytes` on disk (all its parts), trained context, and bytes of cache for each token.

    `quantisation` (Q4_K_M, …) and `licence` are what the file says of itself, '' where it does not.
    """

    path: str
    architecture: str
    bytes: int
    trained_context: int
    cache_bytes_a_token: int
    quantisation: str = ""
    licence: str = ""


class _Malformed(Exception):
    """The file does not follow the format."""


def read_gguf(path: Path, option: str = "--model-file FILE.gguf") -> GgufModel:
    """Read the header. Raises ModelError: no such file, not readable, no GGUF, a field missing; it names the
    `option` that takes the file."""
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise ModelError(f"The model file {path} {what}. Give a GGUF file: {option}")
    try:
        with path.open("rb") as file:
            fields = _fields(file)
        size = sum(part.stat().st_size for part in _parts(path))
    except OSError as problem:
        raise ModelError(f"The model file {path} cannot be read: {problem.strerror}.") from problem
    except (_Malformed, struct.error) as problem:
        raise ModelError(
            f"{path} is not a GGUF model file ({problem or 'it ends too early'}). "
            f"Models for llama.cpp, Ollama and LM Studio are in this format: {option}"
        ) from None
    return _model(path, size, fields)


def _model(path: Path, size: int, fields: dict[str, Any]) -> GgufModel:
    architecture = fields.get("general.architecture")
    if not isinstance(architecture, str):
        raise ModelError(f"{path} does not say what kind of model it is; it cannot be served.")

    def number(name: str, default: int = 0) -> int:
        value = fields.get(f"{architecture}.{name}", default)
        values = value if isinstance(value, list) else [value]
        return max((v for v in values if isinstance(v, int) and 0 <= v < 2**40), default=default)

    context = number("context_length")
    if not context or not number("block_count"):
        raise ModelError(
            f"{path} holds no language model that can chat (architecture {architecture!r} without a context "
            "length). Give the model's main file: --model-file FILE.gguf"
        )
    return GgufModel(
        path=str(path),
        architecture=architecture,
        bytes=size,
        trained_context=context,
        cache_bytes_a_token=_cache_bytes(number, fields.get(f"{architecture}.attention.head_count_kv")),
        quantisation=_quantisation(path, fields.get("general.file_type")),
        licence=licence if _LICENCE.fullmatch(licence := str(fields.get("general.license", ""))) else "",
    )


def _quantisation(path: Path, file_type: Any) -> str:
    """By the header; by the file's name where the header has it after the tokenizer, which is not read."""
    known = QUANTISATIONS.get(file_type) if isinstance(file_type, int) else None
    return known or quantisation_of(path.name)


def quantisation_of(file_name: str) -> str:
    """The quantisation that the name of a GGUF file tells, '' where it tells none."""
    named = _QUANTISED.search(file_name)
    return named[1].upper() if named else ""


def _cache_bytes(number: Callable[..., int], heads_kv: Any) -> int:
    """Bytes of 16-bit keys and values that one token takes in all layers; an upper bound for hybrids."""
    layers, heads = number("block_count"), max(1, number("attention.head_count", 1))
    if latent := number("attention.kv_lora_rank"):
        # Multi-head latent attention keeps one compressed vector a layer (DeepSeek-V2, section 2.1).
        return 2 * layers * (latent + number("rope.dimension_count"))
    each = number("embedding_length") // heads
    width = number("attention.key_length", each) + number("attention.value_length", each)
    if isinstance(heads_kv, list):
        return 2 * width * sum(n for n in heads_kv if isinstance(n, int) and 0 <= n < 2**20)
    attention_layers = layers // max(1, number("full_attention_interval", 1))
    return 2 * width * attention_layers * number("attention.head_count_kv", heads)


def _fields(file: BinaryIO) -> dict[str, Any]:
    if file.read(4) != b"GGUF":
        raise _Malformed("its first four bytes are not GGUF")
    (version,) = struct.unpack("<I", file.read(4))
    if version not in (2, 3):
        raise _Malformed(f"version {version}")
    _, keys = struct.unpack("<QQ", file.read(16))
    if keys > MAX_KEYS:
        raise _Malformed(f"{keys} keys")
    fields: dict[str, Any] = {}
    for _ in range(keys):
        name = _string(file, MAX_KEY_BYTES)
        (kind,) = struct.unpack("<I", file.read(4))
        # The tokenizer is most of the header, comes last, and says nothing about memory.
        if name.startswith("tokenizer.") and any(key.endswith(".context_length") for key in fields):
            break
        fields[name] = _value(file, kind)
        if file.tell() > MAX_HEADER_BYTES:
            raise _Malformed("a header without end")
    return fields


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == STRING:
        return _string(file, MAX_HEADER_BYTES)
    if kind == ARRAY:
        return _array(file)
    if kind not in SCALARS:
        raise _Malformed(f"value type {kind}")
    return struct.unpack(SCALARS[kind], file.read(struct.calcsize(SCALARS[kind])))[0]


def _array(file: BinaryIO) -> list[Any] | None:
    """A short list of numbers; longer ones and lists of text are skipped and give None."""
    kind, count = struct.unpack("<IQ", file.read(12))
    if kind == STRING:
        for _ in range(count):
            _string(file, MAX_HEADER_BYTES)
            if file.tell() > MAX_HEADER_BYTES:
                raise _Malformed("a header without end")
        return None
    if kind not in SCALARS:
        raise _Malformed(f"a list of type {kind}")
    size = struct.calcsize(SCALARS[kind])
    if count * size > MAX_HEADER_BYTES:
        raise _Malformed(f"a list of {count} values")
    if count > MAX_KEPT_ITEMS:
        file.seek(count * size, 1)
        return None
    return [struct.unpack(SCALARS[kind], file.read(size))[0] for _ in range(count)]


def _string(file: BinaryIO, most: int) -> str:
    (size,) = struct.unpack("<Q", file.read(8))
    if size > most:
        raise _Malformed(f"a text of {size} bytes")
    kept = file.read(min(size, MAX_KEPT_STRING))
    if len(kept) < min(size, MAX_KEPT_STRING):
        raise _Malformed("it ends too early")
    file.seek(size - len(kept), 1)
    return kept.decode("utf-8", "replace")


def _parts(path: Path) -> list[Path]:
    """The file and, for one of several parts, the others that are there."""
    match = SHARD.search(path.name)
    if match is None:
        return [path]
    stem, count = path.name[: match.start()], match.group(2)
    others = (path.with_name(f"{stem}-{i:05d}-of-{count}.gguf") for i in range(1, int(count) + 1))
    return [part for part in others if part.is_file()]
