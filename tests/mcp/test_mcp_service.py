"""A real client of the protocol calls the tools of `vera mcp`, in a process, and replays the verdict."""

import hashlib
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

import vera
from support.cli import vera as command
from support.mcp_client import Answer, call, converse, raw
from vera.extras import install_command

LICENCES = Path(__file__).parents[2] / "examples" / "licences"
THESIS = "GPL version 3 requires the written offer to be valid for at least three years."
ALTERED = "GPL version 3 requires the written offer to be valid for at least five years."
UNSPOKEN = "The Elbe is 1094 kilometres long."
REPORT = 'Of the offer it says "valid for at least five years" [1].\n\n[1]: GPL-3.txt\n'
SPAN = re.compile(r"<<<DATA ([0-9a-f]{16}) ([^\n]*)\n(.*)\nDATA \1>>>", re.DOTALL)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base folder with files beside it and in it that no caller is to see."""
    folder = tmp_path_factory.mktemp("service")
    (folder / "base").mkdir()
    (folder / "secret.md").write_text('"a secret that is long enough to be quoted" [1].\n')
    (folder / "base" / ".env").write_text("MODEL_NAME=x\n")
    (folder / "base" / "leads_out.md").symlink_to(folder / "secret.md")
    return folder


def arguments(place: Path) -> list[object]:
    return ["--base-dir", place / "base", "--input-dir", LICENCES, "--model-base-url", "builtin"]


@pytest.fixture(scope="module")
def heard(place: Path) -> Mapping[str, Any]:
    """One conversation with the tools that verify."""

    async def talk(client: Client) -> dict[str, Any]:
        listed = await client.list_tools()
        said: dict[str, Any] = {"tools": listed.tools}
        said["supported"] = await call(client, "verify_claim", thesis=THESIS, scope=["files"])
        said["altered"] = await call(client, "verify_claim", thesis=ALTERED)
        said["again"] = await call(client, "verify_claim", thesis=THESIS, scope=["files"])
        verdict = said["supported"].value
        card = verdict["cards"][0]
        said["card"] = await call(client, "get_evidence", card_id=card["card_id"])
        said["verdict"] = await call(client, "get_evidence", attestation_id=verdict["attestation_id"])
        said["handle"] = await call(
            client, "get_evidence", span_handle=card["span_handle"], session=verdict["session"]
        )
        said["unspoken"] = await call(client, "verify_claim", thesis=UNSPOKEN)
        said["required"] = await call(
            client, "verify_claim", thesis=THESIS, scope=["files"], require="verified"
        )
        said["unspoken evidence"] = await call(
            client, "get_evidence", attestation_id=said["unspoken"].value["attestation_id"]
        )
        said["report"] = await call(client, "check_report", text=REPORT)
        return said

    return converse(talk, *arguments(place), cwd=place, log=place / "log")


def test_exactly_five_tools_are_offered_and_none_of_them_searches(heard: Mapping[str, Any]) -> None:
    assert [tool.name for tool in heard["tools"]] == [
        "verify_claim",
        "check_report",
        "get_evidence",
        "list_ahdb",
        "get_ahdb_entry",
    ]
    arguments = {name for tool in heard["tools"] for name in tool.input_schema["properties"]}
    assert not arguments & {"query", "url", "search", "fetch"}


def test_a_true_claim_is_supported_and_its_cards_are_pointers_without_text(heard: Mapping[str, Any]) -> None:
    answer: Answer = heard["supported"]
    assert not answer.failed
    verdict = answer.value
    assert (verdict["status"], verdict["result"], verdict["exit_code"]) == ("QUOTED", "SUPPORTED", 0)
    assert [card["source"] for card in verdict["cards"]] == ["GPL-3.txt"]
    assert json.loads(answer.texts[0]) == verdict
    assert not {"prefix", "suffix"} & verdict["cards"][0]["span_handle"].keys()
    said = (LICENCES / "GPL-3.txt").read_text().split("\n")[256:267]
    assert [line for line in said if len(line) > 20 and line.strip() in answer.texts[0]] == []


def test_what_is_less_than_required_has_exit_code_3(heard: Mapping[str, Any]) -> None:
    required = heard["required"].value
    assert (required["status"], required["exit_code"], required["reused"]) == ("QUOTED", 3, True)


def test_a_claim_with_another_number_is_not_supported(heard: Mapping[str, Any]) -> None:
    assert heard["altered"].value["result"] != "SUPPORTED"


def test_the_same_claim_again_is_answered_by_the_verdict_of_before(heard: Mapping[str, Any]) -> None:
    assert heard["again"].value["reused"]
    assert heard["again"].value["attestation_id"] == heard["supported"].value["attestation_id"]


def test_progress_is_told_while_a_claim_is_verified_and_only_ever_goes_up(heard: Mapping[str, Any]) -> None:
    steps = [number for number, _ in heard["supported"].progress]
    assert steps == sorted(set(steps))
    said = [text for _, text in heard["supported"].progress]
    assert said[:2] == ["looking for evidence", "looking: search"]
    assert "verifying, round 1: audit" in said


@pytest.mark.parametrize("asked", ["card", "verdict", "handle"])
def test_the_evidence_is_the_exact_bytes_that_their_hash_names(heard: Mapping[str, Any], asked: str) -> None:
    answer: Answer = heard[asked]
    assert not answer.failed
    value = json.loads(answer.texts[0])
    (card,) = value["cards"]
    found = SPAN.fullmatch(answer.texts[1])
    assert found
    data = found[3].encode()
    handle = card["span_handle"]
    assert card["whole"]
    assert f"sha256:{hashlib.sha256(data).hexdigest()}" == handle["sha256"]
    assert (LICENCES / "GPL-3.txt").read_bytes()[handle["start"] : handle["end"]] == data
    assert b"three" in data
    assert value["attestation_id"] == heard["supported"].value["attestation_id"]
    assert found[2].startswith("GPL-3.txt")


def test_a_verdict_without_a_card_has_no_span_to_show(heard: Mapping[str, Any]) -> None:
    answer: Answer = heard["unspoken evidence"]
    assert not answer.failed
    assert json.loads(answer.texts[0])["cards"] == []
    assert len(answer.texts) == 1


def test_a_false_quotation_of_a_report_is_found(heard: Mapping[str, Any]) -> None:
    report = heard["report"].value
    assert (report["exit_code"], report["document"]) == (4, "text")
    assert [problem["code"] for problem in report["findings"]["problems"]] == ["quotation_false"]


def test_vera_replay_accepts_what_was_returned(heard: Mapping[str, Any], place: Path) -> None:
    for said in ("supported", "altered", "unspoken"):
        verdict = heard[said].value
        done = command("replay", verdict["session"], "--json", cwd=place)
        assert done.returncode == 0, done.stdout
        attested = json.loads(done.stdout)["attested"]
        assert [each["attestation"] for each in attested] == [verdict["attestation_id"]]
        assert vera.replay(verdict["session"]).exit_code == 0


def test_nothing_is_said_beside_the_protocol(heard: Mapping[str, Any], place: Path) -> None:
    assert heard
    assert "Traceback" not in (place / "log").read_text()


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "no thesis": ("verify_claim", {}, "The thesis is no text"),
    "an empty thesis": ("verify_claim", {"thesis": "  "}, "thesis"),
    "a thesis that is no text": ("verify_claim", {"thesis": 5}, "The thesis is no text"),
    "a thesis of 100 kB": ("verify_claim", {"thesis": "a word " * 15_000}, "4000"),
    "an unknown requirement": ("verify_claim", {"thesis": THESIS, "require": "proved"}, "require"),
    "an unknown scope": ("verify_claim", {"thesis": THESIS, "scope": ["moon"]}, "scope"),
    "a scope that is no list": ("verify_claim", {"thesis": THESIS, "scope": 5}, "scope"),
    "a lens that is a path": ("verify_claim", {"thesis": THESIS, "lens": "/etc/hosts.yaml"}, "no lens"),
    "a budget of nothing": ("verify_claim", {"thesis": THESIS, "budget_sources": 0}, "zero"),
    "a budget by two names": (
        "verify_claim",
        {"thesis": THESIS, "max_bytes": 9, "budget_bytes": 9},
        "one cap",
    ),
    "a budget without end": ("verify_claim", {"thesis": THESIS, "max_tokens": 10**15}, "the most is"),
    "an argument that is none": (
        "verify_claim",
        {"thesis": THESIS, "work_dir": "/x"},
        "no argument 'work_dir'",
    ),
    "a text and a path": ("check_report", {"text": "a", "path": "b"}, "Give either"),
    "neither": ("check_report", {}, "Give either"),
    "a blank report": ("check_report", {"text": " \n"}, "The report is empty"),
    "a report with a zero byte": ("check_report", {"text": 'x \0 "y" [1]'}, "a zero byte"),
    "a report that is a PDF": ("check_report", {"text": "%PDF-1.4 x"}, "it is pdf"),
    "a path outside": ("check_report", {"path": "../secret.md"}, "leads out"),
    "an absolute path outside": ("check_report", {"path": "/etc/passwd"}, "leads out"),
    "a link": ("check_report", {"path": "BASE/leads_out.md"}, "cannot be read"),
    "a hidden file": ("check_report", {"path": "BASE/.env"}, "Hidden files"),
    "a file that is not there": ("check_report", {"path": "none.md"}, "cannot be read"),
    "a date that is none": ("check_report", {"text": "a", "not_before": "soon"}, "no date"),
    "no handle": ("get_evidence", {}, "Give one of"),
    "an id that is none": ("get_evidence", {"card_id": "../../etc/passwd"}, "no id"),
    "an id of nothing": ("get_evidence", {"card_id": f"sha256:{'0' * 64}"}, "No session"),
    "a session outside": (
        "get_evidence",
        {"card_id": f"sha256:{'0' * 64}", "session": "/etc"},
        "leads out",
    ),
    "a tool that is none": ("web_search", {"query": "x"}, "no tool"),
}


@pytest.fixture(scope="module")
def refusals(place: Path) -> Mapping[str, Answer]:
    async def talk(client: Client) -> dict[str, Answer]:
        answers = {}
        for what, (tool, asked, _) in REFUSED.items():
            given = {
                name: value.replace("BASE", str(place / "base")) if isinstance(value, str) else value
                for name, value in asked.items()
            }
            answers[what] = await call(client, tool, **given)
        return answers

    return converse(talk, *arguments(place), cwd=place, log=place / "refusals.log")


@pytest.mark.parametrize("what", REFUSED)
def test_a_bad_call_is_a_tool_error_of_one_sentence(refusals: Mapping[str, Answer], what: str) -> None:
    answer = refusals[what]
    assert answer.failed
    (sentence,) = answer.texts
    assert REFUSED[what][2] in sentence
    assert "\n" not in sentence
    assert "Traceback" not in sentence
    assert len(sentence) < 1000


def test_a_span_that_no_card_has_is_not_given(heard: Mapping[str, Any], place: Path) -> None:
    handle = heard["supported"].value["cards"][0]["span_handle"]

    async def talk(client: Client) -> Answer:
        return await call(client, "get_evidence", span_handle={**handle, "start": 0, "end": handle["end"]})

    answer = converse(talk, *arguments(place), cwd=place, log=place / "span.log")
    assert answer.failed


def test_a_client_of_the_handshake_era_is_served_too(place: Path) -> None:
    async def talk(client: Client) -> Answer:
        return await call(client, "check_report", text=REPORT)

    answer = converse(talk, *arguments(place), cwd=place, log=place / "old.log", mode="legacy")
    assert answer.value["exit_code"] == 4


def test_standard_output_holds_messages_of_the_protocol_only(place: Path) -> None:
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    done: subprocess.CompletedProcess[str] = raw(
        *arguments(place), cwd=place, stdin="no json\n" + "".join(json.dumps(each) + "\n" for each in lines)
    )
    assert done.returncode == 0, done.stderr
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in done.stdout.splitlines())


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@contextmanager
def initialized(place: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """`vera mcp` in a process that has answered the first request."""
    words = [sys.executable, "-P", "-m", "vera", "mcp", *map(str, arguments(place))]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=place, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            write(process, json.dumps(INITIALIZE))
            answer(process)
            yield process
        finally:
            process.kill()


def write(process: "subprocess.Popen[bytes]", line: str) -> None:
    assert process.stdin
    process.stdin.write(f"{line}\n".encode())
    process.stdin.flush()


def answer(process: "subprocess.Popen[bytes]") -> Any:
    assert process.stdout
    return json.loads(process.stdout.readline())


def call_with_progress(process: "subprocess.Popen[bytes]", thesis: str) -> None:
    """Begin a call, and wait until it is under way."""
    params = {"name": "verify_claim", "arguments": {"thesis": thesis}, "_meta": {"progressToken": 2}}
    write(process, json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}))
    assert answer(process)["method"] == "notifications/progress"


def test_a_client_that_dies_during_a_call_ends_the_service_in_order(place: Path) -> None:
    with initialized(place) as process:
        assert process.stdin and process.stdout and process.stderr
        call_with_progress(process, "The licence of the GNU project mentions 91 countries.")
        process.stdout.close()
        time.sleep(0.3)
        process.stdin.close()
        assert process.wait(60) == 0
        assert process.stderr.read() == b""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("busy", [False, True])
def test_a_signal_ends_the_service_without_an_end_of_its_input(
    place: Path, number: signal.Signals, busy: bool
) -> None:
    with initialized(place) as process:
        assert process.stderr
        if busy:
            call_with_progress(process, f"The licence mentions {number + 50} countries.")
        process.send_signal(number)
        assert process.wait(20) == 130
        assert process.stderr.read() == b"vera: interrupted.\n"


MALFORMED = {
    r'{"jsonrpc":"2.0","id":900,"method":"ping","params":{"x":"\ud800"}}': (900, -32700),
    '{"jsonrpc":"2.0","id":"a","method":"ping","params":5}': ("a", -32600),
    '{"id":5,"method":"ping"}': (5, -32600),
    "garbage": (None, -32700),
    "[1]": (None, -32600),
    "{}": (None, -32600),
}


def test_a_malformed_request_is_answered_with_its_id(place: Path) -> None:
    with initialized(place) as process:
        for line, (name, code) in MALFORMED.items():
            write(process, line)
            said = answer(process)
            assert (said["id"], said["error"]["code"]) == (name, code), line
        for line in ("", '{"jsonrpc":"2.0","id":7,"result":4}'):  # neither is a request
            write(process, line)
        write(process, '{"jsonrpc":"2.0","id":8,"method":"ping"}')
        assert answer(process) == {"jsonrpc": "2.0", "id": 8, "result": {}}


def test_the_printed_configuration_starts_the_service(place: Path) -> None:
    shown = command("mcp", "--print-config", *arguments(place), "-c", "brave.key=hidden", cwd=place)
    server = json.loads(shown.stdout)["mcpServers"]["vera"]
    assert Path(server["command"]).is_absolute()
    assert str(place / "base") in server["args"]
    assert "hidden" not in shown.stdout
    done = subprocess.run(
        [server["command"], *server["args"], "--print-config"], cwd="/", capture_output=True, text=True
    )
    assert json.loads(done.stdout)["mcpServers"]["vera"] == server


def test_without_the_extra_the_command_says_what_to_type(place: Path) -> None:
    without = "import sys; sys.modules['mcp_types'] = None; from vera.cli import main; main(['mcp'])"
    done = subprocess.run([sys.executable, "-P", "-c", without], cwd=place, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr == f"vera: the service needs the extra 'mcp'. Type: {install_command('mcp')}\n"


def test_a_folder_that_is_not_there_ends_the_service_before_it_begins(place: Path) -> None:
    done = raw("--input-dir", place / "none", cwd=place, stdin="")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("vera: The input folder ")


def test_a_caller_names_connectors_that_are_configured_and_gives_no_address(tmp_path: Path) -> None:
    (tmp_path / "laws").mkdir()
    (tmp_path / "laws" / "GPL-3.txt").write_bytes((LICENCES / "GPL-3.txt").read_bytes())
    given = ["--base-dir", tmp_path, "--model-base-url", "builtin"]
    configured = ["-c", f"connectors.configured=laws=folder:{tmp_path}/laws"]
    outside = ["x=folder:/etc"]

    async def talk(client: Client) -> dict[str, Answer]:
        return {
            "named": await call(client, "verify_claim", thesis=THESIS, connectors=["laws"]),
            "scope": await call(client, "verify_claim", thesis=THESIS, scope=["connectors"]),
            "report": await call(client, "check_report", text=REPORT, connectors=["laws"]),
            "unknown": await call(client, "verify_claim", thesis=THESIS, connectors=["papers"]),
            "address": await call(client, "verify_claim", thesis=THESIS, connectors=outside),
            "address of a report": await call(client, "check_report", text=REPORT, connectors=outside),
        }

    heard = converse(talk, *given, *configured, cwd=tmp_path, log=tmp_path / "log")
    for name in ("named", "scope"):
        assert heard[name].value["result"] == "SUPPORTED", heard[name]
    assert [each["code"] for each in heard["report"].value["findings"]["problems"]] == ["quotation_false"]
    assert "There is no connector 'papers'" in heard["unknown"].texts[0]
    for name in ("address", "address of a report"):
        assert heard[name].failed and "/etc" not in "".join(heard[name].texts[:1]).replace(outside[0], "")

    async def verify(client: Client) -> Answer:
        return await call(client, "verify_claim", thesis=THESIS)

    used = ["--connector", f"laws=folder:{tmp_path}/laws"]
    assert converse(verify, *given, *used, cwd=tmp_path, log=tmp_path / "log").value["result"] == "SUPPORTED"
