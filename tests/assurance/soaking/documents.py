"""Gigabytes of documents: indexed while the folder grows, and indexed again while it changes."""

import random
import shutil
import time
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from assurance.batteries import Trial
from assurance.soaking.series import MB, Series, disk, family, held
from support.documents import make_docx, make_pdf, paragraph
from vera.corpus import Corpus
from vera.extraction.extractor import Extractor

SYLLABLES = ("ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "stra", "ent", "ung")
FILE_BYTES = 100_000
FOLDER_FILES = 500
CHANGED = 0.04
"""Of all files, the share that a round changes: half of them in place, and a quarter each removed and new."""
SUFFIXES = {1: ".docx", 2: ".pdf", 3: ".html"}
"""Of twenty files; the others are plain text."""
QUERIES = 5


class Folder:
    """A folder of made-up documents; what it does is decided by a seed."""

    def __init__(self, place: Path, seed: str) -> None:
        self.place = place
        self.files: list[Path] = []
        self._dice = random.Random(seed)
        self._made = 0
        draw = self._dice
        self._words = ["".join(draw.choices(SYLLABLES, k=draw.randint(1, 4))) for _ in range(30_000)]
        often = list(accumulate(1 / rank for rank in range(1, len(self._words) + 1)))
        self._paragraphs = [
            "\n".join(" ".join(draw.choices(self._words, cum_weights=often, k=12)) + "." for _ in range(6))
            for _ in range(4000)
        ]

    def grow(self, size: int) -> None:
        """More files, of so many bytes together."""
        while size > 0:
            size -= self._add()

    def change(self) -> None:
        """Change some files, remove some, add as many."""
        count = max(4, int(CHANGED * len(self.files)))
        chosen = self._dice.sample(self.files, count)
        for path in chosen[: count // 4]:
            path.unlink()
        gone = set(chosen[: count // 4])
        self.files = [path for path in self.files if path not in gone]
        for path in chosen[count // 2 :]:
            path.write_bytes(self._content(path.suffix))
        for _ in gone:
            self._add()

    def queries(self) -> Iterator[str]:
        for _ in range(QUERIES):
            yield " ".join(self._dice.choices(self._words[50:5000], k=3))

    def _add(self) -> int:
        self._made += 1
        suffix = SUFFIXES.get(self._made % 20, ".txt")
        path = self.place / f"{self._made // FOLDER_FILES}" / f"document{self._made}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        content = self._content(suffix)
        path.write_bytes(content)
        self.files.append(path)
        return len(content)

    def _content(self, suffix: str) -> bytes:
        """A document like no other: its paragraphs are drawn, and each has a number of its own."""
        paragraphs = FILE_BYTES // 500 if suffix == ".txt" else 20
        drawn = self._dice.choices(self._paragraphs, k=1 + int(self._dice.expovariate(1 / paragraphs)))
        start = self._dice.randrange(1_000_000_000)
        parts = [f"Paragraph {start + place}.\n{each}" for place, each in enumerate(drawn)]
        match suffix:
            case ".docx":
                return make_docx("".join(map(paragraph, parts)))
            case ".pdf":
                return make_pdf(*(each.split("\n") for each in parts))
            case ".html":
                return ("<!doctype html><body>" + "".join(f"<p>{each}</p>\n" for each in parts)).encode()
            case _:
                return "\n\n".join(parts).encode()


def indexed(
    trial: Trial, megabytes: int, times: int, growing: dict[str, float], changing: dict[str, float]
) -> None:
    """A folder grows to so many MB in so many times, and changes as often; its index is brought after it.

    What the process holds does not grow with the folder by more than `growing`, nor with the rounds by more
    than `changing`, and the index of a folder that stays as large stays below twice its size.
    """
    place, index = trial.folder / "documents", trial.folder / "index"
    folder = Folder(place, f"{megabytes} {trial.number}")
    extractor = Extractor()
    grown, changed = Series("GB of documents"), Series("round of changes")
    try:
        with Corpus(place, index, extractor) as corpus:
            for part in range(1, times + 1):
                folder.grow(megabytes * MB // times)
                grown.note(part * megabytes / times / 1000, updated(corpus, folder, index))
            full = disk(index)
            for part in range(times):
                folder.change()
                measured = updated(corpus, folder, index)
                changed.note(part, measured)
                assert measured["index on disk, MB"] < 2 * full + 10, (measured, full)
    finally:
        extractor.close()
        shutil.rmtree(place)
        shutil.rmtree(index)
    trial.figures |= {"documents, MB": megabytes, "index of all, MB": full}
    grown.judge(trial, growing)
    changed.judge(trial, changing)


def updated(corpus: Corpus, folder: Folder, index: Path) -> dict[str, float]:
    """Bring the index after the folder, ask it, and measure both."""
    began = time.monotonic()
    report = corpus.update()
    took = time.monotonic() - began
    assert (report.files, report.unreadable) == (len(folder.files), ()), report
    began = time.monotonic()
    for query in folder.queries():
        corpus.search(query)
    asked = time.monotonic() - began
    return held("", *family()) | {
        "index on disk, MB": disk(index),
        "indexed, MB/s": report.bytes / MB / took,
        "a query, ms": 1000 * asked / QUERIES,
    }
