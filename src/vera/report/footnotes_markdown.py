"""The answer as Markdown with footnotes, `[^1]`, as GitHub, pandoc and most editors read them.

A place that is cited twice has one note. What a model, a source or a person wrote makes no note and no
reference to one.
"""

import re
from collections.abc import Callable, Iterator
from itertools import groupby

from vera.evidence.citation import find_citations
from vera.report.answer import Report, below_answer, head
from vera.report.footnotes import Footnotes, parts_of
from vera.report.printable import printable

_CODE = re.compile(
    r"^ {0,3}(?P<fence>~{3,20}|`{3,20}(?=[^`\n]*$))[^\n]*\n.*?(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|(?<!`)(?P<ticks>`{1,3})(?!`)[^`\n]{1,500}(?P=ticks)(?!`)",
    re.DOTALL | re.MULTILINE,
)
_LIKE_OURS = re.compile(r"\[\^(?=[0-9]{1,9}\]|[^\]\n]{0,1000}\]:)")
"""A reference by number, or the beginning of a note: not even code may have one, for where code ends is a
guess."""

_TYPED = re.compile(r"(\[(?=\^)|\^(?=\[))")
"""Of a reference, `[^a]`, or of a note in the text, `^[a]`."""

_CHANGES_BEFORE = ("\\", "^", "!")
_CHANGES_BEHIND = (":", "(", "[", "{")
"""What makes something else of a reference beside it: a note, a link, an image."""

_ADDRESS = r"https?://(?:[^\s<>&\\]|&(?!#|[a-zA-Z0-9]{1,40};)){1,4000}(?<![.,;:!?'\"])"
_SPECIAL = r"[\\`*\[\]<>#|~^$@&]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"
_READ_OTHERWISE = re.compile(f"(?P<address>{_ADDRESS})|{_SPECIAL}")
_BEGINS_BLOCK = re.compile(r"^([0-9]{0,9})([-+=:.)])")
"""At the beginning of a line: an item of a list, a rule, an underlined heading, a definition."""


def markdown(task: str, shown: Report, said: str = "") -> str:
    """The answer as `answer.markdown` has it, its citations as footnotes; `said` follows it.

    A place that no footnote names, such as one that is cited in code, stays in a list.
    """
    notes = Footnotes(shown.quotes)
    asked, text, *noted = head(task, shown)
    text = _outside_code(text, lambda prose: "".join(_referred(prose, notes)))
    listed = [quote for quote in shown.quotes if quote not in notes.shown]
    rest = [*noted, *below_answer(shown, listed), *filter(None, [said.strip("\n")])]
    made = [_without_notes(asked), text, *map(_without_notes, rest), *map(_definition, notes.numbers.items())]
    return "\n\n".join(made) + "\n"


def _referred(prose: str, notes: Footnotes) -> Iterator[str]:
    """The text with a reference in place of each citation."""
    at = 0
    for (start, end), bracket in groupby(find_citations(prose), lambda found: (found.start, found.end)):
        before = _beside(prose[at:start], behind=at > 0)
        yield f"{before} " if before.endswith(_CHANGES_BEFORE) else before
        yield "".join(f"[^{notes.number(each.evidence, each.first, each.last)}]" for each in bracket)
        at = end
    yield _beside(prose[at:], behind=at > 0)


def _beside(prose: str, *, behind: bool) -> str:
    inert = _typed(prose)
    return f"\\{inert}" if behind and inert.startswith(_CHANGES_BEHIND) else inert


def _typed(prose: str) -> str:
    """The text without the notes that its author typed: `[\\^a]` shows what `[^a]` did not."""
    return _TYPED.sub(r"\1\\", prose)


def _without_notes(text: str) -> str:
    return _outside_code(text, _typed)


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    made, at = [], 0
    for code in _CODE.finditer(text):
        made += [change(text[at : code.start()]), _LIKE_OURS.sub(r"[\\^", code[0])]
        at = code.end()
    return "".join([*made, change(text[at:])])


def _definition(numbered: tuple[str, int]) -> str:
    text, number = numbered
    first, lines = parts_of(text)
    quoted = "\n".join(f"    > {_escaped(line)}".rstrip() for line in lines)
    return f"[^{number}]: {_escaped(first)}" + (f"\n\n{quoted}" if quoted else "")


def _escaped(line: str) -> str:
    """A line of a source as Markdown that shows it as it is; an address of the web is a link."""

    def shown(found: re.Match[str]) -> str:
        return f"<{found[0]}>" if found["address"] else f"\\{found[0]}"

    return _BEGINS_BLOCK.sub(r"\1\\\2", _READ_OTHERWISE.sub(shown, printable(line).strip()))
