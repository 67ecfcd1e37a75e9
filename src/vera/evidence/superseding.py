"""Sentences that say that a document, or a numbered clause of one, no longer holds as it was written.

English, German and French. A sentence gives the things that it names as superseded, each with the words
that name it. What it does not say plainly (negated, planned, conditional, limited) is no such thing, or not
`firm`. Who is meant by the words is decided elsewhere (`vera.audit.versions`).
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import msgspec

from vera.text.late_regex import late_regex
from vera.text.whole_sentences import runs_on
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
    amends it. `firm`: it says so plainly. `heads`: it is the heading of an amendment, and says what the
    document as a whole amends."""

    first: int
    last: int
    text: str
    things: tuple[Thing, ...]
    replaces: bool = True
    firm: bool = True
    heads: bool = False


_ENDS = (
    r"replac(?:es?|ing)|supersed(?:es?|ing)|cancel(?:s|l?ing)?|repeal(?:s|ing)?|revok(?:es?|ing)"
    r"|rescind(?:s|ing)?|annul(?:s|ling)?|withdraws|obsoletes?|supplants?|takes? the place of"
    r"|in replacement of|ersetz(?:t|en)|widerruf(?:t|en)|annullier(?:t|en)|storniert"
    r"|(?:tritt|treten) an die stelle|remplac(?:e|ent)|remplaçant|annulent?|abrogent?|supprime(?:nt)?"
    r"|se substituent? (?:a|à)u?x?"
)
_CHANGES = r"amends|amending|modifies|modifying|varies|(?:ab)?änder(?:t|n)|modifie(?:nt)?"
_PAST = r"replaced|superseded|cancell?ed|repealed|revoked|rescinded|annulled|withdrawn|abrogated|obsoleted"
_ENDED = rf"{_PAST}|deleted|struck out|terminated|(?:declared )?(?:null and )?void"
_CHANGED = r"amended|modified|varied|restated"
_BE = r"(?:is|are|was|were|be|been|being|stands?|hereby)"

_ACTIVE = late_regex(rf"(?i)(?<![\w.-])(?:(?P<ends>{_ENDS})|(?P<changes>{_CHANGES}))(?![\w-])")
_ACTIVE_PAST = late_regex(rf"(?i)(?<![\w.-])(?P<ends>{_PAST})(?![\w-])")
_INFINITIVE = late_regex(r"(?i)\b(?:to|you|we|they|can|cannot|must|or|could)\s+\Z")
_NO_PAST = late_regex(
    rf"(?i)\b(?:{_BE}|{_BE} \w{{2,12}}(?:ly|by)|the|an?|as|of|and|or|newly|not|to|has|have)\s+\Z"
)
_PASSIVE = late_regex(
    rf"(?i)\b{_BE}\s+(?:(?:hereby|also|now|thereby|entirely"
    rf"|(?:{_ENDED}|{_CHANGED}),?(?: in its entirety)? and)\s+){{0,3}}"
    rf"(?:(?P<ends>{_ENDED})|(?P<changes>{_CHANGED}))(?![\w-])"
    r"|\b(?P<over>ceases? to (?:apply|have effect|be in force)"
    r"|(?:is|are) no longer (?:in force|valid|applicable)"
    r"|(?:tritt|treten) au(?:ß|ss)er kraft|(?:entfällt|entfallen)"
    r"|(?:ist|sind) nicht mehr (?:gültig|anwendbar|in kraft)"
    r"|(?:n['’]est|ne sont) plus (?:valables?|applicables?|en vigueur))(?!\w)"
    r"|\b(?P<reads>shall (?:now |henceforth )?(?:be replaced|be deleted|be amended|read)|is to read|now reads"
    r"|erhält folgende (?:neue )?fassung|lautet (?:nunmehr|künftig|wie folgt|neu)"
    r"|est (?:ainsi )?(?:rédigée?|libellée?))(?!\w)"
    r"|\b(?:est|sont|a été|ont été|sera|seront)\s+(?:\w{1,14}\s+){0,2}?"
    r"(?:(?P<fin>(?:remplac|annul|abrog|supprim|résili|révoqu)ée?s?)|(?P<modifie>modifiée?s?))(?!\w)"
)
_GERMAN = late_regex(
    r"(?i)\b(?:wird|werden|wurde|wurden|ist|sind)\b(?P<mid>[^;]{0,240}?)\b(?:(?P<ends>ersetzt|aufgehoben"
    r"|gestrichen|abgelöst|widerrufen|annulliert|storniert|neu gefasst|außer kraft gesetzt)"
    r"|(?P<changes>(?:ab)?geändert))(?!\w)"
)
_SEPARATE = late_regex(
    r"(?i)\b(?:(?:hebt|heben)\b(?P<auf>[^;]{1,240}?)\bauf|(?:löst|lösen)\b(?P<ab>[^;]{1,240}?)\bab)(?!\w)"
)
_HEAD = late_regex(
    r"(?i)\b(?:amendment|addendum|variation|modification|corrigendum|nachtrag|änderung\w{0,14}"
    r"|ergänzung\w{0,14}|zusatz\w{0,14}|avenant)\b[^.;:]{0,40}?"
    r"\b(?:to|of|zum|zur|zu|des|der|au|aux|à la|à l['’]|du|de la|de l['’])(?!\w)"
    r"(?P<what>[^.;:]{3,160})"
)
_TELLS = late_regex(
    rf"(?i){_ENDS}|{_CHANGES}|{_ENDED}|{_CHANGED}|ceases? to|no longer|au(?:ß|ss)er kraft|entfällt|entfallen"
    r"|nicht mehr|plus (?:valable|applicable|en vigueur)|shall |to read|now reads|folgende|lautet|rédigée?"
    r"|libellée?|remplacée?|annulée?|abrogée?|supprimée?|résiliée?|révoquée?|modifiée?|aufgehoben|gestrichen"
    r"|abgelöst|gefasst|geändert|hebt|heben|löst|lösen|amendment|addendum|variation|modification|corrigendum"
    r"|nachtrag|änderung|ergänzung|zusatz|avenant"
)
"""A quick look: a line without any of these is in no statement by its verb."""

