"""The rule `literal`: what cited lines say of a claim, without a model.

A span supports a claim when one of its sentences has the claim's words, all of them and in their order, with
nothing between them but articles; when the sentence denies, doubts or attributes exactly as much as the claim
does; and when the words do not continue a phrase that changes them ("the son of" Einstein died; 5 "million").
A number stands with its sign, currency and percent. So who did what to whom cannot be turned round, and what
the rule calls supported can be read in the source as it is. It is strict on purpose: a paraphrase, and a
sentence that needs a second one, are left to a model.

A span contradicts a claim only when it has the same words and exactly one of the two is negated. A negation
or an alternative in brackets or in doubt, 'must (not) be stored', 'must "not" be stored', proves neither
reading. What takes the sentence back, "(repealed)", ", which was abolished", a box that is not ticked, proves
nothing either.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise

from vera.audit.around import behind_of, taken_back
from vera.audit.case import Case, CitedLines
from vera.audit.labels import labelled, of_extract
from vera.events import VerifierLabels
from vera.evidence.claim import Claim, Relation
from vera.text.lexicon import word_set
from vera.text.negation import State, below, box_of, doubtful_turns, is_box, is_remark
from vera.text.sentences import END
from vera.text.whole_sentences import runs_on
from vera.text.words import (
    Word,
    differs_in_marks,
    hedges,
    inflected,
    negations,
    singular,
    stems,
    unmarked,
    words,
)

VERSION = "literal/12"
"""The maker of the labels; changes whenever the same lines may get another label."""

SPAN_LIMIT = 20_000
SENTENCE_LIMIT = 2_000
"""Characters: more than that is no place where a statement stands."""

MIN_WORDS = 3
"""Content words of a claim that may be any part of a sentence. "Seven years." is said of anything: a claim of
two has to open its sentence, and one of a single word has to be all of it."""

HEAD_LINES = 20
"""Lines before the cited ones in which the head of their list may stand."""

_WRAPPED = 40  # a line that long may go on in the next one
_NEW_BLOCK = re.compile(r"\s{0,12}(?:[-*•‣+#|>]|\(?[0-9a-zA-Z]{1,3}[.)]\s|$)")
_SYMBOL = re.compile(
    r"[%‰$€£¥₹°℃℉¬±×÷+=|/^]|~~|<!--|-->|[←-⇿∀-∑∓-≣≦-⋿⟀-⟯⤀-⫿☀-➿🀀-🫿]"
    r"|[<>≤≥~≈](?=\s?\d)|(?<!\w)[-−–](?=\s?[\d.$€£¥])|:(?=\s|$)"
)
"""Symbols that say something, each of which must be in both: signs, currencies, operators, pictures."""

_VALUE_MARK = re.compile(r"[$€£¥₹±<>≤≥~≈+/^×÷-]")
_BETWEEN_NAMES = frozenset((" ", "-", "\u00a0", "\u2010", "\u2011"))
_NO_MARKS = str.maketrans("", "", "'’.")
_SAME_MARK = {"percent": "%", "−": "-", "–": "-"}

_TURNING_MARKS = re.compile(
    r"[¬🚫⛔🛇⊘❌✗✘✖✕🙅👎\u202d\u202e]|(?<![^\W\d_])[\u0300-\u036f\u20d0-\u20f0]|[\u0334-\u0338\u20d2\u20d3\u20e5\u20eb]"
)
"""Signs that deny what is said beside them, combining marks that strike out or change what is no letter, and
what turns the order of characters round on the screen."""

_UNDER_CONDITIONS = re.compile(
    r"\W*(?:as|when|where|until|before|after|under|during|in|since|by|at)\b[^,]{0,200}\d[^,]{0,200},\s*",
    re.IGNORECASE,
)
"""A clause before the words that sets them into another time, or under another rule."""
_MENTIONED = re.compile(
    r"\b(?:sentences?|statements?|phrases?|words?|wording|texts?|answers?|claims?)\b[^:]{0,40}:\W{0,4}",
    re.IGNORECASE,
)
"""What leads to words that are only mentioned."""

_GLUED_BEFORE = re.compile(r"\w[.@/_\\]\Z")
_GLUED_BEHIND = re.compile(r"[+#]|[.@/_\\]\w")
"""What makes words the part of a longer one, an address or a name of something else."""

_SKIPPED = frozenset(("a", "an", "the", "also", "then", "thus", "therefore", "however"))
_COPULAS = frozenset(("is", "are"))
_FIELD_MARKS = frozenset((":", "=", "|"))
_TICKS = frozenset("☑☒✓✔✅")
"""A box that is ticked, or crossed as on paper, before what was chosen."""
_NEGATIONS = frozenset(("not", "no", "never"))
_FOREIGN_NEGATIONS = word_set("nicht nie niemals kein keine keinen keinem keiner keines")
_SECOND_HALVES = frozenset(("pas", "jamais"))
"""What denies in French together with "ne"."""

_DENYING = _NEGATIONS | _FOREIGN_NEGATIONS | _SECOND_HALVES | {"ne"}
_FOREIGN_TURNS = _DENYING - _NEGATIONS | word_set(
    """keineswegs nirgends niemand weder ohne falsch unwahr angeblich
    aucun aucune aucunement nullement rien personne guere sans ni faux fausse pretendument"""
)
"""Words of German and French that deny or doubt."""

_CONTRACTIONS = {
    "cannot": "can", "cant": "can", "wont": "will",
    **{word + "nt": word for word in ("is", "are", "was", "were", "do", "does", "did", "has", "have", "had",
                                      "could", "would", "should", "must", "need")},
}  # fmt: skip


_ELIDED = "'n'n"
"""How the token of "n'est" begins."""

_DISTANCE = word_set(
    """said says saying told according argue argues argued wrote writes stated states think thinks thought
    whether wonder wonders wondered asked asks ask question questioned dispute disputes disputed doubt doubts
    doubted myth hypothesis fiction fictional imagine imagined pretend pretended wrong wrongly falsely
    mistakenly except unlike instead rather otherwise lie lies lied hoax nonsense legend parody satire joke
    dream dreams dreamed dreamt novel novels debunked refuted rebutted discredited insist insists insisted
    notion belief fallacy rumour rumor propaganda suppose supposing assume assuming only solely exclusively
    provided providing si wenn falls sofern"""
)
"""Words that put a distance between a sentence and what it says, wherever in the sentence they stand."""

_LEADS_ON = word_set(
    """of by for with from to in on at and or nor than per between against like as former formerly vice deputy
    ex anti non fake mock pseudo nearly almost about approximately roughly around least most up over under
    that"""
)
"""Before a run they make it the end of a phrase that says something else."""

_CONTINUES = word_set(
    """hundred thousand million billion trillion dozen bn mn k m % ‰ + / ^ × ÷ ° ℃ ℉ per or nor less more
    fewer lower higher cheaper dearer larger smaller longer shorter older younger faster slower
    below above short than percentage only until till bc bce ad ce v n chr nur erst oder bis außer
    ausser seulement sauf ou jusque solo salvo o hasta soltanto tranne fino somente exceto até of
    out plus each every apiece pro je"""
)
"""After a run they make it the beginning of another value."""


_EXCEPTS = word_set(
    "except excepting but ausgenommen moins hormis excepte excepto menos meno eccetto fuorche"
)
"""After a run they take something out of what it says."""

_FOR = word_set("for fur pour para per por")
_GENERAL = word_set(
    """is are may can must shall ist sind darf durfen kann konnen muss mussen est sont peut peuvent doit
    doivent es son esta estan puede pueden debe deben sao pode podem deve devem puo possono devono"""
)
"""Who says so of the present speaks of all; with "for …" after it, only of some."""

_CUT_WORD = re.compile(r"(?<=[^\W\d_])[-‐]\s{1,4}(?=[a-zà-öø-ÿ])")
"""Where the end of a line may have cut a word."""


def label(claim: Claim, place: CitedLines) -> Relation:
    """What the cited lines say of the claim: SUPPORTS, CONTRADICTS or, whenever in doubt, IRRELEVANT.

    An extract states only that its lines are there, and the words of them that it begins with.
    """
    if claim.form == "extract":
        return of_extract(claim, place)
    if claim.form != "statement":
        return "IRRELEVANT"
    start, end = place.source.lines.bounds(place.first, place.last)
    if end - start > 4 * SPAN_LIMIT:
        return "IRRELEVANT"
    anchor = _anchor(claim.text)
    found = {
        _in_place(claim.text, sentence, behind, place)
        for sentence, behind in _with_next(place)
        if anchor in unmarked(_CUT_WORD.sub("", sentence)).translate(_NO_MARKS)
        or anchor in unmarked(sentence).translate(_NO_MARKS)
    }
    decided = found - {"IRRELEVANT"}
    return decided.pop() if len(decided) == 1 else "IRRELEVANT"


def _with_next(place: CitedLines) -> Iterator[tuple[str, str]]:
    """The sentences of a place, each with the one behind it, '' for the last one of the source."""
    above = _above(place)
    said = list(sentences_of(place.span.text, above))
    rest = sentences_of(f"{place.span.text}\n{behind_of(place)}", above)
    yield from zip(said, [*said[1:], next(islice(rest, len(said), None), "")], strict=False)


def _in_place(claim: str, sentence: str, behind: str, place: CitedLines) -> Relation:
    """What a sentence says of the claim; nothing where what stands around it takes it back."""
    relation = _relation(claim, sentence)
    if relation == "IRRELEVANT" or taken_back(claim, sentence, behind, place):
        return "IRRELEVANT"
    return relation


def _above(place: CitedLines) -> str:
    """The lines above the cited ones, where the head of their list may stand."""
    top = max(1, place.first - HEAD_LINES)
    return place.source.lines.cut(top, place.first - 1).decode("utf-8", "replace") if place.first > 1 else ""


def labels(case: Case, number: int) -> tuple[VerifierLabels, ...]:
    """The labels of every claim that cites something, in the order of the claims."""
    return labelled(case, number, label, VERSION)


def _anchor(text: str) -> str:
    """The beginning of the longest word of `text`: a quick look tells which sentences cannot have it."""
    plain = [word.form for word in words(text) if word.form.isascii() and word.form.isalpha()]
    longest = max(
        (form for form in plain if form not in _CONTRACTIONS and form not in _SKIPPED | _DENYING),
        key=len,
        default="",
    )
    return inflected(longest)[:-1] if longest not in _SAME_MARK else ""


def _relation(claim: str, sentence: str) -> Relation:
    """What a sentence says of the claim, also with its cut words made whole: "me- nos" may be "menos"."""
    relation = _read(claim, sentence)
    if _CUT_WORD.search(sentence) is None:
        return relation
    whole = _read(claim, _CUT_WORD.sub("", sentence))
    if relation == whole or _shares_cut(claim, sentence):
        return relation if relation != "IRRELEVANT" else whole
    return "IRRELEVANT"


def _shares_cut(claim: str, sentence: str) -> bool:
    """Whether the claim has one of the words that are cut in the sentence."""
    said = {word.form for word in words(claim)}
    for cut in _CUT_WORD.finditer(sentence):
        halves = [word.form for word in words(sentence[: cut.start()])][-1:]
        halves += [word.form for word in islice(words(sentence[cut.end() :]), 1)]
        if "".join(halves) in said or said.issuperset(halves):
            return True
    return False


def _read(claim: str, sentence: str) -> Relation:
    wanted, seen = _tokens(claim), _tokens(sentence)
    if not _has_content(wanted) or sentence.rstrip("\"'”’) ").endswith("?"):
        return "IRRELEVANT"
    if doubtful_turns(claim) != doubtful_turns(sentence) or differs_in_marks(claim, sentence):
        return "IRRELEVANT"
    ours, theirs = _turns(claim, wanted), _turns(sentence, seen)
    if ours == theirs:
        return "SUPPORTS" if _states(claim, wanted, sentence, seen) else "IRRELEVANT"
    difference = (ours - theirs) + (theirs - ours)
    return "CONTRADICTS" if _is_one_negation(difference) and _denies(wanted, seen) else "IRRELEVANT"


def _states(claim: str, wanted: Sequence[str], sentence: str, seen: Sequence[str]) -> bool:
    """Whether the words of the claim are a run of the sentence, with nothing beside them that changes it."""
    found = list(_runs(wanted, seen, singular))
    if (count := len(frozenset(stems(claim)))) < MIN_WORDS:
        found = [run for run in found if _opens(run, seen) and (count > 1 or run[1] == len(seen))]
    parts = _name_parts(sentence) if found else frozenset()
    return any(parts.isdisjoint(run) and _is_plain(sentence, run) for run in found)


def _is_plain(sentence: str, run: tuple[int, int]) -> bool:
    """Whether what stands before the run neither sets it into another time nor only mentions it, and it is no
    part of a longer word: "C" of "C++", a domain of a longer one."""
    tokens = _marked(sentence)
    before, behind = sentence[: tokens[run[0]].start], sentence[tokens[run[1] - 1].end :]
    if _GLUED_BEFORE.search(before[-2:]) or _GLUED_BEHIND.match(behind):
        return False
    return not (_UNDER_CONDITIONS.fullmatch(before) or _MENTIONED.search(before[-100:]))


def _opens(run: tuple[int, int], seen: Sequence[str]) -> bool:
    """Whether nothing but marks of fields and ticks stands before the run."""
    return all(token in _FIELD_MARKS or token in _TICKS for token in seen[: run[0]])


def _is_one_negation(words_apart: Counter[str]) -> bool:
    """Whether what one side has more is a single negation, in French "ne" with its second half."""
    if words_apart.total() == 1:
        return words_apart.keys() <= _NEGATIONS | _FOREIGN_NEGATIONS
    return words_apart.total() == 2 and words_apart["ne"] == 1 and not _SECOND_HALVES.isdisjoint(words_apart)


def _denies(wanted: Sequence[str], seen: Sequence[str]) -> bool:
    """Whether both are the same run of words but for a negation within it, on one side."""
    kept = [index for index, token in enumerate(seen) if _affirms(token)]
    claimed = [token for token in wanted if _affirms(token)]
    if not claimed:
        return False
    denied = len(claimed) < len(wanted) and not _DENYING.isdisjoint(wanted)
    for start, end in _runs(claimed, [seen[index] for index in kept], inflected):
        inside = seen[max(0, kept[start] - 1) : kept[end - 1] + 1]
        if denied == _DENYING.isdisjoint(inside):
            return True
    return False


def _affirms(token: str) -> bool:
    """Whether a word is neither a negation nor the "do" that one brings."""
    return token not in _DENYING and token not in ("do", "does", "did")


def _runs(
    wanted: Sequence[str], seen: Sequence[str], base: Callable[[str], str]
) -> Iterator[tuple[int, int]]:
    """Starts and ends of `wanted` as a run of `seen` that is not part of a phrase which changes it."""
    ours, theirs = [base(token) for token in wanted], [base(token) for token in seen]
    for start in range(len(theirs) - len(ours) + 1):
        end = start + len(ours)
        run = theirs[start:end]
        if not all(map(_equal, ours, run)) or not _reads_fields(ours, run):
            continue
        if not _is_led_on(seen, start) and not _is_changed(wanted, seen, end):
            yield start, end


def _is_led_on(seen: Sequence[str], start: int) -> bool:
    """Whether what is before a run makes it the end of another phrase or value."""
    before = seen[start - 1] if start else ""
    glued = before in _LEADS_ON or _VALUE_MARK.fullmatch(before) is not None
    return glued or _one_number(before, seen[start])


def _is_changed(wanted: Sequence[str], seen: Sequence[str], end: int) -> bool:
    """Whether what is behind a run makes it another value, or takes something out of what it says."""
    after = seen[end] if end < len(seen) else ""
    if after in _CONTINUES or after in _EXCEPTS or _one_number(seen[end - 1], after):
        return True
    if after in _FOR and not _GENERAL.isdisjoint(wanted):
        return True
    return after == "for" and seen[end + 1 : end + 2] in (["each"], ["every"])


def _equal(one: str, other: str) -> bool:
    return one == other or (one in _COPULAS and other in _FIELD_MARKS)


def _one_number(one: str, next_one: str) -> bool:
    """Whether two tokens in a row may be one number: 5 000."""
    return one[-1:].isdigit() and next_one[:1].isdigit()


def _reads_fields(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether a bar between cells stands for "is" before a number only: "Alice | Bob" does not say that one
    is the other."""
    after = [*ours[1:], ""]
    return not any(
        other == "|" and one != other and not following[:1].isdigit()
        for one, other, following in zip(ours, theirs, after, strict=True)
    )


