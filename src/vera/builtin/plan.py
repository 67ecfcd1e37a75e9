"""What to do next, given only what the conversation shows: search twice, read the best places, answer."""

from collections.abc import Mapping, Sequence
from itertools import chain

import msgspec

from vera.builtin.acceptance import accepted
from vera.builtin.answer import answer_text
from vera.builtin.conversation import (
    Candidate,
    Conversation,
    Lead,
    candidates_note,
    leads_note,
)
from vera.builtin.documents import Match, match_names, names_of
from vera.builtin.phrases import phrase
from vera.builtin.question import Question, analyse
from vera.builtin.scoring import Window, grown, windows
from vera.builtin.term_weights import Lexis, weigh
from vera.protocol.turn import Action, Turn
from vera.sanitize import printed_name

HITS = 12
MAX_READS = 4
MAX_READS_UNSURE = 6
"""Reads while no lines surely answer."""
MAX_STEPS = 12
MAX_UNEXPLAINED = 2
"""Steps that left no trace in the conversation (refused by a gate, answered in an unknown form)."""
LEADS_NOTED = 6
CANDIDATES_NOTED = 3
MAX_CITATIONS = 3
READ_LINES = 100
READ_BYTES = 5000
"""A read shows about this much, so that an observation is not cut in its middle, where the hit stands."""

WORTH_READING = 0.7
"""A lead is read if its score is at least this share of the best lines found so far."""
ENGINE = 0.1
"""How much the search engine's own ranking counts."""
NAMED = 0.6
"""From this certainty on, the document that a question names is read in any case."""
ALSO_CITED = 0.9
"""A second or third citation needs at least this share of the best score."""
ENOUGH = 0.36
"""Lines with less than this share of the question's weight are not worth being shown."""
WEAK = 0.55
STRONG = 0.8
"""Below this share in the best lead a further search in other words is made: WEAK where the question names
nothing, else STRONG."""

NEAR = 0.05
"""What lines close in meaning without a word of the question count as a lead: they are read last."""

_SEARCHING = "Search the input files for the question's words."
_READING = "Read the place that fits the question best so far."
_ANSWERING = "Answer with the lines that fit the question best."


class Scored(msgspec.Struct, frozen=True):
    """The question, and the windows of each hit and of each read, by what the whole conversation shows."""

    question: Question
    lexis: Lexis
    names: Mapping[str, Match]
    hits: tuple[Sequence[Window], ...]
    reads: tuple[Sequence[Window], ...]


class Step(msgspec.Struct, frozen=True):
    """What is known before a decision; `coverage` is the best among the hits, and `sure` says that one of
    them surely answers."""

    conversation: Conversation
    question: Question
    lexis: Lexis
    names: Mapping[str, Match]
    leads: tuple[Lead, ...]
    found: tuple[Window, ...]
    coverage: float
    sure: bool
    instead: bool = False


def next_turn(conversation: Conversation, *, instead: bool = False) -> Turn:
    """The next turn of the extractive model, which answers `instead` of another one or on its own. Same
    conversation, same turn."""
    step = msgspec.structs.replace(_survey(conversation), instead=instead)
    note = _note(step)
    if not step.question.terms or not conversation.documents:
        return _final(step, (), note)
    exhausted = _is_exhausted(conversation)
    query = None if exhausted else _query(step)
    if query is not None:
        args = {"query": query, "limit": HITS}
        return Turn(thought=_SEARCHING, action=Action(tool="search", args=args), note=note)
    lead = None if exhausted else _unread(step)
    if lead is not None:
        first, last = _region(lead, conversation)
        args = {"path": printed_name(lead.path), "first": first, "last": last}
        return Turn(thought=_READING, action=Action(tool="read", args=args), note=note)
    return _final(step, _chosen(step), note)


def best_windows(conversation: Conversation) -> tuple[Window, ...]:
    """The lines read that answer enough of the question, as an answer would cite them, best first."""
    return tuple(_good(_survey(conversation)))


def _is_exhausted(conversation: Conversation) -> bool:
    explained = (
        conversation.searched
        + len(conversation.reads)
        + len(conversation.noted_reads)
        + len(conversation.unreadable)
        + conversation.refused
    )
    return conversation.steps >= min(MAX_STEPS, explained + MAX_UNEXPLAINED + 1)


def scored(conversation: Conversation) -> Scored:
    """The lines of all hits and reads, each scored by the question, before any counts as the answer."""
    question = analyse(conversation.question)
    excerpts = [*conversation.hits, *conversation.reads]
    lexis = weigh(question, excerpts)
    paths = dict.fromkeys(chain(conversation.files, (excerpt.path for excerpt in excerpts)))
    names = match_names(question, paths)
    found = [windows(question, lexis, each, names_of(names, each.path)) for each in excerpts]
    hits = len(conversation.hits)
    return Scored(question, lexis, names, tuple(found[:hits]), tuple(found[hits:]))


def _survey(conversation: Conversation) -> Step:
    seen = scored(conversation)
    told = accepted([*seen.hits, *seen.reads])
    leads, coverage, sure = _leads(conversation, told[: len(seen.hits)])
    found = _found(conversation, told[len(seen.hits) :])
    return Step(conversation, seen.question, seen.lexis, seen.names, leads, found, coverage, sure)


