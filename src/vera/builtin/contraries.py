"""Words of which one is there instead of the other: the seller's penalty is none of the buyer's.

Each group is closed, in the languages that are read. Its members exclude each other: a sentence that has
another member than the question, and not the one that is asked for, is about something else.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache

from vera.builtin.lexicon import ARTICLES, words_of
from vera.builtin.words import Word, is_cjk, words
from vera.text.late_regex import late_regex
from vera.text.stopwords import LANGUAGES

_GROUPS = """
monday mondays montag* lundi* lunes lunedi segunda-feira segundas-feiras 星期一 周一
| tuesday tuesdays dienstag* mardi* martes martedi terca-feira tercas-feiras 星期二 周二
| wednesday wednesdays mittwoch* mercredi* miercoles mercoledi quarta-feira quartas-feiras 星期三 周三
| thursday thursdays donnerstag* jeudi* jueves giovedi quinta-feira quintas-feiras 星期四 周四
| friday fridays freitag* vendredi* viernes venerdi sexta-feira sextas-feiras 星期五 周五
| saturday saturdays samstag* sonnabend* samedi* sabado sabados sabato 星期六 周六
| sunday sundays sonntag* dimanche* domingo domingos domenica domeniche 星期日 星期天 周日

january januar janner janvier enero gennaio janeiro
| february februar fevrier febrero febbraio fevereiro
| april avril abril aprile
| june juni juin junio giugno junho
| july juli juillet julio luglio julho
| august aout agosto
| september septembre septiembre settembre setembro
| october oktober octobre octubre ottobre outubro
| november novembre noviembre novembro
| december dezember decembre diciembre dicembre dezembro

north northern nordlich* norden nord septentrional* norte
| south southern sudlich* suden sud meridional*
| east eastern ostlich* osten orientale*
| west western westlich* westen ouest occidental*

spring fruhling* fruhjahr* printemps primavera 春季 春天
| summer sommer* verano verao 夏季 夏天
| autumn herbst* automne otono autunno outono 秋季 秋天
| winter* hiver invierno inverno 冬季 冬天

morning mornings vormittag* matin matins matinee mattin* manana mananas manha manhas 上午 早上
| afternoon afternoons nachmittag* apres-midi pomerigg* tardes 下午
| evening evenings abends soir soirs soiree serata 晚上

open opens opened opening offne* offnung* geoffnet* ouvre* ouvri* ouvert* abre abren abrio abrir abierto
abierta apertura apre aprono aprire aperto aperta abrem abriu aberto aberta abertura 开放 开门
| close closes closed closing schliess* geschlossen* ferme ferment ferma fermer fermee fermes fermeture
cierra cierran cerro cerrar cerrado cerrada cierre chiude chiudono chiudere chiuso chiusa chiusura fecha
fecham fechou fechar fechado fechada 关闭 关门 闭馆

net netto* nette nets nettes neto neta netos netas netta netti liquido liquida 净重
| gross brutto* brut brute bruts brutes bruto bruta brutos brutas lordo lorda lordi 毛重

buyer* purchaser* kaufer* acheteur* acquereur* comprador* compratore* acquirente* 买方 买家
| seller* vendor* verkaufer* vendeur* vendedor* venditore* venditrice 卖方 卖家

landlord* lessor* vermieter* bailleur* arrendador* locatore locatori senhorio* 出租人 房东
| tenant* lessee* mieter* locataire* arrendatari* inquilin* conduttore conduttori 承租人 租客

employer* arbeitgeber* employeur* empleador* empregador* 用人单位 雇主
| employee* arbeitnehmer* salarie* empleado* empleada* trabajador* lavorator* dipendenti empregado*
trabalhador* 劳动者 雇员

lender* creditor* glaubiger* preteur* creancier* acreedor* creditore creditori credor* 贷款人 债权人
| borrower* debtor* schuldner* kreditnehmer* emprunteur* debiteur* deudor* prestatario* debitore
debitori mutuatari* devedor* 借款人 债务人

plaintiff* klager* demandeur* demandante* 原告
| defendant* beklagte* defendeur* demandado* convenut* 被告

absender* expediteur* remitente* mittente* remetente* 寄件人
| addressee* empfanger* destinataire* destinatari* 收件人

auftraggeber*
| auftragnehmer*

licensor* lizenzgeber*
| licensee* lizenznehmer*

insurer* versicherer* assureur* asegurador* assicurator* seguradora*
| insured versicherte* asegurado* segurado*

