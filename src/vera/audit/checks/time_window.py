"""Cited pages were published within the time that the task asks for."""

import re
from collections.abc import Iterator
from datetime import date
from itertools import islice
from typing import NamedTuple
from urllib.parse import urlsplit

from vera.audit.case import Case
from vera.audit.source_text import SourceText
from vera.events import Evidence
from vera.evidence.finding import Finding

_HEAD_LINES = 40
_MAX_CHARACTERS = 400

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_MONTH_NUMBERS = {name: number for number, name in enumerate(_MONTHS.split(), 1)}
_MONTH = rf"(?:{_MONTHS.replace(' ', '|')})[a-z]{{0,6}}\.?"
_DATE = re.compile(
    r"(?P<iso>(?P<iy>[0-9]{4})-(?P<im>[0-9]{2})(?:-(?P<id>[0-9]{2}))?)"
    rf"|(?P<d1>[0-9]{{1,2}})(?:st|nd|rd|th|\.)? (?:of )?(?P<m1>{_MONTH}),? (?P<y1>[0-9]{{4}})"
    rf"|(?P<m2>{_MONTH}) (?:(?P<d2>[0-9]{{1,2}})(?:st|nd|rd|th)?,? )?(?P<y2>[0-9]{{4}})"
    r"|(?P<a>[0-9]{1,2})[./](?P<b>[0-9]{1,2})[./](?P<y3>[0-9]{4})",
    re.IGNORECASE,
)
_PUBLISHED = re.compile(
    r"\b(?:published|posted|issued|released|publication date|date published|pubdate)\b"
    r"\W{0,4}(?:on|at|online|in|by [^\n]{1,60}?(?: on|,|\|))?\W{0,4}(?:[a-z]{3,9}day\W{1,3})?",
    re.IGNORECASE,
)
_ADDRESS_DATE = re.compile(r"/(?P<y>(?:19|20)[0-9]{2})/(?P<m>[0-9]{1,2})/(?P<d>[0-9]{1,2})(?:/|\Z)")


class _Period(NamedTuple):
    """The days, first to last, that a date as written may mean."""

    first: date
    last: date


def time_window(case: Case) -> Iterator[Finding]:
    """`outside_window` (hard) for each claim on a page published outside the window, `no_date` (soft) where
    no publication date is to be seen, `bad_window` (hard) when a bound of the window is no date.

    A date counts beside a word like "published" in the title or the first lines, then in the metadata of the
    document, then in the path of the URL. One that can be read in two ways is outside only if both are. Of a
    file only its metadata count, and a file without them is in every window.
    """
    asked = (case.policy.not_before, case.policy.not_after)
    if not any(asked):
        return
    bounds = [_bound(text) for text in asked]
    for text, bound in zip(asked, bounds, strict=True):
        if text and bound is None:
            message = "The time window is not written as dates such as 2021-05-03; say it again."
            yield Finding(
                code="bad_window", label="invalid_source", severity="hard", message=message, detail=text[:100]
            )
    after, before = bounds
    yield from _of_claims(case, after, before)


def _of_claims(case: Case, after: _Period | None, before: _Period | None) -> Iterator[Finding]:
    """The findings about the cited pages, each of which is read once."""
    found: dict[str, _Period | None] = {}
    for claim in case.claims:
        for name in dict.fromkeys(cite.evidence for cite in claim.cites):
            evidence = case.evidence.get(name)
            source = case.sources.get(evidence.text.sha256) if evidence else None
            if evidence is None or source is None or not _is_dated(evidence):
                continue
            if name not in found:
                found[name] = _published(evidence, source)
            finding = _finding(claim.key, name, found[name], after, before)
            if finding is not None:
                yield finding


def outside(evidence: Evidence, source: SourceText, not_before: str, not_after: str) -> str:
    """When a page was published, if that is outside of these days; '' when it is within, or not to be seen.

    A bound of '' does not limit. What was not fetched has no such date.
    """
    after, before = _bound(not_before), _bound(not_after)
    if not _is_dated(evidence) or not (after or before):
        return ""
    finding = _finding("", evidence.id, _published(evidence, source), after, before)
    return finding.detail if finding is not None else ""


def published(evidence: Evidence, source: SourceText) -> str:
    """When a page says it was published, a day or `first to last`; '' when that is not to be seen."""
    period = _published(evidence, source)
    return "" if period is None else _in_words(period)


def _is_dated(evidence: Evidence) -> bool:
    """Whether it should tell when it was published: a page, or a file whose metadata do."""
    return is_page(evidence) or bool(evidence.dated)


