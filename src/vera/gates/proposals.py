"""Which call a refusal proposes: one that the gates of the search would let through now."""

from collections.abc import Iterator

from vera.evidence.queries import family, query_stems, vector
from vera.gates.kernel import Proposal, Rules, State
from vera.gates.sources import needs_sources
from vera.history import WEB_SEARCHES
from vera.text.words import STOPWORDS

MAX_QUERY_LENGTH = 300
INTENTS = ("ground_truth", "context", "search")
"""What a search may be for, in the order in which they are proposed."""

_TURNS = {"ground_truth": "official announcement", "context": "rumor", "search": ""}
"""What is added to a query to give it an intent."""


def gather(state: State, rules: Rules) -> Proposal:
    """A call that brings evidence: a search that was not made yet, else a look at what there is."""
    return search(state, rules, rules.subject) or look()


def look() -> Proposal:
    """A call that no gate of the search refuses."""
    return Proposal(tool="read", args={"path": "/work/notes.md"})


def search(state: State, rules: Rules, query: str, *, tool: str = "") -> Proposal | None:
    """The first of the searches that may be made now, None when there is none."""
    return next(_searches(state, rules, query, tool), None)


def untried(state: State, rules: Rules) -> tuple[Proposal, ...]:
    """At most two searches for the subject that may be made now, with words that no query had yet."""
    known = list(state.lane.history.families)
    found: list[Proposal] = []
    for each in _searches(state, rules, rules.subject, ""):
        asked = family(str(next(iter(each.args.values()))), known)
        if asked not in known and len(found) < 2:
            found.append(each)
            known.append(asked)
    return tuple(found)


def _searches(state: State, rules: Rules, query: str, tool: str) -> Iterator[Proposal]:
    """Searches with words that differ materially from what brought nothing, and with an intent that may be
    used now. `tool` is the one to ask if it may be."""
    tool = _tool(state, rules, tool)
    if not tool:
        return
    intents = open_intents(state, rules) if tool in WEB_SEARCHES else ()
    for candidate in _candidates(query, rules.subject, intents):
        if intents and vector(candidate, "", official=False) not in intents:
            continue
        if not _was_tried(state, rules, tool, candidate):
            yield Proposal(tool=tool, args={"q" if tool.startswith("brave") else "query": candidate})


def _was_tried(state: State, rules: Rules, tool: str, candidate: str) -> bool:
    """Whether a query, or one hardly different, was asked as often as one may be that brings nothing."""
    past, limit = state.lane.history, rules.query_mutation_budget
    if not limit:
        return False
    if tool == "search" and _lies_in_what_failed(state, candidate, limit):
        return True
    return past.tried(family(candidate, past.families)) >= limit


def _lies_in_what_failed(state: State, candidate: str, limit: int) -> bool:
    """Whether all words of a query are in one that brought nothing: a search of the files finds any of its
    words, so a part of it finds no more."""
    asked = query_stems(candidate)
    past = state.lane.history
    return any(past.tried(known) >= limit and asked <= set(known.split()) for known in past.families)


def open_intents(state: State, rules: Rules) -> tuple[str, ...]:
    """The intents of which a negative claim needs one next; empty when it may search as it likes."""
    past = state.lane.history
    if not needs_sources(state, rules) or not past.vectors or len(past.vectors) >= rules.query_vector_min:
        return ()
    return tuple(intent for intent in INTENTS if intent not in past.vectors)


def searches_are_spent(state: State, rules: Rules) -> bool:
    """Whether the requests to engines that the run may make are spent."""
    return bool(rules.search_budget) and searches_made(state) >= rules.search_budget


def searches_made(state: State) -> int:
    """The requests that the engines of the web got in the whole run."""
    return sum(use.calls for use in state.engines.values())


def _tool(state: State, rules: Rules, first: str) -> str:
    """The search tool to propose: `first` where it may be used, else the web before the files."""
    web = () if searches_are_spent(state, rules) or _only_brave_and_spent(state, rules) else WEB_SEARCHES
    usable = [name for name in (*web, "search") if name in rules.tools]
    return first if first in usable else next(iter(usable), "")


def _only_brave_and_spent(state: State, rules: Rules) -> bool:
    """Whether no engine of the web can be asked any more. One that rests may answer later."""
    used = state.engines.get("brave")
    return rules.only_brave and bool(rules.brave_max_calls and used and used.calls >= rules.brave_max_calls)


def _candidates(query: str, subject: str, intents: tuple[str, ...]) -> Iterator[str]:
    """Other ways to ask: the task's own words, parts of the query, each with the intents asked for."""
    words = [word for each in query.split()[:40] if (word := each.strip(".,;:!?\"'()[]"))]
    words = [word for word in words if word.lower() not in STOPWORDS] or words
    half = len(words) // 2
    plain = [subject, " ".join(words[:half]), " ".join(words[half:]), *words[:3]]
    for text in (query, *plain) if intents else plain:
        for intent in intents or ("search",):
            if text.strip():
                yield f"{text} {_TURNS[intent]}".strip()[:MAX_QUERY_LENGTH]
