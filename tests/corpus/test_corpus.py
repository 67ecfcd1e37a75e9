"""The corpus follows its folder, finds what is asked and hands out documents. Real files, real SQLite."""

import hashlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vera.corpus import Corpus, EmptyCorpus, Hit, IndexUnusable, Progress, UnknownDocument
from vera.corpus.lock import exclusive
from vera.extraction.extractor import Extractor
from vera.extraction.source import NEEDS_TESSERACT, Unreadable
from vera.text.span import Lines

LICENCES = Path(__file__).parents[2] / "examples" / "licences"


@pytest.fixture(scope="module")
def extractor() -> Iterator[Extractor]:
    with Extractor() as warm:
        yield warm


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "input"
    made.mkdir()
    return made


@pytest.fixture
def corpus(tmp_path: Path, folder: Path, extractor: Extractor) -> Iterator[Corpus]:
    with Corpus(folder, tmp_path / "cache", extractor) as opened:
        yield opened


@pytest.fixture(scope="module")
def licences(tmp_path_factory: pytest.TempPathFactory, extractor: Extractor) -> Iterator[Corpus]:
    with Corpus(LICENCES, tmp_path_factory.mktemp("licences"), extractor) as opened:
        opened.update()
        yield opened


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text)


def paths(hits: tuple[Hit, ...]) -> list[str]:
    return [hit.path for hit in hits]


# Following the folder


def test_the_first_update_reads_everything_and_the_next_one_nothing(corpus: Corpus, folder: Path) -> None:
    write(folder, a="alpha\n", b="beta\n")
    first, second = corpus.update(), corpus.update()
    assert (first.files, first.read, first.bytes, first.chunks) == (2, 2, 11, 2)
    assert (second.read, second.unchanged, second.bytes, second.chunks) == (0, 2, 0, 2)


def test_unchanged_files_are_not_opened(corpus: Corpus, folder: Path) -> None:
    write(folder, a="alpha\n", b="beta\n")
    corpus.update()
    reads = []
    corpus._folder.read = lambda name: reads.append(name) or b""  # type: ignore[method-assign,func-returns-value]  # a spy
    corpus.update()
    assert reads == []


def test_a_changed_file_is_indexed_again(corpus: Corpus, folder: Path) -> None:
    write(folder, a="alpha\n", b="beta\n")
    corpus.update()
    write(folder, a="gamma\n")
    report = corpus.update()
    assert (report.read, report.unchanged) == (1, 1)
    assert paths(corpus.search("gamma").hits) == ["a.txt"]
    assert corpus.search("alpha").hits == ()


def test_a_change_that_keeps_the_size_right_after_indexing_is_seen(corpus: Corpus, folder: Path) -> None:
    for round_number in range(5):
        write(folder, a=f"word{round_number}\n")
        corpus.update()
    assert paths(corpus.search("word4").hits) == ["a.txt"]


def test_a_removed_file_leaves_the_index(corpus: Corpus, folder: Path) -> None:
    write(folder, a="alpha\n", b="alpha beta\n")
    corpus.update()
    (folder / "b.txt").unlink()
    assert corpus.update().removed == 1
    assert paths(corpus.search("alpha").hits) == ["a.txt"]
    assert corpus.names(10) == ["a.txt"]


def test_unreadable_files_are_named_with_the_reason_and_not_tried_again(corpus: Corpus, folder: Path) -> None:
    write(folder, a="alpha\n")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (folder / "link.txt").symlink_to("a.txt")
    first, second = corpus.update(), corpus.update()
    assert dict(first.unreadable) == {
        "link.txt": "a symbolic link, which is not followed",
        "picture.png": f"a PNG picture: {NEEDS_TESSERACT}",
    }
    assert second.unreadable == first.unreadable
    assert (first.unchanged, second.unchanged) == (0, second.files)
    assert second.read == 0


def test_a_name_that_is_no_utf8_is_reported(corpus: Corpus, folder: Path) -> None:
    write(folder, a="alpha\n")
    Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.txt")).write_text("beta\n")
    (unreadable,) = corpus.update().unreadable
    assert unreadable == ("caf\ufffd.txt", "its name is not UTF-8: rename it")


def test_names_that_look_the_same_when_reported_do_no_harm(corpus: Corpus, folder: Path) -> None:
    for name in (b"caf\xe8.txt", b"caf\xe9.txt", "caf\ufffd.txt".encode()):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text("beta\n")
    write(folder, a="alpha\n")
    for _ in range(2):
        assert corpus.update().files == 2
    assert paths(corpus.search("alpha").hits) == ["a.txt"]


