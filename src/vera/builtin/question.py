"""What a question asks: its terms, and of which kind its answer must be.

The kinds are those of factoid question answering since the TREC-8 track (Voorhees 1999; Li and Roth 2002),
with those that manuals and rules need: an option, a path, a permission.
"""

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from itertools import chain

import msgspec

from vera.builtin.languages import language_of
from vera.builtin.lexicon import (
    CALLINGS,
    CLASS_NOUNS,
    GENERIC,
    HEAD_NOUNS,
    SCAFFOLDING,
    STOPWORDS,
    TIME_UNITS,
)
from vera.builtin.synonyms import SYNONYMS
from vera.builtin.words import Word, is_cjk, root, stem, words
from vera.text.late_regex import late_regex
from vera.text.stopwords import ENGLISH, FRENCH, GERMAN, ITALIAN, PORTUGUESE, SPANISH

MAX_QUESTION_LENGTH = 2000
MAX_TERMS = 40
MAX_FRAME_LENGTH = 24
"""Characters of the words that open a question; a longer match has words between them that say something."""


class Kind(StrEnum):
    """The kind of expression that answers a question; `ANY` where the question does not say."""

    COUNT = "count"
    DURATION = "duration"
    MEASURE = "measure"
    MONEY = "money"
    PERCENT = "percent"
    DATE = "date"
    CLOCK = "clock"
    FREQUENCY = "frequency"
    PERSON = "person"
    PLACE = "place"
    NAME = "name"
    CODE = "code"
    PATH = "path"
    LINK = "link"
    VERSION = "version"
    DEFINITION = "definition"
    EXPANSION = "expansion"
    REASON = "reason"
    METHOD = "method"
    PERMISSION = "permission"
    ANY = "any"


class Term(msgspec.Struct, frozen=True):
    """A content word of the question with its prior weight and the words that may replace it.

    `foreign`: of a German or a French question, whose words are inflected otherwise than English ones.
    """

    word: Word
    weight: float
    alternatives: tuple[Word, ...] = ()
    foreign: bool = False


class Question(msgspec.Struct, frozen=True):
    """A question taken apart.

    `units` are the words counted or measured ("how many *years*"); `spoken` every token of the question,
    stop words too: an expression that the question itself holds is never its answer. `sequence` are its
    stems in order, `names` the folded words of each name in it: ("quay", "road", "27"). `exact` asks for a
    year, a date or a day by that word: no other telling of a time answers it. `identifiers` are written out
    in it: an option, a setting, a file ("max_wal_senders", "--stats").
    """

    text: str
    terms: tuple[Term, ...]
    kind: Kind
    units: tuple[Word, ...] = ()
    spoken: frozenset[str] = frozenset()
    sequence: tuple[str, ...] = ()
    names: tuple[tuple[str, ...], ...] = ()
    exact: bool = False
    identifiers: tuple[str, ...] = ()

    @property
    def named(self) -> frozenset[str]:
        """The words of all its names."""
        return frozenset(chain.from_iterable(self.names))


