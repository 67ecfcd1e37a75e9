"""A thesis as text: how it is kept to be read, and by what two of them are the same."""

import re
import unicodedata

from vera.attestation.objects import Digest, Proposition, object_id
from vera.evidence.citation import find_citations

THESIS_LIMIT = 4000
"""Characters of a thesis: some sentences, not a report."""

_UNSEEN = re.compile("[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SAYS = re.compile(r"[^\W_]")
_WORD = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_]+"
)
"""A word, or a sign of a script that is written without spaces."""

_ABBREVIATED = re.compile(r"\.\w{1,20}\.\Z")
_MARKS = str.maketrans({
    **dict.fromkeys("‘’‚‛′‹›＇`", "'"),
    **dict.fromkeys("“”„‟″«»「」『』＂", '"'),
    **dict.fromkeys("‐‑‒–—―−﹘﹣－", "-"),
})  # fmt: skip
_KEPT = ("<super>", "<fraction>")


class RequestError(ValueError):
    """A request that cannot be verified: one sentence for the person who made it, with what to do."""


def normalised(text: str) -> str:
    """The thesis as it is kept to be read: Unicode form C, white space folded, without characters that are
    not seen and without the full stop at its end. Letter case, numbers and words stay as they are.

    Raises RequestError for a text that is empty, too long, a single word, no statement, or no text.
    """
    if len(text) > THESIS_LIMIT:
        raise RequestError(
            f"The thesis has {len(text)} characters, and at most {THESIS_LIMIT} are taken. "
            "State what should hold in a few sentences; a whole report is checked with 'vera check'."
        )
    if _SURROGATE.search(text) or _CONTROL.search(text):
        raise RequestError("The thesis holds characters that are no text. Write it as plain text.")
    said = " ".join(_UNSEEN.sub("", unicodedata.normalize("NFC", text)).split())
    if not _SAYS.search(said):
        raise RequestError("The thesis is empty. State in a sentence what should hold.")
    if said.endswith(("?", "？", ":", "：")):
        raise RequestError("The thesis is no statement. State what should hold, not a question or a heading.")
    if len(_WORD.findall(said)) < 2:
        raise RequestError(f'"{said[:80]}" is one word. State in a sentence what should hold.')
    if cited := next(iter(find_citations(said)), None):
        raise RequestError(
            f"The thesis holds citations such as {said[cited.start : cited.end][:80]}. "
            "Take them out: evidence is looked for afresh."
        )
    return _without_stop(said)


def folded(text: str) -> str:
    """The text by which two theses are the same.

    Folded are letter case, compatibility letters and digits (NFKC), white space, the kinds of quotation marks
    and dashes, and the last full stop. Superscripts and fractions are kept, for 10² is no 102; no number,
    word or negation is ever dropped.
    """
    same = "".join(_compatible(char) for char in unicodedata.normalize("NFC", text)).translate(_MARKS)
    # Case folding may take a letter out of form C (Unicode, section 3.13, definition D145).
    return _without_stop(" ".join(unicodedata.normalize("NFC", same.casefold()).split()))


def proposition_of(text: str) -> Proposition:
    """The proposition of a thesis. Raises RequestError as `normalised` does."""
    return Proposition(text=folded(normalised(text)))


def thesis_id(text: str) -> Digest:
    """The THESIS_ID of a thesis: the id of its proposition. Raises RequestError as `normalised` does."""
    return object_id(proposition_of(text))


def _compatible(char: str) -> str:
    if char.isascii() or unicodedata.decomposition(char).startswith(_KEPT):
        return char
    return unicodedata.normalize("NFKC", char)


def _without_stop(text: str) -> str:
    """Without the last full stop, unless it belongs to an abbreviation ("the U.S.") or to an ellipsis."""
    if not text.endswith(".") or text.endswith("..") or _ABBREVIATED.search(text[-24:]):
        return text
    return text[:-1].rstrip()
