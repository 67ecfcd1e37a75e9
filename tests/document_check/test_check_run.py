"""Checking documents of every format against a folder of sources and against pages of a real server."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from support.linked_documents import written
from support.site import serving
from vera import config
from vera.agent.errors import SetupError
from vera.cli.check_text import summary
from vera.config.settings import EgressSettings
from vera.document_check.reference_findings import ReferenceChecked, Status
from vera.document_check.run import Options, Report, check_document
from vera.store import Store

SALES = (
    "Annual sales report of Nordwind Cooperative\n\nSales grew by 12 percent in 2019.\nStaff fell to 47.\n"
)
PARKS = (
    "<html><head><title>Parks of Lindau</title></head><body><p>Published 3 May 2021</p>"
    "<p>The town has 14 parks. The oldest one was opened in 1874.</p></body></html>"
)


@pytest.fixture
def site() -> Iterator[str]:
    pages = {"/parks": PARKS.encode(), "/copy": PARKS.encode()}
    with serving(pages, moved={"/moved": "/parks"}) as address:
        yield address


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sources = tmp_path / "sources"
    (sources / "more").mkdir(parents=True)
    (sources / "sales.txt").write_text(SALES)
    (sources / "more" / "parks.html").write_text(PARKS)
    return sources


def loopback(site: str) -> EgressSettings:
    """The egress policy that lets the test's own server through."""
    changes = {
        "egress.mode": "allowlist",
        "egress.allow": site.removeprefix("http://"),
        "egress.allow_cidrs": "127.0.0.0/8",
    }
    return config.defaults(changes).egress


def checked(path: Path, text: str | bytes, options: Options | None = None) -> Report:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return check_document(path, options or Options())


def hard(report: Report) -> list[str]:
    return [problem.code for problem in report.findings.problems if problem.severity == "hard"]


@pytest.mark.parametrize(
    "source",
    [
        "[report](sources/sales.txt)",
        "[report](sales.txt)",
        "[report](https://example.org/files/sales.txt?x=1)",
        "[Annual sales report of Nordwind Cooperative](https://example.org/page)",
        "report[^1]",
        "report [@sales]",
    ],
)
def test_a_source_is_found_in_the_folder_by_path_name_and_title(
    tmp_path: Path, folder: Path, source: str
) -> None:
    note = "\n\n[^1]: Nordwind: “Annual Sales Report of Nordwind Cooperative”, 2020.\n"
    options = Options(sources=folder)
    report = checked(tmp_path / "a.md", f"According to the {source}, sales grew by 12 %.{note}", options)
    assert [(each.status, each.where) for each in report.sources] == [("file", "sales.txt")]
    assert (report.findings.checked, report.exit_code()) == (1, 0)
    wrong = checked(tmp_path / "a.md", f"According to the {source}, sales grew by 13 %.{note}", options)
    assert (hard(wrong), wrong.exit_code()) == (["amount_absent"], 4)


def test_a_file_that_is_not_there_is_ambiguous_or_outside_the_folder_is_unchecked(
    tmp_path: Path, folder: Path
) -> None:
    (folder / "more" / "sales.txt").write_text("another")
    (tmp_path / "secret.txt").write_text("Sales grew by 12 %.")
    links = ("[a](gone.txt)", "[b](x/sales.txt)", "[c](secret.txt)")
    text = "".join(f"It grew 12 % ({link}).\n\n" for link in links)
    report = checked(tmp_path / "a.md", text, Options(sources=folder))
    assert [each.status for each in report.sources] == ["unchecked"] * 3
    assert "2 files" in report.sources[1].reason
    assert (report.findings.checked, report.exit_code()) == (0, 3)


def test_two_pages_with_one_file_name_are_not_taken_for_one_file(tmp_path: Path, folder: Path) -> None:
    text = "There are 14 parks ([a](https://a.org/parks.html), [b](https://b.org/parks.html)).\n"
    assert checked(tmp_path / "a.md", text, Options(sources=folder)).exit_code() == 3


def test_without_sources_and_fetch_every_source_is_unchecked_with_what_to_add(tmp_path: Path) -> None:
    text = "It grew 12 % [a](a.txt). It fell 3 % [b](https://b.org). It was 5 [ev_0003:12].\n"
    report = checked(tmp_path / "a.md", text)
    assert ["--sources" in report.sources[0].reason, "--fetch" in report.sources[1].reason] == [True, True]
    assert "vera replay" in report.sources[2].reason
    assert report.exit_code() == 3