def _name_parts(sentence: str) -> frozenset[int]:
    """The tokens of a sentence before which a name goes on: Jones in "Tom Jones", who is not any Tom."""
    if sentence.isupper():
        return frozenset()
    parts = set()
    marked = _marked(sentence)
    for index, (here, there) in enumerate(pairwise(marked), 1):
        capitals = sentence[here.start].isupper() and sentence[there.start].isupper()
        if capitals and sentence[here.end : there.start] in _BETWEEN_NAMES:
            parts.add(index)
    return frozenset(parts)


def _has_content(tokens: Sequence[str]) -> bool:
    return any(len(token) > 3 or token.isdigit() or not token.isascii() for token in tokens)


def _turns(text: str, tokens: Sequence[str]) -> Counter[str]:
    """The words of a sentence that deny, doubt or attribute what it says."""
    turns = Counter(token for token in tokens if token in _NEGATIONS | _FOREIGN_TURNS | _DISTANCE)
    turns.update(_TURNING_MARKS.findall(text))
    turns.update(word.form for word in hedges(text))
    turns.update(
        word.form
        for word in negations(text)
        if word.form not in _NEGATIONS and word.form not in _CONTRACTIONS
    )
    return turns


def _tokens(text: str) -> list[str]:
    """The words and symbols of `text` in order, contractions undone, articles left out."""
    return [token.form for token in _marked(text)]


