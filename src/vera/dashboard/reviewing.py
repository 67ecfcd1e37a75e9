"""What people say of claims: shown on a session's page, and written when a form of it comes."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from vera.attestation.keys import KeyFileError, load_or_create
from vera.attestation.reviews import FILE, LABELS, MAX_NOTE, ReviewError, ReviewLog, append
from vera.attestation.signers import TrustError, known_signers
from vera.dashboard.runs import RunRefused
from vera.dashboard.sessions import SessionFolder
from vera.report.view.model import RunPage
from vera.report.view.reviews import can_be_reviewed, log_of, with_reviews
from vera.report.view.versioned_cache import VersionedCache


class ReviewsOnPage:
    """The reviews of one session, read again when their file, the session or the known keys change."""

    def __init__(self, session: SessionFolder) -> None:
        self._session = session
        self._kept = VersionedCache(1)

    async def on(self, page: RunPage, head: str, seen: str) -> RunPage:
        """The page with its reviews. `head` is the last hash of its log, `seen` the session's fingerprint."""
        try:
            about = (self._session.path / FILE).lstat()
        except OSError:
            return with_reviews(page, None)
        version = (about.st_ino, about.st_size, about.st_ctime_ns, head, seen, can_be_reviewed(page))
        return await asyncio.to_thread(self._with_kept, page, version, head)

    def _with_kept(self, page: RunPage, version: object, head: str) -> RunPage:
        return with_reviews(page, self._kept.once(("reviews",), version, lambda: self._read(page, head)))

    def _read(self, page: RunPage, head: str) -> ReviewLog | None:
        try:
            return log_of(page, self._session.path, head, known_signers())
        except TrustError as error:
            return ReviewLog(sentence=str(error))


def review(session: Path, page: RunPage, head: str, fields: Mapping[str, str]) -> int:
    """Write what a form says of a claim (`claim`, `label`, `note`), signed with this person's key; the number
    of the claim on the page, from 1. Raises RunRefused."""
    if not page.reviews.is_open:
        raise RunRefused(409, "Claims are reviewed once the run has ended and its log is whole.")
    numbers = {each.key: number for number, each in enumerate(page.claims, 1) if each.digest}
    if (number := numbers.get(fields.get("claim", ""))) is None:
        raise RunRefused(404, "The answer of this session has no such claim.")
    if fields.get("label", "") not in LABELS:
        raise RunRefused(400, f"Say what you think of the claim: {', '.join(LABELS)}.")
    claim, note = page.claims[number - 1], fields.get("note", "").replace("\r\n", "\n")
    try:
        append(
            session,
            load_or_create(),
            head=head,
            claim=claim.key,
            claim_sha256=claim.digest,
            label=fields["label"],
            note=note,
        )
    except KeyFileError as error:
        raise RunRefused(503, str(error)) from None
    except ReviewError as error:
        wrong = {"note": str(error)} if len(note.strip()) > MAX_NOTE else {}
        raise RunRefused(409, str(error), wrong) from None
    except OSError as error:
        raise RunRefused(503, f"The review cannot be written: {error.strerror}.") from None
    return number
