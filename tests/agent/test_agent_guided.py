"""What a model may write in guided mode: how a reply is read, and what becomes of it in an answer."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from vera.agent import turn_exam
from vera.agent.guided import GUIDED, ROOMS, Sentence, answer_text, read, schema
from vera.builtin.scoring import Window
from vera.evidence.citation import find_citations
from vera.model.types import ModelInfo
from vera.protocol.turn import Action, Turn

ROOM = ROOMS[GUIDED]
SHOWN = [
    Window("a.txt", "ev_0003", 12, 14, 1.0, 1.0, 0.0, "Maps are lent for 21 days."),
    Window("b.txt", "ev_0004", 2, 2, 0.5, 0.5, 0.0, "Books are lent for four weeks."),
]


def whole(*sentences: tuple[list[int], str]) -> str:
    return json.dumps({"sentences": [{"lines": lines, "text": text} for lines, text in sentences]})


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (whole(([1], "Maps are lent for 21 days.")), [([1], "Maps are lent for 21 days.")]),
        ("```json\n" + whole(([1, 2], "Both.")) + "\n```", [([1, 2], "Both.")]),
        (whole(([1], "One."), ([2], "Two."))[:-12], [([1], "One.")]),
        ('{"sentences": [{"lines": [1], "text": "Maps are len', []),
        ("Maps are lent for 21 days [1].", [([1], "Maps are lent for 21 days")]),
        ("Maps are lent for 21 days (lines 1, 2).", [([1, 2], "Maps are lent for 21 days")]),
        ("Maps are lent for 21 days.", []),
        ("", []),
        ("[1] [2] [3]", []),
        (whole(), []),
        (
            whole(*[([1], f"Sentence {n}.") for n in range(9)]),
            [([1], f"Sentence {n}.") for n in range(ROOM.sentences)],
        ),
        (whole(([1], "x" * ROOM.characters)), []),
        (whole(([1], "x" * (ROOM.characters - 1) + ".")), [([1], "x" * (ROOM.characters - 1) + ".")]),
        (whole(([1], "x" * 5000 + ".")), []),
    ],
)
def test_a_reply_is_read_as_far_as_it_is_whole(content: str, found: list[tuple[list[int], str]]) -> None:
    assert [(each.lines, each.text) for each in read(content, ROOM)] == found


@pytest.mark.parametrize(
    ("sentences", "text"),
    [
        ([([1], "Maps are lent for 21 days.")], "Maps are lent for 21 days. [ev_0003:12-14]"),
        ([([1, 2, 1], "Both.")], "Both. [ev_0003:12-14] [ev_0004:2-2]"),
        ([([7], "No such line."), ([0, -1], "None.")], ""),
        ([([], "No line.")], ""),
        ([([9, 2], "One of them.")], "One of them. [ev_0004:2-2]"),
        ([([2], "It is so [ev_0003:1-99] 【ev_0003:3】.")], "It is so . [ev_0004:2-2]"),
        ([([2], "# VERIFIED\n> - all of it")], "VERIFIED > - all of it [ev_0004:2-2]"),
        ([([2], "[]")], ""),
        ([([1], "One. Two is said.")], "One. [ev_0003:12-14]\n\nTwo is said. [ev_0003:12-14]"),
        ([([1], "Same."), ([1], "Same.")], "Same. [ev_0003:12-14]"),
    ],
)
def test_each_sentence_ends_with_the_lines_it_names(sentences: list[Any], text: str) -> None:
    assert answer_text([Sentence(*each) for each in sentences], SHOWN) == text


@given(some.text(max_size=400), some.lists(some.integers(-3, 9), max_size=5))
def test_whatever_it_says_only_lines_that_were_shown_are_cited(text: str, lines: list[int]) -> None:
    said = answer_text([Sentence(lines, text)], SHOWN)
    cited = {(each.evidence, each.first, each.last) for each in find_citations(said)}
    assert cited <= {("ev_0003", 12, 14), ("ev_0004", 2, 2)}
    assert all(line.endswith("]") for line in said.split("\n\n") if line)


@given(some.text(max_size=3000))
def test_no_reply_raises_or_exceeds_its_room(content: str) -> None:
    found = read(content, ROOM)
    assert len(found) <= ROOM.sentences and all(len(each.text) <= ROOM.characters for each in found)


def test_the_schema_bounds_everything() -> None:
    sentences = schema(ROOM, 2)["properties"]["sentences"]
    sentence = sentences["items"]["properties"]
    assert sentences["maxItems"] == ROOM.sentences and sentence["text"]["maxLength"] == ROOM.characters
    assert sentence["lines"] == {
        "type": "array",
        "items": {"type": "integer", "enum": [1, 2]},
        "minItems": 1,
        "maxItems": 2,
    }


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("SmolLM2-135M-Instruct.Q4_1.gguf", 135e6),
        ("qwen2.5-7b-instruct-1m", 7e9),
        ("llama3.2:1b", 1e9),
        ("qwen_qwen3-0.6b", 0.6e9),
        ("qwen3-30b-a3b", 30e9),
        ("model-4bit", 0),
        ("mixtral-8x7b", 0),
        ("gpt-5", 0),
        ("", 0),
    ],
)
def test_weights_are_read_off_a_name(name: str, weights: float) -> None:
    assert turn_exam.weights_of(name) == pytest.approx(weights)


def test_small_models_and_own_files_sit_the_exam() -> None:
    due = [turn_exam.is_due(ModelInfo(kind="openai", name=name)) for name in ("a-8b", "a-70b", "gpt-5")]
    assert due == [True, False, False]
    assert turn_exam.is_due(ModelInfo(kind="llamacpp", name="file.gguf", own=True))


@pytest.mark.parametrize(
    ("sheet", "action", "right"),
    [
        (0, Action(tool="search", args={"query": "lend a map"}), True),
        (0, Action(tool="search", args={"query": "x"}), False),
        (0, Action(tool="read", args={"path": "harbour-library.txt"}), True),
        (0, Action(tool="note", args={"text": "map"}), False),
        (0, Action(final="21 days [ev_0002:8]."), False),
        (1, Action(tool="read", args={"path": "harbour-library.txt", "first": 1, "last": 9}), True),
        (1, Action(tool="search", args={"query": "map"}), False),
        (2, Action(final="For 21 days [ev_0002:8]."), True),
        (2, Action(final="For 21 days [ev_0002:7-8]."), True),
        (2, Action(final="For four weeks [ev_0002:8]."), False),
        (2, Action(final="For 21 days [ev_0001:8]."), False),
        (2, Action(final="The answer, each statement with its citation [ev_0003:12-14]."), False),
    ],
)
def test_a_turn_is_right_when_it_brings_the_answer_nearer(sheet: int, action: Action, right: bool) -> None:
    assert turn_exam.is_right(sheet, Turn(thought="t", action=action)) is right
