"""How often the lines that answer are among the first hits: by words, by meaning, and by both.

    python benchmarks/retrieval.py --prepare DIR
    python benchmarks/retrieval.py --texts DIR [--embedding NAME]... [--half held-out] [--misses]

`--prepare` downloads Debian's packages of SOURCES and lays pages out in DIR: those of at most 10 kB, and
those that hold an answer. The questions lie in benchmarks/manuals/retrieval.jsonl: each fact is asked
nearly in the manual's words and in other words. Half of the facts (`dev`) served to choose how both
scores are weighed; the other half (`held-out`) is what is reported. A hit is right when its lines hold one
of the expected wordings. Indexes are kept beside the texts, so that a second run embeds nothing.

Without --embedding all of EMBEDDINGS are compared: a static table (benchmarks/static_vectors.py), MiniLM
by numpy, and the same weights as a GGUF file at the embeddings endpoint of our llama.cpp. NAME is one of
these, or what the setting search.embedding takes.
"""

import argparse
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import psutil
from extractive import plain
from minilm_gguf import write_minilm
from static_vectors import Static

from vera.corpus import Corpus, Found
from vera.embedding import Embedder
from vera.embedding.choose import minilm, open_embedder
from vera.extraction.extractor import Extractor

QUESTIONS = Path(__file__).resolve().parent / "manuals" / "retrieval.jsonl"
EMBEDDINGS = ("static", "minilm", "server")
HALVES = ("held-out", "dev")
CLASSES = ("near", "paraphrased")
RANKS = (1, 3, 6)
SMALL_PAGE = 10_000
SOURCES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "handbook": (("debian-handbook", "usr/share/doc/debian-handbook/html/en-US/*.html", ""),),
    "sqlite": (("sqlite3-doc", "usr/share/doc/sqlite3/*.html", ""),),
    "apache": (
        ("apache2-doc", "usr/share/doc/apache2-doc/manual/en/*.html", ""),
        ("apache2-doc", "usr/share/doc/apache2-doc/manual/en/howto/*.html", "howto-"),
        ("apache2-doc", "usr/share/doc/apache2-doc/manual/en/misc/*.html", "misc-"),
        ("apache2-doc", "usr/share/doc/apache2-doc/manual/en/programs/*.html", "programs-"),
        ("apache2-doc", "usr/share/doc/apache2-doc/manual/en/mod/*.html", "mod-"),
    ),
}
"""Corpus: Debian package, its pages, and what is put before a page's name."""
WHOLE = frozenset(("handbook",))
"""Corpora of which every page is taken."""
NO_PAGES = (
    "index.html",
    "new_features",
    "changes.html",
    "news.html",
    "oldnews.html",
    "doc_",
    "keyword_index",
)


class Question(msgspec.Struct, frozen=True):
    """A question; the page that answers it, and the wordings of which the lines have to hold one."""

    corpus: str
    half: str
    kind: str = msgspec.field(name="class")
    question: str
    file: str
    answer: tuple[str, ...]

    def rank(self, found: Found) -> int:
        """The rank of the first hit that is right, 0 for none."""
        wanted = [plain(words) for words in self.answer]
        ranks = (
            at for at, hit in enumerate(found.hits, 1) if any(each in plain(hit.text) for each in wanted)
        )
        return next(ranks, 0)


class Asked(msgspec.Struct, frozen=True):
    """The rank at which a question was answered, and the milliseconds that it took."""

    question: Question
    rank: int
    took: float


def load(half: str) -> list[Question]:
    """The questions of one half."""
    decode = msgspec.json.Decoder(Question).decode
    return [each for each in map(decode, QUESTIONS.read_bytes().splitlines()) if each.half == half]


def prepare(folder: Path) -> None:
    """Download the packages of SOURCES and copy their pages into `folder`."""
    answers = {(each.corpus, each.file) for half in HALVES for each in load(half)}
    with tempfile.TemporaryDirectory() as scratch:
        packages = sorted({package for rows in SOURCES.values() for package, _, _ in rows})
        subprocess.run(["apt-get", "-qq", "download", *packages], cwd=scratch, check=True)
        for package in packages:
            archive = next(Path(scratch).glob(f"{package}_*.deb"))
            subprocess.run(["dpkg-deb", "-x", archive, Path(scratch, package)], check=True)
        for corpus, rows in SOURCES.items():
            (folder / corpus).mkdir(parents=True, exist_ok=True)
            for package, pages, prefix in rows:
                for page in sorted(Path(scratch, package).glob(pages)):
                    name = f"{prefix}{page.name}"
                    small = page.stat().st_size <= SMALL_PAGE and not page.name.startswith(NO_PAGES)
                    whole = corpus in WHOLE and page.name not in NO_PAGES
                    if small or whole or (corpus, name) in answers:
                        shutil.copyfile(page, folder / corpus / name)


def ask(corpus: Corpus, questions: Sequence[Question]) -> Iterator[Asked]:
    """Each question with the rank of its answer."""
    corpus.search("warm up")
    for question in questions:
        began = time.perf_counter()
        found = corpus.search(question.question, max(RANKS))
        yield Asked(question, question.rank(found), 1000 * (time.perf_counter() - began))


