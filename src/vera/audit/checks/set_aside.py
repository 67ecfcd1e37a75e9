"""Lines that a heading or the head of a column sets aside: "Myths", "Repealed", "Before 2010".

What such lines say is not what their source holds to be so now. A claim that says as much itself ("It is a
myth that …", "Until 2010 …") is right about them. Of a place of many lines the one counts that says most of
the claim. A note sets aside the number of a cell that bears its mark: 8.4†, "† Planned".
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from vera.audit.case import Case, CitedLines, language_of, places
from vera.evidence.claim import Claim
from vera.evidence.finding import Finding
from vera.text.headings import divider, is_marked, over
from vera.text.late_regex import late_regex
from vera.text.negation import is_negative
from vera.text.quantity import quantities
from vera.text.tables import cells_of, table_at
from vera.text.whole_sentences import line
from vera.text.words import folded, hedges, stems

_ASIDE = late_regex(
    # untrue
    r"\b(?:myths?|misconceptions?|fictions?|hoax(?:es)?|debunked|rumou?rs?|falsehoods?|disproved|disproven"
    r"|false (?:claims?|statements?)|fake(?:s| news)?|untrue|incorrect|wrong answers?|refuted"
    r"|(?:found|shown|proved|proven|known) (?:to be )?(?:false|wrong)|(?:is|are|was|were) (?:false|wrong)"
    r"|errors (?:which|we|people|everyone)"
    r"|legends|mistakes|common errors|wrong beliefs|april fools?|(?:from the|in the|a) (?:novels?|film|movie)"
    r"|(?:widespread|frequent|popular) errors|errors (?:that|to avoid)|superstitions?|old wives"
    r"|mythen|irrtümer|irrtum|gerüchte?|legenden|widerlegt\w{0,2}|falschmeldungen|fehler, die|häufige fehler"
    r"|mythes|idées? reçues?|légendes|rumeurs?|erreurs (?:qui|courantes|fréquentes|à éviter)|contre-vérités"
    r"|mitos|bulos|leyendas|rumores|errores (?:que|comunes|frecuentes|a evitar)|creencias (?:falsas|erróneas)"
    r"|miti|leggende|dicerie|bufale|falsità|errori (?:che|comuni|frequenti|da evitare)"
    r"|lendas|boatos|crendices|erros (?:que|comuns|frequentes|a evitar)|falsas? crenças?|desmentid[oa]s?"
    # no longer in force
    r"|repealed|superseded|obsolete|deprecated|withdrawn|revoked|rescinded|annulled|cancell?ed|discontinued"
    r"|abolished|abrogated|outdated|archived?|expired|lapsed|deleted|removed|exclusions?|excluded|retracted"
    r"|no longer (?:in force|valid|applicable|available)"
    r"|(?:old|earlier|past) (?:versions?|rules?|law|wording|text|prices?|terms|conditions)"
    r"|\A(?:former|previous) \w{3,20}(?: \w{3,20})?\Z"
    r"|gestrichen\w{0,2}|aufgehoben\w{0,2}|außer kraft|veraltet\w{0,2}|überholt\w{0,2}"
    r"|frühere fassung|alte fassung"
    r"|zurückgezogen\w{0,2}|zurückgenommen\w{0,2}|widerrufen\w{0,2}|annulliert\w{0,2}|abgeschafft\w{0,2}"
    r"|storniert\w{0,2}|retirée?s?|révoquée?s?|annulée?s?|supprimée?s?|(?:retir|revoc|anul|cancel)ad[oa]s?"
    r"|suprimid[oa]s?|(?:ritir|revoc|annull)at[oaie]|soppress[oaie]"
    r"|abrogée?s?|obsolètes?|ancienne version|ancien texte|caduque?s?|derogad[oa]s?|obsolet[oa]s?"
    r"|versión anterior|redacción anterior|vencid[oa]s?|caducad[oa]s?|abrogat[oaie]|superat[oaie]|obsolet[oi]"
    r"|versione precedente|testo previgente|scadut[oaie]|revogad[oa]s?|versão anterior|redação anterior"
    # not adopted, or only wished for
    r"|drafts?|proposed(?! and (?:adopted|approved|accepted))|rejected|hypothetical|not (?:adopted"
    r"|in force|built)"
    r"|entwurf|abgelehnt\w{0,2}|verworfen\w{0,2}|projet de|rejetée?s?|refusée?s?|non (?:adoptée?s?"
    r"|retenue?s?|votée?s?)"
    r"|rechazad[oa]s?|no aprobad[oa]s?|desestimad[oa]s?|respint[oaie]|bocciat[oaie]|non approvat[oaie]"
    r"|scartat[oaie]|rejeitad[oa]s?|recusad[oa]s?|não aprovad[oa]s?"
    r"|wish ?lists?|wishes|dream(?:s|t)? of|wunschliste|wünsche|liste de souhaits|lista de deseos|desiderata"
    r"|lista dei desideri|lista de desejos"
    # of a minority
    r"|dissent(?:s|ing)?|minority (?:opinion|report|view|vote)|(?:opinion|report|view|vote) of the minority"
    r"|abweichende (?:meinung|stellungnahme|ansicht)|sondervotum|minderheits\w{3,12}|votum der minderheit"
    r"|(?:opinion|avis) (?:dissidente?|divergente?|minoritaire)|(?:avis|opinion) de la minorité"
    r"|voto (?:particular|disidente|discrepante|de la minoría|vencido)|opinión disidente"
    r"|(?:parere|relazione|voto) di minoranza|opinione dissenziente|(?:parecer|voto|relatório) da minoria"
    # invented
    r"|specimens?|fictitious|fictional|made-up|invented|imaginary|spécimens?|fictifs?|fictives?|fiktiv\w{0,2}"
    r"|erfunden\w{0,2}|muster(?:text|brief|vertrag|formular)|ficti?ci[oa]s?|inventad[oa]s?|fittizi[oae]?"
    r"|inventat[oaie]|espécime|fictíci[oa]s?|fac-?simile)\b"
    r"|\b(?:none|nothing|neither|not one) of (?:it|this|these|them|which|the following)\b|, none of it\b"
    r"|\b(?:keine?r?s?|nichts) (?:davon|hiervon)\b|\b(?:rien|aucune?) (?:de|d[’'])\s?(?:tout )?(?:cela"
    r"|ceci|ces|entre)\b"
    r"|\bningun[oa] de (?:est|ell)[oa]s\b|\bnada de esto\b|\bnessun[oa] di (?:quest|ess)[ieo]\b"
    r"|\bniente di (?:questo|ciò)\b"
    r"|\bnenhum[a]? d(?:est|el)[ea]s\b|\bnada disto\b"
    # of another time
    r"|\b(?:before|until|prior to|up to|till|through|vor|bis|avant|jusqu['’]en|jusqu['’]à|antes de|hasta"
    r"|fino al?|prima del?|até)(?: \w{1,12}){0,3} [12][0-9]{3}\b|[12][0-9]{3}年(?:以前|之前|前)"
    r"|废止|废除|作废|失效|旧版|已取消|撤回|撤销|否决|未通过|未获通过|未采纳|驳回|被拒|谣言|传闻|误区|迷思"
    r"|流言|虚构|样本|样张"
    r"|少数意见|反对意见|异议意见|不同意见|常见错误|错误(?:做法|观念|认识|说法)|愿望清单|草案|征求意见稿"
)
"""What a heading says of lines that do not hold: in English, German, French, Spanish, Italian, Portuguese and
Chinese."""

_MYTH = late_regex(r"(?i)mythos|irrglauben?|fehlannahmen?|mythe|mito|bulo|误解")
"""What the head of a column says of beliefs, beside one of facts. In a heading some of them name a tale."""

MAX_DENYING_WORDS = 6
"""A longer heading that denies something is a headline: "Band will not delay its release"."""

MAX_LINES = 400
"""Of a longer place the headings over its first line count."""

NOTES = 200
"""Lines behind a cell in which the note of its mark may stand."""

_MARKED_NUMBER = late_regex(
    r"(?<![*\w.,])(?P<number>[0-9][0-9.,'’]{0,20})\s?[%€$£]?(?P<mark>[†‡§¶]{1,2}|\*{1,3})(?=\s*(?:[|;,]|\Z)|\t|\s\s)"
)
"""A number with the mark of a note, at the end of a cell."""

_NOT_MEASURED = late_regex(
    r"(?i)\b(?:planned|projected|projection|forecasts?|targets?|budget(?:ed)?|estimat\w{1,3}|assum\w{2,5}|expected"
    r"|geplant\w{0,2}|planwerte?|prognose\w{0,2}|sollwerte?|geschätzt\w{0,2}|schätzung\w{0,2}|erwartet\w{0,2}"
    r"|prévu\w{0,2}|prévisions?|estimé\w{0,2}|estimations?|objectifs?"
    r"|previst[oa]s?|previsi[oó]n\w{0,2}|estimad[oa]s?|estimaci[oó]n\w{0,2}|objetivos?|presupuest\w{1,4}"
    r"|previsti?|prevision[ei]|stimat[oaie]|stim[ae]|previsões|previsão|estimativas?|metas?)\b"
    r"|计划|预计|预测|预算|目标|估计|估算"
)
"""What a note says of a number that no one has measured."""

_YEAR = re.compile(r"[12][0-9]{3}")


def set_aside(case: Case) -> Iterator[Finding]:
    """`set_aside` (soft) for each claim all of whose cited lines stand under such a heading. One that only
    points at lines shows a reader what they say, too."""
    for claim in case.claims:
        cited = places(case, claim)
        if not cited:
            continue
        noted = [(place, note) for place in cited if (note := _note(claim.text, place))]
        if noted:
            yield _finding(claim, *noted[0], "bear the note")
            continue
        cited = [place for place in cited if not _only_heads(place)] or cited
        headings = [_aside_over(claim.text, place) for place in cited]
        if not all(headings):
            continue
        yield _finding(claim, cited[0], headings[0], "stand under")


def _finding(claim: Claim, place: CitedLines, heading: str, how: str) -> Finding:
    return Finding(
        code="set_aside",
        label="misinterpretation",
        severity="soft",
        claim=claim.key,
        evidence=place.evidence.id,
        first=place.first,
        last=place.last,
        message=f"The cited lines {how} “{heading}”: say so, or cite lines that hold now.",
        detail=heading,
    )


def _only_heads(place: CitedLines) -> bool:
    """Whether a place is one line that is a heading, or a row that divides its table."""
    text = line(place.source.lines, place.first)
    return place.first == place.last and (is_marked(text) or bool(divider(text)))


def _note(claim: str, place: CitedLines) -> str:
    """The note of a cell whose number a claim gives, where it sets that number aside and the claim does not;
    '' for none."""
    spoken = language_of([place])
    for number in range(place.first, min(place.last, place.first + MAX_LINES) + 1):
        for found in _MARKED_NUMBER.finditer(line(place.source.lines, number)):
            note = _note_of(found["mark"], number, place)
            given = {each.unscaled for each in quantities(claim, spoken)} if note else set[Decimal]()
            marked = {each.value for each in quantities(found["number"], spoken)}
            if given & marked and not _tells(claim, note):
                return note
    return ""


def _note_of(mark: str, number: int, place: CitedLines) -> str:
    """The note behind a line that begins with a mark, where it sets aside; '' for none."""
    lines = place.source.lines
    for each in range(number + 1, min(len(lines), number + NOTES) + 1):
        text = line(lines, each).strip(" |(")
        if text.startswith(mark) and not text.startswith(mark + mark[0]):
            note = text[len(mark) :].strip(" |):")
            return note if _NOT_MEASURED.search(note) or is_aside(note) else ""
    return ""


def _tells(claim: str, note: str) -> bool:
    """Whether a claim says of its number what the note says."""
    return bool(hedges(claim) or _NOT_MEASURED.search(claim)) or _says_so(claim, note)


def _aside_over(claim: str, place: CitedLines) -> str:
    """What sets aside the line of a place that says most of the claim, the first one of these; '' where
    nothing does, or the claim says so itself."""
    if place.last - place.first >= MAX_LINES:
        return _unsaid(claim, place.headings)
    said = set(stems(claim))
    number = max(
        range(place.first, place.last + 1),
        key=lambda each: (len(said & set(stems(line(place.source.lines, each)))), -each),
    )
    return aside_column(claim, place, number) or _unsaid(
        claim, over(lambda each: line(place.source.lines, each), number)
    )


def _unsaid(claim: str, headings: Sequence[str]) -> str:
    heading = next(filter(is_aside, headings), "")
    return "" if _says_so(claim, heading) else heading


def aside_column(claim: str, place: CitedLines, number: int) -> str:
    """The head of the column whose cell in line `number` has most of the claim, where that sets it aside and
    the claim does not say so; else ''."""
    row = cells_of(line(place.source.lines, number), place.evidence.media_type)
    said = set(stems(claim))
    at, shared = max(
        enumerate(len(said & set(stems(cell))) for cell in row), key=lambda pair: pair[1], default=(0, 0)
    )
    if 2 * shared <= len(said):
        return ""
    table = table_at(lambda each: line(place.source.lines, each), number, number, place.evidence.media_type)
    head = table.head[at] if table and len(table.head) == len(row) else ""
    if not _is_aside_head(head):
        return ""
    repeats = shared == len(said) and is_negative(claim) == is_negative(row[at])
    return "" if _says_so(claim, head) and not repeats else head


def _is_aside_head(head: str) -> bool:
    """Whether a head of a column sets its cells aside. One word that denies does not: "No." numbers rows."""
    named = _ASIDE.search(folded(head)) is not None or _MYTH.fullmatch(head) is not None
    return named or (" " in head and is_aside(head))


def is_aside(heading: str) -> bool:
    """Whether a heading sets aside what stands under it, or says of what it is not so."""
    is_short = len(heading.split()) <= MAX_DENYING_WORDS
    return _ASIDE.search(folded(heading)) is not None or (is_short and is_negative(heading))


def _says_so(claim: str, heading: str) -> bool:
    """Whether a claim has what sets the lines aside: the word, or the year."""
    found = _ASIDE.search(folded(heading))
    if found is None:
        return is_negative(claim) or is_aside(claim)
    aside = found[0]
    if year := _YEAR.search(aside):
        return year[0] in claim
    return bool(set(stems(aside)) & set(stems(claim))) or is_aside(claim)
