"""Where a sentence ends: one rule for the rules that compare sentences and for those that find them."""

import re

GERMAN_DATE = (
    r"(?<=[0-9]\.)\s{1,4}(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November"
    r"|Dezember|(?:Jan|Feb|Mär|Apr|Jun|Jul|Aug|Sept?|Okt|Nov|Dez)\.|Jahrhunderts?)(?!\w)"
)
"""What goes on behind the stop of an ordinal in German: "3. Mai", "19. Jahrhundert"."""

_ABBREVIATED = (
    r"(?:(?<=\b(?:Jan|Feb|Mar|Mär|Apr|Jun|Jul|Aug|Sep|Oct|Okt|Nov|Dec|Dez)\.)|(?<=\bSept\.))\s{1,4}[0-9]"
    r"|(?<=\bNo\.)\s{1,4}[0-9]"
    r"|(?<=[0-9]\s(?:Mio|Mrd)\.)\s{1,4}(?!(?:D(?:er|ie|as|em|en|es)|Eine?|Es|Sie|Er|Wir|Ich|I[mn])\b)[^\W\d_]"
)
"""What goes on behind its stop: "9 Feb. 2024", "No. 5", "2 Mio. Euro"."""

NO_INITIAL = r"(?<!\b[A-Zabcdefijknopqrtuvwxyz])(?<!(?<![/\d])(?<!\d\s)\b[mghsl])"
"""No single letter before the stop ("J. Smith", "z. B.") but the unit of a value: "60 km/h.", "3 m."."""

_NO = r"(?:(?<!\bNo)|(?<=\ANo)|(?<=\nNo)|(?<=[.:?!]\sNo))"
"""No "No." of a number, but one that is a whole sentence: "A. No. It had …"."""

NOTE_MARK = r"(?:\[\^?[0-9]{1,3}\]){0,4}"
"""The numbers of notes behind a sentence: "[3]", "[^1]"."""

END = re.compile(
    NO_INITIAL + _NO + r"(?<!\b(?:Dr|Mr|Ms|St|Mt|Jr|Sr|vs|al|ca))"
    r"(?<!\b(?:Mrs|Inc|Ltd|Rev|Gen|Sen|Art|Sec|Fig|Abs|bzw))(?<!\b(?:approx))"
    rf"[.!?][\"'”’)\]]{{0,3}}{NOTE_MARK}(?!{GERMAN_DATE}|{_ABBREVIATED})\s{{1,4}}(?=[\"'“‘(\[]{{0,3}}[^\sa-z])|[。！？]"
)
"""Where a sentence ends within a line, with the white space behind it."""
