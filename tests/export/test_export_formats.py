"""A finished session in the formats of other programs: valid, honest about the proof, safe against texts."""

import io
import json
import re
import zipfile
from argparse import Namespace
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from support.exported import BODY, URL, claim, fetched, finished, quote, receipt
from support.run_pages import HOSTILE, START
from vera.attestation.outcome import WITHHELD
from vera.export.claim_review import claim_review, rating
from vera.export.csl import csl, date_parts
from vera.export.docx import docx
from vera.export.finished import Finished
from vera.export.ris import ris
from vera.export.warc import NoPages, warc
from vera.extraction.canonical.docx import extract
from vera.headline import HEADLINES
from vera.report.answer import Report
from vera.report.view.model import VERDICTS
from vera.sandbox.render.rendered import RenderReceipt
from vera.store import Store

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
BAD = "Rivers\r\nER  - \nTY  - JOUR </script><w:p/> =1+1 \x00\u202e]]>"


def with_source(text: str) -> Finished:
    """The example with this text as title, question, claim and source of the file."""
    made = finished(claim("supported", text), title=text)
    report = msgspec.structs.replace(
        made.report, text=f"{text} [ev_0003:1]", quotes=(quote(2, URL), quote(3, text, lines=(text,)))
    )
    return msgspec.structs.replace(made, task=text, report=report)


def reviews(made: Finished) -> list[dict[str, object]]:
    found = json.loads(claim_review(made))
    assert found["@context"] == "https://schema.org"
    graph = found["@graph"]
    assert isinstance(graph, list)
    return graph


def test_csl_has_an_item_for_each_cited_source() -> None:
    page, file = json.loads(csl(finished()))
    assert page["type"] == "webpage" and page["URL"] == URL and page["title"] == "The Elbe"
    assert page["issued"] == {"date-parts": [[2024, 3, 1]]}
    assert file["type"] == "document" and file["archive_location"] == "notes/a.txt" and "URL" not in file
    assert file["issued"] == {"date-parts": [[2020], [2021, 5]]}
    assert "VERIFIED" in page["note"] and "[ev_0002:1]" in page["note"]


@pytest.mark.parametrize(
    ("dated", "parts"), [("", []), ("../2024", []), ("2024/..", []), ("2024-02", [[2024, 2]]), ("soon", [])]
)
def test_a_date_with_an_unknown_end_is_no_date_of_a_reference(dated: str, parts: list[list[int]]) -> None:
    assert date_parts(dated) == parts


def test_ris_has_a_reference_for_each_cited_source() -> None:
    text = ris(finished()).decode()
    page, file, rest = text.split("ER  - \r\n")
    assert rest == ""
    assert "TY  - ELEC\r\nTI  - The Elbe\r\nPY  - 2024\r\nDA  - 2024/03/01\r\n" in page
    assert f"UR  - {URL}\r\n" in page and "VERIFIED" in page
    assert file.startswith("TY  - GEN\r\n") and "AV  - notes/a.txt\r\n" in file


def test_a_source_whose_bytes_are_not_in_the_store_is_no_reference() -> None:
    made = finished()
    report = msgspec.structs.replace(made.report, quotes=(quote(2, URL, problem="altered"),))
    assert json.loads(csl(msgspec.structs.replace(made, report=report))) == []
    assert ris(msgspec.structs.replace(made, report=report)) == b""


@pytest.mark.parametrize("text", [BAD, *HOSTILE], ids=range(len(HOSTILE) + 1))
def test_no_text_of_a_source_becomes_part_of_a_format(text: str) -> None:
    made = with_source(text)
    lines = ris(made).decode().split("\r\n")
    assert all(re.match(r"[A-Z][A-Z0-9]  -", line) for line in lines[:-1])
    assert [line[:2] for line in lines].count("TY") == [line[:2] for line in lines].count("ER") == 2
    assert len(json.loads(csl(made))) == 2
    assert not re.search(rb"[<>&]", claim_review(made))
    reviews(made)
    with zipfile.ZipFile(io.BytesIO(docx(made))) as file:
        for name in file.namelist():
            ElementTree.fromstring(file.read(name))
        assert b"<w:p/>" not in file.read("word/document.xml") + file.read("word/footnotes.xml")


