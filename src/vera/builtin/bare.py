"""Whether a question names no subject, but only the kind of its answer: "How long?", "Was kostet es?".

Its one word is in any text that gives a time or a price. So no line surely answers it.
"""

import re
from functools import cache

from vera.builtin.languages import language_of
from vera.builtin.lexicon import TIME_UNITS
from vera.builtin.question import CJK_SCAFFOLD, Question, Term, frame_words, scaffolding, stems_of
from vera.builtin.words import is_cjk, words
from vera.text.stopwords import ENGLISH

_ENGLISH = """
    amount cost price charge expense money time moment hour date deadline age duration period length size
    extent number count quantity total maximum minimum limit default value percentage percent frequency
    last person people place location reason cause answer result worth far often frequent soon quick exact
    approximate information content
"""
"""Beside the words of asking (`lexicon.SCAFFOLDING`) and the units of time."""

_OTHER_LANGUAGES = """
    viel viele lange lang oft häufig weit groß gross hoch teuer kosten kostet kostete preis betrag geld
    zeit zeitraum zeitpunkt dauer dauert dauern frist uhr uhrzeit datum jahr jahre tag tage monat monate
    woche wochen stunde stunden alt anzahl zahl menge wert höhe maximum minimum standard person personen
    mensch menschen leute name ort stelle grund heißt heisst bedeutet passiert geht braucht brauche steht
    ça cela coûte coûtent coûter coût prix montant argent temps durée dure durent durer délai heure heures
    date année années an ans jour jours mois semaine semaines âge nombre quantité valeur taille maximum
    minimum défaut personne personnes gens nom lieu endroit raison longtemps souvent prend faut fois vaut
    appelle
    cuesta cuestan costar costo coste precio importe dinero tiempo duración dura duran durar tarda tardan
    plazo hora horas fecha año años día días mes meses semana semanas edad número cantidad valor tamaño
    máximo mínimo cuánta cuántas cuanta cuantas persona personas gente nombre lugar sitio razón motivo
    frecuencia veces vale
    costa costano costare costo prezzo importo denaro soldi tempo durata dura durano durare termine ora
    ore data anno anni giorno giorni mese mesi settimana settimane età numero quantità valore massimo
    minimo persona persone gente nome luogo posto ragione motivo spesso volte vuole vogliono ci ne serve
    viene
    custa custam custar custo preço montante dinheiro tempo duração dura duram durar demora demoram leva
    prazo hora horas data ano anos dia dias mês meses semana semanas idade número quantidade valor tamanho
    máximo mínimo pessoa pessoas gente nome lugar sítio local razão motivo frequência vezes vale quanta
    quantas quem
"""
"""German, French, Spanish, Italian and Portuguese. One table, as "Quanto dura?" is of three languages."""

_CJK = re.compile(
    "(?:多少|几|幾)个?(?:年|月|日|天|周|小时|小時|分钟|分鐘|次|人|钱|錢)?|多[久长長大远遠高]|"
    "时间|時間|时候|時候|日期|期限|价格|價格|价钱|價錢|费用|費用|金额|金額|数量|數量|地方|地点|地點|原因|名字|"
    "需要|要|花费|花費|花|它|他|她|这|這|那|会|會|能|应该|應該|到底|大概|一共|总共|總共|呀|啊|"
    f"{CJK_SCAFFOLD.pattern}"
)
"""Chinese has no spaces between words: what remains without these is of a subject."""


def is_bare(question: Question) -> bool:
    """Whether every word of a question only says which kind of answer it wants."""
    if question.identifiers or any(is_cjk(word.form) for word in words(_CJK.sub(" ", question.text))):
        return False
    lowered = question.text.lower()
    frame = frame_words(lowered)
    english = language_of(lowered) is ENGLISH
    other = not english or ENGLISH.isdisjoint(question.spoken)

    def asks(term: Term) -> bool:
        form = term.word.form
        return (
            is_cjk(form)
            or (english and (form in frame or term.word.stem in _english_stems()))
            or (other and form in _other_forms())
        )

    return all(map(asks, question.terms))


@cache
def _english_stems() -> frozenset[str]:
    return scaffolding() | stems_of(frozenset(_ENGLISH.split()) | TIME_UNITS)


@cache
def _other_forms() -> frozenset[str]:
    return frozenset(word.form for word in words(_OTHER_LANGUAGES))