def test_a_folder_without_text_is_an_error_that_says_why(corpus: Corpus, folder: Path) -> None:
    with pytest.raises(EmptyCorpus, match="is empty"):
        corpus.update()
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    with pytest.raises(EmptyCorpus, match=r"picture\.png: a PNG picture") as caught:
        corpus.update()
    assert caught.value.reasons == (("picture.png", f"a PNG picture: {NEEDS_TESSERACT}"),)


def test_a_folder_that_does_not_exist_is_an_error_that_says_so(tmp_path: Path, extractor: Extractor) -> None:
    with (
        Corpus(tmp_path / "nowhere", tmp_path / "cache", extractor) as corpus,
        pytest.raises(EmptyCorpus, match="no such"),
    ):
        corpus.update()


def test_files_that_were_indexed_twice_rank_as_before(
    licences: Corpus, tmp_path: Path, folder: Path, extractor: Extractor
) -> None:
    for source in LICENCES.iterdir():
        (folder / source.name).write_bytes(source.read_bytes())
    with Corpus(folder, tmp_path / "cache", extractor) as corpus:
        corpus.update()
        for path in folder.iterdir():
            os.utime(path, (1, 1))
        assert corpus.update().read > 10
        for query in ("long source offered", "source offered length origin", "written offer valid years"):
            assert corpus.search(query, 12).hits == licences.search(query, 12).hits


def test_many_changes_do_not_let_dead_entries_pile_up(corpus: Corpus, folder: Path) -> None:
    text = "".join(f"line {number} of some text\n" for number in range(4000))
    for round_number in range(30):
        write(folder, a=f"round{round_number}\n{text}")
        corpus.update()
    rows = (
        sqlite3.connect(corpus._cache / "index.sqlite")
        .execute("SELECT count(*) FROM body_docsize")
        .fetchone()[0]
    )
    assert rows < 1100 + 2 * corpus.stats().chunks
    assert paths(corpus.search("round29").hits) == ["a.txt"]


def test_progress_is_told(corpus: Corpus, folder: Path) -> None:
    write(folder, a="alpha\n", b="beta\n")
    told: list[Progress] = []
    corpus.update(told.append)
    assert (told[-1].phase, told[-1].files, told[-1].total, told[-1].bytes) == ("indexing", 2, 2, 11)


# Asking


def test_the_question_of_the_readme_finds_section_6_of_the_right_licence(licences: Corpus) -> None:
    question = "For how many years must a written offer to provide source be valid under the GPL version 3?"
    best = licences.search(question).hits[0]
    assert best.path == "GPL-3.txt"
    assert "at least three years" in best.text
    assert best.last - best.first < 8


@pytest.mark.parametrize(
    ("question", "path", "words"),
    [
        (
            "When does a patent license granted under Apache 2.0 terminate?",
            "Apache-2.0.txt",
            "litigation is filed",
        ),
        ("How many days do I have to cure a first violation of the GPLv3?", "GPL-3.txt", "30 days after"),
        (
            "Which WIPO treaty does GPLv3 name on technological measures?",
            "GPL-3.txt",
            "WIPO copyright treaty",
        ),
        ("Does CC0 waive trademark rights?", "CC0-1.0.txt", "No trademark or patent rights"),
        ("Which law governs the MPL 1.1?", "MPL-1.1.txt", "California law provisions"),
        ("Until when could an MMC Site relicense under GFDL 1.3?", "GFDL-1.3.txt", "August 1, 2009"),
    ],
)
def test_a_question_finds_its_lines_in_the_licence_that_it_names(
    licences: Corpus, question: str, path: str, words: str
) -> None:
    hits = licences.search(question, limit=3).hits
    assert any(hit.path == path and words in " ".join(hit.text.split()) for hit in hits)


def test_a_hit_is_exactly_the_lines_it_names(licences: Corpus) -> None:
    for hit in licences.search("warranty liability patent notice").hits:
        document = licences.document(hit.path)
        lines = Lines(document.extracted.text)
        assert hit.text.encode() == lines.cut(hit.first, hit.last)
        assert hit.source == document.source
        assert hit.lines_total == len(lines)
        assert hit.chunk_first <= hit.first <= hit.last <= hit.chunk_last


def test_hits_do_not_repeat_lines(licences: Corpus) -> None:
    hits = licences.search("license", limit=50).hits
    taken: set[tuple[str, int]] = set()
    for hit in hits:
        lines = {(hit.path, number) for number in range(hit.first, hit.last + 1)}
        assert not lines & taken
        taken |= lines


