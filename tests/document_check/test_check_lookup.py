"""References held against loopback copies of Crossref, OpenAlex and doi.org, well-meaning and hostile."""

import hashlib
import json
import time
import zipfile
from pathlib import Path

import msgspec
import pytest

from support.fake_index import NOT_FOUND, Answer, crossref, crossref_search, fake_index, found, openalex
from support.fake_web import FakeClock
from vera.agent.errors import SetupError
from vera.document_check.lookup import Indexes, look_up
from vera.document_check.references import Reference, of_text
from vera.document_check.run import Options, Report, check_document
from vera.sandbox.fetch.fetcher import FetchLimits
from vera.store import Store

TITLE = "A study of many things in the north"
LISTED = f"## References\n\n[1] A. Author. “{TITLE}.” Journal, 2019. https://doi.org/10.1000/abc\n"
BY_TITLE = f"## References\n\n[1] A. Author. “{TITLE}.” Journal, 2019.\n"
UNREGISTERED = found({"responseCode": 100, "handle": "10.1000/abc"}, 404)
REGISTERED = found({"responseCode": 1, "handle": "10.1000/abc"})
RETRACTED = {"updated-by": [{"type": "retraction", "DOI": "10.1000/notice"}]}

Answers = dict[str, Answer]


def told(tmp_path: Path, text: str, answers: Answers, *, name: str = "doc.md", most: int = 200) -> Report:
    (tmp_path / name).write_text(text)
    with fake_index({**answers}) as index:
        return check_document(
            tmp_path / name, Options(bibliography=index.indexes(most), keep=tmp_path / "kept")
        )


def codes(report: Report) -> list[tuple[str, str]]:
    problems = report.findings.problems
    return [(each.code, each.severity) for each in problems if each.code.startswith("reference_")]


GOOD: Answers = {"/crossref": crossref(TITLE), "/openalex": openalex(TITLE)}


def test_a_reference_as_the_indexes_have_it_has_no_finding_and_its_answers_are_kept(tmp_path: Path) -> None:
    report = told(tmp_path, LISTED, GOOD)
    (reference,) = report.references
    assert (codes(report), reference.status, reference.title, reference.years) == (
        [],
        "found",
        TITLE,
        (2019,),
    )
    assert report.exit_code() == 0
    store = Store(tmp_path / "kept" / "store")
    bodies = [store.get(answer.sha256) for answer in reference.answers]
    assert bodies == [GOOD["/crossref"][1], GOOD["/openalex"][1]]
    assert [answer.sha256 for answer in reference.answers] == [
        hashlib.sha256(each).hexdigest() for each in bodies
    ]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({"/crossref": crossref("Something else entirely about ships")}, [("reference_title", "hint")]),
        ({"/crossref": crossref(TITLE, 2012)}, [("reference_year", "hint")]),
        ({"/crossref": crossref(TITLE, 2018)}, []),
        ({"/crossref": crossref(f"<i>{TITLE.upper()}</i>")}, []),
        ({"/crossref": crossref(TITLE, **RETRACTED)}, [("reference_retracted", "hard")]),
        ({"/crossref": crossref(TITLE, **{"update-to": RETRACTED["updated-by"]})}, []),
        ({"/crossref": crossref(TITLE, **{"updated-by": [{"type": "correction"}]})}, []),
        ({**GOOD, "/openalex": openalex(TITLE, retracted=True)}, [("reference_retracted", "hint")]),
        ({"/openalex": openalex(TITLE)}, []),
        ({"/doi": UNREGISTERED}, [("reference_unregistered", "hard")]),
        ({"/doi": REGISTERED}, []),
        ({"/doi": NOT_FOUND}, [("reference_not_found", "hint")]),
    ],
)
def test_what_the_indexes_say_of_a_doi(
    tmp_path: Path, answers: Answers, expected: list[tuple[str, str]]
) -> None:
    assert codes(told(tmp_path, LISTED, answers)) == expected


def test_a_doi_that_may_have_been_cut_is_no_hard_finding(tmp_path: Path) -> None:
    report = told(tmp_path, LISTED.replace("/abc", "/abc-"), {"/doi": UNREGISTERED})
    assert codes(report) == [("reference_unregistered", "hint")]


def test_a_doi_in_a_sentence_is_looked_up_and_its_title_is_not_compared(tmp_path: Path) -> None:
    said = "Ships sank in 1912, as [Author](https://doi.org/10.1000/abc) says.\n"
    assert codes(told(tmp_path, said, GOOD)) == []
    assert codes(told(tmp_path, said, {"/doi": UNREGISTERED})) == [("reference_unregistered", "hard")]


