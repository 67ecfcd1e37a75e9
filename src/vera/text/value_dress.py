"""What stands around a number and turns it into another value: a bound, a minus, an era, the rest of it.

Closed classes of words of the languages that are read (English, German, French, Spanish, Italian, Portuguese,
Chinese). They are read beside a number that is already found, and nothing is read into it that is not there.
"""

import re
from typing import NamedTuple

from vera.text.late_regex import late_regex

_REACH = 40
_ARTICLE = r"\s{0,2}(?:(?:the|an?|die|der|den|das|l[eao]s?|i|gli|os|as)\s)?\Z"

_BOUND_BEFORE = late_regex(
    r"(?i)(?:(?<![^\W_])(?:(?P<below>no(?:t)? (?:more|greater|higher|longer|older|later|larger) than|not over"
    r"|at (?:the )?most|up to|less than|fewer than|lower than|under|below|(?:a )?maximum(?: of)?|max\.?"
    r"|not exceeding|(?:does|do|must|may|shall|can) not exceed|no longer than|within"
    r"|(?:aller)?höchstens|maximal|nicht (?:mehr|länger|höher|größer|älter|schwerer) als|bis zu|bis"
    r"|weniger als|unter"
    r"|nicht über"
    r"|(?:tout )?au plus|au maximum|maximum|moins de|pas plus (?:de|que)|jusqu['’](?:à|en|au)|inférieure?s? à"
    r"|como máximo|(?:un )?máximo(?: de)?|a lo (?:sumo|más)|no más (?:de|que)|menos de|hasta"
    r"|inferior(?:es)? a"
    r"|al massimo|(?:un )?massimo(?: di)?|non più (?:di|che)|meno di|fino a|non oltre|al più|tutt['’]al più"
    r"|non superior[ei] a|no máximo|não mais (?:de|que|do que)|até|quando muito|abaixo de"
    r"|não superior(?:es)? a)"
    r"|(?P<above>no(?:t)? (?:less|fewer|lower|shorter|younger|earlier|smaller) than|not (?:under|below)"
    r"|at least|at the least|more than|greater than|higher than|over|above|(?:a )?minimum(?: of)?|min\.?"
    r"|upwards of|exceeding"
    r"|mindestens|wenigstens|zumindest|minimal|mehr als|nicht (?:weniger|kürzer|kleiner|jünger) als"
    r"|nicht unter"
    r"|ab|über|mind\."
    r"|au (?:moins|minimum)|minimum|plus de|pas moins (?:de|que)|à partir de|supérieure?s? à"
    r"|al menos|(?:por )?lo menos|como mínimo|(?:un )?mínimo(?: de)?|más de|no menos (?:de|que)|a partir de"
    r"|superior(?:es)? a"
    r"|almeno|come minimo|(?:un )?minimo(?: di)?|più di|oltre|non meno (?:di|che)|non inferior[ei] a"
    r"|a partire da|(?:pelo|ao) menos|no mínimo|mais de|não menos (?:de|que|do que)|acima de"
    r"|não inferior(?:es)? a))"
    rf"{_ARTICLE}"
    r"|(?P<under>[<≤]=?|最多|至多|不超过|不多于|不高于|不大于|少于|低于|小于|不足|未满)\s{0,2}\Z"
    r"|(?P<over>[>≥]=?|至少|最少|不少于|不低于|不小于|多于|超过|高于|大于|起码)\s{0,2}\Z)"
)
_BOUND_BEHIND = late_regex(
    r"(?i)\s?[人名个位件家岁天年月日米元吨]?(?:及|或)?(?:(?P<under>以下|以内|之内)|(?P<over>以上))"
    r"|\s(?:[^\W\d_]{1,15}\s)?(?:(?P<below>or (?:less|fewer|under|below|younger)|and under|at (?:the )?most"
    r"|oder (?:weniger|jünger)|höchstens|ou moins|au (?:plus|maximum)|o menos|como máximo|o meno|al massimo"
    r"|ou menos|no máximo)"
    r"|(?P<above>(?:or|and) (?:more|over|above|upwards|older)|at least|(?:oder|und) (?:mehr|älter)|mindestens"
    r"|(?:ou|et) plus|au (?:moins|minimum)|[oy] más|como mínimo|al menos|o più|e oltre|almeno"
    r"|(?:ou|e) mais|no mínimo|pelo menos))(?!\w)"
)
_ERA_BEHIND = late_regex(
    r"[\s,]{0,2}\(?(?:(?P<before>B\.?\s?C\.?\s?(?:E\.?)?(?![A-Za-z])|v\.\s?(?:Chr|u\.\s?Z)\."
    r"|vor (?:Christus|Christi|unserer Zeit)"
    r"|av(?:ant|\.)\s(?:J\.[\s-]?-?C|Jésus|notre ère)|a\.\s?(?:de\s)?[CeE]\.|antes de (?:Cristo"
    r"|la era|nuestra era)"
    r"|avanti Cristo|prima di Cristo|antes da era)"
    r"|(?P<after>A\.?D\.?(?![A-Za-z])|C\.?E\.?(?![A-Za-z])|n\.\s?(?:Chr|u\.\s?Z)\.|nach (?:Christus"
    r"|Christi|unserer Zeit)"
    r"|ap(?:rès|\.)\s(?:J\.[\s-]?-?C|Jésus)|de notre ère|d\.\s?(?:de\s)?C\.|(?:después"
    r"|depois) de Cristo|dopo Cristo))"
)
_ERA_BEFORE = late_regex(
    r"(?:(?P<before>(?:公元|西元|纪元)前)|(?P<after>公元|西元|(?<!\w)A\.?D\.?\s|anno Domini\s))\Z"
)
ERA_BEFORE_CHRIST = late_regex(
    r"(?<!\w)B\.?C\.?(?:E\.?)?(?!\w)|v\. ?(?:Chr|u\. ?Z)|vor (?:Christus|Christi|unserer)|av(?:ant"
    r"|\.) (?:J|notre)"
    r"|(?<!\w)a\. ?(?:de )?[CeE]\.|(?:antes de|avanti|prima di) Cristo|antes d[ae] (?:nuestra |la )?era|元前"
)
"""Words for the years before the count begins, anywhere in a text."""

