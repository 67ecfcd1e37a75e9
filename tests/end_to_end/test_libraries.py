"""BibTeX and Zotero libraries with PDFs: the citation names key and page, the page is shown, and a replay
needs neither the library nor its files."""

import re
import shutil
from pathlib import Path

import pytest

from support.cli import folded, vera
from support.connecting import ZoteroFolder
from support.dashboards import app_of
from support.documents import make_pdf
from support.pdf_run import SECOND_PAGE, TITLE_PAGE

QUESTION = "For how many years does the maker repair the pump free of charge?"
THESIS = "Spare parts are delivered for at least ten years after the last pump of this type was made."
PDF = make_pdf(list(TITLE_PAGE), list(SECOND_PAGE))
OFFLINE = ("--egress", "none")


def bibtex(here: Path) -> str:
    (here / "lib").mkdir()
    (here / "lib" / "pump.pdf").write_bytes(PDF)
    (here / "lib" / "refs.bib").write_text(
        "@manual{maker2020,\n  title = {Pump P 40},\n  author = {The Maker},\n  year = 2020,\n"
        "  file = {Manual:pump.pdf:application/pdf}\n}\n"
    )
    return f"papers=bibtex:{here}/lib/refs.bib"


def zotero(here: Path) -> str:
    library = ZoteroFolder(here / "lib")
    key = library.add("storage:pump.pdf", citationKey="maker2020", title="Pump P 40", date="2020")
    (library.home / "storage" / key).mkdir()
    (library.home / "storage" / key / "pump.pdf").write_bytes(PDF)
    return f"papers=zotero:{library.home}"


@pytest.mark.parametrize("library", [bibtex, zotero])
def test_a_pdf_of_a_library_is_cited_by_key_and_page_shown_and_replayed_without_it(
    tmp_path: Path, library: object
) -> None:
    connector = ("--connector", library(tmp_path))  # type: ignore[operator]  # one of the two above
    run = vera(
        *("run", QUESTION, *connector, *OFFLINE, "--sandbox", "none", "--work-dir", "work/r"), cwd=tmp_path
    )
    verified = vera("verify", THESIS, *connector, *OFFLINE, "--work-dir", "work/v", cwd=tmp_path)
    (tmp_path / "paper.md").write_text(
        "The maker repairs the pump free of charge for three years [@maker2020, p. 2].\n\n"
        'It does so "for five years from the day of delivery" [@maker2020].\n'
    )
    checked = vera("check", "paper.md", *connector, cwd=tmp_path)

    for done in (run, verified):
        assert done.returncode == 0, done.stdout + done.stderr
        assert re.search(
            r"papers/@maker2020/pump\.pdf, lines? [0-9-]+, page 2 \(from \[@maker2020\]", done.stdout
        )
    assert checked.returncode == 4, checked.stdout
    assert "line 3: hard: The quotation" in checked.stdout and "line 1" not in checked.stdout
    assert "papers/@maker2020/pump.pdf" in checked.stdout
    assert "note: The connector papers gave 1 document." in checked.stdout

    shutil.rmtree(tmp_path / "lib")
    for session in ("work/r", "work/v"):
        assert vera("replay", session, cwd=tmp_path).returncode == 0
        assert {each.pages for each in folded(tmp_path / session).evidence.values() if not each.lead} == {
            (1, 4)
        }
    with app_of(tmp_path) as client:
        shown = client.get("/s/work~2Fr").text
        (picture,) = set(re.findall(r'src="(/s/work~2Fr/page/[^"]+)"', shown))
        assert "Page 2 of papers/@maker2020/pump.pdf" in shown or "page 2" in shown
        drawn = client.get(picture.replace("&amp;", "&"))
        assert (drawn.status_code, drawn.headers["content-type"]) == (200, "image/png")
