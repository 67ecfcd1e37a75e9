"""Search by meaning beside words: a tiny embedder that knows a few synonyms, real files and SQLite."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from vera.corpus import Corpus, Progress, StopIndexing
from vera.corpus.lock import exclusive
from vera.corpus.passages import WORDS, Piece, pieces
from vera.corpus.vectors import Matrix
from vera.corpus.windows import MAX_LINES
from vera.embedding import EmbeddingError
from vera.extraction.extractor import Extractor

TOPICS = (
    ("car", "automobile", "vehicle", "drive"),
    ("money", "cash", "salary", "wage", "pay"),
    ("dog", "puppy", "hound"),
    ("rain", "storm", "weather"),
)


class Synonyms:
    """An embedder whose numbers count the words of four topics, and a constant."""

    key = "synonyms 1"
    name = "synonyms"
    dimension = len(TOPICS) + 1

    def __init__(self, key: str = key) -> None:
        self.key = key
        self.texts = 0
        self.fault: str = ""
        self.accent = 0.1

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Matrix:
        self.texts += len(texts)
        if self.fault:
            raise EmbeddingError(self.fault)
        rows = [
            [*(sum(text.lower().count(w) for w in topic) for topic in TOPICS), self.accent] for text in texts
        ]
        matrix = np.array(rows, np.float32).reshape(len(texts), -1)
        unit: Matrix = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
        return unit

    def close(self) -> None:
        """Nothing is held."""


@pytest.fixture(scope="module")
def extractor() -> Iterator[Extractor]:
    with Extractor() as warm:
        yield warm


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "input"
    made.mkdir()
    (made / "garage.txt").write_text("The automobile is kept in the shed.\n")
    (made / "pets.txt").write_text("A puppy sleeps a lot.\n")
    (made / "office.txt").write_text("Each wage is paid on Friday.\nThe shed is locked.\n")
    return made


@pytest.fixture
def embedder() -> Synonyms:
    return Synonyms()


@pytest.fixture
def corpus(tmp_path: Path, folder: Path, extractor: Extractor, embedder: Synonyms) -> Iterator[Corpus]:
    with Corpus(folder, tmp_path / "cache", extractor, embedder) as opened:
        opened.update()
        yield opened


def rows(cache: Path) -> list[tuple[object, ...]]:
    with sqlite3.connect(cache / "index.sqlite") as db:
        return db.execute("SELECT chunk, lines, numbers FROM vector ORDER BY chunk").fetchall()


def test_passages_are_whole_lines_and_together_every_telling_line() -> None:
    text = b"one two three\n" * 50 + b"----\n" * MAX_LINES
    found = list(pieces(text))
    assert found[0] == Piece(0, MAX_LINES - 1)
    assert all(piece.last - piece.first < MAX_LINES for piece in found)
    covered = {line for piece in found for line in range(piece.first, piece.last + 1)}
    assert set(range(50)) <= covered
    assert list(pieces(b"====\n\n")) == []
    assert list(pieces(b"word " * WORDS + b"\nnext\n")) == [Piece(0, 0), Piece(1, 1)]


def test_a_paraphrase_is_found_by_meaning_and_says_so(corpus: Corpus) -> None:
    embedded = corpus.embed()
    assert (embedded.model, embedded.chunks, embedded.of, embedded.problem) == ("synonyms", 3, 3, "")
    best = corpus.search("vehicle").hits[0]
    assert (best.path, best.by, best.matched) == ("garage.txt", "meaning", ())
    assert best.text == "The automobile is kept in the shed."


def test_words_and_meaning_together(corpus: Corpus) -> None:
    corpus.embed()
    best = corpus.search("salary shed").hits[0]
    assert (best.path, best.by, best.matched) == ("office.txt", "both", ("shed",))


def test_a_quoted_phrase_is_searched_by_words_alone(corpus: Corpus) -> None:
    corpus.embed()
    assert [(hit.path, hit.by) for hit in corpus.search('"the automobile"').hits] == [("garage.txt", "words")]


def test_without_an_embedder_an_embedded_index_answers_as_one_that_never_was(
    corpus: Corpus, tmp_path: Path, folder: Path, extractor: Extractor
) -> None:
    digest = corpus.digest()
    corpus.embed()
    assert corpus.digest() == digest
    with (
        Corpus(folder, tmp_path / "cache", extractor) as words,
        Corpus(folder, tmp_path / "new", extractor) as new,
    ):
        new.update()
        for query in ("shed", "automobile wage", "vehicle", '"a puppy"'):
            assert words.search(query) == new.search(query)
        assert new.digest() == digest


def test_words_alone_need_no_numpy(folder: Path, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from vera.extraction.extractor import Extractor\n"
        "from vera.corpus import Corpus\n"
        "with Extractor() as e, Corpus(Path(sys.argv[1]), Path(sys.argv[2]), e) as c:\n"
        "    c.update(); c.search('shed')\n"
        "print(sorted({'numpy', 'tokenizers', 'safetensors'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", program, str(folder), str(tmp_path / "cache")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"


def test_vectors_go_with_their_text_and_only_new_text_is_embedded(
    corpus: Corpus, folder: Path, embedder: Synonyms, tmp_path: Path
) -> None:
    corpus.embed()
    asked = embedder.texts
    (folder / "pets.txt").unlink()
    (folder / "garage.txt").write_text("A storm came.\n")
    corpus.update()
    assert len(rows(tmp_path / "cache")) == 1
    assert corpus.embed().chunks == 2
    assert embedder.texts - asked == 1
    assert corpus.search("weather").hits[0].path == "garage.txt"


def test_what_is_not_embedded_yet_is_embedded_where_words_point(corpus: Corpus, embedder: Synonyms) -> None:
    # Both files hold the word, and nothing was embedded before.
    assert [hit.path for hit in corpus.search("salary shed").hits] == ["office.txt", "garage.txt"]
    assert [hit.path for hit in corpus.search("vehicle shed").hits] == ["garage.txt", "office.txt"]
    asked = embedder.texts
    corpus.search("salary shed")
    assert embedder.texts == asked + 1  # the query alone: the chunks are remembered


def test_a_stopped_embedding_goes_on_where_it_was(
    tmp_path: Path, extractor: Extractor, embedder: Synonyms
) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number:02}.txt").write_text(f"dog number {number}\n")

    def stop(progress: Progress) -> None:
        if progress.phase == "embedding":
            raise StopIndexing

    with Corpus(folder, tmp_path / "cache", extractor, embedder) as corpus:
        corpus.update()
        with pytest.raises(StopIndexing):
            corpus.embed(progress=stop)
        told: list[Progress] = []
        assert 0 < len(rows(tmp_path / "cache")) < 20
        assert corpus.embed(progress=told.append).chunks == 20
        assert told[-1].message == "Embedded 20 of 20 chunks, 0:00 left."
        assert embedder.texts == 20 + 1  # each once, and the sentence that tells models apart


def test_the_time_given_bounds_an_embedding(tmp_path: Path, extractor: Extractor, embedder: Synonyms) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(30):
        (folder / f"{number:02}.txt").write_text(f"dog number {number}\n")
    with Corpus(folder, tmp_path / "cache", extractor, embedder) as corpus:
        corpus.update()
        embedded = corpus.embed(seconds=1e-9)
        assert 0 < embedded.chunks < embedded.of == 30


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[4])
from test_corpus_meaning import Synonyms
from vera.extraction.extractor import Extractor
from vera.corpus import Corpus, vectors
put, done = vectors.put, 0
def put_and_die(db, rows):
    global done
    put(db, rows)
    done += 1
    if done == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
vectors.put = put_and_die
with Extractor() as extractor, Corpus(Path(sys.argv[1]), Path(sys.argv[2]), extractor, Synonyms()) as corpus:
    corpus.update()
    corpus.embed()
"""


