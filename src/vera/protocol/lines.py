"""What the beginning of a line can be in the text form: a label, an action, a fence, …

Every pattern looks at the beginning of a line only, and is possessive, so that time is linear.

A line inside a thought or a note that would be taken for one of these is written with a backslash before
it (`escape`), and loses it when read (`unescape`). A line that has backslashes there already gets one
more, so the two are exact inverses.
"""

import re

_MARKDOWN = r"(?:#{1,6}[ \t]++)?(?P<mark>[*_]{1,3}+)?"
_NAME = r"(?i:THOUGHTS?|NOTES?|EVIDENCE[ _-]?USED|STATUS[ _-]?UPDATE)"
_LABEL = rf"{_MARKDOWN}(?P<name>{_NAME})[*_]{{0,3}}+[ \t]*+[:：](?(mark)[*_]{{0,3}}+|)"
_ACTION_LABEL = r"(?:#{1,6}[ \t]++)?[*_]{0,3}+(?i:ACTION)[*_]{0,3}+[ \t]*+[:：][*_]{0,3}+"
_OBSERVATION = (
    r"(?:#{1,6}[ \t]++)?[*_]{0,3}+"
    r"(?:OBSERVATIONS?+\b|(?i:OBSERVATIONS?+)[ \t]*+[0-9]{0,4}+[*_]{0,3}+[ \t]*+[:：])"
)
_FENCE = r"(?:`{3,}+[^`\n]*+|~{3,}+[^\n]*+)(?=\n|\Z)"
_JSON_FENCE = r"(?:`{3,}+|~{3,}+)[ \t]*+(?i:json[5c]?+)?+"
_TOOL_CALL = r"<tool_call>"
_END_OF_REASONING = r"(?:</think(?:ing)?+>|\[/THINK\])"

SPECIAL = re.compile(
    r"^[ \t]*+(?:"
    rf"(?P<object>(?P<label>{_ACTION_LABEL}\s*+)?+(?P<wrap>(?:{_JSON_FENCE}|{_TOOL_CALL})\s*+)?+\{{)"
    rf"|(?P<reasoned>{_END_OF_REASONING})"
    rf"|(?P<fence>{_FENCE})"
    rf"|(?P<observation>{_OBSERVATION})"
    rf"|(?P<part>{_LABEL})"
    r")",
    re.MULTILINE,
)
"""The next line that means something; `lastgroup` says what. An object's brace is its last character."""

END_OF_REASONING = re.compile(_END_OF_REASONING)
"""A closing tag of reasoning anywhere in a line."""

WRAP_END = re.compile(r"\s*+(?:`{3,}+|~{3,}+|</tool_call>)")
"""What closes the fence or tag around an action."""

MORE_IDS = re.compile(
    r"(?:\n(?:[ \t,;\[\]()\"'`*•-]|[eE][vV][_-]?[0-9]{1,9}|att_[0-9A-Za-z]{1,64})*+(?=\n|\Z))*+"
)
"""Lines after EVIDENCE_USED that hold nothing but ids and what may stand between them."""

CLOSING_FENCE = {
    "`": re.compile(r"^[ \t]*+`{3,}+[ \t]*+$", re.MULTILINE),
    "~": re.compile(r"^[ \t]*+~{3,}+[ \t]*+$", re.MULTILINE),
}
"""What closes a fenced block, by the character of its fence (CommonMark 0.31, section 4.5)."""

_BEGINNING = (
    rf"[ \t]*+(?:\{{|`{{3}}|~{{3}}|{_TOOL_CALL}|{_END_OF_REASONING}|{_ACTION_LABEL}|{_OBSERVATION}|{_LABEL})"
)
_TO_ESCAPE = re.compile(rf"^(?=\\*+{_BEGINNING})", re.MULTILINE)
_TO_UNESCAPE = re.compile(rf"^\\(?=\\*+{_BEGINNING})", re.MULTILINE)


def escape(text: str) -> str:
    """`text` with a backslash before each line, after the first, that would be read as something else."""
    first, newline, rest = text.partition("\n")
    return first + newline + _TO_ESCAPE.sub(r"\\", rest)


def unescape(text: str) -> str:
    """What `escape` was given."""
    first, newline, rest = text.partition("\n")
    return first + newline + _TO_UNESCAPE.sub("", rest)
