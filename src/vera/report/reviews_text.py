"""What people said of the claims of a run, as text: for a terminal and in Markdown."""

from collections.abc import Iterable, Iterator
from itertools import islice

from vera.attestation.reviews import Review
from vera.report.printable import printable
from vera.report.timestamps import utc
from vera.report.view.model import ReviewView, RunPage

MAX_BAD = 50


def bad_lines(bad: Iterable[Review]) -> Iterator[str]:
    """A sentence for each entry that does not count."""
    for each in islice(bad, MAX_BAD):
        yield f"line {each.line} is {each.standing} and does not count: {each.why}"


def review_line(review: ReviewView) -> str:
    """What one person said, on one line but for the note."""
    mark = {"REPLACED": ", replaced by a later one", "UNTRUSTED": ", not counted"}.get(review.standing, "")
    said = f"{review.label}, signed {review.signed}, {utc(review.at):%Y-%m-%d %H:%M} UTC{mark}"
    return said + (f": {review.note}" if review.note else "")


def listing(page: RunPage, *, only_reviewed: bool = False) -> str:
    """The claims with their numbers, verdicts and reviews; '' where there is nothing to list."""
    lines = []
    for number, claim in enumerate(page.claims, 1):
        if claim.reviews or not only_reviewed:
            lines.append(f"{number:>3}  {claim.verdict}  {claim.text}")
            lines += [f"     {_indented(review_line(each))}" for each in claim.reviews]
    return "\n".join([*lines, *_closing(page)])


def markdown(page: RunPage) -> str:
    """A section on the reviews, '' where there are none. No text of it is read as Markdown: the whole is
    indented code."""
    if not page.reviews.sentence:
        return ""
    lines = printable(listing(page, only_reviewed=True)).split("\n")
    shown = "\n".join(f"    {line}" for line in lines)
    return f"## What people say\n\nNo verdict rests on it.\n\n{shown}\n"


def _closing(page: RunPage) -> Iterator[str]:
    if page.reviews.sentence:
        yield page.reviews.sentence
    for line, standing, why in page.reviews.bad:
        yield f"line {line} of reviews.jsonl is {standing} and does not count: {why}"


def _indented(text: str) -> str:
    return text.replace("\n", "\n     ")