def test_the_same_text_in_two_files_is_one_hit(corpus: Corpus, folder: Path) -> None:
    write(folder, a="the same words\n", b="the same words\n", c="other words\n")
    corpus.update()
    assert paths(corpus.search("same words").hits) == ["a.txt", "c.txt"]


def test_the_same_question_has_the_same_answer_in_an_index_made_anew(
    licences: Corpus, tmp_path: Path, extractor: Extractor
) -> None:
    with Corpus(LICENCES, tmp_path / "cache", extractor) as again:
        again.update()
        for question in ("patent", "written offer source", "Which notices must be kept?"):
            assert again.search(question) == licences.search(question)


def test_words_in_quotes_must_stand_so(corpus: Corpus, folder: Path) -> None:
    write(folder, a="code of an object\n", b="the object\ncode\n")
    corpus.update()
    assert paths(corpus.search('"object code"').hits) == ["b.txt"]
    found = corpus.search('"code object"')
    assert paths(found.hits) != []
    assert found.note == 'No passage holds the exact words "code object".'


def test_figures_and_number_words_are_found(corpus: Corpus, folder: Path) -> None:
    write(folder, a="within 30 days\n", b="three years\n", c="version 3.11 of it\n")
    corpus.update()
    assert paths(corpus.search("30").hits) == ["a.txt"]
    assert paths(corpus.search("three").hits) == ["b.txt"]
    assert paths(corpus.search("3.11").hits) == ["c.txt"]


def test_chinese_japanese_and_korean_words_are_found_within_their_sentences(
    corpus: Corpus, folder: Path
) -> None:
    write(
        folder,
        zh="研究即验证，没有证据不能断言。\n",
        ja="この主張は検証された。\n",
        ko="검증되지 않은 주장이다.\n",
    )
    corpus.update()
    assert paths(corpus.search("验证").hits) == ["zh.txt"]
    assert paths(corpus.search("証された").hits)[0] == "ja.txt"
    assert paths(corpus.search("주장").hits) == ["ko.txt"]
    assert corpus.search("模型").hits == ()


def test_other_scripts_are_found_by_word_and_without_accents(corpus: Corpus, folder: Path) -> None:
    write(folder, de="Die Überprüfung\n", ru="Проверка утверждений\n", th="ฉันมีความสุข\n", hi="यह हिन्दी है\n")
    corpus.update()
    assert paths(corpus.search("uberprufung").hits) == ["de.txt"]
    assert paths(corpus.search("проверка").hits) == ["ru.txt"]
    assert paths(corpus.search("ความ").hits) == ["th.txt"]
    assert paths(corpus.search("हिन्दी").hits) == ["hi.txt"]


def test_a_phrase_across_the_border_of_two_chunks_is_found(corpus: Corpus, folder: Path) -> None:
    lines = [f"filler line {number} without meaning" for number in range(400)]
    lines[200] = "here begins a peculiar"
    lines[201] = "arrangement of words"
    for shift in range(0, 60, 7):
        write(folder, **{f"shift{shift}": "x" * shift + "\n".join(lines) + f"\n{shift}\n"})
    corpus.update()
    assert len(corpus.search('"peculiar arrangement"', limit=50).hits) == 1  # the same lines in each file
    assert (
        corpus.search('"peculiar arrangement"').hits[0].text == "here begins a peculiar\narrangement of words"
    )


def test_the_file_whose_name_is_asked_for_comes_first(corpus: Corpus, folder: Path) -> None:
    write(folder, quarterlyReport2024="profit rose\n", other="profit fell\n")
    corpus.update()
    assert paths(corpus.search("profit in the quarterly report").hits) == [
        "quarterlyReport2024.txt",
        "other.txt",
    ]


def test_a_name_alone_finds_the_beginning_of_its_file(corpus: Corpus, folder: Path) -> None:
    write(folder, quarterlyReport2024="profit rose.\ncosts fell.\n", other="profit fell\n")
    corpus.update()
    (hit,) = corpus.search("quarterly report").hits
    assert (hit.path, hit.text, hit.matched) == ("quarterlyReport2024.txt", "profit rose.", ())


@pytest.mark.parametrize("query", ["", "   ", "?!", '""', "\0", "***"])
def test_a_query_without_words_finds_nothing_and_says_so(licences: Corpus, query: str) -> None:
    found = licences.search(query)
    assert found.hits == ()
    assert found.note == "The query holds no word that could be looked for."


def test_a_word_that_stands_nowhere_finds_nothing_and_says_so(licences: Corpus) -> None:
    assert licences.search("xylophone").note == "No passage holds a word of the query: xylophone."