def test_an_entry_that_speaks_of_the_retraction_is_not_blamed_for_it(tmp_path: Path) -> None:
    report = told(
        tmp_path, LISTED.replace("[1] ", "[1] Retracted: "), {"/crossref": crossref(TITLE, **RETRACTED)}
    )
    assert codes(report) == []


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({"/crossref": crossref_search("Another title", TITLE)}, []),
        ({"/crossref": crossref_search(TITLE, year=2020)}, []),
        (
            {"/crossref": crossref_search("Another"), "/openalex": found({"results": []})},
            ["reference_not_found"],
        ),
        ({"/crossref": crossref_search(), "/openalex": found({"results": [{"display_name": TITLE}]})}, []),
        (
            {"/crossref": crossref_search(TITLE, year=1990), "/openalex": found({"results": []})},
            ["reference_year"],
        ),
    ],
)
def test_a_reference_without_a_doi_is_looked_up_by_its_title(
    tmp_path: Path, answers: Answers, expected: list[str]
) -> None:
    report = told(tmp_path, BY_TITLE, answers)
    assert codes(report) == [(code, "hint") for code in expected]


BIG = (200, b'{"message":{"title":["' + b"x" * 3_000_000 + b'"]}}', dict[str, str]())
CONTROLS = crossref("A \x1b[2Jstudy of\u202e many\x00 things\n in the north", 2001)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (BIG, "larger than 2097152 bytes"),
        ((200, b"<html>no</html>", {}), "a web page"),
        ((200, b"{", {}), "no JSON"),
        ((200, b"[1,2]", {}), "no object"),
        ((200, b'{"message":7}', {}), "no 'message'"),
        ((200, b'{"message":{"items":{"a":1}}}', {}), "no list"),
        ((302, b"", {"Location": "http://127.0.0.1:1/"}), "redirects"),
        ((403, b"{}", {}), "HTTP 403"),
    ],
)
def test_an_answer_that_cannot_be_used_leaves_the_reference_unchecked(
    tmp_path: Path, answer: Answer, reason: str
) -> None:
    bad = {"/crossref": answer, "/openalex": NOT_FOUND, "/doi": NOT_FOUND}
    report = told(tmp_path, LISTED, bad)
    assert codes(report) == [("reference_unchecked", "unchecked")]
    assert reason in report.findings.problems[0].message
    assert report.exit_code() == 3


@pytest.mark.parametrize(
    "message",
    [
        {"title": "text", "issued": 5, "updated-by": {"type": "retraction"}},
        {"title": [["x"]], "issued": {"date-parts": [[None]]}, "updated-by": [7, {"type": ["retraction"]}]},
        {"title": [], "issued": {"date-parts": [[10**30]]}, "DOI": 9},
    ],
)
def test_wrong_types_in_an_answer_count_as_absent(tmp_path: Path, message: dict[str, object]) -> None:
    report = told(tmp_path, LISTED, {"/crossref": found({"message": message})})
    (reference,) = report.references
    assert (codes(report), reference.status, reference.title, reference.years) == ([], "found", "", ())


def test_a_title_with_control_characters_is_shown_without_them(tmp_path: Path) -> None:
    (problem,) = told(tmp_path, LISTED, {"/crossref": CONTROLS}).findings.problems
    assert problem.code == "reference_year"
    assert problem.message.isprintable()


def looked(index: Indexes, clock: FakeClock, count: int = 1) -> list[str]:
    references = [
        Reference(line=1, text="x", doi=f"10.1000/{number}", listed=False) for number in range(count)
    ]
    slow = FetchLimits(redirects=0, silence=0.3, total=0.6)
    said = look_up(references, index, lambda text: None, clock=clock.clock(), limits=slow)
    return [each.status for each in said.references]


def test_429_is_waited_for_as_long_as_the_index_asks(tmp_path: Path) -> None:
    clock = FakeClock()
    answers = iter([(429, b"{}", {"Retry-After": "7"}), crossref(TITLE)])
    with fake_index({"/crossref": lambda: next(answers)}) as index:
        assert looked(index.indexes(), clock) == ["found"]
    assert 7.0 in clock.waits


