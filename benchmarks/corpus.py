"""The corpus index over real text: how fast it is built, kept and asked, beside bare FTS5 and ripgrep.

    python benchmarks/corpus.py                    # 1 GB, a few minutes, 3 GB of disk while it runs
    python benchmarks/corpus.py --size-mb 50       # a trial
    python benchmarks/corpus.py --containers       # mailboxes and archives instead (corpus_containers.py)

Collects unique text and HTML files of this machine (and writes PDF files from that text) into a folder,
indexes them, and prints one table. Both sides of each comparison run in this one run, so a busy or slow
machine moves both.
"""

import argparse
import datetime
import hashlib
import os
import platform
import random
import re
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import corpus_containers

from vera.corpus import Corpus
from vera.corpus.chunks import cut
from vera.corpus.schema import bulk_settings, connect
from vera.corpus.tokens import TOKENIZER, spaced
from vera.extraction import canonical
from vera.extraction.extractor import Extractor
from vera.extraction.source import Unreadable
from vera.text.stopwords import ENGLISH

ROOTS = ("/usr/share", "/usr/include", "/usr/lib", "/usr/local", "/opt", sys.prefix)
SMALLEST, LARGEST = 500, 3_000_000
QUERIES_A_KIND = 40
RIPGREP_RUNS = 7
BARE_BATCH = 64 << 20
PDF_PAGES = 20
PDF_LINES = 50
MB = 1_000_000
WORD = re.compile(r"[A-Za-z]{4,16}")
CHINESE = (
    "独立性要求每项结论由两个来源支持，证据链记录每一个字节的散列值。",
    "研究即验证：没有证据卡片就不能断言，检索结果必须可以复核。",
    "日志只追加不修改，任何人都可以重新计算签名并比较结果。",
    "検証できない主張は未解決のまま残し、出典の行番号を示す。",
    "검증되지 않은 주장은 근거와 함께 보류하고 출처를 기록한다.",
)
CHINESE_QUERIES = (
    "证据链",
    "散列值",
    "独立性",
    "研究即验证",
    "检索结果",
    "签名",
    "検証",
    "出典",
    "근거",
    "주장",
)


