"""Compound sentences: two clauses that each state something, told apart where that loses nothing.

A part must stay as strong as it was in its sentence, so that a sentence is left whole when in doubt: within
conditions, negations and reports, within quotations and parentheses, and where the subject of a clause
cannot be seen. Short claims are never taken further apart: that makes checkers worse (arXiv:2411.02400).
"""

import re
from typing import NamedTuple

from vera.text.lexicon import AUXILIARIES, is_verb, word_set

JOINT = re.compile(r"; |, (?:and|but|while|whereas) ")
"""Where two independent clauses may meet."""

_SCOPE = word_set("""
    alleged allegedly although because cannot claimed claims denied denies either false if neither never
    no none nor not or reportedly said say says since suggested suggests supposed that though thought
    unless unlike until when whether would may might could should supposedly without hardly rarely few
    """)
_PRONOUNS = word_set("he her his it its she their they this these those who which")
_RELATIVE = word_set("that which who whom whose")
_PASSIVE = word_set("is are was were")
_ADVERBS = word_set("also first finally however later now still subsequently then thereafter")
_LEAD = re.compile(
    r"\s{0,8}(?:[,;]\s{0,8}(?:(?:and|but|while|whereas)\b\s{0,8})?|(?:and|but|while|whereas)\b\s{0,8})"
)
_WORD = re.compile(r"[^\W_][\w'’-]{0,60}")
_MAX_SUBJECT_WORDS = 10
_MAX_CHARACTERS = 2000


class Clause(NamedTuple):
    """A clause that can stand for itself: its text, and the subject it is about ('' for none)."""

    text: str
    subject: str


def first_clause(text: str) -> Clause | None:
    """The clause that a sentence begins with, None where no plain subject and verb can be seen in it."""
    subject = _subject(text) if len(text) <= _MAX_CHARACTERS else None
    return None if subject is None else Clause(text, subject)


def next_clause(text: str, before: Clause) -> Clause | None:
    """The clause that follows `before` in its sentence; None when it may belong to it.

    A clause without its own subject is given that of the clause before: "A … sold in 2004".
    """
    lead = _LEAD.match(text)
    if lead is None or len(text) > _MAX_CHARACTERS or not _is_open(before.text):
        return None
    rest = text[lead.end() :]
    first = next((word for word in _words(rest) if word not in _ADVERBS), "")
    if not first or not _is_balanced(rest):
        return None
    if is_verb(first):
        return _shared(rest, before) if first in AUXILIARIES or _is_parallel(before) else None
    return _with_subject(rest, first, before)


def _shared(text: str, before: Clause) -> Clause:
    """A clause with the subject of the one before."""
    return Clause(f"{before.subject} … {text}" if before.subject else text, before.subject)


def _with_subject(text: str, first: str, before: Clause) -> Clause | None:
    """A clause with a plain subject before an auxiliary; where it begins with a pronoun, the one before tells
    its subject."""
    subject = _subject(text)
    if not subject or not _RELATIVE.isdisjoint(_words(subject)):
        return None
    if _words(text)[len(_words(subject))] not in AUXILIARIES:
        return None
    return _shared(text, before) if first in _PRONOUNS else Clause(text, subject)


def _is_parallel(before: Clause) -> bool:
    """Whether a bare past form goes on with the first verb: "was founded and sold", "opened and closed"."""
    verbs = _words(before.text[len(before.subject) :])
    while len(verbs) > 1 and (verbs[0] in AUXILIARIES or verbs[0] in _ADVERBS):
        if verbs[0] in AUXILIARIES and verbs[0] not in _PASSIVE:
            return False
        verbs = verbs[1:]
    return bool(verbs) and is_verb(verbs[0])


def _is_open(text: str) -> bool:
    """Whether nothing in the clause reaches beyond it."""
    words = _words(text)
    return _SCOPE.isdisjoint(words) and not any(word.endswith("n't") for word in words) and _is_balanced(text)


def _words(text: str) -> list[str]:
    return [match[0].lower().replace("’", "'") for match in _WORD.finditer(text)]


def _is_balanced(text: str) -> bool:
    """Whether quotations and parentheses are closed."""
    pairs = (("“", "”"), ("«", "»"), ("(", ")"), ("[", "]"))
    return text.count('"') % 2 == 0 and all(text.count(first) == text.count(last) for first, last in pairs)


def _subject(text: str) -> str | None:
    """What stands before the first verb: '' for nothing, None for no plain subject."""
    for count, match in enumerate(_WORD.finditer(text)):
        if count > _MAX_SUBJECT_WORDS:
            return None
        if is_verb(match[0].lower()):
            subject = text[: match.start()].strip()
            plain = not any(char.isdigit() or char in ",;:" for char in subject)
            return subject if plain else None
    return None