import imports imported einfuhr* eingefuhrt* importiert* importaron importacion* importazion* importou
importaram importac* 进口
| export exports exported ausfuhr* ausgefuhrt* exportiert* exportaron exportacion* esportazion* exportou
exportaram exportac* 出口

minimum minimal* mindest* minimo minima minimos minimas 最低 最少 最小 / min least lowest less wenigstens
moins menos meno
| maximum maximal* hochst* maximo maxima maximos maximas massimo massima 最高 最多 最大 / max most limit
limits highest up bis plus mas piu mais jusqu

first erste* premier premiere premiers premieres primer primera primero primeros primeras primo primi
primeir*
| last letzte* dernier* ultimo ultima ultimos ultimas ultimi ultime / final finally latest

arrive arrives arrived arriving arrival* ankunft* ankomm* arrivee* arrivent llega llegan llegada* arriva
arrivano arrivo arrivi chega chegam chegada* 到达
| depart departs departed departing departure* leave leaves leaving abfahrt* abflug* salida* partono
partenza partenze partida* 出发

income revenue* einnahmen einkunfte recette* ingresos entrate receita* 收入
| expenses expenditure* ausgaben depense* gasto gastos uscite despesa* 支出

male males mannlich* masculin* masculino* maschil*
| female females weiblich* feminin* femenino* femminil*

adult adults erwachsene* adulte* adulto* adulta* adulti 成人
| child children kinder kindern enfant* nino ninos nina ninas bambin* crianca* 儿童

single einzelzimmer*
| double doppelzimmer*

