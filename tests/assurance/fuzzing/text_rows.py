"""Text: every function that reads a whole text of somebody else takes time that is linear in its length.

What is slow for a reader is a piece that comes again and again, so texts are mostly that: something, a unit
repeated, something.
"""

import itertools
from collections.abc import Callable, Iterable

from assurance.batteries import Trial
from assurance.fuzzing import mutate
from assurance.fuzzing.document_seeds import MARKDOWN, TEXT
from assurance.fuzzing.mutate import BRACKETS, MARKS, SCRIPTS, Draw
from assurance.fuzzing.row import Row
from support.audits import case_of, evidence_of, page_of
from vera.audit.claims import readable, split
from vera.audit.compound import first_clause
from vera.audit.containment_terms import tokens
from vera.audit.negative import asks_complete_set, items, says_complete_set
from vera.audit.registry import audit
from vera.audit.versions import stated
from vera.builtin.question import analyse, frame_words, identifiers_in
from vera.corpus.chunks import cut
from vera.corpus.passages import pieces
from vera.corpus.tokens import spaced
from vera.corpus.tokens import words as indexed_words
from vera.document_check.bibtex import entries
from vera.document_check.document import read as read_document
from vera.document_check.html import marked
from vera.document_check.links import without_marks
from vera.document_check.references import of_bibtex
from vera.evidence.citation import find_citations, without_citations
from vera.evidence.prompt_quoting import visible
from vera.evidence.superseding import clause_numbers, statements
from vera.extraction.marks import lifted
from vera.gates.commands import simple_commands
from vera.lane.attested import without_names
from vera.lane.budget import says_spent
from vera.report.printable import one_printable_line, printable
from vera.text.folded_text import squeezed, squeezed_loose, typography
from vera.text.html_tags import tags
from vera.text.language import language
from vera.text.markdown import lines as markdown_lines
from vera.text.markdown import plain
from vera.text.negation import asserted, doubtful_turns, is_negative
from vera.text.quantity import quantities
from vera.text.question import negative_question
from vera.text.quotation import find_quotations
from vera.text.words import hedges, negations, stems, words

PRINTED = (
    "a A x1 1 1, 1. 2024 % $ € - – . , ; : ! ? ' \" “ ” « ( ) [ ] { } < > <a </ &amp; # ** _ ` ``` ~~ | \\ / "
    "http://a www. @ = 中 İ [^1] [ev_0001:3] ev_1 Note: =?utf-8?q?a?= $( && ☐ @a{b,c={"
)
WORDS = "not never if three hundred million January 5 the and of Mr. e.g. Section 1.2 From May"
SPACES = (" ", "\t", "\n", "\n\n", "\u00a0", "e\u0301", "\ue000", "\ue013", "<<EOF\n")
LINES = ("\n> ", "\n- ", "\n1. ", "\n# ", "\n| a |")
UNITS = (*PRINTED.split(), *(f"{word} " for word in WORDS.split()), *SPACES, *LINES)


def pumped(draw: Draw, size: int) -> str:
    """Something, a unit repeated until the text has so many characters, something."""
    known = UNITS + BRACKETS + MARKS + SCRIPTS if draw.random() < 0.3 else UNITS
    made = [
        "".join(draw.choice(known) for _ in range(n))
        for n in (draw.randint(0, 3), draw.randint(1, 4), draw.randint(0, 3))
    ]
    before, unit, after = (each.encode("utf-8", "replace").decode() for each in made)
    return (before + unit * (size // len(unit)) + after)[: size + 100]


READERS: tuple[Callable[[str], object], ...] = (
    *(words, stems, negations, hedges, language, quantities, find_citations, without_citations),
    *(find_quotations, typography, squeezed, squeezed_loose, is_negative, asserted, doubtful_turns, visible),
    *(negative_question, statements, clause_numbers, first_clause, tokens, plain, markdown_lines, items),
    *(asks_complete_set, says_complete_set, stated, marked, without_marks, entries, of_bibtex, readable),
    *(split, read_document, analyse, frame_words, identifiers_in, printable, one_printable_line),
    *(without_names, says_spent, simple_commands, spaced, indexed_words),
)
BYTES_READERS: tuple[Callable[[bytes], object], ...] = (cut, pieces, lifted)


def read(trial: Trial) -> None:
    """No reader of a text raises, or takes time that is not linear in it."""
    draw = trial.random
    size = draw.choice((100, 3000, 30_000, 150_000))
    said = pumped(draw, size) if draw.random() < 0.8 else _mutated(draw, size)
    for reader in draw.sample(READERS, 12):
        exhausted(reader(said))
    exhausted(tags(said, ("href",)))
    for of_bytes in BYTES_READERS:
        exhausted(of_bytes(said.encode()))


def _mutated(draw: Draw, size: int) -> str:
    seeds = [TEXT.decode(), MARKDOWN.decode()]
    return mutate.text(draw, seeds, size).encode("utf-8", "replace").decode()


def exhausted(found: object) -> None:
    """Goes through what a reader gives bit by bit."""
    if isinstance(found, Iterable) and not isinstance(found, str | bytes):
        for _ in itertools.islice(found, 2_000_000):
            pass


ANSWERS = (
    "The offer must be valid for three years [ev_0001:1]. It costs EUR 5 [ev_0002:2-3].",
    "| a | b |\n|---|---|\n| 3 years [ev_0001:1] | 5 % [ev_0002] |\n\nThere is no other fee [ev_0001].",
    "- “must be valid for at least three years” [ev_0001:1]\n- It is 12 % since 5 May 2020 [ev_0002:1].\n> q",
)


def audited(trial: Trial) -> None:
    """The audit of any answer over any sources ends, with findings or without."""
    draw = trial.random
    size = draw.choice((200, 2000, 20_000))
    answer = mutate.text(draw, [*ANSWERS, pumped(draw, size // 2)], size)
    sources = (
        evidence_of("ev_0001", _mutated(draw, 50_000) or "x"),
        page_of("ev_0002", pumped(draw, draw.choice((100, 20_000)))),
    )
    case = case_of(answer.encode("utf-8", "replace").decode(), *sources, task=pumped(draw, 300))
    for finding in audit(case):
        finding.message.encode()


ROWS = (
    Row("text: what reads it", read, 30, 200, share=4),
    Row("text: an answer audited", audited, 60, 200, share=3, wall=240),
)
