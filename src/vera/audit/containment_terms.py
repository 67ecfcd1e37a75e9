"""Sentences as the rule `containment` compares them: tokens, with modals, negations and limits of one form.

Every word counts but articles, "this" and words that only join sentences. What says the same in a fixed list
of ways has one key ("is required to" and "must", "each" and "every", three and 3, licence and license). There
is no thesaurus, and a word keeps its ending but for the s of a plural or a third person: "modified" is
neither "modify" nor "modifying".
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from vera.text.late_regex import late_regex
from vera.text.lexicon import word_set
from vera.text.quantity_dates import MONTH_NAMES, date_from_digit, date_from_month
from vera.text.sentences import GERMAN_DATE
from vera.text.words import Word, singular, stem, words


class Token(NamedTuple):
    """A token of `text[start:end]`.

    `key` is what is compared, `tag` its part in the sentence (word, number, mode, not, limit, quantity, be,
    join, mark), `before` the article or demonstrative that was left out before it. `own` tokens name the
    document that they are in: "this License". In a claim, `key` may be several keys with bars between them.
    """

    key: str
    tag: str
    start: int = 0
    end: int = 0
    before: str = ""
    own: bool = False
    capital: bool = False


KINDS = word_set(
    """license agreement policy contract manual handbook guide standard specification document act code
    charter terms protocol regulation directive treaty convention rule statute lease notice report"""
)
"""What a document may call itself."""

POSSESSIVE = "'s"
"""The token behind a possessive noun."""

ARTICLES = word_set("a an the")
_DETERMINERS = ARTICLES | {"this", "these"}
_IDLE = word_set(
    """also hereby thus therefore then moreover furthermore additionally accordingly thereby however
    hereafter"""
)
_BE = {"is": "be", "are": "be", "be": "be", "was": "was", "were": "was"}
_JOINS = word_set("and or and/or but nor")
_NOT = word_set("not no never neither none nothing nobody nowhere without hardly barely scarcely")
_KNOWN = {
    **{form: (key, "be") for form, key in _BE.items()},
    **{form: (form, "join") for form in _JOINS},
    **{form: (form, "not") for form in _NOT},
}
"""Key and tag of words that are always the same part of a sentence."""

_LIMITS = word_set(
    """if unless except excepting only solely exclusively merely purely until till provided providing when
    whenever where wherever while whilst notwithstanding save excluding besides before after during
    within beyond because whether insofar although though lest once pending despite regardless even"""
)
"""Words that bind a statement to a condition, an exception, a time or a place."""

QUANTITIES = word_set(
    """all any each both either some certain most many few several half almost nearly about approximately
    around roughly various numerous"""
)
PREPOSITIONS = word_set(
    """of in on at by for with from to into onto under over between among through via about against upon along
    across per toward towards outside inside following regarding concerning as than"""
)
RELATIVES = word_set("that which who whom whose what how why")

INERT = tuple(
    tuple(phrase.split())
    for phrase in (
        "as whole", "at your option", "in addition", "for example", "for instance", "by contrast",
        "in particular",
        "in turn", "of course", "as well", "in fact", "finally", "next", "as result", "as consequence",
        "in short",
        "nevertheless", "nonetheless", "and", "but", "yet", "moreover", "additionally", "second", "first",
    )
)  # fmt: skip
"""Phrases that change nothing where they stand between commas or begin a sentence."""

_SPELLING = {
    "licence": "license", "licenced": "licensed", "licencing": "licensing", "sublicence": "sublicense",
    "every": "each", "allow": "permit", "allowed": "permitted", "allowing": "permitting",
    "percent": "%", "prozent": "%", "€": "euro", "honour": "honor", "authorise": "authorize",
    "authorised": "authorized",
    "recognise": "recognize", "recognised": "recognized", "organisation": "organization", "till": "until",
}  # fmt: skip
_RANKS = word_set(
    """second twice third dozen first fourth fifth sixth seventh eighth ninth tenth eleventh twelfth one"""
)

DISTANCE = word_set(
    """said say saying told according argue argued wrote write writing wondered wonder think thought believe
    believed ask asked dispute disputed doubt doubted myth hypothesis fiction fictional imagine imagined
    pretend pretended wrong wrongly falsely mistakenly unlike lie lied hoax nonsense legend parody satire
    joke dream dreamed debunked refuted rebutted discredited insist insisted notion belief fallacy rumour
    rumor propaganda claimed alleged allegedly reportedly supposedly deny denied refused rejected failed
    false untrue suggest suggested expect expected planned propose proposed hope hoped wanted wish wished
    could would might perhaps possibly probably likely unlikely seem seemed appeared unable lacked
    declined former formerly consider considered estimate estimated recommend recommended requested
    suppose assumed hypothetical ought"""
)
"""Words that put a distance between a sentence and what it says, wherever in the sentence they stand."""

_MODES: Mapping[str, str] = {
    "must not": "must not", "may not": "must not", "shall not": "shall not", "must never": "must not",
    "may never": "must not", "can not": "cannot", "cannot": "cannot", "need not": "need not",
    "must": "must", "may": "may", "shall": "shall", "can": "can", "should": "should",
    "should not": "should not",
    "will": "will", "will not": "will not",
    "need to": "must", "needs to": "must", "has to": "must", "have to": "must",
    "do not have to": "need not", "does not have to": "need not",
    "do not need to": "need not", "does not need to": "need not", "has permission to": "may",
    "have permission to": "may",
    **{f"{be} {said} to": mode for be in ("is", "are") for said, mode in (
        ("required", "must"), ("obliged", "must"), ("obligated", "must"), ("allowed", "may"),
        ("permitted", "may"), ("free", "may"), ("not required", "need not"), ("not obliged", "need not"),
        ("not obligated", "need not"), ("not allowed", "must not"), ("not permitted", "must not"),
        ("forbidden", "must not"), ("prohibited", "must not"))},
}  # fmt: skip
_LIMIT_PHRASES = (
    "as long as", "so long as", "to the extent", "subject to", "other than", "rather than", "instead of",
    "but for", "in case", "in the event", "prior to", "as far as", "in order for", "on condition",
)  # fmt: skip
_STATIVE = word_set("apply exist differ have contain happen occur arise survive be")
"""After "may not" they make it "possibly not" where the verb stands alone; "may not be used" forbids."""

_PHRASES: dict[str, list[tuple[tuple[str, ...], str, str]]] = {}
for _said, _as, _tag in (
    *((said, key, "mode") for said, key in _MODES.items()),
    *((said, said, "limit") for said in _LIMIT_PHRASES),
    ("and / or", "and/or", "join"),
    ("world wide", "worldwide", "word"),
    ("per cent", "%", "word"),
):
    _parts = tuple(_said.split())
    _PHRASES.setdefault(_parts[0], []).append((_parts, _as, _tag))
for _known in _PHRASES.values():
    _known.sort(key=lambda phrase: -len(phrase[0]))

_CONTRACTED = re.compile(
    r"(?P<verb>is|are|was|were|do|does|did|has|have|had|could|would|should|must|need|ca|wo|sha)n['’]t\b", re.I
)
_WHOLE_VERB = {"ca": "can", "wo": "will", "sha": "shall"}
_PART = late_regex(r"(?i)\b(?:version|release|section|clause|article|no\.|nr\.|§)\s{0,3}\Z")
_DATE_START = late_regex(r"(?<![\w./-])(?:[0-9]|[JFMASONDjfmasond][^\W\d_]{2})")
_GROUPED = late_regex(r"(?<![\w.,])[0-9]{1,3}(?:[\u00a0\u202f\u2009][0-9]{3}){1,4}(?![\w.,]?[0-9])")
_ORDINAL_STOP = re.compile(rf"\.(?={GERMAN_DATE})")
_PLURAL_MARK = re.compile(r"\(e?s\)")
_MARK = re.compile(r"(?<!\d),|,(?!\d)|[;:()\[\]]|--|[—–](?=\s)|[.!?](?=[\"'”’)\]]{0,3}(?:\s|\Z))")
_SHORT_FORM = re.compile(
    r"(?:\b(?:[A-Za-z]|Dr|Mr|Ms|Mrs|St|Mt|No|vs|al|Rev|Gen|Sen|Art|Sec|Fig)"
    r"|(?P<suffix>\b(?:Jr|Sr|Inc|Ltd|Co|Corp|plc)))\Z"
)
"""Words that end in a full stop within a sentence; behind a `suffix` a capital may begin the next one."""

_SYMBOL = re.compile(r"[%‰$€£¥₹°±×÷+=<>≤≥~≈^|/&@§]|(?<![\w-])[-−](?=[\d.$€£¥])")


@lru_cache(maxsize=1024)
def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a sentence in order. Their places are those in `text`."""
    return tuple(_valued(_joined(list(_raw(text)), text)))


