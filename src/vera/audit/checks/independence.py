"""Independence: a statement about the web needs sources that do not come from one hand."""

import re
from collections.abc import Iterator, Mapping, Sequence

from vera.audit.case import Case, CitedLines, statements
from vera.events import Evidence
from vera.evidence.asked_pages import USUAL_SOURCES, AskedSources, asked_sources
from vera.evidence.claim import Claim
from vera.evidence.finding import Finding
from vera.evidence.independence import Group, SourceDoc, clusters

_LISTED = 4
_SHORTEST_NAME = 4
_ATTRIBUTED = re.compile(
    r"\b(?:sources?|via|according to|(?:as )?reported by|quoting|citing|quelle|laut|selon|d['’]après)\b"
    r"[^.\n]{0,60}",
    re.IGNORECASE,
)


def independence(case: Case) -> Iterator[Finding]:
    """`not_independent` (hard) for each load-bearing statement that rests on web pages only, and on fewer
    independent ones than `policy.web_sources`. A file of /input is primary: one suffices.

    So does a page that the task names, or one of a domain listed as official where the task asks for the
    official source, unless the policy asks for more than usual. `asked_source_uncited` (soft): the task asks
    for such pages, and the statement rests on others."""
    needed = case.policy.web_sources
    cited = [(claim, here) for claim, here in statements(case) if claim.load_bearing]
    if needed < 2:
        return
    usual = needed <= USUAL_SOURCES
    asked = asked_sources(case.task, case.policy.official_domains) if usual else AskedSources()
    groups = groups_of([place for _, here in cited for place in here])
    for claim, here in cited:
        if pages := _only_pages(here):
            yield from _of_claim(claim, pages, groups, asked, needed)


def _only_pages(cited: Sequence[CitedLines]) -> list[CitedLines]:
    """The cited web pages, none where other captured evidence is cited, too."""
    captured = [place for place in cited if place.evidence.tier == "captured" and not place.evidence.lead]
    pages = [place for place in captured if is_web(place.evidence)]
    return pages if len(pages) == len(captured) else []


def _of_claim(
    claim: Claim, pages: Sequence[CitedLines], groups: Mapping[str, Group], asked: AskedSources, needed: int
) -> Iterator[Finding]:
    answering = [place for place in pages if answered(place.evidence)]
    if any(asked.has(place.evidence.source) for place in answering):
        return
    own = [groups[place.evidence.text.sha256] for place in answering]
    independent = _without_echoes({group.key: group for group in own}, pages)
    if len(independent) < needed:
        yield _finding(claim, pages, list(independent.values()), needed, unlisted=asked.official)
    if asked.is_known:
        yield _uncited(claim, pages[0], asked)


def _without_echoes(own: Mapping[str, Group], pages: Sequence[CitedLines]) -> dict[str, Group]:
    """The groups without those whose cited lines give another one as their source: "(source: Alpha)"."""
    said: dict[str, str] = {}
    for place in pages:
        key = next((key for key, group in own.items() if place.evidence.text.sha256 in group.sources), "")
        said[key] = f"{said.get(key, '')}\n{place.span.text}"
    return {
        key: group
        for key, group in own.items()
        if not any(_gives_as_source(said.get(key, ""), other) for other in own if other != key)
    }


def _gives_as_source(text: str, domain: str) -> bool:
    """Whether lines attribute what they say to the site of a domain, by its name."""
    name = domain.partition(".")[0].lower()
    return len(name) >= _SHORTEST_NAME and any(
        re.search(rf"(?<!\w){re.escape(name)}(?!\w)", found[0].lower())
        for found in _ATTRIBUTED.finditer(text)
    )


def is_web(evidence: Evidence) -> bool:
    """Whether it came from the web."""
    url = evidence.source.lower().startswith(("http://", "https://"))
    return url or evidence.http_status is not None or evidence.receipt is not None


def answered(evidence: Evidence) -> bool:
    """Whether the server gave the page, not an error."""
    return evidence.http_status is None or 200 <= evidence.http_status < 300


def groups_of(cited: Sequence[CitedLines]) -> Mapping[str, Group]:
    """The group of each cited web page, by the sha256 of its text. Two captures of one text are one page."""
    pages: dict[str, CitedLines] = {}
    for place in cited:
        if is_web(place.evidence) and place.evidence.tier == "captured":
            pages.setdefault(place.evidence.text.sha256, place)
    docs = [
        SourceDoc(key=sha256, url=place.evidence.source, text=place.source.text)
        for sha256, place in pages.items()
    ]
    return {sha256: group for group in clusters(docs) for sha256 in group.sources}


def _finding(
    claim: Claim, pages: Sequence[CitedLines], own: Sequence[Group], needed: int, *, unlisted: bool
) -> Finding:
    official = (
        " The task asks for the official source, and only a domain listed in policy.official_domains would"
        " suffice alone."
    )
    return Finding(
        code="not_independent",
        label="copied_source",
        severity="hard",
        claim=claim.key,
        evidence=pages[0].evidence.id,
        message=f"This rests on {len(own)} independent source{'' if len(own) == 1 else 's'} from the web, "
        f"and needs {needed}: {_why(pages, own)}. Add a page of another publisher that is no copy."
        + (official if unlisted else ""),
        detail="; ".join(f"{place.evidence.id} {place.evidence.source[:200]}" for place in _distinct(pages)),
    )


def _uncited(claim: Claim, page: CitedLines, asked: AskedSources) -> Finding:
    wanted = "names a page" if asked.pages else "asks for the official source"
    return Finding(
        code="asked_source_uncited",
        label="wrong_evidence",
        severity="soft",
        claim=claim.key,
        evidence=page.evidence.id,
        message=f"The task {wanted}, and this rests on others. Read the page that it asks for, and cite it.",
        detail=f"{page.evidence.id} {page.evidence.source[:200]}",
    )


def _distinct(pages: Sequence[CitedLines]) -> list[CitedLines]:
    return list({place.evidence.id: place for place in pages}.values())[:_LISTED]


def _why(pages: Sequence[CitedLines], own: Sequence[Group]) -> str:
    """Which pages are one, and why."""
    ids: dict[str, list[str]] = {}
    for place in _distinct(pages):
        ids.setdefault(place.evidence.text.sha256, []).append(place.evidence.id)
    if not own:
        return f"{', '.join(name for names in ids.values() for name in names)} did not hold the page"
    reasons = [f"{' and '.join(names)} are the same text" for names in ids.values() if len(names) > 1]
    reasons += [why for group in own if (why := _why_one(group, ids))]
    if not reasons:
        reasons.append(f"{pages[0].evidence.id} is of {own[0].key}, and no other is cited")
    return "; ".join(reasons)


def _why_one(group: Group, ids: Mapping[str, Sequence[str]]) -> str:
    """Why pages of a group are one source, '' where it has only one of them."""
    members = [sha256 for sha256 in group.sources if sha256 in ids]
    if len(members) < 2:
        return ""
    pair = " and ".join(ids[sha256][0] for sha256 in members)
    shared = {link.domain for link in group.links if {link.first, link.second} & set(members)}
    if shared == {""}:
        return f"{pair} are copies of each other"
    if "" in shared:
        return f"{pair} are of one site or copies of each other"
    return f"{pair} are both of {group.key}"
