"""The word tables of the extractive model: general English only, nothing of any subject."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


NUMBER_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15,
    "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40,
    "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1000,
    "dozen": 12,
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
send: sent; sell: sold; sing: sung sang; take: taken took taking; give: given gave giving; choose: chosen
chose; win: won; die: died dies dying death deaths; lose: lost; find: found; grow: grown grew; know: known
knew; show: shown; spend: spent; speak: spoken; travel: travelled travelling traveled; cancel: cancelled
cancelling; label: labelled labelling; model: modelled modelling; store: stored storing storage; throw:
thrown threw; use: using used usage uses; fall: fell fallen; fly: flew flown; meet: met; draw: drawn drew;
drive: driven drove; bind: bound; break: broke broken; bring: brought; catch: caught; hide: hidden; lay:
laid; lend: lent; mean: meant; rise: rose risen; seek: sought; see: seen saw; stand: stood; strike: struck;
teach: taught; tell: told; wear: worn wore; analysis: analyses; news: news; series: series; species: species;
have: having; be: being; go: going; do: does; tie: tied; during: during; thing: thing; string: string
strings; king: king; spring: spring; need: need; feed: feed; speed: speed; seed: seed; hundred: hundred
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

PRONOUNS = _set("it its he his she her they their this these")
"""A sentence that begins with one speaks of what the sentence before it spoke of."""

GENERIC = _set("version v release edition no number")
"""Between a name and its number they say nothing."""

LIGHT = _set(
    "reach amount total come go bear set equal number involve contain possess belong concern apply hold lie "
    "fall last latest current present period sum date day name value level quantity duration"
)
"""Words that say no more than that something is so, or is now, or that there is a value of it."""

IMPLIED = _set(
    "carry see pay make use need receive count record register serve charge visit earn sell employ"
)
"""What one does with things, left out where a field or a row has but the things: "Passengers: 812"."""

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

# Each row says one thing in several ways. Kept to general words: a subject's own words stay exact.
SYNONYMS = tuple(
    tuple(row.split())
    for row in (
        "buy purchase acquire",
        "begin start commence",
        "end finish terminate expire conclude",
        "allow permit permission authorize may can",
        "forbid prohibit disallow ban",
        "require must shall need mandatory oblige",
        "cost price fee charge",
        "delete remove erase purge",
        "big large",
        "maximum max limit most exceed up",
        "minimum min least",
        "directory folder",
        "option flag switch",
        "argument parameter",
        "modify change alter amend",
        "transmit send",
        "holiday vacation leave",
        "ill sick illness sickness",
        "salary wage pay",
        "author write writer",
        "doctor physician",
        "car vehicle automobile",
        "founded establish",
        "employee staff worker",
        "locate situate",
        "kill die",
        "quit resign",
        "answer respond reply response",
        "ask request",
        "keep retain store",
        "abort cancel stop",
        "error fail failure",
        "win winner victory",
        "invent inventor",
        "discover discovery",
        "tall height high",
        "deep depth",
        "wide width",
        "length long",
        "fast speed",
        "heavy weight weigh",
        "far distance",
        "often interval frequency every",
        "per each every",
        "yearly annual",
        "profit gain earn",
        "revenue turnover sales",
        "sell sale sold",
        "firm company business enterprise",
        "make manufacture produce build construct create manufacturer maker builder",
        "own owner proprietor landlord possess",
        "donate give donor donation gift",
        "chair preside chairman chairwoman",
        "guarantee warranty",
        "show display exhibit exhibition",
        "insure insurance cover",
        "consume consumption use",
        "employee workforce personnel work employ",
        "complete finish done",
        "approve grant allot",
        "contract contractor",
        "command commander captain",
        "passenger traveller travel",
        "launch release introduce",
        "deposit security bail",
        "area space size",
        "town city",
        "rent let lease hire",
        "boss director manager",
        "expensive price cost",
        "late delay",
        "job occupation profession",
        "teach teacher",
        "begin since from",
        "birth born",
    )
)

# The noun after "what" or "which" that says of which kind the answer is.
HEAD_NOUNS = {
    "count": "number count size port limit maximum minimum quantity score rank ratio total population "
    "threshold quota code value default",
    "percent": "percentage percent share proportion rate",
    "date": "year date day month deadline century decade era season",
    "clock": "time hour hours",
    "duration": "period duration term interval timeout length lifetime lifespan delay age",
    "money": "price cost fee amount salary fine penalty budget charge revenue fare deposit premium "
    "rent turnover profit sum wage dividend income",
    "place": "city country place state location region town village continent island river street county "
    "province capital office building room",
    "person": "person author president king queen director actor singer scientist inventor founder ceo "
    "minister team firm institution business company organization organisation agency department officer "
    "authority body",
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

TIME_UNITS = _set(
    "year month week day hour minute second millisecond decade century quarter fortnight night ms min sec"
)
