"""docs/schemas is what the code says, and its schemas accept and refuse what `parse` does."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from support.cli import vera
from support.exams import exam
from support.rounds import WATER, case, check, evidence, label, labels, page, policy
from support.verified import verified
from vera.attestation.cards import make_cards
from vera.attestation.coverage import cover
from vera.attestation.keys import load_or_create
from vera.attestation.lenses import load_lens
from vera.attestation.objects import (
    KINDS,
    AnyObject,
    Attestation,
    CheckResult,
    ClaimResult,
    Findings,
    Hyperthesis,
    ObjectError,
    Reading,
    Scores,
    SubClaim,
    Thesis,
    Unread,
    canonical,
    digest,
    object_id,
    parse,
)
from vera.attestation.request import proposition_of, request_of
from vera.attestation.schemas import file_name, file_schemas, name_of, rendered, schemas
from vera.evidence.claim import Cite, Claim
from vera.evidence.finding import Finding

DOCS = Path(__file__).parents[2] / "docs" / "schemas"


def samples() -> Iterator[AnyObject]:
    """An object of every kind with every part that it may have."""
    thesis = Thesis(text="How long?", sub_claims=(SubClaim(key="c1", text="312 km.", load_bearing=False),))
    claim = Claim(key="c1", text="312 km.", start=0, end=7, cites=(Cite("ev_0001"), Cite("ev_0002")))
    other = b"Another page says that the river is 400 km long.\n"
    found = [evidence("ev_0001"), page("ev_0002", "https://a.example/x", other)]
    made = make_cards(
        case([claim], found, [WATER, other]),
        object_id(thesis),
        [labels("c1", label("ev_0001", 2, 2, "SUPPORTS", 2, 3), label("ev_0002", 1, 1, "CONTRADICTS"))],
        by_rule=False,
    )
    questions = [CheckResult(claim="c1", question="Is it?", source="ev_0001", label="x", answer="unknown")]
    findings = Findings(
        findings=(
            Finding(code="x", label="fabricated", severity="hard", message="No.", claim="c1", first=1),
        ),
        checks=tuple(questions),
        readings=(Reading(criterion="task_fit", points=311, method="logprobs"),),
        unread=(Unread(claim="c1", why="no JSON"),),
        limits=("no JSON",),
        exams=(exam(sat_at="2025-01-31T00:00:00.000Z"), exam("small", passed=False, unfinished="no time")),
    )
    coverage = cover(case([claim], found, [WATER, other]), made, questions)
    assert coverage.contradictions and coverage.omissions and check("c1", "yes")
    lens = load_lens("factual")
    request, _ = request_of(
        "The river is 312 km long.",
        scope="files,web",
        lens=lens,
        allow_domains="a.example",
        not_after="2025-01-31",
    )
    yield from (proposition_of(request.text), lens, request)
    yield from (thesis, policy(scope=("files",)), findings, coverage)
    yield from (*made.sources.values(), *made.cards.values())
    yield Attestation(
        thesis=object_id(thesis),
        policy=object_id(policy()),
        findings=object_id(findings),
        coverage=object_id(coverage),
        cards=tuple(made.cards),
        evidence_set=digest(canonical(sorted(made.cards))),
        result="DISPUTED",
        reason="",
        claims=(ClaimResult(claim="c1", result="DISPUTED", supports=1, contradicts=1),),
        scores=Scores(before=311, after=200, readings=1, caps=("A check of c1 could not be answered.",)),
        hyperthesis=(
            Hyperthesis(blind_spot="b", boundary="model_limit", risk="r", bound="b", detector="one_judge"),
        ),
        verifier="vera 0.1.0, model judge-7b",
        issued_at="2026-11-22T01:30:00.000Z",
        log=(17, "d" * 64),
        receipts=tuple(source.retrieval for source in made.sources.values() if source.retrieval),
        request=object_id(request),
        expires_at="2027-02-20T01:30:00.000Z",
    )


SAMPLES = list(samples())


def kind_of(value: AnyObject) -> str:
    return name_of(type(value))


def everything(schema: object) -> Iterator[dict[str, Any]]:
    """Each object within a schema, at any depth."""
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from everything(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from everything(value)


def objects_within(value: object) -> Iterator[dict[str, Any]]:
    return everything(value)


@pytest.mark.parametrize("name", schemas())
def test_a_published_schema_is_that_of_the_code(name: str) -> None:
    published = (DOCS / file_name(name)).read_bytes()
    assert published == rendered(schemas()[name]), "run: python -m vera.attestation.schemas docs/schemas"


def test_every_kind_is_published_and_nothing_else() -> None:
    names = [*map(name_of, KINDS), *file_schemas()]
    assert {path.name for path in DOCS.glob("*.json")} == {file_name(name) for name in names}
    assert all(file_name(name) in (DOCS / "README.md").read_text() for name in names)


@pytest.mark.parametrize("name", file_schemas())
def test_the_schema_of_a_file_is_published_valid_and_that_of_the_code(name: str) -> None:
    Draft202012Validator.check_schema(file_schemas()[name])
    published = (DOCS / file_name(name)).read_bytes()
    assert published == rendered(file_schemas()[name]), "run: python -m vera.attestation.schemas docs/schemas"


def test_envelope_and_seal_of_a_session_fit_their_schemas_and_nothing_else_does(tmp_path: Path) -> None:
    verified(tmp_path, load_or_create(tmp_path.with_name("keys")))
    for name, file in (("envelope", "attestation.json"), ("seal", "seal.json")):
        validator = Draft202012Validator(file_schemas()[name])
        plain = json.loads((tmp_path / file).read_bytes())
        validator.validate(plain)
        assert not validator.is_valid({**plain, "unknown": 1})
    seal = {"seq": 1, "hash": "0" * 64}
    Draft202012Validator(file_schemas()["seal"]).validate(seal)


def test_what_verify_prints_and_the_lines_of_the_journal_fit_their_schemas(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("Records are kept for seven years after the last use.\n")
    options = ["--input-dir", "docs", "--model-base-url", "builtin", "--egress", "none", "--json"]
    for thesis in ("Records are kept for seven years after the last use.", "Nobody keeps records."):
        done = vera("verify", thesis, *options, cwd=tmp_path)
        Draft202012Validator(file_schemas()["verify"]).validate(json.loads(done.stdout))
    lines = (tmp_path / ".vera" / "ahdb.jsonl").read_bytes().splitlines()
    assert len(lines) > 1
    for line in lines:
        Draft202012Validator(file_schemas()["journal"]).validate(json.loads(line))
        assert not Draft202012Validator(file_schemas()["journal"]).is_valid({**json.loads(line), "x": 1})


def test_the_command_writes_them(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "vera.attestation.schemas"]
    subprocess.run([*command, str(tmp_path / "new")], check=True, timeout=60)
    assert {path.name: path.read_bytes() for path in (tmp_path / "new").iterdir()} == {
        path.name: path.read_bytes() for path in DOCS.glob("*.json")
    }
    assert subprocess.run(command, check=False, timeout=60, capture_output=True).returncode != 0


@pytest.mark.parametrize("name", schemas())
def test_there_is_no_floating_point_number_in_any_object(name: str) -> None:
    types = [schema.get("type") for schema in everything(schemas()[name])]
    assert types and "number" not in types
    assert "{}" not in json.dumps(schemas()[name])


@pytest.mark.parametrize("name", schemas())
def test_a_schema_is_valid_and_closed(name: str) -> None:
    schema = schemas()[name]
    Draft202012Validator.check_schema(schema)
    objects = [each for each in everything(schema) if each.get("type") == "object"]
    assert objects and all(each["additionalProperties"] is False for each in objects)


def test_there_is_a_sample_of_every_kind() -> None:
    assert {type(value) for value in SAMPLES} == set(KINDS)


@pytest.mark.parametrize("value", SAMPLES, ids=kind_of)
def test_a_schema_accepts_what_is_written(value: AnyObject) -> None:
    Draft202012Validator(schemas()[kind_of(value)]).validate(json.loads(canonical(value)))


@pytest.mark.parametrize("value", SAMPLES, ids=kind_of)
def test_an_unknown_member_is_refused_at_every_depth(value: AnyObject) -> None:
    validator = Draft202012Validator(schemas()[kind_of(value)])
    plain = json.loads(canonical(value))
    for inner in list(objects_within(plain)):
        inner["unknown"] = 1
        assert not validator.is_valid(plain)
        with pytest.raises(ObjectError):
            parse(canonical(plain), type(value))
        del inner["unknown"]
    assert validator.is_valid(plain)


@pytest.mark.parametrize("value", SAMPLES, ids=kind_of)
def test_another_version_of_the_form_is_refused(value: AnyObject) -> None:
    plain = json.loads(canonical(value))
    plain["kind"] = plain["kind"].replace("/v1", "/v2")
    assert not Draft202012Validator(schemas()[kind_of(value)]).is_valid(plain)
