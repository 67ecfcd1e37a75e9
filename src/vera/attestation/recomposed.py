"""A report's text, its headings and the words of its sub-questions, put together again by a replay.

The text is attested like any answer; the headings beside it and the words of the sub-questions are not. They
follow from the log and from what was attested of each sub-question, so they are held against that.
"""

from collections.abc import Iterator
from typing import Literal

from vera import events
from vera.attestation.composed import compose, part_word
from vera.attestation.integrity import Loaded, Round
from vera.attestation.objects import ObjectError, Policy
from vera.attestation.report import Remark, cut
from vera.headline import Headline, headline
from vera.session import load_text
from vera.state import RunState
from vera.store import Store, StoreError
from vera.usage import EXTRACTS, GUIDED, MAIN, answers_itself

WHERE = "sub-question"


def report_again(loaded: Loaded) -> Iterator[Remark]:
    """What a session says of its sub-questions otherwise than its log and its attestations; nothing for a
    session without sub-questions and headings."""
    kinds = (events.SubQuestions, events.SubAnswer)
    if not any(isinstance(each, kinds) or _headed(each) for each in loaded.records):
        return
    state, parts = RunState(()), dict[int, int]()
    rounds = {each.event.round: each for each in loaded.rounds}
    for record in loaded.records:
        if problem := _said_otherwise(loaded, state, record, parts, rounds):
            yield Remark(verdict="DIFFERS", where=f"trace.jsonl line {record.seq}", sentence=problem)
            return
        state.apply(record)
        if isinstance(record, events.VerifierStarted):
            parts[record.round] = state.part


def _headed(record: events.Record) -> bool:
    return isinstance(record, events.Answer) and bool(record.headings)


def _said_otherwise(
    loaded: Loaded, state: RunState, record: events.Record, parts: dict[int, int], rounds: dict[int, Round]
) -> str:
    """What a record says otherwise than the log before it, in a sentence; '' for nothing."""
    match record:
        case events.SubQuestions() if state.sub_questions is not None:
            return "The log has its sub-questions twice."
        case events.SubAnswer():
            return _said_of_part(loaded.store, state, record, parts, rounds)
        case events.Answer() if answers_itself(record.lane) or record.lane.startswith((EXTRACTS, GUIDED)):
            return _composed_again(loaded, state, record)
        case events.RunEnd() if state.chosen is not None and state.part:
            return f"An answer was chosen before sub-question {state.part} was done."
        case _:
            return ""


def _said_of_part(
    store: Store, state: RunState, said: events.SubAnswer, parts: dict[int, int], rounds: dict[int, Round]
) -> str:
    """What is wrong with the word for a sub-question, in a sentence; '' where nothing is."""
    asked = state.sub_questions
    name = f"{WHERE} {said.number}"
    if asked is None or not 0 < said.number <= len(asked.named):
        return f"There is no {name}."
    if state.part != (said.number if said.number <= len(asked.questions) else 0):
        return f"The {name} is done out of its turn."
    if not said.round:
        return "" if said.status == "UNRESOLVED" else f"The {name} is {cut(said.status, 40)}, by no round."
    known = rounds.get(said.round)
    if known is None or parts.get(said.round) != said.number or known.event.answer_seq != said.answer_seq:
        return f"The {name} is {cut(said.status, 40)} by a round that did not verify its answer."
    return _attested_otherwise(store, state, said, known)


def _attested_otherwise(store: Store, state: RunState, said: events.SubAnswer, known: Round) -> str:
    """How the word for a sub-question differs from what its round attested; '' where it does not."""
    if not (word := _word(known)):
        return ""
    name = f"{WHERE} {said.number}"
    try:
        attested = part_word(state, store, said.number, said.answer_seq, word)
    except (StoreError, ValueError) as error:
        return f"The {name} cannot be read: {cut(str(error))}."
    if attested != said.status:
        return f"The {name} is {cut(said.status, 40)}, and what was attested of its answer is {attested}."
    return ""


def _word(known: Round) -> Headline | Literal[""]:
    """The word for what a round attested; '' where it cannot be read, which level 0 says."""
    if known.opened is None or known.objects is None:
        return ""
    attested = known.opened.attestation
    policy = known.objects.get(attested.policy)
    return headline(attested.result, attested.reason, policy.rule) if isinstance(policy, Policy) else ""


def _composed_again(loaded: Loaded, state: RunState, answer: events.Answer) -> str:
    """What is wrong with an answer as the text of a report, in a sentence; '' where nothing is."""
    if state.sub_questions is None or state.part:
        if answer.headings:
            return "An answer has headings, and it is no report."
        whole = state.sub_questions is not None and answer.lane == MAIN
        return f"The report was put together before sub-question {state.part} was done." if whole else ""
    try:
        made = compose(state, loaded.store)
        same = load_text(loaded.store, answer.text) == made.text
    except (StoreError, ObjectError, ValueError) as error:
        return f"The report cannot be put together again: {cut(str(error))}."
    if not same:
        return "The text of the report is not that of its sub-questions' answers."
    return "" if answer.headings == made.headings else "The headings of the report are not its sub-questions."