def test_before_the_first_update_nothing_is_found(corpus: Corpus) -> None:
    assert corpus.search("alpha").note == "Nothing has been indexed yet."


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text() | st.text("\"'()*^-+:{}[]ANDORNEAR \0\ud800.é验", max_size=80))
def test_any_string_may_be_asked(licences: Corpus, query: str) -> None:
    assert len(licences.search(query, limit=2).hits) <= 2


@pytest.mark.parametrize(
    "query",
    [
        "the license " * 1000,
        " ".join(f"w{number}" for number in range(3000)),
        '"' * 10_000,
        '"a" ' * 3000,
        '"' + "license " * 500 + '"',
        "“" * 10_000,
        "验" * 10_000,
        "a" * 100_000,
        "a.b-c_d" * 2000,
    ],
)
def test_a_very_long_query_is_bounded(licences: Corpus, query: str) -> None:
    licences.search(query)


def test_a_file_changed_after_the_update_answers_with_what_it_holds_now(corpus: Corpus, folder: Path) -> None:
    write(folder, a="alpha one\n", b="alpha two\n")
    corpus.update()
    write(folder, a="alpha three\n")
    found = corpus.search("alpha")
    assert {hit.text for hit in found.hits} == {"alpha three", "alpha two"}
    assert found.note == ""


def test_a_file_changed_while_another_process_writes_is_left_out_with_a_note(
    corpus: Corpus, folder: Path, tmp_path: Path
) -> None:
    write(folder, a="alpha one\n", b="alpha two\n")
    corpus.update()
    write(folder, a="alpha three\n")
    with exclusive(tmp_path / "cache" / "lock", lambda _: None):
        found = corpus.search("alpha")
    assert paths(found.hits) == ["b.txt"]
    assert found.note == "Left out, for they have changed: a.txt."


def test_a_file_replaced_by_a_link_is_not_followed(corpus: Corpus, folder: Path, tmp_path: Path) -> None:
    write(folder, a="alpha one\n", b="alpha two\n")
    corpus.update()
    (tmp_path / "secret").write_text("alpha one\n")
    (folder / "a.txt").unlink()
    (folder / "a.txt").symlink_to(tmp_path / "secret")
    assert paths(corpus.search("alpha").hits) == ["b.txt"]


# Documents


def test_a_document_is_its_bytes_and_their_text(corpus: Corpus, folder: Path) -> None:
    raw = b"\xef\xbb\xbfTitle\r\n\r\nalpha\r\n"
    (folder / "a.txt").write_bytes(raw)
    corpus.update()
    document = corpus.document("a.txt")
    assert (document.raw, document.raw_sha256) == (raw, hashlib.sha256(raw).hexdigest())
    assert document.extracted.text == b"Title\n\nalpha\n"
    assert document.source == hashlib.sha256(b"Title\n\nalpha\n").hexdigest()
    assert document.extracted.title == "Title"


def test_a_file_without_a_last_newline_is_read_from_its_place(corpus: Corpus, folder: Path) -> None:
    (folder / "a.txt").write_bytes(b"alpha\nomega")
    corpus.update()
    assert corpus.document("a.txt").extracted.text == b"alpha\nomega\n"
    (hit,) = corpus.search("omega").hits
    assert (hit.last, hit.text, hit.lines_total) == (2, "alpha\nomega", 2)
    assert hit.source == corpus.document("a.txt").source


def test_the_text_of_other_formats_is_kept_and_not_extracted_again(corpus: Corpus, folder: Path) -> None:
    words = "".join(f"<p>Paragraph {number} with a few words more.</p>" for number in range(5000))
    (folder / "page.html").write_text(f"<html><title>Pages</title><body>{words}</body></html>")
    corpus.update()
    corpus._extractor = None  # type: ignore[assignment]  # whoever extracted again would fail
    document = corpus.document("page.html")
    assert document.extracted.title == "Pages"
    assert len(document.extracted.text) > 2 * 65536
    hit = corpus.search('"Paragraph 4321"').hits[0]
    assert hit.text.encode() == Lines(document.extracted.text).cut(hit.first, hit.last)


def test_a_document_that_changed_is_read_as_it_is_now(corpus: Corpus, folder: Path) -> None:
    write(folder, a="alpha\n", b="beta\n")
    corpus.update()
    write(folder, a="gamma\n")
    assert corpus.document("a.txt").extracted.text == b"gamma\n"
    assert corpus.search("gamma").hits[0].source == corpus.document("a.txt").source


