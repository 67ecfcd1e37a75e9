"""What type a source is of: the classes of `vera.evidence.official`, and those that are no web page."""

from collections.abc import Collection

from vera.attestation.coverage import is_web
from vera.attestation.objects import Source
from vera.evidence.official import owner

WEB_TYPES = (
    "official", "regulatory", "registry", "primary_literature", "commentary", "search", "unknown",
)  # fmt: skip
"""Types of web pages, by whom their domain belongs to."""

SOURCE_TYPES = ("file", "computed", *WEB_TYPES)
"""Every type; `computed` is what a command printed."""

PRIMARY = frozenset(("file", "computed", "official", "regulatory", "registry", "primary_literature"))
"""Types that are answerable for what they say themselves. A lens may ask for `primary`: any of them."""


def source_type(source: Source, names: frozenset[str], official_domains: Collection[str] = ()) -> str:
    """The type of a source: one of SOURCE_TYPES.

    `names` are those of the thesis (`vera.evidence.official.official_names`), `official_domains` what a
    person listed. It is told by the address alone: what a page says of itself decides nothing.
    """
    if source.tier != "captured":
        return "computed"
    if not is_web(source):
        return "file"
    return owner(source.name, names=names, official_domains=frozenset(official_domains)).source_class


def of_type(found: Collection[str], wanted: str) -> bool:
    """Whether one of the types `found` is the type that is wanted, or is primary when that is."""
    return any(each == wanted or (wanted == "primary" and each in PRIMARY) for each in found)