_NO_MONEY = (
    "notice|water|weight|power|energy|space|room|area|memory|storage|fuel|oil|gas|data|bandwidth|food|sleep"
)
_FRAMES: tuple[tuple[re.Pattern[str], Kind], ...] = tuple(
    (late_regex(pattern), kind)
    for pattern, kind in (
        (r"\bstands? for\b|\b(abbreviation|acronym|initials)\b", Kind.EXPANSION),
        (r"\b(percentage|percent|per cent)\b", Kind.PERCENT),
        (r"\bhow (often|frequently)\b|\bwhat frequency\b", Kind.FREQUENCY),
        (r"\bhow (long|old)\b|\bhow much (time|longer)\b|\bhow (soon|quickly)\b", Kind.DURATION),
        (r"\bhow many\b|\bhow large a number\b", Kind.COUNT),
        (r"\bhow (tall|high|deep|wide|far|fast|heavy|big|large|hot|cold|thick|small|strong)\b", Kind.MEASURE),
        (r"\bhow much (\w+ )?time\b", Kind.DURATION),
        (r"\bhow (expensive|costly)\b|\bwhat\b.{1,200}\bcosts?\b\W*$", Kind.MONEY),
        (rf"\bhow much\W+(\w+\W+)?(?:{_NO_MONEY})\b", Kind.MEASURE),
        (r"\bhow much\b", Kind.MONEY),
        (r"\b(why|how come)\b|\bfor what reason\b", Kind.REASON),
        (r"\b(at|by) what time\b|\bwhat time\b", Kind.CLOCK),
        (r"\b(who|whom|whose)\b", Kind.PERSON),
        (r"\bwhere\b|\b(?:home|sea) port\b", Kind.PLACE),
        (r"\b(meaning|definition) of\b|^define\b|\b(mean|meant|defined|means)\b", Kind.DEFINITION),
    )
)
_FOREIGN_FRAMES: dict[frozenset[str], tuple[tuple[re.Pattern[str], Kind], ...]] = {
    language: tuple((late_regex(pattern), kind) for pattern, kind in rows)
    for language, rows in (
        (
            GERMAN,
            (
                (r"\bwie (oft|häufig)\b", Kind.FREQUENCY),
                (r"\bwie (lange?|alt)\b|\bwie ?viel zeit\b|\bwelche (frist|dauer)\b", Kind.DURATION),
                (r"\bwie ?viel(e|en|er)\b", Kind.COUNT),
                (r"\bwie (teuer|hoch)\b|\bwie ?viel\b.{1,200}\bkoste[tn]\b|\bwas kostet\b", Kind.MONEY),
                (r"\bum wie ?viel uhr\b", Kind.CLOCK),
                (r"\b(warum|weshalb|wieso)\b", Kind.REASON),
                (r"\bwann\b|\bin welche[mr] (jahr|monat)\b|\ban welchem (tag|datum)\b", Kind.DATE),
                (r"\b(wer|wem|wen|wessen)\b", Kind.PERSON),
                (r"^\W*was (ist|sind)(?= (eine? )?\w+( \w+)?\W*$)", Kind.DEFINITION),
                (r"^\W*was (bedeute[tn]|heißt|heisst|bezeichnet|versteht man unter)\b", Kind.DEFINITION),
                (r"^\W*wie hei(ß|ss)(t|en)\b", Kind.NAME),
                (r"\b(wo|wohin|woher)\b|\bin welche[mr] (stadt|land|ort)\b", Kind.PLACE),
            ),
        ),
        (
            FRENCH,
            (
                (r"\bcombien de fois\b|\bà quelle fréquence\b", Kind.FREQUENCY),
                (r"\bcombien de temps\b|\bquelle durée\b|\bquel délai\b", Kind.DURATION),
                (r"\bcombien\b.{0,200}\bcoûte(nt)?\b|\bquel prix\b", Kind.MONEY),
                (r"\bcombien\b", Kind.COUNT),
                (r"\bà quelle heure\b", Kind.CLOCK),
                (r"\bpourquoi\b", Kind.REASON),
                (r"\bquand\b|\bquelle (année|date)\b|\bquel (jour|mois)\b", Kind.DATE),
                (r"^\W*(à |de |par )?qui\b", Kind.PERSON),
                (
                    r"^\W*qu[’']est-ce qu(e |[’'])(?=(une? |l[ae]s? |l[’'])?\w+(( de | d[’']| )\w+)?\W*$)",
                    Kind.DEFINITION,
                ),
                (r"^\W*que (signifie(nt)?|veu(len)?t dire|désigne(nt)?)\b", Kind.DEFINITION),
                (r"^\W*comment s[’']appelle(nt)?\b", Kind.NAME),
                (r"^\W*(d[’'])?où\b|\bdans quel(le)? (ville|pays|lieu)\b", Kind.PLACE),
            ),
        ),
        (
            SPANISH,
            (
                (r"\bcuánt[oa]s veces\b|\bcada cuánto\b|\bcon qué frecuencia\b", Kind.FREQUENCY),
                (r"\bcuánto (tiempo|dura|tarda)\w{0,2}\b|\bqué (plazo|duración)\b", Kind.DURATION),
                (r"\bqué porcentaje\b", Kind.PERCENT),
                (r"\bcuánto (cuesta|costó|vale|costaba)n?\b|\bqué precio\b", Kind.MONEY),
                (r"\bcuánt[oa]s\b", Kind.COUNT),
                (r"\ba qué hora\b", Kind.CLOCK),
                (r"\bpor qué\b", Kind.REASON),
                (r"\bcuándo\b|\b(?:en|de) qué (año|mes|fecha|siglo)\b|\bqué día\b", Kind.DATE),
                (r"\bquién(es)?\b", Kind.PERSON),
                (r"\bdónde\b|\ben qué (ciudad|país|lugar|pueblo)\b", Kind.PLACE),
            ),
        ),
        (
            ITALIAN,
            (
                (r"\bquante volte\b|\bogni quanto\b|\bcon (che|quale) frequenza\b", Kind.FREQUENCY),
                (r"\bquanto (tempo|dura|durano|durò)\b|\bquale (durata|termine)\b", Kind.DURATION),
                (r"\b(che|quale) percentuale\b", Kind.PERCENT),
                (r"\bquanto (costa|costano|costava|è costat[oa]|costò)\b|\bche prezzo\b", Kind.MONEY),
                (r"\bquant[ie]\b", Kind.COUNT),
                (r"\ba che ora\b", Kind.CLOCK),
                (r"^\W*perch[eéè]\b", Kind.REASON),
                (
                    r"^\W*(da )?quando\b|\b(in|di) (che|quale) (anno|mese|data|secolo)\b"
                    r"|\b(che|quale) giorno\b",
                    Kind.DATE,
                ),
                (r"^\W*(a |da |di |per |con )?chi\b", Kind.PERSON),
                (r"^\W*(da )?dov(e\b|[’'])|\bin (che|quale) (città|paese|luogo)\b", Kind.PLACE),
            ),
        ),
        (
            PORTUGUESE,
            (
                (r"\bquantas vezes\b|\bcom que frequência\b", Kind.FREQUENCY),
                (
                    r"\bquanto (tempo|dura|duram|durou|demora|demorou)\b|\bque (prazo|duração)\b",
                    Kind.DURATION,
                ),
                (r"\bque perc?entagem\b|\bque porcentagem\b", Kind.PERCENT),
                (r"\bquanto (custa|custam|custou|custava|vale)\b|\bque preço\b", Kind.MONEY),
                (r"\bquant[oa]s\b", Kind.COUNT),
                (r"\ba que horas?\b", Kind.CLOCK),
                (r"^\W*(porque|por que|porquê|por quê)\b", Kind.REASON),
                (r"^\W*(desde )?quando\b|\b(em|de) que (ano|mês|data|dia|século)\b", Kind.DATE),
                (r"^\W*(a |de |por |para |com )?quem\b", Kind.PERSON),
                (r"^\W*(de )?onde\b|\bem que (cidade|país|lugar)\b", Kind.PLACE),
            ),
        ),
    )
}
"""How questions open in other languages; of other kinds a question in them is `ANY`."""
_FOREIGN_COUNTED = late_regex(
    r"\b(?:wie ?viele?[nr]?|combien (?:de |d[’'])|cuánt[oa]s|quant[oaie]s?)\s*((?:\W*\w+){1,2})"
)
_NAMED_BY_CLASS = frozenset(
    (Kind.DATE, Kind.PERCENT, Kind.LINK, Kind.CLOCK, Kind.PLACE, Kind.PERSON, Kind.NAME, Kind.CODE, Kind.PATH)
)
_EXACT_DATE = late_regex(
    r"\b(?:what|which|welche[mrsn]|quelle?|qué|che|quale|que)\W+(?:calendar )?"
    r"(?:year|date|day|month|jahr|datum|tag|monat|année|jour|mois|año|mes|fecha|día|anno|mese|data|giorno|ano|mês|dia)\b"
)
_IDENTIFIER = late_regex(
    r"(?<![\w-])--?[A-Za-z][\w-]*+|(?<!\w)\w[^\W_]*+_\w++|(?<!\w)[A-Za-z]\w*+(?:[.]\w++)++"
)
_WHEN = late_regex(r"\bwhen\b")
_WH_NOUN = late_regex(r"\b(?:what|which)\b(?:\W+(?:is|are|was|were)\W+(?:the|a|an)\b)?((?:\W+\w+){1,8})")
_WHICH_IS = late_regex(r"^which\W+(\w+)\W+(?:is|are|was|were)\W+(?:the|an?)\b")
"""The group is the class of the answer: "which mountain is the highest"."""
_NAME_THE = late_regex(r"^(?:name|list|give|state|find|identify)\W+(?:the\W+)?((?:\w+\W+){1,5})")
_WHAT_IS = late_regex(r"^(?:so\W+)?what(?:'s|’s|\W+(?:is|are|was|were))\W+(.*)$", re.DOTALL)
_HOW_HIGH = late_regex(
    r"\bhow (?:high|low|large|big|great|long) (?:is|are|was|were) (?:the|a|an|its|their)((?:\W+\w+){1,6})"
)
_AMOUNTS = frozenset((Kind.MONEY, Kind.PERCENT, Kind.DURATION))
_IN_WHICH = late_regex(r"\b(?:in|at) (?:which|what)\b")
_FRAME = late_regex(
    r"\bhow much (?:money|time)\b|\bhow\W+(?:many|much|\w+)\b|\bwhat\W+(?:size|kind|sort|type)\b"
    r"|\bper\W?cent(?:age)?\b"
)
_COUNTED = late_regex(r"\bhow many\b((?:\W+\w+){1,4})")
_METHOD = late_regex(r"\bhow (do|does|did|can|could|should|would|to|is|are|was|were|must)\b")
_AUXILIARIES = (
    "is are was were am be been do does did can could may must shall should will would has have had"
)
BREAKS = frozenset(
    f"{_AUXILIARIES} of in on at by for to from with under that which who when if the a an you i we they it "
    "he she there per".split()
)
_MODAL = late_regex(rf"^\W*(?:{'|'.join(_AUXILIARIES.split())})\b")
_CJK_KINDS = (
    (late_regex("多少次|多久一次|几次"), Kind.FREQUENCY),
    (late_regex("多少钱|多少元"), Kind.MONEY),
    (late_regex("百分之(?:几|多少)"), Kind.PERCENT),
    (late_regex("几点"), Kind.CLOCK),
    (late_regex("哪(?:一)?[年天日月]|几月|几号"), Kind.DATE),
    (late_regex("多少|几[个年天月次]|幾|いくつ|何[人年日回個]|몇"), Kind.COUNT),
    (late_regex("多久|多长时间|どのくらい|얼마나"), Kind.DURATION),
    (late_regex("什么时候|何时|哪年|いつ|언제"), Kind.DATE),
    (late_regex("为什么|为何"), Kind.REASON),
)
_CJK_COUNTED = late_regex("(?:多少|几)([\u4e00-\u9fff]{1,2})")
CJK_SCAFFOLD = late_regex(
    "什么时候|什么|多少[钱元]?|百分之几|几[点月号]|哪[一年天月日]|哪(?:个|些|里|年|儿)?|怎么样|怎么|如何|为什么|为何|何时|多久|是否|可以|谁|吗|呢|的|了|是|在|有|"
    "和|与|及|请问|[\u3040-\u309f]+|何|誰|무엇|언제|얼마나"
)


