"""`vera check --bibliography` as a person runs it, with the indexes on loopback."""

import json
from pathlib import Path

import jsonschema
import pytest

from support.cli import vera
from support.fake_index import crossref, fake_index, found

SCHEMA = Path(__file__).parents[1] / "fixtures" / "sarif" / "sarif-2.1.0.json"
BIB = """@article{good, title = {A study of many things}, year = 2019, doi = {10.1000/good}}
@article{bad, title = {Another study of few things}, year = 2020, doi = {10.1000/bad}}
@article{gone, title = {A third study of things}, year = 2021, doi = {10.1000/gone}}
"""
ANSWERS = {
    "/crossref/works/10.1000/good": crossref("A study of many things"),
    "/crossref/works/10.1000/bad": crossref(
        "Another study of few things", 2020, **{"updated-by": [{"type": "retraction"}]}
    ),
    "/doi/api/handles/10.1000/gone": found({"responseCode": 100}, 404),
}


def test_a_bibtex_file_is_checked_and_shown_as_text_json_and_sarif(tmp_path: Path) -> None:
    (tmp_path / "refs.bib").write_text(BIB)
    with fake_index({**ANSWERS}) as index:
        base = f"http://127.0.0.1:{index.port}"
        given = [f"bibliography.{name}_url={base}/{name}" for name in ("crossref", "openalex", "doi")]
        arguments = [
            "check",
            "refs.bib",
            "--bibliography",
            *(word for each in given for word in ("-c", each)),
        ]
        text = vera(*arguments, cwd=tmp_path)
        told = json.loads(vera(*arguments, "--json", cwd=tmp_path).stdout)
        log = json.loads(vera(*arguments, "--format", "sarif", cwd=tmp_path).stdout)
    assert text.returncode == 4
    assert "line 2: hard: “Another study of few things” was retracted, says Crossref." in text.stdout
    assert "line 3: hard: doi.org knows no DOI 10.1000/gone." in text.stdout
    assert "3 references looked up, 2 found." in text.stdout
    assert [each["status"] for each in told["references"]] == ["found", "found", "unregistered"]
    jsonschema.Draft4Validator(json.loads(SCHEMA.read_text())).validate(log)
    where = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]
    line = BIB.split("\n")[1]
    place = line.index("10.1000/bad") + 1
    assert where == {"startLine": 2, "startColumn": place, "endColumn": place + len("10.1000/bad")}


def test_nothing_is_asked_without_the_option(tmp_path: Path) -> None:
    (tmp_path / "refs.bib").write_text(BIB)
    done = vera("check", "refs.bib", cwd=tmp_path)
    assert (done.returncode, "Add --bibliography" in done.stderr) == (2, True)


ESSAY = Path(__file__).parents[2] / "examples" / "essay"
LAMPORT = "Time, clocks, and the ordering of events in a distributed system"
WAKEFIELD = "Ileal-lymphoid-nodular hyperplasia, non-specific colitis, and pervasive developmental disorder"
OF_ESSAY = {
    "/crossref/works/10.1145/359545.359563": crossref(LAMPORT, 1978),
    "/crossref/works/10.1002/j.1538": crossref("A Mathematical Theory of Communication", 1948),
    "/crossref/works/10.1016/S0140-6736(97)11096-0": crossref(
        f"RETRACTED: {WAKEFIELD} in children", 1998, **{"updated-by": [{"type": "retraction"}]}
    ),
    "/doi/api/handles/10.5555/no.such.work": found({"responseCode": 100}, 404),
}


def checked_essay(name: str, here: Path, *more: str) -> tuple[int, str, list[str]]:
    """The exit code, what was printed, and the paths that were asked for."""
    with fake_index({**OF_ESSAY}) as index:
        base = f"http://127.0.0.1:{index.port}"
        given = [f"bibliography.{each}_url={base}/{each}" for each in ("crossref", "openalex", "doi")]
        words = [word for each in given for word in ("-c", each)]
        done = vera("check", ESSAY / name, "--bibliography", *words, *more, cwd=here)
    return done.returncode, done.stdout + done.stderr, index.asked


@pytest.mark.parametrize(("name", "lines"), [("essay.md", (11, 12, 13)), ("essay.bib", (8, 15, 22))])
def test_the_references_of_the_example_essay_are_looked_up(
    name: str, lines: tuple[int, ...], tmp_path: Path
) -> None:
    code, said, asked = checked_essay(name, tmp_path, "--keep", "kept")
    shannon, wakefield, doe = lines
    assert code == 4
    assert f"line {shannon}: hint: " in said and "1948" in said and "1958" in said
    assert f"line {wakefield}: hard: “" in said and "was retracted, says Crossref." in said
    assert f"line {doe}: hard: doi.org knows no DOI 10.5555/no.such.work." in said
    assert "4 references looked up, 3 found." in said
    assert "Time, clocks" not in said and "Time, Clocks" not in said
    assert not [path for path in asked if "10." not in path or "query" in path], "by their DOIs alone"
    report = json.loads((tmp_path / "kept" / "check.json").read_text())
    looked_up = [each["status"] for each in report["references"]]
    assert looked_up == ["found", "found", "found", "unregistered"]
    for each in report["references"]:
        for answer in each["answers"]:
            if sha256 := answer.get("sha256"):
                assert (tmp_path / "kept" / "store" / sha256[:2] / sha256).is_file()


def test_an_index_that_does_not_answer_leaves_the_essay_unchecked(tmp_path: Path) -> None:
    closed = "http://127.0.0.1:9"
    words = [f"bibliography.{each}_url={closed}" for each in ("crossref", "openalex", "doi")]
    done = vera(
        *("check", ESSAY / "essay.bib", "--bibliography", "--max-links", "1"),
        *(word for each in words for word in ("-c", each)),
        cwd=tmp_path,
    )
    assert done.returncode == 3 and "unchecked" in done.stdout