def test_the_document_is_no_source_of_its_own_quotations(tmp_path: Path, folder: Path) -> None:
    text = "He said “the quoted words are nowhere else”.\n"
    report = checked(folder / "a.md", text, Options(sources=folder))
    assert [problem.code for problem in report.findings.problems] == ["quotation_unsourced"]
    assert (report.exit_code(), report.exit_code(strict=True)) == (3, 4)  # no statement names a source


def test_linked_pages_are_fetched_and_kept_with_their_receipts(tmp_path: Path, site: str) -> None:
    text = f"The town has 14 parks ([a]({site}/moved)). The oldest is of 1875 ([a]({site}/parks#top)).\n"
    keep = tmp_path / "kept"
    report = checked(tmp_path / "a.md", text, Options(egress=loopback(site), keep=keep))
    assert [(each.status, each.http_status) for each in report.sources] == [("fetched", 200)] * 2
    assert report.sources[0].where == f"{site}/parks"
    assert (hard(report), report.exit_code()) == (["date_absent"], 4)
    store = Store(keep / "store")
    first = report.sources[0]
    assert store.get(first.raw) == PARKS.encode()
    assert json.loads(store.get(first.receipt))["redirects"][0]["status"] == 302
    assert b"14 parks" in store.get(first.text)
    assert store.get(report.sha256) == text.encode()
    assert json.loads((keep / "check.json").read_bytes())["sha256"] == report.sha256


def test_an_error_page_a_refused_address_and_too_many_links_are_unchecked(tmp_path: Path, site: str) -> None:
    text = (
        f"It has 14 parks ([a]({site}/gone)).\n\nIt has 14 parks ([b](http://10.0.0.1/x)).\n\n"
        f"It has 14 parks ([c]({site}/parks)).\n"
    )
    report = checked(tmp_path / "a.md", text, Options(egress=loopback(site), max_links=2))
    reasons = [each.reason for each in report.findings.unchecked]
    assert "HTTP 404" in reasons[0]
    assert "not fetched" in reasons[1]
    assert "--max-links" in reasons[2]
    assert (report.findings.checked, hard(report), report.exit_code()) == (0, [], 3)


def test_independence_and_the_time_window_count_when_they_are_asked_for(tmp_path: Path, site: str) -> None:
    text = f"The town has 14 parks ([a]({site}/parks), [b]({site}/copy)).\n"
    plain = Options(egress=loopback(site))
    assert checked(tmp_path / "a.md", text, plain).exit_code() == 0
    two = Options(egress=loopback(site), independent=2)
    assert hard(checked(tmp_path / "a.md", text, two)) == ["not_independent"]
    late = Options(egress=loopback(site), not_before="2022-01-01")
    assert set(hard(checked(tmp_path / "a.md", text, late))) == {"outside_window"}


def test_an_html_document_is_checked_by_its_own_lines(tmp_path: Path, folder: Path) -> None:
    text = (
        "<html><body>\n<h1>Notes</h1>\n<p>Sales grew by 13 %\n(<a href='sales.txt'>report</a>).</p>\n"
        "<blockquote>The oldest one was closed in 1874.</blockquote>\n"
        "<p><a href='more/parks.html'>Parks</a></p></body></html>"
    )
    report = checked(folder / "a.html", text, Options(sources=folder))
    found = [(each.line, each.code) for each in report.findings.problems if each.severity == "hard"]
    assert found == [(3, "amount_absent"), (5, "quotation_false")]


def test_a_word_document_keeps_the_targets_of_its_links_and_notes(tmp_path: Path, folder: Path) -> None:
    w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="r"'
    body = (
        '<w:p><w:r><w:t xml:space="preserve">Sales grew by 13 % (</w:t></w:r><w:hyperlink r:id="rId5"><w:r>'
        "<w:t>report</w:t></w:r></w:hyperlink><w:r><w:t>).</w:t></w:r></w:p><w:p><w:r><w:t>Staff fell to 47."
        '</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
    )
    note = '<w:footnote w:id="2"><w:p><w:r><w:t>Nordwind, sales.txt, 1999</w:t></w:r></w:p></w:footnote>'
    relation = '<Relationship Id="rId5" Target="sales.txt" TargetMode="External"/>'
    path = tmp_path / "a.docx"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("word/document.xml", f"<w:document {w}><w:body>{body}</w:body></w:document>")
        package.writestr("word/footnotes.xml", f"<w:footnotes {w}>{note}</w:footnotes>")
        package.writestr("word/_rels/document.xml.rels", f"<Relationships>{relation}</Relationships>")
    report = check_document(path, Options(sources=folder))
    assert [each.where for each in report.sources] == ["sales.txt", "sales.txt"]
    assert [(each.line, each.code) for each in report.findings.problems] == [(1, "amount_absent")]
    assert report.findings.checked == 2


