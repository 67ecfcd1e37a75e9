"""Sentences that say that a document, or a numbered clause of one, no longer holds as it was written.

A sentence gives the things that it names as superseded, each with the words
that name it. What it does not say plainly (negated, planned, conditional, limited) is no such thing, or not
`firm`. Who is meant by the words is decided elsewhere (`vera.audit.versions`).
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

import msgspec

from vera.evidence.superseding_words import (
    ADJUNCT,
    AMENDMENT,
    BE,
    CHANGED,
    CHANGES,
    CHINESE_CHANGES,
    CHINESE_DENIED,
    CHINESE_ENDS,
    CHINESE_LEADS,
    CHINESE_TAKES,
    CHINESE_TRAILS,
    CHINESE_UNSURE,
    CORRECTS,
    ENDED,
    ENDS,
    FRENCH_ENDED,
    GERMAN_ENDED,
    INSTEAD,
    OVER,
    PAST,
    PUTS,
    QUOTED,
    ROMANCE_BE,
    ROMANCE_CHANGED,
    ROMANCE_ENDED,
    WORDED_CUT,
    may_tell,
)
from vera.text.late_regex import late_regex
from vera.text.whole_sentences import SMALL_WORDS, runs_on
from vera.text.words import hedges, unmarked

MAX_CHARACTERS = 400_000
"""Of a text, from its beginning: what lies behind is not looked through."""

MAX_STATEMENTS = 200
_MAX_LENGTH = 1200
_MAX_PARTS = 24
_MAX_CLAUSES = 60
_REACH = 12
"""Lines that one sentence is looked for in, on each side of its verb."""


class Thing(msgspec.Struct, frozen=True, kw_only=True):
    """What a statement names as superseded: the words, without clause numbers, and the `clauses` ("7",
    "7.2"), none for all of it. `everything`: it says all of a kind."""

    words: str
    clauses: tuple[str, ...] = ()
    everything: bool = False


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence of lines `first` to `last`. `replaces`: it replaces or ends what it names, rather than
    amends it. `wording`: the words that it takes out and those that it puts there. `firm`: it says so
    plainly. `heads`: it is the heading of an amendment, and says what the document as a whole amends."""

    first: int
    last: int
    text: str
    things: tuple[Thing, ...]
    wording: tuple[str, str] | None = None
    replaces: bool = True
    firm: bool = True
    heads: bool = False


