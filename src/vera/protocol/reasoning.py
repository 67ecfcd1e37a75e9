"""Reasoning that a server left at the beginning of a model's message: never part of the turn."""

import re

_OPENING = ("<think>", "<thinking>", "[THINK]")
_CLOSED_BLOCKS = re.compile(
    r"(\s*+(?:<think>(?>.*?</think>)|<thinking>(?>.*?</thinking>)|\[THINK\](?>.*?\[/THINK\])))*+\s*+",
    re.DOTALL,
)


def after_reasoning(text: str) -> tuple[str, str]:
    """What follows the leading blocks of reasoning, and what these were: '', 'closed' or 'unclosed'.

    An unclosed block goes on to the end of the message, so nothing follows it.
    """
    blocks = _CLOSED_BLOCKS.match(text)
    rest = text[blocks.end() :] if blocks else text
    if rest.startswith(_OPENING):
        return "", "unclosed"
    return rest, "closed" if blocks and blocks[1] else ""
