"""The values of a table: documents, questions, and a cell for each pair. Texts are untrusted.

A cell always has a word and a text, so none is ever blank.
"""

import re
from collections.abc import Sequence

import msgspec

from vera.evidence.citation import find_citations, without_citations
from vera.headline import HOLDS, Headline
from vera.report.view.model import CardView, ClaimView, RunPage
from vera.report.view.words import one_line

MAX_PHRASE = 300
MAX_STATEMENTS = 20
MAX_PLACES = 6
MAX_LINES = 12
MAX_LINE = 400
MAX_ANSWER = 20_000
"""Characters of an answer that a table keeps."""

_QUOTED = re.compile(r"“([^”\n]{1,400})”")
NOT_ASKED = "not asked yet"


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Cited lines `first` to `last` of `source`, and what they say of the answer (`relation`).

    `lines` are cut from the store; where they cannot be shown, `problem` says why. `page` is that of a PDF.
    """

    source: str
    first: int
    last: int
    relation: str
    page: int | None = None
    lines: tuple[str, ...] = ()
    problem: str = ""

    @property
    def name(self) -> str:
        """The source with its lines: `a.txt, lines 3-5`."""
        page = f", page {self.page}" if self.page else ""
        lines = f"line {self.first}" if self.first == self.last else f"lines {self.first}-{self.last}"
        return f"{self.source}{page}, {lines}"


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """What a question came to in one document.

    `phrase` is the short answer, '' where there is none to rely on; `reason` says why the word is what it is.
    `statements` are the claims of the answer, as (verdict, text). `session` is the folder of the run, '' when
    there is none.
    """

    word: Headline
    phrase: str = ""
    reason: str = ""
    answer: str = ""
    statements: tuple[tuple[str, str], ...] = ()
    places: tuple[Place, ...] = ()
    session: str = ""

    @property
    def text(self) -> str:
        """The cell on one line: its word, then the answer or the reason."""
        return f"{self.word}: {self.phrase or self.reason or NOT_ASKED}"


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A document by its path in the folder, with a cell for each question in their order."""

    document: str
    cells: tuple[Cell, ...]


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """`questions` are (title of the column, question). `skipped` are (path, why it was not asked)."""

    questions: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    skipped: tuple[tuple[str, str], ...] = ()


def cell_of(page: RunPage, verdict: Headline | None, session: str) -> Cell:
    """The cell of a finished run. `verdict` is None where the session cannot be relied on."""
    header = page.header
    places = tuple(_places(page.claims))
    reason = one_line(header.reason, MAX_PHRASE)
    if verdict is None:
        return Cell(word="UNRESOLVED", reason=f"{header.verdict or 'not ended'}: {reason}", session=session)
    return Cell(
        word=verdict,
        phrase=_phrase(page) if verdict in HOLDS or verdict == "PARTIAL" else "",
        reason=reason,
        answer=page.answer[:MAX_ANSWER],
        statements=tuple(
            (claim.verdict, one_line(claim.text, 4 * MAX_PHRASE)) for claim in page.claims[:MAX_STATEMENTS]
        ),
        places=places,
        session=session,
    )


def _phrase(page: RunPage) -> str:
    """The first supported claim without its citations; of an extract the words that the answer takes from its
    lines, else the lines."""
    claim = next((each for each in page.claims if each.verdict == "supported"), None)
    if claim is None:
        return ""
    if claim.form == "extract" and claim.cards:
        card = claim.cards[0]
        return one_line(_words(page.answer, card) or " ".join(card.quotation), MAX_PHRASE)
    return one_line(without_citations(claim.text), MAX_PHRASE)


def _words(answer: str, card: CardView) -> str:
    """The quoted words with which the answer points at the lines of a card, '' for none."""
    for line in answer[:MAX_ANSWER].splitlines():
        if (quoted := _QUOTED.search(line)) and any(
            each.evidence == card.evidence and card.first <= (each.first or 0) <= card.last
            for each in find_citations(line)
        ):
            return quoted[1]
    return ""


def _places(claims: Sequence[ClaimView]) -> list[Place]:
    """The cited lines of the claims, each once, at most MAX_PLACES."""
    cards: dict[tuple[str, int, int], CardView] = {}
    for claim in claims:
        for card in claim.cards:
            if card.relation != "IRRELEVANT":
                cards.setdefault((card.source_id, card.first, card.last), card)
    return [_place(card) for card in list(cards.values())[:MAX_PLACES]]


def _place(card: CardView) -> Place:
    left = len(card.quotation) - MAX_LINES
    lines = tuple(one_line(line, MAX_LINE) for line in card.quotation[:MAX_LINES])
    return Place(
        source=card.source,
        first=card.first,
        last=card.last,
        relation=card.relation,
        page=card.pdf.page if card.pdf else None,
        lines=(*lines, f"[… {left} more lines]") if left > 0 else lines,
        problem=card.problem,
    )
