"""The search of a folder for files that replace or amend what is cited: what it finds, and its bounds."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from vera.audit.source_text import SourceText
from vera.corpus import Corpus
from vera.events import Evidence
from vera.extraction.extractor import Extractor
from vera.verification import versions
from vera.verification.versions import Looked, as_evidence, later_versions

LEASE = "Lease Agreement\n\n7. Rent\nThe rent is 1,000 euros a month.\n"


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    files = tmp_path / "files"
    files.mkdir()
    (files / "lease.txt").write_text(LEASE)
    with Extractor() as extractor, Corpus(files, tmp_path / "cache", extractor) as found:
        yield found


def write(corpus: Corpus, **texts: str) -> None:
    for name, text in texts.items():
        (corpus.root / f"{name}.txt").write_text(text)


def look(corpus: Corpus, name: str = "lease.txt", skip: str = "") -> Looked:
    corpus.update()
    document = corpus.document(name)
    cited = as_evidence(document, "ev_0001")
    return later_versions(corpus, [cited], texts(cited, document.extracted.text), skip)


def texts(cited: Evidence, text: bytes) -> dict[str, SourceText]:
    assert cited.text.sha256 == hashlib.sha256(text).hexdigest()
    return {cited.text.sha256: SourceText(text)}


def found(looked: Looked) -> list[str]:
    return [each.document.path for each in looked.found]


def test_a_file_that_names_the_cited_one_is_found_among_many(corpus: Corpus) -> None:
    write(corpus, **{f"note{number:03}": f"Note {number}\nIt rains in Paris.\n" for number in range(150)})
    write(corpus, amendment="Amendment\n\nClause 7 of the Lease Agreement is deleted.\n")
    looked = look(corpus)
    assert found(looked) == ["amendment.txt"]
    assert looked.files <= versions.MAX_READ
    assert found(look(corpus, skip="amendment.txt")) == []


@pytest.mark.parametrize(
    "sentence",
    ["Hiermit wird § 7 von lease.txt aufgehoben.", "La présente convention remplace lease.txt.",
     "Diese Vereinbarung ersetzt lease.txt.", "This replaces all previous documents."],
)  # fmt: skip
def test_it_is_found_in_other_languages_and_without_a_name(corpus: Corpus, sentence: str) -> None:
    write(corpus, other=f"Other\n\n{sentence}\n", unrelated="Unrelated\n\nThe weather replaces the news.\n")
    assert found(look(corpus)) == ["other.txt"]


def test_a_later_name_is_found(corpus: Corpus) -> None:
    write(corpus, **{"lease-2023": "Contract\n\nThe rent is 1,200 euros.\n"})
    assert found(look(corpus)) == ["lease-2023.txt"]
    assert found(look(corpus, "lease-2023.txt")) == []


def test_a_title_that_further_files_have_names_no_single_one(corpus: Corpus) -> None:
    write(corpus, paris="Lease Agreement\n\n7. Rent\nThe rent is 900 euros a month.\n")
    write(corpus, amendment="Amendment\n\nClause 7 of the Lease Agreement is deleted.\n")
    (later,) = look(corpus).found
    assert (later.document.path, later.shared) == ("amendment.txt", ("lease agreement",))


def test_the_search_is_bounded_and_says_so(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "Memo {0}\n\nIn the year {0} this replaces lease.txt.\n"
    write(corpus, **{f"m{number}": said.format(number) for number in range(2001, 2013)})
    monkeypatch.setattr(versions, "MAX_READ", 5)
    looked = look(corpus)
    assert looked.files == 5
    assert "were not read" in looked.problem
    monkeypatch.setattr(versions, "SECONDS", -1.0)
    looked = look(corpus)
    assert (looked.files, looked.problem) == (0, versions.CUT_SHORT)


def test_the_files_cited_beyond_a_bound_are_counted(corpus: Corpus) -> None:
    corpus.update()
    cited = [as_evidence(corpus.document("lease.txt"), "ev_0001")] * (versions.MAX_CITED + 2)
    looked = later_versions(corpus, cited, {})
    assert looked.problem == "later versions of 2 cited files were not looked for"
