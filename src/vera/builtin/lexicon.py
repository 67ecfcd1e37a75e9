"""The word tables of the extractive model: general English only, nothing of any subject."""


def words_of(text: str) -> frozenset[str]:
    """The words of a table."""
    return frozenset(text.split())


_set = words_of


NUMBER_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15,
    "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40,
    "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1000,
    "dozen": 12,
    "zwei": 2, "drei": 3, "vier": 4, "funf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10,
    "zwolf": 12, "zwanzig": 20, "dreissig": 30, "hundert": 100, "tausend": 1000,
    "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "huit": 8, "neuf": 9, "dix": 10, "onze": 11, "douze": 12,
    "quinze": 15, "vingt": 20, "trente": 30, "mille": 1000,
}  # fmt: skip

BRITISH = {
    "colour": "color", "licence": "license", "behaviour": "behavior", "centre": "center", "favour": "favor",
    "honour": "honor", "labour": "labor", "metre": "meter", "litre": "liter", "programme": "program",
    "cheque": "check", "defence": "defense", "catalogue": "catalog", "grey": "gray", "neighbour": "neighbor",
}  # fmt: skip

_FORMS = """
child: children; person: people persons; man: men; woman: women; foot: feet; tooth: teeth; mouse: mice;
index: indices indexes; matrix: matrices; begin: began begun; build: built; buy: bought; write: wrote written
writing; keep: kept; hold: held; leave: left; lead: led; make: made making; pay: paid; run: ran; say: said;
send: sent; sell: sold; repay: repaid; sing: sung sang; take: taken took taking; give: given gave giving;
choose: chosen chose; win: won; die: died dies dying death deaths; lose: lost; find: found; grow: grown grew;
know: known knew; show: shown; spend: spent; speak: spoken; travel: travelled travelling traveled; cancel:
cancelled cancelling; label: labelled labelling; model: modelled modelling; store: stored storing storage;
throw: thrown threw; use: using used usage uses; fall: fell fallen; fly: flew flown; meet: met; draw: drawn
drew; drive: driven drove; bind: bound; break: broke broken; bring: brought; catch: caught; hide: hidden;
lay: laid; lend: lent; mean: meant; rise: rose risen; seek: sought; see: seen saw; stand: stood; strike:
struck; teach: taught; tell: told; wear: worn wore; analysis: analyses; news: news; series: series; species:
species; have: having; be: being; go: going; do: does; tie: tied; during: during; thing: thing; string:
string strings; king: king; spring: spring; need: need; feed: feed; speed: speed; seed: seed; hundred:
hundred; agree: agreed; guarantee: guaranteed; free: freed
"""

IRREGULAR = {
    form: base.strip()
    for base, _, forms in (" ".join(row.split()).partition(":") for row in _FORMS.split(";"))
    for form in forms.split()
}

STOPWORDS = _set(
    """a about above after again against all also am an and any are aren as at be because been before being
    below between both but by can cannot could did do does doing don down during each either else etc ever
    every few for from further had has have having he her here hers him his how however i if in into is isn it
    its itself just let me might mine my myself neither no nor not now of off on once one only or other our
    ours out over own per please quite rather s same shall she should since so some such t than that the
    their theirs them then there these they this those though through thus till to too under until up upon us
    very via was wasn we were what whatever when whenever where wherever whether which while who whoever whom
    whose why will with within without would yet you your yours ll re ve d m must may
    many much"""
)

MONTHS_AND_DAYS = _set(
    "january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday"
)
NO_NAMES = MONTHS_AND_DAYS | STOPWORDS | _set("eur usd gbp chf jpy")
"""With a capital they are no names."""

PRONOUNS = _set("it its he his she her they their this these")
"""A sentence that begins with one speaks of what the sentence before it spoke of."""

POINTING = _set("this that these those here there such dies diese dieser dieses das cela ceci ce cette")
"""The same of what the sentence before it said."""

WHICH = _set("which that who whom whose where when while welche welcher qui que dont")
"""They begin a clause that says more of what was just named."""

STATING = _set(
    "is are was were be been do does did can could may might must shall should will would has have had i you "
    "we it they he she ist sind war hat haben wird werden kann muss darf soll sie es man wir est sont ont "
    "peut doit vous il elle on nous"
)
"""With one of these words something is stated, and not only named."""

NO_ADJECTIVES = _set(
    """always often never only usually sometimes rarely mostly generally also still already just very too so
    quite almost nearly about now then here there hours days weeks months years minutes seconds times
    immer oft nie nur meist manchmal auch noch schon sehr zu so fast jetzt dann hier stunden tage wochen
    monate jahre minuten sekunden"""
)
"""Words behind "are" with which nothing is said of what things are."""

