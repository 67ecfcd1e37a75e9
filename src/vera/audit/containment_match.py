"""One form of a thesis in one sentence: where its words stand, and what stands between and beside them.

Words must follow each other as in the form. Between them may stand what only adds: a parenthesis,
"including",
another member of an enumeration of which all hold. Beside them may stand another main clause. A rest that
limits what is said (a condition, an exception, "only") makes the sentence qualify it, and any other rest that
is not known to be harmless makes it say something else.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal

from vera.audit.containment_forms import APPOSED, Form
from vera.audit.containment_sentences import Sentence
from vera.audit.containment_terms import (
    ARTICLES,
    DISTANCE,
    INERT,
    POSSESSIVE,
    PREPOSITIONS,
    RELATIVES,
    Token,
    bases,
    is_joint,
    without_opening,
)
from vera.text.lexicon import word_set

STEPS = 2_000_000
"""Comparisons of words for one label at most: about a second."""

GAP = 60
"""Tokens that may stand between two words of a thesis."""

MODES: Mapping[str, frozenset[str]] = {
    "must": frozenset(("must", "shall")),
    "shall": frozenset(("must", "shall")),
    "can": frozenset(("can", "may")),
    "cannot": frozenset(("cannot", "must not")),
}
"""What a source may say for a modal of a thesis, where that is more than the same."""

_ADDS = word_set("which including")
_ADJECTIVES = word_set("valid free equal similar due open available unlimited effective liable responsible")
_STARTS = word_set("you it they he she we i each no all this that there any")
_DEFINES = word_set("mean refer consist comprise defined called equal identical")
_FREELY = (("from", "time", "to", "time"), ("at", "your", "option"), ("at", "their", "option"))
_QUESTIONS = word_set("how what why whether where")
_BINDING = word_set("without between among both either neither")
_COLLECTIVE = word_set("between among combination sum total mixture union pair both either")
_FIRST_STEPS = word_set("initially originally")
_PARTLY = word_set("part partly partially theory principle name form but or without")
_OPENING = 6
"""Tokens behind "but" of which one says that what was said does not always hold."""

_BACK = word_set("it they that such same")
_YEAR = re.compile(r"#(?:1[0-9]|20)[0-9]{2}")
_TRAILING = word_set("to under in for from with by on that which")

Outcome = Literal["SUPPORTS", "QUALIFIES", ""]

_States = dict[tuple[int, bool, bool], None]
"""Places of a word, each with whether the modal was found and whether something left out limits it."""


class Budget:
    """How many comparisons are left."""

    def __init__(self) -> None:
        self.left = STEPS

    def take(self, steps: int) -> bool:
        """Spend some; whether they were there."""
        self.left -= steps
        return self.left >= 0


def known(token: Token, keys: set[str]) -> bool:
    """Whether a sentence with these keys may have a token of a thesis."""
    if token.tag == "mode":
        return not keys.isdisjoint(MODES.get(token.key, {token.key}))
    return not keys.isdisjoint(token.key.split("|"))


def same(wanted: Token, seen: Token) -> bool:
    """Whether a token of a sentence is what a thesis says there."""
    if wanted.key == "self" and wanted.own:
        return seen.own
    if wanted.tag == "mode":
        return seen.tag == "mode" and seen.key in MODES.get(wanted.key, (wanted.key,))
    return seen.key in wanted.key.split("|") and (seen.tag == "mode") == (wanted.tag == "mode")


class Reading:
    """One form of a thesis in one sentence."""

    def __init__(
        self, form: Form, sentence: Sentence, cited: tuple[int, int], *, exact: bool = False
    ) -> None:
        """With `exact` nothing that says more of the same, such as when it was, may follow the form."""
        self.exact = exact
        self.form = form
        self.seen = sentence.tokens
        self.sentence = sentence
        self.cited = cited
        self.apposed = APPOSED in form.tokens
        keys = {token.key for token in form.tokens if token.tag in ("mode", "not")} | {form.floating}
        self.denies = not keys.isdisjoint(
            ("not", "no", "never", "nor", "without", "must not", "cannot", "need not", "will not")
        )
        self.defines = not {token.key for token in form.tokens}.isdisjoint(_DEFINES)
        self.allows = not keys.isdisjoint(("may", "can"))

    def outcome(self, budget: Budget) -> Outcome:
        """The best that a place of the form in the sentence says."""
        if self.sentence.optional and not self.apposed:
            return ""
        best: Outcome = ""
        for start, end, limited in self._places(budget):
            outcome = self._beside(start, end)
            if outcome == "SUPPORTS" and not limited:
                return "SUPPORTS"
            best = "QUALIFIES" if outcome else best
        return best

    def _places(self, budget: Budget) -> Iterator[tuple[int, int, bool]]:
        """First and last token of each place, and whether something was left out that limits it."""
        wanted = self.form.tokens
        if not budget.take(len(wanted) * len(self.seen)):
            return
        where = [[i for i, token in enumerate(self.seen) if same(one, token)] for one in wanted]
        if not where or not all(where):
            return
        first, *further = where
        for start in first:
            for end, settled, limited in self._reached(start, further, budget):
                if settled and self._is_cited(start, end):
                    yield start, end, limited

    def _reached(self, start: int, further: Sequence[Sequence[int]], budget: Budget) -> _States:
        """The states at the last word of the form when its first one is at `start` and each further one at
        one of its places; none when the budget is spent."""
        reached: _States = {(start, not self.form.floating, False): None}
        for places in further:
            ahead: _States = {}
            for position, settled, limited in reached:
                for following in places:
                    if not position < following <= position + GAP:
                        continue
                    if not budget.take(20 * (following - position)):
                        return {}
                    gap = self._gap(position, following, settled)
                    if gap is not None:
                        ahead[following, settled or gap == "mode", limited or gap == "limit"] = None
            if not ahead:
                return {}
            reached = ahead
        return reached

    def _is_cited(self, start: int, end: int) -> bool:
        first, last = self.cited
        return (
            first <= min(self.sentence.lines[start : end + 1])
            and max(self.sentence.lines[start : end + 1]) <= last
        )

    def _gap(self, position: int, following: int, settled: bool) -> str | None:
        """What the tokens between two words of the thesis do: '' nothing, "mode" say its modal, "limit" limit
        it; None when they change it."""
        gap = self._without_additions(list(self.seen[position + 1 : following]))
        modal = None if settled else self._floating_modal(gap)
        if modal is not None:
            return "mode" if self._are_idle([*gap[:modal], *gap[modal + 1 :]]) else None
        if self._are_idle(gap) or self._is_enumerated(position, following, gap):
            return ""
        tags = {token.tag for token in gap}
        if "limit" in tags and tags.isdisjoint(("mode", "not")):
            return "limit" if len(gap) <= 12 else None
        return None

    def _floating_modal(self, gap: Sequence[Token]) -> int | None:
        """Where a gap has the modal of the form that may be anywhere; None when it has none."""
        keys = MODES.get(self.form.floating, (self.form.floating,))
        return next((i for i, token in enumerate(gap) if token.tag == "mode" and token.key in keys), None)

    def _are_idle(self, gap: Sequence[Token]) -> bool:
        return all(self._is_idle(token) for token in gap)

    def _is_idle(self, token: Token) -> bool:
        """Whether a token may be left out wherever it stands: commas, and "all" or "any" of a plain
        statement."""
        if token.key == ",":
            return True
        if token.tag == "quantity" and token.key in ("all", "each"):
            return not self.denies
        return token.key == "any"

    def _without_additions(self, gap: list[Token]) -> list[Token]:
        """Without parentheses, phrases and clauses that add something and limit nothing."""
        kept: list[Token] = []
        index = 0
        while index < len(gap):
            idle = next((len(phrase) for phrase in _FREELY if _begins(gap, index, phrase)), 0)
            if idle:
                index += idle
                continue
            close = self._addition(gap, index)
            if close is None:
                kept.append(gap[index])
                index += 1
            else:
                index = close
        return kept

    def _addition(self, gap: Sequence[Token], index: int) -> int | None:
        """Where an addition that begins at `index` ends."""
        if gap[index].key == "(":
            return _end_of_parenthesis(gap, index)
        return _end_of_phrase(gap, index) if gap[index].key == "," else None

    def _is_enumerated(self, position: int, following: int, gap: Sequence[Token]) -> bool:
        """Whether only further members of an enumeration stand between two words."""
        joins = {token.key for token in gap if token.tag == "join"}
        if "and" in joins and (self._is_of(position) or self._restricts(position)):
            return False
        if self._is_named(position, following, gap) or any(_is_foreign(token) for token in gap):
            return False
        if self._is_bound(position) or not self._may_drop(joins, position):
            return False
        return self._goes_on(position, following, gap, joins)

    def _goes_on(self, position: int, following: int, gap: Sequence[Token], joins: set[str]) -> bool:
        """Whether an enumeration that joins its members by these words goes on through a gap."""
        opened, closed = gap[0], gap[-1]
        if not _are_members(_members(gap)):
            return False
        if is_joint(opened):
            if closed.key == ",":
                return bool(self._join_behind(following))
            return bool(joins) and closed.tag != "join" and closed.key not in PREPOSITIONS
        if not _is_content_word(opened):
            return False
        if closed.key != ",":
            return closed.tag == "join"
        if self._is_adjective_list(position, following, gap):
            return True
        further = self._join_behind(following)
        return bool(further) and self._may_drop(further, position)

    def _is_of(self, position: int) -> bool:
        """Whether an enumeration there is what something is "of": a minister of finance and justice is
        one."""
        return any(token.key == "of" for token in self.seen[max(0, position - 3) : position + 1])

    def _is_named(self, position: int, following: int, gap: Sequence[Token]) -> bool:
        """Whether two parts of names would become one: Tom Smith of "Tom Jones and Smith"."""
        if self.sentence.text.isupper() or self.seen[following].before:
            return False
        edges = (self.seen[position], self.seen[following])
        inside = (gap[0], gap[-1])
        return all(token.capital for token in edges) and any(token.capital for token in inside)

    def _restricts(self, position: int) -> bool:
        """Whether what is there tells of which things something is said ("works that are red and blue"):
        with a member left out it would be said of more."""
        verb = next((i for i, token in enumerate(self.seen) if token.tag in ("mode", "be")), len(self.seen))
        near = self.seen[max(0, position - 14) : position + 1]
        clause = next(
            (
                i
                for i, token in enumerate(near)
                if token.key in RELATIVES or token.key == "with" or bases(token.key)
            ),
            None,
        )
        if clause is None:
            return False
        chosen = any(token.tag == "quantity" or token.before in ("the", "this") for token in near[:clause])
        return position < verb or chosen or near[clause].key in RELATIVES

    def _is_adjective_list(self, position: int, following: int, gap: Sequence[Token]) -> bool:
        """Whether single words with commas stand before a noun: "a perpetual, worldwide, irrevocable
        license"."""
        singles = _members(gap)
        return (
            len(gap) == 2 * len(singles)
            and self._says_what_is()
            and (
                self.seen[position].key == "," or bool(gap[0].before) or self.seen[position + 1].before != ""
            )
            and not self.seen[following].before
        )

    def _join_behind(self, following: int) -> set[str]:
        """The word before the last member of the enumeration that `following` is a member of."""
        for token in self.seen[following : following + 12]:
            if token.tag == "join":
                return {token.key}
            if token.key in RELATIVES or token.tag in ("mode", "be", "limit", "not"):
                break
        return set()

    def _is_bound(self, position: int) -> bool:
        """Whether a condition or an exception reaches to the place: no member of it may be left out."""
        behind_verb = False
        for token in reversed(self.seen[max(0, position - GAP) : position + 1]):
            if token.key in (";", ":") or (behind_verb and token.key == ","):
                return False
            if token.tag == "limit" or (not behind_verb and token.key in _BINDING):
                return True
            behind_verb = behind_verb or token.tag == "mode"
        return False

    def _may_drop(self, joins: set[str], position: int) -> bool:
        """Whether members joined by these words may be left out: all hold, or any may be chosen."""
        if joins & {"but", "nor"} or self.defines:
            return False
        if "or" in joins or "and/or" in joins:
            return self._is_free(position)
        return not self.denies

    def _is_free(self, position: int) -> bool:
        """Whether "or" joins things there of which each holds: behind "may", "not", "any"."""
        near = [token.key for token in self.seen[max(0, position - 8) : position + 1]]
        if not {"any", "all", "each"}.isdisjoint(near):
            return True
        for index in range(min(position, len(self.seen) - 1), -1, -1):
            token = self.seen[index]
            if token.tag == "mode":
                return token.key in ("may", "can", "must not", "cannot", "will not", "need not")
            if token.tag == "not":
                before = self.seen[max(0, index - 5) : index]
                return not any(one.key in RELATIVES or one.tag == "limit" for one in before)
            if token.key == ";":
                return False
        return False

    # What is beside

    def _beside(self, start: int, end: int) -> Outcome:
        """Whether what stands before and after leaves the thesis as it is."""
        unmatched = [*self.seen[:start], *self.seen[end + 1 :]]
        if any(token.key in DISTANCE for token in unmatched):
            return ""
        if self.apposed:
            return self._in_apposition(start, end)
        sides = self._before(start), self._after(list(self.seen[end + 1 :]), end)
        if "" in sides:
            return ""
        return "QUALIFIES" if "QUALIFIES" in sides else "SUPPORTS"

    def _before(self, start: int) -> Outcome:
        left = self._leading(start)
        if left is None:
            return ""
        if not left:
            return "SUPPORTS"
        if any(token.tag == "limit" for token in _last_part(left)):
            return "QUALIFIES" if left[-1].key == ";" or is_joint(left[-1]) else ""
        apart = left[-1].key == ";" or (_is_first_clause(left) and self._begins_clause(start))
        return "SUPPORTS" if apart else ""

    def _leading(self, start: int) -> list[Token] | None:
        """What is before the form but for words that say nothing; None where its "you" is missing."""
        left = without_opening(self.seen[:start])
        if _is_for_sake(left):
            left = []
        while left and left[-1].tag == "quantity" and self._is_idle(left[-1]):
            left = left[:-1]
        if not self.form.agentless:
            return left
        if not left or left[-1].key != "you":
            return None
        return without_opening(left[:-1])

    def _begins_clause(self, start: int) -> bool:
        token = self.seen[start]
        return bool(token.before) or token.key in _STARTS or token.own or self.form.agentless

    def _after(self, right: list[Token], end: int) -> Outcome:
        right = self._without_additions(right)
        while right and right[0].key in (")", "]"):
            right = right[1:]
        if not right or right[0].key in (".", "!"):
            return "SUPPORTS"
        return "" if self.seen[end].key in PREPOSITIONS else self._continued(right, end)

    def _continued(self, right: list[Token], end: int) -> Outcome:
        """The same of a sentence that goes on."""
        opened = right[0]
        if opened.key == ";":
            return "QUALIFIES" if _is_limited(right[1:]) or _takes_back(right[1:]) else "SUPPORTS"
        if self._is_event(end) and _tells_when(right):
            return "SUPPORTS"
        if opened.key == ",":
            return self._after_comma(right[1:], end)
        if opened.tag == "join":
            return self._after_join(right, end)
        if opened.key == "(" or opened.tag in ("limit", "not"):
            return "QUALIFIES"
        return self._after_word(right, end)

    def _after_comma(self, rest: list[Token], end: int) -> Outcome:
        if not rest:
            return "SUPPORTS"
        if rest[0].tag == "join":
            return self._after_join(rest, end)
        if rest[0].tag in ("limit", "not") or _has_limit(rest):
            return "QUALIFIES"
        return "SUPPORTS" if self._tells_more(rest, end) else "QUALIFIES"

    def _tells_more(self, rest: Sequence[Token], end: int) -> bool:
        """Whether what follows a comma takes nothing back: an addition, further members, a result, an aim."""
        if rest[0].key in _ADDS or _begins(rest, 0, ("such", "as")):
            return True
        if _is_rest_of_list(rest):
            joins = {token.key for token in rest if token.tag == "join"}
            return self._may_drop(joins, end) and self._is_whole(joins, rest, end)
        return rest[0].key == "so" or (rest[0].key == "to" and not (self.allows or self.denies))

    def _is_event(self, end: int) -> bool:
        """Whether the thesis ends there as something that was done once ("was created by …"), so that a time
        or a first step told behind it takes nothing back."""
        said = self.seen[max(0, end - GAP) : end + 1]
        return (
            not (self.exact or self.form.floating)
            and self._says_what_is()
            and any(verb.key == "was" and bases(deed.key) for verb, deed in pairwise(said))
            and not any(token.tag in ("mode", "quantity", "limit", "not") for token in said)
        )

    def _after_join(self, right: list[Token], end: int) -> Outcome:
        join, rest = right[0].key, right[1:]
        if not rest:
            return "SUPPORTS"
        if rest[0].tag in ("number", "limit") or join == "nor":
            return "QUALIFIES"
        parallel = self._parallel(rest, end) if join == "and" else None
        if parallel is not None:
            return self._after(parallel, end)
        return "SUPPORTS" if self._is_apart(join, rest, end) and not _is_limited(rest) else "QUALIFIES"

    def _is_apart(self, join: str, rest: Sequence[Token], end: int) -> bool:
        """Whether the thesis says the same without what is joined to it."""
        clause = _is_clause(rest)
        if join == "but":
            return not any(map(_is_denied, rest[:_OPENING])) and (clause or bool(rest[0].before))
        if join != "and" and not self._is_free(end):
            return False
        return clause or (not (join == "and" and self.denies) and self._is_whole({join}, rest, end))

    def _is_whole(self, joins: set[str], rest: Sequence[Token], end: int) -> bool:
        """Whether the thesis ends with a whole member of an enumeration, which shares nothing with the next:
        not "to obstruct" of "to obstruct or control the reading"."""
        if rest[0].key in _QUESTIONS:
            return any(token.key in RELATIVES for token in self.seen[max(0, end - 24) : end])
        if self.defines or ("and" in joins and self._restricts(end)):
            return False
        last, before = self.seen[end], self.seen[end - 1]
        shares = before.key == "to" or before.tag in ("mode", "not", "join") or before.key.endswith("ly")
        if shares or (before.key == "," and not last.before) or last.key in PREPOSITIONS:
            return False
        near = {token.key for token in self.seen[max(0, end - 4) : end + 1]}
        if not near.isdisjoint(_COLLECTIVE) or self._is_bound(end):
            return False
        if rest[0].key in PREPOSITIONS:
            return any(token.key == rest[0].key for token in self.seen[max(0, end - 8) : end])
        if "and" in joins and self._is_of(end) and not rest[0].before:
            return False
        close = next((i for i, token in enumerate(rest) if token.key in (",", ";", ".", "(")), len(rest))
        goes_on = any(token.key in PREPOSITIONS or token.key in RELATIVES for token in rest[:close])
        plural = self.sentence.text[last.end - 1 : last.end].lower() == "s"
        return bool(rest[0].before) or _is_deed(rest) or (plural and not goes_on)

    def _parallel(self, rest: Sequence[Token], end: int) -> list[Token] | None:
        """What follows a second phrase with the same head ("valid for … and valid for …"); None if there is
        none."""
        heads = {
            (one.key, other.key) for one, other in zip(self.seen[:end], self.seen[1 : end + 1], strict=True)
        }
        if len(rest) < 2 or (rest[0].key, rest[1].key) not in heads or rest[1].key not in PREPOSITIONS:
            return None
        close = next((i for i, token in enumerate(rest) if token.key in (",", ";", ".")), len(rest))
        return list(rest[close:])

    def _after_word(self, right: list[Token], end: int) -> Outcome:
        opened = right[0]
        goes_on = opened.key in PREPOSITIONS or opened.key in RELATIVES
        if not goes_on and not opened.key.endswith("ing"):
            return ""
        return "SUPPORTS" if self._may_trail(right, end) else "QUALIFIES"

    def _may_trail(self, right: Sequence[Token], end: int) -> bool:
        """Whether a phrase at the end may be left out: it tells more of something that there must be or
        is."""
        if not self._says_what_is() or right[0].before or _has_limit(right):
            return False
        near = self.seen[max(0, end - 12) : end + 1]
        if any(token.key in RELATIVES or token.tag == "quantity" for token in near):
            return False
        if right[0].key.endswith("ing"):
            return self.seen[end].tag == "word" and not self._is_each(end)
        return right[0].key in _TRAILING and self._is_any(end)

    def _says_what_is(self) -> bool:
        """Whether the thesis says what is or must be: it allows, denies and defines nothing."""
        return not (self.allows or self.denies or self.defines)

    def _is_any(self, end: int) -> bool:
        """Whether the last noun is meant as one of many: after "a"."""
        for token in reversed(self.seen[max(0, end - 6) : end + 1]):
            if token.before:
                return token.before in ("a", "an")
            if not _is_content_word(token):
                return False
        return False

    def _is_each(self, end: int) -> bool:
        """Whether the last noun is meant as a whole: after "all", "any", "the"."""
        for token in reversed(self.seen[max(0, end - 6) : end + 1]):
            if token.tag == "quantity" or token.before in ("the", "this", "these"):
                return True
            if token.key in PREPOSITIONS or token.tag in ("mode", "be", "mark"):
                return False
        return False

    def _in_apposition(self, start: int, end: int) -> Outcome:
        """The thesis says of a noun what the source says of it behind a comma."""
        comma = next((i for i in range(start, end - 1) if self.seen[i].key == ","), None)
        if comma is None or not self._is_apposed(start, comma):
            return ""
        right = self._without_additions(list(self.seen[end + 1 :]))
        if right and right[0].key == "and":
            parallel = self._parallel(right[1:], end)
            if parallel is None:
                return "QUALIFIES"
            right = parallel
        return "SUPPORTS" if not right or right[0].key in (",", ";", ".") else "QUALIFIES"

    def _is_apposed(self, start: int, comma: int) -> bool:
        """Whether a noun that is not denied has an adjective with a preposition behind its comma."""
        adjective, preposition = self.seen[comma + 1], self.seen[comma + 2]
        fits = adjective.key in _ADJECTIVES or adjective.key.endswith(("ed", "able", "ible"))
        if not fits or preposition.key not in PREPOSITIONS or adjective.before:
            return False
        return self.seen[start].before in ARTICLES and not any(
            token.tag == "not" or token.key in ("no", "without")
            for token in self.seen[max(0, start - 4) : start]
        )