@cache
def _synonyms() -> dict[str, tuple[Word, ...]]:
    table: dict[str, tuple[Word, ...]] = {}
    for row in SYNONYMS:
        group = [next(words(entry)) for entry in row]
        for word in group:
            others = (other for other in group if other.stem != word.stem)
            table[word.stem] = (*table.get(word.stem, ()), *others)
    return table


@cache
def scaffolding() -> frozenset[str]:
    """Stems of the words that belong to the asking."""
    return frozenset(stem(word) for word in SCAFFOLDING)


@cache
def _head_kinds() -> dict[str, str]:
    return {stem(noun): kind for kind, nouns in HEAD_NOUNS.items() for noun in nouns.split()}


@cache
def stems_of(table: frozenset[str]) -> frozenset[str]:
    """The stems of a table's words."""
    return frozenset(map(stem, table))


@cache
def value_stems() -> frozenset[str]:
    """Stems of the nouns that say which value is asked for: the default, the maximum."""
    return frozenset(map(stem, HEAD_NOUNS["count"].split()))


@cache
def time_unit_stems() -> frozenset[str]:
    """Stems of the words that measure time."""
    return frozenset(stem(word) for word in TIME_UNITS)


def _foreign_kind(lowered: str, language: frozenset[str]) -> tuple[Kind, tuple[Word, ...]]:
    """The kind of a question that is not English; the first word after "how many" is what is counted."""
    for pattern, kind in _FOREIGN_FRAMES.get(language, ()):
        if pattern.search(lowered):
            counted = _FOREIGN_COUNTED.search(lowered) if kind is Kind.COUNT else None
            units = [word for word in words(counted.group(1)) if word.form not in language] if counted else []
            return kind, tuple(units[:1])
    return Kind.ANY, ()


