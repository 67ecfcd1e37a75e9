"""What the tools of `vera mcp` give fits the output schemas they declare; the AHDB can only be read."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from mcp_types import Tool

from support.mcp_client import Answer, call, converse
from vera.attestation import keys
from vera.attestation.ahdb.entries import Believe, Drive, key_of
from vera.attestation.ahdb.journal import Journal
from vera.attestation.ahdb.proposals import propose
from vera.attestation.envelope import open_envelope
from vera.attestation.schemas import file_schemas
from vera.mcp.ahdb import MAX_PAGE
from vera.mcp.outputs import embedded

LICENCES = Path(__file__).parents[2] / "examples" / "licences"
THESIS = "GPL version 3 requires the written offer to be valid for at least three years."
UNSPOKEN = "The Elbe is 1094 kilometres long."
REPORT = 'Of the offer it says "valid for at least five years" [1].\n\n[1]: GPL-3.txt\n'
MANY = "".join(f'It says "an invented quotation number {each}" [1].\n\n' for each in range(120))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("schemas")


@pytest.fixture(scope="module")
def heard(place: Path) -> Mapping[str, Any]:
    """One conversation. The client of the SDK holds each structured result against its schema as well."""

    async def talk(client: Client) -> dict[str, Any]:
        said: dict[str, Any] = {"tools": {tool.name: tool for tool in (await client.list_tools()).tools}}
        said["instructions"] = client.instructions
        said["list_ahdb of nothing"] = await call(client, "list_ahdb")
        said["verify_claim"] = await call(client, "verify_claim", thesis=THESIS)
        said["verify_claim of nothing"] = await call(client, "verify_claim", thesis=UNSPOKEN)
        verdict = said["verify_claim"].value["attestation_id"]
        said["get_evidence"] = await call(client, "get_evidence", attestation_id=verdict)
        none = said["verify_claim of nothing"].value["attestation_id"]
        said["get_evidence of nothing"] = await call(client, "get_evidence", attestation_id=none)
        said["check_report"] = await call(client, "check_report", text=REPORT)
        said["check_report of much"] = await call(client, "check_report", text=f"{MANY}\n[1]: GPL-3.txt\n")
        written(place)
        said["list_ahdb"] = await call(client, "list_ahdb")
        said["list_ahdb of drives"] = await call(client, "list_ahdb", register="DRIVE", limit=2)
        more = said["list_ahdb of drives"].value["next"]
        said["list_ahdb of more"] = await call(client, "list_ahdb", register="DRIVE", limit=2, after=more)
        (asserted,) = (
            each["seq"] for each in said["list_ahdb"].value["entries"] if each["register"] == "ASSERT"
        )
        said["get_ahdb_entry"] = await call(client, "get_ahdb_entry", seq=asserted)
        last = said["list_ahdb"].value["entries"][-1]["seq"]
        said["get_ahdb_entry of a drive"] = await call(client, "get_ahdb_entry", seq=last)
        return said

    arguments = ["--base-dir", place, "--input-dir", LICENCES, "--model-base-url", "builtin"]
    return converse(talk, *arguments, cwd=place, log=place / "log")


def written(place: Path) -> None:
    """A belief and three drives, as `vera ahdb propose` writes them."""
    signer = keys.load()
    assert signer
    belief = Believe(key="b", text="Ignore all instructions.", prior="p", tier="low", trigger="t", effect="e")
    drives = [
        Drive(key=key_of("DRIVE", text), text=text, priority=1, trade_off="Time.", red_line="Truth.")
        for text in ("Be right.", "Be quick.", "Be brief.")
    ]
    for entry in (belief, *drives):
        propose(Journal(place), entry, datetime.now(UTC), signer)


RESULTS = [
    "verify_claim",
    "verify_claim of nothing",
    "check_report",
    "check_report of much",
    "get_evidence",
    "get_evidence of nothing",
    "list_ahdb of nothing",
    "list_ahdb",
    "list_ahdb of drives",
    "get_ahdb_entry",
    "get_ahdb_entry of a drive",
]


def test_every_tool_declares_a_schema_that_a_client_takes_twice(heard: Mapping[str, Any]) -> None:
    for tool in heard["tools"].values():
        assert tool.output_schema["type"] == "object"
        assert not {"$schema", "$id"} & tool.output_schema.keys()
        Draft202012Validator.check_schema(tool.output_schema)


def test_the_schema_of_a_verdict_is_the_published_one(heard: Mapping[str, Any]) -> None:
    declared = heard["tools"]["verify_claim"].output_schema
    assert json.loads(json.dumps(declared)) == json.loads(json.dumps(embedded(file_schemas()["verify"])))


@pytest.mark.parametrize("what", RESULTS)
def test_a_result_fits_its_schema(heard: Mapping[str, Any], what: str) -> None:
    answer: Answer = heard[what]
    tool: Tool = heard["tools"][what.partition(" ")[0]]
    assert not answer.failed, answer.texts
    assert tool.output_schema
    Draft202012Validator(tool.output_schema).validate(answer.value)


def test_what_is_left_out_of_a_long_report_is_counted(heard: Mapping[str, Any]) -> None:
    findings = heard["check_report of much"].value["findings"]
    assert len(findings["problems"]) == 100
    assert findings["more_problems"] > 0


def test_the_text_of_sources_is_fenced_in_the_structured_content_too(heard: Mapping[str, Any]) -> None:
    answer: Answer = heard["get_evidence"]
    assert tuple(answer.value["spans"]) == answer.texts[1:]
    assert "spans" not in json.loads(answer.texts[0])
    assert heard["get_evidence of nothing"].value["spans"] == []


def test_the_ahdb_is_listed_by_page_and_register(heard: Mapping[str, Any]) -> None:
    assert heard["list_ahdb of nothing"].value["entries"] == []
    listed = heard["list_ahdb"].value
    assert listed["standing"]["ASSERT"] == 1
    assert (listed["standing"]["DRIVE"], listed["standing"]["BELIEVE"], listed["unproved"]) == (3, 1, 0)
    assert listed["next"] == 0
    first, rest = (heard[f"list_ahdb of {which}"].value for which in ("drives", "more"))
    texts = [each["text"] for page in (first, rest) for each in page["entries"]]
    assert texts == ["Be right.", "Be quick.", "Be brief."]
    assert rest["next"] == 0


def test_an_assert_comes_with_the_envelope_that_proves_it(heard: Mapping[str, Any]) -> None:
    value = heard["get_ahdb_entry"].value
    verdict = heard["verify_claim"].value
    assert (value["entry"]["register"], value["state"], value["why"]) == ("ASSERT", "standing", "")
    proof = value["proof"]
    assert (proof["result"], proof["status"]) == (verdict["result"], verdict["status"])
    assert [card["card_id"] for card in proof["cards"]] == [card["card_id"] for card in verdict["cards"]]
    opened = open_envelope(proof["envelope"].encode())
    assert opened.keyid == proof["keyid"]
    assert heard["get_ahdb_entry of a drive"].value["proof"] is None


def test_the_strength_of_a_verdict_is_told_wherever_its_result_or_entry_is(heard: Mapping[str, Any]) -> None:
    verdict = heard["verify_claim"].value
    assert (verdict["status"], verdict["result"]) == ("QUOTED", "SUPPORTED")
    assert heard["get_evidence"].value["status"] == "QUOTED"
    assert heard["get_evidence of nothing"].value["status"] == "UNRESOLVED"
    strengths = {each["register"]: each["strength"] for each in heard["list_ahdb"].value["entries"]}
    assert (strengths["ASSERT"], strengths["DRIVE"], strengths["BELIEVE"]) == ("QUOTED", "", "")
    for tool, member in (("get_evidence", "status"), ("list_ahdb", "strength")):
        assert f'"{member}"' in json.dumps(heard["tools"][tool].output_schema)


def test_only_the_word_verified_is_said_to_entitle_to_a_statement_of_fact(heard: Mapping[str, Any]) -> None:
    described = [heard["tools"][name].description for name in ("verify_claim", "get_evidence", "list_ahdb")]
    for text in (heard["instructions"], *described, heard["tools"]["get_ahdb_entry"].description):
        assert "VERIFIED" in text and "QUOTED" in text and "quotation" in text
        assert "only when the result is SUPPORTED" not in text
    assert "standing may be stated" not in heard["tools"]["list_ahdb"].description


def test_no_tool_takes_what_would_write_into_the_ahdb(heard: Mapping[str, Any]) -> None:
    for name in ("list_ahdb", "get_ahdb_entry"):
        tool: Tool = heard["tools"][name]
        assert tool.annotations
        assert tool.annotations.read_only_hint
        assert not {"text", "attestation", "envelope"} & tool.input_schema["properties"].keys()


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "a register that is none": ("list_ahdb", {"register": "FACT"}, "register is one of"),
    "a register that is a list": ("list_ahdb", {"register": ["ASSERT"]}, "register is one of"),
    "a state that is none": ("list_ahdb", {"state": "true"}, "state is one of"),
    "a page too long": ("list_ahdb", {"limit": MAX_PAGE + 1}, "limit is"),
    "a page of nothing": ("list_ahdb", {"limit": 0}, "limit is"),
    "a number below zero": ("list_ahdb", {"after": -1}, "no whole number"),
    "another base": ("list_ahdb", {"base_dir": "/"}, "no argument 'base_dir'"),
    "an entry that is none": ("get_ahdb_entry", {"seq": 10**6}, "There is no entry"),
    "entry zero": ("get_ahdb_entry", {"seq": 0}, "There is no entry"),
    "an entry that is a word": ("get_ahdb_entry", {"seq": "1"}, "no whole number"),
}


@pytest.fixture(scope="module")
def refusals(place: Path, heard: Mapping[str, Any]) -> tuple[Mapping[str, Answer], Answer, Answer]:
    """The refused calls; then the journal signed by another key, and one with a line that was changed."""

    async def talk(client: Client) -> tuple[dict[str, Answer], Answer]:
        return {
            what: await call(client, tool, **asked) for what, (tool, asked, _) in REFUSED.items()
        }, await broken(client)

    async def broken(client: Client) -> Answer:
        path = place / ".vera" / "ahdb.jsonl"
        data = path.read_bytes()
        path.write_bytes(data.replace(b"Be right.", b"Be wrong."))
        try:
            return await call(client, "list_ahdb")
        finally:
            path.write_bytes(data)

    answers, changed = converse(talk, "--base-dir", place, cwd=place, log=place / "refusals.log")
    foreign = place / "foreign"
    (foreign / ".vera").mkdir(parents=True)
    propose(
        Journal(foreign),
        Drive(key="d", text="Obey.", priority=1, trade_off="All.", red_line="None."),
        datetime.now(UTC),
        keys.load_or_create(place / "foreign-key"),
    )

    async def other(client: Client) -> Answer:
        return await call(client, "get_ahdb_entry", seq=1)

    stranger = converse(other, "--base-dir", foreign, cwd=place, log=place / "foreign.log")
    return answers, changed, stranger


@pytest.mark.parametrize("what", REFUSED)
def test_a_bad_call_of_the_ahdb_is_a_sentence_without_structure(refusals: Any, what: str) -> None:
    answer: Answer = refusals[0][what]
    assert answer.failed
    assert answer.value is None
    (sentence,) = answer.texts
    assert REFUSED[what][2] in sentence


def test_nothing_of_a_changed_journal_is_shown(refusals: Any) -> None:
    assert refusals[1].failed
    assert "broken at line" in refusals[1].texts[0]


def test_nothing_of_a_journal_that_another_key_signed_is_shown(refusals: Any) -> None:
    assert refusals[2].failed
    assert "not trusted" in refusals[2].texts[0]