_ACTIVE = late_regex(rf"(?i)(?<![\w.-])(?:(?P<ends>{ENDS})|(?P<changes>{CHANGES}))(?:-se)?(?![\w-])")
_ACTIVE_PAST = late_regex(
    rf"(?i)(?<![\w.-])(?P<ends>{PAST}|(?:ha|han|hanno)\s(?!sido|stat){ROMANCE_ENDED}|(?:a"
    rf"|ont)\s{FRENCH_ENDED})(?![\w-])"
)
_INFINITIVE = late_regex(r"(?i)\b(?:to|you|we|they|can|cannot|must|or|could)\s+\Z")
_NO_PAST = late_regex(
    rf"(?i)\b(?:{BE}|{BE} \w{{2,12}}(?:ly|by)|the|an?|as|of|and|or|newly|not|to|has|have)\s+\Z"
)
_PASSIVE = late_regex(
    rf"(?i)\b{BE}\s+(?:(?:hereby|also|now|thereby|entirely"
    rf"|(?:{ENDED}|{CHANGED}),?(?: in its entirety)? and)\s+){{0,3}}"
    rf"(?:(?P<ends>{ENDED})|(?P<changes>{CHANGED}))(?![\w-])"
    rf"|\b(?P<over>{OVER})(?!\w)"
    r"|\b(?P<reads>shall (?:now |henceforth )?(?:be replaced|be deleted|be amended|read)|is to read|now reads"
    r"|erhält folgende (?:neue )?fassung|lautet (?:nunmehr|künftig|wie folgt|neu)"
    r"|est (?:ainsi )?(?:rédigée?|libellée?)|(?:queda|passa) (?:redactad[oa]|a ter a seguinte redação)"
    r"|è sostituit[oa] dal seguente)(?!\w)"
    r"|\b(?:est|sont|a été|ont été|sera|seront)\s+(?:\w{1,14}\s+){0,2}?"
    rf"(?:(?P<fin>{FRENCH_ENDED})|(?P<modifie>modifiée?s?))(?!\w)"
    rf"|(?<!\w)(?<!\w['’]){ROMANCE_BE}\s+(?:\w{{1,14}}\s+){{0,2}}?"
    rf"(?:(?P<romance>{ROMANCE_ENDED})|(?P<alterado>{ROMANCE_CHANGED}))(?!\w)"
)
_GERMAN = late_regex(
    r"(?i)\b(?:wird|werden|wurde|wurden|ist|sind)\b(?P<mid>[^;]{0,240}?)\b"
    rf"(?:(?P<ends>{GERMAN_ENDED})|(?P<changes>(?:ab)?geändert))(?!\w)"
)
_SEPARATE = late_regex(
    r"(?i)\b(?:(?:hebt|heben|hob|hoben)\b(?P<auf>[^;]{1,240}?)\bauf|(?:löst|lösen)\b(?P<ab>[^;]{1,240}?)\bab"
    r"|(?:setzt|setzen)\b(?P<aus>[^;]{1,240}?)\b(?:aus|außer kraft)|(?:zieht|ziehen|nimmt"
    r"|nehmen)\b(?P<back>[^;]{1,240}?)"
    rf"\bzurück|(?:hat|haben)\b(?P<hat>[^;]{{1,240}}?)\b(?:{GERMAN_ENDED}))(?!\w)"
)
_CHINESE = late_regex(rf"(?P<ends>{CHINESE_ENDS})|(?P<changes>{CHINESE_CHANGES})")
_HEAD = late_regex(
    rf"(?i)\b(?:{AMENDMENT}|{CORRECTS})\b[^.;:]{{0,40}}?"
    r"\b(?:to|of|zum|zur|zu|des|der|au|aux|à la|à l['’]|du|de la|de l['’]|al|a la|del|della|alla|do|da|ao"
    r"|à)(?!\w)"
    r"(?P<what>[^.;:]{3,160})"
)
_TELLS = late_regex(
    rf"(?i)\b(?:{ENDS}|{CHANGES}|{ENDED}|{CHANGED}|{GERMAN_ENDED}|{FRENCH_ENDED}|{ROMANCE_ENDED}"
    rf"|{ROMANCE_CHANGED}"
    rf"|{AMENDMENT}|{CORRECTS}|{OVER}|shall |is to read|now reads|folgende|lautet|rédigée?|libellée?"
    rf"|modifiée?"
    r"|geändert|hebt|heben|hob|löst|lösen|setz|zieh|nimmt|nehmen|tritt|treten|redactad|redação)"
    rf"|{CHINESE_ENDS}|{CHINESE_CHANGES}"
)
"""A quick look: a line without any of these is in no statement by its verb."""

_NEGATED = late_regex(
    r"(?i)\b(?:not|never|neither|nor|nothing|none|cannot|doesn['’]t|isn['’]t|nicht|kein\w{0,2}|niemals|weder"
    r"|aucune?|jamais|ne|without|ohne|sans|no(?!\W{0,3}\d|\s+obstante)|nunca|jamás|tampoco|não|nenhuma?|non"
    r"|nessun[oa]?)\b|\bn['’](?=\w)|\b(?:remains?|remain) (?:in force|unchanged)"
    r"|\b(?:confirm(?:s|ed|ad[oa]s?|at[oaie]|ée?s?)|bestätigt|bleib(?:t|en) (?:in kraft|unberührt))\b"
)
_UNSURE = late_regex(
    r"(?i)\b(?:draft|proposals?|zukünftig|geplant|soll|sollen|sollte|könnte|würde|dürfte|falls|sofern|wenn"
    r"|entwurf|vorschlag|projet de|pourrait|devrait|serait|si(?!\s(?:abrog|annull|sospend|sostitu|revoc"
    r"|sopprim))"
    r"|se(?=\s(?:il|la|le|lo|i|gli|o|os|as|a|não|non|for|forem|houver)\s)|quando|cuando"
    r"|proyecto|propuesta|podría|debería|sería|borrador|según|bozza|proposta|potrebbe|dovrebbe|sarebbe"
    r"|poderia"
    r"|deveria|seria|minuta|parcialmente|parzialmente|en parte|in parte|em parte|envisage|proposée?|prévoit"
    r"|vorgesehen|in part"
    r"|partly|partially|teilweise|partiellement|said|says|claims?|according to|laut|selon)\b"
)
_LIMITED = late_regex(
    r"(?i)\b(?:unless|except|only|insofar|to the extent|soweit|außer(?! kraft)|lediglich|nur|sauf"
    r"|uniquement|excepté"
    r"|salvo|excepto|únicamente|solo|sólo|soltanto|solamente|somente|apenas|exceto|tranne|fuorché)\b"
)
_CUT = late_regex(
    r"(?i)[;()]|:\s|\s(?:with|by|under|pursuant|durch|par|mit|effective|as from|as of|from|ab|à compter"
    r"|à partir|which|that|but|aber|mais|wie|as follows|and (?:shall|is|are|has|will|takes|comes|enters)"
    r"|et (?:est|sont|entre)"
    r"|und (?:ist|sind|wird|tritt|gilt)|por|mediante|desde|a partir|con effetto|dalla?|dall['’]|pel[oa]|che"
    r"|que|pero"
    r"|y (?:queda|es|fue|entra)|e (?:è|sono|entra)|before|vor|avant|if|unless|except|insofar|soweit"
    r"|sauf)(?!\w)"
)

