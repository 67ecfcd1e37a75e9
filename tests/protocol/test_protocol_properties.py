"""What holds for every text and every turn, in all three forms.

Texts are made of the pieces that matter to the parsers, in any order, so that labels, fences, tags, broken
and whole objects meet in every way.
"""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vera.protocol import Action, Parsed, Turn, json_schema, text, tools
from vera.protocol.fields import MAX_TEXT
from vera.protocol.lines import escape, unescape

PIECES = (
    *("THOUGHT:", "THOUGHT: x", "Thought: y", "**THOUGHT:** z", "NOTE:", "NOTE: n", "Note: m", "ACTION:"),
    *(
        "EVIDENCE_USED:",
        "EVIDENCE_USED: [ev_0001]",
        "EVIDENCE_USED: []",
        "ev_0001",
        "ev_2",
        "- ev_3",
        "att_9f",
    ),
    *("STATUS_UPDATE:", "STATUS_UPDATE: UNRESOLVED", "Status update: *", "OBSERVATION", "Observation: o"),
    *("<think>", "</think>", "[/THINK]", "<tool_call>", "</tool_call>", "```", "```json", "```html", "~~~"),
    *("{", "}", "[", "]", ",", ":", '"', "\\", "\\{", "\\\\NOTE:", "**", "# ", "none", "word"),
    *(" ", "\t", "\n", "\r\n", "\r", "\u2028", "\x85", "\ufeff", "\ud800", "\U0001f600"),
    '{"tool": "shell", "args": {"cmd": "ls"}}',
    '{"tool": "shell", "command": "ls"}',
    '{"tool": null, "final": "a\nTHOUGHT: b"}',
    '{"tool": "a", "args": {"b": {"c": [1, 2.5, null, true]}}}',
    '{"tool": "a", "args": {"b": "\x01\\ud800\\n"},}',
    '{"tool": "shell"',
    '{"final": "f"}',
    '{"scripts": {}}',
    "{'tool': 1}",
)
hostile = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=30).flatmap(
    lambda pieces: st.sampled_from(["\n", "", " "]).map(lambda glue: glue.join(pieces))
)
any_text = st.text(st.characters(codec=None), max_size=300) | hostile


@st.composite
def near_turns(draw: st.DrawFn) -> str:
    """A turn in the text form with hostile text anywhere around and inside it."""
    lines = [
        draw(st.just("") | hostile),
        "THOUGHT: " + draw(hostile),
        draw(st.sampled_from([piece for piece in PIECES if piece.startswith('{"tool')])),
        draw(st.just("") | hostile.map("NOTE: {}".format)),
        "EVIDENCE_USED: " + draw(st.sampled_from(["[]", "ev_0001, ev_2", "\n- ev_3"])),
        "STATUS_UPDATE: " + draw(st.text(min_size=1, max_size=300)),
        draw(st.just("") | hostile),
    ]
    return "\n".join(lines)


def as_utf8(value: str) -> str:
    return value.encode("utf-8", "replace").decode()


clean_text = (st.text(max_size=60) | hostile).map(
    lambda value: as_utf8(value).replace("\r\n", "\n").replace("\r", "\n").strip()
)
finite = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | finite | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
own_names = st.from_regex(r"[a-z_]{1,12}", fullmatch=True).filter(
    lambda name: name not in {"thought", "note", "evidence_used", "status_update", "final"}
)
tool_names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", fullmatch=True).filter(
    lambda name: name.casefold() not in {"null", "none", "final", "shell"}
)
actions = st.one_of(
    st.builds(Action, final=(st.text(min_size=1) | hostile).map(as_utf8).filter(str.strip)),
    st.builds(Action, tool=st.just("shell"), args=st.fixed_dictionaries({"cmd": clean_text})),
    st.builds(
        Action,
        tool=tool_names,
        args=st.dictionaries(own_names, json_values.filter(lambda value: value is not None), max_size=4),
    ),
)
ids = st.from_regex(r"ev_(?:000[0-9]|[1-9][0-9]{3,8})|att_[0-9A-Za-z]{1,64}", fullmatch=True)
turns = st.builds(
    Turn,
    thought=clean_text.filter(bool),
    action=actions,
    note=st.none()
    | clean_text.filter(lambda note: note.casefold() not in {"", "none", "n/a", "na", "nil", "null", "-"}),
    evidence_used=st.lists(ids, unique=True, max_size=5).map(tuple),
    status_update=st.sampled_from(["IN_PROGRESS", "VERIFIED", "waiting for the index", "95 % done"]),
)


def round_trip_text(turn: Turn) -> Parsed:
    return text.parse(text.render(turn))


def round_trip_json_schema(turn: Turn) -> Parsed:
    return json_schema.parse(json_schema.render(turn))


def round_trip_tools(turn: Turn) -> Parsed:
    return tools.parse(*tools.render(turn))


ROUND_TRIPS = (round_trip_text, round_trip_json_schema, round_trip_tools)


