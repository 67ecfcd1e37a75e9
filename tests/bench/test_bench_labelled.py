"""Readers of labelled data: what they give, and what they refuse by a sentence."""

import json
from pathlib import Path

import pytest
from checks import judging, locating
from checks.labelled import (
    CheckedClaim,
    read_averitec,
    read_pairs,
    read_quotesum,
    read_wice,
)

from vera.bench.eval_data import DataError

WICE = {
    "claim": "The bridge is 310 metres long.",
    "evidence": ["Skerry bridge", "The bridge is 290 metres long.", "It opened in 1954."],
    "label": "not_supported",
    "supporting_sentences": [[1], [0, 1], []],
    "meta": {"id": "x"},
}
QUOTESUM = {
    "summary": "It [ 1 opened in 1954 ] and [ 2 Skerry bridge ] is [ 2 290 metres long. ] of [ 7 steel ]",
    "title1": "History",
    "source1": "The bridge opened in 1954.",
    "title2": "Skerry bridge",
    "source2": "The bridge is 290 metres long.",
}


def rows(path: Path, *found: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in found))
    return path


def test_a_wice_row_is_a_claim_with_its_page(tmp_path: Path) -> None:
    (claim,) = read_wice(rows(tmp_path / "w", WICE))
    assert claim.page == ("Skerry bridge", "The bridge is 290 metres long.", "It opened in 1954.")
    assert not claim.supported
    assert claim.gold == {1, 2}


def test_the_audit_is_measured_on_claims(tmp_path: Path) -> None:
    true = {**WICE, "claim": "The bridge is 290 metres long.", "label": "supported"}
    figures = judging.measure(read_wice(rows(tmp_path / "w", WICE, true)), seed=0)
    assert (figures["n"], figures["supported"]) == (2, 1)
    assert (figures["hard_precision"], figures["hard_recall"], figures["hard_false_vetoes"]) == (1.0, 1.0, 0)
    assert (figures["hit_at_10"], figures["hit_at_10_n"]) == (1.0, 2)


def test_a_line_of_the_page_stays_one_line() -> None:
    page = ("A title\nin two lines", "", "The bridge is 290 metres long.")
    case = judging.page_case("x", page)
    (source,) = case.sources.values()
    assert len(source.lines) == 3


def test_no_search_and_no_second_source_is_asked_of_labelled_data() -> None:
    claim = CheckedClaim(
        text="The bridge was never closed.", page=("The bridge stood open.",), supported=True
    )
    assert judging.measure([claim], seed=0)["hard_false_vetoes"] == 0


def test_marks_are_located_in_title_and_text(tmp_path: Path) -> None:
    figures = locating.measure(read_quotesum(rows(tmp_path / "q", QUOTESUM)), seed=0)
    assert (figures["n"], figures["located"], figures["wrong_offsets"]) == (3, 1.0, 0)
    assert figures["skipped"] == 1


def test_words_that_the_source_does_not_have_are_not_located(tmp_path: Path) -> None:
    figures = locating.measure(
        read_quotesum(rows(tmp_path / "q", {**QUOTESUM, "summary": "[ 1 opened in 1955 ]"})), seed=0
    )
    assert (figures["located"], figures["not_located"]) == (0.0, 1)


@pytest.mark.parametrize(
    ("label", "supported"),
    [
        ("SUPPORTS", True), ("entailment", True), ("1", True), (" Supported ", True),
        ("REFUTES", False), ("NOT ENOUGH INFO", False), ("not_entailment", False), ("0", False),
    ],
)  # fmt: skip
def test_labels_of_pairs(label: str, supported: bool, tmp_path: Path) -> None:
    files = [tmp_path / name for name in "ecl"]
    for file, text in zip(files, ("A page.", "A claim.", label), strict=True):
        file.write_text(text + "\n")
    (pair,) = read_pairs(files[0], files[1], files[2])
    assert pair == CheckedClaim(text="A claim.", page=("A page.",), supported=supported)


