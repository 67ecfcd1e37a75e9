"""A table as one HTML file: no script, nothing loaded from elsewhere."""

import os
from collections import Counter
from pathlib import Path
from urllib.parse import quote

from vera.headline import HEADLINES
from vera.report.html.document import STYLESHEET
from vera.report.html.environment import environment
from vera.report.standing import VERDICTS
from vera.report.table.model import Table
from vera.version import __version__

ANSWER = "answer.md"


def table_html(table: Table, *, title: str, beside: Path) -> bytes:
    """The table as an HTML document in UTF-8. Links to sessions are relative to the folder `beside`."""
    from markupsafe import Markup

    counts = Counter(cell.word for row in table.rows for cell in row.cells)

    def link(session: str) -> str:
        """The answer in a session folder, '' for no session."""
        if not session:
            return ""
        path = os.path.relpath(Path(session) / ANSWER, beside)
        return "./" + quote(path.encode("utf-8", "surrogateescape"))

    return (
        environment()
        .get_template("table.html.j2")
        .render(
            table=table,
            title=title,
            counts=[(word, counts[word]) for word in HEADLINES if counts[word]],
            standings=VERDICTS,
            link=link,
            version=__version__,
            style=Markup(STYLESHEET.read_text("utf-8")),  # ours, without '<'
        )
        .encode("utf-8", "replace")
    )