def _leads(
    conversation: Conversation, told: Sequence[Sequence[Window]]
) -> tuple[tuple[Lead, ...], float, bool]:
    """The places that searches found, best first, the best coverage among them, and whether one is sure.

    `told` has the windows of each hit.
    """
    best: dict[tuple[str, int], Lead] = {}
    surely: set[tuple[str, int]] = set()
    coverage = 0.0
    top = max((hit.score for hit in conversation.hits), default=1.0) or 1.0
    for hit, scored in zip(conversation.hits, told, strict=True):
        if not scored:
            if hit.near:
                near = Lead(hit.path, hit.first, hit.last, hit.total, NEAR * hit.score / top)
                best.setdefault((hit.path, hit.first), near)
            continue
        coverage = max(coverage, scored[0].coverage)
        score = scored[0].score * (1 - ENGINE + ENGINE * max(hit.score, 0.0) / top)
        lead = Lead(hit.path, hit.first, hit.last, hit.total, score)
        key = (hit.path, lead.first)
        if scored[0].sure:
            surely.add(key)
        if key not in best or best[key].score < score:
            best[key] = lead
    for lead in conversation.leads:
        best.setdefault((lead.path, lead.first), lead)
    ordered = sorted(
        best.values(),
        key=lambda lead: ((lead.path, lead.first) not in surely, -lead.score, lead.path, lead.first),
    )
    return tuple(ordered), coverage, bool(surely)


def _found(conversation: Conversation, told: Sequence[Sequence[Window]]) -> tuple[Window, ...]:
    """The best lines read so far, best first, no two of them over the same lines or with the same words.

    `told` has the windows of each read.
    """
    ranks = _ranks(conversation)
    every = [
        msgspec.structs.replace(
            window, score=window.score * (1 - ENGINE + ENGINE * ranks.get(read.path, 0.0))
        )
        for read, scored in zip(conversation.reads, told, strict=True)
        for window in scored[:40]
    ]
    visible = {read.evidence for read in conversation.reads}
    every += [
        Window(noted.path, noted.evidence, noted.first, noted.last, noted.score, 1.0, 0.0, "", noted.sure)
        for noted in conversation.candidates
        if noted.evidence not in visible
    ]
    every.sort(
        key=lambda window: (not window.sure, -window.score, window.path, window.first, window.evidence)
    )
    kept: list[Window] = []
    for window in every:
        if not any(_same(window, other) for other in kept):
            kept.append(window)
        if len(kept) == 2 * MAX_CITATIONS:
            break
    return tuple(kept)


def _ranks(conversation: Conversation) -> dict[str, float]:
    """The search engine's opinion of each file: its best hit's score as a share of the best of all."""
    best: dict[str, float] = {}
    for hit in conversation.hits:
        best[hit.path] = max(best.get(hit.path, 0.0), hit.score)
    top = max(best.values(), default=0.0)
    return {path: score / top for path, score in best.items()} if top > 0 else {}


def _same(one: Window, other: Window) -> bool:
    if one.path == other.path:
        return one.first <= other.last + 1 and other.first <= one.last + 1
    return bool(one.text) and one.text.split() == other.text.split()


def _query(step: Step) -> str | None:
    """The next search: the question's words, then other words for them, then its rarest words alone, then the
    names in it alone. The last two only while little was found."""
    done = step.conversation.searched
    queries = _queries(step.question, step.names)
    well_covered = step.coverage >= (STRONG if step.question.names else WEAK)
    if done >= len(queries) or (done >= 2 and (step.sure or well_covered)):
        return None
    return queries[done]


def _queries(question: Question, names: Mapping[str, Match]) -> list[str]:
    plain = [term.word.form for term in question.terms]
    main = [term.word.form for term in question.terms if term.weight >= 1.0]
    others = [word.form for term in question.terms for word in term.alternatives[:3]]
    answered = frozenset(chain.from_iterable(match.answered for match in names.values()))
    subject = [form for form in main if form not in answered]
    spelled = chain.from_iterable(question.names)
    wanted = (plain, [*(main or plain), *others], subject, spelled)
    return list(dict.fromkeys(query for forms in wanted if (query := " ".join(forms))))


def _unread(step: Step) -> Lead | None:
    """The best lead that no read covers yet and that is worth one of the few reads."""
    conversation = step.conversation
    done = _places_read(conversation)
    sure = bool(step.found) and step.found[0].sure
    most = (MAX_READS if sure else MAX_READS_UNSURE) + conversation.refused
    if len(done) + len(conversation.unreadable) >= most:
        return None
    best = step.found[0].score if sure else 0.0
    for lead in step.leads:
        seen = lead.path in conversation.unreadable or _is_seen(lead, conversation)
        if not seen and _is_worth_reading(lead, step, best):
            return lead
    return None


