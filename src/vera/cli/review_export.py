"""Reviews as data: question, claim, evidence and label, a line each, as `vera eval` reads them."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vera.attestation.outcome import UNTRUSTED
from vera.attestation.reviews import FILE
from vera.dashboard.run_page import LookedAt, look_at
from vera.dashboard.sessions import Sessions
from vera.report.html.wording import numbered
from vera.report.view.model import CardView, ClaimView
from vera.session import LogError, load_text
from vera.store import Store, StoreError, open_private

MAX_QUOTED = 20_000
"""Characters of a quotation, as many as `vera eval` takes."""


class NothingToExport(Exception):
    """There is no review to write: a sentence that says where was looked."""


def export_reviews(place: Path, file: Path, *, any_signer: bool) -> tuple[int, int, int]:
    """Write the reviews of a session, or of the sessions in a folder, to a file that is not there yet.

    The numbers of rows, of sessions with one, and of reviews that do not count (of unknown keys they do with
    `any_signer`). Raises NothingToExport, FileExistsError, OSError.
    """
    rows, reviewed, skipped = list[dict[str, Any]](), 0, 0
    for session in _sessions(place):
        found = look_at(session)
        own = list(_rows(session, found, any_signer=any_signer))
        said = sum(len(claim.reviews) for claim in found.page.claims) + len(found.page.reviews.bad)
        rows += own
        reviewed += bool(own)
        skipped += said - len(own)
    if not rows:
        raise NothingToExport(f"There is no review in {place} that counts. See: vera review --help")
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    with open_private(file, "xb") as out:
        out.write(text.encode("utf-8", "replace"))
    return len(rows), reviewed, skipped


def _sessions(place: Path) -> Iterator[Path]:
    """The session that the place is, or those with reviews below it."""
    if (place / "trace.jsonl").is_file():
        yield place
        return
    try:
        sessions = Sessions(place)
    except NotADirectoryError:
        raise NothingToExport(f"There is no folder {place}.") from None
    for name in sessions.stamps():
        if os.path.lexists(folder := sessions.base / os.fsdecode(name) / FILE):
            yield folder.parent


def _rows(session: Path, found: LookedAt, *, any_signer: bool) -> Iterator[dict[str, Any]]:
    task = found.state.task
    if task is None:
        return
    is_foreign = found.page.header.verdict == UNTRUSTED  # no stranger chooses a folder of this machine
    counts = ("COUNTED", "UNTRUSTED") if any_signer else ("COUNTED",)
    try:
        question = load_text(Store(session / "store"), task.task)
    except (StoreError, LogError, ValueError):
        return
    for number, claim in enumerate(found.page.claims, 1):
        for place, review in enumerate(claim.reviews, 1):
            if review.standing in counts:
                yield {
                    "id": f"{found.head[:12]}-{number}-{place}",
                    "question": question,
                    "claim": claim.text,
                    "form": claim.form,
                    "label": review.label,
                    "note": review.note,
                    "evidence": list(_evidence(claim)),
                    "input_dir": "" if is_foreign else task.input_dir,
                    "group": claim.verdict,
                }


def _evidence(claim: ClaimView) -> Iterator[dict[str, str]]:
    """The places that the claim rests on, as `vera eval` names them."""
    for card in claim.cards[:100]:
        text = _quotation(card)
        if text and 0 < len(card.source) <= 500:
            yield {"file": card.source, "quotation": text}


def _quotation(card: CardView) -> str:
    if card.problem:
        return ""
    return "\n".join(line for number, line in numbered(card) if number is not None)[:MAX_QUOTED]
