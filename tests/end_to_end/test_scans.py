"""Scans from the command line: read by tesseract, said so everywhere, and their numbers prove nothing."""

import json
import os
import shutil
from pathlib import Path

import pytest

from support.cli import folded, vera
from support.documents import make_picture, make_scan

LEASE = ["The lease of Elm Street ends on 31 May 2027.", "The rent is 900 euros a month."]
OFFLINE = ("--egress", "none", "--sandbox", "none")

pytestmark = pytest.mark.needs("tesseract")


@pytest.fixture(scope="module")
def scans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a scanned PDF of two pages and a picture, and the cache with its index."""
    here = tmp_path_factory.mktemp("scans")
    (here / "in").mkdir()
    (here / "in" / "lease.pdf").write_bytes(make_scan(LEASE, ["Maria Lopez signed the lease."]))
    (here / "in" / "photo.png").write_bytes(make_picture("The hall of Arden opens at nine."))
    return here


def asked(scans: Path, *words: str) -> str:
    done = vera(*words, cwd=scans, XDG_CACHE_HOME=str(scans / "c"))
    return done.stdout + done.stderr + f"exit code {done.returncode}"


def without_tesseract() -> dict[str, str]:
    folders = os.environ["PATH"].split(os.pathsep)
    return {"PATH": os.pathsep.join(each for each in folders if not (Path(each) / "tesseract").exists())}


def test_a_number_of_a_scan_is_shown_as_read_by_ocr_and_is_partial(scans: Path) -> None:
    said = asked(scans, "run", "When does the lease of Elm Street end?", "--input-dir", "in", *OFFLINE,
                 "--work-dir", "s")  # fmt: skip
    assert said.endswith("exit code 3")
    assert "lease.pdf, line" in said and "page 1 (read by OCR, captured" in said
    assert "> The lease of Elm Street ends on 31 May 2027." in said
    assert "- The numbers were read by OCR from lease.pdf, which misreads digits" in said
    assert "PARTIAL" in said and "QUOTED" not in said and "VERIFIED" not in said
    (held,) = [each for each in folded(scans / "s").evidence.values() if not each.lead]
    assert held.extractor.startswith("ocr/tesseract-") and held.pages == (1, 3)
    assert vera("report", "s", "--output", "s.html", cwd=scans).returncode == 0
    assert '<span class="tag">read by OCR</span>' in (scans / "s.html").read_text()

    replayed = vera("replay", "s", "--json", cwd=scans, **without_tesseract())
    assert replayed.returncode == 0, replayed.stderr
    (text,) = [each for each in json.loads(replayed.stdout)["levels"] if each["name"] == "L2"]
    assert text["verdict"] == "AGREES"
    assert "read by OCR from a picture, ocr/tesseract-" in json.dumps(text["remarks"])


def test_a_thesis_of_numbers_is_neither_proved_nor_refuted_and_one_of_words_is_quoted(scans: Path) -> None:
    def verdict(thesis: str) -> str:
        return asked(scans, "verify", thesis, "--input-dir", "in", *OFFLINE[:2])

    for rent in ("900", "950"):
        said = verdict(f"The rent is {rent} euros a month.")
        assert "PARTIAL: OCR read its numbers, so they prove and refute nothing" in said
        assert said.endswith("exit code 3")
    said = verdict("Maria Lopez signed the lease.")
    assert said.startswith("QUOTED") and said.endswith("exit code 0")
    assert "page 2 (read by OCR, captured" in said
    assert "- The text was read by OCR from pictures: lease.pdf. Any letter or digit may be misread." in said


def test_a_document_that_cites_a_scan_is_unchecked_where_the_scan_decides(scans: Path) -> None:
    def checked(text: str) -> str:
        (scans / "memo.md").write_text(text)
        return asked(scans, "check", "memo.md", "--sources", "in")

    right = checked("The rent is 900 euros a month ([lease](in/lease.pdf)).\n")
    wrong = checked("The rent is 950 euros a month ([lease](in/lease.pdf)).\n")
    quoted = checked('It says "nobody ever signed this lease at all" ([lease](in/lease.pdf)).\n')
    for said in (right, wrong, quoted):
        assert "line 1: unchecked: " in said and "hard" not in said
        assert said.endswith("exit code 3")
    assert '"950 euros" is nowhere' in wrong
    assert checked("Maria Lopez signed the lease ([lease](in/lease.pdf)).\n").endswith("exit code 0")


def test_without_tesseract_or_when_told_so_a_scan_is_named_with_what_to_type(scans: Path) -> None:
    for words, variables in (((), without_tesseract()), (("-c", "run.ocr=none"), {})):
        done = vera("index", "in", *words, cwd=scans, XDG_CACHE_HOME=str(scans / "none"), **variables)
        assert done.returncode == 1
        assert "lease.pdf: the PDF holds no text, probably pictures of pages: reading it needs tesseract" in (
            done.stderr
        )
        assert "photo.png: a PNG picture: reading it needs tesseract (sudo apt" in done.stderr
    shutil.copytree(scans / "c" / "vera" / "ocr", scans / "none" / "vera" / "ocr")
    # What could not be read is looked at again once tesseract is there.
    done = vera("index", "in", cwd=scans, XDG_CACHE_HOME=str(scans / "none"))
    assert done.returncode == 0 and done.stdout.startswith("2 files looked at")
