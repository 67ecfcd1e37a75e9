"""A line of a gigabyte: in a document, from a model or a page, from a command, and in our own files.

These are rare rows: one trial takes seconds to minutes.
"""

import asyncio
import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from assurance.batteries import Trial
from assurance.fuzzing.document_rows import extractor
from assurance.fuzzing.file_rows import session
from assurance.fuzzing.hostile_server import HostileServer
from assurance.fuzzing.row import Row
from assurance.fuzzing.server_rows import ASKED, ONCE
from support.attacks import attempt, vera_here
from support.fake_web import fetcher_to
from support.turns import final, turn
from vera.corpus import Corpus
from vera.model.client import ChatClient
from vera.model.ollama import OllamaWire
from vera.model.openai import OpenAIWire
from vera.model.types import ModelError
from vera.sandbox.fetch.fetcher import FetchLimits
from vera.sandbox.fetch.receipt import FetchError

GIGABYTE = 1 << 30
WORDS = b"The offer must be valid for at least three years, and costs 5 % of EUR 1,200.50. "
BEGINS = {
    "txt": b"",
    "md": b"# ",
    "csv": b"a,",
    "json": b'{"a": "',
    "jsonl": b'"',
    "html": b"<p>",
    "eml": b"A: b\n\n",
}
LARGEST = {"html": 32 << 20, "eml": 64 << 20}
"""Bytes of the largest file of a format that is read; of the others it is 256 MB."""


def write(path: Path, size: int, unit: bytes = WORDS, begins: bytes = b"") -> None:
    """A file of one line."""
    block = unit * ((1 << 20) // len(unit))
    with path.open("wb") as file:
        file.write(begins)
        while (left := size - file.tell()) > 0:
            file.write(block[:left])


def unit_of(trial: Trial) -> bytes:
    return trial.random.choice((WORDS, b"a", b"\xe4\xb8\xad", b'"', b"<", b"{", b"-", b"1", b"\xff", b" "))


def document(trial: Trial) -> None:
    """A document of one line is searched when a file of its size is read, and else named with the reason."""
    draw = trial.random
    name = draw.choice(list(BEGINS))
    place = trial.folder / "documents"
    place.mkdir()
    size = draw.choice((GIGABYTE, LARGEST.get(name, 256 << 20) - 1000))
    write(place / f"long.{name}", size, unit_of(trial), BEGINS[name])
    (place / "short.txt").write_text("It is short.\n")
    with Corpus(place, trial.folder / "index", extractor()) as corpus:
        report = corpus.update()
        assert report.files == 2
        assert all(why for _, why in report.unreadable)
        assert corpus.search("short").hits[0].path == "short.txt"


def sent_by_a_model(trial: Trial) -> None:
    """A reply without end is cut off."""
    draw = trial.random
    kind = draw.choice(("line", "pieces", "one JSON", "blank"))
    wire = draw.choice((OpenAIWire(), OllamaWire(8192)))
    of_ollama = isinstance(wire, OllamaWire)
    said = b"word %d " % draw.randrange(1000) * draw.choice((1, 500))
    of_openai = b'data: {"choices": [{"delta": {"content": "%s"}}]}\n\n'
    piece = (b'{"message": {"content": "%s"}}\n' if of_ollama else of_openai) % said

    def reply() -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        block = {"line": WORDS, "pieces": piece, "one JSON": b"1", "blank": b"\n"}[kind]
        yield {"one JSON": b'{"a": ', "line": b"data: "}.get(kind, b"")
        block *= (1 << 20) // len(block)
        for _ in range(GIGABYTE // len(block)):
            yield block

    async def ask(server: HostileServer) -> None:
        client = ChatClient(
            f"{server.url}/v1", "m", wire=wire, timeout_s=20, total_deadline_s=100, retries=ONCE
        )
        with contextlib.suppress(ModelError):
            await client.complete(ASKED)
        await client.close()

    with HostileServer(lambda request: reply()) as server:
        asyncio.run(ask(server))


def sent_by_a_page(trial: Trial) -> None:
    """A page without end is cut off."""

    def reply() -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>"
        block = unit_of(trial) * 10_000
        for _ in range(GIGABYTE // len(block)):
            yield block

    with HostileServer(lambda request: reply()) as server, contextlib.suppress(FetchError):
        asyncio.run(fetcher_to(server.port, limits=FetchLimits()).fetch(server.url))
        raise AssertionError("a page of a gigabyte was taken")


def printed(trial: Trial) -> None:
    """A command that prints a gigabyte in one line is read at its ends, and the run goes on."""
    command = trial.random.choice(
        (
            "head -c 1G /dev/zero | tr '\\0' a",
            "yes 'The offer must be valid for at least three years.' | head -c 1G",
            "yes | tr -d '\\n' | head -c 1G; echo; echo three years",
        )
    )
    tried = attempt(
        trial.folder / "run",
        [turn("shell", cmd=command), final("I do not know.")],
        *("--sandbox", "host", "--max-steps", 4),
        question="How long?",
        files={"terms.txt": "Three years.\n"},
    )
    assert tried.code in (0, 3, 4), tried.ended.error
    assert tried.replay()[0] == 0


def in_a_file(trial: Trial) -> None:
    """A file of ours with a line of a gigabyte is refused with a sentence."""
    name, words = trial.random.choice(FILES)
    path = trial.folder / name
    if name.startswith("work/"):
        shutil.copytree(session(), trial.folder / "work")
        path.chmod(0o600)
    else:
        (trial.folder / "work").mkdir()
    path.parent.mkdir(exist_ok=True)
    write(path, GIGABYTE, trial.random.choice((b"a", b'{"a": ', b"[", WORDS, b"#")))
    ended = vera_here(*words, cwd=trial.folder)
    assert 0 < ended.code <= 6, ended
    assert len(ended.out + ended.error) < 20_000


FILES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("tasks.jsonl", ("batch", "tasks.jsonl")),
    ("q.csv", ("table", "q.csv", "--input-dir", "work")),
    ("q.jsonl", ("eval", "q.jsonl")),
    ("report.md", ("check", "report.md")),
    ("report.html", ("check", "report.html")),
    ("vera.yaml", ("config",)),
    (".env", ("config",)),
    ("lens.yaml", ("verify", "It is so.", "--lens", "./lens.yaml")),
    ("request.json", ("verify", "--request", "request.json")),
    ("work/trace.jsonl", ("replay", "work")),
    ("work/seal.json", ("replay", "work")),
    ("work/attestation.json", ("replay", "work")),
    ("bundle.zip", ("replay", "bundle.zip")),
)


def rare(name: str, attempt: Callable[[Trial], object], seconds: float, megabytes: int) -> Row:
    return Row(f"a line of 1 GB: {name}", attempt, seconds, megabytes, wall=900)


ROWS = (
    rare("a document", document, 300, 2500),
    rare("sent by a model server", sent_by_a_model, 120, 400),
    rare("sent as a web page", sent_by_a_page, 60, 150),
    rare("printed by a command", printed, 60, 400),
    rare("in a file of tasks, settings or a session", in_a_file, 60, 300),
)
