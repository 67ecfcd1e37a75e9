"""Which dimension a question asks for, and whether a sentence gives the value of another one.

A height is no width: where a sentence gives a number for a dimension, it has to be the one asked for.
"""

import re

from vera.text.late_regex import late_regex

_WORDS = {
    "width": r"wide|width|breit|breite|largeur|large|ancho|ancha|anchura|largo|larga|larghezza|largura",
    "height": r"high|tall|height|hoch|höhe|haut|haute|hauteur|alto|alta|altura|altezza",
    "depth": r"deep|depth|tief|tiefe|profond|profonde|profondeur|profundo|profunda|profundidad|profondo|"
    r"profonda|profondità|fundo|profundidade",
    "thickness": r"thick|thickness|dick|dicke|épais|épaisse|épaisseur|grueso|gruesa|grosor|spesso|spessore|"
    r"espessura",
    "weight": r"heavy|weigh|weighs|weighed|weight|schwer|wiegt|wog|gewicht|lourd|lourde|pèse|poids|pesa|peso|"
    r"pesado|pesada|pesante",
    "length": r"long|length|lang|länge|longue|longueur|longitud|lungo|lunga|lunghezza|comprimento",
}
"""Adjectives, nouns and verbs of each dimension. Where a word has two meanings in two languages (Spanish
"largo" is long), the first table that has it counts."""
_DIMENSION = {word: name for name, row in reversed(_WORDS.items()) for word in row.split("|")}
_ANY = "|".join(sorted(_DIMENSION, key=len, reverse=True))
_ASKED = late_regex(rf"^\W*(?:\w+\W+){{0,4}}?({_ANY})\b", re.IGNORECASE)
_SAID = late_regex(rf"\b({_ANY})\b", re.IGNORECASE)
_GIVEN = late_regex(
    rf"\d(?:[\s-]?[^\W\d_]{{1,20}}){{1,2}}[\s-]({_ANY})\b|\b({_ANY})\b(?:\W{{1,3}}[^\W\d_]{{1,20}}){{0,2}}?\W{{1,3}}\d",
    re.IGNORECASE,
)
_AMBIGUOUS = frozenset(("largo", "larga"))


def is_of_another_dimension(question: str, text: str) -> bool:
    """Whether a text gives a number for a dimension and never names the one that the question opens with."""
    asked = _ASKED.match(question)
    if asked is None or asked.group(1).lower() in _AMBIGUOUS:
        return False
    wanted = _DIMENSION[asked.group(1).lower()]
    said = {_DIMENSION[match.group(1).lower()] for match in _SAID.finditer(text)}
    return wanted not in said and _GIVEN.search(text) is not None
