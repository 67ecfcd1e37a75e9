"""Reading one JSON object out of a text."""

from typing import Any

import pytest

from vera.protocol.json_recovery import MAX_DEPTH, Broken, Found, clean, read_object


def found(text: str, start: int = 0) -> Found:
    result = read_object(text, start)
    assert isinstance(result, Found)
    return result


def test_the_text_goes_on_after_the_object() -> None:
    text = 'say {"a": {"b": "}"}} and more'
    assert found(text, 4) == Found(value={"a": {"b": "}"}}, end=text.index(" and"))


@pytest.mark.parametrize(
    ("text", "value", "repaired"),
    [
        ('{"a": [1, 2,], }', {"a": [1, 2]}, ("trailing_comma",)),
        ('{"a": ",}"}', {"a": ",}"}, ()),
        ('{"a": "x\ny\t"}', {"a": "x\ny\t"}, ("raw_control",)),
        ('{\n"a": 1}', {"a": 1}, ("multi_line",)),
        ('{"a": "\\ud800"}', {"a": "\ufffd"}, ("surrogates",)),
        ('{"a": "\\"", "b": "\\\\"}', {"a": '"', "b": "\\"}, ()),
    ],
)
def test_what_is_mended_is_named(text: str, value: dict[str, Any], repaired: tuple[str, ...]) -> None:
    assert found(text) == Found(value=value, end=len(text), repaired=repaired)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1', "closing brace is missing"),
        ('{"a": "1}', "never closed"),
        ('{"a" 1}', "character 6"),
        ('{"a": 1, "a": 2}', "twice"),
        ('{"a": Infinity}', "not finite"),
        ('{"a": 1]', "delimiter"),
    ],
)
def test_what_cannot_be_read_says_why(text: str, reason: str) -> None:
    broken = read_object(text, 0)
    assert isinstance(broken, Broken)
    assert reason in broken.reason


def test_an_object_may_not_end_behind_the_limit() -> None:
    assert isinstance(read_object('{"a":\n1}', 0, 5), Broken)


def test_depth_is_bounded() -> None:
    deepest = '{"a":' * MAX_DEPTH + "1" + "}" * MAX_DEPTH
    assert found(deepest).end == len(deepest)
    broken = read_object('{"a":' * 100_000, 0)
    assert isinstance(broken, Broken)
    assert broken.code == "too_deep"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1: 2}, {"a": {1}}, 10**100, b"x"])
def test_what_json_cannot_carry_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"JSON|finite|digits"):
        clean(value)


def test_a_value_that_holds_itself_is_too_deep() -> None:
    value: dict[str, Any] = {}
    value["self"] = value
    with pytest.raises(ValueError, match="nested"):
        clean(value)
