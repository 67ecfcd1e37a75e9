"""The answer as a person reads it: the text, then each cited place with its bytes cut from the store."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import chain, islice, pairwise

import msgspec

from vera.attestation.build import claims_of
from vera.attestation.objects import Attestation, Card, ClaimResult, Findings, hexadecimal, parse
from vera.audit.pointers import lead_of
from vera.events import Answer, AttestationReceived, Cited, ClaimCarried, Evidence, ExecutionVerdict
from vera.evidence.citation import Citation, find_citations
from vera.evidence.finding import Finding
from vera.extraction.marks import told, within
from vera.extraction.source import is_read_by_ocr
from vera.report import last_turn, search_summary_text
from vera.report.headings import Headed
from vera.report.markdown_text import literal
from vera.report.printable import one_printable_line, printable
from vera.report.search_summary import Checked, checked
from vera.report.timestamps import utc
from vera.session import load_text
from vera.state import RunState
from vera.store import Store, StoreError
from vera.text.span import Lines

MARKS = ("supported", "disputed", "unresolved", "unchecked", "dropped")
FALSE_QUOTATIONS = ("quotation_false", "quotation_uncited")
CLAIM_SHOWN = 200
LIMITS_TITLE = "## What this cannot rule out"

_MARK_TYPED = re.compile(rf"[(（]\s{{0,8}}(?:{'|'.join(MARKS)})\s{{0,8}}[)）]", re.IGNORECASE)
_BOLD = re.compile(r"\S(?:.*\S)?")
_FENCES = ("```", "~~~")
_FENCE = re.compile(r"^[ \t]{0,16}(`{3,20}|~{3,20})([^\n]*)$", re.MULTILINE)
_LINE_BREAK = "\n\n"
_TAG = re.compile(r"<(?=[a-zA-Z/!?])(?!https?://)|&(?=#[0-9xX]|[a-zA-Z]{2,32}[0-9]{0,2};)")
"""What Markdown may take for HTML. A comment that is never closed would hide the verdict below it, and an
entity shows another character than the one that was checked."""

MAX_QUOTED_LINES = 24
"""Of a longer place the cited lines are printed, and of what is around them the beginning and the end."""


class Quote(msgspec.Struct, frozen=True, kw_only=True):
    """One cited place: its lines as they are in the store, or why they cannot be shown.

    `at` is when the bytes were taken (UTC), `sha256` that of the cited bytes, `text_sha256` names the stored
    text in which they are the lines `first` to `last`. `cited` are the lines that the answer names in it,
    before they were made whole sentences.
    """

    evidence: str
    first: int
    last: int
    source: str = ""
    tier: str = ""
    page: int | None = None
    at: str = ""
    lines: tuple[str, ...] = ()
    sha256: str = ""
    text_sha256: str = ""
    problem: str = ""
    origin: str = ""
    by_ocr: bool = False
    cited: tuple[tuple[int, int], ...] = ()

    @property
    def label(self) -> str:
        """The citation as the answer writes it."""
        if not self.first:
            return f"[{self.evidence}]"
        return f"[{self.evidence}:{self.first}{f'-{self.last}' if self.last > self.first else ''}]"


class MarkedClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim of the answer with its mark: supported, disputed, unresolved, unchecked, or dropped.

    `unchecked` means that no one looked (a round that a hard finding elsewhere ended), not that it is wrong;
    `dropped` that its quotation is in no source, so it is struck out. `findings` are the audit's
    sentences, `cited` the ids of its evidence. `lead` has the words of its lines that an extract begins with.
    """

    key: str
    text: str
    start: int
    end: int
    mark: str
    findings: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()
    lead: str = ""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What a run has to show. `text` carries the marks of the claims when there is a verdict, and `limits` is
    then what the evidence cannot rule out (the attestation's hyperthesis), a sentence or two each. `checked`
    is None for a run whose answer holds; `last_turn` is what the model wrote last, when that was no answer;
    `attestations` are those that an execution asked for, a line each. `by` is who answered: `model`,
    `builtin`, '' for no answer; where the built-in model answered in place of another, `noted` is what that
    one left. `mode` says who acted and why, '' for a model that took turns as ever."""

    text: str
    status: str
    quotes: tuple[Quote, ...] = ()
    claims: tuple[MarkedClaim, ...] = ()
    attestation: str = ""
    figures: str = ""
    limits: tuple[str, ...] = ()
    checked: Checked | None = None
    last_turn: str = ""
    attestations: tuple[str, ...] = ()
    by: str = ""
    noted: str = ""
    mode: str = ""


def quotes(answer: Answer, evidence: Mapping[str, Evidence], store: Store) -> list[Quote]:
    """What each citation of the answer points at, read from the store and verified against its hash."""
    named = _named_lines(answer, store)
    return [_quote(each, evidence.get(each.evidence), store, named) for each in answer.citations]


def _named_lines(answer: Answer, store: Store) -> list[Citation]:
    """The citations that name lines, as the answer writes them."""
    try:
        text = load_text(store, answer.text)
    except StoreError:
        return []
    return [each for each in find_citations(text) if each.first is not None]


def _quote(cited: Cited, evidence: Evidence | None, store: Store, named: Iterable[Citation]) -> Quote:
    if cited.problem or evidence is None:
        problem = cited.problem or "there is no such evidence"
        return Quote(evidence=cited.evidence, first=cited.first, last=cited.last, problem=problem)
    try:
        lines = Lines(store.get(evidence.text.sha256))
        span = lines.span(evidence.text.sha256, cited.first, cited.last)
        problem = "" if span.sha256 == cited.sha256 else "the stored bytes are not those that were cited"
        marks = within(evidence.marks, span.start, span.end)
        cut = told(lines.cut(cited.first, cited.last), marks).decode("utf-8", "replace")
    except (StoreError, IndexError) as error:
        return Quote(evidence=cited.evidence, first=cited.first, last=cited.last, problem=str(error))
    return Quote(
        evidence=cited.evidence,
        first=cited.first,
        last=cited.last,
        source=evidence.source,
        tier=evidence.tier,
        page=sum(1 for first in evidence.pages if first <= cited.first) or None,
        at=utc(evidence.captured_ts).strftime("%Y-%m-%d %H:%M:%SZ"),
        lines=() if problem else tuple(cut.split("\n")),
        sha256=cited.sha256,
        text_sha256=evidence.text.sha256,
        problem=problem,
        origin=evidence.origin,
        by_ocr=is_read_by_ocr(evidence.extractor),
        cited=tuple(_within(cited, named)),
    )


def _within(place: Cited, named: Iterable[Citation]) -> Iterator[tuple[int, int]]:
    """The lines of a place that citations name, each pair once."""
    pairs = dict.fromkeys(
        (each.first or 0, each.last or each.first or 0) for each in named if each.evidence == place.evidence
    )
    return (pair for pair in pairs if place.first <= pair[0] <= pair[1] <= place.last)


def build(state: RunState, store: Store, without_answer: str) -> Report:
    """What a run has to show: the chosen answer, else the last one, else the text `without_answer`.

    Raises StoreError when a part of it is missing or altered in the store.
    """
    lane = state.lane("main")
    chosen = state.chosen
    answer = state.answers[chosen.answer_seq] if chosen else state.answer
    mode = state.mode.reason if state.mode else ""
    status = f"{state.status}: {lane.status_reason}" if lane.status_reason else state.status
    found = checked(state)
    if answer is None:
        concluded = search_summary_text.conclusion(found) if found else ""
        return Report(
            text=f"{concluded}\n\n{without_answer}" if concluded else without_answer,
            status=status,
            checked=found,
            last_turn=last_turn.last_turn(lane, lambda text: load_text(store, text)),
            mode=mode,
        )
    begun = Report(text="", status=status, checked=found, by=answer.by, mode=mode)
    shown = _answered(state, store, answer, begun)
    if answer != state.extracts:
        return shown
    return msgspec.structs.replace(
        shown,
        noted=without_answer,
        last_turn=last_turn.last_turn(lane, lambda text: load_text(store, text)),
    )


def _answered(state: RunState, store: Store, answer: Answer, report: Report) -> Report:
    """The report with the answer, its quotes, and its marks when there is a verdict."""
    chosen = state.chosen
    report = msgspec.structs.replace(
        report,
        text=load_text(store, answer.text),
        quotes=tuple(quotes(answer, state.evidence, store)),
    )
    if (executed := state.execution) is not None and executed.answer_seq == answer.seq:
        return _executed(state, executed, report)
    if chosen is None:
        return msgspec.structs.replace(report, text=Headed(report.text, answer.headings).text)
    decision = state.rounds[chosen.round].decision
    assert decision is not None
    known = [each for each in state.evidence.values() if each.seq < decision.seq]
    attestation = parse(store.get(hexadecimal(decision.attestation)), Attestation)
    claims = _marked(report.text, known, attestation, store)
    headed = Headed(report.text, answer.headings)
    placed = [
        msgspec.structs.replace(each, start=headed.place(each.start), end=headed.place(each.end - 1) + 1)
        for each in claims
    ]
    return msgspec.structs.replace(
        report,
        text=_with_marks(headed.text, placed),
        claims=tuple(claims),
        attestation=decision.attestation,
        figures=_figures(claims),
        limits=tuple(f"{each.blind_spot} {each.bound}" for each in attestation.hyperthesis),
    )


def _executed(state: RunState, verdict: ExecutionVerdict, report: Report) -> Report:
    """What an execution has to show: its claims by what carries them, and the attestations it asked for."""
    claims = tuple(
        MarkedClaim(
            key=each.claim,
            text=report.text[each.start : each.end],
            start=each.start,
            end=each.end,
            mark="supported" if each.by else "disputed" if each.against else _open(each),
            findings=(each.reason,) if each.reason else (),
        )
        for each in verdict.claims
    )
    return msgspec.structs.replace(
        report,
        text=_with_marks(report.text, claims),
        claims=claims,
        figures=_figures(claims),
        attestations=tuple(_attestation_line(each) for each in state.attestations.values()),
    )


def _open(claim: ClaimCarried) -> str:
    return "unresolved" if claim.load_bearing else "unchecked"


def _attestation_line(received: AttestationReceived) -> str:
    reason = f" ({received.reason})" if received.reason else ""
    until = f", until {received.expires_at}" if received.expires_at else ""
    return (
        f"[{received.handle}] {received.result}{reason}{until}: {len(received.cards)} cards, "
        f"{received.attestation}, looked up in {received.session}"
    )


def _marked(
    text: str, evidence: Iterable[Evidence], attestation: Attestation, store: Store
) -> list[MarkedClaim]:
    """The claims of the answer as the attestation has them."""
    findings = parse(store.get(hexadecimal(attestation.findings)), Findings).findings
    labelled = {parse(store.get(hexadecimal(card)), Card).claim for card in attestation.cards}
    results = {each.claim: each for each in attestation.claims}
    found: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        found[finding.claim].append(finding)
    marked = []
    for claim in claims_of(text, evidence):
        of_it = found[claim.key]
        marked.append(
            MarkedClaim(
                key=claim.key,
                text=claim.text,
                start=claim.start,
                end=claim.end,
                mark=_mark(results.get(claim.key), of_it, claim.key in labelled),
                findings=tuple(finding.message for finding in of_it),
                cited=tuple(cite.evidence for cite in claim.cites),
                lead=lead_of(claim.text) if claim.form == "extract" else "",
            )
        )
    return marked


def _mark(result: ClaimResult | None, findings: Sequence[Finding], labelled: bool) -> str:
    if any(finding.code in FALSE_QUOTATIONS for finding in findings):
        return "dropped"
    if result is None:
        return "unchecked"
    match result.result:
        case "SUPPORTED":
            return "supported"
        case "DISPUTED":
            return "disputed"
        case _:
            hard = any(finding.severity == "hard" for finding in findings)
            return "unresolved" if labelled or hard else "unchecked"


def _with_marks(text: str, claims: Sequence[MarkedClaim]) -> str:
    """The answer with each claim's mark behind it. A false quotation is struck out, never repeated as one.

    A mark that the model typed itself gets other brackets.
    """
    text = _without_typed_marks(text)
    parts, at = [], 0
    for claim in claims:
        said = text[claim.start : claim.end].rstrip()
        at_end = claim.start + len(said)
        if said.startswith("|") and said.endswith("|"):  # what stands behind the last cell is not shown
            said = said[:-1].rstrip()
            parts += [text[at : claim.start], f"{said} ({claim.mark}) |"]
        else:
            said = _closed(said)
            parts += [text[at : claim.start], f"~~{said}~~" if claim.mark == "dropped" else said]
            parts.append(f"{_LINE_BREAK if said.endswith(_FENCES) else ' '}({claim.mark})")
        at = at_end
    return "".join([*parts, text[at:]])


def _without_typed_marks(text: str) -> str:
    return _MARK_TYPED.sub(lambda found: f"[{found[0][1:-1]}]", text)


def _figures(claims: Sequence[MarkedClaim]) -> str:
    """How many claims have each mark; a mark that none has is left out."""
    counts = Counter(claim.mark for claim in claims)
    parts = [f"claims {len(claims)}", *(f"{mark} {counts[mark]}" for mark in MARKS if counts[mark])]
    return ", ".join(parts) if claims else ""


def markdown(task: str, shown: Report) -> str:
    """answer.md: question, answer with marks, findings on its claims, cited bytes, what was checked, and
    a line of figures."""
    return "\n\n".join([*head(task, shown), *below_answer(shown, shown.quotes)]) + "\n"


def head(task: str, shown: Report) -> list[str]:
    """The first parts of answer.md: the question, the answer, and what an answer in its place left."""
    parts = [f"# {task.strip()}", _closed(shown.text.strip()), *filter(None, [_closed(shown.noted)])]
    return [*map(_inert, parts)]


def below_answer(shown: Report, listed: Sequence[Quote]) -> list[str]:
    """The other parts of answer.md, with the cited places `listed`."""
    kept = last_turn.markdown(_without_typed_marks(shown.last_turn)) if shown.last_turn else []
    parts = []
    if noted := [claim for claim in shown.claims if claim.findings]:
        parts.append("## Findings")
        parts += [_finding_block(claim) for claim in noted]
    parts += _bullets("## Attestations", shown.attestations)
    if listed:
        parts.append("## Cited")
        parts += [block(_named(_with_lead(quote, shown.claims))) for quote in listed]
    if shown.checked:
        parts.append(_without_typed_marks(search_summary_text.markdown(shown.checked)))
    parts += _bullets(LIMITS_TITLE, shown.limits)
    parts += ["---", *filter(None, [mode_line(shown)]), closing_line(shown)]
    return [*kept, *map(_inert, parts)]


def _bullets(title: str, lines: Sequence[str]) -> list[str]:
    """The lines as a list under a title; nothing without lines."""
    return [title, "\n".join(f"- {line}" for line in lines)] if lines else []


def _inert(text: str) -> str:
    """The text without what a viewer of Markdown would not show as it stands."""
    return _TAG.sub(lambda found: escape(found[0]), printable(text))


def _closed(text: str) -> str:
    """The text with its last block of code closed, so that what follows is not code."""
    fence = ""
    for found in _FENCE.finditer(text):
        if not fence:
            fence = found[1]
        elif found[1].startswith(fence) and not found[2].strip():
            fence = ""
    return f"{text}\n{fence}" if fence else text


def plain(shown: Report) -> str:
    """The answer for a terminal: the text, what was found, each cited place, in short what was checked."""
    parts = [shown.text.strip(), *filter(None, [shown.noted])]
    parts += [_finding_block(claim) for claim in shown.claims if claim.findings]
    parts += shown.attestations
    parts += [block(quote) for quote in shown.quotes]
    if shown.last_turn:
        parts.append(last_turn.IN_SHORT)
    if shown.checked and (lines := search_summary_text.plain(shown.checked)):
        parts.append(_without_typed_marks(lines))
    return "\n\n".join([*parts, *filter(None, [mode_line(shown)])]) + "\n"


def mode_line(shown: Report) -> str:
    """Who acted and why, '' for a model that took turns as ever."""
    return f"Mode: {shown.mode}." if shown.mode else ""


def closing_line(shown: Report) -> str:
    """The status of the run and its figures, in one line."""
    if shown.figures:
        return f"{shown.status} · {shown.figures}."
    good = sum(1 for quote in shown.quotes if not quote.problem)
    match good, len(shown.quotes):
        case _, 0:
            figures = "no citations"
        case 1, 1:
            figures = "its citation is in the store"
        case all_of_them, count if all_of_them == count:
            figures = f"all {count} citations are in the store"
        case some, count:
            figures = f"{some} of {count} citations are in the store"
    return f"{shown.status} · {figures}."


def _finding_block(claim: MarkedClaim) -> str:
    text = claim.text if len(claim.text) <= CLAIM_SHOWN else claim.text[:CLAIM_SHOWN] + "…"
    said = _without_typed_marks(text)
    return "\n".join([f"{claim.mark}: {said}", *(f"- {finding}" for finding in claim.findings)])


def _with_lead(quote: Quote, claims: Sequence[MarkedClaim]) -> Quote:
    """The place with the words bold, on each of their lines, that an extract of it begins with."""
    text = "\n".join(quote.lines)
    for claim in claims:
        if claim.lead and quote.evidence in claim.cited:
            words = r"\s+".join(map(re.escape, claim.lead.split()))
            text = re.sub(words, lambda found: _BOLD.sub(r"**\g<0>**", found[0]), text, count=1)
    return msgspec.structs.replace(quote, lines=tuple(text.split("\n")) if quote.lines else ())


def _named(quote: Quote) -> Quote:
    """The place under a name that is no Markdown. Its lines stay the bytes that they are."""
    return msgspec.structs.replace(quote, source=literal(quote.source), origin=literal(quote.origin))


def block(quote: Quote) -> str:
    """A cited place with its lines, or why it cannot be shown."""
    if quote.problem:
        return f"{quote.label} cannot be shown: {quote.problem.rstrip('.')}."
    count = quote.last - quote.first + 1
    where = f"line{'s' if count > 1 else ''} {quote.label[1:-1].split(':')[1]}"
    page = f", page {quote.page}" if quote.page else ""
    origin = f"from {quote.origin}, " if quote.origin else ""
    read = "read by OCR, " if quote.by_ocr else ""
    taken = f"{origin}{read}{quote.tier} {quote.at}, store/{quote.text_sha256[:12]}…"
    head = one_printable_line(f"{quote.label} {quote.source}, {where}{page} ({taken})")
    return "\n".join([head, *(f"> {line}".rstrip() for line in _shown(quote))])


def _shown(quote: Quote) -> list[str]:
    """The lines of a place; of a long one the cited lines before others, with what is left out counted."""
    count = len(quote.lines)
    if count <= MAX_QUOTED_LINES:
        return list(quote.lines)
    cited = {number - quote.first for first, last in quote.cited for number in range(first, last + 1)}
    wanted = dict.fromkeys([*_ends(sorted(cited)), *_ends(range(count))])
    kept = sorted([at for at in wanted if at < count][:MAX_QUOTED_LINES])
    shown: list[str] = []
    for before, at in pairwise([-1, *kept, count]):
        if at - before > 1:
            shown.append(f"[… {at - before - 1} lines …]")
        shown += quote.lines[at : at + 1]
    return shown


def _ends(numbers: Sequence[int]) -> list[int]:
    """The first and the last ones, from the ends inwards."""
    both = chain.from_iterable(zip(numbers, reversed(numbers), strict=True))
    return list(islice(dict.fromkeys(both), MAX_QUOTED_LINES))
