"""The header of a GGUF file, as small as it can be: enough for what reads headers, and no model."""

import struct
from typing import Any

LLAMA = {
    "general.architecture": "llama",
    "llama.context_length": 131_072,
    "llama.embedding_length": 4096,
    "llama.block_count": 32,
    "llama.attention.head_count": 32,
    "llama.attention.head_count_kv": 8,
}


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def entry(name: str, value: Any) -> bytes:
    if isinstance(value, str):
        return text(name) + struct.pack("<I", 8) + text(value)
    if isinstance(value, list):
        return text(name) + struct.pack("<IIQ", 9, 4, len(value)) + struct.pack(f"<{len(value)}I", *value)
    return text(name) + struct.pack("<II", 4, value)


def header(fields: dict[str, Any], version: int = 3) -> bytes:
    body = b"".join(entry(name, value) for name, value in fields.items())
    return b"GGUF" + struct.pack("<IQQ", version, 0, len(fields)) + body