def _valued(read: Iterable[Token]) -> Sequence[Token]:
    """The tokens with the sign of euros behind its number: "€50" is "50 euros"."""
    said = list(read)
    for index, (token, following) in enumerate(pairwise(said)):
        is_sign = token.key == "euro" and token.end - token.start == 1 and following.tag == "number"
        if is_sign and not (index and said[index - 1].tag == "number"):
            said[index : index + 2] = following, token
    return said


def without_opening(left: Sequence[Token]) -> list[Token]:
    """The beginning of a sentence without a bracket and without words that only join sentences."""
    kept = list(left)
    while kept and kept[0].key in ("(", ","):
        kept = kept[1:]
    for phrase in INERT:
        if tuple(token.key for token in kept[: len(phrase)]) == phrase:
            rest = kept[len(phrase) :]
            if not rest or rest[0].key == ",":
                return rest[1:]
    return kept


def _raw(text: str) -> Iterator[Word]:
    """Words and marks as they stand, contractions undone, "(s)" and the stop of "3. Mai" left out."""
    text = _ORDINAL_STOP.sub(" ", text)
    text = _GROUPED.sub(lambda found: re.sub(r"\D", ",", found[0]), text)
    text = _PLURAL_MARK.sub(lambda found: " " * len(found[0]), text)
    contracted = {found.start(): found for found in _CONTRACTED.finditer(text)}
    marks = [Word(found[0], *found.span()) for found in _SYMBOL.finditer(text)]
    marks += [
        Word("," if found[0] in "--—–" else found[0], *found.span())
        for found in _MARK.finditer(text)
        if not (found[0] == "." and _is_within(text, found.start()))
    ]
    for word in sorted([*marks, *words(text)], key=lambda word: (word.start, word.end)):
        found = contracted.get(word.start)
        if found is not None and word.form.endswith("nt"):
            verb = found["verb"].lower()
            yield Word(_WHOLE_VERB.get(verb, verb), word.start, word.end)
            yield Word("not", word.start, word.end)
        else:
            yield word
            if _is_possessive(text, word):
                yield Word(POSSESSIVE, word.end, word.end)


