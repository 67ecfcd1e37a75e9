"""Numbers in Chinese numerals, those of contracts and cheques too: 三十五万, 二〇一〇, 叁仟."""

from decimal import Decimal
from typing import NamedTuple

from vera.text.late_regex import late_regex

HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff〇"
"""For a class of characters: those of texts without spaces."""

_DIGITS = {
    sign: value
    for value, signs in enumerate(
        ("〇零", "一壹弌", "二贰貳两兩", "三叁參", "四肆", "五伍", "六陆陸", "七柒", "八捌", "九玖")
    )
    for sign in signs
}
_TENS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_SCALES = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}

HAN_DIGITS = "".join((*_DIGITS, *_TENS, *_SCALES, "半"))
"""For a class of characters: every numeral."""

HAN_STARTS = frozenset((*_DIGITS, "十", "拾"))
"""Numerals with which a number begins: 千万 and 万一 are other words."""

_SCALE = late_regex(r"(?P<small>百(?!分)|千(?![克米瓦卡]))?(?P<large>[万萬亿億]{1,2})?")
_FOLLOWED = late_regex(
    r"[个個名人位件只隻条條张張台辆輛本天日月岁歲次倍成折层層间間座所家户戶项項种種米公里斤吨噸升克元圆块塊角小时時"
    r"秒杯瓶箱袋周星届屆路号號年点點度颗顆棵页頁章节節集部级級英美欧歐平立毫厘打]|分[钟鐘]|[%％]"
)
_MIN_PLACES = 3


class HanNumber(NamedTuple):
    """A number that ends before `end`; `step` is what one more of its last numeral adds. `is_year` says that
    its numerals stand digit by digit before 年, `is_ordinal` that 第 stands before it."""

    value: Decimal
    step: Decimal
    end: int
    is_year: bool = False
    is_ordinal: bool = False


def han_number(text: str, start: int, end: int) -> HanNumber | None:
    """The number of the numerals from `start` to `end`; None where they mean none. A single one counts only
    before what it counts or measures."""
    run = text[start:end].rstrip("半")
    end = start + len(run)
    is_ordinal = text[start - 1 : start] == "第"
    if not run or "半" in run:
        return None
    if len(run) == 1 and len(text) > 1 and not is_ordinal and not _FOLLOWED.match(text, end):
        return None
    if set(run) <= _DIGITS.keys():
        if 1 < len(run) < _MIN_PLACES:
            return None  # 七八 is seven or eight
        value = Decimal("".join(str(_DIGITS[sign]) for sign in run))
        return HanNumber(value, Decimal(1), end, text[end : end + 1] == "年", is_ordinal)
    last = run[-1]
    step = Decimal(_TENS.get(last, _SCALES.get(last, 1)))
    return HanNumber(_read(run), step, end, is_ordinal=is_ordinal)


def han_scale(text: str, end: int) -> tuple[int, int] | None:
    """The factor of the scale behind a number in digits, and where it ends: 35万; None without one."""
    match = _SCALE.match(text, end)
    if match is None or not match[0]:
        return None
    factor = _TENS.get(match["small"] or "", 1)
    for sign in match["large"] or "":
        factor *= _SCALES[sign]
    return factor, match.end()


def _read(run: str) -> Decimal:
    """The value of numerals among which are tens or scales. A digit at the end right behind a hundred or more
    has the next lower place: 三万五 is 35,000."""
    for scales in ("亿億", "万萬"):
        at = max(map(run.rfind, scales))
        if at >= 0:
            before, behind = run[:at], run[at + 1 :]
            scale = _SCALES[run[at]]
            rest = Decimal(_DIGITS[behind] * scale // 10) if behind in _DIGITS else _read(behind)
            return (_read(before) if before else 1) * Decimal(scale) + rest
    return Decimal(_section(run))


def _section(run: str) -> int:
    """The value of numerals below ten thousand."""
    section = digit = 0
    last = 10**4
    for sign in run:
        if sign in _DIGITS:
            digit = _DIGITS[sign]
            continue
        unit = _TENS[sign]
        section = (section + digit) * unit if unit > last else section + (digit or 1) * unit
        last, digit = unit, 0
    is_short = run[-2:-1] in _TENS and _TENS[run[-2]] > _TENS["十"]
    return section + (digit * last // 10 if is_short else digit)