_MINUS = late_regex(
    r"(?i)(?:(?<!\w)(?:minus|negative|(?<!au )(?<!ou )(?<!de )moins"
    r"|(?<!al )(?<!lo )(?<!pelo )(?<!ao )(?<!ou )(?<!o )menos"
    r"|(?<!o )(?<!di )meno)\s|(?<![0-9)])\s?−\s{1,12}|零下|负|負)\Z"
)
DOWNWARDS = late_regex(
    r"(?i)\b(?:minus|negativ|below|under (?:zero|freezing)|sub-?zero|unter|sous|bajo cero|sotto"
    r"|abaixo|loss|lost|lose|fell"
    r"|fall|drop|declin|decreas|down|shrank|shr[iu]nk|lower|reduc|cut|deficit|debt|sank|sink|gesunken"
    r"|gefallen|fiel"
    r"|verl[uo]|rückgang|defizit|schuld|abnahme|baiss|perte|perdu|recul|diminu|chute|cay|caíd|baj"
    r"|pérdida|perdi"
    r"|cala|perdita|queda|caiu|perda|prejuízo|moins|menos|meno)|[零负負]|下降|减少|亏|跌|[-−–]\s?[0-9]"
)
"""Words that say by themselves that a value is below zero, or goes down."""

_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_TAIL = late_regex(
    r"[½⅓⅔¼¾⅕-⅞⅐⅑⅒]|(?<=10)(?:\^|\*\*)?(?P<power>⁻?[⁰¹²³⁴-⁹]{1,3}|(?<=[\^*])-?[0-9]{1,3})"
    r"|(?P<letter>[a-fA-F])(?![^\W_])"
)


class Dress(NamedTuple):
    """What stands at a number: the side on which values are meant (`above`, `below`), its era (`before`,
    `after`), whether it is below zero, and what sticks to it (the rest of a fraction, an exponent, the letter
    of a clause)."""

    bound: str = ""
    era: str = ""
    minus: bool = False
    tail: str = ""


def dress(text: str, start: int, digits_end: int, end: int) -> Dress:
    """What stands at the number from `start`, whose digits end at `digits_end` and whose unit at `end`."""
    before, behind = text[max(0, start - _REACH) : start], text[end : end + _REACH]
    return Dress(
        bound=_side(_BOUND_BEFORE.search(before)) or _side(_BOUND_BEHIND.match(behind)),
        era=_one(_ERA_BEHIND.match(behind)) or _one(_ERA_BEFORE.search(before)),
        minus=bool(_MINUS.search(before)),
        tail=_tail(_TAIL.match(text, digits_end)),
    )


def _side(match: re.Match[str] | None) -> str:
    if match is None:
        return ""
    return "below" if match["below"] or match["under"] else "above"


def _one(match: re.Match[str] | None) -> str:
    """The name of the group that matched."""
    return (match.lastgroup or "") if match else ""


def _tail(match: re.Match[str] | None) -> str:
    if match is None:
        return ""
    return "^" + match["power"].translate(_RAISED) if match["power"] else match[0].lower()
