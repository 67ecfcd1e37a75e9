"""The tables of docs/redteam.md: `PYTHONPATH=tests .venv/bin/python -m redteam.page` writes them."""

import re
from collections.abc import Iterator
from pathlib import Path

from redteam.attack import Attack, attacks

PAGE = Path(__file__).resolve().parents[2] / "docs" / "redteam.md"
BEGIN, END = "<!-- made by tests/redteam/page.py: begin -->", "<!-- made by tests/redteam/page.py: end -->"

FAMILIES = {
    "answer": "the agent's answer: clauses, marks and tables that carry a sentence past the audit",
    "budgets": "budgets that are spent, or a server that counts its tokens wrongly",
    "characters": "look-alike digits, letters, signs and quotation marks, zero width, right-to-left",
    "clients": "callers of `vera mcp` and `vera serve`",
    "connectors": "repositories, sites and libraries that a connector reads",
    "context": "a sentence that its surroundings take back: a myth, a plan, a question, somebody's claim",
    "copies": "one text in two places that counts as two sources; pages that are no source",
    "folders": "the folder of documents: links, pipes, settings",
    "forged": "documents that look like the output of VERA, of a tool or of a judge",
    "headings": "a true sentence below a heading that sets it aside",
    "hidden": "text that no reader sees: style sheets, Office formats, PDF, mail",
    "injection": "orders to the judge, in each place of a prompt where bytes of somebody else are",
    "judges": "judges that are lazy, constant, echoing, biased, malformed, or know the exam by heart",
    "laundering": "commands that write the words which they seem to find",
    "limits": "what no rule knows; these get through, and are listed below",
    "lines": "borders of lines that cut a number or a “not”",
    "lookalike": "domains that look like an official one",
    "numbers": "numbers, units, dates and ranges that are nearly those of the source",
    "planted": "files and programs that the agent leaves where VERA looks",
    "plugins": "plugins",
    "quotation": "quotations that are shortened, joined, or of other lines",
    "servers": "model servers and the hub of models",
    "sessions": "sessions and bundles of somebody else",
    "settings": "who may set what: folder, task, form, session",
    "tables": "cells of other rows, columns, units and sheets",
    "thesis": "theses for `vera verify` that the documents nearly state, or nearly refute",
    "unanswerable": "questions that the documents nearly answer",
    "versions": "documents and clauses that another one replaces",
}


def tables() -> str:
    """All tables in Markdown."""
    found = attacks()
    return "\n".join([*_families(found), "", *_through(found), "", *_refused(found)])


def _families(found: tuple[Attack, ...]) -> Iterator[str]:
    yield "| family | what is tried | attacks | believed | twins | not accepted |"
    yield "|---|---|---|---|---|---|"
    for family, tried in FAMILIES.items():
        of = tuple(attack for attack in found if attack.family == family)
        yield f"| [{family}](../tests/redteam/{family}) | {tried} | {_counts(of)} |"
    yield f"| all | | {_counts(found)} |"
    accepted = sum(not attack.refused for attack in found)
    yield ""
    yield f"{accepted} of {len(found)} honest twins are accepted, {accepted / len(found):.1%}."


def _counts(of: tuple[Attack, ...]) -> str:
    believed = sum(bool(attack.gets_through) for attack in of)
    refused = sum(bool(attack.refused) for attack in of)
    return f"{len(of)} | {believed} | {len(of)} | {refused}"


def _through(found: tuple[Attack, ...]) -> Iterator[str]:
    yield "| attack that is believed | why |"
    yield "|---|---|"
    for attack in found:
        if attack.gets_through:
            yield f"| `{attack.id}` | {attack.gets_through} |"


def _refused(found: tuple[Attack, ...]) -> Iterator[str]:
    yield "| honest twin that is not accepted | why |"
    yield "|---|---|"
    for attack in found:
        if attack.refused:
            yield f"| `{attack.id}` | {attack.refused} |"


def with_tables(page: str) -> str:
    """The page with the tables of today."""
    made = f"{BEGIN}\n\n{tables()}\n\n{END}"
    return re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: made, page, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")
