"""Libraries of references as connectors: attached files under the citation keys of their entries."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.connecting import ZoteroFolder, gathered, names
from vera.connectors import ConnectorError
from vera.connectors.bibtex import files_of

OUTSIDE = "its path leads out of the library's folder; #allow=FOLDER lets a folder be read"


def bib(folder: Path, *entries: tuple[str, str]) -> Path:
    """A `.bib` file: keys, and what stands in their `file` field."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(
        f"@article{{{key},\n  title = {{The {{H}}all}},\n  author = {{Smith, Ann}},\n  year = 2020,\n"
        f"  file = {{{field}}}\n}}\n"
        for key, field in entries
    )
    (folder / "refs.bib").write_text(text)
    return folder / "refs.bib"


def test_attachments_of_a_bib_file_have_the_citation_key(tmp_path: Path) -> None:
    path = bib(
        tmp_path / "l",
        ("smith2020", "Full Text:files/1/Smith.txt:text/plain;Notes:files/1/no\\;tes.txt:text/plain"),
        ("jones2021", "files/2/Jones.txt"),
        ("empty2022", ""),
    )
    for name in ("1/Smith.txt", "1/no;tes.txt", "2/Jones.txt"):
        (tmp_path / "l/files" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "l/files" / name).write_text(name)
    basket, _ = gathered(tmp_path / "a", f"papers=bibtex:{path}")
    assert names(basket) == [
        "papers/@smith2020/Smith.txt",
        "papers/@smith2020/no;tes.txt",
        "papers/@jones2021/Jones.txt",
    ]
    assert (
        basket.documents[0].origin
        == f"[@smith2020] Smith, Ann, The Hall, 2020: {tmp_path}/l/files/1/Smith.txt"
    )
    assert basket.left_out == [("@empty2022", "the entry has no attached file")]


@pytest.mark.parametrize(
    "field", ["/etc/passwd", "../secret.txt", "x:../secret.txt:text/plain", "link.txt", "d/../../secret.txt"]
)
def test_a_file_outside_of_the_library_is_left_out_unless_its_folder_is_allowed(
    tmp_path: Path, field: str
) -> None:
    path = bib(tmp_path / "l", ("smith2020", field), ("good", "ok.txt"))
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "l" / "ok.txt").write_text("fine")
    (tmp_path / "l" / "link.txt").symlink_to(tmp_path / "secret.txt")
    basket, _ = gathered(tmp_path / "a", f"papers=bibtex:{path}")
    assert names(basket) == ["papers/@good/ok.txt"]
    assert basket.left_out_count == 1


def test_a_folder_that_is_allowed_is_read(tmp_path: Path) -> None:
    path = bib(tmp_path / "l", ("smith2020", f"{tmp_path}/else/s.txt"))
    (tmp_path / "else").mkdir()
    (tmp_path / "else/s.txt").write_text("fine")
    with pytest.raises(ConnectorError, match="is no folder"):
        gathered(tmp_path / "a", f"papers=bibtex:{path}#allow=/nowhere")
    basket, _ = gathered(tmp_path / "a", f"papers=bibtex:{path}#allow={tmp_path}/else")
    assert names(basket) == ["papers/@smith2020/s.txt"]