def test_a_wrong_name_is_answered_with_names_like_it(licences: Corpus) -> None:
    with pytest.raises(UnknownDocument, match=r"'gpl3\.txt'.*GPL-3\.txt") as caught:
        licences.document("gpl3.txt")
    assert "GPL-3.txt" in caught.value.near


@pytest.mark.parametrize("name", ["", "/", "../x", "a\0b", "\ud800", "x" * 100_000, "/etc/passwd", "%", '"'])
def test_any_name_may_be_asked_for(licences: Corpus, name: str) -> None:
    with pytest.raises(UnknownDocument):
        licences.document(name)


def test_an_unreadable_or_vanished_document_says_why(corpus: Corpus, folder: Path) -> None:
    write(folder, a="alpha\n", b="beta\n")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    corpus.update()
    with pytest.raises(Unreadable, match="a PNG picture"):
        corpus.document("picture.png")
    (folder / "b.txt").unlink()
    with pytest.raises(Unreadable, match="no such file"):
        corpus.document("b.txt")


# The index itself


def test_an_index_of_another_format_is_made_anew(corpus: Corpus, folder: Path, extractor: Extractor) -> None:
    write(folder, a="alpha\n")
    corpus.update()
    corpus.close()
    with sqlite3.connect(corpus._cache / "index.sqlite") as db:
        db.execute("UPDATE meta SET value = 'older' WHERE key = 'format'")
    db.close()
    with Corpus(folder, corpus._cache, extractor) as again:
        assert again.update().read == 1
        assert paths(again.search("alpha").hits) == ["a.txt"]


@pytest.mark.parametrize("damage", ["rubbish", "middle", "cut"])
def test_a_damaged_index_is_made_anew(
    corpus: Corpus, folder: Path, extractor: Extractor, damage: str
) -> None:
    write(folder, **{f"f{number}": f"alpha number{number}\n" * 50 for number in range(60)})
    corpus.update()
    corpus.close()
    path = corpus._cache / "index.sqlite"
    whole = path.read_bytes()
    half = len(whole) // 2
    broken = {
        "rubbish": b"rubbish" * 1000,
        "middle": whole[:8192] + b"\xff" * (len(whole) - 8192),
        "cut": whole[:half],
    }
    path.write_bytes(broken[damage])
    with Corpus(folder, corpus._cache, extractor) as again:
        assert again.search("number7").hits == () or again.search("number7").hits[0].path == "f7.txt"
        again.update()
        assert paths(again.search("number7").hits)[0] == "f7.txt"


@pytest.mark.parametrize("damage", ["zeroblob(9)", "x'789c030000000001'"])
def test_a_damaged_block_of_kept_text_is_extracted_again(corpus: Corpus, folder: Path, damage: str) -> None:
    def break_it() -> None:
        with sqlite3.connect(corpus._cache / "index.sqlite") as db:
            db.execute(f"UPDATE block SET text = {damage}")
        db.close()

    (folder / "a.html").write_text("<html><p>alpha</p></html>")
    corpus.update()
    break_it()
    assert corpus.document("a.html").extracted.text == b"alpha\n"
    break_it()
    assert [hit.text for hit in corpus.search("alpha").hits] == ["alpha"]


def test_a_cache_that_cannot_be_written_is_an_error_that_says_what_to_do(
    folder: Path, tmp_path: Path, extractor: Extractor
) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    with (
        Corpus(folder, tmp_path / "cache", extractor) as corpus,
        pytest.raises(IndexUnusable, match="XDG_CACHE_HOME"),
    ):
        corpus.update()


def test_who_must_wait_for_the_index_is_told_so(corpus: Corpus, folder: Path, tmp_path: Path) -> None:
    write(folder, a="alpha\n")
    told: list[Progress] = []
    with exclusive(tmp_path / "cache" / "lock", lambda _: None):
        other = threading.Thread(target=lambda: corpus.update(told.append))
        other.start()
        while not told:
            time.sleep(0.01)
    other.join()
    assert told[0].phase == "waiting"
    assert f"pid {os.getpid()}" in told[0].message
    assert corpus.stats().files == 1


def test_a_holder_without_progress_is_not_waited_for_without_end(tmp_path: Path) -> None:
    with (
        exclusive(tmp_path / "lock", lambda _: None),
        pytest.raises(IndexUnusable, match="no progress for 0 s"),
        exclusive(tmp_path / "lock", lambda _: None, patience=0.3),
    ):
        pass


def test_threads_may_share_a_corpus(licences: Corpus) -> None:
    expected = licences.search("patent")
    results: list[object] = []
    threads = [threading.Thread(target=lambda: results.append(licences.search("patent"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4