def test_pairs_of_different_lengths_are_refused(tmp_path: Path) -> None:
    for name, lines in (("e", 2), ("c", 2), ("l", 1)):
        (tmp_path / name).write_text("1\n" * lines)
    with pytest.raises(DataError, match="same number of lines"):
        list(read_pairs(tmp_path / "e", tmp_path / "c", tmp_path / "l"))


def test_an_unknown_label_is_refused_with_its_line(tmp_path: Path) -> None:
    for name, text in (("e", "a\nb\n"), ("c", "a\nb\n"), ("l", "1\nperhaps\n")):
        (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match="line 2: 'perhaps' is no label"):
        list(read_pairs(tmp_path / "e", tmp_path / "c", tmp_path / "l"))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"{", "line 1: no row of WiCE"),
        (b"[]\n", "line 1: no row of WiCE"),
        (b"\xff\xfe\n", "is not UTF-8"),
        (b"", "holds no rows of WiCE"),
        (b"[" * 100_000, "line 1: no row of WiCE"),
        (json.dumps({**WICE, "label": "so-so"}).encode(), "'so-so' is no label of WiCE"),
        (json.dumps({**WICE, "supporting_sentences": [[9]]}).encode(), "a supporting sentence"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_wice_is_refused(content: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "w").write_bytes(content)
    with pytest.raises(DataError, match=says):
        list(read_wice(tmp_path / "w"))


def test_only_the_first_rows_are_read(tmp_path: Path) -> None:
    path = rows(tmp_path / "w", WICE, WICE)
    path.write_text(path.read_text() + "not JSON\n")
    assert len(list(read_wice(path, limit=2))) == 2


AVERITEC = {
    "claim": "The bridge is 310 metres long.",
    "label": "Refuted",
    "questions": [
        {
            "question": "How long is the bridge?",
            "answers": [
                {"answer": "290 metres"},
                {"answer": "No", "boolean_explanation": "It was measured in 1954."},
            ],
        }
    ],
}


def test_the_answers_to_questions_are_the_evidence_of_averitec(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    open_one = {**AVERITEC, "label": "Not Enough Evidence"}
    true = {**AVERITEC, "label": "Supported"}
    path.write_text(json.dumps([open_one, AVERITEC, true]))
    first, second = read_averitec(path)
    assert first.page == ("How long is the bridge?", "290 metres", "No It was measured in 1954.")
    assert (first.supported, second.supported) == (False, True)
    assert len(list(read_averitec(path, 1))) == 1


@pytest.mark.parametrize("content", ["{}", "[1]", '[{"claim": "x", "label": "Maybe", "questions": []}]'])
def test_what_is_no_list_of_averitec_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(DataError, match=r"a\.json"):
        list(read_averitec(path))


@pytest.mark.parametrize(
    ("written", "claim"),
    [
        ('"He is called ""Dog""."', 'He is called "Dog".'),
        ('"He is gone."', '"He is gone."'),
        ('He said "no".', 'He said "no".'),
    ],
)
def test_a_claim_with_doubled_quotation_marks_is_a_cell(tmp_path: Path, written: str, claim: str) -> None:
    paths = [tmp_path / name for name in "abc"]
    for path, line in zip(paths, ("He is Dog.", written, "1"), strict=True):
        path.write_text(f"{line}\n")
    (found,) = read_pairs(*paths)
    assert found.text == claim


def test_names_are_left_out_where_passages_lack_their_title() -> None:
    claim = CheckedClaim(text="Ann Lee was born in Hull.", page=("She was born in Hull.",), supported=True)
    assert judging.measure([claim], seed=0)["hard_false_vetoes"] == 1
    figures = judging.measure([claim], seed=0, titled=False)
    assert (figures["hard_false_vetoes"], figures["names_read"]) == (0, False)