def test_a_killed_embedding_ends_as_one_that_was_not(tmp_path: Path, extractor: Extractor) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(30):
        (folder / f"{number:02}.txt").write_text(f"dog number {number} in the rain\n" * (number + 1))
    digests: set[str] = set()
    for at in (1, 2, 3):
        cache = tmp_path / f"killed{at}"
        command = [sys.executable, "-c", KILLED, str(folder), str(cache), str(at), str(Path(__file__).parent)]
        assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
        with Corpus(folder, cache, extractor, Synonyms()) as corpus:
            corpus.embed()
            digests.add(corpus.digest())
    with Corpus(folder, tmp_path / "whole", extractor, Synonyms()) as corpus:
        corpus.update()
        corpus.embed()
        digests.add(corpus.digest())
    assert len(digests) == 1
    whole = rows(tmp_path / "whole")
    assert len(whole) == 30
    assert all(rows(tmp_path / f"killed{at}") == whole for at in (1, 2, 3))


def test_another_model_drops_the_vectors_of_the_one_before(
    corpus: Corpus, folder: Path, tmp_path: Path, extractor: Extractor
) -> None:
    corpus.embed()
    with Corpus(folder, tmp_path / "cache", extractor, Synonyms("synonyms 2")) as other:
        assert other.search("vehicle").hits == ()
        embedded = other.embed()
        assert embedded.note == (
            "The vectors of another embedding model were dropped: 3 chunks are embedded again."
        )
        assert other.search("vehicle").hits[0].path == "garage.txt"


