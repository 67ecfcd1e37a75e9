"""A URL as people and models write it, in the one form that is judged and dialled.

Letters outside ASCII are encoded (names by IDNA with the mapping of UTS 46, the rest by percent signs), a
fragment is dropped as it is never sent. What different programs read differently is refused, not repaired.
"""

import re

from vera.sandbox.egress.authority import MAX_NAME, MAX_URL, AuthorityError, Url, parse_url

_ABSOLUTE = re.compile(r"(https?://)([^/?#\\]*)(.*)", re.IGNORECASE | re.DOTALL)
_ODD = re.compile(r"[\x00-\x1f\x7f\\]")
_TO_ENCODE = re.compile(r"[^!#-;=?-\[\]_a-z~]")


def normalise(text: str) -> Url:
    """Raises AuthorityError with a sentence that says what is wrong."""
    text = text.strip()
    if len(text) > MAX_URL:
        raise AuthorityError(f"A URL of {len(text)} characters is too long: at most {MAX_URL} are read.")
    parts = _ABSOLUTE.fullmatch(text)
    if parts is None:
        raise AuthorityError(f"{text[:100]!a} is no web address: it must begin with https:// or http://.")
    if _ODD.search(text):
        raise AuthorityError(f"{text[:100]!a} holds a backslash or a control character.")
    scheme, authority, rest = parts.groups()
    if "@" in authority:
        raise AuthorityError("The URL carries a user name or password: give it without, nothing is sent.")
    target = _TO_ENCODE.sub(lambda odd: _percent(odd[0]), rest.partition("#")[0])
    return parse_url(f"{scheme}{_ascii(authority)}{target}")


def _percent(letter: str) -> str:
    return "".join(f"%{byte:02X}" for byte in letter.encode("utf-8", "replace"))


def _ascii(authority: str) -> str:
    if authority.isascii():
        return authority
    import idna

    name, colon, port = authority.partition(":")
    try:
        if len(name) > MAX_NAME:
            raise idna.IDNAError("too long")
        return idna.encode(name, uts46=True).decode("ascii") + colon + port
    except idna.IDNAError:
        raise AuthorityError(f"{name[:100]!a} is no host name.") from None