def _tells_when(right: Sequence[Token]) -> bool:
    """Whether what follows is no more than a date, a first step behind a comma ("initially under …"), or
    both."""
    close = next((i for i, token in enumerate(right) if token.key in (",", ".", "!")), len(right))
    date = right[:close]
    if date and not _is_date(date):
        return False
    rest = right[close + 1 :]
    if close == len(right) or right[close].key != ",":
        return bool(date)
    return (
        bool(rest)
        and rest[0].key in _FIRST_STEPS
        and not any(
            token.tag in ("limit", "not", "quantity", "mode") or token.key in _PARTLY for token in rest
        )
    )


def _is_date(said: Sequence[Token]) -> bool:
    """Whether the tokens say a year or a day, such as "in 1991" or "on 25 August 1991"."""
    return (
        said[0].key in ("in", "on")
        and 2 <= len(said) <= 4
        and any(_YEAR.fullmatch(token.key) for token in said)
        and all(token.tag == "number" or token.capital for token in said[1:])
    )


def _begins(gap: Sequence[Token], index: int, phrase: Sequence[str]) -> bool:
    return tuple(token.key for token in gap[index : index + len(phrase)]) == tuple(phrase)


def _end_of_parenthesis(gap: Sequence[Token], index: int) -> int | None:
    """Where a parenthesis ends that opens at `index`; None when it has no end or does more than add."""
    close = next((i for i in range(index, len(gap)) if gap[i].key == ")"), None)
    if close is None or not _adds(gap[index + 1 : close]) or not _refers(gap, index, close):
        return None
    return close + 1


