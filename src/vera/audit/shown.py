"""Which lines of a text somebody has read: those that evidences of it showed, in one lane or in any."""

from collections.abc import Mapping

from vera.events import Cited, Evidence
from vera.text.span import Lines
from vera.text.whole_sentences import whole


def was_shown(
    evidence: Mapping[str, Evidence], cited: str, first: int, last: int, lines: Lines, lane: str = ""
) -> bool:
    """Whether each of the lines `first` to `last` of the evidence `cited` was shown, in `lane` if one is
    named. Several evidences may show parts of one text, and what is shown of it is made whole."""
    known = evidence.get(cited)
    if known is None:
        return False
    windows = sorted(
        (each.first, min(each.last, len(lines)))
        for each in evidence.values()
        if each.text.sha256 == known.text.sha256 and not each.lead and lane in ("", each.lane)
    )
    line = first
    for begin, end in windows:
        if 1 <= begin <= end and line <= last:
            top, bottom, *_ = whole(lines, begin, end)
            if top <= line:
                line = max(line, bottom + 1)
    return line > last


def was_read(evidence: Mapping[str, Evidence], cited: Cited, lane: str, lines: Lines | None) -> bool:
    """Whether what a check of `lane` cites was shown to it and says something. `lines` are those of the
    whole text, None when it cannot be read."""
    if cited.problem or lines is None or not 1 <= cited.first <= cited.last <= len(lines):
        return False
    if not says_something(lines.cut(cited.first, cited.last)):
        return False
    return was_shown(evidence, cited.evidence, cited.first, cited.last, lines, lane)


def says_something(lines: bytes) -> bool:
    """Whether there is a letter or a digit."""
    return any(map(str.isalnum, lines.decode("utf-8", "replace")))
