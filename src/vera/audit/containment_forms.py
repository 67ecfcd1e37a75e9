"""What a thesis says, in the forms in which a source may say the same.

"GPL version 3 requires the written offer to be valid" speaks of what the document GPL-3 lays down: its
name and the verb of the frame go, and "must" comes in. Each further form keeps the meaning: a condition
before or after its sentence, active and passive, "X's Y" and "Y of X", "give A to B" and "give B A",
two coordinated words
changed about. What no form of a thesis says is never taken for it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from vera.audit.containment_terms import (
    KINDS,
    POSSESSIVE,
    PREPOSITIONS,
    RELATIVES,
    Token,
    bases,
    is_joint,
    participles,
    tokens,
)
from vera.text.lexicon import word_set

MAX_FORMS = 160
"""Forms of one thesis that are looked for."""

MAX_TOKENS = 80
"""Tokens of the longest thesis that is compared."""

_SAYS = word_set("say state provide specify stipulate declare note establish explain clarify mention")
_REQUIRES = word_set("require oblige demand mandate")
_PERMITS = word_set("permit let enable authorize entitle")
_FORBIDS = word_set("prohibit forbid ban")
_FRAME_MODES = {
    f"{denied}{verb}": mode
    for denied, verbs, mode in (
        ("", _REQUIRES, "must"),
        ("", _PERMITS, "may"),
        ("", _FORBIDS, "must not"),
        ("not ", _REQUIRES, "need not"),
        ("not ", _PERMITS, "must not"),
    )
    for verb in verbs
}
"""The modal for what a document requires, permits or forbids."""

_FRAMES = frozenset(("under", "in", "per", "within"))
_GIVES = word_set("give grant provide offer send")
_MOVED = frozenset(
    ("if", "unless", "when", "whenever", "where", "wherever", "provided", "as long as", "so long as",
     "except",
     "before", "after", "until", "while", "prior to", "notwithstanding", "to the extent", "without", "even")
)  # fmt: skip
_MOVABLE = PREPOSITIONS - {"of"}
_LINKING = PREPOSITIONS | RELATIVES
_NO_NOUNS = _LINKING | {"you", "to", "not"}
_CONDITIONS = frozenset(("if", "unless", "provided", "except", "notwithstanding", "as long as", "so long as"))
_ORDERS = {
    "permitted": ("may", "must not"),
    "required": ("must", "need not"),
    "obliged": ("must", "need not"),
}
_FREE_MODES = frozenset(("may", "must not", "can", "cannot"))
_VERSIONED = re.compile(r"(?<=[A-Za-z])[vV](?=\d)|\b[vV](?:er|ers)?\.?\s?(?=\d)")
_VERSION = re.compile(r"(?i)\bversion\s{1,4}(\d{1,4}(?:\.\d{1,4}){0,3})|\b(\d{1,4}\.\d{1,4})\b")
_TITLE_LINES = 4
_TITLE_LENGTH = 120

_SELF = Token("self", "word", own=True)
_YOU = Token("you", "word")
_BE = Token("be", "be")
_NOT = Token("not", "not")
_COMMA = Token(",", "mark")
APPOSED = Token(",", "apposed")
"""Stands where a source has a comma for "is" or "must be": "a written offer, valid for three years"."""

_TURNED_GENITIVES = {POSSESSIVE: Token("of", "word"), "of": Token(POSSESSIVE, "word")}


class Form(NamedTuple):
    """A form of a thesis.

    `floating` is a modal that must stand somewhere in the sentence, since the frame says it ("requires
    that"). `agentless` forms lack a subject; of the source it must be "you".
    """

    tokens: tuple[Token, ...]
    floating: str = ""
    agentless: bool = False


class Name(NamedTuple):
    """A name of a document, in keys, and its version ('' for none)."""

    keys: tuple[str, ...]
    version: str


def names(about: str) -> tuple[Name, ...]:
    """The names of a document: `about` is its path, and on further lines its title or its first lines."""
    path, _, rest = about.partition("\n")
    given = [line.strip()[:_TITLE_LENGTH] for line in rest.split("\n") if line.strip()][:_TITLE_LINES]
    lines = [line for line in given if not line.endswith((".", "!", "?", ";", ":"))]
    stem = [
        token.key for token in tokens(_spelled(re.sub(r"[-_.]+(?=\D)|[-_]", " ", PurePosixPath(path).stem)))
    ]
    titles = [[token.key for token in tokens(line)] for line in lines]
    version = _stated_version(stem, lines)
    telling = (stem, *(title for title in titles if _is_telling(title)))
    unique = dict.fromkeys(keys for title in telling for keys in _names_in(title))
    return tuple(Name(keys, version) for keys in sorted(unique, key=len, reverse=True))


def forms(text: str, about: str = "") -> tuple[Form, ...]:
    """The forms of a thesis for a source with the names `about`, those nearest to its own words first."""
    said = [token for token in tokens(_spelled(text)) if token.key not in (".", "!")]
    if not said or len(said) > MAX_TOKENS or said[-1].key == "?":
        return ()
    said = [token._replace(key="you") if token.key == "licensee" else token for token in said]
    named = _with_self(said, names(about)) if about else said
    unique: dict[tuple[tuple[str, ...], str, bool], Form] = {}
    waiting = list(_unframed(named, bound=named != said))
    if named != said:
        waiting.append(Form(tuple(said)))
    for form in waiting:
        _keep(unique, form)
    _rewrite(unique)
    return tuple(map(_without_commas, unique.values()))


def _rewrite(unique: dict[tuple[tuple[str, ...], str, bool], Form]) -> None:
    """Adds what one or two rewrites make of the forms, until there are MAX_FORMS."""
    for _ in range(2):
        for form in list(unique.values()):
            for rewrite in _REWRITES:
                for other in rewrite(form):
                    if len(unique) >= MAX_FORMS:
                        return
                    _keep(unique, other)


def _keep(unique: dict[tuple[tuple[str, ...], str, bool], Form], form: Form) -> None:
    key = tuple(token.key for token in form.tokens), form.floating, form.agentless
    if form.tokens:
        unique.setdefault(key, form)


def _without_commas(form: Form) -> Form:
    return form._replace(
        tokens=tuple(token for token in form.tokens if token != _COMMA and not _is_comma(token))
    )


def _is_comma(token: Token) -> bool:
    return token.key == "," and token.tag == "mark"


# The names of the document


def _spelled(text: str) -> str:
    return _VERSIONED.sub(" version ", text)


def _version(key: str) -> str:
    number = key.lstrip("#")
    while number.endswith(".0"):
        number = number[:-2]
    return number


def _stated_version(stem: Sequence[str], lines: Sequence[str]) -> str:
    """The version at the end of the file's name, or the first one in the lines; '' for none."""
    found = [_version(key) for key in stem[-1:] if key.startswith("#")]
    found += [match[1] or match[2] for line in lines for match in _VERSION.finditer(line)][:1]
    return _version(found[0]) if found else ""


def _is_telling(title: Sequence[str]) -> bool:
    """Whether a title names a kind of document or has a number."""
    return not KINDS.isdisjoint(_name_part(title)) or any(key.startswith("#") for key in title)


def _names_in(title: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The name in a title, also without "GNU"; none that is no more than a kind of document."""
    keys = tuple(_name_part(title))
    found = (keys, keys[1:]) if keys[:1] == ("gnu",) else (keys,)
    return (name for name in found if not KINDS.issuperset(name))


def _name_part(title: Sequence[str]) -> Iterator[str]:
    """The title up to its version, without marks."""
    if title[:1] == ["copyright"]:
        return
    for key in title:
        if key == "version" or key.startswith("#"):
            return
        if key[:1].isalnum():
            yield key


def _with_self(said: Sequence[Token], known: Sequence[Name]) -> list[Token]:
    """The thesis with one token for each mention of the document."""
    keys = [token.key for token in said]
    made: list[Token] = []
    index = 0
    while index < len(said):
        size = max((_mention(said, keys, index, name) for name in known), default=0)
        made.append(_SELF if size else said[index])
        index += max(size, 1)
    return made


def _mention(said: Sequence[Token], keys: Sequence[str], index: int, name: Name) -> int:
    """How many tokens from `index` on name the document, 0 for none. Another version is another document."""
    start = index
    leading = keys[index] == "version" and index + 2 < len(keys) and keys[index + 1].startswith("#")
    versioned = False
    if leading:
        if _version(keys[index + 1]) != name.version:
            return 0
        start, versioned = index + 2, True
        start += keys[start] == "of"
    if keys[start : start + 1] == ["gnu"] and name.keys[0] != "gnu":
        start += 1
    end = start + len(name.keys)
    if tuple(keys[start:end]) != name.keys:
        return 0
    written = all(token.capital for token in said[start:end])
    kind = not KINDS.isdisjoint(name.keys)
    for _ in range(3):
        following = keys[end] if end < len(keys) else ""
        after = keys[end + 1] if end + 1 < len(keys) else ""
        if following == "version" and after.startswith("#") and not versioned:
            if _version(after) != name.version:
                return 0
            end, versioned = end + 2, True
        elif following == "," and after == "version":
            end += 1
        elif following.startswith("#"):
            if versioned or _version(following) != name.version:
                return 0
            end, versioned = end + 1, True
        elif following in KINDS and following not in name.keys:
            end, kind = end + 1, True
        else:
            break
    following = keys[end] if end < len(keys) else ""
    if following in ("version", POSSESSIVE) or following.startswith("#"):
        return 0
    return end - index if versioned or kind or written else 0


# The frame of the thesis


def _unframed(said: Sequence[Token], *, bound: bool) -> Iterator[Form]:
    """The thesis as it is, and without the words that only say which document it speaks of."""
    yield from _commands(list(said))
    if not bound:
        return
    if said[0] == _SELF:
        yield from _framed(list(said[1:]))
    if _SELF in said[-2:] and any(token.key in _SAYS for token in said[-2:]):
        yield from _commands(_without(said, len(said) - 2, len(said)))
    for index, token in enumerate(said):
        start = index - _lead(said, index)
        if token == _SELF and start < index and _may_go(said, start, index + 1):
            yield from _commands(_without(said, start, index + 1))


def _lead(said: Sequence[Token], index: int) -> int:
    """How many words before the document's name only lead to it: "under", "according to"."""
    keys = [token.key for token in said[max(0, index - 2) : index]]
    return 2 if keys == ["according", "to"] else int(bool(keys) and keys[-1] in _FRAMES)


def _without(said: Sequence[Token], start: int, end: int) -> list[Token]:
    """The thesis without a phrase, and without the marks around it."""
    left, right = list(said[:start]), list(said[end:])
    while right and not left and right[0].tag == "mark":
        right.pop(0)
    if left and _is_comma(left[-1]):
        left.pop()
        if right and _is_comma(right[0]):
            right.pop(0)
    return [*left, *right]


def _may_go(said: Sequence[Token], start: int, end: int) -> bool:
    """Whether nothing beside the mention belongs to it: "only under", "under GPL 3 or LGPL 3"."""
    before = said[start - 1].tag if start else ""
    after = said[end].tag if end < len(said) else ""
    return before not in ("not", "limit", "join", "quantity") and after != "join"


def _commands(said: list[Token]) -> Iterator[Form]:
    while said and _is_comma(said[0]):
        said = said[1:]
    said = _rejoined(said)
    if said:
        yield Form(tuple(said))
        if said[0].key == "it" and said[1:2] and said[1].tag == "mode":
            yield Form(tuple(said[1:]), agentless=True)


def _rejoined(said: list[Token]) -> list[Token]:
    """With a modal for "is permitted to", where the document's name stood between its words."""
    for index, token in enumerate(said[:4]):
        if token.key == "be":
            denied = int(said[index + 1 : index + 2] == [] or said[index + 1].key == "not")
            order = [one.key for one in said[index + 1 + denied : index + 3 + denied]]
            mode = _ORDERS.get(order[0]) if order[1:] == ["to"] else None
            if mode is not None and said[index + 1 :]:
                modal = Token(mode[denied], "mode")
                return [*said[:index], modal, *said[index + 3 + denied :]]
    return said


def _framed(rest: list[Token]) -> Iterator[Form]:
    """What follows the document's name: what it says, requires, permits or forbids."""
    keys = [token.key for token in rest[:3]]
    size = 2 if keys[:1] == ["not"] else 1
    if keys[:1] and keys[0] in _SAYS:
        yield from _commands(rest[1 + (keys[1:2] == ["that"]) :])
    elif keys[:1] == [":"]:
        yield from _commands(rest[1:])
    elif keys == ["make", "clear", "that"]:
        yield from _commands(rest[3:])
    elif mode := _FRAME_MODES.get(" ".join(keys[:size])):
        yield from _ordered(rest[size:], mode, let=keys[0] == "let")


def _ordered(rest: list[Token], mode: str, *, let: bool) -> Iterator[Form]:
    """A command as a sentence with a modal: that one does, one to do, from doing, doing, a deed."""
    if rest[:1] and rest[0].key == "that":
        yield from _that_one_does(rest[1:], mode)
    elif rest:
        modal = Token(mode, "mode")
        yield from _to_do(rest, modal, let=let)
        if mode == "must not":
            yield from _from_doing(rest, modal)
        if mode in ("may", "must not"):
            yield from _permitted(rest, mode)


def _that_one_does(rest: list[Token], mode: str) -> Iterator[Form]:
    modes = [token.key for token in rest if token.tag == "mode"]
    if not modes:
        yield Form(tuple(rest), floating=mode)
    elif modes == [mode]:
        yield Form(tuple(rest))


def _to_do(rest: list[Token], modal: Token, *, let: bool) -> Iterator[Form]:
    if rest[0].key.endswith("ing") and bases(rest[0].key):
        yield Form((modal, *_as_verbs(rest)), agentless=True)
    if let:
        yield Form((rest[0], modal, *rest[1:]))
    for index in [index for index, token in enumerate(rest) if token.key == "to" and index][:3]:
        yield Form((*rest[:index], modal, *rest[index + 1 :]))


def _from_doing(rest: list[Token], modal: Token) -> Iterator[Form]:
    for index in [index for index, token in enumerate(rest) if token.key == "from"][:2]:
        if index and rest[index + 1 :] and bases(rest[index + 1].key):
            yield Form((*rest[:index], modal, *_as_verbs(rest[index + 1 :])))


def _permitted(rest: list[Token], mode: str) -> Iterator[Form]:
    """What may or must not be, as "is (not) permitted"."""
    permitted = [_BE, *([_NOT] if mode == "must not" else []), Token("permitted", "word")]
    limits = [index for index, token in enumerate(rest) if token.tag == "limit" and index]
    for index in (*limits[:1], len(rest)):
        yield Form((*rest[:index], *permitted, *rest[index:]))


def _as_verbs(rest: Sequence[Token]) -> Iterator[Token]:
    """A deed as verbs: "copying and distributing" as "copy and distribute"."""
    opened = True
    for token in rest:
        base = bases(token.key) if opened and token.key.endswith("ing") else ""
        yield token._replace(key=base) if base else token
        opened = is_joint(token)


# Forms that keep the meaning


def _condition_moved(form: Form) -> Iterator[Form]:
    """A condition or a phrase with a preposition, from before its sentence to after it and back."""
    first = form.tokens[0].key
    if first in _MOVED or first in PREPOSITIONS:
        return _moved_behind(form)
    return _moved_ahead(form)


def _moved_behind(form: Form) -> Iterator[Form]:
    said = form.tokens
    first = said[0]
    for comma in [index for index, token in enumerate(said) if _is_comma(token)][:3]:
        segment, main = said[:comma], said[comma + 1 :]
        if first.key not in _MOVED:
            for index in _openings(main):
                yield form._replace(tokens=(*main[:index], *segment, *main[index:]))
        elif _is_condition(first, main) or not _is_deep(main[_verb(main) + 1 :]):
            yield form._replace(tokens=(*main, *segment))


def _moved_ahead(form: Form) -> Iterator[Form]:
    said = form.tokens
    verb = _verb(said)
    for index in range(2, len(said)):
        token = said[index]
        if token.key in _MOVED and said[index - 1].key not in ("only", "even", "not"):
            main = said[:index]
            if _is_condition(token, main) or not _is_deep(main[verb + 1 :]):
                yield form._replace(tokens=(*said[index:], _COMMA, *_without_last_commas(main)))
        elif index > verb + 1 and token.key in _MOVABLE and not _is_deep(said[verb + 1 : index]):
            yield form._replace(tokens=(*said[index:], _COMMA, *said[:index]))


def _without_last_commas(said: Sequence[Token]) -> Sequence[Token]:
    while said and _is_comma(said[-1]):
        said = said[:-1]
    return said


def _is_condition(token: Token, main: Sequence[Token]) -> bool:
    """Whether the phrase belongs to the whole of its sentence wherever it stands: if, unless, "not
    without"."""
    forbidden = any(one.key in ("must not", "cannot") for one in main)
    return token.key in _CONDITIONS or (token.key == "without" and forbidden)


def _verb(said: Sequence[Token]) -> int:
    """Where the first modal or form of "be" stands; 1, behind a subject of one word, when there is none."""
    return next((index for index, token in enumerate(said) if token.tag in ("mode", "be")), 1)


def _openings(main: Sequence[Token]) -> Iterator[int]:
    """Where a phrase may be put behind the verb without belonging to another one."""
    verb = _verb(main)
    for index in range(verb + 2, len(main) + 1):
        if index == len(main) or main[index].key in PREPOSITIONS or main[index].tag in ("limit", "mark"):
            if _is_deep(main[verb + 1 : index]):
                return
            yield index


def _is_deep(said: Sequence[Token]) -> bool:
    """Whether there is a clause or a participle to which what follows may belong."""
    for index, token in enumerate(said):
        before = said[index - 1].key if index else ""
        if token.tag in ("limit", "mode") or (token.key in RELATIVES and before not in PREPOSITIONS):
            return True
        if index and bases(token.key) and not _is_qualified(said, index + 1):
            return True
    return False


def _is_qualified(said: Sequence[Token], index: int) -> bool:
    """Whether there is a word at `index` that a participle before it may qualify: "modified copies"."""
    return index < len(said) and not said[index].before and said[index].key not in PREPOSITIONS


def _made_active(form: Form) -> Iterator[Form]:
    """ "Copies may be sold (by you)" as "you may sell copies"."""
    said = form.tokens
    verb = _verb(said)
    be = verb + (verb < len(said) and said[verb].tag == "mode")
    if not verb or be >= len(said) or said[be].key != "be":
        return
    end = _end_of_participles(said, be + 1)
    deeds = [token._replace(key=bases(token.key) or token.key) for token in said[be + 1 : end]]
    if deeds:
        yield from _with_agent(form, said[end:], said[verb:be], (*deeds, *said[:verb]))


def _end_of_participles(said: Sequence[Token], start: int) -> int:
    """Where a row of participles ends that begins at `start`: "copied, modified and sold"."""
    end = start
    for index in range(start, len(said)):
        if bases(said[index].key):
            end = index + 1
        elif index == start or not is_joint(said[index]):
            break
    return end


def _with_agent(
    form: Form, rest: Sequence[Token], modal: Sequence[Token], deed: Sequence[Token]
) -> Iterator[Form]:
    """A deed of whoever is behind "by" in the rest; without "by", of "you" where that is meant."""
    by = next((index for index, token in enumerate(rest) if token.key == "by"), None)
    if by is not None:
        for close in _boundaries(rest, by + 2):
            agent, others = rest[by + 1 : close], (*rest[:by], *rest[close:])
            yield form._replace(tokens=(*agent, *modal, *deed, *others))
    elif modal and modal[0].key in _FREE_MODES:
        yield form._replace(tokens=(_YOU, *modal, *deed, *rest))


def _made_passive(form: Form) -> Iterator[Form]:
    """ "You may sell copies" as "copies may be sold"."""
    said = form.tokens
    verb = _verb(said)
    if verb >= len(said) or said[verb].tag != "mode":
        return
    free = said[verb].key in _FREE_MODES or (form.agentless and said[verb].key == "must")
    if not free or [token.key for token in said[:verb]] not in ([], ["you"]):
        return
    end = _end_of_verbs(said, verb + 1)
    deeds = [_as_participle(token) for token in said[verb + 1 : end]]
    for close in _boundaries(said, end + 1):
        thing, rest = said[end:close], said[close:]
        yield Form((*thing, said[verb], _BE, *deeds, *rest), form.floating)


def _end_of_verbs(said: Sequence[Token], start: int) -> int:
    """Where a row of verbs ends that begins at `start`: "copy, modify and sell"."""
    end = start + 1
    while end + 1 < len(said) and is_joint(said[end]) and _is_verb(said[end + 1]):
        end += 2
    return end


def _is_verb(token: Token) -> bool:
    return token.tag == "word" and not token.before


def _as_participle(token: Token) -> Token:
    if token.tag != "word":
        return token
    return token._replace(key="|".join(participles(key) for key in token.key.split("|")))


def _boundaries(said: Sequence[Token], start: int) -> list[int]:
    """Places from `start` on where a phrase may end."""
    found = [
        index
        for index in range(start, len(said))
        if said[index].key in PREPOSITIONS or said[index].tag in ("limit", "mark")
    ]
    return [*found[:5], *([len(said)] if start <= len(said) else [])]


def _made_causative(form: Form) -> Iterator[Form]:
    """ "X must carry a notice" as "you must cause X to carry a notice"."""
    said = form.tokens
    verb = _verb(said)
    if 0 < verb < len(said) and said[verb].key == "must" and said[0].key != "you":
        caused = (_YOU, said[verb], Token("cause", "word"), *said[:verb], Token("to", "word"))
        yield form._replace(tokens=(*caused, *said[verb + 1 :]))


def _genitive(form: Form) -> Iterator[Form]:
    """ "The holder's name" as "the name of the holder", and back."""
    said = form.tokens
    for index, token in enumerate(said):
        joint = _TURNED_GENITIVES.get(token.key)
        if joint is None or not 0 < index < len(said) - 1:
            continue
        start = index - 1
        while start and _goes_on(said[start - 1], said[start]):
            start -= 1
        ends = [index + 2]
        while len(ends) < 4 and ends[-1] < len(said) and _goes_on(said[ends[-1] - 1], said[ends[-1]]):
            ends.append(ends[-1] + 1)
        for end in ends:
            yield form._replace(
                tokens=(*said[:start], *said[index + 1 : end], joint, *said[start:index], *said[end:])
            )


def _goes_on(token: Token, following: Token) -> bool:
    """Whether `following` belongs to the same noun: a word without an article."""
    plain = all(one.tag == "word" and one.key not in _LINKING for one in (token, following))
    return plain and not following.before and POSSESSIVE not in (token.key, following.key)


def _coordinates_swapped(form: Form) -> Iterator[Form]:
    """ "Copy and modify" as "modify and copy"."""
    said = form.tokens
    for index, token in enumerate(said):
        if token.tag != "join" or token.key == "nor":
            continue
        for size in (1, 2):
            start, end = index - size, index + 1 + size
            if start >= 0 and end <= len(said) and _may_swap(said, start, index, end):
                left, right = said[start:index], said[index + 1 : end]
                yield form._replace(tokens=(*said[:start], *right, token, *left, *said[end:]))


def _may_swap(said: Sequence[Token], start: int, join: int, end: int) -> bool:
    """Whether the words on both sides of a joining one are whole members, and share nothing with what is
    beside them."""
    members = (*said[start:join], *said[join + 1 : end])
    beside = (*said[max(0, start - 1) : start], *said[end : end + 1])
    if any(one.tag != "word" for one in members) or (_has_capital(members) and _has_capital(beside)):
        return False
    if end < len(said) and said[end].key in _LINKING and not _is_led(said, start):
        return False
    return bool(said[start].before) or not start or not _is_noun(said[start - 1])


def _has_capital(said: Sequence[Token]) -> bool:
    return any(token.capital for token in said)


def _is_led(said: Sequence[Token], index: int) -> bool:
    """Whether verbs stand from `index` on, which share what follows: "may copy and distribute in print"."""
    return bool(index) and (said[index - 1].tag == "mode" or said[index - 1].key == "to")


def _is_noun(token: Token) -> bool:
    """Whether a word may qualify the one behind it: "modified" in "modified copies and works"."""
    return token.tag == "word" and token.key not in _NO_NOUNS


def _dative(form: Form) -> Iterator[Form]:
    """ "Give a copy to the buyer" as "give the buyer a copy", and back."""
    said = form.tokens
    verb = next((index for index, token in enumerate(said) if token.key in _GIVES), None)
    if verb is None:
        return
    to = next((index for index in range(verb + 2, len(said)) if said[index].key == "to"), None)
    if to is not None:
        for close in _boundaries(said, to + 2):
            yield form._replace(
                tokens=(*said[: verb + 1], *said[to + 1 : close], *said[verb + 1 : to], *said[close:])
            )
    for cut in range(verb + 2, min(verb + 8, len(said))):
        for close in _boundaries(said, cut + 1)[:3]:
            receiver = (Token("to", "word"), *said[verb + 1 : cut])
            yield form._replace(tokens=(*said[: verb + 1], *said[cut:close], *receiver, *said[close:]))


def _apposed(form: Form) -> Iterator[Form]:
    """ "The offer must be valid for a year" as "an offer, valid for a year"."""
    said = form.tokens
    verb = _verb(said)
    be = verb + (verb < len(said) and said[verb].key == "must")
    if not verb or be >= len(said) or said[be].key != "be":
        return
    apposed = (*said[:verb], APPOSED, *said[be + 1 :])
    if be > verb or not form.floating:
        yield form._replace(tokens=apposed)
    elif form.floating == "must":
        yield Form(apposed)


_REWRITES: tuple[Callable[[Form], Iterator[Form]], ...] = (
    _apposed,
    _condition_moved,
    _made_active,
    _made_passive,
    _made_causative,
    _dative,
    _genitive,
    _coordinates_swapped,
)
