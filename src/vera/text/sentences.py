"""Where a sentence ends: one rule for the rules that compare sentences and for those that find them."""

import re

GERMAN_DATE = (
    r"(?<=[0-9]\.)\s{1,4}(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November"
    r"|Dezember|(?:Jan|Feb|Mär|Apr|Jun|Jul|Aug|Sept?|Okt|Nov|Dez)\.|Jahrhunderts?)(?!\w)"
)
"""What goes on behind the stop of an ordinal in German: "3. Mai", "19. Jahrhundert"."""

END = re.compile(
    r"(?<!\b[A-Za-z])(?<!\b(?:Dr|Mr|Ms|St|Mt|Jr|Sr|No|vs|al|ca))"
    r"(?<!\b(?:Mrs|Inc|Ltd|Rev|Gen|Sen|Art|Sec|Fig|Abs|bzw))(?<!\b(?:approx))"
    rf"[.!?][\"'”’)\]]{{0,3}}(?!{GERMAN_DATE})\s{{1,4}}(?=[\"'“‘(\[]{{0,3}}[^\sa-z])|[。！？]"
)
"""Where a sentence ends within a line, with the white space behind it."""
