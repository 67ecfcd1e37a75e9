"""Changes that break readers: of bytes, text and JSON, each drawn from the random numbers of a trial."""

import json
import random
import struct
from collections.abc import Callable, Sequence
from typing import Any

MOST = 1 << 20
"""Bytes or characters of what is made; larger inputs have rows for themselves (large.py)."""

NUMBERS = (
    0,
    1,
    -1,
    127,
    128,
    255,
    256,
    32767,
    65535,
    65536,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**53,
    2**63,
    2**64,
)
WRITTEN = (
    "0",
    "-0",
    "-1",
    "1e400",
    "-1e400",
    "1e-400",
    "NaN",
    "Infinity",
    "0x10",
    "00",
    "9" * 400,
    "1_0",
    "٣",
)
MARKS = (
    *(
        "\x00",
        "\x01",
        "\x07",
        "\x08",
        "\x0b",
        "\x0c",
        "\x1b[2J",
        "\x1b]0;t\x07",
        "\x7f",
        "\x85",
        "\xa0",
        "\xad",
    ),
    *(
        "\u200b",
        "\u200d",
        "\u200e",
        "\u202e",
        "\u2028",
        "\u2029",
        "\u2066",
        "\u2069",
        "\ufeff",
        "\ufffd",
        "\uffff",
    ),
    *(
        "\ud800",
        "\udfff",
        "\udc80",
        "\U0010ffff",
        "\U000e0041",
        "e" + "\u0301" * 40,
        "👩‍👩‍👧‍👦",
        "\r",
        "\r\n",
        "\n\n",
    ),
)
SCRIPTS = (
    *(
        "Ответ: три года.",
        "回答：三年。",
        "答えは三年です。",
        "الجواب ثلاث سنوات",
        "התשובה היא שלוש",
        "उत्तर तीन वर्ष है",
    ),
    *("คำตอบคือสามปี", "답은 3년입니다", "ἀπόκρισις", "ÅÄÖ ß ﬁ Ⅳ ½ ①", "İıſK", "𝔸𝟛", "ￏ₃"),
)
BRACKETS = ("{", "[", "(", "<", "<a>", '{"a":', "[[", "<<", "((", "> ", "- ", "\t", "*", "_", "`", "|")
TOKENS = (
    *(
        b"\x00",
        b"\xff",
        b"\xff\xfe",
        b"\xfe\xff",
        b"\xef\xbb\xbf",
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
    ),
    *(
        b"\r\n",
        b"\n",
        b"\r",
        b"\n\n",
        b"%s%n",
        b"../../",
        b"PK\x03\x04",
        b"PK\x01\x02",
        b"PK\x05\x06",
        b"%PDF-",
    ),
    *(
        b"<!DOCTYPE a [<!ENTITY b 'c'>]>",
        b"<![CDATA[",
        b"]]>",
        b"<!--",
        b"-->",
        b"&#0;",
        b"&#x110000;",
        b"&amp",
    ),
    *(
        b"</",
        b"/>",
        b"<script>",
        b"<style>",
        b"<template>",
        b"<svg>",
        b"<table>",
        b"\x1f\x8b\x08\x00",
        b"From ",
    ),
)

Draw = random.Random


def data(draw: Draw, seeds: Sequence[bytes], most: int = MOST) -> bytes:
    """One of the seeds, changed in a few places."""
    made = bytearray(draw.choice(seeds))
    for _ in range(_few(draw)):
        draw.choice(BYTE_CHANGES)(draw, made, seeds)
        del made[most:]
    return bytes(made)


def text(draw: Draw, seeds: Sequence[str], most: int = MOST) -> str:
    """One of the seeds, changed in a few places."""
    made = draw.choice(seeds)
    for _ in range(_few(draw)):
        made = draw.choice(TEXT_CHANGES)(draw, made, seeds)[:most]
    return made


def value(draw: Draw, seed: Any) -> Any:
    """A JSON value that is like the seed, with some of its parts replaced, removed, repeated or added."""
    for _ in range(_few(draw)):
        changed = _changed(draw, seed)
        seed = changed if _is_small(changed) else seed
    return seed


