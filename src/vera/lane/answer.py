"""The citations of an answer, resolved: each becomes bytes of a stored text, or a named problem.

Cited lines are made whole (`vera.text.whole_sentences`), so that what is shown is what was read.
"""

import hashlib
from collections.abc import Mapping

from vera.events import Cited, Evidence
from vera.evidence.citation import LINES_LIMIT, Citation, find_citations
from vera.store import Store, StoreError
from vera.text.span import Lines
from vera.text.whole_sentences import whole

MAX_CITATIONS = 2000
"""An answer with more is cut off here; the rest is reported as one problem."""


def resolve(text: str, evidence: Mapping[str, Evidence], store: Store) -> tuple[Cited, ...]:
    """Every citation in `text`, in order of appearance, each place once."""
    found: dict[tuple[str, int | None, int | None], Cited] = {}
    texts: dict[str, Lines | str] = {}
    for citation in find_citations(text):
        key = (citation.evidence, citation.first, citation.last)
        if key in found:
            continue
        if len(found) == MAX_CITATIONS:
            problem = f"only the first {MAX_CITATIONS} citations are looked at"
            found[key] = Cited(evidence=citation.evidence, problem=problem)
            break
        found[key] = _resolve(citation, evidence.get(citation.evidence), store, texts)
    return tuple(found.values())


def _resolve(
    citation: Citation, evidence: Evidence | None, store: Store, texts: dict[str, Lines | str]
) -> Cited:
    first = citation.first or 0
    last = citation.last or first

    def problem(sentence: str) -> Cited:
        return Cited(evidence=citation.evidence, first=first, last=last, problem=sentence)

    if evidence is None:
        return problem("there is no such evidence")
    if evidence.lead:
        return problem("a search result is a lead; cite the lines that were read")
    lines = _lines_of(evidence.text.sha256, store, texts)
    if isinstance(lines, str):
        return problem(lines)
    if citation.first is None:
        first, last = evidence.first, evidence.last
    elif last - first >= LINES_LIMIT:
        return problem(f"more than {LINES_LIMIT} lines are cited at once")
    try:
        if evidence.tier != "observed":
            first, last, *_ = whole(lines, first, last)
        start, end = lines.bounds(first, last)
    except IndexError:
        return problem(f"it has {len(lines)} lines")
    return Cited(
        evidence=citation.evidence,
        first=first,
        last=last,
        start=start,
        end=end,
        sha256=hashlib.sha256(lines.text[start:end]).hexdigest(),
    )


def _lines_of(digest: str, store: Store, texts: dict[str, Lines | str]) -> Lines | str:
    """A stored text, read once; why it cannot be read where it cannot."""
    if digest not in texts:
        try:
            texts[digest] = Lines(store.get(digest))
        except StoreError as error:
            texts[digest] = str(error)
    return texts[digest]