def _end_of_phrase(gap: Sequence[Token], index: int) -> int | None:
    """Where a phrase between commas ends that opens at `index`; None when it has no end or does more than
    add."""
    close = next((i for i in range(index + 1, len(gap)) if gap[i].key == ","), None)
    if close is None:
        return None
    inner = gap[index + 1 : close]
    keys = tuple(token.key for token in inner)
    leads = keys in INERT or (keys[:1] and keys[0] in _ADDS) or keys[:2] == ("such", "as")
    return close if leads and _adds(inner) else None


def _adds(inner: Sequence[Token]) -> bool:
    """Whether a parenthesis or a clause only adds."""
    return not any(token.tag in ("limit", "not") or token.key in DISTANCE for token in inner)


def _refers(gap: Sequence[Token], opened: int, closed: int) -> bool:
    """Whether the numbers of a parenthesis say nothing new: "twelve (12)", "(see section 4)"."""
    inner = gap[opened + 1 : closed]
    said = {token.key for token in gap[max(0, opened - 3) : opened]}
    sections = any(token.key in ("section", "subsection", "paragraph", "article") for token in inner)
    return sections or all(token.key in said for token in inner if token.tag == "number")


def _members(gap: Sequence[Token]) -> list[list[Token]]:
    """The members of an enumeration, without commas and joining words."""
    found: list[list[Token]] = [[]]
    for token in gap:
        if is_joint(token):
            found.append([])
        else:
            found[-1].append(token)
    return [member for member in found if member]


