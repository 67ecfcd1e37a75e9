"""What came of one question: a finished session, read from its log and held against the key.

Of one run two answers are judged: the first one as it was given, which is what one has without a verifier,
and the one that the run ends with, which counts when its status says that it holds.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from vera import events
from vera.attestation.build import claims_of
from vera.bench.eval_data import DataError, ExpectedPlace, Question
from vera.bench.eval_match import lines_of, others, states
from vera.evidence.citation import find_citations
from vera.report.answer import Quote, quotes
from vera.session import LogError, Reader, load_text
from vera.state import RunState
from vera.store import Store, StoreError

BUILT_IN = "builtin"


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """An answer, held against the key. `given` is False when it states nothing; `sole` says that it holds no
    other value of the kind asked for, None where the key is no value."""

    given: bool
    right: bool
    sole: bool | None = None


class Cited(msgspec.Struct, frozen=True, kw_only=True):
    """How an answer cites. By the audit: of its `claims` that count for the verdict so many are `supported`,
    and of its `citations` so many are `supporting`. By the key: so many of the `places` that it names are
    `found`, and so many citations are `placed` at one."""

    claims: int = 0
    supported: int = 0
    citations: int = 0
    supporting: int = 0
    places: int = 0
    found: int = 0
    placed: int = 0


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a question. `first` is the first answer, `last` the one that the run ends with."""

    question: Question
    session: str
    status: str
    first: Given
    last: Given
    cited: Cited
    tokens: int
    seconds: float

    @property
    def answerable(self) -> bool:
        return self.question.answer is not None


def read_state(root: Path) -> RunState | None:
    """The log of a session as far as it has come, None where there is none. Raises DataError."""
    path = root / "trace.jsonl"
    if not path.is_file():
        return None
    try:
        return RunState(record for _, record in Reader(path).poll())
    except LogError as error:
        raise DataError(f"{root}: {error}") from None
    except OSError as error:
        raise DataError(f"{root} cannot be read: {error.strerror or error}.") from None


def outcome_of(question: Question, root: Path, state: RunState) -> Outcome:
    """The outcome of a session that has ended. Raises DataError when its store is damaged."""
    store = Store(root / "store")
    answers = sorted(state.answers.values(), key=lambda answer: answer.seq)
    first = answers[0] if answers else None
    last = state.answers[state.chosen.answer_seq] if state.chosen else (answers[-1] if answers else None)
    try:
        return Outcome(
            question=question,
            session=str(root),
            status=state.status,
            first=_given(question, first, state, store),
            last=_given(question, last, state, store),
            cited=_cited(question.evidence, last, state, store),
            tokens=state.spent.tokens,
            seconds=state.spent.seconds,
        )
    except (StoreError, UnicodeDecodeError) as error:
        raise DataError(f"{root}: {error}") from None


def _given(question: Question, answer: events.Answer | None, state: RunState, store: Store) -> Given:
    if question.claim:  # the thesis is the claim itself
        return Given(given=True, right=question.is_right)
    if answer is None:
        return Given(given=False, right=False)
    text = load_text(store, answer.text)
    bears_load = any(claim.load_bearing for claim in claims_of(text, state.evidence.values()))
    if not bears_load or question.answer is None:
        return Given(given=bears_load, right=False)
    said = _said(text, answer, state, store)
    right = states(said, question.answer)
    other = others(said, question.answer) if right else None
    return Given(given=True, right=right, sole=None if other is None else not other)


def _said(text: str, answer: events.Answer, state: RunState, store: Store) -> str:
    """The words of an answer without its citations; of one that only points, the lines it cites first."""
    if state.model_server is not None and state.model_server.kind == BUILT_IN:
        shown = quotes(answer, state.evidence, store)
        return "\n".join(shown[0].lines) if shown else ""
    parts, start = list[str](), 0
    for citation in find_citations(text):
        parts.append(text[start : citation.start])
        start = max(start, citation.end)
    return " ".join([*parts, text[start:]])


def _cited(
    places: Sequence[ExpectedPlace], answer: events.Answer | None, state: RunState, store: Store
) -> Cited:
    if answer is None:
        return Cited(places=len(places))
    cited = _cited_places(places, answer, state, store)
    verified = state.rounds.get(state.chosen.round) if state.chosen else None
    if verified is None:
        return cited
    decision = verified.decision
    supporting = {
        (label.evidence, label.first, label.last)
        for labels in verified.labels
        for label in labels.labels
        if label.relation == "SUPPORTS"
    }
    return msgspec.structs.replace(
        cited,
        claims=decision.claims if decision else 0,
        supported=decision.supported if decision else 0,
        supporting=sum((each.evidence, each.first, each.last) in supporting for each in answer.citations),
    )


def _cited_places(
    places: Sequence[ExpectedPlace], answer: events.Answer, state: RunState, store: Store
) -> Cited:
    """How an answer cites by the key alone."""
    shown = [quote for quote in quotes(answer, state.evidence, store) if not quote.problem]
    wanted = [_lines(place, state, store) for place in places]
    held = [
        [_overlaps(quote, place, lines) for place, lines in zip(places, wanted, strict=True)]
        for quote in shown
    ]
    return Cited(
        citations=len(answer.citations),
        places=len(places),
        found=sum(any(row[number] for row in held) for number in range(len(places))),
        placed=sum(any(row) for row in held),
    )


def _lines(place: ExpectedPlace, state: RunState, store: Store) -> range | None:
    """Where a place of the key lies in the text of its file, as the run read it."""
    for evidence in state.evidence.values():
        if evidence.source == place.file and not evidence.lead:
            return lines_of(place.quotation, store.get(evidence.text.sha256).decode())
    return None


def _overlaps(quote: Quote, place: ExpectedPlace, lines: range | None) -> bool:
    if quote.source != place.file or lines is None:
        return False
    return quote.first < lines.stop and lines.start <= quote.last
