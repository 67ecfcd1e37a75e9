"""Names: people, places, organisations and works that a claim names must be in what it cites.

A name is absent when none of the cited sources, their titles and addresses has it in any form: with other
diacritics, as the country of a nationality (Canadian, Canada), as initials or spelled out (NBA, National
Basketball Association). When a name of several words is absent as a whole, that is a veto: on WiCE (Kamoi et
al., EMNLP 2023) such claims are hardly ever supported. One word may be meant by another: that is a hint.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from urllib.parse import unquote

import msgspec

from vera.audit.case import Case, CitedLines, language_of, statements
from vera.audit.source_text import SourceText
from vera.evidence.claim import Claim
from vera.evidence.finding import Finding, Severity
from vera.text.language import differ, language
from vera.text.quantity import quantities
from vera.text.words import STOPWORDS, Word, folded, stem, words

NAMES_CHECKED = 200
NAMES_LISTED = 12
"""Names of one claim that are looked for, and missing ones that a finding lists."""

_SAME = tuple(
    frozenset(row.split())
    for row in """
us usa america american|uk britain british england english
netherlands dutch holland|france french|greece greek|switzerland swiss|denmark danish dane|poland polish pole
turkey turkish turk turkiye|spain spanish spaniard|wales welsh|ireland irish|sweden swedish swede
finland finnish finn|philippines filipino filipina philippine|germany german deutsch|scotland scottish scot
china chinese|japan japanese|norway norwegian|peru peruvian|thailand thai|czechia czech|ukraine ukrainian
iceland icelandic|israel israeli|iraq iraqi|pakistan pakistani|bangladesh bangladeshi|vietnam vietnamese
belgium belgian|brazil brazilian brasil|argentina argentine argentinian|hungary hungarian|serbia serb serbian
croatia croat croatian|portugal portuguese|lebanon lebanese|congo congolese|taiwan taiwanese|malta maltese
eu europe european|russia russian|italy italian|kenya kenyan|cyprus cypriot|kazakhstan kazakh
quebec quebecois|uzbekistan uzbek|afghanistan afghan
""".strip().replace("|", "\n").split("\n")
)  # fmt: skip
_SAME_BY_WORD = {word: row for row in _SAME for word in row}

_SPELLED = {
    "united states": frozenset(("us", "usa", "america", "american", "americans")),
    "united kingdom": frozenset(("uk", "britain", "british")),
    "european union": frozenset(("eu",)),
    "united nations": frozenset(("un",)),
}
"""Names of several words, and the single words that say the same."""

_SPELLED_PATTERN = re.compile("|".join(phrase.replace(" ", r"\s{1,3}") for phrase in _SPELLED), re.IGNORECASE)

_MONTHS = {
    name: (name[:3], f"-{number:02d}-", f"/{number:02d}/", f".{number:02d}.")
    for number, name in enumerate(
        (
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ),
        1,
    )
}
_WEEKDAYS = frozenset(("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))

_DEGREES = frozenset(("associate", "bachelor", "master", "doctor"))
"""First words of academic degrees, which sources write in many ways."""

_TITLES = frozenset(("dr", "mr", "mrs", "ms"))
_NO_NAMES = STOPWORDS | _WEEKDAYS | _TITLES
"""Words that do not count as names."""

_OPENING = re.compile(
    r"(?:\A|(?<!\b[A-Za-z])(?<!\b(?:Dr|Mr|Ms|St|Mt|Jr|Sr|Lt|vs|Co))(?<!\b(?:Mrs|Rev|Gen|Gov|Col|Sgt|Sen|Rep|Inc|Ltd))"
    r"[.!?])[\"'”’)\]]{0,3}\s{0,4}[\"'“‘(\[]{0,3}\Z"
)
_LOOK_BACK = 16
_STOP = r"\.?"
_ACRONYM = re.compile(r"[A-Z]{2,8}")
_MAX_SPELLED_OUT_LENGTH = 8
_ROOT = 4
_SHARED = 5
_COMPOUND = re.compile(r"[-‐‑–/&]|[.'’]\w")


class Name(msgspec.Struct, frozen=True):
    """A capitalised word of a text as `written`, its folded `form`, and the characters where it stands."""

    written: str
    form: str
    start: int
    end: int


def names_in(text: str) -> list[Name]:
    """The words of names in `text`, in order.

    A word at the start of a sentence counts when the next one is capitalised as well; single
    letters, titles, weekdays and words without content do not count as names.
    """
    tokens = list(words(text))
    return [
        Name(text[token.start : token.end], token.form, token.start, token.end)
        for index, token in enumerate(tokens)
        if _is_name(text, tokens, index)
    ]


def _is_name(text: str, tokens: Sequence[Word], index: int) -> bool:
    token = tokens[index]
    written = text[token.start : token.end]
    if not any(character.isupper() for character in written) or len(token.form) < 2:
        return False
    if token.form in _NO_NAMES:
        return False
    if not written[0].isupper() or written[1:] != written[1:].lower():
        return True
    if not _opens(text, token.start):
        return True
    return index + 1 < len(tokens) and text[tokens[index + 1].start].isupper()


class Pages:
    """What is known of the cited sources: their text, titles and addresses, and forms of the names there."""

    def __init__(self, cited: Sequence[CitedLines]) -> None:
        self._texts = list(dict.fromkeys(place.source for place in cited))
        about = " ".join(f"{place.evidence.title} {unquote(place.evidence.source)}" for place in cited)
        self._texts.append(SourceText(about.encode("utf-8", "replace")))

    def has(self, name: Name) -> bool:
        """Whether the name is there in one of its forms."""
        if any(self._has(form) for form in _SAME_BY_WORD.get(name.form, (name.form,))):
            return True
        if any(name.form in same and self.holds(phrase) for phrase, same in _SPELLED.items()):
            return True
        if name.form in _MONTHS:
            return any(self.holds(form) for form in _MONTHS[name.form])
        return _ACRONYM.fullmatch(name.written) is not None and self._spelled_out(name.written)

    def has_spelled(self, phrase: str) -> bool:
        """Whether a name of several words (a key of `_SPELLED`) is there, or a word for it."""
        return self.holds(phrase) or any(self._has(form) for form in _SPELLED[phrase])

    def has_acronym(self, letters: str) -> bool:
        """Whether these capitals are there as a word, with full stops or without."""
        pattern = re.compile(rf"(?<!\w){_STOP.join(letters)}(?!\w)")
        return any(pattern.search(text.text) for text in self._texts)

    def _has(self, form: str) -> bool:
        wanted = stem(form)
        return any(wanted in text.stems for text in self._texts) or (len(form) >= 4 and self.holds(form))

    def holds(self, form: str) -> bool:
        """Whether these characters are there, up to case and how they are set."""
        return any(form in text.folded for text in self._texts)

    def resembles(self, form: str) -> bool:
        """Whether a word begins like this one, or shares five letters in a row with it."""
        runs = [form[start : start + _SHARED] for start in range(max(1, len(form) - _SHARED + 1))]
        return any(
            stem.startswith(form[:_ROOT]) or any(run in stem for run in runs)
            for text in self._texts
            for stem in text.stems
        )

    def _spelled_out(self, letters: str) -> bool:
        gap = r"[\s-]{1,3}(?:(?:of|the|and|for|de|in|on)\s{1,3}){0,2}"
        pattern = re.compile(r"\b" + gap.join(rf"{letter}\w{{1,30}}" for letter in letters))
        return any(pattern.search(text.text) for text in self._texts)


def missing_names(text: str, pages: Pages) -> list[Name]:
    """The names of `text` that are not in `pages`, each once."""
    found = _outside_values(text, names_in(text))
    unique = list({name.form: name for name in found}.values())[:NAMES_CHECKED]
    absent = {name.form for name in unique if not pages.has(name)}
    if not absent:
        return []
    spelled = {name.start for run in _runs(text, found) if _abbreviated(run, pages) for name in run}
    for phrase in islice(_SPELLED_PATTERN.finditer(text), NAMES_CHECKED):
        if pages.has_spelled(" ".join(phrase.group().lower().split())):
            spelled.update(range(*phrase.span()))
    left = {name.form: name for name in found if name.form in absent and name.start not in spelled}
    return sorted(left.values(), key=lambda name: name.start)


def _outside_values(text: str, found: Sequence[Name]) -> list[Name]:
    """The names that are no part of a date or an amount (9 Feb, 65 Euro), which another check looks up."""
    if not any(map(str.isdigit, text)):
        return list(found)
    values = [
        range(each.start, each.end)
        for each in quantities(text)
        if each.kind != "identifier" and any(map(str.isdigit, each.text))
    ]
    return [name for name in found if not any(name.start in value for value in values)]


def _runs(text: str, found: Sequence[Name]) -> Iterator[list[Name]]:
    """Names with nothing but white space and small words between them."""
    run: list[Name] = []
    for name in found:
        if run and not _JOINED.fullmatch(text, run[-1].end, name.start):
            yield run
            run = []
        run.append(name)
    if run:
        yield run


_JOINED = re.compile(r"[\s-]{1,3}(?:(?:of|the|and|for|de|in|on)\s{1,3}){0,2}")


def _abbreviated(run: Sequence[Name], pages: Pages) -> bool:
    """Whether the sources have the run by its initials: National Basketball Association as NBA."""
    if not 1 < len(run) <= _MAX_SPELLED_OUT_LENGTH:
        return False
    letters = "".join(name.written[0] for name in run)
    return letters.isascii() and letters.isupper() and pages.has_acronym(letters)


def names(case: Case) -> Iterator[Finding]:
    """The names of each claim that no cited source has: of a whole name hard, of a part of one soft."""
    for claim, cited in statements(case):
        if not cited:
            continue
        pages = Pages(cited)
        absent = missing_names(claim.text, pages)
        if not absent:
            continue
        german = _capitalises_nouns(claim.text, cited)
        whole = [] if _spelled_otherwise(claim.text, cited) else _whole(claim.text, absent, case.task, pages)
        if german:
            whole = [name for name in whole if _has_several(claim.text, name)]
            absent = [name for name in absent if _may_be_meant(claim.text, name, pages)]
        if whole:
            listed = ", ".join(whole[:NAMES_LISTED])
            message = f"No cited source names {listed}. Cite one that does, or drop the name."
            yield _finding("name_absent", "fabricated", "hard", message, listed, claim, cited)
        covered = " ".join(whole)
        rest = [name.written for name in absent if name.written not in covered]
        if rest:
            listed = ", ".join(rest[:NAMES_LISTED])
            message = (
                f"{listed} is not to be found in the cited sources as it is written here: check the name."
            )
            yield _finding("name_unclear", "misinterpretation", "soft", message, listed, claim, cited)


def _capitalises_nouns(text: str, cited: Sequence[CitedLines]) -> bool:
    """Whether a claim is German, where a capital does not make a name: then one word is a hint at most."""
    spoken = language(text) or language_of(cited) or language(f"{text}\n{cited[0].source.text}")
    return spoken == "de"


def _may_be_meant(text: str, name: Name, pages: Pages) -> bool:
    """Whether a German word with a capital may be a name that the sources lack."""
    return not _opens(text, name.start) and _tells(text, name, pages)


def _has_several(text: str, name: str) -> bool:
    """Whether a name has several words besides one that begins a sentence."""
    return len(name.split()) > 1 + _opens(text, text.index(name))


def _opens(text: str, start: int) -> bool:
    """Whether a sentence begins at a place."""
    return _OPENING.search(text[max(0, start - _LOOK_BACK) : start]) is not None


def _spelled_otherwise(text: str, cited: Sequence[CitedLines]) -> bool:
    """Whether the cited lines may spell the names of a text otherwise: commands printed all of them, or all
    are in another language."""
    computed = all(place.evidence.tier == "observed" for place in cited)
    return computed or all(differ(text, place.source.text) for place in cited)


def _whole(text: str, absent: Sequence[Name], task: str, pages: Pages) -> list[str]:
    """The names of which no word is in the sources, unless the question has them."""
    starts = {name.start for name in absent}
    asked = folded(task)
    return [
        text[run[0].start : run[-1].end]
        for run in _runs(text, _outside_values(text, names_in(text)))
        if (len(run) > 1 or _tells(text, run[0], pages))
        and run[0].form not in _DEGREES
        and all(name.start in starts for name in run)
        and folded(text[run[0].start : run[-1].end]) not in asked
    ]


def _tells(text: str, name: Name, pages: Pages) -> bool:
    """Whether a name of one word can only be meant by itself: no abbreviation, no part of a compound, and
    nothing in the sources that is like it, in its beginning (Nazism, Nazi) or its middle (Horodecki,
    Gorodezhkii)."""
    joined = _COMPOUND.search(text[max(0, name.start - 1) : name.start] + text[name.end : name.end + 2])
    plain = len(name.form) >= _ROOT and name.written.isalpha() and name.written[1:].islower()
    return plain and not joined and not pages.resembles(name.form)


def _finding(
    code: str,
    label: str,
    severity: Severity,
    message: str,
    detail: str,
    claim: Claim,
    cited: Sequence[CitedLines],
) -> Finding:
    return Finding(
        code=code,
        label=label,
        severity=severity,
        message=message,
        claim=claim.key,
        evidence=cited[0].evidence.id,
        detail=detail,
    )
