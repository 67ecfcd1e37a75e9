"""What every connector rests on: how a source is written, the limits of a basket, and the kept folder."""

import asyncio
from pathlib import Path

import pytest

from support.connecting import CLOSED, ENOUGH, gathered, names
from vera.connectors import Basket, ConnectorError, read_source, read_sources
from vera.connectors.basket import LARGEST, Limits
from vera.connectors.folder import FolderConnector
from vera.connectors.gathering import cache_folder, gather, list_of, origins_of, used_in


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))


def test_a_source_is_a_name_a_kind_an_address_and_options() -> None:
    source = read_source("code=git:https://host.test/a%2Fb.git#rev=v1.2&path=docs%2Fx")
    assert (source.name, source.kind, source.address) == ("code", "git", "https://host.test/a%2Fb.git")
    assert dict(source.options) == {"rev": "v1.2", "path": "docs/x"}
    assert read_source("docs=folder:/a%23b").address == "/a#b"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no connector"),
        ("code", "is no connector"),
        ("code=git", "is no connector"),
        ("code=git:", "is no connector"),
        ("Code=git:/x", "is no connector"),
        ("../x=git:/x", "is no connector"),
        ("input=git:/x", "No connector can be called input"),
        ("code=git:/x#rev", "options of the connector code cannot be read"),
        ("code=git:" + "x" * 5000, "is no address"),
        ("code=git:/x\0", "is no address"),
    ],
)
def test_what_is_no_source_is_refused(text: str, said: str) -> None:
    with pytest.raises(ConnectorError, match=said):
        read_source(text)


def test_a_name_comes_once() -> None:
    with pytest.raises(ConnectorError, match="Two connectors are called a"):
        read_sources(["a=git:/x", "a=folder:/y"])


@pytest.mark.parametrize(
    "name",
    ["", "/etc/x", "../x", "a/../x", "a//x", "./x", "a\0b", "a\nb", "x" * 201, "a/" * 400 + "x", "\udc80"],
)
def test_a_name_never_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    basket = Basket(tmp_path / "in", "a", ENOUGH)
    assert not basket.add(name, b"x", "somewhere")
    assert basket.left_out_count == 1
    assert list(tmp_path.rglob("*")) == []


def test_names_that_clash_are_told(tmp_path: Path) -> None:
    """Also those that only differ in case, and a folder where a document is."""
    basket = Basket(tmp_path, "a", ENOUGH)
    assert basket.add("x.txt", b"1", "")
    assert not basket.add("X.txt", b"2", "")
    assert not basket.add("x.txt/y", b"3", "")
    assert [why for _, why in basket.left_out] == [
        "another document has this name",
        "a document and a folder have this name",
    ]


def test_limits_of_number_bytes_and_size(tmp_path: Path) -> None:
    few = Basket(tmp_path, "a", Limits(documents=1, bytes=100, seconds=60))
    assert few.add("1", b"x", "")
    assert not few.add("2", b"x", "")
    assert few.left_out == [("2", "beyond its limit of 1 documents")]
    small = Basket(tmp_path, "b", Limits(documents=9, bytes=100, seconds=60))
    assert not small.add("1", b"x" * 101, "")
    assert small.add("2", b"x" * 100, "")
    assert small.is_full
    assert small.why_not(LARGEST + 1) == "larger than 64 MB"
    small.close()
    assert not small.add("3", b"", "")
    assert small.left_out_count == 1


def test_a_folder_gives_its_files_and_no_links(tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "deep" / "a.txt").write_text("a")
    (tmp_path / "in" / "link").symlink_to("/etc/passwd")
    basket, _ = gathered(tmp_path / "out", f"docs=folder:{tmp_path}/in")
    assert names(basket) == ["docs/deep/a.txt"]
    assert basket.left_out_count == 1
    with pytest.raises(ConnectorError, match="is no folder"):
        gathered(tmp_path / "out", f"docs=folder:{tmp_path}/none")


def kept(tmp_path: Path) -> Path:
    source = read_source(f"docs=folder:{tmp_path}/in")
    return asyncio.run(gather([(source, FolderConnector())], ENOUGH, CLOSED, cache_folder()))


def test_the_same_documents_are_the_same_folder_until_one_is_altered(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("a")
    first = kept(tmp_path)
    inode = (first / "docs/a.txt").stat().st_ino
    assert kept(tmp_path) == first
    assert (first / "docs/a.txt").stat().st_ino == inode
    assert origins_of(first) == {"docs/a.txt": f"{tmp_path}/in/a.txt"}
    (first / "docs/a.txt").write_text("forged")
    assert (kept(tmp_path) / "docs/a.txt").read_text() == "a"
    (first / "docs/more.txt").write_text("forged")
    assert not (kept(tmp_path) / "docs/more.txt").exists()
    (tmp_path / "in" / "a.txt").write_text("b")
    assert kept(tmp_path) != first
    assert [each.name for each in cache_folder().iterdir() if each.name.startswith(".new-")] == []


def test_a_list_that_was_altered_names_nothing(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("a")
    folder = kept(tmp_path)
    assert used_in(folder)
    path = folder.parent / "connectors.json"
    path.write_bytes(path.read_bytes().replace(b"docs", b"laws"))
    assert (list_of(folder), used_in(folder), origins_of(tmp_path)) == (b"", (), {})


def test_a_connector_that_gives_nothing_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link").symlink_to("/etc/passwd")
    with pytest.raises(ConnectorError, match=r"docs gave no document\. link: "):
        kept(tmp_path)
    assert not list(cache_folder().iterdir())
