"""What a PromQL expression names: the metrics, their matchers, and the labels that it groups by.

It reads expressions that Prometheus accepts; whether it does is promtool's to say. No `group_left`.
"""

import re
from typing import NamedTuple

_STRING = r'"(?:[^"\\]|\\.)*"'
_SELECTOR = re.compile(rf"([a-zA-Z_:][\w:]*)\s*\{{((?:[^\"}}]|{_STRING})*)\}}")
_MATCHER = re.compile(rf"(\w+)\s*(=~|!~|!=|=)\s*({_STRING})")
_GROUPED = re.compile(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)")
_RANGE = re.compile(r"\[[^\]]*\]")
_NAME = re.compile(r"(?<![\w.])[a-zA-Z_:][\w:]*(?!\s*\(|[\w:])")
_OPERATORS = {"and", "or", "unless", "offset", "bool"}


class Matcher(NamedTuple):
    label: str
    operator: str
    value: str


class Named(NamedTuple):
    """Metrics with the matchers they are selected by, and the labels of `by (…)` and its like."""

    metrics: list[tuple[str, list[Matcher]]]
    grouped: set[str]


def named(expression: str) -> Named:
    """All that the expression names; anything that is no function, keyword or label counts as a metric."""
    metrics = [
        (name, [Matcher(label, operator, text[1:-1]) for label, operator, text in _MATCHER.findall(inside)])
        for name, inside in _SELECTOR.findall(expression)
    ]
    rest = _RANGE.sub("", _SELECTOR.sub("", expression))
    grouped = {label.strip() for labels in _GROUPED.findall(rest) for label in labels.split(",")} - {""}
    plain = set(_NAME.findall(_GROUPED.sub("", rest))) - _OPERATORS
    return Named([*metrics, *((name, []) for name in sorted(plain))], grouped)