def _are_members(found: Sequence[Sequence[Token]]) -> bool:
    """Whether each is as short and plain as a member of an enumeration is."""
    return bool(found) and all(
        len(member) <= 4
        and not any(token.before or token.key == POSSESSIVE for token in member[1:])
        and not any(token.key in PREPOSITIONS for token in member[:-1])
        for member in found
    )


def _is_foreign(token: Token) -> bool:
    """Whether a token cannot be in a plain enumeration."""
    return (
        token.tag in ("limit", "mode", "not", "be", "number")
        or token.key in DISTANCE
        or token.key in RELATIVES
        or (token.tag == "mark" and token.key != ",")
    )


def _is_content_word(token: Token) -> bool:
    return token.tag == "word" and token.key not in PREPOSITIONS


def _is_for_sake(left: Sequence[Token]) -> bool:
    """Whether a sentence begins with an aim that limits nothing: "for clarity's sake,"."""
    return len(left) > 2 and left[0].key == "for" and left[-2].key == "sake" and left[-1].key == ","


def _last_part(left: Sequence[Token]) -> Sequence[Token]:
    """The part of the sentence since its last semicolon."""
    last = max((i for i, token in enumerate(left[:-1]) if token.key == ";"), default=-1)
    return left[last + 1 :]


def _is_first_clause(left: Sequence[Token]) -> bool:
    """Whether a main clause ends there and another one is joined to it: "it is free, and"."""
    joined = len(left) > 3 and left[-1].key in ("and", "but") and left[-2].key == ","
    return joined and _is_clause(left)