def encoded(draw: Draw, seed: Any) -> bytes:
    """The JSON of a changed value: NaN, lone surrogates and deep nesting as they are, sometimes broken."""
    try:
        made = json.dumps(value(draw, seed), ensure_ascii=draw.random() < 0.5).encode(
            "utf-8", "surrogatepass"
        )
    except RecursionError:
        made = b"{}"
    if draw.random() < 0.1:
        deep = draw.choice((10, 40, 200, 1100, 5000, 60_000))
        place = draw.choice((b"null", b'"', b"1", b"}", b"]"))
        made = made.replace(place, b'{"a":[' * (deep // 2) + b"1" + b"]}" * (deep // 2), 1)
    return data(draw, [made]) if draw.random() < 0.25 else made


def junk(draw: Draw, most: int = 4096) -> bytes:
    """Bytes without a form."""
    return draw.randbytes(draw.choice((0, 1, 2, 3, 7, 64, 512, most)))


def _is_small(value: Any) -> bool:
    """Whether a value has at most MOST characters and parts; one part may stand in many places."""
    left, waiting = MOST, [value]
    while waiting and left > 0:
        each = waiting.pop()
        left -= len(each) + 1 if isinstance(each, str | list | dict) else 1
        if left > 0 and isinstance(each, list | dict):
            waiting.extend(each.values() if isinstance(each, dict) else each)
    return left > 0


def _few(draw: Draw) -> int:
    return draw.choice((0, 1, 1, 1, 2, 2, 3, 5, 8, 20))


def _span(draw: Draw, length: int) -> tuple[int, int]:
    first = draw.randint(0, length)
    return first, min(length, first + draw.choice((0, 1, 2, 4, 8, 64, 1024, length)))


def _flip(draw: Draw, made: bytearray, seeds: Sequence[bytes]) -> None:
    if made:
        made[draw.randrange(len(made))] ^= 1 << draw.randrange(8)


def _overwrite(draw: Draw, made: bytearray, seeds: Sequence[bytes]) -> None:
    size, order = draw.choice((1, 2, 4, 8)), draw.choice("<>")
    packed = struct.pack(
        order + {1: "B", 2: "H", 4: "I", 8: "Q"}[size], draw.choice(NUMBERS) % (1 << 8 * size)
    )
    at = draw.randint(0, len(made))
    made[at : at + size] = packed


def _cut(draw: Draw, made: bytearray, seeds: Sequence[bytes]) -> None:
    first, last = _span(draw, len(made))
    del made[first:last]


def _end_early(draw: Draw, made: bytearray, seeds: Sequence[bytes]) -> None:
    del made[draw.randint(0, len(made)) :]


def _repeat(draw: Draw, made: bytearray, seeds: Sequence[bytes]) -> None:
    first, last = _span(draw, len(made))
    piece = bytes(made[first:last])
    times = min(draw.choice((1, 2, 10, 1000, 100_000)), MOST // max(1, len(piece)))
    made[last:last] = piece * times


def _insert(draw: Draw, made: bytearray, seeds: Sequence[bytes]) -> None:
    at = draw.randint(0, len(made))
    made[at:at] = draw.choice(
        (draw.choice(TOKENS), junk(draw, 64), draw.choice(TOKENS) * draw.choice((2, 50, 2000)))
    )


def _splice(draw: Draw, made: bytearray, seeds: Sequence[bytes]) -> None:
    other = draw.choice(seeds)
    first, last = _span(draw, len(other))
    at = draw.randint(0, len(made))
    made[at : at + draw.choice((0, last - first))] = other[first:last]


def _number(draw: Draw, made: bytearray, seeds: Sequence[bytes]) -> None:
    """A number that is written in digits becomes another one."""
    places = [at for at in range(len(made)) if 48 <= made[at] <= 57]
    if not places:
        return
    first = last = draw.choice(places)
    while first > 0 and 48 <= made[first - 1] <= 57:
        first -= 1
    while last < len(made) and 48 <= made[last] <= 57:
        last += 1
    made[first:last] = draw.choice((*WRITTEN, str(draw.choice(NUMBERS)))).encode()


BYTE_CHANGES: tuple[Callable[[Draw, bytearray, Sequence[bytes]], None], ...] = (
    *(_flip, _flip, _overwrite, _overwrite, _cut, _end_early, _repeat, _insert, _splice, _number),
)


def _with_mark(draw: Draw, made: str, seeds: Sequence[str]) -> str:
    at = draw.randint(0, len(made))
    return made[:at] + draw.choice(MARKS + SCRIPTS) * draw.choice((1, 1, 1, 3, 100)) + made[at:]


def _without_span(draw: Draw, made: str, seeds: Sequence[str]) -> str:
    first, last = _span(draw, len(made))
    return made[:first] + made[last:]


def _with_span_again(draw: Draw, made: str, seeds: Sequence[str]) -> str:
    first, last = _span(draw, len(made))
    piece = made[first:last]
    return (
        made[:last]
        + piece * min(draw.choice((1, 3, 1000, 100_000)), MOST // max(1, len(piece)))
        + made[last:]
    )


def _nested(draw: Draw, made: str, seeds: Sequence[str]) -> str:
    at = draw.randint(0, len(made))
    return made[:at] + draw.choice(BRACKETS) * draw.choice((1, 5, 40, 2000, 50_000)) + made[at:]


def _joined(draw: Draw, made: str, seeds: Sequence[str]) -> str:
    other = draw.choice(seeds)
    at = draw.randint(0, len(other))
    return draw.choice((made + other, made + other[:at], other[at:] + made, made + "\n" + other))


def _lines_moved(draw: Draw, made: str, seeds: Sequence[str]) -> str:
    lines = made.split("\n")
    match draw.randrange(4):
        case 0:
            draw.shuffle(lines)
        case 1:
            lines.pop(draw.randrange(len(lines)))
        case 2:
            lines.insert(draw.randint(0, len(lines)), draw.choice(lines))
        case _:
            return draw.choice(("\r\n", "\r", " ", "\u2028", "")).join(lines)
    return "\n".join(lines)


def _number_written(draw: Draw, made: str, seeds: Sequence[str]) -> str:
    places = [at for at, character in enumerate(made) if character.isdigit()]
    if not places:
        return made
    at = draw.choice(places)
    return made[:at] + draw.choice(WRITTEN) + made[at + 1 :]


def _case(draw: Draw, made: str, seeds: Sequence[str]) -> str:
    first, last = _span(draw, len(made))
    change = draw.choice((str.upper, str.lower, str.swapcase, str.title))
    return made[:first] + change(made[first:last]) + made[last:]


TEXT_CHANGES: tuple[Callable[[Draw, str, Sequence[str]], str], ...] = (
    *(
        _with_mark,
        _with_mark,
        _without_span,
        _with_span_again,
        _nested,
        _joined,
        _lines_moved,
        _number_written,
        _case,
    ),
)


def _changed(draw: Draw, seed: Any) -> Any:
    """One part of a value changed: the way down to it is drawn."""
    if isinstance(seed, dict) and seed and draw.random() < 0.8:
        name = draw.choice(list(seed))
        others = {key: each for key, each in seed.items() if key != name}
        match draw.randrange(8):
            case 0:
                return others
            case 1:
                return {
                    **seed,
                    draw.choice(("", "__proto__", "a" * 300, "\ud800", name.upper())): extreme(draw),
                }
            case _:
                return {**others, name: _changed(draw, seed[name])}
    if isinstance(seed, list) and seed and draw.random() < 0.8:
        at = draw.randrange(len(seed))
        match draw.randrange(8):
            case 0:
                return seed[:at] + seed[at + 1 :]
            case 1:
                return seed * min(draw.choice((2, 10, 300)), MOST // len(seed) + 1)
            case _:
                return [*seed[:at], _changed(draw, seed[at]), *seed[at + 1 :]]
    if isinstance(seed, str) and draw.random() < 0.5:
        return text(draw, [seed], 1 << 16)
    return extreme(draw)


def extreme(draw: Draw) -> Any:
    """A JSON value at an edge."""
    return draw.choice(
        (
            *(None, True, False, "", " ", [], {}, [[]], [None], {"": None}, "\ud800", "\x00", "a" * 70_000),
            *(0.1, -0.0, 1e308, 5e-324, float("nan"), float("inf"), -float("inf"), 10**40, -(10**40)),
            *(draw.choice(NUMBERS), draw.choice(MARKS), draw.choice(SCRIPTS), draw.choice(WRITTEN)),
            *([0] * 2000, {str(each): each for each in range(300)}, [[[[[[[[1]]]]]]]]),
        )
    )