_NEGATED = late_regex(
    r"(?i)\b(?:not|never|neither|nor|nothing|none|cannot|doesn['’]t|isn['’]t|nicht|kein\w{0,2}|niemals|weder"
    r"|aucune?|jamais|ne|without|ohne|sans)\b|\bn['’](?=\w)|\b(?:remains?|remain) (?:in force|unchanged)"
)
_UNSURE = late_regex(
    r"(?i)\b(?:draft|proposals?|zukünftig|geplant|soll|sollen|sollte|könnte|würde|dürfte|falls|sofern|wenn"
    r"|entwurf|vorschlag|projet de|pourrait|devrait|serait|si|envisage|proposée?|prévoit|vorgesehen|in part"
    r"|partly|partially|teilweise|partiellement|said|says|claims?|according to|laut|selon)\b"
)
_LIMITED = late_regex(
    r"(?i)\b(?:unless|except|only|insofar|to the extent|soweit|außer|lediglich|nur|sauf|uniquement|excepté)\b"
)
_CUT = late_regex(
    r"(?i)[;()]|:\s|\s(?:with|by|under|pursuant|durch|par|mit|effective|as from|as of|from|ab|à compter"
    r"|à partir|which|that|but|aber|mais|wie|as follows|and (?:shall|is|are|has|will|takes|comes|enters)"
    r"|et (?:est|sont|entre)"
    r"|und (?:ist|sind|wird|tritt|gilt)|before|vor|avant|if|unless|except|insofar|soweit|sauf)(?!\w)"
)
_CLAUSE_START = late_regex(r"(?i)[;:(]\s?|,\s(?:and|und|et|but|aber|mais)\s")
_LIST = late_regex(r"(?i)\s?[,;&]\s(?:and |und |et |or |oder |ou )?|\s(?:and|und|et|sowie|or|oder|ou)\s")
_CLAUSE = late_regex(
    r"(?i)(?<!\w)(?:clauses?|sub-?clauses?|sections?|articles?|art\.|paragraphs?|para\.|§§?|items?|rules?|points?"
    r"|ziffern?|ziff\.|abschnitte?|absatz|abs\.|artikels?|nummern?|nr\.|punkte?|klauseln?|alinéas?)\s{0,3}"
    r"(?:no\.?\s|nr\.?\s|n°\s?)?(?P<first>\d{1,3}[a-z]?(?:\.\d{1,3}){0,4}(?:\s?\((?:\d{1,3}|[a-z])\)){0,3}(?!\w))"
    r"(?P<more>(?:\s?(?:,|and|und|et|to|bis|à|-|–)\s?\d{1,3}[a-z]?(?:\.\d{1,3}){0,4}(?!\w)){0,20})"
    r"(?:,?\s(?:abs(?:atz|\.)|paragraph|para\.|alinéa)\s(?P<sub>\d{1,3}))?"
)
_MORE = late_regex(r"(?i)(?P<join>,|and|und|et|to|bis|à|-|–)\s?(?P<number>\d{1,3}[a-z]?(?:\.\d{1,3}){0,4})")
_RANGES = frozenset(("to", "bis", "à", "-", "–"))
_EVERYTHING = late_regex(
    r"(?i)\b(?:everything|all|any|every|each|alles?|allen|sämtliche\w?|jede\w?|tous|toutes|tout|toute)\b"
)
_SUBJECT_MATTER = late_regex(
    r"(?i)\b(?:between the parties|with respect to|relating to|regarding|concerning|subject matter|betreffend"
    r"|hinsichtlich|zwischen den parteien|entre les parties|relatifs?|relatives?)\b"
)
_OWN = late_regex(
    r"(?i)\A\s{0,4}(?:this|these|the present|herein|diese\w?|vorliegende\w?|ce|cet|cette|ces"
    r"|(?:la|le) présente?)\b"
)
_BREAK = late_regex(r"[.!?][\"'”’)»]{0,3}\s{1,4}(?=[\"'“‘«(\[]{0,3}[^\sa-zà-ÿ])|\n")
_NO_BREAK = late_regex(r"(?i)\b(?:no|nr|art|abs|ziff|sec|cl|para|bzw|ca|vs|mr|ms|dr|st|inc|ltd|[a-z])\Z")
_AND_VERB = late_regex(rf"(?i)\A(?:\s{{0,4}}[:=]\s{{0,4}}|\s+(?:and|und|et)\s+(?:{_ENDS}|{_CHANGES})(?!\w))")
_NO_SUBJECT = late_regex(r"(?i)\s*(?:hiermit|durch|mit|damit|dadurch)\b|\s*\Z")
_ENDINGS = frozenset(("s", "es", "e", "en", "n", "er", "x"))
_OWN_SUBJECT = late_regex(
    r"(?i)\A\s{0,4}(?:diese\w?|dies|vorliegende\w?)\s\w{1,40}\s(?=(?:den|die|das|der|dem)\s|§|ziffer|\S{1,80}\.\w)"
)
"""The subject behind a German verb: "hiermit ersetzt diese Vereinbarung den Mietvertrag"."""