def test_an_index_that_is_too_slow_is_left_alone_and_the_rest_is_unchecked() -> None:
    clock = FakeClock()

    def slow() -> Answer:
        time.sleep(1.0)
        return NOT_FOUND

    with fake_index({"/crossref": slow}) as index:
        assert looked(index.indexes(), clock, 4) == ["unchecked"] * 4
        assert sum(each.startswith("/crossref") for each in index.asked) == 1


def test_each_work_is_asked_for_once_and_no_more_than_allowed(tmp_path: Path) -> None:
    text = "".join(f"See https://doi.org/10.1000/{number}.\n\n" for number in (1, 2, 1, 3))
    (tmp_path / "doc.md").write_text(text)
    with fake_index(dict(GOOD)) as index:
        report = check_document(tmp_path / "doc.md", Options(bibliography=index.indexes(2)))
    assert [each.status for each in report.references] == ["found", "found", "found", "unchecked"]
    assert len(index.asked) == 4
    assert all("mailto=me%40example.org" in each for each in index.asked)
    assert "raise --max-links" in report.findings.problems[0].message


def test_a_hostile_doi_asks_for_nothing_but_its_own_path(tmp_path: Path) -> None:
    with fake_index({}) as index:
        references = of_text(["x 10.1000/a?mailto=b&c=#d%2e/../../e"])
        look_up(references, index.indexes(), lambda text: None, clock=FakeClock().clock())
    assert references
    assert index.asked[0].split("?")[0].count("/") == 3
    assert index.asked[0].startswith("/crossref/works/10.1000%2Fa%3Fmailto%3Db%26c%3D%23d")


def test_a_bibtex_file_is_a_document_of_references(tmp_path: Path) -> None:
    bib = f"@article{{a, title={{{TITLE}}}, year={{2012}}, doi={{10.1000/abc}}}}\n"
    report = told(tmp_path, bib, GOOD, name="refs.bib")
    assert (report.format, report.findings.claims, codes(report)) == ("bib", 0, [("reference_year", "hint")])
    assert (report.exit_code(), report.exit_code(strict=True)) == (0, 4)
    with pytest.raises(SetupError, match="Add --bibliography"):
        check_document(tmp_path / "refs.bib", Options())


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def test_the_references_of_a_word_document_are_looked_up(tmp_path: Path) -> None:
    paragraphs = ["Some text.", *LISTED.replace("## ", "").strip().split("\n\n")]
    body = "".join(f"<w:p><w:r><w:t>{each}</w:t></w:r></w:p>" for each in paragraphs)
    with zipfile.ZipFile(tmp_path / "doc.docx", "w") as package:
        package.writestr("word/document.xml", f"<w:document {W}><w:body>{body}</w:body></w:document>")
    with fake_index({"/crossref": crossref(TITLE, 2001)}) as index:
        report = check_document(tmp_path / "doc.docx", Options(bibliography=index.indexes()))
    assert [(each.line, each.doi) for each in report.references] == [(3, "10.1000/abc")]
    assert codes(report) == [("reference_year", "hint")]


def test_a_policy_that_forbids_the_network_and_a_wrong_address_are_wrong_usage(tmp_path: Path) -> None:
    from vera import config

    for changes, said in (
        ({"egress.mode": "none"}, "egress.mode=none"),
        ({"bibliography.crossref_url": "ftp://x"}, "bibliography.crossref_url"),
    ):
        settings = config.defaults(changes)
        indexes = Indexes(settings=settings.bibliography, egress=settings.egress)
        with pytest.raises(SetupError, match=said):
            look_up([Reference(line=1, text="x", doi="10.1000/a")], indexes, lambda text: None)


def test_an_index_that_is_not_on_the_allow_list_is_not_asked(tmp_path: Path) -> None:
    from vera import config

    with fake_index(dict(GOOD)) as index:
        egress = config.defaults({"egress.mode": "allowlist", "egress.allow": "example.org"}).egress
        closed = msgspec.structs.replace(index.indexes(), egress=egress)
        said = look_up([Reference(line=1, text="x", doi="10.1000/a")], closed, lambda text: None)
    assert ([each.status for each in said.references], index.asked) == (["unchecked"], [])


def test_the_report_as_json_has_each_answer(tmp_path: Path) -> None:
    told(tmp_path, LISTED, {"/doi": UNREGISTERED})
    kept = json.loads((tmp_path / "kept" / "check.json").read_text())
    (reference,) = kept["references"]
    assert [(each["index"], each["http_status"]) for each in reference["answers"]] == [
        ("crossref", 404),
        ("openalex", 404),
        ("doi", 404),
    ]
    assert all(len(each["sha256"]) == 64 for each in reference["answers"])
