"""Symbols of the units that a question spells out: "mg" of milligrams, "km" of "chilometri"."""

from functools import cache, lru_cache

from vera.builtin.lexicon import STOPWORDS
from vera.builtin.words import fold
from vera.text.units import unit_symbols, unit_words

_OTHER_NAMES = """
kilogram kilogramm kilogrammen kilogramos kilogramo chilogrammi chilogrammo chili quilogramas quilos
gram gramm gramos grammi gramas grammes
milligram milligramm milligrammes miligramos milligrammi miligramas
tonne tonnen tonnes toneladas tonnellate
kilometre kilometern kilometres kilometros chilometri quilometros
metre metern metres metros metri
centimetre zentimeter zentimetern centimetres centimetros centimetri
millimetre millimetern millimetres milimetros millimetri
litre liter litern litres litros litri
millilitre milliliter millilitres mililitros millilitri
minute minuten minutos minuti
second sekunden segundos secondi secondes
hour stunden heures horas ore
euro euros
dollar dolares dollari dolar
percent prozent
"""
_ENGLISH = {name: row.split()[0] for row in _OTHER_NAMES.strip().splitlines() for name in row.split()}
_MAX_SYMBOL = 6


@lru_cache(maxsize=1024)
def symbols_of(form: str) -> frozenset[str]:
    """The symbols, folded, of the unit that a folded word names."""
    named = unit_words().get(_ENGLISH.get(form, form))
    if not named:
        return frozenset()
    return frozenset(fold(symbol) for symbol, units in _symbols() if not set(units).isdisjoint(named))


@cache
def _symbols() -> tuple[tuple[str, tuple[object, ...]], ...]:
    return tuple(unit_symbols().items())


def is_symbol_of(form: str, symbol: str) -> bool:
    """Whether a word on its own surely is a symbol of the unit that another one names; "s" and "in" are more
    often something else."""
    return symbol in symbols_of(form) and len(symbol) > 1 and symbol not in STOPWORDS


def begins_with_symbol(form: str, text: str) -> bool:
    """Whether a text begins with a symbol of the unit that a folded word names: " mg twice a day"."""
    symbols = symbols_of(form)
    token = fold(text[: _MAX_SYMBOL + 2]).lstrip() if symbols else ""
    return any(token.startswith(each) and not token[len(each) : len(each) + 1].isalnum() for each in symbols)
