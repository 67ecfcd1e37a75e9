"""The hyperthesis: what the evidence of an attestation cannot rule out, named by mechanical rules.

Each detector is a pure function that looks at the objects and names at most one blind spot. One of them
always does, so the hyperthesis is never empty.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import get_args

from vera.attestation.coverage import is_web
from vera.attestation.exam import in_words
from vera.attestation.objects import (
    TEXT_LIMIT,
    Boundary,
    Card,
    Coverage,
    Digest,
    Findings,
    Hyperthesis,
    Policy,
    Scope,
    Source,
    bounded,
)
from vera.attestation.record import Asked
from vera.attestation.report import counted
from vera.events import Evidence
from vera.evidence.asked_pages import USUAL_SOURCES, asked_sources
from vera.evidence.domains import registrable_domain
from vera.extraction.source import is_read_by_ocr
from vera.headline import JUDGED

NAMED = 5
"""Of many names the first are told."""

MIN_PAGE_BYTES = 40
"""A PDF with less text a page than this was probably scanned."""


class Seen:
    """What an attestation rests on: its objects, the `evidence` of the session by id, by the sha256 of its
    text why one is `unreadable`, what was `asked` to be verified (None for nothing), and the `question`."""

    def __init__(
        self,
        *,
        policy: Policy,
        findings: Findings,
        coverage: Coverage,
        cards: Mapping[Digest, Card],
        sources: Mapping[Digest, Source],
        evidence: Mapping[str, Evidence],
        unreadable: Mapping[str, str],
        asked: Asked | None = None,
        question: str = "",
    ) -> None:
        self.policy = policy
        self.findings = findings
        self.coverage = coverage
        self.cards = cards
        self.sources = sources
        self.evidence = evidence
        self.unreadable = unreadable
        self.asked = asked
        self.question = question

    @cached_property
    def used(self) -> tuple[Source, ...]:
        """The sources that carry a card, in order of their ids."""
        ids = {card.source for card in self.cards.values() if card.relation != "IRRELEVANT"}
        return tuple(source for source_id, source in sorted(self.sources.items()) if source_id in ids)

    @cached_property
    def web(self) -> tuple[Source, ...]:
        """Those of them that are web pages."""
        return tuple(source for source in self.used if is_web(source))


Detector = Callable[[Seen], Hyperthesis | None]


def hyperthesis(seen: Seen) -> tuple[Hyperthesis, ...]:
    """What every detector names, in the order of DETECTORS; never empty."""
    return tuple(found for detect in DETECTORS if (found := detect(seen)) is not None)


def _reader(seen: Seen) -> Hyperthesis:
    if seen.policy.rule == "literal" and seen.asked is not None:
        return _named(
            "no_judge",
            "semantics",
            "No model judged what the cited lines mean: a rule compared their words with the thesis.",
            "The same words can mean something else where they stand, or be taken back further on.",
            "A supported claim has its words, numbers, names and negations in one sentence, in their order.",
        )
    if seen.policy.rule == "literal":
        return _named(
            "no_judge",
            "semantics",
            "No model judged whether the answer answers the question, or what the cited lines mean.",
            "Each statement can stand in its source and the question still be unanswered.",
            "Each supported claim has its numbers, names and content words in the cited lines, "
            "with the same polarity.",
        )
    examined = "; ".join(dict.fromkeys(map(in_words, seen.findings.exams)))
    if seen.policy.rule == "entailment":
        return _named(
            "one_judge",
            "model_limit",
            f"One small model compared the cited lines with each statement ({examined}).",
            "What it misreads, it misreads each time. No one judged whether the answer answers the question.",
            "The checks without a model outrank it, and whoever has its file can compute its labels again.",
        )
    return _named(
        "one_judge",
        "model_limit",
        f"One model read every span and gave every score{f' ({examined})' if examined else ''}.",
        "What this model misreads, it misreads for each claim alike. Its exam shows that it can judge, not "
        "that it is honest.",
        "The checks without a model outrank it, and its score can only lower a result.",
    )


def _consistency(seen: Seen) -> Hyperthesis | None:
    repeated = sum(1 for card in seen.cards.values() if card.confidence.votes > 1)
    if not repeated:
        return None
    return _named(
        "judge_consistency",
        "model_limit",
        f"The confidence of {counted(repeated, 'card')} is the agreement of repeated readings by one model.",
        "A model can agree with itself and be wrong.",
        "The lower bound of that agreement is given as consistency, not as a probability of truth.",
    )


def _probes(seen: Seen) -> Hyperthesis | None:
    found = seen.findings
    if not found.probes and not found.unprobed:
        return None
    told = (
        f"Of {counted(found.probes, 'claim')} with a known label, made from the cited lines, the judge "
        f"labelled {found.probes_right} rightly."
        if found.probes
        else "How the judge labels claims with a known label is not known."
    )
    return _named(
        "judge_probes",
        "model_limit",
        f"{told} {found.unprobed}".strip(),
        "They are few and easy: a judge can be right about them and misread a harder claim.",
        "Of a judge that gets the unaltered one or more than half of them wrong no label counts.",
    )


def _addressed_judge(seen: Seen) -> Hyperthesis | None:
    if seen.policy.rule not in JUDGED or not seen.web:
        return None
    return _named(
        "page_to_judge",
        "adversary",
        "The judge read text of web pages, which may have been written to sway it.",
        "Lines that look like evidence or like an order to the judge can turn a label.",
        "The judge has no tools, gets the text fenced as data, and returns words of a fixed list and line "
        "numbers only.",
    )


def _program_logic(seen: Seen) -> Hyperthesis | None:
    derived = [source.name for source in seen.used if source.tier == "derived"]
    if not derived:
        return None
    return _named(
        "program_logic",
        "semantics",
        f"What a command computes was not judged: {_names(derived)}.",
        "A program can print the same value twice and compute the wrong thing.",
        "A clean box with the same input printed the same lines again.",
    )


def _not_derived(seen: Seen) -> Hyperthesis | None:
    observed = [source.name for source in seen.sources.values() if source.tier == "observed"]
    if not observed:
        return None
    return _named(
        "not_derived",
        "tool_limit",
        f"The answer cites output of the sandbox that was not computed again: {_names(observed)}.",
        "The sandbox can print anything.",
        "It carries no card.",
    )


def _hidden_text(seen: Seen) -> Hyperthesis | None:
    formats = ("html/", "docx/", "xlsx/", "pptx/", "odt/", "rtf/", "epub/")
    pages = [source.name for source in seen.used if source.extractor.startswith(formats)]
    if not pages:
        return None
    return _named(
        "hidden_text",
        "tool_limit",
        f"Text that a document hides, shows in pictures or adds by a script was not read: {_names(pages)}.",
        "It may change what the visible lines mean.",
        "The raw bytes are kept, and the text can be made again from them.",
    )


def _no_text_layer(seen: Seen) -> Hyperthesis | None:
    scanned = [
        evidence.source
        for evidence in seen.evidence.values()
        if evidence.extractor.startswith("pdf/")
        and evidence.text.size < MIN_PAGE_BYTES * max(len(evidence.pages), 1)
    ]
    if not scanned:
        return None
    return _named(
        "no_text_layer",
        "tool_limit",
        f"A PDF has pages with hardly any text, probably pictures of pages: {_names(scanned)}.",
        "What stands on them was not read.",
        "Only text that is in the file carries a card.",
    )


def _read_by_ocr(seen: Seen) -> Hyperthesis | None:
    scans = [source.name for source in seen.used if is_read_by_ocr(source.extractor)]
    if not scans:
        return None
    return _named(
        "read_by_ocr",
        "tool_limit",
        f"The text was read by OCR from pictures: {_names(scans)}.",
        "Any letter or digit may be misread.",
        "Its numbers prove and refute nothing. The pictures are kept.",
    )


def _one_domain(seen: Seen) -> Hyperthesis | None:
    domains = {registrable_domain(source.name) for source in seen.web}
    if len(domains) != 1 or len(seen.web) != len(seen.used):
        return None
    return _named(
        "one_domain",
        "missing_data",
        f"All evidence comes from one publisher: {_names(domains)}.",
        "A mistake or an interest of this publisher is in all of it.",
        "Pages of one registrable domain count as one source.",
    )


def _asked_page(seen: Seen) -> Hyperthesis | None:
    if seen.asked is not None or seen.policy.web_sources > USUAL_SOURCES:
        return None
    asked = asked_sources(seen.question, seen.policy.audit_policy.official_domains)
    pages = [source.name for source in seen.web if asked.has(source.name)]
    if not pages:
        return None
    wanted = "names a page" if asked.pages else "asks for the official source, which a person listed"
    return _named(
        "asked_page",
        "frame_lock",
        f"The question {wanted}, and that alone sufficed: {_names(pages)}.",
        "No second publisher had to say the same.",
        "A statement that rests on other pages needs independent ones.",
    )


def _pages_change(seen: Seen) -> Hyperthesis | None:
    if not seen.web:
        return None
    return _named(
        "pages_change",
        "time",
        f"{counted(len(seen.web), 'web page')} were read as they stood when they were fetched.",
        "They may say something else now, or to another reader.",
        "The bytes and the receipt of each fetch are kept.",
    )


def _files_as_given(seen: Seen) -> Hyperthesis | None:
    files = [source.name for source in seen.used if source.tier == "captured" and not is_web(source)]
    if not files:
        return None
    return _named(
        "files_as_given",
        "frame_lock",
        f"Files were taken as they were given: {_names(files)}.",
        "A file can itself be wrong, altered or out of date.",
        "The bytes that were read are kept under their hash.",
    )


def _not_read(seen: Seen) -> Hyperthesis | None:
    everything = seen.evidence.values()
    refused = [each.source for each in everything if each.http_status and not 200 <= each.http_status < 300]
    unreadable = [each.source for each in everything if each.text.sha256 in seen.unreadable]
    if not refused and not unreadable:
        return None
    return _named(
        "not_read",
        "permission" if refused else "missing_data",
        f"Sources could not be read: {_names([*refused, *unreadable])}.",
        "They may hold what supports or contradicts a claim.",
        "They carry no card.",
    )


def _unknown_checks(seen: Seen) -> Hyperthesis | None:
    unknown = [check.question for check in seen.findings.checks if check.answer == "unknown"]
    if not unknown:
        return None
    return _named(
        "unknown_checks",
        "missing_data",
        f"{counted(len(unknown), 'question')} of the verifier found no answer: {_names(unknown)}",
        "An answer could have shown a claim to be wrong.",
        "An open question of a claim that must hold keeps the score at 2 of 4 or less.",
    )


def _cut_short(seen: Seen) -> Hyperthesis | None:
    limits = (*seen.findings.limits, *(unread.why for unread in seen.findings.unread if seen.asked))
    if not limits:
        return None
    return _named(
        "cut_short",
        "cost",
        f"Parts of the verification gave nothing: {_names(limits)}",
        "What was not read may contradict a claim.",
        "A claim without a card is not supported.",
    )


def _copies(seen: Seen) -> Hyperthesis | None:
    shared = [cluster.key for cluster in seen.coverage.clusters if len(cluster.sources) > 1]
    if not shared:
        return None
    return _named(
        "copies",
        "missing_data",
        f"Several sources are one, by copying or by publisher, in {counted(len(shared), 'cluster')}.",
        "Their agreement is no confirmation; copies that were reworded are not noticed.",
        "Sources of one cluster count once.",
    )


def _weak_sandbox(seen: Seen) -> Hyperthesis | None:
    words = seen.policy.sandbox.lower().replace(",", " ").split()
    weak = [word for word in ("host", "privileged") if word in words]
    if not weak:
        return None
    return _named(
        "weak_sandbox",
        "adversary",
        f"Commands ran with little or no isolation: {seen.policy.sandbox}.",
        "What they did could reach beyond the sandbox, and so the files that were read.",
        "Every file that was read is kept by its hash.",
    )


def _leads(seen: Seen) -> Hyperthesis | None:
    if not seen.coverage.searches:
        return None
    return _named(
        "hits_not_read",
        "cost",
        f"{counted(seen.coverage.searches, 'search', 'searches')} gave hits of which not all were read.",
        "An unread hit may contradict a claim.",
        "Only lines that were read carry a card.",
    )


def _scope(seen: Seen) -> Hyperthesis | None:
    if not seen.policy.scope or seen.asked is not None:
        return None
    return _named(
        "scope",
        "frame_lock",
        f"Nothing was looked at outside of: {_names(seen.policy.scope)}.",
        "What decides the question may lie elsewhere.",
        "The verdict holds within this scope.",
    )


def _scope_left_out(seen: Seen) -> Hyperthesis | None:
    """Places that the request did not name."""
    left = [name for name in get_args(Scope) if seen.asked and name not in seen.asked.request.scope]
    if not left:
        return None
    return _named(
        "scope_left_out",
        "frame_lock",
        f"The request leaves these places out, and nothing was looked for there: {', '.join(left)}.",
        "What supports or contradicts the thesis may lie there.",
        "The verdict holds for the scope of the request.",
    )


def _closed_domains(seen: Seen) -> Hyperthesis | None:
    if seen.asked is None:
        return None
    constraints = seen.asked.request.constraints
    named = [
        *((f"only {_names(constraints.allow_domains)}",) if constraints.allow_domains else ()),
        *((f"not {_names(constraints.deny_domains)}",) if constraints.deny_domains else ()),
        *((f"only of type {_names(constraints.source_types)}",) if constraints.source_types else ()),
    ]
    if not named:
        return None
    return _named(
        "closed_sources",
        "permission",
        f"By the constraints of the request only some sources may count: {'; '.join(named)}.",
        "Whoever chooses the sources can choose the verdict: another one may say the opposite.",
        "The constraints are part of the request, which the attestation names.",
    )


def _time_bound(seen: Seen) -> Hyperthesis | None:
    if seen.asked is None:
        return None
    first, last = seen.asked.request.constraints.not_before, seen.asked.request.constraints.not_after
    if not first and not last:
        return None
    window = f"{f' from {first}' if first else ''}{f' to {last}' if last else ''}"
    return _named(
        "time_bound",
        "time",
        f"By the request only pages that were published{window} may count.",
        "What was published at another time may correct them.",
        "A page with a date outside carries no claim; one that shows no date is named by an omission.",
    )


_CHANGES = {"slow": "slowly", "fast": "within days", "live": "at any moment"}


def _may_change(seen: Seen) -> Hyperthesis | None:
    if seen.asked is None or seen.asked.request.volatility == "static":
        return None
    return _named(
        "may_change",
        "time",
        f"What the thesis speaks of may change; by the request, {_CHANGES[seen.asked.request.volatility]}.",
        "What the sources say may have ended since.",
        "The attestation says when it expires.",
    )


def _budget_cap(seen: Seen) -> Hyperthesis | None:
    cut = seen.coverage.cut
    if seen.asked is None or not cut:
        return None
    cap = getattr(seen.asked.budget, cut, None)
    amount = f" ({cap:.16g})" if cap is not None else ""
    return _named(
        "budget_cap",
        "cost",
        f"The look-up ended at its budget of {cut}{amount}, before it had covered what it set out to.",
        "What was not read may support or contradict the thesis.",
        "A claim that has not enough sources by then is left open, not called unsupported.",
    )


def _novelty(seen: Seen) -> Hyperthesis | None:
    families, new = seen.coverage.families, seen.coverage.novelty_bp
    if seen.asked is None or not families or not new:
        return None
    return _named(
        "still_new",
        "missing_data",
        f"After {counted(families, 'query family', 'query families')}, about {(new + 50) // 100} of 100 "
        "results of a further query would be new sources.",
        "One of them may contradict the thesis.",
        "The figure is an estimate (Good–Turing) from the queries that were asked; of sources that no query "
        "finds it says nothing.",
    )


DETECTORS: tuple[Detector, ...] = (
    _reader,
    _consistency,
    _probes,
    _addressed_judge,
    _program_logic,
    _not_derived,
    _hidden_text,
    _no_text_layer,
    _read_by_ocr,
    _one_domain,
    _asked_page,
    _pages_change,
    _files_as_given,
    _not_read,
    _unknown_checks,
    _cut_short,
    _copies,
    _weak_sandbox,
    _leads,
    _scope,
    _scope_left_out,
    _closed_domains,
    _time_bound,
    _may_change,
    _budget_cap,
    _novelty,
)


def _named(detector: str, boundary: Boundary, blind_spot: str, risk: str, bound: str) -> Hyperthesis:
    return Hyperthesis(
        blind_spot=bounded(blind_spot, TEXT_LIMIT),
        boundary=boundary,
        risk=risk,
        bound=bound,
        detector=detector,
    )


def _names(names: Iterable[str]) -> str:
    """The first of the names, in order, each once, and how many more there are."""
    distinct = sorted(set(names))
    shown = "; ".join(" ".join(name.split())[:200] for name in distinct[:NAMED])
    return shown + (f"; and {len(distinct) - NAMED} more" if len(distinct) > NAMED else "")
