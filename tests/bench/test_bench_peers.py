"""VERA beside other agents: the keys of the questions, what counts as right, and what a kill leaves."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.benchmarks import together

SAID = 'The licence says "written offer" and "at least three years"'
LEAVES_A_CHILD = """
import subprocess, sys, urllib.request
for _ in range(2):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    body = b'{"messages": [{"role": "user", "content": "go on"}]}'
    urllib.request.urlopen(sys.argv[1] + "/chat/completions", body).read()
"""


@pytest.fixture(scope="module")
def peers() -> Iterator[Any]:
    with together("peers", "peer_commands", "peer_runs") as (command, commands, runs):
        yield SimpleNamespace(command=command, commands=commands, runs=runs)


@pytest.fixture
def asked(peers: Any) -> Any:
    return peers.runs.questions()[0]


def answered(peers: Any, asked: Any, text: str, **members: Any) -> Any:
    answer = peers.commands.Answer(text=text, cited=peers.commands.cited_in(text), **members)
    return peers.runs.Ran(asked=asked, answer=answer, error="")


def test_each_question_has_a_key_of_a_few_lines_that_hold_its_words(peers: Any) -> None:
    questions = peers.runs.questions()
    assert len(questions) == 10
    for each in questions:
        shown = peers.commands.lines_of(each.file, each.first, each.last)
        assert peers.runs.holds(shown, each.words), each.id
        assert each.last - each.first < 6


def test_cited_lines_are_found_however_they_are_written(peers: Any) -> None:
    text = "So (GPL-3.txt:257-262), GPL-2.txt, lines 3–4 and [MPL-1.1.txt: 9]"
    shown = peers.commands.cited_in(f"{text}; none of Missing.txt:1-2, GPL-3.txt:9-8.")
    assert [(file, len(lines.splitlines())) for file, lines in shown] == [
        ("GPL-3.txt", 6), ("GPL-2.txt", 2), ("MPL-1.1.txt", 1), ("Missing.txt", 0), ("GPL-3.txt", 0),
    ]  # fmt: skip


def test_an_answer_is_right_by_its_words_and_by_the_lines_that_it_cites(peers: Any, asked: Any) -> None:
    right = answered(peers, asked, f"{SAID} (GPL-3.txt:257-262).")
    elsewhere = answered(peers, asked, f"{SAID} (GPL-3.txt:1-9).")
    other = answered(peers, asked, f"{SAID} (GPL-2.txt:257-262).")
    assert [(each.right_words, each.right_lines) for each in (right, elsewhere, other)] == [
        (True, True), (True, False), (True, False),
    ]  # fmt: skip


def test_an_answer_of_a_peer_holds_when_the_check_finds_nothing_against_it(
    peers: Any, asked: Any, tmp_path: Path
) -> None:
    right = answered(peers, asked, f"{SAID} (GPL-3.txt:257-262).")
    made_up = answered(peers, asked, 'The licence says "for at least ninety-nine years" (GPL-3.txt:257-262).')
    without = answered(peers, asked, f"{SAID}.")
    assert [each.holds(tmp_path) for each in (right, made_up, without)] == [True, False, False]


def test_what_a_tool_says_of_its_own_proof_counts_where_it_says_something(
    peers: Any, asked: Any, tmp_path: Path
) -> None:
    ran = answered(peers, asked, f"{SAID} (GPL-3.txt:257-262).", proved=False)
    assert not ran.holds(tmp_path)


def test_a_tool_above_its_limit_is_stopped_and_has_no_answer(peers: Any, asked: Any, tmp_path: Path) -> None:
    tool = replace(
        peers.commands.tools("none")["smolagents"],
        start=lambda python, asked, folder, server: [sys.executable, "-c", "while True: pass"],
    )
    limit = peers.runs.Limit(seconds=600, cpu=0.5)
    ran = peers.runs.ask(
        tool, sys.executable, asked, tmp_path / "0", peers.commands.Server(base_url=""), limit
    )
    assert (ran.is_stopped, ran.answer) == (True, None)
    assert ran.cpu > 0.5


def test_a_process_that_outlives_a_kill_is_counted(
    peers: Any, asked: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers.runs, "SETTLED_SECONDS", 1.0)
    tool = replace(
        peers.commands.tools("none")["smolagents"],
        start=lambda python, asked, folder, server: [sys.executable, "-c", LEAVES_A_CHILD, server.base_url],
    )
    server = peers.commands.Server(base_url="")
    left = peers.runs.killed(tool, sys.executable, asked, tmp_path / "0", server)
    assert left is not None
    assert (left.processes, left.went_on) == (2, tool.goes_on)


def test_a_tool_that_ends_before_the_kill_has_left_nothing_to_count(
    peers: Any, asked: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tool = replace(
        peers.commands.tools("none")["smolagents"],
        start=lambda python, asked, folder, server: [sys.executable, "-c", "raise SystemExit('no model')"],
    )
    server = peers.commands.Server(base_url="")
    assert peers.runs.killed(tool, sys.executable, asked, tmp_path / "0", server) is None
    assert "smolagents ended before it was killed: no model" in capsys.readouterr().err


def test_vera_alone_answers_is_killed_and_goes_on_to_the_right_lines(peers: Any) -> None:
    printed = peers.command.main(["--scripted-only", "--questions", "1"])
    columns = dict(rows(printed))
    assert list(columns) == ["", *peers.command.ROWS]
    assert columns["scripted: answers with right lines"] == ["1 of 1", "1 of 1"]
    assert columns["scripted: answers with a proof by our audit"] == ["1 of 1", "1 of 1"]
    assert columns["`kill -9`: processes, containers left"] == ["0, 0", "–"]
    assert columns["goes on"] == ["`vera resume`, exit code 0, right lines", "–"]
    assert printed.count("is left out: name a Python that has it") == 3


def rows(text: str) -> list[tuple[str, list[str]]]:
    """The rows of a table by their first cells."""
    lines = [line for line in text.split("\n") if line.startswith("|") and not line.startswith("|---")]
    return [
        (cells[0], cells[1:]) for cells in ([c.strip() for c in line.strip("|").split("|")] for line in lines)
    ]


def test_a_tool_that_no_one_knows_is_refused(peers: Any) -> None:
    with pytest.raises(SystemExit, match=r"--peer gpt: no such tool\. There are: VERA"):
        peers.command.main(["--peer", "gpt=python"])


def test_the_last_object_that_a_peer_prints_is_its_answer(peers: Any, tmp_path: Path) -> None:
    said = {"answer": "Three (GPL-3.txt:257-262).", "prompt": 5, "tokens": 3}
    read = peers.commands.tools("none")["smolagents"].read
    found = read(f"a warning\n{json.dumps(said)}\n", tmp_path)
    assert (found.tokens, [file for file, _ in found.cited]) == (3, ["GPL-3.txt"])
    assert read("Traceback …", tmp_path) is None