def _marked(text: str) -> list[Word]:
    """The tokens of `text`, with their places in it."""
    found = [Word(match.group(), *match.span()) for match in _SYMBOL.finditer(text)]
    found += [
        Word(_possessive(text, word.start, word.end) + word.form, word.start, word.end)
        for word in words(text)
    ]
    return [
        Word(token, mark.start, mark.end)
        for mark in sorted(found, key=lambda mark: (mark.start, mark.form))
        for token in _expanded(mark.form)
        if token not in _SKIPPED or _is_a_letter(text, mark)
    ]


def _is_a_letter(text: str, mark: Word) -> bool:
    """Whether an "A" is no article: a grade or the name of a part, within a sentence in lower case."""
    return mark.start > 0 and text[mark.start : mark.end] == "A" and not text.isupper()


def _possessive(text: str, start: int, end: int) -> str:
    """A mark for "Einstein's", which is not Einstein, and one for the "ne" of "n'est"."""
    written = text[start:end].lower().replace("’", "'")
    if written.startswith("n'") and len(written) > len("n'"):
        return _ELIDED.removesuffix("n")
    plural = written.endswith("s") and text[end : end + 1] in ("'", "’")
    return "'" if plural or written.endswith("'s") else ""


def _expanded(token: str) -> tuple[str, ...]:
    if token.startswith(_ELIDED):
        return "ne", token.removeprefix(_ELIDED)
    if token in _CONTRACTIONS:
        return _CONTRACTIONS[token], "not"
    return (_SAME_MARK.get(token, token),)