_MARK = late_regex(r"\0(\d+)\0")
_EDGE = " .,:;\"'“”„«»"
_DAY = late_regex(r"(?<!\d)\d{1,2}\Z")
_MONTH = late_regex(r"(?i)\s+(?:jan|feb|mär|mar|apr|mai|may|jun|jul|aug|sep|okt|oct|nov|dez|dec)", re.UNICODE)


def statements(text: str) -> Iterator[Statement]:
    """What a text says of this kind, in order, at most MAX_STATEMENTS. Lines count from 1."""
    lines = text[:MAX_CHARACTERS].replace("\0", " ").split("\n")
    done, given = 0, 0
    for number, line in enumerate(lines):
        if number < done or not _TELLS.search(line):
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
        numbers = [plain_number(match["first"])]
        for more in _MORE.finditer(match["more"] or ""):
            number = plain_number(more["number"])
            if more["join"].lower() in _RANGES and number.isdigit() and numbers[-1].isdigit():
                low, high = int(numbers[-1]) + 1, int(number)
                numbers += [str(each) for each in range(low, min(high, low + _MAX_CLAUSES))]
            numbers.append(number)
        if match["sub"]:
            numbers[-1] += f".{match['sub']}"
        found.update(dict.fromkeys(numbers))
    return tuple(found)[:_MAX_CLAUSES]