def by_words(texts: Path, questions: Sequence[Question]) -> list[Asked]:
    """What was asked of an index without vectors."""
    played: list[Asked] = []
    with Extractor() as extractor:
        for name in SOURCES:
            cache = (texts / f".index-{name}").resolve()
            with Corpus((texts / name).resolve(), cache, extractor) as corpus:
                corpus.update()
                played += ask(corpus, [each for each in questions if each.corpus == name])
    return played


def by_both(
    texts: Path, embedding: str, questions: Sequence[Question], played: dict[str, list[Asked]]
) -> str:
    """Add what was asked by meaning alone and by both; returns what the embedding costs."""
    before = _held()
    embedder, megabytes = opened(embedding, texts)
    held, cpu, passages, growth = _held() - before, 0.0, 0, 0
    alone, both = played.setdefault(f"{embedding} alone", []), played.setdefault(f"words, {embedding}", [])
    with Extractor() as extractor:
        for name in SOURCES:
            mine = [each for each in questions if each.corpus == name]
            cache = (texts / f".index-{name}-{embedding.replace('/', '_')}").resolve()
            first = not cache.exists()
            with Corpus((texts / name).resolve(), cache, extractor, embedder) as corpus:
                corpus.update()
                began = _cpu()
                report = corpus.embed()
                if report.problem:
                    raise SystemExit(report.problem)
                if first:
                    cpu, passages = cpu + _cpu() - began, passages + _counted(cache)[0]
                both += ask(corpus, mine)
                alone += ask(_ByMeaning(corpus), mine)
            growth += _counted(cache)[1]
    embedder.close()
    each = f"{1000 * cpu / passages:.1f} ms of CPU a passage ({passages})" if passages else "embedded before"
    return (
        f"{embedding}: {megabytes:.0f} MB on the disk, {held:.0f} MB held, {each}, "
        f"{growth / 1e6:.1f} MB of vectors in the index"
    )


def opened(embedding: str, texts: Path) -> tuple[Embedder, float]:
    """The embedder of that name, and the megabytes of its file (0: not known)."""
    if embedding == "static":
        static = Static()
        return static, static.megabytes
    file = minilm() if embedding == "minilm" else Path(embedding)
    if embedding == "server":
        file = texts / ".minilm.gguf"
        if not file.is_file():
            write_minilm(file)
        embedding = str(file)
    embedder = open_embedder(embedding)
    assert embedder is not None
    return embedder, file.stat().st_size / 1e6 if file.is_file() else 0.0


def _cpu() -> float:
    """Seconds of processor time of this process and its children."""
    mine = psutil.Process()
    each = [process.cpu_times() for process in (mine, *mine.children(recursive=True))]
    return sum(times.user + times.system for times in each)


def _held() -> float:
    """Megabytes in memory of this process and its children."""
    mine = psutil.Process()
    return sum(process.memory_info().rss for process in (mine, *mine.children(recursive=True))) / 1e6


def _counted(cache: Path) -> tuple[int, int]:
    """How many passages have vectors, and the bytes of these."""
    with sqlite3.connect(cache / "index.sqlite") as db:
        row = db.execute("SELECT sum(length(lines)) / 4, sum(length(lines) + length(numbers)) FROM vector")
        passages, size = row.fetchone()
    return passages or 0, size or 0


class _ByMeaning:
    """A corpus of which only the order by cosine is looked at."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    def search(self, query: str, limit: int = 8) -> Found:
        from vera.corpus import search as searching

        kept = searching._weight
        searching._weight = lambda by_words: 0.0
        try:
            return self._corpus.search(query, limit)
        finally:
            searching._weight = kept


def rows(played: dict[str, list[Asked]]) -> Iterator[str]:
    """The table: recall at each rank, and the median milliseconds of a query."""
    yield f"{'':18} {'questions':14} {'n':>3}  " + "".join(f"{f'@{rank}':>5}" for rank in RANKS) + "   ms"
    for name, asked in played.items():
        for kind in CLASSES:
            mine = [each for each in asked if each.question.kind == kind]
            hits = [sum(0 < each.rank <= rank for each in mine) for rank in RANKS]
            took = statistics.median(each.took for each in mine)
            yield f"{name:18} {kind:14} {len(mine):3}  " + "".join(f"{n:5}" for n in hits) + f"  {took:5.0f}"


def main() -> None:
    """Prepare the texts, or ask the questions and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--prepare", type=Path, metavar="DIR", help="download the manuals into DIR")
    parser.add_argument("--texts", type=Path, metavar="DIR", help="the folder that --prepare has made")
    parser.add_argument(
        "--embedding", action="append", metavar="NAME", help=f"one of {', '.join(EMBEDDINGS)}, or a setting"
    )
    parser.add_argument("--half", choices=HALVES, default=HALVES[0])
    parser.add_argument("--misses", action="store_true", help="show what hybrid search did not find")
    arguments = parser.parse_args()
    if arguments.prepare:
        prepare(arguments.prepare)
    if arguments.texts:
        questions = load(arguments.half)
        played = {"words": by_words(arguments.texts, questions)}
        for embedding in arguments.embedding or EMBEDDINGS:
            print(by_both(arguments.texts, embedding, questions, played), flush=True)
        print("\n".join(rows(played)))
        if arguments.misses:
            print(
                "\n".join(
                    f"{each.question.kind}: {each.question.question}"
                    for each in played[list(played)[-1]]
                    if not each.rank
                )
            )


if __name__ == "__main__":
    main()