def _is_within(text: str, stop: int) -> bool:
    """Whether the full stop at `stop` belongs to a word and ends no sentence: "Acme Ltd. pays"."""
    following = text[stop + 1 :].lstrip()[:1]
    found = _SHORT_FORM.search(text[max(0, stop - 6) : stop]) if following else None
    return found is not None and not (found["suffix"] and following.isupper())


def _is_possessive(text: str, word: Word) -> bool:
    written = text[word.start : word.end + 1].lower().replace("’", "'")
    return written[:-1].endswith("'s") or written.endswith(("'s", "s'"))


def _joined(raw: Sequence[Word], text: str) -> Iterator[Token]:
    index, before = 0, ""
    dates = _dates(text)
    while index < len(raw):
        word = raw[index]
        if (date := dates.get(word.start)) is not None:
            yield from date
            while index < len(raw) and raw[index].start < date[0].end:
                index += 1
            continue
        phrase = _phrase(raw, index, text)
        if phrase is not None:
            size, key, tag = phrase
            yield Token(key, tag, word.start, raw[index + size - 1].end, before)
            index, before = index + size, ""
            continue
        following = raw[index + 1].form if index + 1 < len(raw) else ""
        if word.form in _DETERMINERS:
            before = word.form
        elif word.form in _IDLE or (word.form in ("do", "does") and following == "not"):
            pass
        elif word.form in ("non", "no") and _is_compound(word, following, text):
            yield Token(word.form + _key(following), "word", word.start, raw[index + 1].end, before)
            index, before = index + 1, ""
        else:
            yield _token(word, before, text)
            before = ""
        index += 1


def _dates(text: str) -> Mapping[int, tuple[Token, ...]]:
    """The days of a text that have one reading, each as "1 January 2022" is read, by where they begin."""
    found: dict[int, tuple[Token, ...]] = {}
    end = 0
    for start in [begun.start() for begun in _DATE_START.finditer(text)]:
        if start < end:
            continue
        read = date_from_digit(text, start, "") if text[start].isdigit() else date_from_month(text, start)
        days = read[0].dates if len(read) == 1 else ()
        # With dots the day comes first; with slashes a date that has two readings has neither here.
        is_whole = bool(days) and all(days[0]) and str(days[0].year) in read[0].text
        if is_whole and (len(days) == 1 or "." in read[0].text) and not _PART.search(text, 0, start):
            (year, month, day), end = days[0], read[0].end
            found[start] = (
                Token(f"#{day}", "number", start, end),
                Token(MONTH_NAMES[month - 1].split()[0], "word", start, end, capital=True),
                Token(f"#{year}", "number", start, end),
            )
    return found


