"""Text from outside as a judge sees it: cut in the middle, and fenced as data."""

from vera.evidence.prompt_quoting import MAX_LINE_LENGTH, delimiter, visible


def cut(text: str, most: int) -> str:
    """The text in about `most` characters: two thirds of them its beginning, the rest its end."""
    if len(text) <= most:
        return text
    head, tail = most * 2 // 3, most - most * 2 // 3
    return f"{text[:head]}\n[… {len(text) - most} characters not shown …]\n{text[len(text) - tail :]}"


def fenced(title: str, text: str) -> str:
    """The text between `<<<DATA` and `DATA>>>`, each line behind a bar.

    It cannot close the fence: the mark of its edges is made from a hash of it and is not in it.
    Characters that no one sees are left out.
    """
    body = "\n".join(f"| {visible(line[:MAX_LINE_LENGTH])}" for line in text.split("\n"))
    edge = delimiter(body)
    return f"<<<DATA {edge} {title}\n{body}\nDATA {edge}>>>"
