"""The index of a folder of mailboxes, archives and text: made, killed at three points, resumed, and asked.

    python benchmarks/corpus.py --containers --size-mb 1000

Half of the bytes are two mailboxes (some mails have an attachment), a fifth is zip and tar.gz archives, one
of which holds a mailbox, the rest plain files. Each index is made by `vera index` in a process of its own.
"""

import base64
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

from vera.corpus import Corpus
from vera.extraction.extractor import Extractor

MB = 1_000_000
KILLED_AT = (0.2, 0.5, 0.8)
MAIL_BYTES = 4000
ATTACHMENT_EVERY = 20

Texts = Iterator[bytes]


def collect(folder: Path, size_mb: int, texts: Texts) -> None:
    """Write the folder, unless it is there."""
    if (folder.parent / "complete").exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for number in (1, 2):
        with (folder / f"mail{number}.mbox").open("wb") as file:
            for mail in _mails(texts, size_mb * MB // 4):
                file.write(mail)
    _write_zip(folder / "documents.zip", texts, size_mb * MB // 10)
    _write_tar(folder / "more.tar.gz", texts, size_mb * MB // 20)
    _write_takeout(folder / "takeout.zip", texts, size_mb * MB // 20)
    held = sum(path.stat().st_size for path in folder.iterdir())
    for number, text in enumerate(texts):
        if held >= size_mb * MB:
            break
        path = folder / f"text/{number // 500:03}/{number:06}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
        held += len(text)
    (folder.parent / "complete").touch()


def _mails(texts: Texts, size: int) -> Iterator[bytes]:
    held = 0
    for number, text in enumerate(texts):
        for at in range(0, len(text), MAIL_BYTES):
            if held >= size:
                return
            mail = _mail(f"{number}.{at}", text[at : at + MAIL_BYTES], number % ATTACHMENT_EVERY == 0)
            held += len(mail)
            yield mail


def _mail(name: str, body: bytes, attaches: bool) -> bytes:
    quoted = body.replace(b"\nFrom ", b"\n>From ")
    head = (
        f"From sender@example.org Thu Jan  1 10:00:00 2026\nFrom: Sender <sender@example.org>\n"
        f"To: reader@example.org\nDate: Thu, 01 Jan 2026 10:00:00 +0000\nSubject: Text {name}\n"
    ).encode()
    if not attaches:
        return head + b"Content-Type: text/plain; charset=utf-8\n\n" + quoted + b"\n\n"
    return (
        head + b'Content-Type: multipart/mixed; boundary="b0undary"\n\n--b0undary\n'
        b"Content-Type: text/plain; charset=utf-8\n\nSee what is attached.\n--b0undary\n"
        b'Content-Type: text/plain; name="text.txt"\nContent-Transfer-Encoding: base64\n\n'
        + base64.encodebytes(body)
        + b"--b0undary--\n\n"
    )


def _write_zip(path: Path, texts: Texts, size: int) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number, text in enumerate(texts):
            archive.writestr(f"files/{number // 1000:03}/{number:06}.txt", text)
            if archive.fp is not None and archive.fp.tell() >= size:
                return


def _write_tar(path: Path, texts: Texts, size: int) -> None:
    with path.open("wb") as file, tarfile.open(fileobj=file, mode="w:gz", compresslevel=1) as archive:
        for number, text in enumerate(texts):
            info = tarfile.TarInfo(f"files/{number:06}.txt")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))
            if file.tell() >= size:
                return


def _write_takeout(path: Path, texts: Texts, size: int) -> None:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("Takeout/Mail/All mail.mbox", "w", force_zip64=True) as file,
    ):
        for mail in _mails(texts, 1 << 60):
            file.write(mail)
            if archive.fp is not None and archive.fp.tell() >= size:
                return


def measure(
    home: Path, folder: Path, asked: Callable[[Corpus, Path], Iterator[tuple[str, str]]]
) -> Iterator[tuple[str, str]]:
    """The rows of the table. `asked` gives those of the queries over an index."""
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    files = sum(path.is_file() for path in folder.rglob("*"))
    yield "folder", f"{size / MB:.0f} MB on the disk in {files} files"
    whole = _Run(home / "undisturbed", folder)
    seconds, peak = whole.finish()
    told = whole.told()
    rate, text_rate = size / MB / seconds, told["text_bytes"] / MB / seconds
    yield (
        "`vera index`, undisturbed",
        f"{rate:.1f} MB/s of files, {text_rate:.1f} MB/s of text: {told['documents']} documents, "
        f"{told['text_bytes'] / MB:.0f} MB of text, {seconds:.0f} s",
    )
    yield "peak memory, all its processes", f"{peak / MB:.0f} MB"
    yield "index on disk", f"{told['disk_bytes'] / MB:.0f} MB"
    again, _ = _Run(home / "undisturbed", folder).finish()
    yield "the same again, nothing changed", f"{again:.1f} s"
    yield from killed(home, folder, told)
    with (folder / "mail1.mbox").open("ab") as file:
        file.write(_mail("appended", b"A mail about the zymurgist of Aarhus.\n", attaches=False))
    grown, _ = _Run(home / "undisturbed", folder).finish()
    yield "one mail appended to a mailbox of a quarter of it", f"{grown:.1f} s"
    with Extractor() as extractor, Corpus(folder, whole.place(), extractor) as corpus:
        yield from asked(corpus, whole.place())
        (hit,) = corpus.search("zymurgist of Aarhus", limit=1).hits
        began = time.perf_counter()
        corpus.document(hit.path)
        yield "the bytes of the last mail, read for a citation", f"{time.perf_counter() - began:.3f} s"
        inner = [name for name in corpus.names(1 << 30) if name.startswith("takeout.zip")][-1]
        began = time.perf_counter()
        corpus.document(inner)
        yield "those of the last mail in a mailbox in a zip", f"{time.perf_counter() - began:.3f} s"


def killed(home: Path, folder: Path, told: dict[str, int]) -> Iterator[tuple[str, str]]:
    """The same index, made by processes that are killed on the way; `told` is that of an undisturbed one."""
    documents = told["documents"] + told["unreadable_count"]
    took = [_Run(home / "killed", folder).kill_at(int(share * documents)) for share in KILLED_AT]
    rest, _ = _Run(home / "killed", folder).finish()
    same = _Run(home / "killed", folder).told()["digest"] == told["digest"]
    done = ", ".join(f"{share:.0%}" for share in KILLED_AT)
    yield f"kill -9 at {done} of the documents, and resumed", f"{sum(took) + rest:.0f} s in all"
    yield "**the same digest**", "**yes**" if same else "**NO**"


class _Run:
    """`vera index` in a process of its own, with a cache of its own."""

    def __init__(self, cache: Path, folder: Path) -> None:
        self._cache = cache
        self._folder = folder

    def place(self) -> Path:
        return next((self._cache / "vera/index").iterdir())

    def finish(self) -> tuple[float, int]:
        """Seconds, and the peak memory of the process and those it started, in bytes."""
        began = time.perf_counter()
        process = self._start()
        peak = _Peak(process.pid)
        error = process.communicate()[1]
        seconds, most = time.perf_counter() - began, peak.end()
        if process.returncode:
            raise SystemExit(error)
        return seconds, most

    def kill_at(self, documents: int) -> float:
        """Kill it once so many documents are committed; the seconds it had."""
        began = time.perf_counter()
        process = self._start()
        while self._committed() < documents:
            time.sleep(0.2)
            if process.poll() is not None:
                raise SystemExit(f"It ended before {documents} documents: {process.communicate()[1]}")
        process.kill()
        process.communicate()
        return time.perf_counter() - began

    def _committed(self) -> int:
        """The number of the last document that other processes can see."""
        found = next(self._cache.glob("vera/index/*/index.sqlite"), None)
        if found is None:
            return 0
        with closing(sqlite3.connect(f"file:{found}?mode=ro", uri=True)) as db, suppress(sqlite3.Error):
            row = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'file'").fetchone()
            return int(row[0]) if row else 0
        return 0

    def told(self) -> dict[str, int]:
        """What `--status --json` says."""
        done = subprocess.run(
            self._command("--status", "--json"),
            env=self._environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        told: dict[str, int] = json.loads(done.stdout)
        return told

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self._command(),
            env=self._environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def _command(self, *more: str) -> list[str]:
        return [sys.executable, "-m", "vera", "index", str(self._folder), *more]

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "XDG_CACHE_HOME": str(self._cache)}


class _Peak:
    """The largest sum of resident memory of a process and its children, looked at ten times a second."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._most = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def end(self) -> int:
        self._ended.set()
        self._thread.join()
        return self._most

    def _watch(self) -> None:
        while not self._ended.wait(0.1):
            self._most = max(self._most, sum(map(_resident, [self._pid, *_children(self._pid)])))


def _children(pid: int) -> list[int]:
    try:
        tasks = Path(f"/proc/{pid}/task").iterdir()
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
