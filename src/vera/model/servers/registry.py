"""The kinds of model servers VERA knows: one file each, in the order in which they are tried."""

from vera.model.servers import generic, llamacpp, lmstudio, ollama, sglang, vllm
from vera.model.servers.base import Server

# llama.cpp and others imitate parts of Ollama's routes, so the more particular fingerprints come first.
SERVERS: tuple[Server, ...] = (
    lmstudio.SERVER,
    llamacpp.SERVER,
    sglang.SERVER,
    ollama.SERVER,
    vllm.SERVER,
    generic.SERVER,
)

GENERIC = generic.SERVER
