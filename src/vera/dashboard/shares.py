"""Files of a finished session for others: the report, its attestation, its claims as a table, its bundle."""

import csv
import io
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import Response

from vera.attestation.outcome import ALTERED
from vera.dashboard.regular import open_regular
from vera.dashboard.sessions import SessionFolder
from vera.report.answer import Quote
from vera.report.html.document import report_html
from vera.report.html.wording import SHARES
from vera.report.table.csv_text import safe_cell
from vera.report.view.model import ClaimView, RunPage

MAX_BYTES = 256 << 20
"""Of a file that is made in memory. A larger bundle is written by `vera export --bundle`."""

MAX_ATTESTATION = 16 << 20

_TYPES: Mapping[str, str] = {
    "report.html": "text/html; charset=utf-8",
    "attestation.json": "application/json",
    "claims.csv": "text/csv; charset=utf-8",
    "bundle.zip": "application/zip",
}
assert set(_TYPES) == set(SHARES)


def share(name: str, session: SessionFolder, page: RunPage, cited: Callable[[], Sequence[Quote]]) -> Response:
    """One of SHARES as a file to save; `cited` reads what the answer cites. Raises HTTPException: 404 for
    another name or where there is none, 413 for a bundle that is too large, 409 for a session that was
    altered or cannot be packed."""
    if page.header.verdict == ALTERED:
        raise HTTPException(409, "This session was altered: nothing of it is shared from here.")
    match name:
        case "report.html":
            data = report_html(page, work_dir=session.name, quotes=cited()).encode("utf-8", "replace")
        case "attestation.json":
            data = _attestation(session.path / name)
        case "claims.csv":
            data = claims_table(page.claims).encode("utf-8", "replace")
        case "bundle.zip":
            data = _bundle(session.path)
        case _:
            raise HTTPException(404)
    return Response(
        data, media_type=_TYPES[name], headers={"content-disposition": f'attachment; filename="{name}"'}
    )


def claims_table(claims: Sequence[ClaimView]) -> str:
    """The claims as CSV (RFC 4180), a row a card: the claim, its verdict, text and reason, what the card
    says, its source, the first and the last line, the sha256 of the text."""
    made = io.StringIO()
    rows = csv.writer(made)
    rows.writerow(
        ("claim", "verdict", "text", "reason", "relation", "source", "first_line", "last_line", "sha256")
    )
    for claim in claims:
        said = [safe_cell(each) for each in (claim.key, claim.verdict, claim.text, claim.reason)]
        for card in claim.cards:
            place = (card.first, card.last, card.source_id)
            rows.writerow((*said, card.relation, safe_cell(card.source), *place))
        if not claim.cards:
            rows.writerow((*said, "", "", "", "", ""))
    return made.getvalue()


def _attestation(file: Path) -> bytes:
    if (opened := open_regular(file)) is None:
        raise HTTPException(404, "This session has no attestation.")
    with opened:
        data = opened.read(MAX_ATTESTATION + 1)
    if len(data) > MAX_ATTESTATION:
        raise HTTPException(
            413, "The attestation is too large for the dashboard: it is in the session's folder."
        )
    return data


def _bundle(session: Path) -> bytes:
    from vera.attestation.bundle import BundleError, pack
    from vera.attestation.replay import NoSession

    size = sum(each.stat().st_size for each in (session / "store").rglob("*") if each.is_file())
    if size > MAX_BYTES:
        raise HTTPException(
            413, f"The bundle is too large for the dashboard: vera export {session} --bundle FILE"
        )
    with tempfile.TemporaryDirectory(prefix="vera-bundle-") as folder:
        file = Path(folder) / "bundle.zip"
        try:
            pack(session, file)
        except (BundleError, NoSession, OSError) as error:
            raise HTTPException(409, f"The session cannot be packed: {error}") from None
        return file.read_bytes()
