"""The sources that the answers of a run cite, by the ids that only its log has."""

from collections.abc import Mapping

from vera.report.view.cards import pdf_place
from vera.report.view.model import CitedSource
from vera.report.view.words import one_line
from vera.state import RunState

MAX_SOURCES = 2000


def cited_sources(state: RunState) -> tuple[CitedSource, ...]:
    """Those of every answer, in the order in which they are first cited; what is no evidence is left out."""
    cited: Mapping[str, None] = {
        each.evidence: None for answer in state.answers.values() for each in answer.citations
    }
    known = [state.evidence[name] for name in cited if name in state.evidence][:MAX_SOURCES]
    return tuple(
        CitedSource(each.id, one_line(each.source), each.pages if pdf_place(each, each.lines) else ())
        for each in known
    )
