"""`vera check --bibliography` as a person runs it, with the indexes on loopback."""

import json
from pathlib import Path

import jsonschema

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