def sentences_of(text: str, above: str = "") -> Iterator[str]:
    """The sentences of cited lines: wrapped lines are joined, list items and short lines stand alone. Behind
    a box that is not ticked each sentence has that box, and under a head that denies (in the lines `above`,
    too) such a box."""
    state: State = ""
    for block in _blocks(above) if above else ():
        _, state = below(block, state, item=_is_item(block))
    for block in _blocks(text):
        denied, state = below(block, state, item=_is_item(block))
        start, box = 0, denied
        ends = [match.end() for match in END.finditer(block)]
        for end, following in pairwise([*ends, len(block)]):
            rest = block[end:following]
            if is_remark(rest) or (following == len(block) and is_box(rest)):
                continue
            yield from _bounded(box + block[start:end])
            start, box = end, denied or box_of(block)
        yield from _bounded(box + block[start:])


def _is_item(block: str) -> bool:
    return _NEW_BLOCK.match(block) is not None and not block.lstrip().startswith("#")


def _bounded(sentence: str) -> Iterator[str]:
    if sentence.strip() and len(sentence) <= SENTENCE_LIMIT:
        yield sentence


def _blocks(text: str) -> Iterator[str]:
    block: list[str] = []
    for line in text.split("\n"):
        goes_on = len(block[-1]) >= _WRAPPED and not _NEW_BLOCK.match(line) if block else False
        if block and not goes_on and not runs_on(block[-1], line):
            yield " ".join(block)
            block = []
        block.append(line)
    if block:
        yield " ".join(block)