def main() -> None:
    arguments = _arguments()
    home = Path(arguments.dir or tempfile.mkdtemp(prefix="vera-corpus-"))
    try:
        _print_machine()
        if arguments.containers:
            texts = endless([*ROOTS, *arguments.root])
            corpus_containers.collect(home / "containers/input", arguments.size_mb, texts)
            _print_table(list(corpus_containers.measure(home, home / "containers/input", _asking_containers)))
            return
        plain, html, pdf = _collect(home / "corpus", arguments.size_mb, [*ROOTS, *arguments.root])
        rows = [*_building(home, plain), *_asking(home, plain), *_formats(home, html, pdf)]
        _print_table(rows)
    finally:
        if not arguments.keep and not arguments.dir:
            shutil.rmtree(home, ignore_errors=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size-mb", type=int, default=1000, help="plain text to collect (default 1000)")
    parser.add_argument("--dir", help="folder for corpus and indexes; reused and kept when it is there")
    parser.add_argument("--root", action="append", default=[], help="a further folder to collect from")
    parser.add_argument("--containers", action="store_true", help="mailboxes and archives instead of files")
    parser.add_argument("--keep", action="store_true", help="keep the temporary folder")
    return parser.parse_args()


def _collect(folder: Path, size_mb: int, roots: Sequence[str]) -> tuple[Path, Path, Path]:
    """The folders of plain text, HTML and PDF; made unless they are there."""
    plain, html, pdf = folder / "plain", folder / "html", folder / "pdf"
    if (folder / "complete").exists():
        return plain, html, pdf
    shutil.rmtree(folder, ignore_errors=True)
    wanted = {plain: size_mb * MB, html: max(size_mb // 10, 5) * MB}
    held = dict.fromkeys(wanted, 0)
    for source, data, target in _texts(roots, plain, html):
        if held[target] >= wanted[target]:
            if all(held[place] >= wanted[place] for place in wanted):
                break
            continue
        write(target / source.relative_to("/"), data)
        held[target] += len(data)
    real = held[plain]
    _repeat(plain, wanted[plain] - real)
    for number, sentence in enumerate(CHINESE * 20):
        write(plain / f"cjk/{number:03d}.txt", f"{number}\n{sentence}\n".encode())
    _write_pdfs(plain, pdf, documents=max(size_mb // 10, 3))
    (folder / "complete").touch()
    print(f"collected {real / MB:.0f} MB of unique text, {held[html] / MB:.0f} MB of HTML", flush=True)
    return plain, html, pdf


def _texts(roots: Sequence[str], plain: Path, html: Path) -> Iterator[tuple[Path, bytes, Path]]:
    """Unique text files of this machine, with the folder in which each belongs."""
    seen: set[bytes] = set()
    for root in dict.fromkeys(roots):
        for folder, inner, names in os.walk(root):
            inner.sort()
            for name in sorted(names):
                path = Path(folder, name)
                if path.is_symlink() or not path.is_file() or not SMALLEST < path.stat().st_size < LARGEST:
                    continue
                try:
                    data = path.read_bytes()
                    data.decode()
                    kind = canonical.format_of(data, name).name
                except (OSError, UnicodeDecodeError, Unreadable):
                    continue
                digest = hashlib.sha256(data).digest()
                target = {"txt": plain, "md": plain, "html": html}.get(kind)
                if target is not None and digest not in seen:
                    seen.add(digest)
                    yield path, data, target


def endless(roots: Sequence[str]) -> Iterator[bytes]:
    """Plain texts of this machine, then variants of them without end."""
    here = Path()
    paths = []
    for path, data, target in _texts(roots, here / "plain", here / "html"):
        if target.name == "plain":
            paths.append(path)
            yield data
    copy = 0
    while paths:
        copy += 1
        for path in paths:
            yield _variant(path.read_bytes(), copy)


def _variant(data: bytes, copy: int) -> bytes:
    """The text with another last letter in every tenth word."""
    words = data.split(b" ")
    words[::10] = [word[:-1] + b"%d" % (copy % 10) if word.isalpha() else word for word in words[::10]]
    return b" ".join(words)


def _asking_containers(corpus: Corpus, place: Path) -> Iterator[tuple[str, str]]:
    corpus.search("warm up")
    total: list[float] = []
    for kind, drawn in queries(corpus.root / "text", place).items():
        took = [milliseconds(lambda query=query: corpus.search(query)) for query, _ in drawn]
        total += took
        yield f"query, {kind}", f"p50 {percentile(took, 50):.0f} ms, p95 {percentile(took, 95):.0f} ms"
    yield (
        "query, all kinds",
        f"p50 {percentile(total, 50):.0f} ms, p95 {percentile(total, 95):.0f} ms",
    )


def _repeat(folder: Path, missing: int) -> None:
    """Fill up with variants of what is there: every tenth word has another last letter."""
    originals = sorted(path for path in folder.rglob("*") if path.is_file())
    for copy in range(1, 100):
        for path in originals:
            if missing <= 0:
                return
            data = _variant(path.read_bytes(), copy)
            write(folder / f"variant{copy}" / path.relative_to(folder), data)
            missing -= len(data)


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _building(home: Path, plain: Path) -> Iterator[tuple[str, str]]:
    """The bare rate is measured before and after ours, so that a load that changes meanwhile shows."""
    cache = home / "index"
    shutil.rmtree(cache, ignore_errors=True)
    before, cpu_before, chunks = _bare_rate(plain, home / "bare.sqlite")
    with Extractor() as extractor, Corpus(plain, cache, extractor) as corpus:
        began_cpu = time.process_time()
        report = corpus.update()
        cpu = time.process_time() - began_cpu
        size = sum(path.stat().st_size for path in cache.iterdir())
        unchanged = corpus.update()
        changed = plain / "cjk/000.txt"
        changed.write_text(changed.read_text() + "changed\n")
        one_changed = corpus.update()
    after, cpu_after, _ = _bare_rate(plain, home / "bare.sqlite")
    rate, cpu_rate = report.bytes / MB / report.seconds, report.bytes / MB / cpu
    bare, cpu_bare = statistics.mean((before, after)), statistics.mean((cpu_before, cpu_after))
    yield "bare FTS5 inserts of the same chunks", f"{before:.1f} and {after:.1f} MB/s, {chunks} chunks"
    yield "index of plain text", f"{rate:.1f} MB/s, {report.bytes / MB:.0f} MB in {report.files} files"
    yield "index : bare (wanted 0.6)", f"{rate / bare:.2f}"
    yield "the same by CPU time of both threads", f"{cpu_rate / cpu_bare:.2f}"
    yield "index on disk", f"{size / MB:.0f} MB, {size / report.bytes:.0%} of the text"
    yield "update, nothing changed", f"{unchanged.seconds:.2f} s"
    yield "update, one file changed", f"{one_changed.seconds:.2f} s"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield "peak memory of this process so far", f"{peak:.0f} MB"


def _bare_rate(plain: Path, path: Path) -> tuple[float, float, int]:
    """MB/s by wall and by CPU, and the number of chunks: only the inserts are timed."""
    path.unlink(missing_ok=True)
    db = connect(path)
    db.execute(f"CREATE VIRTUAL TABLE body USING fts5(text, content='', tokenize='{TOKENIZER}')")
    bulk_settings(db)
    size = wall = cpu = 0.0
    chunks = 0
    for batch, length in _batches(plain):
        began, began_cpu = time.perf_counter(), time.process_time()
        db.execute("BEGIN")
        db.executemany("INSERT INTO body(rowid, text) VALUES (?, ?)", enumerate(batch, chunks + 1))
        db.execute("COMMIT")
        wall += time.perf_counter() - began
        cpu += time.process_time() - began_cpu
        size += length
        chunks += len(batch)
    db.close()
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    return size / MB / wall, size / MB / cpu, chunks


def _batches(plain: Path) -> Iterator[tuple[list[str], int]]:
    batch: list[str] = []
    size = 0
    for file in sorted(plain.rglob("*")):
        if not file.is_file():
            continue
        data = file.read_bytes()
        text = canonical.extract(data, file.name).text
        batch += [spaced(text[start:end].decode()) for start, end, _ in cut(text)]
        size += len(data)
        if size >= BARE_BATCH:
            yield batch, size
            batch, size = [], 0
    if batch:
        yield batch, size


def _asking(home: Path, plain: Path) -> Iterator[tuple[str, str]]:
    kinds = queries(plain, home / "index")
    ripgrep = shutil.which("rg")
    if ripgrep is None:
        print("ripgrep is missing: no comparison (apt-get install ripgrep)", file=sys.stderr)
    ours_all: list[float] = []
    theirs_all: list[float] = []
    with Extractor() as extractor, Corpus(plain, home / "index", extractor) as corpus:
        corpus.search("warm up")
        for kind, drawn in kinds.items():
            ours = [milliseconds(lambda query=query: corpus.search(query)) for query, _ in drawn]
            ours_all += ours
            line = f"p50 {percentile(ours, 50):.0f} ms, p95 {percentile(ours, 95):.0f} ms"
            if ripgrep is not None:
                _ripgrep(ripgrep, drawn[0][1], plain)
                theirs = [
                    milliseconds(lambda one=one: _ripgrep(ripgrep, one, plain))
                    for _, one in drawn[:RIPGREP_RUNS]
                ]
                theirs_all += theirs
                median = statistics.median(theirs)
                line += f"; rg median {median:.0f} ms; p95 is {percentile(ours, 95) / median:.2f} of it"
            yield f"query, {kind} ({len(drawn)})", line
    line = f"p50 {percentile(ours_all, 50):.0f} ms, p95 {percentile(ours_all, 95):.0f} ms"
    if theirs_all:
        median = statistics.median(theirs_all)
        line += (
            f"; rg median {median:.0f} ms; p95 is {percentile(ours_all, 95) / median:.2f} of it (wanted 0.5)"
        )
    yield "query, all kinds", line


def queries(plain: Path, index: Path) -> dict[str, list[tuple[str, str]]]:
    """By kind: pairs of our query and the regular expression for ripgrep, drawn from the text itself."""
    draw = random.Random(20261121)
    files = sorted(path for path in plain.rglob("*") if path.is_file() and "cjk" not in path.parts)
    db = sqlite3.connect(index / "index.sqlite")

    def frequency(word: str) -> int:
        limited = "SELECT count(*) FROM (SELECT 1 FROM body WHERE body MATCH ? LIMIT 100000)"
        return int(db.execute(limited, (f'"{word}"',)).fetchone()[0])

    passages = []
    while len(passages) < 6 * QUERIES_A_KIND:
        text = draw.choice(files).read_text(errors="replace")
        start = draw.randrange(max(len(text) - 1500, 1))
        words = [word.lower() for word in WORD.findall(text[start : start + 1500])]
        telling = [word for word in dict.fromkeys(words) if word not in ENGLISH]
        phrases = re.findall(
            r"\b([A-Za-z]{3,12} [A-Za-z]{3,12} [A-Za-z]{3,12})\b", text[start : start + 1500]
        )
        if len(telling) >= 12 and phrases:
            passages.append((telling, draw.choice(phrases)))
    counted = {word: frequency(word) for words, _ in passages for word in words}
    db.close()
    by_frequency = sorted(counted, key=lambda word: (counted[word], word))
    rare = draw.sample(by_frequency[: len(by_frequency) // 4], QUERIES_A_KIND)
    common = by_frequency[-QUERIES_A_KIND:]
    pairs = [draw.sample(words, 2) for words, _ in passages[:QUERIES_A_KIND]]
    phrases = [phrase for _, phrase in passages[QUERIES_A_KIND : 2 * QUERIES_A_KIND]]
    questions = [draw.sample(words, 7) for words, _ in passages[2 * QUERIES_A_KIND : 3 * QUERIES_A_KIND]]
    return {
        "rare word": [(word, word) for word in rare],
        "common word": [(word, word) for word in common],
        "two words": [(" ".join(pair), "|".join(pair)) for pair in pairs],
        "phrase": [(f'"{phrase}"', phrase) for phrase in phrases],
        "Chinese, Japanese, Korean": [(word, word) for word in CHINESE_QUERIES],
        "question": [
            (
                f"What is the {one[0]} {one[1]} of a {one[2]} when {one[3]} {one[4]} does {one[5]} {one[6]}?",
                "|".join(one),
            )
            for one in questions
        ],
    }


def _ripgrep(program: str, pattern: str, folder: Path) -> None:
    """The least that ripgrep can be asked for: which files match."""
    command = [program, "--no-config", "-uuu", "-l", "-i", "-e", pattern, str(folder)]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)


def milliseconds(do: Callable[[], object]) -> float:
    began = time.perf_counter()
    do()
    return (time.perf_counter() - began) * 1000


def percentile(values: list[float], percent: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def _formats(home: Path, html: Path, pdf: Path) -> Iterator[tuple[str, str]]:
    for name, folder in (("HTML", html), ("PDF", pdf)):
        cache = home / f"index-{name}"
        shutil.rmtree(cache, ignore_errors=True)
        with Extractor() as extractor, Corpus(folder, cache, extractor) as corpus:
            report = corpus.update()
            text = corpus.stats().bytes
        files_rate, text_rate = report.bytes / MB / report.seconds, text / MB / report.seconds
        rate = f"{files_rate:.1f} MB/s of files, {text_rate:.1f} MB/s of text"
        pages = f", {report.files * PDF_PAGES / report.seconds:.0f} pages/s" if name == "PDF" else ""
        yield f"index of {name}", f"{rate}{pages} ({report.files} files, {report.bytes / MB:.0f} MB)"


def _write_pdfs(plain: Path, folder: Path, documents: int) -> None:
    """PDF files of the plain text, one font, 50 lines a page: the smallest honest form of the format."""
    lines: list[str] = []
    files = iter(sorted(path for path in plain.rglob("*") if path.is_file()))
    for number in range(documents):
        while len(lines) < PDF_PAGES * PDF_LINES:
            text = next(files).read_text(errors="replace")
            lines += [line[:95] for line in text.splitlines() if line.strip()]
        here, lines = lines[: PDF_PAGES * PDF_LINES], lines[PDF_PAGES * PDF_LINES :]
        pages = [here[at : at + PDF_LINES] for at in range(0, len(here), PDF_LINES)]
        write(folder / f"{number:04d}.pdf", _pdf(pages))


def _pdf(pages: list[list[str]]) -> bytes:
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>",
    ]
    for number, lines in enumerate(pages):
        shown = [re.sub(r"([\\()])", r"\\\1", line).encode("latin-1", "replace") for line in lines]
        content = b"BT /F1 9 Tf 40 780 Td 14 TL " + b" ".join(b"(%s) Tj T*" % line for line in shown) + b" ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    data, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(data))
    return data + b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table + trailer


def _print_machine() -> None:
    load = os.getloadavg()[0]
    print(
        f"{datetime.date.today()}, {platform.platform()}, {os.cpu_count()} CPUs, load {load:.1f} at the start"
    )
    print(
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {_ripgrep_version()}",
        flush=True,
    )


def _ripgrep_version() -> str:
    program = shutil.which("rg")
    if program is None:
        return "no ripgrep"
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return said.split("\n")[0]


def _print_table(rows: list[tuple[str, str]]) -> None:
    print("\n| what | measured |\n|---|---|")
    for name, value in rows:
        print(f"| {name} | {value} |")
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
