"""Which candidate a judge's reply names. Nothing is guessed: a reply that names none has a reason for it.

A verdict is what the user's `selection_regex` finds, where there is one; else a JSON object with
`final`, `choice` or `selected`, or a line that begins with `FINAL:` (case, Markdown and brackets do not
matter), wherever they stand; else a reply that is nothing but the number. A number in prose does not count,
nor do two verdicts that differ. The number before the first candidate's (0 where that is 1), `none` and a
JSON null abstain.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from vera.protocol.json_recovery import Found, read_object, scrub
from vera.protocol.reasoning import after_reasoning

EMPTY = "empty"
UNCLOSED_REASONING = "unclosed_reasoning"
NO_VERDICT = "no_verdict"
NOT_A_CHOICE = "not_a_choice"
TWO_ANSWERS = "two_answers"
OUT_OF_RANGE = "out_of_range"
ABSTAINED = "abstained"

REASONS: Mapping[str, str] = {
    EMPTY: "the judge's reply is empty",
    UNCLOSED_REASONING: "the judge's reasoning never ended",
    NO_VERDICT: "the judge's reply has no line FINAL and no JSON object with a verdict",
    NOT_A_CHOICE: "the judge's verdict is not the number of a candidate",
    TWO_ANSWERS: "the judge named more than one candidate",
    OUT_OF_RANGE: "the judge named a number that no candidate has",
    ABSTAINED: "the judge chose none of the candidates",
}
"""Why there is no verdict, by its stable word, as half a sentence."""

MAX_READ_LENGTH = 8_000
"""Characters at the end of a reply in which the verdict is looked for."""

MAX_MATCHED_LENGTH = 1_000
"""The same for the user's pattern, which may take time that grows fast with the length."""

KEYS = frozenset({"final", "choice", "selected"})

_MAX_OBJECTS = 20
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_CLOSING_TAGS = ("</think>", "</thinking>", "[/THINK]")

_MARKUP = " \t*_`~#-+[("
"""What may stand before FINAL on its line. A quotation mark or `>` may not: such a line quotes somebody."""

