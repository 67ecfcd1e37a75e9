"""How long a server asks to be left alone."""

import re
from email.utils import parsedate_to_datetime

from vera.sandbox.fetch.receipt import Receipt

_SECONDS = re.compile(r"\d{1,9}(?:\.\d{1,6})?")
_MAX_WINDOWS = 8


def retry_after(receipt: Receipt, now: float) -> float | None:
    """Seconds by Retry-After (RFC 9110 section 10.2.3: seconds or a date), else by the windows of
    X-RateLimit-Remaining and X-RateLimit-Reset of which nothing is left. `now` is Unix time. None: it does
    not say.
    """
    headers = dict(receipt.headers)
    if said := headers.get("retry-after", "").strip():
        if _SECONDS.fullmatch(said):
            return float(said)
        try:
            return max(0.0, parsedate_to_datetime(said[:60]).timestamp() - now)
        except (ValueError, TypeError, OverflowError, IndexError):
            return None
    remaining, reset = (_numbers(headers.get(f"x-ratelimit-{name}", "")) for name in ("remaining", "reset"))
    waits = [wait for left, wait in zip(remaining, reset, strict=False) if left == 0]
    return max(waits, default=None)


def _numbers(text: str) -> list[float]:
    parts = [part.strip() for part in text[:200].split(",")[:_MAX_WINDOWS]]
    return [float(part) if _SECONDS.fullmatch(part) else -1.0 for part in parts]