def plain_number(number: str) -> str:
    """The number of a clause with dots: 7(2) is 7.2."""
    return re.sub(r"\s?\((\w{1,3})\)", r".\1", number).lower().rstrip(".")


def _block(lines: Sequence[str], number: int, top_most: int) -> tuple[int, int]:
    """The lines that one paragraph has around a line."""
    top = bottom = number
    while top > top_most and runs_on(lines[top - 1], lines[top]):
        top -= 1
    while bottom + 1 < len(lines) and bottom - number < _REACH and runs_on(lines[bottom], lines[bottom + 1]):
        bottom += 1
    return top, bottom


def _in_block(lines: Sequence[str], first: int) -> Iterator[Statement]:
    text = " ".join(lines)
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))[:-1]
    for start, end in _sentences(text):
        sentence = text[start:end]
        if not sentence.strip() or len(sentence) > _MAX_LENGTH or sentence.rstrip(" \"'”’»)").endswith("?"):
            continue
        at = first + bisect_right(starts, start + len(sentence) - len(sentence.lstrip())) - 1
        last = first + bisect_right(starts, max(start, end - 1)) - 1
        for things, replaces, firm, heads in _said(sentence):
            yield Statement(
                first=at,
                last=last,
                text=" ".join(sentence.split()),
                things=tuple(things),
                replaces=replaces,
                firm=firm,
                heads=heads,
            )


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


def _said(sentence: str) -> Iterator[tuple[list[Thing], bool, bool, bool]]:
    """(things, replaces, firm, heads) of each verb of a sentence that names something."""
    taken: set[int] = set()
    for match in _GERMAN.finditer(sentence):
        taken.update(range(match.start(), match.end()))
        before, mid = _before(sentence, match.start()), _CUT.split(f" {match['mid']} ", maxsplit=1)[0]
        things = _things(mid if _NO_SUBJECT.match(before) else before, nearest_last=True)
        yield from _told(sentence, match, things, match["ends"] is not None)
    for match in _PASSIVE.finditer(sentence):
        taken.update(range(match.start(), match.end()))
        things = _things(_before(sentence, match.start()), nearest_last=True)
        changes = match["changes"] or match["modifie"] or (match["reads"] or "").endswith("amended")
        if match["reads"] and not any(thing.clauses for thing in things):
            continue
        yield from _told(sentence, match, things, not changes)
    for match in _SEPARATE.finditer(sentence):
        taken.update(range(match.start(), match.end()))
        yield from _told(sentence, match, _things(match["auf"] or match["ab"]), True)
    for pattern in (_ACTIVE, _ACTIVE_PAST):
        for match in pattern.finditer(sentence):
            if match.start() in taken:
                continue
            before = sentence[: match.start()]
            if _INFINITIVE.search(before) or (pattern is _ACTIVE_PAST and _NO_PAST.search(before)):
                continue
            taken.update(range(match.start(), match.end()))
            region = _OWN_SUBJECT.sub(" ", _AND_VERB.sub(" ", sentence[match.end() :]))
            things = _things(_CUT.split(region, maxsplit=1)[0])
            yield from _told(sentence, match, things, match["ends"] is not None)
    if not taken and (head := _HEAD.search(sentence)):
        things = _things(_CUT.split(head["what"], maxsplit=1)[0])
        if things:
            yield things, False, True, True


def _told(
    sentence: str, match: re.Match[str], things: list[Thing], replaces: bool
) -> Iterator[tuple[list[Thing], bool, bool, bool]]:
    """The verb's things, where the sentence does not deny it; not firm where it hedges."""
    around = sentence[: match.start()] + " " + sentence[match.end() :]
    negated = _NEGATED.search(_own_clause(sentence, match))
    if things and not negated:
        plain = not (hedges(around) or _UNSURE.search(around) or _LIMITED.search(sentence))
        yield things, replaces, plain, False


def _own_clause(sentence: str, match: re.Match[str]) -> str:
    """The clause around a verb, without the verb itself, whose "no longer" is no denial of it."""
    before = re.split(r"[;:]", sentence[: match.start()])[-1]
    after = re.split(r"[;:]|,\s(?:but|aber|mais|and|und|et)\s", sentence[match.end() :])[0]
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