def _is_clause(said: Sequence[Token]) -> bool:
    """Whether the tokens have their own finite verb: a modal or "be" before any relative word."""
    for index, token in enumerate(said):
        if token.tag in ("mode", "be") or (not index and token.key == "not"):
            return True
        if token.key in RELATIVES:
            return False
    return False


def _is_deed(rest: Sequence[Token]) -> bool:
    """Whether a verb with its own object follows: "and assume any risks", "and makes no promise"."""
    if len(rest) < 2 or rest[0].before or not _is_content_word(rest[0]):
        return False
    return bool(rest[1].before) or rest[1].tag == "quantity" or rest[1].key == "no"


def _has_limit(rest: Sequence[Token]) -> bool:
    return any(_is_limit(token) for token in rest)


def _is_limit(token: Token) -> bool:
    return token.tag == "limit" or token.key == "without"


def _is_limited(rest: Sequence[Token]) -> bool:
    """Whether a condition or an exception in what follows may reach back. Within its own clause, behind
    its verb and without a comma, or in a parenthesis, it does not."""
    previous: Token | None = None
    clause = False
    depth = 0
    for token in rest:
        if token.key == "(":
            depth += 1
        elif token.key == ")" and depth:
            depth -= 1
        elif not depth and _is_limit(token) and _reaches_back(token, previous, clause=clause):
            return True
        clause = clause or token.tag in ("mode", "be")
        previous = token
    return False


