"""The templates of pages: everything that they write out is escaped, and without characters that act on a
reader. A name that no one gave is an error, never an empty string.
"""

from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from vera.evidence.citation import without_citations
from vera.report import standing
from vera.report.html import answer, citing, difference, orders, shown, wording
from vera.report.html.event_row import event_row
from vera.report.html.figures import LABELS
from vera.report.pictures.axis import duration
from vera.report.pictures.graph import SAYS, graph_svg, source_name
from vera.report.pictures.strip import in_words, known, strip_svg
from vera.report.pictures.timeline import timeline_svg
from vera.report.printable import printable
from vera.report.selection_words import DECIDED
from vera.report.view import words
from vera.report.view.model import VERDICTS

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"

_timeline = lru_cache(maxsize=32)(timeline_svg)
_graph = lru_cache(maxsize=32)(graph_svg)
"""A picture takes some milliseconds, and is asked for again as long as nothing happens."""


@cache
def environment(*folders: Path) -> "Environment":
    """The environment of the shared templates, and of those in `folders`, which come first."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    def safe(value: object) -> object:
        return printable(value) if type(value) is str else value

    made = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=safe,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(
        age=wording.age,
        bytes=words.size_in_words,
        clock=wording.clock,
        cut=words.cut,
        day=wording.day,
        duration=duration,
        iso=wording.iso,
        known=known,
        number=words.number,
        order=orders.for_agent,
        points=words.points,
        reader=orders.for_reader,
        in_words=standing.state_in_words,
        short=wording.short,
        uncited=without_citations,
        without_code=wording.without_code,
    )
    made.globals.update(
        VERDICTS=VERDICTS,
        SAYS=SAYS,
        MARKS=wording.MARKS,
        LABELS=LABELS,
        DECIDED=DECIDED,
        REVIEW_LABELS=wording.REVIEW_LABELS,
        SHARES=wording.SHARES,
        answer_blocks=answer.blocks,
        answer_lead=answer.lead,
        changes=difference.changes,
        citations=citing.citations,
        cite_label=wording.cite_label,
        previews=answer.previews,
        cited_lines=wording.cited_lines,
        is_cited=wording.is_cited,
        sed_lines=wording.sed_lines,
        aligned=difference.aligned,
        at_rest=shown.at_rest,
        coverage_rows=shown.coverage_rows,
        pairs_of_rounds=shown.pairs_of_rounds,
        shown_claims=shown.shown_claims,
        counted=words.counted,
        empty_parts=shown.empty_parts,
        excerpts=shown.excerpts,
        event_row=lambda line, links: Markup(event_row(line, links)),
        headline=wording.headline,
        numbered=wording.numbered,
        place=wording.place,
        proofs=shown.proofs,
        same_words=wording.same_words,
        LISTED=standing.LISTED,
        PHASES=standing.PHASES,
        source_name=source_name,
        source_title=wording.source_title,
        tone=wording.tone,
        verdicts_in_words=in_words,
        graph=lambda claims, base: Markup(_graph(claims, base)),
        strip=lambda key, verdicts: Markup(strip_svg(key, verdicts)),
        timeline=lambda timeline, base: Markup(_timeline(timeline, base)),
    )
    return made