def _is_worth_reading(lead: Lead, step: Step, best: float) -> bool:
    """Whether a lead is nearly as good as the `best` lines found, or the first of a file that the question
    names. After a refusal every lead is."""
    if lead.score >= WORTH_READING * best or step.conversation.refused > 0:
        return True
    return _is_named(step, lead.path) and all(
        path != lead.path for path, _, _ in _places_read(step.conversation)
    )


def _places_read(conversation: Conversation) -> set[tuple[str, int, int]]:
    places = [(read.path, read.first, read.last) for read in conversation.reads]
    return {*places, *((noted.path, noted.first, noted.last) for noted in conversation.noted_reads)}


def _is_seen(lead: Lead, conversation: Conversation) -> bool:
    """Whether a read showed the lead. One that was cut in its middle may not have."""
    middle = (lead.first + lead.last) // 2
    if any(read.path == lead.path and middle in read.lines for read in conversation.reads):
        return True
    if (lead.path, lead.first, lead.last) in _places_read(conversation):
        return True
    return any(
        noted.path == lead.path and noted.first <= middle <= noted.last for noted in conversation.noted_reads
    )


def _is_named(step: Step, path: str) -> bool:
    """Whether the question means this document by its name."""
    match = names_of(step.names, path)
    return match.certain >= NAMED and match.fit >= 1.0


def _region(lead: Lead, conversation: Conversation) -> tuple[int, int]:
    """Lines around a lead, as many as fit into one observation; the lead alone where such a read was cut."""
    for read in conversation.reads:
        if read.path == lead.path and read.first <= lead.first and lead.last <= read.last:
            return lead.first, lead.last
    own = lead.last - lead.first + 1
    count = max(own, min(READ_LINES, int(READ_BYTES / _width(lead.path, conversation))))
    first = max(1, lead.first - (count - own) // 2)
    last = first + count - 1
    if last > lead.total:
        first, last = max(1, lead.total - count + 1), lead.total
    return min(first, lead.first), max(last, lead.last)


def _width(path: str, conversation: Conversation) -> float:
    """The bytes that a line of a file takes in an observation, judged by those that searches showed."""
    hits = (hit for hit in conversation.hits if hit.path == path)
    shown = [text for hit in hits for text in hit.lines.values()]
    return max(20.0, sum(len(text.encode()) for text in shown) / len(shown) + 8) if shown else 80.0


def _chosen(step: Step) -> tuple[Window, ...]:
    """The windows to cite: the best, and others that are as sure and nearly as good."""
    good = _good(step)
    if not good:
        return _near(step)
    return tuple(
        msgspec.structs.replace(window, phrase=_phrase(step, window))
        for window in good[:MAX_CITATIONS]
        if window.sure == good[0].sure and window.score >= ALSO_CITED * good[0].score
    )


def _near(step: Step) -> tuple[Window, ...]:
    """Where words fail: the lines that were read and that a search found closest in meaning. Never sure."""
    found: dict[tuple[str, int], Window] = {}
    for hit in sorted(step.conversation.hits, key=lambda hit: (-hit.score, hit.path, hit.first)):
        for read in step.conversation.reads:
            if hit.near and read.path == hit.path and {hit.first, hit.last} <= read.lines.keys():
                found.setdefault(
                    (hit.path, hit.first),
                    Window(hit.path, read.evidence, hit.first, hit.last, 0.0, 0.0, 0.0, "", False),
                )
    return tuple(found.values())[:MAX_CITATIONS]


def _phrase(step: Step, window: Window) -> str:
    """The phrase of the sure sentence that answers, '' where the lines as they are read do not have it."""
    found = phrase(step.question, window.text) if window.sure else ""
    read = next((read for read in step.conversation.reads if read.evidence == window.evidence), None)
    if read is None or set(found) & set("“”[]【】"):
        return ""
    lines = " ".join(read.lines.get(number, "") for number in range(window.first, window.last + 1))
    return found if found in " ".join(lines.split()) else ""


def _good(step: Step) -> list[Window]:
    """The windows that answer enough of the question, widened to what a citation may hold, best first."""
    reads = {read.evidence: read for read in step.conversation.reads}
    good: list[Window] = []
    for window in step.found:
        if window.coverage < ENOUGH and not window.sure:
            continue
        read = reads.get(window.evidence)
        wider = grown(window, read) if read is not None else window
        if not any(_same(wider, other) for other in good):
            good.append(wider)
    return good


def _note(step: Step) -> str | None:
    """What a later epoch will need of the observation that came last."""
    if step.conversation.reads:
        kept = [
            Candidate(window.evidence, window.first, window.last, window.score, window.path, window.sure)
            for window in _good(step)[:CANDIDATES_NOTED]
        ]
        return candidates_note(kept) if kept else None
    if step.conversation.searches:
        return leads_note(step.leads[:LEADS_NOTED])
    return None


def _final(step: Step, chosen: Sequence[Window], note: str | None) -> Turn:
    used = tuple(dict.fromkeys(window.evidence for window in chosen))
    said = step.conversation
    return Turn(
        thought=_ANSWERING,
        action=Action(final=answer_text(chosen, said.searches, said.documents, instead=step.instead)),
        note=note,
        evidence_used=used,
        status_update="UNRESOLVED",
    )
