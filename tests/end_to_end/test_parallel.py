"""The same question asked many times at once: every call has a work folder, and none hinders another."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from mcp import Client

from support.cast import Cast
from support.cli import LIMIT, vera
from support.mcp_client import converse
from support.scripted_server import ScriptedServer

THESIS = "The Elbe is 1094 kilometres long."
AT_ONCE = 6


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "rivers").mkdir()
    (tmp_path / "rivers" / "rivers.txt").write_text(f"{THESIS}\nThe Rhine is 1233 kilometres long.\n")
    return tmp_path


def at_once(call: Callable[[], CompletedProcess[str]]) -> list[CompletedProcess[str]]:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [each.result() for each in [pool.submit(call) for _ in range(AT_ONCE)]]


def test_six_verifications_of_one_thesis_at_once_all_succeed_twice_over(place: Path) -> None:
    for rounds in (1, 2):
        done = at_once(
            lambda: vera("verify", THESIS, "--input-dir", "rivers", "--fresh", "--json", "-q", cwd=place)
        )
        assert [each.returncode for each in done] == [0] * AT_ONCE, [each.stderr for each in done]
        assert {json.loads(each.stdout)["result"] for each in done} == {"SUPPORTED"}
        assert len(list((place / "work").iterdir())) == rounds * AT_ONCE
    shown = vera("ahdb", "show", cwd=place)
    assert (shown.returncode, shown.stdout.count("\nHYPERTHESIS\n")) == (0, 1), shown.stderr


def test_six_runs_of_one_question_at_once_all_have_a_folder_twice_over(place: Path) -> None:
    question = "How long is the Elbe?"
    for rounds in (1, 2):
        done = at_once(
            lambda: vera("run", question, "--input-dir", "rivers", "--sandbox", "none", "-q", cwd=place)
        )
        assert {each.returncode for each in done} <= {0, 3}, [each.stderr for each in done]
        assert len(list((place / "work").iterdir())) == rounds * AT_ONCE


class Held:
    """A model that answers nothing until it is let go."""

    def __init__(self) -> None:
        self.cast = Cast([])
        self.was_asked = threading.Event()
        self.may_answer = threading.Event()

    def __call__(self, index: int, body: dict[str, Any]) -> Any:
        self.was_asked.set()
        assert self.may_answer.wait(LIMIT)
        return self.cast(index, body)


BY_PYTHON = """
import sys, vera
verdict = vera.verify(
    sys.argv[1], input_dir="rivers", overrides=["model.base_url=" + sys.argv[2], "egress.mode=none"],
    progress=lambda line: print(line, flush=True),
)
print("reused" if verdict.reused else "searched", verdict.result, verdict.attestation_id)
"""


WAITING = "another run verifies the same"


def by_mcp(place: Path, model: str, waits: threading.Event) -> dict[str, Any]:
    """What `verify_claim` of `vera mcp` says of THESIS; `waits` is set when it waits for another run."""

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        if WAITING in (message or ""):
            waits.set()

    async def talk(client: Client) -> dict[str, Any]:
        asked = {"thesis": THESIS, "scope": ["files"]}
        return (
            await client.call_tool("verify_claim", asked, progress_callback=listen)
        ).structured_content or {}

    options = ["--base-dir", ".", "--input-dir", "rivers", "--model-base-url", model, "--egress", "none"]
    return converse(talk, *options, cwd=place, log=place / "mcp.log")


def test_of_a_command_a_python_program_and_an_agent_over_mcp_that_ask_the_same_one_searches(
    place: Path,
) -> None:
    held, how = Held(), {"cwd": place, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    waits = threading.Event()
    with ScriptedServer(held) as server, ThreadPoolExecutor(1) as pool:
        command = [sys.executable, "-m", "vera", "verify", THESIS, "--input-dir", "rivers", "--json", "-q"]
        options = ["--model-base-url", server.root, "--egress", "none"]
        first = subprocess.Popen([*command, *options], **how)
        second = None
        try:
            assert held.was_asked.wait(LIMIT)
            second = subprocess.Popen([sys.executable, "-c", BY_PYTHON, THESIS, server.root], **how)
            third = pool.submit(by_mcp, place, server.root, waits)
            assert second.stdout is not None
            said = iter(second.stdout.readline, "")
            assert any(WAITING in line for line in said)
            assert waits.wait(LIMIT), (place / "mcp.log").read_text()
            held.may_answer.set()
            told, _ = first.communicate(timeout=LIMIT)
            waited, failed = second.communicate(timeout=LIMIT)
            heard = third.result(LIMIT)
        finally:
            held.may_answer.set()
            for each in filter(None, (first, second)):
                each.kill()
                each.communicate()
    verdict = json.loads(told)
    assert verdict["result"] == "SUPPORTED"
    assert waited.split()[-3:] == ["reused", "SUPPORTED", verdict["attestation_id"]], failed
    assert (heard["reused"], heard["attestation_id"]) == (True, verdict["attestation_id"])
    assert len(list((place / "work").glob("*/trace.jsonl"))) == 1