def is_page(evidence: Evidence) -> bool:
    """Whether it is a page of the web, taken by the host or brought by a connector."""
    return evidence.http_status is not None or evidence.origin.lower().startswith(("http://", "https://"))


def _in_words(period: _Period) -> str:
    if period.first == date.min:
        return f"by {period.last}"
    return str(period.first) if period.first == period.last else f"{period.first} to {period.last}"


def _finding(
    claim: str, evidence: str, published: _Period | None, after: _Period | None, before: _Period | None
) -> Finding | None:
    if published is None:
        message = (
            f"No publication date is to be seen on {evidence}; cite a page that shows when it was published."
        )
        return Finding(
            code="no_date",
            label="invalid_source",
            severity="soft",
            claim=claim,
            evidence=evidence,
            message=message,
        )
    too_early = after is not None and published.last < after.first
    too_late = before is not None and published.first > before.last
    if not too_early and not too_late:
        return None
    side = "before" if too_early else "after"
    return Finding(
        code="outside_window",
        label="invalid_source",
        severity="hard",
        claim=claim,
        evidence=evidence,
        message=f"{evidence} was published {side} the time that is asked for; cite one from within it.",
        detail=_in_words(published),
    )


def _bound(text: str) -> _Period | None:
    match = _DATE.match(text)
    if match is not None and match["iso"]:
        return _period(match)
    return _year(text) if re.fullmatch(r"[0-9]{4}", text) else None


def _published(evidence: Evidence, source: SourceText) -> _Period | None:
    """When a page says it was published: in its title, its first lines, its metadata, its URL."""
    if not is_page(evidence):
        return _of_metadata(evidence.dated)
    stated = _stated(evidence.title, source.seen(evidence.marks)) or _of_metadata(evidence.dated)
    if stated is not None:
        return stated
    match = _ADDRESS_DATE.search(urlsplit(evidence.source).path) if "://" in evidence.source else None
    return _day(int(match["y"]), int(match["m"]), int(match["d"])) if match else None


def _stated(title: str, source: SourceText) -> _Period | None:
    """The first date beside a word like "published" in the title or the first lines."""
    count = min(_HEAD_LINES, len(source.lines))
    head = (source.lines.cut(number, number).decode("utf-8", "replace") for number in range(1, count + 1))
    lines = [title, *head]
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        shown = line[:_MAX_CHARACTERS]
        for word in islice(_PUBLISHED.finditer(shown), 8):
            text = shown[word.end() :] or following[:_MAX_CHARACTERS].lstrip()
            match = _DATE.match(text)
            if match is not None and (period := _period(match)) is not None:
                return period
    return None


def _of_metadata(dated: str) -> _Period | None:
    """The days that `Evidence.dated` means; an open end is the first or the last day that there is."""
    first, slash, last = dated.partition("/")
    begin = _Period(date.min, date.min) if first == ".." else _bound(first)
    end = begin if not slash else _Period(date.max, date.max) if last == ".." else _bound(last)
    return None if begin is None or end is None else _Period(begin.first, end.last)


def _period(match: re.Match[str]) -> _Period | None:
    if match["iso"]:
        year, month, day = match["iy"], int(match["im"]), match["id"]
    elif match["a"]:
        return _either_way(int(match["a"]), int(match["b"]), int(match["y3"]))
    else:
        year, day = match["y1"] or match["y2"], match["d1"] or match["d2"]
        month = _MONTH_NUMBERS[(match["m1"] or match["m2"])[:3].lower()]
    return _day(int(year), month, int(day)) if day else _month(int(year), month)


def _either_way(a: int, b: int, year: int) -> _Period | None:
    """The days that 3/4/2021 may mean, where day and month may come in either order."""
    ways = [each for each in (_day(year, b, a), _day(year, a, b)) if each is not None]
    return _Period(min(way.first for way in ways), max(way.last for way in ways)) if ways else None


def _day(year: int, month: int, day: int) -> _Period | None:
    try:
        found = date(year, month, day)
    except ValueError:
        return None
    return _Period(found, found)


def _month(year: int, month: int) -> _Period | None:
    if not (1 <= month <= 12 and 1 <= year <= 9998):
        return None
    following = date(year + month // 12, month % 12 + 1, 1)
    return _Period(date(year, month, 1), date.fromordinal(following.toordinal() - 1))


def _year(text: str) -> _Period | None:
    return _Period(date(int(text), 1, 1), date(int(text), 12, 31)) if int(text) else None
