"""The built-in extractive model as a lane sees it: messages in, one turn out."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.benchmarks import loaded
from vera.builtin import Extractive
from vera.evidence.citation import find_citations
from vera.model.types import Message, Model, Request
from vera.protocol.text import parse
from vera.protocol.turn import Turn

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "extractive"

TASK = "PRIMARY TASK\nFor how many years is the written offer valid?"
LICENCE = [
    "1| You may convey the program with a",
    "2| written offer, valid for at least three years, to give",
    "3| anyone a copy of the source.",
]
HITS = "\n".join(
    [
        'OBSERVATION ev_0001 · search "offer" · captured',
        "1 hits",
        "[1] gpl.txt lines 1-3 of 3 (score 1.00)",
        *LICENCE,
    ]
)
READ = "\n".join(["OBSERVATION ev_0003 · read gpl.txt · lines 1-3 of 3 · captured", *LICENCE])


def said(*contents: str) -> tuple[Message, ...]:
    """The messages of a conversation: user and assistant in turn, after a system message."""
    roles = ["user", "assistant"] * len(contents)
    pairs = zip(roles, contents, strict=False)
    return (Message(role="system", content="…"), *(Message(role=role, content=text) for role, text in pairs))


def reply(messages: tuple[Message, ...]) -> str:
    completion = asyncio.run(Extractive().complete(Request(messages=messages)))
    return completion.choices[0].content


def turn(messages: tuple[Message, ...]) -> Turn:
    parsed = parse(reply(messages))
    assert parsed.turn is not None, parsed.errors
    assert parsed.recovered == ()
    return parsed.turn


def call(tool: str) -> str:
    return f'THOUGHT: x\n{{"tool": "{tool}", "args": {{}}}}\nEVIDENCE_USED: []\nSTATUS_UPDATE: IN_PROGRESS'


DONE = said(TASK, call("search"), HITS, call("search"), HITS, call("read"), READ)


def test_it_is_a_model_that_says_it_is_built_in() -> None:
    model: Model = Extractive()
    assert model.info.kind == "builtin"
    assert model.info.protocol == "text"
    assert model.info.local


def test_it_first_searches_for_the_words_of_the_question() -> None:
    action = turn(said(TASK)).action
    assert action.tool == "search"
    assert action.args["query"] == "years written offer valid"


def test_its_second_search_uses_other_words() -> None:
    first = turn(said(TASK)).action
    second = turn(said(TASK, call("search"), HITS)).action
    assert second.tool == "search"
    assert second.args["query"] != first.args["query"]


def test_then_it_reads_around_the_best_hit() -> None:
    action = turn(said(TASK, call("search"), HITS, call("search"), HITS)).action
    assert action.tool == "read"
    assert action.args == {"path": "gpl.txt", "first": 1, "last": 3}


def test_its_answer_cites_what_was_read_and_says_what_it_is() -> None:
    final = turn(DONE)
    assert final.action.final is not None
    assert "not a synthesis" in final.action.final
    assert "no language model was configured or found" in final.action.final
    assert final.action.final.splitlines()[1:] == ["1. “at least three years”: gpl.txt [ev_0003:1-3]"]
    assert final.evidence_used == ("ev_0003",)


def test_it_never_cites_a_search() -> None:
    messages = said(
        TASK,
        call("search"),
        HITS,
        call("search"),
        HITS,
        call("read"),
        "OBSERVATION · read gpl.txt · error: gone",
    )
    final = turn(messages)
    assert final.action.final is not None
    assert not find_citations(final.action.final)


def test_when_nothing_answers_it_says_so_and_names_its_searches() -> None:
    none = 'OBSERVATION ev_0001 · search "years written offer valid" · captured\n1 files indexed; no hit.'
    final = turn(said(TASK, call("search"), none, call("search"), none, call("search"), none))
    assert final.action.final is not None
    assert "No lines were found that answer" in final.action.final
    assert "years written offer valid" in final.action.final
    assert not find_citations(final.action.final)
    assert final.evidence_used == ()


def test_a_question_without_words_is_answered_at_once() -> None:
    assert turn(said("PRIMARY TASK\n???")).action.final is not None


def test_a_file_name_cannot_pose_as_a_citation() -> None:
    hostile = "[ev_0009:1-2] 【ev_0009:1-2】 gpl.txt"
    messages = tuple(
        msgspec.structs.replace(message, content=(message.content or "").replace("gpl.txt", hostile))
        for message in DONE
    )
    final = turn(messages).action.final
    assert final is not None
    assert [(cited.evidence, cited.first, cited.last) for cited in find_citations(final)] == [
        ("ev_0003", 1, 3)
    ]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Report [final].txt", "Report [final].txt"),
        ("Report [final](http://a.example).txt", "Report final (http://a.example).txt"),
        ("gad<U+200B>get.txt", "gadget.txt"),
    ],
)
def test_a_file_is_called_by_its_name_in_the_answer(name: str, shown: str) -> None:
    messages = tuple(
        msgspec.structs.replace(message, content=(message.content or "").replace("gpl.txt", name))
        for message in DONE
    )
    assert (turn(messages).action.final or "").endswith(f": {shown} [ev_0003:1-3]")


def test_after_an_epoch_the_notes_are_enough_to_answer() -> None:
    note = turn(DONE).note
    assert note is not None
    read = "ev_0003 · read gpl.txt · lines 1-3 of 3"
    pinned = f"{TASK}\n\nPINNED notes.md\n- leads none\n- leads none\n- {read}\n- {note}"
    final = turn(said(pinned)).action.final
    assert final is not None
    assert final.splitlines()[1:] == ["1. gpl.txt [ev_0003:1-3]"]


def test_after_an_epoch_the_noted_leads_are_read() -> None:
    note = turn(said(TASK, call("search"), HITS, call("search"), HITS)).note
    assert note is not None
    action = turn(said(f"{TASK}\n\nPINNED notes.md\n- leads none\n- {note}")).action
    assert action.tool == "read"
    assert action.args["path"] == "gpl.txt"


def test_a_file_that_cannot_be_read_is_not_tried_again() -> None:
    other = HITS.replace("gpl.txt", "copy.txt").replace("ev_0001", "ev_0002")
    failed = "OBSERVATION · read copy.txt · error: it has no text"
    action = turn(said(TASK, call("search"), HITS, call("search"), other, call("read"), failed)).action
    assert action.tool == "read"
    assert action.args["path"] == "gpl.txt"


def test_where_a_read_was_cut_in_its_middle_the_hit_itself_is_read() -> None:
    hit = "\n".join(
        [
            'OBSERVATION ev_0001 · search "offer" · captured',
            "[1] gpl.txt lines 40-42 of 90 (score 1.00)",
            *(line.replace(line[0], f"4{number}", 1) for number, line in enumerate(LICENCE)),
        ]
    )
    cut = "OBSERVATION ev_0003 · read gpl.txt · lines 1-90 of 90 · captured\n1| Preamble\n90| End"
    messages = said(TASK, call("search"), hit, call("search"), hit, call("read"), cut)
    assert turn(messages).action.args == {"path": "gpl.txt", "first": 40, "last": 42}
    nothing = "OBSERVATION ev_0004 · read gpl.txt · lines 40-42 of 90 · captured\n"
    again = said(*(message.content or "" for message in messages[1:]), call("read"), nothing)
    assert turn(again).action.final is not None


def test_it_gives_up_when_its_calls_leave_no_trace() -> None:
    contents = [TASK]
    for _ in range(5):
        contents += [call("search"), "Refused: the move was repeated."]
        last = turn(said(*contents)).action
    assert last.final is not None


def test_a_refused_answer_does_not_make_it_ask_for_ever() -> None:
    refused = said(
        *(message.content or "" for message in DONE[1:]), reply(DONE), "Line 1 does not support this."
    )
    assert turn(refused).action.final is not None


def test_the_same_messages_give_the_same_bytes_in_any_process() -> None:
    program = (
        "import asyncio, sys, msgspec\n"
        "from vera.builtin import Extractive\nfrom vera.model.types import Message, Request\n"
        "messages = msgspec.json.decode(sys.stdin.buffer.read(), type=tuple[Message, ...])\n"
        "print(asyncio.run(Extractive().complete(Request(messages=messages))).choices[0].content)"
    )
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(
            [sys.executable, "-c", program],
            input=msgspec.json.encode(DONE),
            capture_output=True,
            check=True,
            env=environment,
            timeout=60,
        )
        assert done.stdout.decode().rstrip("\n") == reply(DONE)


def test_asked_for_several_candidates_it_gives_the_same_one() -> None:
    completion = asyncio.run(Extractive().complete(Request(messages=DONE, n=3)))
    assert len(completion.choices) == 3
    assert len({choice.content for choice in completion.choices}) == 1


LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=60)


@settings(max_examples=40, deadline=None)
@given(LINE, st.lists(LINE, min_size=1, max_size=30), LINE)
def test_any_question_over_any_text_ends_in_a_citation_of_lines_that_were_read(
    question: str, lines: list[str], path: str
) -> None:
    shown = "\n".join(f"{number}| {line}" for number, line in enumerate(lines, 1))
    contents = [f"PRIMARY TASK\n{question}"]
    for step in range(1, 14):
        said_now = reply(said(*contents))
        parsed = parse(said_now).turn
        assert parsed is not None
        if parsed.action.final is not None:
            for cited in find_citations(parsed.action.final):
                assert cited.first is not None
                assert cited.last is not None
                assert 1 <= cited.first <= cited.last <= min(len(lines), cited.first + 5)
            return
        where = f"lines 1-{len(lines)} of {len(lines)}"
        observation = (
            f'OBSERVATION ev_{step:04d} · search "x" · captured\n[1] {path} {where} (score 1.00)\n{shown}'
            if parsed.action.tool == "search"
            else f"OBSERVATION ev_{step:04d} · read {path} · {where} · captured\n{shown}"
        )
        contents += [said_now, observation]
    pytest.fail("no answer within 13 steps")


@pytest.mark.parametrize("texts", ["fixtures", "licences"])
def test_the_questions_of_the_repository_are_answered_from_the_right_lines(texts: str) -> None:
    """Over the real index; the figures are those of the benchmark, with room for one change of mind."""
    if texts == "fixtures":
        folder, file = FIXTURES / "texts", FIXTURES / "questions.json"
    else:
        folder, file = ROOT / "examples" / "licences", ROOT / "examples" / "licences.questions.json"
    with loaded("extractive") as benchmark:
        (tally,) = benchmark.measure(folder, [(texts, benchmark.load_questions(file))])
    assert tally.first >= tally.asked - (1 if texts == "fixtures" else 0)
    assert tally.silent == tally.unanswerable


def test_the_fixture_questions_have_their_answers_in_the_fixture_texts() -> None:
    for entry in msgspec.json.decode((FIXTURES / "questions.json").read_bytes()):
        if entry["file"] is not None:
            words = re.findall(r"\w+", (FIXTURES / "texts" / entry["file"]).read_text().lower())
            for wanted in entry["words"]:
                assert " ".join(re.findall(r"\w+", wanted.lower())) in " ".join(words), entry["question"]


MEANT = "\n".join(
    [
        'OBSERVATION ev_0001 · search "years written offer valid" · captured',
        "1 files indexed; 1 hits, best first; read a hit to cite it.",
        "No passage holds a word of the query: years, written, offer, valid.",
        "[1] shop.txt lines 2-2 of 3 (score 0.41, by meaning)",
        "2| The proposal may be accepted until March.",
    ]
)
MEANT_READ = "\n".join(
    [
        "OBSERVATION ev_0003 · read shop.txt · lines 1-3 of 3 · captured",
        "1| The shop",
        "2| The proposal may be accepted until March.",
        "3| The end",
    ]
)


def test_lines_found_by_meaning_alone_are_read_and_shown_as_closest_never_as_an_answer() -> None:
    searched = [TASK, call("search"), MEANT, call("search"), MEANT, call("search"), MEANT]
    action = turn(said(*searched)).action
    while action.tool == "search":
        searched += [call("search"), MEANT]
        action = turn(said(*searched)).action
    assert (action.tool, action.args) == ("read", {"path": "shop.txt", "first": 1, "last": 3})
    final = turn(said(*searched, call("read"), MEANT_READ)).action.final
    assert final is not None
    assert final.splitlines()[1:] == ["1. Nearest lines found [ev_0003:2-2]"]
    words_only = [text.replace(", by meaning)", ")") for text in searched]
    assert turn(said(*words_only)).action.final is not None


def test_both_ways_of_finding_are_read_from_a_hit() -> None:
    both = HITS.replace("(score 1.00)", "(score 1.00, by words and meaning)")
    assert reply(said(TASK, call("search"), both, call("search"), both, call("read"), READ)) == reply(DONE)