_DRESS = " \t\r\n*_`~#[](){}<>\"'“”"
_FINAL = re.compile(r"final(?:[ _](?:answer|choice|verdict|selection))?[ \t*_`]{0,8}[:=]", re.IGNORECASE)
_NOUN = re.compile(r"(?:candidate|option|action|number|no\.|nr\.)[ :]{0,2}", re.IGNORECASE)
_INTEGER = re.compile(r"([+-]?[0-9]{1,9})(?:\.0{1,6})?(?![0-9]|\.[0-9]|[\w°%‰/⁄²³½¼¾^])")
_ANOTHER = re.compile(
    r"[-–—][0-9]|\s{0,3}[,&+]\s{0,3}#?[0-9]|\s{1,3}(?:or|and|to)\s{1,3}(?:candidate |option )?#?[0-9]",
    re.IGNORECASE,
)
_NONE = re.compile(r"(?:none|null|neither|abstain|n/a)(?![\w'’-])", re.IGNORECASE)
_VALUE = re.compile(r"[+-]?[0-9.,/]{1,40} ?[%‰]?")
_OBJECT = re.compile(r'^[ \t`]{0,20}\{|\{\s{0,20}"(?:final|choice|selected)"', re.IGNORECASE | re.MULTILINE)


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The place of the chosen candidate among those that were shown (from 0), or the reason for none."""

    place: int | None = None
    problem: str = ""


def read(reply: str, shown: int, *, index_base: int = 1, pattern: str = "") -> Verdict:
    """What a reply says of `shown` candidates, the first of which has the number `index_base`.

    With a `pattern` (a regular expression) its last match counts and nothing else: its first group, or the
    whole match where it has none. Of a reply the last `MAX_READ_LENGTH` characters are read, with a pattern
    `MAX_MATCHED_LENGTH`. Never raises for a reply; re.error for a bad pattern (`vera.selection.pattern`
    tries one out).
    """
    body, unclosed = _without_reasoning(reply)
    if not body.strip():
        return Verdict(problem=UNCLOSED_REASONING if unclosed else EMPTY)
    said = set(
        _by_pattern(pattern, body[-MAX_MATCHED_LENGTH:]) if pattern else _said(body[-MAX_READ_LENGTH:])
    )
    if len(said) != 1:
        return Verdict(problem=TWO_ANSWERS if said else NO_VERDICT)
    number = said.pop()
    if isinstance(number, str):
        return Verdict(problem=number)
    place = number - index_base
    if place == -1:
        return Verdict(problem=ABSTAINED)
    return Verdict(place=place) if 0 <= place < shown else Verdict(problem=OUT_OF_RANGE)


_Said = int | str
"""A number as it was said, or the reason why what was said is not one."""


def _without_reasoning(reply: str) -> tuple[str, bool]:
    """The reply behind its reasoning, in ASCII digits and signs, and whether the reasoning never ended."""
    body, state = after_reasoning(scrub(reply).lstrip("\ufeff"))
    for tag in _CLOSING_TAGS:
        body = body.rpartition(tag)[2]
    return body.translate(_FULL_WIDTH), state == "unclosed"


def _by_pattern(pattern: str, text: str) -> list[_Said]:
    found = deque(re.finditer(pattern, text), maxlen=1)
    return [_number((match[1] if match.re.groups else match[0]) or "") for match in found]


def _said(text: str) -> list[_Said]:
    """The verdicts of a text. One that is no number, as the form repeated, counts where it is the last."""
    marked = [*_in_objects(text), *_on_lines(text)]
    decided = [each for each in marked if each != NOT_A_CHOICE]
    return decided or marked[-1:] or _alone(text.strip())


def _in_objects(text: str) -> Iterator[_Said]:
    """What JSON objects say. One with a `tool` is an action that the judge quotes."""
    end = 0
    for number, start in enumerate(_OBJECT.finditer(text)):
        if number == _MAX_OBJECTS:
            return
        if start.end() <= end:
            continue
        found = read_object(text, text.index("{", start.start()))
        if isinstance(found, Found):
            end = found.end
            if "tool" not in found.value:
                yield from (_value(each) for key, each in found.value.items() if key.lower() in KEYS)


def _value(value: Any) -> _Said:
    match value:
        case None:
            return ABSTAINED
        case bool():
            return NOT_A_CHOICE
        case int():
            return value
        case float():
            return int(value) if value.is_integer() else NOT_A_CHOICE
        case str():
            return _number(value[:200], alone=True)
        case [one]:
            return _value(one) if isinstance(one, int | str) else NOT_A_CHOICE
        case [_, *_]:
            return TWO_ANSWERS
        case _:
            return NOT_A_CHOICE


def _on_lines(text: str) -> Iterator[_Said]:
    """What lines say that begin with FINAL; the number may stand alone on the line below."""
    lines = [line for line in text.splitlines() if line.strip()]
    for number, line in enumerate(lines):
        if found := _FINAL.match(bare := line.lstrip(_MARKUP)):
            said = bare[found.end() :]
            if said.strip(_DRESS):
                yield _number(said[:200])
            elif number + 1 < len(lines):
                yield _number(lines[number + 1][:200], alone=True)


def _alone(text: str) -> list[_Said]:
    """What a reply says that has no mark: only a number, and nothing beside it, is a verdict."""
    if len(text) > 60:
        return []
    said = _number(text, alone=True)
    bare = text.strip(_DRESS)
    is_value = said != NOT_A_CHOICE or _VALUE.fullmatch(bare)
    return [NOT_A_CHOICE if said == ABSTAINED else said] if is_value else []


def _number(text: str, *, alone: bool = False) -> _Said:
    """The number that a text begins with; with `alone` nothing but marks and punctuation may follow it."""
    text = text.strip(_DRESS)
    if noun := _NOUN.match(text):
        text = text[noun.end() :].strip(_DRESS)
    if none := _NONE.match(text):
        return NOT_A_CHOICE if alone and text[none.end() :].strip(_DRESS + ".") else ABSTAINED
    found = _INTEGER.match(text)
    if found is None:
        return NOT_A_CHOICE
    rest = text[found.end() :]
    if _ANOTHER.match(rest.lstrip("*_`]")):
        return TWO_ANSWERS
    if alone and rest.strip(_DRESS + ".,;:!"):
        return NOT_A_CHOICE
    return int(found[1])