NO_LONGER = _set(
    """anything opposite contrary reverse antonym former formerly deprecated obsolete outdated superseded
    alleged supposed gegenteil gegensatz früher ehemals ehemaliger ehemalige veraltet veralteter veraltete
    außer ausser contraire opposé ancien ancienne anciennement obsolète sauf"""
)
"""Words before a relative clause that take a term's explanation back, or turn it."""

NO_ENTRY = _set(
    "see cf siehe vgl voir the this these those how why what if to in for der die das dies le la les ce"
)
"""What begins a reference, a statement or the title of another part, and no explanation of a term."""

FOREIGN_ENDINGS = _set(
    "e en er es em n ns s st t te ten tet et end ende enden ee ees er ez ent ant aient ait eur eurs "
    "o a os as i an am ar are ir ire ere ado ada ados adas ato ata ati ate ido ida idos idas ito ita ou aram "
    "aron io ano ono"
) | {""}
"""By which forms of a word differ in German and in the Romance languages, without diacritics."""

GENERIC = _set("version v release edition no number")
"""Between a name and its number they say nothing."""

LIGHT = _set(
    "reach amount total come go bear set equal number involve contain possess belong concern apply hold lie "
    "fall last latest current present period sum date day name value level quantity duration member piece "
    "item unit"
)
"""Words that say no more than that something is so, or is now, or that there is a value of it."""

ARTICLES = _set("the a an der die das den dem des ein eine einen einem einer le la les un une du")
NO_MODIFIERS = _set("total last latest current present equal default maximum minimum")
"""Before a noun they say which value or which time is meant, not which thing."""

IMPLIED = _set(
    "carry see pay make use need receive count record register serve charge visit earn sell employ attend "
    "take hold perform conduct handle host welcome"
)
"""What one does with things, left out where only the things are counted: "Passengers: 812"."""

PEOPLE = _set(
    "employee worker staff member passenger traveller visitor customer guest inhabitant resident student "
    "pupil participant user player soldier patient man woman child volunteer apprentice viewer reader"
)
"""Whoever asks for people may be answered with these."""

# Words that belong to the asking, not to what is asked: they count a little where a passage has them too.
SCAFFOLDING = _set(
    """
    according answer ask call called concern define definition describe detail document exactly exact
    explain fact find follow following get give given happen have know kind list main mean meaning mention
    name need passage possible question quote read refer report say section sentence show someone something
    specific specify stand state stated supposed tell text thing type use want way word anyone person long
    old occur take place make go come do be
    """
)

# The noun after "what" or "which" that says of which kind the answer is.
HEAD_NOUNS = {
    "count": "number count size port limit maximum minimum quantity score rank ratio total population "
    "threshold quota code value default",
    "percent": "percentage percent share proportion rate",
    "date": "year date day month deadline century decade era season",
    "clock": "time hour hours",
    "duration": "period duration term interval timeout length life lifetime lifespan delay age",
    "money": "price cost fee amount salary fine penalty budget charge revenue fare deposit premium "
    "rent turnover profit sum wage dividend income toll tax cost loan principal",
    "place": "city country place state location region town village continent island river street county "
    "province capital office building room",
    "person": "person author president king queen director actor singer scientist inventor founder ceo "
    "minister team firm institution business company organization organisation agency department officer "
    "authority body bank school university engineer architect lawyer doctor physician teacher painter "
    "composer designer editor publisher builder maker manufacturer supplier contractor lender borrower "
    "owner landlord tenant manager supervisor sponsor",
    "code": "option flag switch argument parameter command variable function method header keyword field "
    "setting key attribute class module signal macro directive subcommand",
    "path": "file directory path folder",
    "link": "url website link email address site mail",
    "measure": "temperature weight height distance speed depth capacity width volume pressure frequency "
    "voltage altitude elevation area diameter",
    "version": "version release",
    "reason": "reason cause purpose rationale motive",
    "name": "name title word language kind type sort",
}

CLASS_NOUNS = _set(
    f"{HEAD_NOUNS['code']} program programme tool utility service daemon component befehl programm "
    "komponente modul direktive commande programme directive composant parametre"
)
"""Nouns that only say what sort of thing a name is of: "the VACUUM command"."""

DOING = _set("do macht machen tut tun bewirkt bewirken leistet fait font")
"""Verbs of asking what something does."""

CALLINGS = _set(
    "author president king queen director actor singer scientist inventor founder ceo minister officer "
    "engineer architect lawyer doctor physician teacher painter composer designer editor publisher builder "
    "maker manufacturer supplier contractor lender borrower owner landlord tenant manager supervisor sponsor"
)
"""Head nouns that say what somebody did or is: an answer has to say it, too."""

TIME_UNITS = _set(
    "year month week day hour minute second millisecond decade century quarter fortnight night ms min sec "
    "jahr jahre jahren monat monate monaten woche wochen tag tage tagen stunde stunden minuten sekunden "
    "annee annees ans mois semaine semaines jour jours heure heures secondes"
)
