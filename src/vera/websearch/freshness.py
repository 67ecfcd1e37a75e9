"""How old a result may be: one vocabulary for all engines."""

import re
from datetime import date, timedelta

SPANS = {"day": 1, "week": 7, "month": 31, "year": 365}
_OTHER_NAMES = {
    "24h": "day",
    "pd": "day",
    "pw": "week",
    "pm": "month",
    "py": "year",
    **{f"past {name}": name for name in SPANS},
    **{f"past_{name}": name for name in SPANS},
}
_RANGE = re.compile(r"(\d{4}-\d{2}-\d{2}) ?(?:to|\.\.) ?(\d{4}-\d{2}-\d{2})")

EXPECTED = "day, week, month, year, or two dates such as 2024-01-01to2024-06-30"


def parse(given: str) -> str:
    """`day`, `week`, `month`, `year`, `FROMtoUNTIL` in ISO dates, or '' for no bound. Raises ValueError."""
    plain = " ".join(given.lower().split())[:60]
    name = _OTHER_NAMES.get(plain, plain)
    if not name or name in SPANS:
        return name
    if (dates := _RANGE.fullmatch(name)) is None:
        raise ValueError(f"it must be {EXPECTED}")
    try:
        first, last = date.fromisoformat(dates[1]), date.fromisoformat(dates[2])
    except ValueError:
        raise ValueError(f"one of its dates does not exist; it must be {EXPECTED}") from None
    if first > last:
        raise ValueError("its first date lies after its second")
    return f"{first}to{last}"


def dates(freshness: str, today: date) -> tuple[date, date] | None:
    """The first and last day that a parsed freshness means; None for no bound."""
    if not freshness:
        return None
    if freshness in SPANS:
        return today - timedelta(days=SPANS[freshness]), today
    first, _, last = freshness.partition("to")
    return date.fromisoformat(first), date.fromisoformat(last)
