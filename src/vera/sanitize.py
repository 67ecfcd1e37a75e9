"""Text from outside, made fit to be in a line of ours."""

NAME_SHOWN = 160


def one_line(text: str, limit: int = NAME_SHOWN) -> str:
    """`text` on one line: no control characters, at most `limit` characters."""
    flat = " ".join(text.split())
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in flat[: limit + 1])
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"