inside indoor indoors
| outside outdoor outdoors
"""
"""A blank line ends a group, `|` a member; `*` stands for any ending. All is folded as words are. What stands
behind `/` says a member only in a way: it is no other one. Left out is what has another common meaning in one
of the languages: Mars, May, the Portuguese "segunda", "sur", the French "été"."""

_BEFORE = words_of("before vor bevor avant antes prima")
_AFTER = words_of("after nach nachdem apres despues tras dopo depois apos")
_NOT_ALONE = frozenset(("last",))
"""A verb, too, unless an article or a possessive stands before it."""
_POSSESSIVES = words_of("its their his her our your my s")
_REACH = 6
"""Words behind "before" among which is what it goes before."""
_LEAST_STEM = 4
MAX_LENGTH = 2000

_TOWARDS = late_regex(
    r"\b(?:from|von|vom|aus|de|du|des|del|desde|dal?|dall[ao]|do)\s(?:the\s|der\s|l[ae]\s|l[’'])?([\w-]{2,40})"
    r"(?:\s[\w-]{1,40}){0,3}?"
    r"\s(?:to|nach|zu|zu[mr]|à|aux?|vers|al?|hasta|hacia|all[ao]|para|até)\s(?:the\s|der\s|l[ae]\s|l[’'])?([\w-]{2,40})"
)
_TOWARDS_CHINESE = late_regex(r"从(\w{2})\w{0,8}?[到至往去](\w{2})")
_ORDINAL = (
    r"(?:second|third|fourth|fifth|next|deuxième|seconde?|troisième|quatrième|segund[oa]|tercer[oa]?|second[oa]|terz[oa]|"
    r"terceir[oa])"
)
_RANK = late_regex(
    rf"\b({_ORDINAL})[ -](\w{{3,20}}est|most|least)\b"
    rf"|\b({_ORDINAL})(?:\s\w{{1,20}}){{0,2}}?\s(plus|moins|más|menos|più|meno|mais)\b|第([二三四五])([高大长深多])"
)

Members = frozenset[tuple[int, int]]


def tells_of_another(question: str, sentence: str, above: Iterable[str] = ()) -> bool:
    """Whether a sentence says the contrary of what is asked: another member of a group than the question,
    where neither it nor what stands `above` it has the one that is asked for; before for after; there for
    back; the second highest for the highest."""
    question, sentence = question[:MAX_LENGTH], sentence[:MAX_LENGTH]
    return (
        _has_another(question, sentence, above)
        or _is_other_side(question, sentence)
        or _goes_the_other_way(question, sentence)
        or _is_of_another_rank(question, sentence)
    )


def _has_another(question: str, sentence: str, above: Iterable[str]) -> bool:
    asked, _ = _members(question)
    said, in_a_way = _members(sentence) if asked else (frozenset(), frozenset())
    instead = {group for group, _ in said - asked}
    if all(group not in instead for group, _ in asked):
        return False
    around = frozenset[tuple[int, int]]().union(*(_members(title)[0] for title in above))
    held = {group for group, _ in asked & (said | in_a_way | around)}
    return any(group in instead and group not in held for group, _ in asked)


@cache
def _table() -> tuple[dict[str, tuple[int, int]], dict[str, tuple[int, int]], dict[str, tuple[int, int]]]:
    """The member of each word, of each beginning of words, and of each word that says a member in a way."""
    whole: dict[str, tuple[int, int]] = {}
    begun: dict[str, tuple[int, int]] = {}
    weak: dict[str, tuple[int, int]] = {}
    for group, rows in enumerate(_GROUPS.strip().split("\n\n")):
        for member, row in enumerate(rows.split("|")):
            strong, _, weakly = row.partition("/")
            for form in strong.split():
                (begun if form.endswith("*") else whole)[form.removesuffix("*")] = (group, member)
            weak.update(dict.fromkeys(weakly.split(), (group, member)))
    return whole, begun, weak


@lru_cache(maxsize=4096)
def _members(text: str) -> tuple[Members, Members]:
    """The members of groups in a text, and those that it says in a way."""
    whole, begun, weak = _table()
    said: set[tuple[int, int]] = set()
    in_a_way: set[tuple[int, int]] = set()
    seen = list(words(text))
    for place, word in enumerate(seen):
        form = word.form
        if form in _NOT_ALONE and _is_alone(seen, place):
            in_a_way.add(whole[form])
        elif found := whole.get(_hyphenated(text, seen, place)) or whole.get(form) or _begun(form, begun):
            said.add(found)
        elif form in weak:
            in_a_way.add(weak[form])
    if any(is_cjk(word.form) for word in seen):
        said |= _chinese_members(text)
    return frozenset(said), frozenset(in_a_way)


def _is_alone(seen: Sequence[Word], place: int) -> bool:
    """Whether there is no article and no possessive before a word."""
    return place == 0 or seen[place - 1].form not in ARTICLES | _POSSESSIVES


def _hyphenated(text: str, seen: Sequence[Word], place: int) -> str:
    """A word with the one that a hyphen joins to it, '' where there is none: "segunda-feira"."""
    if place + 1 == len(seen):
        return ""
    word, following = seen[place], seen[place + 1]
    return f"{word.form}-{following.form}" if text[word.end : following.start] == "-" else ""


def _chinese_members(text: str) -> Members:
    whole, _, _ = _table()
    return frozenset(at for form, at in whole.items() if not form.isascii() and form in text)


def _begun(form: str, begun: dict[str, tuple[int, int]]) -> tuple[int, int] | None:
    return next(
        (begun[form[:size]] for size in range(len(form), _LEAST_STEM - 1, -1) if form[:size] in begun), None
    )


def _is_other_side(question: str, sentence: str) -> bool:
    """Whether a sentence says before of what the question says after of, or the other way round."""
    asked, said = _sides(question), _sides(sentence) if _sides(question) else {}
    return any(said.get(what, {side}) == {not side} for what, sides in asked.items() for side in sides)


@lru_cache(maxsize=4096)
def _sides(text: str) -> dict[str, set[bool]]:
    """The stems of what something is before (False) or after (True)."""
    found: dict[str, set[bool]] = {}
    seen = list(words(text))
    for place, word in enumerate(seen):
        if word.form in _BEFORE | _AFTER and (what := _first_content(seen[place + 1 : place + _REACH])):
            found.setdefault(what, set()).add(word.form in _AFTER)
    return found


def _first_content(following: Iterable[Word]) -> str:
    return next((word.stem for word in following if len(word.form) > 1 and word.form not in _joining()), "")


@cache
def _joining() -> frozenset[str]:
    """Words that join, in any language, and those of the group itself; some of them elided."""
    every = frozenset(word.form for language in LANGUAGES for entry in language for word in words(entry))
    return every | _BEFORE | _AFTER | words_of("dell dall all nell sull")


def _goes_the_other_way(question: str, sentence: str) -> bool:
    """Whether a sentence leads from there to here where the question asks for from here to there."""
    asked, said = set(_ways(question)), set(_ways(sentence))
    return any((end, start) in said and (start, end) not in said for start, end in asked)


def _ways(text: str) -> Iterator[tuple[str, str]]:
    lowered = text.lower()
    for pattern in (_TOWARDS, _TOWARDS_CHINESE):
        for match in pattern.finditer(lowered):
            yield match.group(1), match.group(2)


def _is_of_another_rank(question: str, sentence: str) -> bool:
    """Whether a sentence says what is the second highest where the question asks for the highest."""
    lowered = question.lower()
    for match in _RANK.finditer(sentence.lower()):
        ordinal, degree = (group for group in match.groups() if group)
        if degree in lowered and ordinal not in lowered:
            return True
    return False