def test_a_word_document_has_a_footnote_for_each_citation() -> None:
    data = docx(finished())
    text = extract(data, "answer.docx").text.decode()
    assert text.startswith("How long is the Elbe?\nVERIFIED: ")
    assert "https://rivers.example/elbe?a=1&b=2, line 1 (captured 2026-11-24 12:00:00Z" in text
    assert "> The Elbe is 1094 kilometres long." in text
    assert "No one looked elsewhere." in text
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        body = ElementTree.fromstring(file.read("word/document.xml"))
        notes = ElementTree.fromstring(file.read("word/footnotes.xml"))
        targets = re.findall(r'PartName="/([^"]+)"', file.read("[Content_Types].xml").decode())
        assert set(targets) <= set(file.namelist())
    meant = [each.get(f"{WORD}id") for each in body.iter(f"{WORD}footnoteReference")]
    kept = [each.get(f"{WORD}id") for each in notes.iter(f"{WORD}footnote")]
    assert meant == ["2", "3"] and kept == ["0", "1", "2", "3"]


def test_a_footnote_has_the_lines_of_its_citation_and_not_others_of_the_source() -> None:
    first = quote(2, URL, first=3, last=5, lines=("The Rhine is long.",))
    second = quote(2, URL, first=19, last=21, lines=("The Elbe rises in Bohemia.",))
    report = Report(text="It rises in Bohemia [ev_0002:20].", status="VERIFIED", quotes=(first, second))
    text = extract(docx(finished(report=report)), "answer.docx").text.decode()
    footnote = text.partition("[ev_0002:19-21]")[2]
    assert "> The Elbe rises in Bohemia." in footnote and "> The Rhine" not in text


def test_what_was_dropped_is_struck_out_in_a_word_document() -> None:
    with zipfile.ZipFile(io.BytesIO(docx(finished()))) as file:
        body = ElementTree.fromstring(file.read("word/document.xml"))
    struck = [each for each in body.iter(f"{WORD}r") if each.find(f"{WORD}rPr/{WORD}strike") is not None]
    assert ["".join(each.itertext()) for each in struck] == ["It is “blue”"]
    assert "(dropped)" in "".join(body.itertext())


@pytest.mark.parametrize("word", [*HEADLINES, *WITHHELD])
def test_each_export_says_how_strongly_the_answer_is_proved(word: str) -> None:
    made = finished(word=word)
    assert word in json.loads(csl(made))[0]["note"]
    assert word in ris(made).decode()
    assert f"\n{word}: " in extract(docx(made), "a.docx").text.decode()
    assert str(reviews(made)[0]["reviewBody"]).startswith(f"{word}: ")


@pytest.mark.parametrize(
    ("verdict", "rule", "value"),
    [
        ("supported", "model", 5),
        ("supported", "entailment", 5),
        ("supported", "literal", None),
        ("contradicted", "model", 1),
        ("contradicted", "containment", None),
        ("disputed", "model", None),
        ("unresolved", "model", None),
        ("unchecked", "model", None),
        ("dropped", "model", None),
    ],
)
def test_a_claim_is_rated_only_where_a_judge_has_read(verdict: str, rule: str, value: int | None) -> None:
    (review,) = reviews(finished(claim(verdict), rule=rule))
    rated = review["reviewRating"]
    assert isinstance(rated, dict)
    assert rated.get("ratingValue") == value
    assert review["claimReviewed"] == "The Elbe is 1094 kilometres long."


