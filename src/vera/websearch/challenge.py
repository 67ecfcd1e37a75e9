"""Pages that stand where results should: a test for robots, a consent form, or just a web page."""

import re

from vera.sandbox.fetch.receipt import Receipt

HEAD = 64 << 10
"""Of a body, how much is looked at."""

_CHALLENGE = re.compile(
    rb"captcha|cf-chl|cf_chl|challenge-platform|turnstile|just a moment|attention required|datadome"
    rb"|perimeterx|px-captcha|within\.website/x/cmd/anubis"
    rb"|making sure you(?:'|&#39;|\xe2\x80\x99)re not a bot"
    rb"|are you a (?:robot|human)|not a robot|verify(?:ing)? (?:that )?you(?:'re| are) (?:a )?human"
    rb"|unusual traffic|automated (?:queries|requests)|before you continue to|consent\.(?:google|youtube)",
    re.IGNORECASE,
)
_LOCATION = re.compile(r"consent|captcha|challenge|/sorry/|verify", re.IGNORECASE)
_SEARXNG = re.compile(rb"searxng?\b", re.IGNORECASE)


def is_html(receipt: Receipt, body: bytes) -> bool:
    """Whether the body is a web page, whatever it was said to be."""
    if receipt.media_type in ("text/html", "application/xhtml+xml"):
        return True
    start = body[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return start.startswith((b"<!doctype html", b"<html", b"<head", b"<body"))


def is_challenge(receipt: Receipt, body: bytes) -> bool:
    """Whether the answer is a bot check: by its header, its redirect, or the words of its page."""
    headers = dict(receipt.headers)
    if headers.get("cf-mitigated", "").lower() == "challenge":
        return True
    if 300 <= receipt.status < 400:
        return bool(_LOCATION.search(headers.get("location", "")[:2000]))
    return is_html(receipt, body) and bool(_CHALLENGE.search(body[:HEAD]))


def names_searxng(body: bytes) -> bool:
    """Whether a page says of itself that SearXNG made it."""
    return bool(_SEARXNG.search(body[:HEAD]))
