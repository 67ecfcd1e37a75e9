"""A page with what people said of its claims (`vera.attestation.reviews`). The verdicts stay as they are."""

from itertools import islice
from pathlib import Path

import msgspec

from vera.attestation.outcome import ALTERED, UNCHECKED, UNSEALED
from vera.attestation.reviews import ReviewLog, read_reviews
from vera.attestation.signers import Signers
from vera.report.view.model import ClaimView, ReviewsView, ReviewView, RunPage
from vera.report.view.words import one_line

MAX_SHOWN = 50
"""Reviews of one claim, and entries that do not count, that a page shows."""


def can_be_reviewed(page: RunPage) -> bool:
    """Whether a person can review the claims: the run has ended, nothing was altered, and a seal holds it."""
    return page.header.phase == "ended" and page.header.verdict not in ("", ALTERED, UNSEALED, UNCHECKED)


def log_of(page: RunPage, root: Path, head: str, signers: Signers) -> ReviewLog | None:
    """The reviews of the page's claims, where its log ends in the hash `head`; None without any."""
    claims = {each.key: each.digest for each in page.claims if each.digest}
    return read_reviews(root, head if can_be_reviewed(page) else "", claims, signers)


def with_reviews(page: RunPage, log: ReviewLog | None) -> RunPage:
    """The page with what the log says."""
    is_open = can_be_reviewed(page) and any(each.digest for each in page.claims)
    if log is None:
        return msgspec.structs.replace(page, reviews=ReviewsView(is_open=is_open))
    bad = tuple((each.line, each.standing, one_line(each.why)) for each in islice(log.bad, MAX_SHOWN))
    return msgspec.structs.replace(
        page,
        claims=tuple(_with_reviews(claim, log) for claim in page.claims),
        reviews=ReviewsView(sentence=one_line(log.sentence), bad=bad, is_open=is_open),
    )


def _with_reviews(claim: ClaimView, log: ReviewLog) -> ClaimView:
    made = [
        ReviewView(
            label=each.entry.label,
            note=each.entry.note,
            at=float(each.entry.at),
            signed=one_line(each.signed),
            standing=each.standing,
        )
        for each in log.of(claim.key)
        if each.entry is not None
    ]
    return msgspec.structs.replace(claim, reviews=tuple(made[-MAX_SHOWN:])) if made else claim
