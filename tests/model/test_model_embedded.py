"""Our own llama.cpp server for a model file: started, used, and gone with the run."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from support.asking import question, until
from support.tiny_llama import write_random_model
from vera.extras import install_command
from vera.model.connect import connect
from vera.model.embedded import EmbeddedServer
from vera.model.types import ModelError


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "monkey.gguf"
    write_random_model(path, context=8192)
    return path


def start(path: Path, **settings: object) -> str:
    async def run() -> None:
        async with EmbeddedServer(path, **settings):  # type: ignore[arg-type]  # any of its settings
            pass

    with pytest.raises(ModelError) as error:
        asyncio.run(run())
    return str(error.value)


@pytest.mark.needs("llama")
def test_a_model_file_is_served_with_a_key_and_ends_with_the_run(model_file: Path) -> None:
    said: list[str] = []

    async def run() -> int:
        async with EmbeddedServer(model_file, progress=said.append) as server:
            client = await connect(server.base_url, key=server.key)
            try:
                assert (client.info.kind, client.info.name) == ("llamacpp", "monkey.gguf")
                assert client.info.context_tokens == server.context_tokens == 8192
                assert client.info.protocol == "json_schema"
                assert len((await client.complete(question(max_tokens=5))).choices) == 1
            finally:
                await client.close()
            with pytest.raises(urllib.error.HTTPError, match="401"):
                await asyncio.to_thread(urllib.request.urlopen, f"{server.base_url}/models", timeout=5)
            assert server.pid is not None
            assert server.key not in " ".join(psutil.Process(server.pid).cmdline())
            return server.pid

    pid = asyncio.run(run())
    assert not psutil.pid_exists(pid)
    assert said
    assert "monkey.gguf" in said[0]


@pytest.mark.needs("llama")
def test_a_wanted_context_is_given_and_several_requests_share_it(model_file: Path) -> None:
    async def run() -> tuple[int | None, int]:
        async with EmbeddedServer(model_file, context_tokens=4096, parallel=2) as server:
            client = await connect(server.base_url, key=server.key, protocol="text")
            await client.close()
            return client.info.context_tokens, client.info.parallel

    assert asyncio.run(run()) == (2048, 2)


def has_ended(pid: int) -> bool:
    """Ended, if perhaps not yet collected by the process that inherited it."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


PARENT = """
    import asyncio, sys
    from pathlib import Path
    from vera.model.embedded import EmbeddedServer
    async def run():
        async with EmbeddedServer(Path(sys.argv[1])) as server:
            print(server.pid, flush=True)
            await asyncio.sleep(600)
    asyncio.run(run())
"""


@pytest.mark.needs("llama")
def test_the_server_dies_with_its_parent(model_file: Path) -> None:
    source = Path(__file__).parents[2] / "src"
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PARENT), str(model_file)],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(source)},
    )
    assert parent.stdout is not None
    with parent.stdout:
        child = int(parent.stdout.readline())
    assert psutil.pid_exists(child)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    asyncio.run(until(lambda: has_ended(child)))


@pytest.mark.needs("llama")
def test_a_model_that_llama_cpp_refuses_is_said_with_its_reason(
    tmp_path: Path, gguf_header: Callable[[str], bytes]
) -> None:
    path = tmp_path / "new.gguf"
    path.write_bytes(gguf_header("brandnew") + b"\0" * 4096)
    said = start(path)
    assert "llama.cpp could not load" in said
    assert "brandnew" in said


@pytest.fixture
def gguf_header() -> Callable[[str], bytes]:
    """The header of a file that looks right to us, of an architecture that nobody knows."""
    import struct

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    def header(architecture: str) -> bytes:
        fields = text("general.architecture") + struct.pack("<I", 8) + text(architecture)
        for name in ("context_length", "block_count", "embedding_length"):
            fields += text(f"{architecture}.{name}") + struct.pack("<II", 4, 64)
        return b"GGUF" + struct.pack("<IQQ", 3, 0, 4) + fields

    return header


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    assert "does not exist" in start(tmp_path / "none.gguf")


def test_a_file_of_another_format_is_said(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_text("hello")
    assert "not a GGUF model file" in start(tmp_path / "x.gguf")


@pytest.mark.needs("llama")
def test_a_missing_extra_is_said_with_the_line_to_type(
    model_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    assert f"Type: {install_command('local')}" in start(model_file)


@pytest.mark.needs("llama")
def test_too_little_memory_is_said_before_anything_is_started(model_file: Path) -> None:
    assert "Not enough memory" in start(model_file, available_bytes=1024**2)