_ADDRESS = late_regex(r"(?i)\bhttps?://\S+")
"""Where to look, and no word of what is asked."""


def analyse(text: str) -> Question:
    """The question's terms, the kind of its answer, and what it counts. Never raises."""
    text = _ADDRESS.sub(" ", text[:MAX_QUESTION_LENGTH]).strip()
    lowered = " ".join(text.lower().split())
    language = language_of(lowered)
    kind, units = _kind(lowered) if language is ENGLISH else _foreign_kind(lowered, language)
    classes = _class_nouns(lowered) if kind in _NAMED_BY_CLASS else frozenset()
    if language is not ENGLISH and (named := _EXACT_DATE.search(lowered)):
        classes |= {word.stem for word in words(named.group())}
    spoken = list(words(text))
    names = tuple(name for name in _names(text, spoken) if not CLASS_NOUNS.issuperset(name))
    return Question(
        text=text,
        terms=_terms(text, classes, frozenset(chain.from_iterable(names)), language),
        kind=kind,
        units=units,
        spoken=frozenset(word.form for word in spoken),
        sequence=tuple(word.stem for word in spoken[: 2 * MAX_TERMS]),
        names=names,
        exact=_EXACT_DATE.search(lowered) is not None,
        identifiers=identifiers_in(text),
    )


