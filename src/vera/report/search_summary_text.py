"""What was checked, in words: whole for answer.md, the first few of each kind for a terminal."""

from collections.abc import Sequence

from vera.history import Constraint, Reached
from vera.report.markdown_text import literal
from vera.report.search_summary import Checked, Kept
from vera.report.timestamps import utc

SHOWN = 5
"""Things of a kind that a terminal gets to see."""

TEXT_SHOWN = 400
"""Characters of a constraint, of a reason, of what an evidence is."""


def conclusion(found: Checked) -> str:
    """What the search for a negative claim came to; '' for a run that did not end on that."""
    if not found.concluded:
        return ""
    if not found.silent:
        return (
            f"The run stopped without a verified answer: {_domains(found)} were read, each listed with its "
            "time. Lines of them may speak of the question."
        )
    return (
        "No official announcement was found in the sources checked: "
        f"{_domains(found)}, each listed with its time. It may stand elsewhere, or come later."
    )


def markdown(found: Checked) -> str:
    """The sections of answer.md."""
    parts = []
    if found.constraints:
        parts += ["## What is open", _list([literal(_constraint(each)) for each in found.constraints])]
    parts += ["## What was checked", *(_places(found) or [_nothing(found)])]
    if found.evidence:
        older = [f"({found.older} older ones are in evidence.jsonl)"] if found.older else []
        parts += ["## Evidence", _list([*older, *(literal(_evidence(each)) for each in found.evidence)])]
    return "\n\n".join(parts)


def _nothing(found: Checked) -> str:
    """That nothing was checked, of a run of which it is true."""
    if found.contacts:
        where = ", ".join(literal(_line(each)) for each in found.contacts)
        return f"Commands were connected to {where}, and no page of theirs was captured: nothing was read."
    return "Nothing was searched, and nothing was read."


def plain(found: Checked) -> str:
    """The lines for a terminal, '' when there is nothing to say."""
    blocks = []
    if found.constraints:
        title = f"Open: {_count(len(found.constraints), 'constraint')}."
        blocks.append(_few(title, [_line(each.text) for each in found.constraints]))
    if found.reached:
        sites = (*found.domains(official=True), *found.domains(official=False))
        blocks.append(_few(f"Checked: {_domains(found)}.", [_site(each) for each in sites]))
    blocks += _searches(found)
    if found.files:
        blocks.append(_few("Input files read:", [_line(each) for each in found.files], found.more_files))
    if found.evidence:
        total = len(found.evidence) + found.older
        newest = [_evidence(each) for each in reversed(found.evidence)]
        blocks.append(_few(f"Evidence: {_count(total, 'piece')}, the newest first.", newest, found.older))
    return "\n".join(blocks)


def _places(found: Checked) -> list[str]:
    """Domains by kind, engines, input files: a paragraph or list each."""
    parts = []
    for title, official in (("Official domains", True), ("Other domains", False)):
        if sites := found.domains(official=official):
            listed = _list([_reached(each) for each in sites])
            parts.append(f"{title} that answered with content:\n\n{listed}")
    if found.concluded and not found.reached:
        parts.append("No domain answered with content.")
    parts += _searches(found)
    if found.files:
        more = [f"and {found.more_files} more"] if found.more_files else []
        names = [literal(_line(each)) for each in found.files]
        parts.append(f"Input files read:\n\n{_list([*names, *more])}")
    return parts


def _searches(found: Checked) -> list[str]:
    said = []
    if found.requests:
        asked = ", ".join(f"{_line(name)} {count}" for name, count in found.requests)
        said.append(f"Requests to search engines: {asked}.")
    if found.folder_searches:
        said.append(f"Searches of the input folder: {found.folder_searches}.")
    return said


def _domains(found: Checked) -> str:
    official, others = (len(found.domains(official=kind)) for kind in (True, False))
    return f"{_count(official, 'official domain')}, {_count(others, 'other')}"


def _constraint(constraint: Constraint) -> str:
    since = f" (since step {constraint.step})" if constraint.step else ""
    return f"{_line(constraint.text)}{since}"


def _site(site: Reached) -> str:
    """`who.int (official, regulatory), 2026-11-22 04:20 to 04:31 UTC`."""
    target = site.target
    kind = _line(target.source_class)
    kinds = dict.fromkeys(["official", kind] if target.official else [kind])
    return f"{_line(target.domain)} ({', '.join(kinds)}), {_when(site)}"


def _reached(site: Reached) -> str:
    return literal(f"{_site(site)}. {_line(site.target.reason)}".rstrip())


def _when(site: Reached) -> str:
    first, last = (_minute(ts) for ts in (site.first_ts, site.last_ts))
    if first == last:
        return f"{first} UTC"
    same_day = first.split()[0] == last.split()[0]
    return f"{first} to {last.split()[1] if same_day else last} UTC"


def _minute(ts: float) -> str:
    return utc(ts).strftime("%Y-%m-%d %H:%M")


def _evidence(piece: Kept) -> str:
    return f"{piece.id} · {_line(piece.summary)} · {_minute(piece.ts)} UTC"


def _line(text: str) -> str:
    """The text on one line, not too long."""
    line = " ".join(text[: 2 * TEXT_SHOWN].split())
    return line if len(line) <= TEXT_SHOWN else f"{line[:TEXT_SHOWN]}…"


def _list(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _few(title: str, lines: Sequence[str], unlisted: int = 0) -> str:
    """A title, the first lines, and how many are left; `unlisted` are not even among the lines."""
    left = max(0, len(lines) - SHOWN) + unlisted
    more = [f"and {left} more"] if left else []
    return f"{title}\n{_list([*lines[:SHOWN], *more])}"


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' if count != 1 else ''}"