def assert_sound(parsed: Parsed) -> None:
    """A turn or errors, never both; and what the log and the store take: UTF-8, finite, bounded."""
    assert (parsed.turn is None) == bool(parsed.errors)
    assert len({error.code for error in parsed.errors}) == len(parsed.errors)
    for error in parsed.errors:
        assert len(error.message.encode()) < 1000
    if parsed.turn is not None:
        json.dumps(parsed.turn.action.args, allow_nan=False)
        text.render(parsed.turn).encode()
        assert (parsed.turn.action.tool is None) != (parsed.turn.action.final is None)


@given(any_text | near_turns())
@example('THOUGHT: \ud800\n{"tool": "\ud800"}')
@settings(max_examples=400)
def test_the_text_form_never_raises_and_is_stable(content: str) -> None:
    parsed = text.parse(content)
    assert_sound(parsed)
    if parsed.turn is not None:
        again = round_trip_text(parsed.turn)
        assert again.turn == parsed.turn
        assert again.recovered == ()


@given(any_text | near_turns())
@settings(max_examples=200)
def test_the_json_form_never_raises_and_is_stable(content: str) -> None:
    parsed = json_schema.parse(content)
    assert_sound(parsed)
    if parsed.turn is not None:
        assert round_trip_json_schema(parsed.turn).turn == parsed.turn


@given(
    thought=any_text | json_values,
    action=st.dictionaries(
        st.sampled_from(["tool", "args", "final", "action", "command", "x"]), any_text | json_values
    )
    | json_values,
    rest=st.dictionaries(
        st.sampled_from(["note", "evidence_used", "status_update", "tool", "command"]), json_values
    ),
)
@settings(max_examples=100)
def test_a_json_object_of_any_content_is_read_or_refused(
    thought: Any, action: Any, rest: dict[str, Any]
) -> None:
    whole = {"thought": thought, "action": action, "evidence_used": [], "status_update": "BLOCKED", **rest}
    parsed = json_schema.parse(json.dumps(whole))
    assert_sound(parsed)
    if parsed.turn is not None:
        assert round_trip_json_schema(parsed.turn).turn == parsed.turn


@given(
    content=any_text,
    name=any_text | json_values | st.sampled_from(["shell", "final", "read"]),
    arguments=any_text
    | json_values
    | st.dictionaries(
        st.sampled_from(["thought", "note", "evidence_used", "status_update", "final", "cmd", "x"]),
        any_text | json_values | st.floats(),
    ),
    wrapped=st.booleans(),
    encoded=st.booleans(),
)
@settings(max_examples=200)
def test_any_call_is_read_or_refused(
    content: str, name: Any, arguments: Any, wrapped: bool, encoded: bool
) -> None:
    function = {"name": name, "arguments": json.dumps(arguments) if encoded else arguments}
    parsed = tools.parse(content, [{"function": function} if wrapped else function])
    assert_sound(parsed)
    if parsed.turn is not None:
        assert round_trip_tools(parsed.turn).turn == parsed.turn


@given(st.lists(json_values, max_size=3), any_text)
def test_calls_of_any_shape_never_raise(calls: list[Any], content: str) -> None:
    assert_sound(tools.parse(content, calls))


@pytest.mark.parametrize("round_trip", ROUND_TRIPS)
@given(turn=turns)
@settings(max_examples=150)
def test_every_turn_is_read_as_it_was_rendered(round_trip: Any, turn: Turn) -> None:
    assert round_trip(turn) == Parsed(turn=turn)


@given(any_text)
def test_escaping_is_exactly_undone(content: str) -> None:
    assert unescape(escape(content)) == content


@given(any_text)
def test_no_line_of_an_escaped_text_is_special(content: str) -> None:
    thought = escape("x\n" + content.encode("utf-8", "replace").decode().replace("\r", "\n"))
    parsed = text.parse(f"THOUGHT: {thought}")
    assert [error.code for error in parsed.errors] == [
        "missing_action",
        "missing_evidence_used",
        "missing_status_update",
    ]
    assert (parsed.ignored_actions, parsed.recovered) == (0, ())


# Each is repeated to a megabyte: a step that is quadratic in any of them runs into the time limit.
MANY = (
    *("{", '"', "\\", '{"\n', '{"a":\n', '{"a" ', '{"a" 1}\n', '{"tool":"x"}\n', ",", " ", "\n"),
    *("THOUGHT:\n", "NOTE: a\n", "\nev_1", "STATUS_UPDATE: a ", "ACTION:\n\n", "```x\n", "```\n\n"),
    *("<think></think>", "</think>\n", "</think>", "#", "*", "\\\n"),
)


@pytest.mark.parametrize("unit", MANY)
def test_a_megabyte_of_hostile_text_is_read(unit: str) -> None:
    assert_sound(text.parse(("THOUGHT: a\n" + unit * MAX_TEXT)[:MAX_TEXT]))


@pytest.mark.parametrize("unit", ["{", '"', "\\", '{"a":', "[],", ",", " "])
def test_a_megabyte_of_hostile_json_is_read(unit: str) -> None:
    content = ('{"a": [' + unit * MAX_TEXT)[:MAX_TEXT]
    assert_sound(json_schema.parse(content))
    assert_sound(tools.parse("", [{"function": {"name": "x", "arguments": content}}]))
