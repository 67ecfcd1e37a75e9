"""One file with all of a run: no script, nothing loaded from elsewhere; to be read, mailed and printed."""

from collections.abc import Sequence
from pathlib import Path

from vera.report.answer import Quote
from vera.report.html.answer import blocks
from vera.report.html.environment import environment
from vera.report.html.figures import figures
from vera.report.html.links import Links
from vera.report.html.notes import with_notes
from vera.report.view.model import RunPage
from vera.version import __version__

STYLESHEET = Path(__file__).parent / "report.css"
"""The one stylesheet of the report and of the pages of the dashboard."""


def report_html(page: RunPage, *, work_dir: str, integrity: str = "", quotes: Sequence[Quote] = ()) -> str:
    """The report of a run as an HTML document; the same page gives the same bytes.

    `work_dir` is the session as a person types it, for the command that checks it; `integrity` says in a
    sentence whether the log is whole; `quotes` are the places that the answer cites, for the
    notes at the end.
    """
    from markupsafe import Markup

    written, notes = with_notes(blocks(page.answer, page.claims), quotes)
    template = environment().get_template("report.html.j2")
    return template.render(
        page=page,
        written_with_notes=written,
        notes=notes,
        live=figures(page.header),
        links=Links(),
        work_dir=work_dir,
        integrity=integrity,
        version=__version__,
        style=Markup(STYLESHEET.read_text("utf-8")),  # ours, without '<'
        changed={},
        asked=None,
        run=None,
        ago=None,
        open_claims=True,
    )