_CLAUSE_START = late_regex(r"(?i)[;:(]\s?|,\s(?:and|und|et|but|aber|mais|y|e|pero|ma|mas)\s")
_LIST = late_regex(
    r"(?i)\s?[,;&、]\s?(?<!\d,)(?:(?<=\s)(?:and |und |et |or |oder |ou |y |e |o ))?"
    r"|\s(?:and|und|et|sowie|or|oder|ou|y|e)\s|(?<=[》条])(?:和|及|以及)"
)
_JOIN = r",|and|und|et|y|e|to|bis|à|al?|ao|-|–"
_NUMBER = r"\d{1,3}[a-z]?(?:\.\d{1,3}){0,4}"
_CLAUSE = late_regex(
    r"(?i)(?<!\w)(?:clauses?|sub-?clauses?|sections?|articles?|art\.|paragraphs?|para\.|§§?|items?|rules?"
    r"|points?"
    r"|ziffern?|ziff\.|abschnitte?|absatz|abs\.|artikels?|nummern?|nr\.|punkte?|klauseln?|alinéas?"
    r"|art[ií]culos?|cl[áa]usulas?|apartados?|secci(?:ón|ones)|articol[oi]|clausol[ae]|comm[ai]|sezion[ei]"
    r"|artigos?"
    r"|seç(?:ão|ões)|parágrafos?)\s{0,3}"
    r"(?:no\.?\s|nr\.?\s|n[°º.]\s?)?"
    rf"(?P<first>{_NUMBER}(?:\s?\((?:\d{{1,3}}|[a-z])\)){{0,3}}(?!\w))[º°.ª]?"
    rf"(?P<more>(?:\s?(?:{_JOIN})\s?{_NUMBER}(?!\w)){{0,20}})"
    r"(?:,?\s(?:abs(?:atz|\.)|paragraph|para\.|alinéa|apartado|comma|parágrafo)\s(?P<sub>\d{1,3}))?"
    r"|第(?P<chinese>[一二三四五六七八九十百零〇两\d]{1,7})[条條章款节]"
    r"(?:第(?P<under>[一二三四五六七八九十百零〇两\d]{1,7})[款项])?"
)
_MORE = late_regex(rf"(?i)(?P<join>{_JOIN})\s?(?P<number>{_NUMBER})")
_RANGES = frozenset(("to", "bis", "à", "a", "al", "ao", "-", "–"))
_EVERYTHING = late_regex(
    r"(?i)\b(?:everything|all|any|every|each|alles?|allen|sämtliche\w?|jede\w?|tous|toutes|tout|toute"
    r"|tod[oa]s?|tutt[oaie]|qualquer|cualquier)\b|所有|一切|全部"
)
_SUBJECT_MATTER = late_regex(
    r"(?i)\b(?:between the parties|with respect to|relating to|regarding|concerning|subject matter|betreffend"
    r"|hinsichtlich|zwischen den parteien|entre les parties|relatifs?|relatives?"
    r"|entre las partes|tra le parti|entre as partes)\b"
)
_OWN = late_regex(
    r"(?i)\A\s{0,4}(?:this|these|the present|herein|diese\w?|vorliegende\w?|ce|cet|cette|ces"
    r"|(?:la|le) présente?|est[aeo]s?|(?:la|el|il|o|a) presente|quest[oaie]|presente)\b|\A\s{0,4}[本此该]"
)
_BREAK = late_regex(r"[。！？；]|[.!?][\"'”’)»]{0,3}\s{1,4}(?=[\"'“‘«(\[]{0,3}[^\sa-zà-ÿ])|\n")
_NO_BREAK = late_regex(
    r"(?i)\b(?:no|nr|núm|num|art|abs|ziff|sec|cl|para|bzw|ca|vs|mr|ms|dr|st|inc|ltd|[a-z])\Z"
)
_AND_VERB = late_regex(rf"(?i)\A(?:\s{{0,4}}[:=]\s{{0,4}}|\s+(?:and|und|et)\s+(?:{ENDS}|{CHANGES})(?!\w))")
_NO_SUBJECT = late_regex(r"(?i)\s*(?:hiermit|durch|mit|damit|dadurch)\b|\s*\Z")
_ENDINGS = frozenset(("s", "es", "e", "en", "n", "er", "x"))
_OWN_SUBJECT = late_regex(
    r"(?i)\A\s{0,4}(?:diese\w?|dies|vorliegende\w?)\s\w{1,40}\s(?=(?:den|die|das|der|dem)\s|§|ziffer"
    r"|\S{1,80}\.\w)"
)
"""The subject behind a German verb: "hiermit ersetzt diese Vereinbarung den Mietvertrag"."""