def identifiers_in(text: str) -> tuple[str, ...]:
    """What a text writes out as one types it: options, settings, names of files."""
    return tuple(dict.fromkeys(match.group() for match in _IDENTIFIER.finditer(text)))


def _names(text: str, spoken: Sequence[Word]) -> list[tuple[str, ...]]:
    """Runs of capitalised words and of the numbers right behind them; the first word only as part of a run.

    None in a question without an English word of form: German, for one, begins each noun with a capital.
    """
    if not any(word.form in STOPWORDS for word in spoken):
        return []
    runs: list[list[str]] = []
    end = -2
    for index, word in enumerate(spoken):
        joined = end >= 0 and text[end : word.start].strip(" -") == ""
        if _is_of_name(text, spoken, index, joined=joined):
            if not joined:
                runs.append([])
            runs[-1].append(word.form)
            end = word.end
        elif joined and word.form in GENERIC:
            end = word.end
        else:
            end = -2
    return [tuple(run) for run in runs]


def _is_of_name(text: str, spoken: Sequence[Word], index: int, *, joined: bool) -> bool:
    """Whether a word is capitalised as in a name, or is a number that is `joined` to one."""
    word = spoken[index]
    first = text[word.start]
    if joined and first.isdigit():
        return True
    return first.isupper() and word.form not in STOPWORDS and (index > 0 or _goes_on(text, spoken))


def _goes_on(text: str, spoken: Sequence[Word]) -> bool:
    """Whether a capitalised word follows the first."""
    return len(spoken) > 1 and text[spoken[1].start].isupper()


def _terms(
    text: str,
    classes: frozenset[str] = frozenset(),
    named: frozenset[str] = frozenset(),
    language: frozenset[str] = ENGLISH,
) -> tuple[Term, ...]:
    """The terms of a text. A word of a name stands for that name only, not for a term that it is like."""
    readable = CJK_SCAFFOLD.sub(" ", text)
    chosen: dict[str, Term] = {}
    sentence_start = True
    for word in words(readable):
        original = readable[word.start : word.end]
        starts, sentence_start = sentence_start, readable[word.end : word.end + 1] in ".?!"
        if (
            # As it is spelled: the French "né" (born) is no "ne" (not).
            (word.form in STOPWORDS if language is ENGLISH else original.lower() in language)
            or word.stem in chosen
            or (len(word.form) == 1 and not _single_counts(readable, word))
        ):
            continue
        weight = 0.3 if word.stem in classes else _prior(word.stem, original, starts=starts)
        others = (other for other in _synonyms().get(word.stem, ()) if other.form not in named)
        chosen[word.stem] = Term(word, weight, tuple(others), language in _FOREIGN_FRAMES)
        if len(chosen) == MAX_TERMS:
            break
    return tuple(chosen.values())


def _prior(stemmed: str, original: str, *, starts: bool) -> float:
    """The weight of a term: little for a word of the asking, more for a number and for a name. A capital says
    nothing where the word `starts` a sentence."""
    if stemmed in scaffolding():
        return 0.3
    capital = original[:1].isupper() and not starts
    return 1.2 if capital or any(char.isdigit() for char in original) else 1.0


def _single_counts(text: str, word: Word) -> bool:
    original, around = text[word.start : word.end], text[max(0, word.start - 1) : word.end + 1]
    return original.isdigit() or original.isupper() or is_cjk(original) or "-" in around


def _kind(lowered: str) -> tuple[Kind, tuple[Word, ...]]:
    for pattern, kind in _FRAMES:
        if pattern.search(lowered):
            return _amount(lowered) or kind, _units(lowered, kind)
    return _cjk_kind(lowered) or _head_kind(lowered) or (_kind_by_opening(lowered), ())


