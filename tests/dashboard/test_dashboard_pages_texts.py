"""Stored texts and ends of logs: bounded, escaped, and marked only where the bytes are those cited."""

import os
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from selectolax.lexbor import LexborHTMLParser

from support.markup import problems, visible_text
from support.run_pages import CLAIMS, FINISHED, HOSTILE
from support.verified import verified
from vera.attestation.keys import Signer
from vera.dashboard import pages
from vera.dashboard.query_params import Asked
from vera.dashboard.sessions import SessionFolder
from vera.dashboard.source_text import MAX_LINES, NOT_CITED, source_text
from vera.dashboard.tails import TAIL_BYTES, read_tail
from vera.report.view.model import RunPage
from vera.store import Store

ASKED = Asked(nonce="abc", static="/static/1", form_token="t")
TEXT = "".join(f"line {number}\n" for number in range(1, 201))


def folder(root: Path) -> SessionFolder:
    return SessionFolder(id="s", name="./s", path=root)


def citing(sha256: str, first: int, last: int, problem: str = "") -> RunPage:
    card = msgspec.structs.replace(
        CLAIMS[0].cards[0], source_id=sha256, first=first, last=last, problem=problem, quotation=("x",)
    )
    return msgspec.structs.replace(FINISHED, claims=(msgspec.structs.replace(CLAIMS[0], cards=(card,)),))


def marked(html: str | None) -> list[str]:
    assert html is not None
    return [node.text() for node in LexborHTMLParser(html).css("mark")]