def test_an_unresolved_claim_is_not_said_to_be_false() -> None:
    assert rating("unresolved", judged=True) == {
        "@type": "Rating",
        "alternateName": "Unresolved: not shown to be true or false",
    }
    assert {rating(each, judged=each == "x")["@type"] for each in VERDICTS} == {"Rating"}


def test_a_session_that_cannot_be_relied_on_rates_nothing() -> None:
    (review,) = reviews(finished(claim("supported"), word="UNTRUSTED"))
    assert review["reviewRating"] == {"@type": "Rating", "alternateName": "Unchecked"}


def archive(store: Store, *of: object, body: bytes = BODY) -> bytes:
    kept = [fetched(store, number, each, body) for number, each in enumerate(of, 2)]
    made = finished(evidence={each.id: each for each in kept})
    return b"".join(warc(made, store))


def test_a_web_archive_has_the_kept_bytes_and_warcio_accepts_it(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    data = archive(store, receipt())
    (tmp_path / "a.warc").write_bytes(data)
    assert Checker(Namespace(inputs=[str(tmp_path / "a.warc")], verbose=False)).process_all() == 0
    info, page = [
        (each.rec_type, each.rec_headers, each.http_headers, each.content_stream().read())
        for each in ArchiveIterator(io.BytesIO(data), check_digests="raise")
    ]
    assert info[0] == "warcinfo" and b"VERIFIED" in info[3]
    kind, record, http, body = page
    assert kind == "response" and body == BODY
    assert record.get_header("WARC-Target-URI") == URL
    assert record.get_header("WARC-IP-Address") == "192.0.2.7"
    assert record.get_header("WARC-Payload-Digest").startswith("sha256:")
    assert http.statusline == "200 OK"
    assert http.get_header("content-encoding") is None
    assert http.get_header("X-Archive-Orig-content-encoding") == "gzip"
    assert http.get_header("content-length") == str(len(BODY))


def test_warcio_finds_a_changed_byte_of_a_web_archive(tmp_path: Path) -> None:
    data = archive(Store(tmp_path / "store"), receipt()).replace(b"1094", b"1904")
    (tmp_path / "a.warc").write_bytes(data)
    assert Checker(Namespace(inputs=[str(tmp_path / "a.warc")], verbose=False)).process_all() == 1


def test_the_same_session_gives_the_same_web_archive(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    assert archive(store, receipt()) == archive(store, receipt())
    assert docx(finished()) == docx(finished())


def test_a_header_of_a_page_cannot_begin_another(tmp_path: Path) -> None:
    hostile = receipt(
        headers=(("x-a", "1\r\nWARC-Type: response\r\n\r\nHTTP/1.1 200 OK"), ("bad name:", "x")),
        address="not an address",
    )
    data = archive(Store(tmp_path / "store"), hostile)
    records = [each.http_headers for each in ArchiveIterator(io.BytesIO(data)) if each.http_headers]
    assert [name for name, _ in records[0].headers] == ["x-a", "Content-Length"]


def test_a_rendered_page_is_a_resource_and_not_a_response(tmp_path: Path) -> None:
    rendered = RenderReceipt(
        requested=URL,
        url=URL,
        browser="Chrome",
        backend="bubblewrap",
        isolation="",
        status=200,
        media_type="text/html",
        tls="",
        settled=True,
        page_seconds=1.0,
        connections=(),
        connection_count=0,
        size=len(BODY),
        sha256=receipt().sha256,
        started=START,
        seconds=1.0,
        unknown=(),
    )
    data = archive(Store(tmp_path / "store"), rendered)
    assert [each.rec_type for each in ArchiveIterator(io.BytesIO(data))] == ["warcinfo", "resource"]


@pytest.mark.parametrize("of", [{"engine": "searxng"}, receipt(sha256="0" * 64), receipt(url="file:///etc")])
def test_what_is_no_kept_page_is_not_in_a_web_archive(of: object, tmp_path: Path) -> None:
    with pytest.raises(NoPages, match="fetched no page"):
        archive(Store(tmp_path / "store"), of)
