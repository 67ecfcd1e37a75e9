"""A line of the event log as an element. A page has hundreds, so it is written out here: a template takes
five times as long."""

from html import escape

from vera.report.html.links import Links
from vera.report.html.wording import clock, iso, short
from vera.report.printable import printable
from vera.report.view.model import EventLine


def event_row(line: EventLine, links: Links) -> str:
    """The `<li>`. The page's module makes others of it: `data-f` names what is in an element."""
    failed = ' class="failed"' if line.failed else ""
    step = "" if line.step is None else line.step
    address = links.step(line.step or 0, line.lane)
    href = f' href="{escape(address)}"' if address else ""
    tag = (
        "a" if href or not line.kind else "span"
    )  # the row without a kind is the one that others are made of
    lane = "" if line.lane == "main" else _text(line.lane, 60)
    return (
        f'<li id="e{line.offset:d}"{failed}>'
        f'<time data-f="clock" datetime="{iso(line.ts)}">{clock(line.ts)}</time> '
        f'<{tag} data-f="step" class="step"{href}>{step}</{tag}> '
        f'<span data-f="kind" class="kind">{_text(line.kind, 60)}</span> '
        f'<span data-f="text" class="said">{_text(line.text, 600)}</span> '
        f'<span data-f="lane" class="lane">{lane}</span></li>\n'
    )


def _text(text: str, length: int) -> str:
    return escape(printable(short(text, length)))