def test_cited_lines_are_marked_in_the_stored_text(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    name = store.put(TEXT.encode())
    html = pages.render_source(ASKED, folder(tmp_path), citing(name, 100, 101), name, 100, 101, store)
    assert html is not None and problems(html) == []
    assert marked(html) == ["line 100", "line 101"]
    tree = LexborHTMLParser(html)
    assert tree.css_first("#L100").css(".no")[0].text() == "100"
    assert [node.text() for node in tree.css(".text-lines .no")][:1] == ["60"]
    assert "/s/s#claim-1" in {node.attributes["href"] for node in tree.css("a")}
    assert "Their bytes have the hash that was cited." in visible_text(html)
    assert CLAIMS[0].text in visible_text(html), "what the claim says, and not its name alone"
    file = f"store/{name[:2]}/{name}"
    assert tree.css_first("#check pre").text() == f"sha256sum {file}\nsed -n '100,101p' {file}"
    assert f"/s/s/bytes/{name}" in {node.attributes["href"] for node in tree.css("a[download]")}


def test_what_is_struck_out_is_shown_as_that(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    name = store.put(b"It lasts seven three years.\n")
    page = citing(name, 1, 1)
    card = msgspec.structs.replace(page.claims[0].cards[0], marks=(("struck", 9, 14),))
    page = msgspec.structs.replace(page, claims=(msgspec.structs.replace(page.claims[0], cards=(card,)),))
    html = pages.render_source(ASKED, folder(tmp_path), page, name, 1, 1, store)
    assert marked(html) == ["It lasts [struck out: seven] three years."]


def test_nothing_is_marked_when_the_quotation_did_not_hold(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    name = store.put(TEXT.encode())
    page = citing(
        name, 3, 3, problem="The stored bytes are not those that were cited, so they are not shown."
    )
    html = pages.render_source(ASKED, folder(tmp_path), page, name, 3, 3, store)
    assert marked(html) == []
    assert html is not None and "not those that were cited" in visible_text(html)
    assert "Their bytes have the hash" not in visible_text(html)


def test_nothing_is_marked_that_no_card_cites(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    name = store.put(TEXT.encode())
    html = pages.render_source(ASKED, folder(tmp_path), citing(name, 3, 3), name, 3, 4, store)
    assert marked(html) == []
    assert html is not None and NOT_CITED in visible_text(html)


def test_an_altered_text_is_not_shown(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    name = store.put(TEXT.encode())
    path = store.path(name)
    path.chmod(0o644)
    path.write_bytes(TEXT.encode().replace(b"line 3\n", b"line 8\n"))
    html = pages.render_source(ASKED, folder(tmp_path), citing(name, 3, 3), name, 3, 3, store)
    assert html is not None
    assert not LexborHTMLParser(html).css(".text-lines")
    assert "was altered" in visible_text(html)


def test_there_is_no_page_for_what_the_store_does_not_have(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    for name in ("0" * 64, "..", "x", ""):
        assert pages.render_source(ASKED, folder(tmp_path), FINISHED, name, 1, 1, store) is None


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_stored_page_is_shown_as_text(text: str, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    data = text.encode("utf-8", "replace").replace(b"\0", b"?")
    name = store.put(data)
    html = pages.render_source(ASKED, folder(tmp_path), citing(name, 1, 1), name, 1, 1, store)
    assert html is not None and problems(html) == []
    assert len(html) < 100_000
    assert "\u202e" not in html


def test_a_long_text_is_shown_in_pieces(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    name = store.put(b"x\n" * 5000)
    found = source_text(store, name, (), 0, 0)
    assert found is not None and len(found.rows) == MAX_LINES and found.lines == 5000
    html = pages.render_source(
        ASKED, folder(tmp_path), citing(name, 9_999_999, 9_999_999), name, 4900, 4950, store
    )
    assert html is not None and problems(html) == []
    for first, last in ((10**15, 10**15), (7, 3), (5000, 10**15)):
        assert source_text(store, name, (), first, last) is not None


def test_bytes_that_are_no_text_are_not_shown(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    name = store.put(b"\x89PNG\x00\x00")
    html = pages.render_source(ASKED, folder(tmp_path), FINISHED, name, 0, 0, store)
    assert html is not None and "This is no text" in visible_text(html)


def test_the_end_of_a_log_is_shown_and_what_stands_before_it_by_links(tmp_path: Path) -> None:
    lines = [f"line {number} {'x' * 90}\n" for number in range(3000)]
    (tmp_path / "run.log").write_text("".join(lines))
    seen, before = [], 0
    for _ in range(10):
        html = pages.render_log(ASKED, folder(tmp_path), "run", before)
        assert html is not None and problems(html) == []
        tree = LexborHTMLParser(html)
        seen = tree.css_first("pre").text().splitlines() + seen
        older = [
            node.attributes["href"] or "" for node in tree.css("a") if node.text() == "What stands before"
        ]
        if not older:
            break
        before = int(older[0].partition("before=")[2])
    assert [f"{line}\n" for line in seen] == lines


def test_events_of_a_log_can_be_read_back_to_the_first(tmp_path: Path) -> None:
    root = tmp_path / "s"
    verified(root, Signer(Ed25519PrivateKey.generate()))
    html = pages.render_log(ASKED, folder(root), "trace")
    assert html is not None and problems(html) == []
    rows = LexborHTMLParser(html).css("ol.events li")
    assert rows[-1].attributes["id"] == "e0" and len(rows) == len(
        (root / "trace.jsonl").read_bytes().splitlines()
    )
    half = rows[5].attributes["id"] or ""
    older = pages.render_log(ASKED, folder(root), "trace", int(half[1:]))
    assert older is not None
    assert [row.attributes["id"] for row in LexborHTMLParser(older).css("ol.events li")] == [
        row.attributes["id"] for row in rows[6:]
    ]


def test_a_log_that_is_not_there_or_no_file_is_said_to_be_empty(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "run.log").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "container.log")
    (tmp_path / "notes.md").mkdir()
    for name in ("run", "container", "notes", "evidence", "trace", "model_io"):
        html = pages.render_log(ASKED, folder(tmp_path), name)
        assert html is not None and problems(html) == []
        assert "secret" not in html
    assert pages.render_log(ASKED, folder(tmp_path), "seal.json") is None
    assert pages.render_log(ASKED, folder(tmp_path), "../x") is None


def test_a_line_without_an_end_is_cut(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_bytes(b"x" * (3 * TAIL_BYTES))
    tail = read_tail(tmp_path / "run.log", 0, TAIL_BYTES)
    assert tail is not None and len(tail.data) == TAIL_BYTES and tail.size == 3 * TAIL_BYTES


def test_what_is_no_record_is_left_out_of_the_events(tmp_path: Path) -> None:
    (tmp_path / "trace.jsonl").write_bytes(b'{"type":"no"}\n\xff\xfe\n' + b"x" * 2_000_000 + b"\n")
    html = pages.render_log(ASKED, folder(tmp_path), "trace")
    assert html is not None and "There is none in this piece" in visible_text(html)
