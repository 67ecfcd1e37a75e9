"""Lines that stand under a heading which sets them aside: "Myths", "Repealed", "Before 2010".

What such lines say is not what their source holds to be so now. A claim that says as much itself ("It is a
myth that …", "Until 2010 …") is right about them. Of a place of many lines the one counts that says most of
the claim.
"""

import re
from collections.abc import Iterator

from vera.audit.case import Case, CitedLines, places
from vera.evidence.finding import Finding
from vera.text.headings import over
from vera.text.late_regex import late_regex
from vera.text.negation import is_negative
from vera.text.whole_sentences import line
from vera.text.words import folded, stems

_ASIDE = late_regex(
    # untrue
    r"\b(?:myths?|misconceptions?|fictions?|hoax(?:es)?|debunked|rumou?rs?|falsehoods?|disproved|disproven"
    r"|false (?:claims?|statements?)|fake(?:s| news)?|untrue|incorrect|wrong answers?|refuted"
    r"|(?:found|shown|proved|proven|known) (?:to be )?(?:false|wrong)|(?:is|are|was|were) (?:false|wrong)"
    r"|errors (?:which|we|people|everyone)"
    r"|legends|mistakes|common errors|wrong beliefs|april fools?|(?:from the|in the|a) (?:novels?|film|movie)"
    r"|(?:widespread|frequent|popular) errors|errors (?:that|to avoid)|superstitions?|old wives"
    r"|mythen|irrtümer|irrtum|gerüchte?|legenden|widerlegt\w{0,2}|falschmeldungen|fehler, die|häufige fehler"
    r"|mythes|idées reçues|légendes|rumeurs?|erreurs (?:qui|courantes|fréquentes|à éviter)|contre-vérités"
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

MAX_DENYING_WORDS = 6
"""A longer heading that denies something is a headline: "Band will not delay its release"."""

MAX_LINES = 400
"""Of a longer place the headings over its first line count."""

_YEAR = re.compile(r"[12][0-9]{3}")


def set_aside(case: Case) -> Iterator[Finding]:
    """`set_aside` (soft) for each claim all of whose cited lines stand under such a heading. One that only
    points at lines shows a reader what they say, too."""
    for claim in case.claims:
        cited = places(case, claim)
        if not cited:
            continue
        headings = [next(filter(is_aside, _over(claim.text, place)), "") for place in cited]
        if not all(headings) or any(_says_so(claim.text, heading) for heading in headings):
            continue
        place, heading = cited[0], headings[0]
        yield Finding(
            code="set_aside",
            label="misinterpretation",
            severity="soft",
            claim=claim.key,
            evidence=place.evidence.id,
            first=place.first,
            last=place.last,
            message=f"The cited lines stand under “{heading}”: say so, or cite lines that hold now.",
            detail=heading,
        )


def _over(claim: str, place: CitedLines) -> tuple[str, ...]:
    """The headings over the line of a place that says most of the claim, the first one of these."""
    if place.first == place.last or place.last - place.first >= MAX_LINES:
        return place.headings
    said = set(stems(claim))
    number = max(
        range(place.first, place.last + 1),
        key=lambda each: (len(said & set(stems(line(place.source.lines, each)))), -each),
    )
    return over(lambda each: line(place.source.lines, each), number)


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
