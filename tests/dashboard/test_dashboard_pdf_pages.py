"""A citation of a PDF shows its page: drawn once, for cited lines only, and with a reason where it is not."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from starlette.testclient import TestClient

from support import pdf_run
from support.dashboards import app_of
from support.documents import make_pdf
from support.run_pages import CLAIMS, FINISHED
from vera import events
from vera.attestation.keys import Signer
from vera.dashboard import pages, pdf_pages
from vera.dashboard.pdf_pages import Busy, PdfPages, answer, card_of
from vera.dashboard.query_params import Asked
from vera.dashboard.sessions import SessionFolder
from vera.events import Blob
from vera.extraction.page_picture import PageRequest
from vera.extraction.page_picture_client import PagePicture
from vera.extraction.source import Unreadable
from vera.report.html.document import report_html
from vera.report.html.wording import cited_lines
from vera.report.view.cards import pdf_place
from vera.report.view.model import CardView, ClaimView, PdfPlace
from vera.store import Store

PDF = make_pdf(["Contents", "1 Warranty"], ["The warranty lasts three years", "from the day of delivery."])
TEXT = b"Contents\n1 Warranty\nThe warranty lasts three years\nfrom the day of delivery.\n"
ASKED = Asked(nonce="abc", static="/static/1", form_token="t")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "store")
    made.put(PDF)
    made.put(TEXT)
    return made


def card(store: Store, first: int = 3, last: int = 4, **given: object) -> CardView:
    place = PdfPlace(store.put(PDF), 2, 3)
    shown = msgspec.structs.replace(
        CLAIMS[0].cards[0], source="manual.pdf", source_id=store.put(TEXT), first=first, last=last, pdf=place
    )
    return msgspec.structs.replace(shown, quotation=("The warranty lasts three years",), **given)


def claims(*cards: CardView) -> tuple[ClaimView, ...]:
    return (msgspec.structs.replace(CLAIMS[0], cards=cards),)


def evidence(
    pages_of: tuple[int, ...], raw: Blob | None, media_type: str = "application/pdf"
) -> events.Evidence:
    return events.Evidence(
        id="ev_0001", call="c", step=1, tool="read", tier="captured", source="manual.pdf", summary="read",
        text=Blob("a" * 64, 9), lines=9, first=1, last=9, media_type=media_type, raw=raw, pages=pages_of,
    )  # fmt: skip


def test_a_line_has_the_page_on_which_it_is() -> None:
    raw = Blob("b" * 64, 9)
    of = evidence((1, 3, 3, 7), raw)
    assert [pdf_place(of, line) for line in (1, 2, 3, 9)] == [
        PdfPlace(raw.sha256, 1, 1, 2),
        PdfPlace(raw.sha256, 1, 1, 2),
        PdfPlace(raw.sha256, 3, 3, 6),
        PdfPlace(raw.sha256, 4, 7, 0),
    ]


@pytest.mark.parametrize(
    ("pages_of", "raw", "media_type"),
    [
        ((), Blob("b" * 64, 9), "application/pdf"),
        ((1,), None, "application/pdf"),
        ((1,), Blob("b" * 64, 9), "text/html"),
        ((5,), Blob("b" * 64, 9), "application/pdf"),
    ],
)
def test_no_other_source_has_one(pages_of: tuple[int, ...], raw: Blob | None, media_type: str) -> None:
    assert pdf_place(evidence(pages_of, raw, media_type), 3) is None


def test_the_pages_show_the_picture_and_the_report_names_the_page(store: Store, tmp_path: Path) -> None:
    shown = card(store)
    page = msgspec.structs.replace(
        FINISHED, answer="It lasts three years [ev_0002:3-4].", claims=claims(shown)
    )
    session = SessionFolder(id="s", name="./s", path=tmp_path)
    source = pages.render_source(ASKED, session, page, shown.source_id, 3, 4, store)
    address = f"/s/s/page/{shown.source_id}?first=3&amp;last=4"
    assert source is not None and f'src="{address}" alt="Page 2 of manual.pdf' in source
    parts = pages.render_parts(ASKED, session, page, pages.RunStatus(), ["answer"], {})
    assert f'src="{address}"' in parts and "page 2, lines 3–4" in parts
    report = report_html(page, work_dir="./s")
    assert cited_lines(shown) == "page 2, lines 3–4" and ">page 2, lines 3–4</span>" in report
    assert "<img" not in report


def test_only_lines_that_a_card_cites_and_that_hold_are_drawn(store: Store) -> None:
    good = card(store)
    assert card_of(claims(good), good.source_id, 3, 4) is good
    assert card_of(claims(good), good.source_id, 3, 3) is None
    assert card_of(claims(good), "f" * 64, 3, 4) is None
    for other in (
        card(store, problem="altered"),
        msgspec.structs.replace(good, quotation=()),
    ):
        assert card_of(claims(other), other.source_id, 3, 4) is None


def drawn(makers: PdfPages, store: Store, shown: CardView) -> bytes | str:
    assert shown.pdf is not None
    return asyncio.run(makers.picture(store, shown, shown.pdf))


def test_the_words_of_the_cited_lines_are_looked_for_behind_the_letters_before_them(store: Store) -> None:
    asked: list[PageRequest] = []

    def draw(request: PageRequest) -> PagePicture:
        asked.append(request)
        return PagePicture(b"png", True)

    makers = PdfPages(draw)
    assert drawn(makers, store, card(store, 4, 4)) == b"png"
    assert drawn(makers, store, card(store, 4, 4)) == b"png"
    (request,) = asked
    assert (request.data, request.number, request.words) == (PDF, 2, "from the day of delivery.")
    assert request.before == len("Thewarrantylaststhreeyears")


def test_what_was_not_drawn_is_remembered_too(store: Store) -> None:
    asked: list[int] = []

    def draw(request: PageRequest) -> PagePicture:
        asked.append(request.number)
        raise Unreadable("the page is damaged")

    makers = PdfPages(draw)
    assert [drawn(makers, store, card(store)) for _ in range(3)] == ["the page is damaged"] * 3
    assert asked == [2]


def test_a_picture_is_not_shown_again_when_the_stored_bytes_are_others(store: Store) -> None:
    makers = PdfPages(lambda _: PagePicture(b"png", True))
    shown = card(store)
    assert shown.pdf is not None and drawn(makers, store, shown) == b"png"
    path = store.path(shown.pdf.sha256)
    path.chmod(0o600)
    path.write_bytes(b"altered")
    assert drawn(makers, store, shown) == "the stored PDF is missing or was altered"


def test_only_so_many_pictures_are_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_pages, "KEPT_BYTES", 10)
    asked: list[str] = []

    def draw(request: PageRequest) -> PagePicture:
        asked.append(request.words)
        return PagePicture(bytes(6), True)

    makers = PdfPages(draw)
    for line in (3, 4, 3):
        drawn(makers, store, card(store, line, line))
    assert len(asked) == 3


def test_bytes_that_are_gone_altered_or_too_large_are_said(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    makers = PdfPages(lambda _: PagePicture(b"png", True))
    assert "cannot be read" in str(drawn(makers, store, card(store, 9, 9)))
    shown = card(store)
    assert shown.pdf is not None
    path = store.path(shown.pdf.sha256)
    path.chmod(0o600)
    path.write_bytes(PDF + b" ")
    assert drawn(makers, store, shown) == "the stored PDF is missing or was altered"
    monkeypatch.setattr(pdf_pages, "MAX_PDF", 10)
    assert "larger than" in str(drawn(PdfPages(), store, shown))


def test_too_many_who_wait_are_told_to_come_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_pages, "WAITING", 0)
    with pytest.raises(Busy):
        drawn(PdfPages(), store, card(store))


def test_the_reason_is_a_picture_that_holds_no_markup_of_a_document() -> None:
    said = answer('the <script>alert(1)</script> "page" & ' + "long " * 200)
    assert (said.status_code, said.media_type) == (422, "image/svg+xml")
    text = bytes(said.body).decode()
    assert "<script" not in text and "&lt;script" in text and len(text) < 1000
    assert "cited lines are in the text" in text


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, str]]:
    """A run whose answer cites a PDF, and where its picture is."""
    base = tmp_path_factory.mktemp("pdf")
    pdf = make_pdf(list(pdf_run.TITLE_PAGE), list(pdf_run.SECOND_PAGE))
    text = pdf_run.make(base / "work" / "pump", pdf, Signer(Ed25519PrivateKey.generate()))
    with app_of(base) as client:
        yield client, f"/s/work~2Fpump/page/{text}"


def test_the_page_of_a_run_leads_to_a_picture_of_the_cited_page(served: tuple[TestClient, str]) -> None:
    client, address = served
    shown = client.get("/s/work~2Fpump").text
    (found,) = set(re.findall(rf'src="({address}[^"]+)"', shown))
    picture = client.get(found.replace("&amp;", "&"))
    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/png")
    assert picture.content.startswith(b"\x89PNG")
    assert picture.headers["x-content-type-options"] == "nosniff"
    assert "img-src 'self'" in picture.headers["content-security-policy"]


@pytest.mark.parametrize("lines", ["?first=1&last=2", "", "?first=9&last=8", "?first=99999999&last=1"])
def test_no_other_lines_are_drawn(served: tuple[TestClient, str], lines: str) -> None:
    client, address = served
    assert client.get(address + lines).status_code == 404


@pytest.mark.parametrize("name", ["..%2f..%2ftrace.jsonl", "A" * 64, "f" * 64, "x"])
def test_no_other_bytes_are_drawn(served: tuple[TestClient, str], name: str) -> None:
    client, address = served
    assert client.get(f"{address.rpartition('/')[0]}/{name}?first=9&last=10").status_code == 404


def test_a_number_that_is_no_number_is_refused(served: tuple[TestClient, str]) -> None:
    client, address = served
    assert client.get(f"{address}?first=-1&last=x").status_code == 400