_MARK = late_regex(r"\0(\d+)\0")
_EDGE = " .,:;\"'“”„«»"
_NEXT_CLAUSE = late_regex(
    r"(?i)[;:]|,\s(?:but|aber|mais|and|und|et|pero|ma|mas|y|e)\s|\s(?:and|und|et|y|e)\s(?=(?:is|was|are"
    r"|were|has|have"
    r"|does|did|will|wird|wurde|ist|hat|ne|no|non|não|est|a|es|fue|è|foi)\b|n['’])"
)
_PERFECT = late_regex(r"(?i)(?:ha|han|hanno)\s(?!sido|stat)")
_REFLEXIVE = late_regex(r"(?i)\b(?:se|si)\s+\Z")

_CHINESE_DIGITS = "零一二三四五六七八九"
_CHINESE_STOP = late_regex(r"[，,：:；;。（）()]")
_HAN = late_regex(r"[一-鿿]")
_DAY = late_regex(r"(?<!\d)\d{1,2}\Z")
_MONTH = late_regex(r"(?i)\s+(?:jan|feb|mär|mar|apr|mai|may|jun|jul|aug|sep|okt|oct|nov|dez|dec)", re.UNICODE)


def statements(text: str) -> Iterator[Statement]:
    """What a text says of this kind, in order, at most MAX_STATEMENTS. Lines count from 1."""
    lines = text[:MAX_CHARACTERS].replace("\0", " ").split("\n")
    done, given = 0, 0
    for number, line in enumerate(lines):
        if number < done or not (may_tell(line) and (_TELLS.search(line) or len(QUOTED.findall(line)) > 1)):
            continue
        top, bottom = _block(lines, number, max(done, number - _REACH))
        done = bottom + 1
        for statement in _in_block(lines[top : bottom + 1], top + 1):
            yield statement
            given += 1
            if given == MAX_STATEMENTS:
                return


def clause_numbers(text: str) -> tuple[str, ...]:
    """The numbers of the clauses that `text` names: "clauses 4 to 6", "§ 7 Abs. 2" (7.2)."""
    found: dict[str, None] = {}
    for match in _CLAUSE.finditer(text):
        if match["chinese"]:
            under = f".{chinese_number(match['under'])}" if match["under"] else ""
            found[chinese_number(match["chinese"]) + under] = None
            continue
        numbers = [plain_number(match["first"])]
        for more in _MORE.finditer(match["more"]):
            number = plain_number(more["number"])
            if more["join"].lower() in _RANGES and number.isdigit() and numbers[-1].isdigit():
                low, high = int(numbers[-1]) + 1, int(number)
                numbers += [str(each) for each in range(low, min(high, low + _MAX_CLAUSES))]
            numbers.append(number)
        if match["sub"]:
            numbers[-1] += f".{match['sub']}"
        found.update(dict.fromkeys(numbers))
    return tuple(found)[:_MAX_CLAUSES]


