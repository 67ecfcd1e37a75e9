"""Archives and mailboxes in the folder: their members are documents that are found, read and followed."""

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.containers import mail, mbox, tarred, zipped
from vera.corpus import Corpus, Progress, StopIndexing
from vera.extraction.canonical import extract
from vera.extraction.extractor import Extractor
from vera.extraction.source import NEEDS_TESSERACT, Unreadable

MAILS = [mail(f"subject{n}", f"The keyword{n} stands here.\n") for n in range(6)]
BOX = mbox(*MAILS)


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


def fresh_digest(folder: Path, cache: Path, extractor: Extractor) -> str:
    """The digest of an index of the folder that was made in one go."""
    with Corpus(folder, cache, extractor) as opened:
        opened.update()
        return opened.digest()


def found(corpus: Corpus, query: str) -> list[str]:
    return [hit.path for hit in corpus.search(query).hits]


def test_a_mail_in_a_mailbox_in_a_zip_is_found_and_read(corpus: Corpus, folder: Path) -> None:
    (folder / "takeout.zip").write_bytes(zipped({"Mail/All.mbox": BOX}))
    report = corpus.update()
    assert (report.files, report.read, report.documents) == (1, 1, 6)
    (hit,) = corpus.search("keyword3", limit=1).hits
    assert hit.path == "takeout.zip!/Mail/All.mbox!/m000004.eml"
    assert (hit.title, hit.text) == ("subject3", "The keyword3 stands here.")
    document = corpus.document(hit.path)
    assert document.extracted == extract(document.raw, "m000004.eml")
    assert document.raw.rstrip(b"\n") == MAILS[3].rstrip(b"\n")
    assert document.held is not None
    whole = hashlib.sha256((folder / "takeout.zip").read_bytes()).hexdigest()
    step = document.held.place[1]
    assert BOX[step.offset : step.offset + step.length] == document.raw
    assert document.held.in_words() == (
        f'takeout.zip (sha256 {whole}): zip member 1 "Mail/All.mbox", '
        f"mbox member 4 at byte {step.offset}, {step.length} bytes"
    )


def test_an_unchanged_container_is_not_read_again(corpus: Corpus, folder: Path) -> None:
    (folder / "all.mbox").write_bytes(BOX)
    corpus.update()
    again = corpus.update()
    assert (again.read, again.unchanged, again.bytes) == (0, 1, 0)
    os.utime(folder / "all.mbox", ns=(1, 1))
    touched = corpus.update()
    assert (touched.read, touched.documents) == (1, 0)
    assert corpus.update().read == 0


def test_of_a_grown_mailbox_only_the_end_is_read(
    corpus: Corpus, folder: Path, tmp_path: Path, extractor: Extractor
) -> None:
    path = folder / "all.mbox"
    path.write_bytes(BOX)
    corpus.update()
    path.write_bytes(BOX + mbox(mail("new", "The keyword9 is new.\n", {"a.txt": b"attached\n"})))
    assert corpus.update().documents == 3  # the last one, which may have grown, and what is new
    assert found(corpus, "keyword9") == ["all.mbox!/m000007.eml"]
    assert found(corpus, "attached")[:1] == ["all.mbox!/m000007.eml!/p2-a.txt"]
    assert corpus.digest() == fresh_digest(folder, tmp_path / "other", extractor)


def test_a_mailbox_that_was_changed_in_its_middle_is_read_anew(
    corpus: Corpus, folder: Path, tmp_path: Path, extractor: Extractor
) -> None:
    path = folder / "all.mbox"
    path.write_bytes(BOX)
    corpus.update()
    path.write_bytes(BOX.replace(b"keyword2", b"otherwise2") + mbox(MAILS[0]))
    assert corpus.update().documents == 7
    assert found(corpus, "keyword2") == []
    assert corpus.digest() == fresh_digest(folder, tmp_path / "other", extractor)


def test_what_was_in_a_removed_container_leaves_the_index(corpus: Corpus, folder: Path) -> None:
    (folder / "all.mbox").write_bytes(BOX)
    (folder / "a.txt").write_text("alpha keyword1\n")
    corpus.update()
    (folder / "all.mbox").unlink()
    assert corpus.update().removed == 1
    assert corpus.names(20) == ["a.txt"]


def test_a_container_that_changes_before_it_is_read_is_indexed_again(corpus: Corpus, folder: Path) -> None:
    (folder / "all.mbox").write_bytes(BOX)
    corpus.update()
    (folder / "all.mbox").write_bytes(mbox(mail("other", "Something else.\n"), *MAILS))
    assert b"keyword0" in corpus.document("all.mbox!/m000002.eml").raw
    assert found(corpus, "keyword5") == ["all.mbox!/m000007.eml"]
    (folder / "all.mbox").unlink()
    with pytest.raises(Unreadable, match="has changed"):
        corpus.document("all.mbox!/m000002.eml")


