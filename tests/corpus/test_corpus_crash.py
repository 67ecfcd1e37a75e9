"""Processes that are killed while they index, and processes that index at the same time."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from vera.corpus import Corpus
from vera.extraction.extractor import Extractor

FILES = 12
INDEXER = """
import os, signal, sys
from pathlib import Path
from vera.extraction.extractor import Extractor
from vera.corpus import Corpus, writer

folder, cache, last = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
writer._COMMIT_BYTES = 1
put, done = writer.Writer.put, 0

def put_and_die(self, *args):
    global done
    put(self, *args)
    self._await_insertion()
    done += 1
    if done == last:
        os.kill(os.getpid(), signal.SIGKILL)

writer.Writer.put = put_and_die
with Extractor() as extractor, Corpus(folder, cache, extractor) as corpus:
    print(corpus.update().read)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "input"
    made.mkdir()
    for number in range(FILES):
        (made / f"{number:02d}.txt").write_text(f"common words and number{number}\n" * 200)
    return made


def indexer(folder: Path, cache: Path, last: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", INDEXER, str(folder), str(cache), str(last)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("last", [1, 5, FILES])
def test_a_killed_update_goes_on_where_it_was(folder: Path, tmp_path: Path, last: int) -> None:
    killed = indexer(folder, tmp_path / "cache", last)
    assert killed.communicate()[0] == ""
    assert killed.returncode == -signal.SIGKILL
    with Extractor() as extractor, Corpus(folder, tmp_path / "cache", extractor) as corpus:
        found = {hit.path for hit in corpus.search("common words", limit=50).hits}
        assert found == {f"{number:02d}.txt" for number in range(last)}
        report = corpus.update()
        assert (report.unchanged, report.read) == (last, FILES - last)
        for number in range(FILES):
            assert corpus.search(f"number{number}").hits[0].path == f"{number:02d}.txt"


def test_two_processes_index_a_folder_once(folder: Path, tmp_path: Path) -> None:
    both = [indexer(folder, tmp_path / "cache", 0) for _ in range(2)]
    reads = [int(process.communicate()[0]) for process in both]
    assert sorted(reads) == [0, FILES]
    assert [process.returncode for process in both] == [0, 0]
