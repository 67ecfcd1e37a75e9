"""How a canonical text is named: its title, and the extractor that made it."""

import re

TITLE_LIMIT = 120
_HEAD = 1 << 16
_WORD = re.compile(r"\w")
# Titles are printed on terminals: no escape codes, no characters that turn the direction of what follows,
# none of the surrogates by which Python spells the bytes of a name that is no UTF-8.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def extractor_name(format_name: str, program: str, rules: int) -> str:
    """`html/selectolax-1.0.2/rules-1`: the same raw bytes under the same name give the same text."""
    return f"{format_name}/{program}/rules-{rules}"


def first_line_title(text: bytes, name: str) -> str:
    """The first line (of the first 64 kB) that holds a letter or digit, else the file's name."""
    for line in text[:_HEAD].decode("utf-8", "ignore").split("\n"):
        if _WORD.search(line):
            return bounded(line)
    return file_title(name)


def file_title(name: str) -> str:
    """The last part of a path or URL."""
    last = name.rstrip("/").rpartition("/")[2]
    return bounded(last)


def bounded(title: str) -> str:
    """White space folded, what cannot be printed replaced, at most TITLE_LIMIT characters."""
    folded = _UNPRINTABLE.sub("\ufffd", " ".join(title[: 8 * TITLE_LIMIT].split()))
    return folded if len(folded) <= TITLE_LIMIT else folded[: TITLE_LIMIT - 1].rstrip() + "…"


def suffix_of(name: str) -> str:
    """The suffix of a path in small letters, with its dot; '' for none."""
    last = name.rpartition("/")[2]
    return "." + last.rpartition(".")[2].lower() if "." in last else ""