def chinese_number(text: str) -> str:
    """The digits of a numeral below a thousand: 二十三 is 23."""
    if text.isdigit() and text.isascii():
        return text
    hundreds, _, rest = text.rpartition("百")
    tens, ten, ones = rest.rpartition("十")
    total = 100 * _digit(hundreds, 1 if "百" in text else 0)
    total += 10 * _digit(tens, 1 if ten else 0) + _digit(ones, 0)
    return str(total)


def _digit(text: str, default: int) -> int:
    return next((_CHINESE_DIGITS.index(each) for each in reversed(text) if each in _CHINESE_DIGITS), default)


def plain_number(number: str) -> str:
    """The number of a clause with dots: 7(2) is 7.2."""
    return re.sub(r"\s?\((\w{1,3})\)", r".\1", number).lower().rstrip(".")


def _block(lines: Sequence[str], number: int, top_most: int) -> tuple[int, int]:
    """The lines that one paragraph has around a line."""
    top = bottom = number
    while top > top_most and _goes_on(lines, top - 1):
        top -= 1
    while bottom + 1 < len(lines) and bottom - number < _REACH and _goes_on(lines, bottom):
        bottom += 1
    return top, bottom


def _goes_on(lines: Sequence[str], number: int) -> bool:
    """Whether a line goes on in the next one. A title does not, and so no line in which the first word of
    the next would have had room, where that begins with a capital."""
    over, under = lines[number].rstrip(), lines[number + 1].strip()
    if not runs_on(over, under):
        return False
    last = over.split()[-1].lower()
    if not (under[0].isupper() or under[0] in "§第《") or over[-1] in ",-‐–—(/&" or last in SMALL_WORDS:
        return True
    return number > 0 and len(over) + 1 + len(under.split()[0]) > len(under)


def _in_block(lines: Sequence[str], first: int) -> Iterator[Statement]:
    text = " ".join(lines)
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))[:-1]
    for start, end in _sentences(text):
        sentence = text[start:end]
        if not sentence.strip() or len(sentence) > _MAX_LENGTH or sentence.rstrip(" \"'”’»)").endswith("?"):
            continue
        at = first + bisect_right(starts, start + len(sentence) - len(sentence.lstrip())) - 1
        last = first + bisect_right(starts, max(start, end - 1)) - 1
        where = Statement(first=at, last=last, text=" ".join(sentence.split()), things=())
        worded = tuple(_worded(sentence))
        for said in worded or _said(sentence):
            yield msgspec.structs.replace(where, **said._asdict())


class _Said(NamedTuple):
    """What a verb says, as a statement has it."""

    things: tuple[Thing, ...]
    replaces: bool
    firm: bool
    heads: bool = False
    wording: tuple[str, str] | None = None


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for found in _BREAK.finditer(text):
        before = text[max(0, found.start() - 12) : found.start()]
        if found[0][0] == "." and (
            _NO_BREAK.search(before) or (_DAY.search(before) and _MONTH.match(text[found.start() + 1 :][:8]))
        ):
            continue
        yield start, found.end()
        start = found.end()
    yield start, len(text)


def _said(sentence: str) -> Iterator[_Said]:
    """What each verb of a sentence says that names something."""
    sentence = ADJUNCT.sub(" ", sentence)
    taken: set[int] = set()
    yield from _german(sentence, taken)
    yield from _passive(sentence, taken)
    yield from _separate(sentence, taken)
    yield from _active(_ACTIVE, sentence, taken)
    yield from _active(_ACTIVE_PAST, sentence, taken)
    yield from _in_chinese(sentence)
    if not taken:
        yield from _headed(sentence)


def _german(sentence: str, taken: set[int]) -> Iterator[_Said]:
    """What is said by verbs such as "wird durch … ersetzt"; their places are `taken`, as by those below."""
    for match in _GERMAN.finditer(sentence):
        taken.update(range(match.start(), match.end()))
        before, mid = _before(sentence, match.start()), _CUT.split(f" {match['mid']} ", maxsplit=1)[0]
        things = _things(mid if _NO_SUBJECT.match(before) else before, nearest_last=True)
        yield from _told(sentence, match, things, match["ends"] is not None)