def _takes_back(rest: Sequence[Token]) -> bool:
    """Whether what follows denies something of what was said: "; above 5,000 euros this does not hold"."""
    denied = next((index for index, token in enumerate(rest) if _is_denied(token)), -1)
    return any(token.before in ("this", "these") or token.key in _BACK for token in rest[: denied + 1])


def _is_denied(token: Token) -> bool:
    return token.key in ("not", "no", "never", "only", "cannot") or token.key.endswith(" not")


def _reaches_back(limit: Token, previous: Token | None, *, clause: bool) -> bool:
    """Whether a limit behind a token reaches back; `clause`: there is a finite verb before it."""
    after_mark = previous is None or previous.key in (";", "(") or is_joint(previous)
    if limit.key == "without":
        return after_mark and not clause
    return not clause or after_mark or limit.key in ("provided", "notwithstanding")


def _is_rest_of_list(rest: Sequence[Token]) -> bool:
    """Whether an enumeration goes on to the end of the sentence or to its next part."""
    close = next((i for i, token in enumerate(rest) if token.key in (".", ";", "(")), len(rest))
    inner = rest[:close]
    plain = not any(token.tag in ("mode", "be", "limit", "not") or token.key in RELATIVES for token in inner)
    return (
        plain
        and any(token.tag == "join" for token in inner)
        and all(len(member) <= 5 for member in _members(inner))
    )
