"""The text of a report: the sentences of its sub-questions' answers, put together by a program.

No model writes here. A sentence is taken over with its citations where it was attested that its lines support
it, or that sources contradict each other about it. The sub-questions are headings beside the text, and what
stayed open is said in sentences of a fixed list, which keep the whole from being more than PARTIAL.
"""

from collections.abc import Sequence

import msgspec

from vera import events
from vera.attestation.build import claims_of
from vera.attestation.objects import Attestation, hexadecimal, parse
from vera.disclosure import CLOSEST, EXTRACTS
from vera.evidence.asked_pages import named_pages, page_key
from vera.evidence.claim import Claim
from vera.headline import HOLDS, Headline
from vera.session import load_text
from vera.state import RunState
from vera.store import Store

MAX_LENGTH = 300
"""Characters of a sub-question."""

OPEN_TITLE = "What stayed open"

CUT_SHORT = "This was cut short before it was answered."
NOT_CITED = "No page that this names is cited for it."
NOT_ASKED = "The task names this, and it was not asked here."
OPEN_SENTENCES = {
    "PARTIAL": "Only a part of the answer to this is supported by what was read.",
    "DISPUTED": "The sources contradict each other on this.",
    "REFUTED": "The sources say otherwise than the answer to this.",
    "UNRESOLVED": "Nothing that was read answers this.",
}
"""By the word of a sub-question. None has anything to check in it, so each is shown as unchecked."""

_BRACKETS = str.maketrans("[]【】", "()()")
_STANDS = ("SUPPORTED", "DISPUTED")


class Composed(msgspec.Struct, frozen=True, kw_only=True):
    """The text, its headings, and who gave the sentences: `model`, or `builtin` where no model did."""

    text: str
    headings: tuple[events.Heading, ...]
    by: str


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """What a report has of one sub-question: its sentences, in one block where they are extracts, and the
    sentence that says why it stayed open ('' where it did not)."""

    number: int
    question: str
    blocks: tuple[str, ...] = ()
    open_because: str = ""


def plain(text: str) -> str:
    """The question on one line, without control characters; brackets, which could be a citation or a link,
    are round."""
    shown = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(shown.translate(_BRACKETS).split()).lstrip("#>*`~|- ")


def compose(state: RunState, store: Store) -> Composed:
    """The report of the sub-questions that are done. Raises StoreError where a part of it is missing,
    ObjectError for what is no attestation."""
    asked = state.sub_questions.named if state.sub_questions else ()
    done = [state.sub_answers[number] for number in sorted(state.sub_answers)]
    pieces = [_piece(state, store, each, load_text(store, asked[each.number - 1])) for each in done]
    text, headings = laid_out(pieces)
    answers = [state.answers[each.answer_seq] for each in done if each.answer_seq in state.answers]
    return Composed(
        text=text,
        headings=headings,
        by="model" if any(each.by == "model" for each in answers) else "builtin",
    )


def laid_out(pieces: Sequence[Piece]) -> tuple[str, tuple[events.Heading, ...]]:
    """The text of the pieces and its headings: first what was answered, then what stayed open. Pure."""
    blocks: list[str] = []
    headings: list[events.Heading] = []
    at = 0

    def add(block: str) -> None:
        nonlocal at
        blocks.append(block)
        at += len(block) + 2

    for piece in pieces:
        if piece.blocks:
            headings.append(events.Heading(at=at, text=_title(piece)))
        for block in piece.blocks:
            add(block)
    left = [piece for piece in pieces if piece.open_because]
    if left:
        headings.append(events.Heading(at=at, text=OPEN_TITLE))
    for piece in left:
        headings.append(events.Heading(at=at, text=_title(piece), level=3))
        add(piece.open_because)
    return "\n\n".join(blocks), tuple(headings)


def part_word(state: RunState, store: Store, number: int, answer_seq: int, attested: Headline) -> Headline:
    """The word for a sub-question by what was `attested` of its answer: at most PARTIAL where it names pages
    and cites none of them. Raises StoreError."""
    asked, answer = state.sub_questions, state.answers.get(answer_seq)
    if attested not in HOLDS or asked is None or answer is None:
        return attested
    pages = named_pages(load_text(store, asked.questions[number - 1]))
    read = {each.id: each.source for each in state.evidence.values()}
    claims = claims_of(load_text(store, answer.text), state.evidence.values())
    cited = {page_key(read.get(cite.evidence, "")) for claim in claims for cite in claim.cites}
    return "PARTIAL" if pages and not pages & cited else attested


def _title(piece: Piece) -> str:
    question = plain(piece.question)
    cut = question if len(question) <= MAX_LENGTH else f"{question[: MAX_LENGTH - 1]}…"
    return f"{piece.number}. {cut}"


def _piece(state: RunState, store: Store, done: events.SubAnswer, question: str) -> Piece:
    open_because = ""
    if done.status not in HOLDS:
        nothing = done.unfinished and done.status == "UNRESOLVED"
        open_because = CUT_SHORT if nothing else OPEN_SENTENCES.get(done.status, CUT_SHORT)
        known = state.rounds.get(done.round)
        open_because = NOT_CITED if known is not None and known.word in HOLDS else open_because
        asked = state.sub_questions.questions if state.sub_questions else ()
        open_because = NOT_ASKED if done.number > len(asked) else open_because
    return Piece(
        number=done.number, question=question, blocks=_blocks(state, store, done), open_because=open_because
    )


def _blocks(state: RunState, store: Store, done: events.SubAnswer) -> tuple[str, ...]:
    """The sentences of an answer that stand, each a paragraph; extracts are one, under the line that calls
    them that."""
    known = state.rounds.get(done.round)
    answer = state.answers.get(done.answer_seq)
    if known is None or known.decision is None or answer is None:
        return ()
    text = load_text(store, answer.text)
    attestation = parse(store.get(hexadecimal(known.decision.attestation)), Attestation)
    stands = {each.claim for each in attestation.claims if each.result in _STANDS}
    read = [each for each in state.evidence.values() if each.seq < known.decision.seq]
    claims = [each for each in claims_of(text, read) if each.key in stands and each.load_bearing]
    return _paragraphs(claims, CLOSEST if CLOSEST in text else EXTRACTS)


def _paragraphs(claims: Sequence[Claim], label: str) -> tuple[str, ...]:
    """Each claim as a paragraph; extracts are one, under their `label`."""
    pointers = [each for each in claims if each.form == "extract"]
    said = tuple(_sentence(each) for each in claims if each.form != "extract")
    if not pointers:
        return said
    listed = [f"{rank}. {_sentence(each)}" for rank, each in enumerate(pointers, 1)]
    return ("\n".join([label, *listed]), *said)


def _sentence(claim: Claim) -> str:
    """What a claim says, with its citations behind it."""
    cites = [
        f"[{each.evidence}]" if each.first is None else f"[{each.evidence}:{each.first}-{each.last}]"
        for each in dict.fromkeys(claim.cites)
    ]
    return " ".join([claim.text, *cites])