def _passive(sentence: str, taken: set[int]) -> Iterator[_Said]:
    """What is said in the passive, and of a wording: "is replaced", "shall read"."""
    for match in _PASSIVE.finditer(sentence):
        if match.start() in taken:
            continue
        romance = match["romance"] or match["alterado"]
        if romance and _PERFECT.match(match[0]):
            continue
        taken.update(range(match.start(), match.end()))
        things = _things(_before(sentence, match.start()), nearest_last=True)
        if romance and not things:
            things = _things(_CUT.split(sentence[match.end() :], maxsplit=1)[0])
        if match["reads"] and not _names_clauses(things):
            continue
        yield from _told(sentence, match, things, not _changes(match))


def _changes(passive: re.Match[str]) -> bool:
    """Whether a verb in the passive amends what it names, rather than replaces it."""
    verb = passive["changes"] or passive["modifie"] or passive["alterado"]
    return verb is not None or (passive["reads"] or "").endswith("amended")


def _separate(sentence: str, taken: set[int]) -> Iterator[_Said]:
    """What is said by German verbs in two parts: "hebt … auf"."""
    for match in _SEPARATE.finditer(sentence):
        if match.start() in taken:
            continue
        taken.update(range(match.start(), match.end()))
        yield from _told(sentence, match, _things(next(filter(None, match.groups()), "")), True)


def _active(pattern: re.Pattern[str], sentence: str, taken: set[int]) -> Iterator[_Said]:
    """What is said in the active: "replaces", "has replaced"."""
    for match in pattern.finditer(sentence):
        if match.start() in taken:
            continue
        before = sentence[: match.start()]
        if _INFINITIVE.search(before) or (pattern is _ACTIVE_PAST and _NO_PAST.search(before)):
            continue
        taken.update(range(match.start(), match.end()))
        region = _OWN_SUBJECT.sub(" ", _AND_VERB.sub(" ", sentence[match.end() :]))
        things = _things(_CUT.split(region, maxsplit=1)[0])
        if not things and _REFLEXIVE.search(before):
            things = _things(_REFLEXIVE.sub("", _before(sentence, match.start())), nearest_last=True)
        yield from _told(sentence, match, things, match["ends"] is not None)


def _headed(sentence: str) -> Iterator[_Said]:
    """What the heading of an amendment says: "Amendment No. 2 to the Lease"."""
    if head := _HEAD.search(sentence):
        rest = f"{sentence[: head.start()]} {sentence[head.start('what') :]}"
        for named in dict.fromkeys((_CUT.split(head["what"], maxsplit=1)[0], rest)):
            if things := _things(named):
                yield _Said(tuple(things), replaces=False, firm=True, heads=True)


def _told(sentence: str, match: re.Match[str], things: list[Thing], replaces: bool) -> Iterator[_Said]:
    """The verb's things, where the sentence does not deny it; not firm where it hedges."""
    around = sentence[: match.start()] + " " + sentence[match.end() :]
    negated = _NEGATED.search(_own_clause(sentence, match))
    if things and not negated:
        plain = not (hedges(around) or _UNSURE.search(around) or _LIMITED.search(sentence))
        yield _Said(tuple(things), replaces=replaces, firm=plain)


def _in_chinese(sentence: str) -> Iterator[_Said]:
    """The same in Chinese, where the verb may stand before its thing or behind it."""
    if not _HAN.search(sentence):
        return
    for match in _CHINESE.finditer(sentence):
        before = _CHINESE_STOP.split(sentence[: match.start()])[-1]
        after = _CHINESE_STOP.split(sentence[match.end() :])[0]
        if CHINESE_DENIED.search(before):
            continue
        lead, behind = CHINESE_TRAILS.sub("", before), after.strip("。；！ ")
        takes = match["ends"] and CHINESE_TAKES.match(match[0]) and "被" not in before
        named = behind if takes and behind and behind[0] != "的" else CHINESE_LEADS.sub("", lead)
        if things := _things(named):
            firm = not CHINESE_UNSURE.search(sentence)
            yield _Said(tuple(things), replaces=match["ends"] is not None, firm=firm)