def test_a_zotero_folder_gives_its_stored_files_with_their_keys(tmp_path: Path) -> None:
    """The key of the entry's field, of its `extra`, or its own; what is deleted or linked is not taken."""
    zotero = ZoteroFolder(tmp_path / "Zotero")
    entries = [
        zotero.add("storage:Smith.txt", citationKey="smith2020", title="The Hall", date="2020-03-00"),
        zotero.add("storage:Jones.txt", extra="PMID: 1\nCitation Key: jones2021\n"),
        zotero.add("storage:None.txt"),
        zotero.add("storage:gone.txt", deleted=True, citationKey="gone"),
    ]
    for key, name in zip(entries, ("Smith.txt", "Jones.txt", "None.txt", "gone.txt"), strict=True):
        (zotero.home / "storage" / key).mkdir()
        (zotero.home / "storage" / key / name).write_text(name)
    zotero.add("attachments:base/x.pdf", citationKey="linked")
    zotero.add("storage:../../../secret.txt", citationKey="evil")
    zotero.add("/etc/passwd", citationKey="root")
    before = (zotero.home / "zotero.sqlite").read_bytes()
    basket, _ = gathered(tmp_path / "a", f"library=zotero:{zotero.home}")
    own = f"ENTRYY{int(entries[2][-2:]) - 1:02}"
    assert names(basket) == [
        "library/@smith2020/Smith.txt",
        "library/@jones2021/Jones.txt",
        f"library/@{own}/None.txt",
    ]
    assert basket.documents[0].origin.startswith("[@smith2020] The Hall, 2020-03-00: ")
    assert {name.partition("/")[0] for name, _ in basket.left_out} == {"@linked", "@evil", "@root"}
    assert dict(basket.left_out)["@root/passwd"] == OUTSIDE
    assert (zotero.home / "zotero.sqlite").read_bytes() == before
    assert sorted(each.name for each in zotero.home.iterdir()) == ["storage", "zotero.sqlite"]


def test_a_library_that_is_in_use_by_zotero_can_be_read(tmp_path: Path) -> None:
    zotero = ZoteroFolder(tmp_path / "Zotero")
    key = zotero.add("storage:Smith.txt", citationKey="smith2020")
    (zotero.home / "storage" / key).mkdir()
    (zotero.home / "storage" / key / "Smith.txt").write_text("x")
    db = sqlite3.connect(zotero.home / "zotero.sqlite", isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")
    basket, _ = gathered(tmp_path / "a", f"library=zotero:{zotero.home}")
    db.close()
    assert names(basket) == ["library/@smith2020/Smith.txt"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "its database cannot be read"),
        (b"SQLite format 3\0" + b"\xff" * 4000, "its database cannot be read"),
    ],
)
def test_a_broken_database_is_said(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "zotero.sqlite").write_bytes(content)
    with pytest.raises(ConnectorError, match=said):
        gathered(tmp_path / "a", f"library=zotero:{tmp_path}")


def test_what_is_no_library_is_said(tmp_path: Path) -> None:
    (tmp_path / "x.bib").write_text("nothing at all {{{")
    for text, said in (
        (f"l=zotero:{tmp_path}", "there is no zotero.sqlite"),
        (f"l=bibtex:{tmp_path}/none.bib", "cannot be read"),
        (f"l=bibtex:{tmp_path}/x.bib", "has no entry"),
    ):
        with pytest.raises(ConnectorError, match=said):
            gathered(tmp_path / "a", text)


@given(st.text(max_size=80))
def test_any_file_field_is_read(field: str) -> None:
    assert all(isinstance(path, str) and path for path in files_of(field))


def test_a_database_whose_tables_are_views_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "zotero.sqlite")) as db:
        for table in ("items", "deletedItems", "itemData", "fields", "itemDataValues"):
            db.execute(f"CREATE TABLE {table} (itemID)")
        db.execute("CREATE VIEW itemAttachments AS SELECT hex(zeroblob(20000000)) AS path, 1 AS itemID")
        db.commit()
    with pytest.raises(ConnectorError, match="itemAttachments is no table"):
        gathered(tmp_path / "a", f"z=zotero:{tmp_path}")


def test_a_field_of_four_megabytes_is_read() -> None:
    assert list(files_of("a" * (4 << 20) + ";b")) == ["a" * (4 << 20), "b"]


def test_a_broken_entry_writes_nothing_to_the_terminal(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = bib(tmp_path / "l", ("good", "ok.txt"))
    path.write_text("@a{\x1b[2Jx,\n@a{" + path.read_text())
    gathered(tmp_path / "a", f"papers=bibtex:{path}")
    assert caplog.records == []