@pytest.mark.parametrize("kind", ["odt", "pptx", "epub", "rtf"])
def test_a_document_of_another_format_is_checked_a_paragraph_a_line(
    tmp_path: Path, folder: Path, kind: str
) -> None:
    sales = "file" if kind in ("odt", "rtf") else "web"
    target = {"odt": "../sales.txt", "rtf": "sales.txt"}.get(kind, "https://nordwind.example/sales.txt")
    said = ("The report follows.", "Sales grew by 13 % ({}).", "Staff fell to 47 ({}).")
    path = tmp_path / f"a.{kind}"
    path.write_bytes(written(kind, said, target))
    report = check_document(path, Options(sources=folder))
    assert (report.format, {each.kind for each in report.sources}) == (kind, {sales})
    assert [each.where for each in report.sources] == ["sales.txt"]
    assert [(each.line, each.code) for each in report.findings.problems if each.severity == "hard"] == [
        (2, "amount_absent")
    ]
    assert report.findings.checked == 2
    assert report.notes == ("Lines are those of the document's text: a paragraph a line.",)


@pytest.mark.parametrize(
    ("name", "data", "said", "code"),
    [
        ("a.md", b"", "it is empty", 1),
        ("a.md", b"\x00\x01\x02\x03", "binary data", 1),
        ("a.md", b" \n\n", "no text", 1),
        ("a.json", b"{}", "json is no document", 1),
        ("a.docx", b"PK\x03\x04word/document.xml", "zip container is broken", 1),
        ("a.pdf", b"%PDF-1.4 broken", "cannot be checked", 1),
        ("a.md", b"word " * 900_000, "longer than 4 million", 1),
    ],
)
def test_what_is_no_document_is_said_in_one_sentence(
    tmp_path: Path, name: str, data: bytes, said: str, code: int
) -> None:
    with pytest.raises(SetupError, match=said) as error:
        checked(tmp_path / name, data)
    assert error.value.exit_code == code


def test_a_missing_document_or_folder_is_wrong_usage(tmp_path: Path) -> None:
    for path, options in (
        (tmp_path / "none.md", Options()),
        (tmp_path, Options()),
        (Path(__file__), Options(sources=tmp_path / "none")),
    ):
        with pytest.raises(SetupError) as error:
            check_document(path, options)
        assert error.value.exit_code == 2


def test_invalid_utf8_and_foreign_line_ends_are_read(tmp_path: Path, folder: Path) -> None:
    text = b"\xef\xbb\xbfOne.\r\n\r\nCaf\xe9: sales grew by 13 % ([r](sales.txt)).\r\n"
    report = checked(folder / "a.md", text, Options(sources=folder))
    assert [(each.line, each.code) for each in report.findings.problems if each.severity == "hard"] == [
        (3, "amount_absent")
    ]


def test_a_kept_report_is_replaced_and_no_other_file_of_its_name(tmp_path: Path) -> None:
    document, keep = tmp_path / "a.md", tmp_path / "kept"
    for words in ("One.", "Two."):
        report = checked(document, f"{words}\n", Options(keep=keep))
        assert json.loads((keep / "check.json").read_bytes())["sha256"] == report.sha256
    for mine in ('{"document": "mine"}', "mine", "[" * 100_000):
        (keep / "check.json").write_text(mine)
        with pytest.raises(SetupError, match="no report of a check") as refused:
            checked(document, "Three.\n", Options(keep=keep))
        assert refused.value.exit_code == 2 and (keep / "check.json").read_text() == mine


@pytest.mark.parametrize(
    ("statuses", "said"),
    [
        (("found", "not_found"), "2 references looked up, 1 found."),
        (("found", "unchecked"), "1 of 2 references looked up, 1 found."),
        (("unchecked",), "0 of 1 reference looked up, 0 found."),
    ],
)
def test_a_reference_that_was_not_looked_up_is_not_counted(
    statuses: tuple[Status, ...], said: str, tmp_path: Path
) -> None:
    references = tuple(ReferenceChecked(line=1, text="A study.", status=each) for each in statuses)
    report = msgspec.structs.replace(checked(tmp_path / "a.md", "One.\n"), references=references)
    assert summary(report)[-1] == said
