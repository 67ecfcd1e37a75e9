"""Telling a model's reasoning from its answer where the server left both in one text."""

TAGS = (("<think>", "</think>"), ("<thinking>", "</thinking>"), ("[THINK]", "[/THINK]"))

MAX_BLOCKS = 64


def split_reasoning(content: str) -> tuple[str, str]:
    """(answer, reasoning) of a reply's text.

    Only what stands at the beginning is reasoning: blocks one after another, the last perhaps never
    closed, or text up to a closing tag at the start of a line (a chat template had opened it). A tag
    further on belongs to the answer, which may well be about such tags.
    """
    reasoning: list[str] = []
    position = 0
    while len(reasoning) < MAX_BLOCKS and (block := _leading_block(content, position)):
        inner, position = block
        reasoning.append(inner)
    if not reasoning and (block := _opened_by_template(content)):
        inner, position = block
        reasoning.append(inner)
    if not reasoning:
        return content, ""
    return content[position:].lstrip(), "\n".join(filter(None, (part.strip() for part in reasoning)))


def _leading_block(content: str, position: int) -> tuple[str, int] | None:
    while position < len(content) and content[position].isspace():
        position += 1
    for opening, closing in TAGS:
        if content.startswith(opening, position):
            start = position + len(opening)
            end = content.find(closing, start)
            if end < 0:
                return content[start:], len(content)
            return content[start:end], end + len(closing)
    return None


def _opened_by_template(content: str) -> tuple[str, int] | None:
    for _, closing in TAGS:
        at = content.find("\n" + closing)
        after = at + 1 + len(closing)
        if at >= 0 and (after == len(content) or content[after].isspace()):
            return content[:at], after
    return None
