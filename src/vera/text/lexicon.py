"""Words of English that rules about sentences know: those that join its parts, and verbs by their form."""

import re

_WORD = re.compile(r"[^\W_][\w'’-]{0,60}")


def word_set(words: str) -> frozenset[str]:
    """The words of a list that is written as text."""
    return frozenset(words.split())


FUNCTION_WORDS = word_set("""
    a about above accordingly across actually additionally after again against all also although among
    an and another any are around as at based be because been before below between both briefly but by
    can consequently could currently despite did do does during each either even every few finally first
    firstly for from further furthermore generally had has have he hence her here his how however i i'd
    i'll i'm i've if in indeed instead into is it it's its just later many may might more moreover most
    must my neither nevertheless next no nonetheless nor not note nothing now of off often on once one
    only or other otherwise our out over overall perhaps please rather second secondly several shall she
    should similarly since so some sometimes still such than that the their them then there therefore
    these they third this those though through thus to together too under unless until up upon us
    usually very was we were what when where whereas whether which while who whom whose why will with
    within without would yes yet you your
    """)
"""Words that open a sentence or join its parts: with a capital letter they are no names."""

AUXILIARIES = word_set(
    "is are was were has have had will does do did can could must shall should may might would"
)
_PAST = word_set("""
    became began bought broke brought built came chose cost died drew fell felt fought found gave got
    grew held kept knew laid led left lent lost made meant met paid put ran read rose said sat saw sent
    set shot showed sold spent spoke stood struck taught thought told took went won wrote
    """)
_NO_PAST = word_set("""
    bed breed bleed creed deed exceed embed feed freed greed hundred indeed infrared kindred naked need
    reed red sacred seed shed shred sled speed weed wicked wed agreed-upon
    """)


def is_verb(word: str) -> bool:
    """A finite verb as far as its form tells: auxiliaries, and the past."""
    if word in AUXILIARIES or word in _PAST:
        return True
    return len(word) > 3 and word.endswith("ed") and word not in _NO_PAST


def has_verb(text: str) -> bool:
    """Whether a verb that `is_verb` knows is in `text`."""
    return any(is_verb(match[0].lower()) for match in _WORD.finditer(text))