def test_reasons_for_members_and_for_the_rest_of_an_archive_are_listed(corpus: Corpus, folder: Path) -> None:
    (folder / "x.zip").write_bytes(
        zipped({"../evil.txt": b"a", "good.txt": b"good\n", "p.png": b"\x89PNG\r\n\x1a\n"})
    )
    (folder / "broken.zip").write_bytes(zipped({"a.txt": b"a\n"})[:-9])
    (folder / "cut.tar").write_bytes(tarred({"a.txt": b"alpha\n" * 400, "b.txt": b"beta\n" * 400})[:4000])
    first, second = corpus.update(), corpus.update()
    assert dict(first.unreadable) == {
        "broken.zip": "its end is missing or damaged",
        "cut.tar": "its end is missing or damaged",
        "cut.tar!/b.txt": "it ends too early",
        "x.zip!/#000001": "its name leads out of the archive: '../evil.txt'",
        "x.zip!/p.png": f"a PNG picture: {NEEDS_TESSERACT}",
    }
    assert second.unreadable == first.unreadable
    assert second.read == 0


def test_two_members_of_one_name_are_told_apart(corpus: Corpus, folder: Path) -> None:
    (folder / "x.zip").write_bytes(zipped({"a.txt": b"first\n", "b.txt": b"other\n"}))
    data = (folder / "x.zip").read_bytes().replace(b"b.txt", b"a.txt")
    (folder / "x.zip").write_bytes(data)
    report = corpus.update()
    assert dict(report.unreadable) == {
        "x.zip!/a.txt~2": "another member of the archive has the same name: only the first is read"
    }
    assert corpus.document("x.zip!/a.txt").raw == b"first\n"


def test_a_folder_called_like_the_inside_of_an_archive_is_refused(corpus: Corpus, folder: Path) -> None:
    (folder / "x.zip").write_bytes(zipped({"a.txt": b"inside\n"}))
    (folder / "x.zip!").mkdir()
    (folder / "x.zip!/a.txt").write_text("beside\n")
    (folder / "y!").mkdir()
    (folder / "y!/a.txt").write_text("fine\n")
    report = corpus.update()
    assert corpus.document("x.zip!/a.txt").raw == b"inside\n"
    assert dict(report.unreadable) == {"x.zip!": "a folder called as if it were in x.zip: rename it"}
    assert corpus.update().read == 0
    assert corpus.document("y!/a.txt").raw == b"fine\n"


def test_what_is_only_called_like_a_container_is_read_as_what_it_is(corpus: Corpus, folder: Path) -> None:
    (folder / "notes.mbox").write_text("plain notes\n")
    (folder / "picture.zip").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    report = corpus.update()
    assert found(corpus, "plain notes") == ["notes.mbox"]
    assert dict(report.unreadable) == {"picture.zip": f"a PNG picture: {NEEDS_TESSERACT}"}
    assert corpus.update().read == 0


def test_an_update_that_is_stopped_keeps_what_it_has(
    corpus: Corpus, folder: Path, tmp_path: Path, extractor: Extractor
) -> None:
    (folder / "all.mbox").write_bytes(mbox(*(mail(f"s{n}", f"Body {n}\n" * 50) for n in range(1500))))
    calls = 0

    def stop(progress: Progress) -> None:
        nonlocal calls
        calls += progress.documents > 100
        if calls:
            raise StopIndexing

    with pytest.raises(StopIndexing):
        corpus.update(stop)
    kept = corpus.stats().files
    assert 100 <= kept < 1500
    assert corpus.update().documents == 1500 - kept + 1  # the last one is written again
    assert corpus.digest() == fresh_digest(folder, tmp_path / "other", extractor)


KILLED = """
import os, signal, sys
from pathlib import Path
from vera.extraction.extractor import Extractor
from vera.corpus import Corpus, writer

folder, cache, last = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
writer._COMMIT_BYTES = 1
done = 0
for name in ("put", "put_unreadable", "put_container"):
    def counted(self, *args, _own=getattr(writer.Writer, name)):
        global done
        _own(self, *args)
        self._await_insertion()
        done += 1
        if done == last:
            os.kill(os.getpid(), signal.SIGKILL)
    setattr(writer.Writer, name, counted)
with Extractor() as extractor, Corpus(folder, cache, extractor) as corpus:
    corpus.update()
"""


@pytest.mark.parametrize("last", [1, 2, 5, 9, 13, 16, 21])
def test_killed_at_any_point_the_next_update_makes_the_same_index(
    last: int, folder: Path, tmp_path: Path, extractor: Extractor
) -> None:
    attached = mail("with", "Attached.\n", {"a.txt": b"alpha\n", "b.png": b"\x89PNG\r\n\x1a\n"})
    (folder / "a.mbox").write_bytes(mbox(MAILS[0], attached, MAILS[1]))
    (folder / "b.zip").write_bytes(zipped({"in.mbox": BOX, "../bad": b"x", "z.txt": b"z\n"}))
    (folder / "c.tgz").write_bytes(tarred({"c.txt": b"c\n", "d.txt": b"d\n"}, "w:gz"))
    (folder / "d.txt").write_text("plain\n")
    command = [sys.executable, "-c", KILLED, str(folder), str(tmp_path / "cache"), str(last)]
    killed = subprocess.run(command, check=False)
    assert killed.returncode == -signal.SIGKILL
    with Corpus(folder, tmp_path / "cache", extractor) as corpus:
        corpus.update()
        state = corpus.state()
        assert state is not None
        assert (state.unfinished, state.new, state.changed, state.gone) == (0, 0, 0, 0)
        assert corpus.digest() == state.digest == fresh_digest(folder, tmp_path / "other", extractor)
        assert corpus.stats().files == 14