def _is_compound(word: Word, following: str, text: str) -> bool:
    """Whether a hyphen joins a word to the next one: "non-free"."""
    return text[word.end : word.end + 1] == "-" and following.isalpha()


def _phrase(raw: Sequence[Word], index: int, text: str) -> tuple[int, str, str] | None:
    for parts, key, tag in _PHRASES.get(raw[index].form, ()):
        if tuple(word.form for word in raw[index : index + len(parts)]) == parts:
            if key == "may" and _is_month(raw, index, text):
                return None
            if key == "must not" and parts[0] == "may" and _is_stative(raw, index + len(parts)):
                return len(parts), "possibly not", tag
            return len(parts), key, tag
    return None


def _is_stative(raw: Sequence[Word], index: int) -> bool:
    """Whether the verb at `index` says how things are: "may not apply", but not "may not be used"."""
    if index >= len(raw) or raw[index].form not in _STATIVE:
        return False
    after = raw[index + 1].form if index + 1 < len(raw) else ""
    return raw[index].form != "be" or not (after.endswith(("ed", "en")) or after in PARTICIPLES.values())


def _is_month(raw: Sequence[Word], index: int, text: str) -> bool:
    word = raw[index]
    near = [other.form for other in (*raw[max(0, index - 1) : index], *raw[index + 1 : index + 2])]
    return text[word.start] == "M" and word.end - word.start == 3 and any(form[:1].isdigit() for form in near)


def _key(form: str) -> str:
    single = singular(form) if len(form) > 3 else form
    return _SPELLING.get(form) or _SPELLING.get(single, single)


def _token(word: Word, before: str, text: str) -> Token:
    key, tag = _tagged(word.form)
    capital = text[word.start : word.start + 1].isupper()
    own = key in KINDS and (before == "this" or (before == "the" and key == "license" and capital))
    return Token(key, tag, word.start, word.end, before, own, capital)


def _tagged(form: str) -> tuple[str, str]:
    """The key of a word or mark, and its part in the sentence."""
    if form in _KNOWN:
        return _KNOWN[form]
    key = _key(form)
    if form in _LIMITS:
        return key, "limit"
    if key in QUANTITIES:
        return key, "quantity"
    if form[:1].isdigit():
        return "#" + form, "number"
    if form not in _RANKS and (value := stem(form)).isdigit():
        return "#" + value, "number"
    is_mark = not form[:1].isalnum() and (_MARK.fullmatch(form) or form in ".!?")
    return key, "mark" if is_mark else "word"


PARTICIPLES = {
    "give": "given", "make": "made", "keep": "kept", "send": "sent", "hold": "held", "sell": "sold",
    "bring": "brought", "find": "found", "build": "built", "write": "written", "show": "shown",
    "take": "taken", "see": "seen", "put": "put", "set": "set", "read": "read", "do": "done", "pay": "paid",
    "meet": "met", "lend": "lent", "bear": "borne", "choose": "chosen", "say": "said", "tell": "told",
    "leave": "left", "lose": "lost", "teach": "taught", "forbid": "forbidden", "grow": "grown",
}  # fmt: skip
"""Verbs whose past participle does not end in -ed."""

_BASES = {participle: verb for verb, participle in PARTICIPLES.items()}
_DOUBLED = re.compile(r"([bdfgklmnprtz])\1\Z")


def is_joint(token: Token) -> bool:
    """Whether a token joins the members of an enumeration: "and", "or", a comma."""
    return token.tag == "join" or (token.key == "," and token.tag == "mark")


def participles(verb: str) -> str:
    """The keys that the past participle of a verb may have, with bars between them."""
    if verb in PARTICIPLES:
        return PARTICIPLES[verb]
    forms = [verb + "ed", verb + verb[-1:] + "ed"]
    if verb.endswith("e"):
        forms = [verb + "d"]
    elif verb.endswith("y"):
        forms = [verb + "ed", verb[:-1] + "ied"]
    return "|".join(_SPELLING.get(form, form) for form in forms)


def bases(form: str) -> str:
    """The keys that the verb of a participle (-ed, -ing) may have; '' when the word is not a participle."""
    if form in _BASES:
        return _BASES[form]
    for ending in ("ing", "ed"):
        root = form.removesuffix(ending)
        if root != form and len(root) >= 2:
            found = [root, root + "e"]
            if _DOUBLED.search(root):
                found.append(root[:-1])
            if ending == "ed" and root.endswith("i"):
                found.append(root[:-1] + "y")
            return "|".join(found)
    return ""
