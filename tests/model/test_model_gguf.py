"""Model files: reading the header of a hostile file, and the context that fits into memory."""

import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.gguf_header import LLAMA, header, text
from support.tiny_llama import write_random_model
from vera.model import memory
from vera.model.gguf import QUANTISATIONS, GgufModel, quantisation_of, read_gguf
from vera.model.types import ModelError

GIB = 1024**3


def file(tmp_path: Path, data: bytes, name: str = "m.gguf") -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


def test_the_header_tells_context_and_cache(tmp_path: Path) -> None:
    model = read_gguf(file(tmp_path, header(LLAMA)))
    assert model.architecture == "llama"
    assert model.trained_context == 131_072
    assert model.cache_bytes_a_token == 2 * 2 * 32 * 8 * 128  # 16 bit, keys and values, layers, heads, width


@pytest.mark.parametrize(
    ("more", "cache"),
    [
        ({"llama.attention.key_length": 64, "llama.attention.value_length": 64}, 2 * 32 * 8 * 128),
        ({"llama.attention.head_count_kv": [8] * 8 + [0] * 24}, 2 * 2 * 8 * 8 * 128),
        ({"llama.full_attention_interval": 4}, 2 * 2 * 8 * 8 * 128),
        ({"llama.attention.kv_lora_rank": 512, "llama.rope.dimension_count": 64}, 2 * 32 * 576),
    ],
    ids=["own widths", "heads by layer", "hybrid", "latent"],
)
def test_the_cache_of_other_designs(tmp_path: Path, more: dict[str, Any], cache: int) -> None:
    assert read_gguf(file(tmp_path, header(LLAMA | more))).cache_bytes_a_token == cache


@pytest.mark.needs("llama")
def test_the_quantisations_are_those_of_llama_cpp() -> None:
    from gguf import LlamaFileType

    theirs = {each.value: each.name.removeprefix("MOSTLY_").removeprefix("ALL_") for each in LlamaFileType}
    assert {value: theirs[value] for value in QUANTISATIONS} == QUANTISATIONS


@pytest.mark.parametrize(
    ("name", "quantisation"),
    [
        ("qwen2.5-1.5b-instruct-q4_k_m.gguf", "Q4_K_M"),
        ("SmolLM2-135M-Instruct.Q4_1.gguf", "Q4_1"),
        ("m-IQ3_XXS.gguf", "IQ3_XXS"),
        ("m-BF16.gguf", "BF16"),
        ("qwen3-8b.gguf", ""),
        ("Q4_K_M.txt", ""),
    ],
)
def test_the_name_of_a_file_tells_its_quantisation_where_the_header_does_not(
    tmp_path: Path, name: str, quantisation: str
) -> None:
    assert quantisation_of(name) == quantisation
    if name.endswith(".gguf"):
        assert read_gguf(file(tmp_path, header(LLAMA), name)).quantisation == quantisation
        told = header(LLAMA | {"general.file_type": 7, "general.license": "mit"})
        model = read_gguf(file(tmp_path, told, name))
        assert (model.quantisation, model.licence) == ("Q8_0", "mit")


def test_a_licence_that_is_no_name_of_one_is_not_told(tmp_path: Path) -> None:
    assert read_gguf(file(tmp_path, header(LLAMA | {"general.license": "\x1b[2J" * 50}))).licence == ""


@pytest.mark.needs("llama")
def test_a_file_that_the_gguf_package_wrote_is_read(tmp_path: Path) -> None:
    write_random_model(tmp_path / "m.gguf", context=8192, width=64, layers=2)
    model = read_gguf(tmp_path / "m.gguf")
    assert (model.architecture, model.trained_context, model.cache_bytes_a_token) == ("llama", 8192, 512)


def test_a_model_in_several_files_counts_them_all(tmp_path: Path) -> None:
    first = file(tmp_path, header(LLAMA), "big-00001-of-00002.gguf")
    file(tmp_path, b"x" * 5000, "big-00002-of-00002.gguf")
    assert read_gguf(first).bytes == len(header(LLAMA)) + 5000


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK\x03\x04",
        b"GGUF",
        b"GGUF" + struct.pack("<IQQ", 99, 0, 1),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 2**60),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 2**62),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("a") + struct.pack("<IIQ", 9, 8, 2**60),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("a") + struct.pack("<IIQ", 9, 4, 2**60),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("a") + struct.pack("<IIQ", 9, 9, 5),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("a") + struct.pack("<IQ", 8, 2**62),
        header(LLAMA)[:-9],
    ],
)
def test_what_is_no_gguf_file_is_said_in_a_sentence(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(ModelError, match="not a GGUF model file"):
        read_gguf(file(tmp_path, data))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.integers(4, len(header(LLAMA)) - 1), st.binary(min_size=1, max_size=12))
def test_a_damaged_header_is_read_or_refused(tmp_path: Path, at: int, damage: bytes) -> None:
    data = bytearray(header(LLAMA))
    data[at : at + len(damage)] = damage
    try:
        read_gguf(file(tmp_path, bytes(data)))
    except ModelError as error:
        assert str(tmp_path) in str(error)


def test_a_file_that_is_not_there_and_a_folder_are_said(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"does not exist.*--model-file"):
        read_gguf(tmp_path / "none.gguf")
    with pytest.raises(ModelError, match="is a folder"):
        read_gguf(tmp_path)


def test_a_file_without_a_language_model_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no language model"):
        read_gguf(file(tmp_path, header({"general.architecture": "clip"})))


# the context that fits


def eight_billion(trained: int = 131_072) -> GgufModel:
    return GgufModel(
        path="m.gguf",
        architecture="llama",
        bytes=5 * GIB,
        trained_context=trained,
        cache_bytes_a_token=131_072,
    )


@pytest.mark.parametrize(
    ("free_gib", "trained", "wanted", "context"),
    [
        (64, 131_072, None, 32_768),
        (64, 8192, None, 8192),
        (64, 131_072, 65_536, 65_536),
        (8, 131_072, None, 13_312),
        (64, 2048, None, 2048),
        (None, 131_072, None, 32_768),
    ],
)
def test_the_context_is_what_file_memory_and_person_allow(
    free_gib: int | None, trained: int, wanted: int | None, context: int
) -> None:
    available = None if free_gib is None else free_gib * GIB
    assert memory.fitting_context(eight_billion(trained), available, wanted) == context


@pytest.mark.parametrize(("free_gib", "wanted"), [(4, None), (6, None), (8, 32_768)])
def test_too_little_memory_is_said_with_both_figures(free_gib: int, wanted: int | None) -> None:
    with pytest.raises(ModelError, match=rf"needs about \d+ MiB, and {free_gib * 1024} MiB are free"):
        memory.fitting_context(eight_billion(), free_gib * GIB, wanted)


def test_this_machine_says_how_much_memory_is_free() -> None:
    available = memory.available_memory()
    assert available is not None
    assert available > 1024**2


def test_the_limit_of_a_container_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("600000\n")
    (tmp_path / "memory.stat").write_text("anon 1\ninactive_file 100000\n")
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    assert memory.available_memory() == 500_000
    (tmp_path / "memory.max").write_text("max\n")
    assert (memory.available_memory() or 0) > 1024**2


def test_what_is_left_may_hold_waiting_prompts() -> None:
    assert memory.spare_mib(eight_billion(), 64 * GIB, 32_768) == memory.MAX_PROMPT_CACHE_MIB
    assert memory.spare_mib(eight_billion(), 8 * GIB, 13_312) < 100
    assert memory.spare_mib(eight_billion(), None, 4096) == 0
