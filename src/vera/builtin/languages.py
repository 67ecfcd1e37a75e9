"""The language that a question is written in: its question word decides, else the words that join."""

import re

from vera.text.late_regex import late_regex
from vera.text.stopwords import FRENCH, GERMAN, ITALIAN, PORTUGUESE, SPANISH, stop_words

_OPENINGS: tuple[tuple[re.Pattern[str], frozenset[str]], ...] = tuple(
    (late_regex(rf"^\W*(?:{opening})"), language)
    for opening, language in (
        (
            r"(?:wer|we[mn]|wessen|wie|wo|wann|warum|weshalb|wieso|woher|wohin|wozu|wofür|womit|wodurch|woran|"
            r"worauf|woraus|worin|worüber|wovon|welche[mnrs]?)\b|"
            r"was (?:ist|sind|bedeute|heiß|heiss|mein|bewirk|mach|tu|leiste|passier|geschieh|kann|muss|darf|"
            r"soll|wird|hat|gibt|gehört|enthäl|steht|kostet|versteh|bezeichne|zeig)(?:t|en)?\b",
            GERMAN,
        ),
        (
            r"qu[’']|(?:quels|quelles?|pourquoi|combien|où|quoi|à qu(?:oi|i))\b|d[’']où\b|c[’']est quoi\b|"
            r"que (?:signifie|veut|désigne|fait|permet|contient)\b",
            FRENCH,
        ),
        (
            r"¿|(?:por |para |a |de )?qué\b|(?:cuál(?:es)?|quién(?:es)?|a?dónde|cuándo|cómo|cuánt[oa]s?)\b|"
            r"que (?:es|son|significa|hace)\b",
            SPANISH,
        ),
        (
            r"(?:a )?(?:che )?cosa\b|(?:perch[eé]|quali?|quant[ie])\b(?! (?:é|a|o|foi|as|os)\b)|"
            r"che (?:significa|vuol)\b|come (?:si|funziona)\b",
            ITALIAN,
        ),
        (r"(?:o|por|para) qu[eê]\b|(?:quem|onde|quais|quant[oa]s|porquê|qual)\b", PORTUGUESE),
    )
)
"""How a question opens in one language and in no other of them. The English "was" opens a German question
only before a verb that German asks with."""


def language_of(lowered: str) -> frozenset[str]:
    """The stop words of the language of a question in small letters, English where nothing speaks for
    another."""
    for opening, language in _OPENINGS:
        if opening.match(lowered):
            return language
    return stop_words(re.findall(r"\w+", lowered))