def test_another_model_under_the_same_name_is_told_by_what_it_says(
    corpus: Corpus, folder: Path, tmp_path: Path, extractor: Extractor
) -> None:
    corpus.embed()
    other = Synonyms()
    other.accent = -0.1
    with Corpus(folder, tmp_path / "cache", extractor, other) as again:
        assert again.embed().note.startswith("The vectors of another embedding model were dropped")


def test_numbers_that_are_no_numbers_are_one_sentence_and_words_go_on(
    corpus: Corpus, embedder: Synonyms
) -> None:
    embedder.accent = float("nan")
    sentence = "The embedding model synonyms gave numbers that are not finite."
    assert corpus.embed().problem == sentence
    found = corpus.search("automobile")
    assert (found.hits[0].by, found.note) == ("words", f"Searched by words only: {sentence}")


def test_more_passages_than_a_search_compares_are_left_to_words(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vera.corpus.vectors.MAX_PASSAGES", 2)
    monkeypatch.setattr("vera.corpus.meaning._CHUNKS_AT_ONCE", 1)
    embedded = corpus.embed()
    assert (embedded.chunks, embedded.of) == (2, 3)
    assert embedded.problem.startswith("2 passages are embedded, as many as a search compares")
    assert corpus.embed().chunks == 2


def test_a_model_that_fails_leaves_search_by_words(corpus: Corpus, embedder: Synonyms) -> None:
    corpus.embed()
    embedder.fault = "The server stopped."
    found = corpus.search("automobile")
    assert [(hit.path, hit.by) for hit in found.hits] == [("garage.txt", "words")]
    assert found.note == "Searched by words only: The server stopped."


def test_a_model_that_stops_in_the_middle_keeps_what_is_embedded(
    tmp_path: Path, extractor: Extractor, embedder: Synonyms
) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number:02}.txt").write_text(f"dog number {number}\n")

    def fail(_: Progress) -> None:
        embedder.fault = "The server stopped."

    with Corpus(folder, tmp_path / "cache", extractor, embedder) as corpus:
        corpus.update()
        embedded = corpus.embed(progress=fail)
        assert (embedded.problem, 0 < embedded.chunks < 20) == ("The server stopped.", True)


def test_an_index_that_another_process_holds_is_searched_without_new_vectors(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vera.corpus.corpus.PATIENCE_S", 0.0)
    with exclusive(tmp_path / "cache" / "lock", lambda _: None):
        embedded = corpus.embed()
    assert embedded.chunks == 0 and embedded.problem.startswith("Another process")


def test_vectors_of_another_length_than_promised_are_refused(corpus: Corpus, embedder: Synonyms) -> None:
    embedder.dimension = 7
    embedded = corpus.embed()
    assert embedded.chunks == 0
    assert embedded.problem == "The embedding model synonyms gave (1, 5) numbers where (1, 7) were due."
    assert corpus.search("automobile").hits[0].by == "words"


def test_a_damaged_vector_is_noticed_and_the_index_made_again(corpus: Corpus, tmp_path: Path) -> None:
    corpus.embed()
    with sqlite3.connect(tmp_path / "cache" / "index.sqlite") as db:
        db.execute("UPDATE vector SET numbers = x'00' WHERE chunk = 1")
    assert corpus.search("automobile").hits[0].path == "garage.txt"


def test_a_scale_that_is_no_number_is_damage(corpus: Corpus, tmp_path: Path) -> None:
    corpus.embed()
    with sqlite3.connect(tmp_path / "cache" / "index.sqlite") as db:
        db.execute("UPDATE vector SET numbers = CAST(x'0000c07f' || substr(numbers, 5) AS BLOB)")
    assert [hit.path for hit in corpus.search("automobile").hits] == ["garage.txt"]
    assert corpus.embed().chunks == 3


def test_a_file_that_changed_is_embedded_again_before_it_answers(corpus: Corpus, folder: Path) -> None:
    corpus.embed()
    (folder / "garage.txt").write_text("The hound barks at it.\n")
    os.utime(folder / "garage.txt", ns=(1, 1))
    assert all("automobile" not in hit.text for hit in corpus.search("vehicle").hits)
