"""The shapes of expressions that answer questions: numbers, times, amounts, names, options, paths, …

No pattern backtracks over more than a run of word characters: each is linear in a bounded text.
"""

import re

from vera.builtin.lexicon import NUMBER_WORDS
from vera.text.late_regex import late_regex
from vera.text.quantity_dates import FOREIGN_MONTHS

_NUMBER_WORD = "|".join(word for word in (*NUMBER_WORDS, "fünf", "zwölf", "dreißig") if word != "one")
_DIGITS = r"\d[\d.,]*"
_AMOUNT = rf"(?:{_DIGITS}|{_NUMBER_WORD}|one|a|an|several|few)(?:\s?\(\d+\))?"


def _compiled(*alternatives: str) -> re.Pattern[str]:
    return late_regex("|".join(alternatives), re.IGNORECASE)


_HAN = "\u4e00-\u9fff"
NUMBER = _compiled(
    rf"(?<![^\W{_HAN}])(?<![.,-])(?:\d[\d.,]*\d|\d|{_NUMBER_WORD}|one|a|an|once|twice|no|"
    rf"several)(?![^\W{_HAN}])",
    r"[〇零一二三四五六七八九十百千万两]{1,12}",
)
NUMBER_OF = late_regex(r"\b(?:number|count|total) of((?: \w{1,30}){1,3})", re.IGNORECASE)
"""What a sentence counts before it says how many: "the number of employees is 12"."""
THERE_ARE = late_regex(
    r"\b(?:has|have|had|there (?:is|are|was|were)) (?:\w{1,9} )?\d[\d.,]{0,15} (\w{1,30})", re.IGNORECASE
)
"""The same behind the number: "the firm has 12 employees"."""
IT_IS = late_regex(
    r"^\s{0,8}(?:the|its|their) (\w{1,30}(?:[ -]\w{1,30}){0,3}?)(?: (?:of|for|at|on|in) .{1,80}?)? "
    r"(?:is|was|are|were) ",
    re.IGNORECASE,
)
"""What a sentence gives the value of: "the last dividend of the firm was 7 %"."""
OPEN = _compiled(
    r"\b(?:not|never)(?: yet)?(?: been)?(?: yet)? "
    r"(?:disclosed|agreed|decided|known|given|stated|fixed|determined|named|published|specified|"
    r"recorded|set)\b",
    r"\bnothing (?:was|is|has been)\b",
    r"\b(?:unknown|undisclosed|undecided|unspecified|unnamed|left open|still open)\b",
    r"\bto be (?:decided|determined|announced|confirmed|agreed)\b",
)
"""Says that something is not said."""
_GONE = (
    r"(?:repealed|revoked|superseded|deleted|withdrawn|rescinded|abolished|annulled|obsolete|scrapped|"
    r"struck (?:out|down)|cancell?ed|void|unconstitutional|no longer (?:in force|valid|applies|holds)|"
    r"aufgehoben|gestrichen|weggefallen|abrogée?s?|supprimée?s?|abolie?s?)"
)
_WAS = r"(?:(?:has|have|is|are|was|were|been|now|since|later|ruled|a|ont|été) ){0,3}"
TAKEN_BACK = _compiled(
    rf"[(\[]\W{{0,3}}(?:this \w{{1,20}} )?{_WAS}{_GONE}"
    r"(?=\W{0,3}[)\]]|\s\d|\s(?:in|on|by|and|am|durch|en|par)\b)",
    rf"[,;–—]\s?(?:which |that |this |die |der |das |was |qui )?{_WAS}{_GONE}"
    r"(?=\W{0,3}\Z|\s\d|\s(?:in|on|by|am|durch|en|par|wurde|wird|ist)\b)",
    r"[(\[](?:not|never|nicht|nie|pas|jamais|or not|or may not)[)\]]",
    r"[☐✗✘✕✖❌□▢◻◽⬜❏❐❑❒◯⭘🞎🗆]|(?<![\w\]])\[[ \u00a0]\](?=\s)|(?<!~)~~(?!~)",
)
"""Takes a sentence back, or leaves open which way it is: "(repealed)", "(not)", a box without a tick, ~~."""
REJECTS = _compiled(
    r"\b(?:repealed|revoked|superseded|withdrawn|rescinded|abolished|obsolete|outdated|myths?|"
    r"misconceptions?|"
    r"fallac(?:y|ies)|misunderstandings?|hoax(?:es)?|untrue|incorrect|aufgehoben|gestrichen|"
    r"veraltet|überholt|"
    r"mythen|irrtümer|irrtum|abrogée?s?|obsolètes?|mythes?|idées reçues)\b"
)
"""In a heading: what is below it does not hold."""
SETS_APART = _compiled(
    r"\b(?:myths?|hoax(?:es)?|rumou?rs?|allegedly|supposedly|reportedly|no longer|angeblich|gerüchte\w{0,2}"
    r"|prétendument)\b",
    r"\b(?:some|many|people|they|opponents|critics) (?:say|said|claim(?:ed)?|believed?|think|thought)\b",
    r"\b(?:in|im|dans) (?:the|a|his|her|le|un)?\s?(?:novel|film|movie|play|story|roman)\b",
    r"\b(?:proposals?|motions?|bills?|drafts?|plans?|requests?|antrag|vorschlag|entwurf)\b[^.;]{0,200}"
    r"\b(?:rejected|defeated|withdrawn|refused|dropped|turned down|not adopted|abgelehnt)\b",
    r"\b(?:until|before|prior to|up to|bis|vor|jusqu[’']en|avant) [12]\d{3}\b[^.;]{0,200}"
    r"\b(?:was|were|had|used|war|waren|hatte|était|étaient)\b",
)
"""Says what others say or wanted, what is in a book, or what was so until another year."""
MEANT = _compiled(
    r"\b(?:was|were|had been) (?:\w{1,12} )?(?:expected|planned|supposed|intended|projected|"
    r"scheduled|meant) to\b",
    r"\b(?:war|waren|wurden?)\b[^.;]{0,120}\b(?:veranschlagt|geplant|vorgesehen|erwartet|kalkuliert)\b",
    r"\b(?:était|étaient|avai(?:en)?t été) (?:\w{1,14} )?(?:prévue?s?|censée?s?|attendue?s?)\b",
    r"\bdevai(?:t|ent) (?:coûter|durer|être|avoir|ouvrir|finir)\b",
    r"\b(?:estaban?|había sido) (?:\w{1,14} )?(?:previst|planead|presupuestad)[oa]s?\b|"
    r"\bse (?:esperaba|preveía)\b",
    r"\b(?:era|erano) (?:stat[oaie] )?(?:\w{1,16} )?previst[oaie]\b|\bsi prevedeva\b|\bavrebbe dovuto\b",
    r"\b(?:estavam?|tinha sido) (?:\w{1,14} )?(?:previst|orçad)[oa]s?\b|\b(?:esperava|previa)-se\b",
)
"""Says what was to be, and not what came of it."""
ASKS_MEANT = _compiled(
    r"\b(?:expect|plan|suppos|intend|project|schedul|meant|veranschlag|geplant|vorgesehen|erwart|"
    r"kalkulier|prévu|censé|"
    r"attendu|devai|previst|planead|presupuest|esper|preve|prevís|dovut|orçad|previa)"
)
CHINESE_DOUBT = late_regex(
    "[不没未无非别勿若]|预计|预期|计划|估计|原定|例如|比如|如果|假如|假设|据说|可能|大概|谣"
)
_FOR_EXAMPLE = (
    r"for example|for instance|e\.g\.|suppose|imagine|zum beispiel|z\. ?b\.|beispielsweise|"
    r"angenommen|par exemple|"
    r"supposons|imaginons|por ejemplo|supongamos|per esempio|ad esempio|supponiamo|por exemplo|"
    r"suponhamos|supondo"
)
EXAMPLE = _compiled(rf"^\W*(?:\w{{1,12}}\W{{1,3}}){{0,2}}?(?:{_FOR_EXAMPLE})(?!\w)[^:]*\Z")
"""Is an example. What follows a colon may go on with something else."""
ASKS_EXAMPLE = _compiled(r"\b(?:example|beispiel|exemple|ejemplo|esempio|exemplo)", _FOR_EXAMPLE)
DENIES = _compiled(
    r"\b(?:not|no|never|neither|nor|without|except|unless|nicht|kein\w{0,2}|nie|ohne|außer|pas|"
    r"aucune?|jamais|"
    r"sans|sauf)\b|n[’']t\b"
)
BY_THE_WAY = _compiled(
    r"\([^()]{0,200}\)",
    r",\s*(?:but )?(?:not|never|nicht|pas)\b[^,.;]{0,200}",
    r"\bnot (?:only|just|merely)\b|\bno (?:later|earlier|more|less|fewer) than\b|\bno\.? ?\d",
    r"\bno(?:[ -]one|body|ne)? other than\b",
    r"\b(?:without|except|unless|ohne|außer|sans|sauf)\b[^,.;]{0,200}",
)
"""A denial that leaves what the sentence says as it is, unless it denies what is asked about."""
_UP = (
    r"over|above|more than|no(?:t)? (?:less|fewer) than|at least|exceed(?:s|ing)?|minimum of|über|mehr als|"
    r"mindestens|wenigstens|plus de|au moins"
)
_DOWN = (
    r"up to|under|below|less than|fewer than|at most|no(?:t)? more than|not exceed(?:ing)?|maximum of|bis zu|"
    r"unter|weniger als|höchstens|moins de|au plus|jusqu[’']à"
)
AT_LEAST = _compiled(rf"\b(?:{_UP})\s+(?:[€$£]\s?)?$")
AT_MOST = _compiled(rf"\b(?:{_DOWN})\s+(?:[€$£]\s?)?$")
"""What stands before a number that is a bound: from there up, or up to there."""
ASKS_MIN = _compiled(r"\b(?:at (?:the )?least|minimum|minimal|mindestens|wenigstens|au moins|au minimum)\b")
ASKS_MAX = _compiled(r"\b(?:at (?:the )?most|maximum|maximal|höchstens|au plus|au maximum)\b")
"""What asks for a bound: the least that is so, or the most."""
VALUE = late_regex(
    r"\b(default|maximum|max|minimum|min|limit|threshold)s?\b"
    r"(?: (?:value|size|setting|number|timeout|length))?"
    r"(?:\s?[:=]\s?| (?:is|are|was|of|to|at|being)(?: set to)? | )[\"'“‘`(]{0,2}"
    r"(\d[\d.,]*)(?:\s?(%|[^\W\d_]{1,20}))?",
    re.IGNORECASE,
)
"""A value behind the noun that says which it is: "Default: 10w", "the maximum is 5 GB"."""
GIVES = _compiled(
    r"\b(?:is|are|was|were|be|being|of|to|at|than|least|most|about|around|approximately|only|"
    r"nearly|defaults?|port|"
    r"ist|sind|war|beträgt|auf|von|bei|est|sont|de|à|vaut)\s+[\"'“‘`(]?$",
    r"[:=|(\t]\s{0,3}[\"'“‘`]?$",
)
"""What stands before a number that is the value of what a sentence speaks of: "the port is 53"."""
REFERENCE = _compiled(
    r"\b(?:sections?|versions?|clauses?|articles?|chapters?|figures?|tables?|paragraphs?|pages?|steps?|part|"
    r"rfc|nos?|number|appendix|item|footnote|v)\b\.?\s*(?:\d[\d.]*\s?(?:,|and|or|to|[–-])\s?)?$",
    r"[§#\[]\s*$",
)
"""What stands before a number that counts nothing but names a place: "section 6", "version 3"."""

