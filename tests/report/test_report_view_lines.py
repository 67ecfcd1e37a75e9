"""Each record of a log is one printable line that says what happened."""

import types
import typing
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera import events
from vera.report.printable import printable
from vera.report.view.lines import line_of
from vera.report.view.words import LINE_SHOWN, Load, size_in_words

TYPES = get_args(events.Record)
HOSTILE = "\x1b[31mred\x07 \u202eback\nnext\tcell " + "long " * 400
BLOB = events.Blob("a" * 64, 5000)


def plain(text: events.Text) -> str:
    assert isinstance(text, str)
    return text


def value(kind: Any, said: str) -> Any:
    """A value of a member's type, every text in it `said`."""
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        kinds = get_args(kind)
        return value(str if str in kinds else kinds[0], said)
    if origin is tuple:
        of = [each for each in get_args(kind) if each is not Ellipsis]
        return tuple(value(each, said) for each in of)
    if origin is dict or kind is dict:
        return {said[:20]: said}
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return BLOB if kind is events.Blob else sample(kind, said)
    return {str: said, int: 3, float: 1.5, bool: True}[kind]


def sample(kind: type[Any], said: str) -> Any:
    hints = typing.get_type_hints(kind)
    return kind(**{each.name: value(hints[each.name], said) for each in msgspec.structs.fields(kind)})


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.__name__)
def test_every_type_of_record_has_a_line_of_its_own(kind: type[events.Record]) -> None:
    line = line_of(sample(kind, "words"), 12, plain)
    assert (line.offset, line.kind) == (12, events.kind(sample(kind, "words")))
    assert line.text
    assert line.text != line.kind.replace("_", " "), "only the fallback knows this type: tell it"


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.__name__)
def test_no_record_brings_a_control_character_or_a_long_line(kind: type[events.Record]) -> None:
    line = line_of(sample(kind, HOSTILE), 0, plain)
    for text in (line.text, line.lane):
        assert text == printable(text)
        assert "\n" not in text
        assert len(text) <= LINE_SHOWN


@given(st.text())
def test_each_character_is_shown_or_not_whatever_stands_around_it(text: str) -> None:
    assert printable(text) == "".join(map(printable, text))
    assert all(
        each.isprintable() or each in "\n\t\u200c\u200d\ufffd" or each.isspace() for each in printable(text)
    )


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.__name__)
def test_the_defaults_of_every_type_are_told(kind: type[events.Record]) -> None:
    hints = typing.get_type_hints(kind)
    needed = {
        each.name: value(hints[each.name], "") for each in msgspec.structs.fields(kind) if each.required
    }
    assert line_of(kind(**needed), 0, plain).text


def gone(text: events.Text) -> str:
    raise OSError("the disk is gone")


def test_a_text_that_cannot_be_read_is_told_by_its_size() -> None:
    line = line_of(events.Task(task=BLOB), 0, gone)
    assert line.text == "Task: (5.0 kB that cannot be read)"


def test_a_large_text_is_not_read_for_a_line() -> None:
    line = line_of(events.Answer(step=1, text=events.Blob("a" * 64, 10**9)), 0, gone)
    assert line.text == "An answer with 0 citations: (1.0 GB)"


@pytest.mark.parametrize(
    ("record", "text", "failed"),
    [
        (
            events.ToolStarted(step=1, call="call_0001", tool="shell", args='{"cmd": "ls -la"}'),
            "shell ls -la",
            False,
        ),
        (
            events.ToolStarted(step=1, call="call_0001", tool="fetch", args='{"url": "u", "lines": 3}'),
            "fetch url: u, lines: 3",
            False,
        ),
        (
            events.Tool(
                step=1, call="c", tool="shell", outcome="failed", obs="no", exit_code=2, seconds=0.25
            ),
            "shell failed (0.2 s, exit code 2)",
            True,
        ),
        (
            events.Model(step=1, scope="agent", latency_s=2, prompt_tokens=900, completion_tokens=40),
            "The model answered in 2.0 s: 900 tokens in, 40 out.",
            False,
        ),
        (
            events.Model(step=1, scope="agent", latency_s=2, error="no connection"),
            "The model did not answer within 2.0 s: no connection",
            True,
        ),
        (
            events.PolicySearchBudget(
                step=4, effect="refuse", reason="The searches are spent.", tool="search"
            ),
            "Gate search budget refuses search: The searches are spent.",
            True,
        ),
        (
            events.Verifier(
                round=2,
                answer_seq=9,
                result="UNSUPPORTED",
                reason="REFUTED",
                attestation="sha256:",
                envelope=BLOB,
                claims=3,
                supported=2,
                score=150,
            ),
            "Round 2 is decided, UNSUPPORTED (REFUTED): 2 of 3 claims supported, score 1.5 of 4",
            False,
        ),
    ],
)
def test_a_line_says_what_happened(record: events.Record, text: str, failed: bool) -> None:
    load: Load = plain
    line = line_of(record, 0, load)
    assert (line.text, line.failed) == (text, failed)


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1000, "1.0 kB"), (2_500_000, "2.5 MB")],
)
def test_sizes_are_decimal(size: int, words: str) -> None:
    assert size_in_words(size) == words
