"""An embedding model in a GGUF file, served by our own llama.cpp for as long as it is wanted.

Needs the extras `semantic` and `local`. The server is another process: a file that makes llama.cpp
crash ends the server and not the run.
"""

import asyncio
import hashlib
import threading
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

from vera.embedding.server import Matrix, ServerEmbedder
from vera.embedding.values import EmbeddingError
from vera.model.embedded import EmbeddedServer
from vera.model.gguf import read_gguf
from vera.model.types import ModelError

T = TypeVar("T")

_TOKENS = 512
"""Of a text: a passage has about 100 words."""


class GgufEmbedder:
    """An `Embedder` whose key is the sha256 of its file."""

    def __init__(self, path: Path) -> None:
        """Load the file and wait until it answers. Raises EmbeddingError."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="vera-embed", daemon=True)
        self._thread.start()
        self._server = EmbeddedServer(path, context_tokens=_TOKENS, embedding=True)
        try:
            read_gguf(path, option="-c search.embedding=FILE.gguf")
            with path.open("rb") as file:
                self.key = f"gguf sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
            self._wait(self._server.start())
            self._served = ServerEmbedder(self._server.base_url, path.name, self._server.key)
        except (ModelError, OSError) as error:
            self._end()
            raise EmbeddingError(str(error)) from error
        except BaseException:
            self._end()
            raise
        self.name = path.name
        self.dimension = self._served.dimension

    @property
    def pid(self) -> int | None:
        """The server's process id while it runs."""
        return self._server.pid

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Matrix:
        """A unit vector for each text. Raises EmbeddingError."""
        return self._served.embed(texts, query=query)

    def close(self) -> None:
        self._served.close()
        self._end()

    def _end(self) -> None:
        self._wait(self._server.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()