_UNIT_OF_TIME = (
    r"(?:calendar |business |working |full |consecutive )?"
    r"(?:years?|months?|weeks?|days?|hours?|minutes?|seconds?|milliseconds?|decades?|centur(?:y|"
    r"ies)|quarters?|"
    r"nights?|fortnights?|hrs?|mins?|secs?|ms|"
    r"jahr(?:en?)?|monat(?:en?)?|wochen?|tag(?:en?)?|stunden?|minuten|sekunden?|"
    r"ans|années?|mois|semaines?|jours?|heures?|secondes?|"
    r"años?|mes(?:es)?|semanas?|días?|horas?|minutos?|segundos?|"
    r"ann[oi]|mes[ei]|settiman[ae]|giorn[oi]|or[ae]|minut[oi]|second[oi]|anos?|mês|dias?)\b"
)
UNIT_OF_TIME = _compiled(rf"{_UNIT_OF_TIME}|[smhdwy]")
DURATION = _compiled(
    rf"\b{_AMOUNT}(?:[\s-]|\s?(?:-|–|to|or|and)\s?{_AMOUNT}[\s-])?{_UNIT_OF_TIME}",
    r"\b\d+\s?(?:ms|s|h|d)\b",
    r"(?:\d|[一二三四五六七八九十两半]个?)\s?(?:个月|年|周|星期|天|小时|分钟|秒)",
)
LASTING = _compiled(
    r"\b(?:until|as long as|during|indefinite(?:ly)?|perpetual|permanent(?:ly)?|lifetime|forever)\b"
)
MEASURE = _compiled(
    rf"\b{_DIGITS}\s?(?:°\s?[CF]?|%|[munµkc]?m\b|met(?:re|er)s?|kilomet(?:re|er)s?|(?:nautical )?miles?|feet|"
    r"foot|ft|inch(?:es)?|yards?|k?g\b|mg\b|tons?|tonnes?|pounds?|lbs?|kilograms?|grams?|lit(?:re|er)s?|"
    r"gallons?|ml\b|[kmgtp]i?b\b|bytes?|octets?|bits?|characters?|pixels?|px|k?w\b|kwh|volts?|v\b|amps?|"
    r"[kmg]?hz|km/h|mph|knots|degrees?|hectares?|acres?|square|cubic|dpi|db|bar\b|psi|pa\b|times)",
    rf"\b{_DIGITS}\s?[\"″′]",
    rf"\b{_DIGITS}\s?(?:kilogr|quilogr|chilogr|gram|litr|metr|mètr|kilom|quilóm|chilom|tonelad|"
    rf"tonnellat|grad[oi]s?\b|"
    r"degrés?\b|Grad\b)\w{0,6}",
)
MONEY = _compiled(
    r"[$€£¥₹]\s?\d",
    rf"\b{_DIGITS}\s?(?:[$€£¥₹]|(?:million |billion )?(?:us )?(?:dollars?|euros?|pounds?|cents?|eur|usd|gbp|"
    r"chf|francs?|yen|rupees?|kronor|crowns?))",
    r"\b(?:eur|usd|gbp|chf|cad|aud)\s?\d",
    r"\b(?:free of charge|no charge|gratis|free)\b",
    r"\d\s?[万亿]?(?:元|块|美元|欧元)",
)
TRADES = _compiled(
    r"\b(?:buy|bought|purchased?|sell|sold|paid|pay|costs?|spent|spend|prices?|expensive|kostet|"
    r"kosten|kostete|"
    r"verkauft|gekauft|bezahlt|teuer|coûtent?|vendue?s?|achetée?s?|payée?s?|prix|"
    r"cuestan?|costó|precio|costa(?:no)?|prezzo|custam?|custou|preço)\b|多少[钱元]"
)
"""Of this "how much" asks for money."""
PERCENT = _compiled(
    rf"\b(?:{_DIGITS}|{_NUMBER_WORD})\s?(?:%|per ?cent\b|percentage points?\b|prozent\b|"
    rf"pour cent\b|por ciento\b|"
    r"por cento\b|per cento\b)",
    r"百分之",
    r"\b(?:half|third|quarter)s?\b",
)
PER_CENT = _compiled(r"%|\bper ?cent\b|\bpercentage\b")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_FOREIGN_MONTH = "|".join(FOREIGN_MONTHS)
DATE = _compiled(
    r"\b(?:1\d{3}|20\d\d)\b",
    r"\b\d{4}-\d\d-\d\d\b",
    rf"\b{_MONTH}\.? \d{{1,4}}\b",
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b",
    rf"\b\d{{1,2}}(?:\.|er|º|°)? (?:de |d[’'])?(?:{_FOREIGN_MONTH})\b",
    rf"\b(?:{_FOREIGN_MONTH}) (?:de |del )?\d{{4}}\b",
    r"(?<!\d)(?:1\d{3}|20\d\d)年|\d{1,2}月\d{1,2}[日号]",
    r"\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b",
    r"\b(?:\d+(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last)[ -]"
    r"(?:working )?(?:century|day|week|month|quarter)\b",
    r"\b\d+ (?:bc|ad|bce|ce)\b",
)
MONTH = _compiled(
    r"\b(?:in|im|en|em|a|ad|nel|de|since|until|from|by|of|seit|bis|au mois de|no mês de) "
    rf"(?:january|february|march|april|(?-i:May)|june|july|august|september|october|november|"
    rf"december|{_FOREIGN_MONTH})\b",
    r"(?<!\d)\d{1,2}月",
)
"""A month without a day and a year, where a month is asked for."""
DAY = _compiled(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b",
    r"\b(?:spring|summer|autumn|winter|midnight|noon|daily|weekly|monthly|yearly|annually)\b",
    r"\b(?:within|after|before|until|once|every|upon|as of|immediately|as soon as|during|when|if)\b",
)
ASKS_MONTH = _compiled(r"\b(?:month|monat|mois|mes|mese|mês)\b|哪个?月|几月")
CLOCK = _compiled(
    r"\b\d{1,2}[:.]\d\d\b",
    r"\b\d{1,2}\s?(?:am|pm|a\.m|p\.m|o'clock|uhr|heures?|h|horas?)\b",
    r"\b(?:às?|a las?|alle|dalle|ore|as|até as) \d{1,2}\b",
    r"\b(?:noon|midnight|mittags?|mitternacht|midi|minuit|mediodía|medianoche|mezzogiorno|"
    r"mezzanotte|meio-dia|"
    r"meia-noite)\b",
    r"\d{1,2}[点时:：]",
)
FOR_EACH = _compiled(r"\b(?:every|each|per)\s+\w+")
FREQUENCY = _compiled(
    rf"\b(?:every|each|per)\s+(?:other |{_AMOUNT} )?"
    rf"(?:{_UNIT_OF_TIME}|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b)",
    rf"\b(?:{_AMOUNT})\s(?:times|fois|mal)\b",
    r"\b(?:once|twice|times|daily|hourly|weekly|monthly|quarterly|yearly|annual(?:ly)?|biennial(?:ly)?|"
    r"triennial(?:ly)?|täglich|stündlich|wöchentlich|monatlich|jährlich|(?:einmal|zweimal|dreimal)|"
    r"quotidien(?:ne)?s?|hebdomadaires?|mensuel(?:le)?s?|annuel(?:le)?s?|fois|always|never|"
    r"continuously|regularly|periodically)\b",
)
FULL_NAME = late_regex(r"\b[A-Z][\w'’-]+(?:\s+(?:of|the|de|van|von|and|for|[A-Z]\.))*\s+[A-Z][\w'’-]+")
"""A name of at least two words, as a person or an institution has."""
NAME = late_regex(
    r"(?<![.!?] )(?<![\w])(?:[A-Z][\w'’-]+|[A-Z]{2,})"
    r"(?:\s+(?:of|the|de|van|von|and|for)?\s?[A-Z][\w'’.-]*)*"
)
PLACE = late_regex(
    r"\b(?:in|at|on|from|near|to|into|outside|inside|between|north|south|east|west)\s+(?:the\s+)?"
    r"(?P<name>[A-Z]\w+(?:[ -][A-Z]\w+){0,5})"
    r"|\b(?i:room|hall|gallery|floor|building|gate|platform|street)\s\d{1,5}\b"
)
"""A place behind a preposition (its group `name`), or a numbered one."""
TOWARDS = late_regex(r"(?:to|into)\s+the\b")
MOVES = _compiled(
    r"\b(?:mov(?:e[sd]?|ing)|go(?:es|ne|ing)?|went|sen[dt]s?|travel\w{0,4}|ship\w{0,4}|br(?:ing|"
    r"ought)s?|tak(?:en?|es)|"
    r"took|leads?|led|return\w{0,3}|transfer\w{0,4}|carr(?:y|ie[sd]))\b"
)
"""Where something is moved is a place behind "to the"."""
PART_OF_A_TEXT = _compiled(
    r"^(?:sections?|clauses?|articles?|chapters?|paragraphs?|parts?|exhibits?|appendix|annex|"
    r"schedules?|pages?|"
    r"tables?|figures?|steps?|versions?)\b"
)
PUTS = _compiled(
    r"\b(?:is|are|was|were|à|au|aux|en|chez|dans|près de|bei|beim|im|am|zu[mr]?|nach|aus|ist|sind|est|sont)"
    r"\s+(?:the\s+)?$",
    r"[:|\t]\s*$|,$",
)
"""What stands before a bare name that is the place: "its seat is Ostley", "Seat: Ostley"."""
SMALL = late_regex(r"(?<![\w@./:~+-])[^\W\d_A-Z]{2,40}(?![\w@/:~+-]|\.\w)")
"""A word in small letters that is no part of an address, a path or an option."""
DEFINED = late_regex(r"[\"“](?:[Tt]he\s+|[Tt]his\s+)?([A-Z][\w -]{1,60})[\"”]")
"""A term in quotation marks, as a contract defines it: the "Program"."""
WITHIN = late_regex(r"\b(?:in|near)\s+(?:the\s+)?$", re.IGNORECASE)
AGENT = late_regex(r"\b(?:by|von|vom|durch|par|por|pel[oa]|dal|dall[ao])\s+(?:the\s+)?$", re.IGNORECASE)
SPOT = _compiled(
    r"\b(?:in|at|on|inside|outside|under|within|near|behind|above|below|from)\s+(?:the|a|an|your|"
    r"each|any)\s+\w+"
)
CODE = late_regex(
    r"(?<![\w-])--?[A-Za-z][\w-]*|`[^`\n]{1,80}`|\b\w+\(\)|\b[a-z]+_\w+|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+|"
    r"(?<![\w.])\w+(?:\.\w+){1,4}\b|\b[A-Za-z]*[a-z][A-Z]\w*|\$\{?\w+|\"[^\"\n]{1,40}\"|"
    r"'[^'\n]{1,40}'|\b[A-Z]{2,}\b"
)
PATH = late_regex(
    r"(?<![\w:/])(?:~|\$\w+|\.{1,2})?/[\w.@~{}$-]+(?:/[\w.@*{}$-]*)*|(?<![\w-])[\w-]+\.(?:[a-z]{1,5}\d?)\b|"
    r"(?<![\w.-])[\w.-]+/[\w./-]+|[A-Z]:\\\w+"
)
LINK = _compiled(
    r"\bhttps?://\S+",
    r"\bwww\.\S+",
    r"(?<![\w.+-])[\w.+-]+@[\w-]+\.\w+",
    r"(?<![\w-])[\w-]+\.(?:com|org|net|edu|gov|io|eu|de|uk)\b",
)
VERSION = _compiled(
    r"\bv?\d+(?:\.\d+)+\w*",
    r"\b(?:version|release) \d+",
    r"\bv\d+",
    r"\b(?-i:[A-Z])\w{1,40} \d{1,3}\b",
)
REASON = _compiled(
    r"\b(?:because|due to|owing to|since|therefore|so that|in order to|as a result|reasons?|caused? by|"
    r"thanks to|to avoid|to prevent|to ensure|to protect|to allow|to make|to keep|purpose|otherwise|ensures?|"
    r"prevents?|after|for the sake)\b",
    r"因(?!此)|由于|为了|以便|所以",
)
PURPOSE = late_regex(r"\bto [a-z]{3,}\b|\bas (?:the|it|they)\b|\bwhen\b|\bfor\b")
METHOD = _compiled(
    r"\b(?:by \w+ing|using|use|run|type|press|click|select|enter|set|call|invoke|specify|pass|add|open|"
    r"choose|must|should|can be|via|through|by means of|with the|first|then)\b",
    r"(?<![\w-])--?[a-z][\w-]*",
    "`",
)
PERMISSION = _compiled(
    r"\b(?:may|must|shall|should|can|cannot|not|no|never|only|unless|except|provided|allowed|"
    r"permitted|required|"
    r"prohibited|forbidden|entitled|eligible|mandatory|optional|always|without|need)\b"
)
ROLE = _compiled(
    r"\bby (?:the |an? )?\w+",
    r"\b\w+(?:er|or|ist|ant|ee|man|woman|head|chief|team|board|committee|department|office|"
    r"agency|council|court|"
    r"holder|body)\b",
)
_OFTEN = (
    r"also|or|often|sometimes|commonly|usually|generally|generically|formerly|then|simply|auch|"
    r"oder|oft|meist|"
    r"aussi|souvent|parfois|ou"
)
_ALIAS = (
    r"also|or|called|known as|named|short for|abbreviated|which stands for|genannt|kurz für|bekannt als|oder|"
    r"appelée?s?|dite?s?|nommée?s?|ou"
)
CALLED = _compiled(
    rf"\b(?:is|are|was|were)\s(?:(?:{_OFTEN})\s)?(?:called|known as|termed|referred to as)\s"
    r"(?:(?:an?|the)\s)?\W*$",
    rf"\b(?:nennt man|bezeichnet man als|heißt|heißen)\s(?:(?:{_OFTEN})\s)?(?:eine?[nrm]?\s)?\W*$",
    rf"\b(?:est|sont)\s(?:(?:{_OFTEN})\s)?(?:appelée?s?|nommée?s?)\s(?:(?:une?|l[ae]s?)\s|l[’'])?\W*$",
)
"""What stands between a definition and the term that it defines: "… is called a mirror"."""
NAMED = late_regex(
    r"\b(?:namens|mit (?:dem )?Namen|nommée?s?|appelée?s?|llamad[oa]s?|chiamat[oaie]|"
    r"chamad[oa]s?)\s[\"'„“«‘`]?\s?[\w.@/-]{1,60}",
    re.IGNORECASE,
)
"""A name behind the word that says that it is one, in languages whose nouns may all have a capital."""
NAME_LINE = late_regex(r"\s*([\w.+-]{2,40})(?:\s?\(\d\w?\))?\s[–—-]\s(\w+(?:\s\S+){2,40})$")
"""The line of a manual page with its name and what that is for."""
ARE = _compiled(r"\s*(?:\([^()]{1,120}\)\s*)?(?:are|were|sind|waren)\s")
"""Between a term in the plural and a noun that may say what its things are."""
GOES_ON_AS_DEFINITION = _compiled(
    r"\s*(?:[.,;:)\]]|\Z|\s(?:that|which|who|used|made|kept|written|sent|stored|for|of|with|in|on|from|by"
    r"|between)\b)"
)
"""Behind the noun that says what things are: the end, or what tells them apart."""
DEFINES = _compiled(
    r"[\"'”’)\]*_`]*\s*(?:\([^()]{1,120}\)\s*)?(?:"
    rf",\s*(?:(?:{_OFTEN})\s+)?(?:{_ALIAS})\b[^,.;:()]{{1,80}},)?,?\s*"
    r"(?:(?P<strong>(?:is|are|was|were) (?:an?|the|one|any|defined)\b|means?\b|refers? to\b|denotes?\b|"
    r"stands for\b|shall mean\b|describes?\b|(?:ist|sind|war|waren) (?:eine?|der|die|das)\b|bezeichnet\b|"
    r"bedeutet\b|(?:est|sont|était) (?:une?|l[ae]s?|des)\b|(?:est|sont|était) l[’']|désigne\b|signifie\b)|"
    r"(?:is|are|was|were|ist|sind|est|sont)\b|[:=–—]|\(|- )"
)
"""What follows a term that is defined; the group `strong` where nothing else can be meant."""