def _cjk_kind(lowered: str) -> tuple[Kind, tuple[Word, ...]] | None:
    """The kind that a question word of Chinese, Japanese or Korean calls for."""
    for pattern, kind in _CJK_KINDS:
        if pattern.search(lowered):
            counted = _CJK_COUNTED.search(lowered) if kind is Kind.COUNT else None
            return kind, tuple(words(counted.group(1)))[:1] if counted else ()
    return None


def _kind_by_opening(lowered: str) -> Kind:
    """The kind of a question in which no expression and no noun tells it."""
    if _WHICH_IS.match(lowered):
        return Kind.NAME
    if _WHEN.search(lowered) and not re.search(r"\b(what|which)\b.*\bwhen\b", lowered):
        return Kind.DATE
    if (what_is := _WHAT_IS.match(lowered)) and _asks_definition(what_is.group(1)):
        return Kind.DEFINITION
    if _METHOD.search(lowered):
        return Kind.METHOD
    return Kind.PERMISSION if _MODAL.match(lowered) else Kind.ANY


def _amount(lowered: str) -> Kind | None:
    """The kind of what is "how high": money, where it is a fee."""
    match = _HOW_HIGH.search(lowered)
    found = _head_of(match.group(1)) if match else None
    return found[0] if found and found[0] in _AMOUNTS else None


def frame_words(text: str) -> frozenset[str]:
    """The folded words that only open a question: "large" of "how large is the crew"."""
    lowered = text.lower()
    frames = _FOREIGN_FRAMES.get(language_of(lowered), ())
    matches = [
        *_FRAME.finditer(lowered),
        *(match for frame, _ in frames for match in frame.finditer(lowered)),
    ]
    return frozenset(
        word.form
        for match in matches
        if len(match.group()) <= MAX_FRAME_LENGTH
        for word in words(match.group())
    )


def _asks_definition(subject: str) -> bool:
    """Whether a bare name follows "what is": "an orphan in RPP", "photosynthesis"; not "the cost of …"."""
    return len(_terms(subject)) <= 3 and (
        subject.startswith(("a ", "an ")) or not re.search(r"\b(of|on|at|for|in|to|when|if)\b", subject)
    )


def asks_which(text: str) -> bool:
    """Whether a question asks by its class which thing is so: "which mountain is the highest"."""
    lowered = text.lower()
    return _WHICH_IS.match(lowered) is not None and not _head_kind(lowered)


def _class_nouns(lowered: str) -> frozenset[str]:
    """The noun that names the kind of the answer: an answer shows it ("1934") and rarely says it ("year")."""
    match = _WH_NOUN.search(lowered) or _NAME_THE.match(lowered)
    found: set[str] = set()
    for word in words(match.group(1)) if match else ():
        if word.form in BREAKS:
            break
        if word.stem in _head_kinds() and word.stem not in stems_of(CALLINGS):
            found.add(word.stem)
    if asks_which(lowered) and (which := _WHICH_IS.match(lowered)):
        found.update(word.stem for word in words(which.group(1)))
    return frozenset(found)


def _units(lowered: str, kind: Kind) -> tuple[Word, ...]:
    counted = _COUNTED.search(lowered) if kind is Kind.COUNT else None
    if counted is None:
        return ()
    units = []
    for word in words(counted.group(1)):
        if word.form in BREAKS:
            break
        units.append(word)
    return tuple(units)


def _head_kind(lowered: str) -> tuple[Kind, tuple[Word, ...]] | None:
    """The kind that the noun after "what" or "which" (or "name the") calls for."""
    match = _WH_NOUN.search(lowered) or _NAME_THE.match(lowered)
    if match is None:
        return None
    headed = _head_of(match.group(1))
    if headed is None:
        return None
    found, head = headed
    if head.stem == "port" and _IN_WHICH.search(lowered):
        found = Kind.PLACE
    return found, (head,) if found in (Kind.CODE, Kind.MEASURE, Kind.VERSION) else ()


def _head_of(phrase: str) -> tuple[Kind, Word] | None:
    """The last noun of a phrase that calls for a kind, and that kind."""
    found: tuple[Kind, Word] | None = None
    for word in words(phrase):
        if word.form in BREAKS:
            break
        derived = "" if word.form.endswith("ly") else root(word.stem)
        kind = _head_kinds().get(word.stem) or _head_kinds().get(derived)
        if word.form == "setting" and found and found[1].stem in value_stems():
            # A default setting is a value.
            continue
        if kind is not None:
            found = Kind(kind), word
    return found