def _worded(sentence: str) -> Iterator[_Said]:
    """A sentence that puts quoted words in the place of others: 'for "x" read "y"'."""
    quoted = [match for match in QUOTED.finditer(sentence) if _inner(match)][:3]
    if len(quoted) != 2:
        return
    first, second = quoted
    before, between, after = (
        sentence[: first.start()],
        sentence[first.end() : second.start()],
        sentence[second.end() :],
    )
    around = f"{before} \0 {between} \0 {after}"
    if not PUTS.search(around) or _NEGATED.search(INSTEAD.sub(" ", around)) or _UNSURE.search(around):
        return
    old, new = _inner(first), _inner(second)
    if INSTEAD.search(between):
        old, new = new, old
    regions = (WORDED_CUT.split(before, maxsplit=1)[0], WORDED_CUT.split(after, maxsplit=1)[-1])
    named = (_things(region) for region in regions)
    things = next((each for each in named if _names_clauses(each)), [])
    yield _Said(tuple(things), replaces=False, firm=True, wording=(old, new))


def _names_clauses(things: Iterable[Thing]) -> bool:
    return any(thing.clauses for thing in things)


def _inner(match: re.Match[str]) -> str:
    return next((part.strip() for part in match.groups() if part and part.strip()), "")


def _own_clause(sentence: str, match: re.Match[str]) -> str:
    """The clause around a verb, without the verb itself, whose "no longer" is no denial of it."""
    before = re.split(r"[;:]", sentence[: match.start()])[-1]
    after = _NEXT_CLAUSE.split(sentence[match.end() :], maxsplit=1)[0]
    inner = match.groupdict().get("mid") or ""
    return f"{before} {inner} {after}"


def _before(sentence: str, end: int) -> str:
    """The clause that ends where a passive verb begins."""
    before = sentence[:end]
    return _CLAUSE_START.split(before)[-1]


def _things(region: str, *, nearest_last: bool = False) -> list[Thing]:
    """The things that a region names, the nearest to the verb first; of several names first all of them as
    one, for a title may hold an "and"."""
    found: list[tuple[str, ...]] = []

    def marked(match: re.Match[str]) -> str:
        found.append(clause_numbers(match[0]))
        return f" \0{len(found) - 1}\0 "

    bare = _CLAUSE.sub(marked, region)
    everything = _EVERYTHING.search(bare) is not None
    if everything and _SUBJECT_MATTER.search(region):
        return []
    named = _listed(bare, found)
    if nearest_last:
        named.reverse()
    if len(named) > 1:
        whole = " ".join(_MARK.sub(" ", bare).split()).strip(_EDGE)
        named.insert(0, (whole, [each for numbers in found for each in numbers]))
    return [
        Thing(words=words, clauses=tuple(dict.fromkeys(numbers)), everything=everything)
        for words, numbers in named
        if not _OWN.match(words)
    ]


def _listed(bare: str, found: Sequence[tuple[str, ...]]) -> list[tuple[str, list[str]]]:
    """The names in a list, each with the clauses before it; the last one also with those behind it."""
    named: list[tuple[str, list[str]]] = []
    waiting: list[str] = []
    for part in _LIST.split(bare)[:_MAX_PARTS]:
        waiting += [each for number in _MARK.findall(part) for each in found[int(number)]]
        words = " ".join(_MARK.sub(" ", part).split()).strip(_EDGE)
        if words:
            named.append((words, waiting))
            waiting = []
    if waiting:
        named = [*named[:-1], (named[-1][0], [*named[-1][1], *waiting])] if named else [("", waiting)]
    return named


def tokens(text: str) -> tuple[str, ...]:
    """The words and numbers of a name, folded: `Lease-Agreement_2019` gives lease, agreement, 2019."""
    return tuple(re.findall(r"[^\W\d_]+|\d+", unmarked(text)))


def same_word(said: str, name: str) -> bool:
    """Whether a word is that of a name, but for an ending: Mietvertrags, agreements."""
    return said == name or (len(name) >= 4 and said.startswith(name) and said[len(name) :] in _ENDINGS)


def held(wanted: Iterable[str], said: Sequence[str]) -> list[int] | None:
    """The places in `said` of all words of a name, each once; None when one is not there."""
    places: list[int] = []
    for word in wanted:
        at = next((n for n, each in enumerate(said) if n not in places and same_word(each, word)), None)
        if at is None:
            return None
        places.append(at)
    return places
