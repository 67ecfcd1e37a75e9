"""Whether a question's answer may well be that something is not so, told from the question's form."""

import re
from collections.abc import Iterator
from itertools import pairwise

import msgspec

from vera.text import question_forms as forms
from vera.text.late_regex import late_regex
from vera.text.negation import is_negative
from vera.text.quotation import find_quotations
from vera.text.words import unmarked

_TASK_LIMIT = 20_000
_SENTENCE_LIMIT = 600
_MAX_SENTENCES = 200
_SHOWN = 100

_CODE = late_regex(r"```.{0,20000}?```", re.DOTALL)
_BREAK = late_regex(r"\n\s*\n|\n(?=\s*(?:[-*•#>|]|\d{1,3}[.)]\s))")
_END = late_regex(r"(?<=[.!?。！？])[\"'”’»)\]]{0,3}\s+|(?<=[。！？])")
_NO_END = late_regex(
    r"(?:^|[\s(])(?:[A-Za-z]|[A-Z]\.[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Inc|Ltd|Co|Corp|vs|No|Nr|etc|approx|e\.g|i\.e)\.$"
)
_MARK = late_regex(
    r"^(?:[-*•#>|\s]+|\(?\d{1,3}[.)]\s+|(?:task|question|q|frage|pregunta)\s?\d{0,3}\s?[:.]\s*)+"
)
_JOINT = late_regex(
    r"(?:[,:;–—(]\s*|\s-\s+|\b(?:and|but|so|then|or|also|und|aber|et|mais|y(?! a)|pero)\s+)(?=\S)"
)
_CONTRACTED = late_regex(r"^(?:\w{2,8}?)(?:n[' ]?t)\b")
# A verb that also opens an order: "Do not …", "Have a look", "Will" as a name.
_ORDERS = late_regex(r"(?:do|have|can|will|must|ou|que) ?(?!.*\?)(?!(?:any|anyone|anybody|no|all) )")


class Form(msgspec.Struct, frozen=True):
    """What a question's form says.

    `negative` is True when the answer may well be that there is none, or that there is no other; False when a
    value or a text is asked for, or nothing is asked; None when only a reader could tell. `form` names the
    form: existence, so_far, ever, any, only, denial (True); value, order (False); yes_no (None). `reason`
    says it in a sentence, with the words that showed it.
    """

    negative: bool | None
    form: str
    reason: str


_WHY = {
    "existence": "asks whether there is such a thing",
    "so_far": "asks whether something has happened until now",
    "ever": "asks whether something has ever happened",
    "any": "asks whether any is so",
    "only": "asks for the only one",
    "denial": "asks about something that is not so",
    "yes_no": "asks for yes or no, and its form does not tell whether a no must be searched for",
    "value": "asks for a value",
}


def negative_question(question: str) -> Form:
    """Whether a question, or the sentences of a task that ask, may be answered by a negative claim.

    A no to "has X launched yet?", "is there any …" or "who is the only …" holds only after a search; that is
    told from the form, in English, German, French and Spanish and in part in other scripts. The first
    sentence of such a form decides; else the first that only a reader could tell. What is quoted, set as code
    or ordered ("do not use Wikipedia") asks nothing. The first 20,000 characters are read.
    """
    undecided: Form | None = None
    value: Form | None = None
    before = ""
    for sentence in _sentences(question):
        for clause, form in _asked(sentence, before):
            found = Form(*_judged(clause, form))
            if found.negative:
                return found
            if found.negative is None:
                undecided = undecided or found
            else:
                value = value or found
        before = sentence
    return undecided or value or Form(False, "order", "No sentence asks whether something is so.")


def _judged(clause: str, form: str) -> tuple[bool | None, str, str]:
    shown = " ".join(clause.split())
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
    return {"yes_no": None, "value": False}.get(form, True), form, f"“{shown}” {_WHY[form]}."


def _sentences(text: str) -> Iterator[str]:
    """The sentences of a task, without code, quotations and the marks of lists."""
    text = _CODE.sub(" ", text[:_TASK_LIMIT].encode("utf-8", "replace").decode("utf-8"))
    for quotation in reversed(find_quotations(text)):
        text = f"{text[: quotation.start]} … {text[quotation.end :]}"
    count = 0
    for block in _BREAK.split(text):
        held = ""
        for part in _END.split(" ".join(block.split())):
            held = f"{held} {part}".strip() if held else part
            if _NO_END.search(held[-12:]):
                continue
            if held:
                yield _MARK.sub("", held[:_SENTENCE_LIMIT])
            held = ""
            count += 1
            if count == _MAX_SENTENCES:
                return
        if held:
            yield _MARK.sub("", held[:_SENTENCE_LIMIT])


def _asked(sentence: str, before: str) -> Iterator[tuple[str, str]]:
    """Each clause of a sentence that asks, with its form."""
    plain = unmarked(sentence.replace("’", "'").replace("？", "?")).strip()
    asks = plain.endswith("?")
    if asks and forms.JUDGES_THE_LAST.fullmatch(plain):
        yield sentence, "denial" if is_negative(before) else "yes_no"
        return
    lead = forms.THAT.search(plain)
    if lead:
        yield sentence, _of_statement(plain[lead.end() :])
        return
    starts = [start for start in _starts(plain) if _opens(plain[start:])] if asks else []
    if not asks and _opens(plain) and not _ORDERS.match(plain):
        starts = [0]
    clauses = [plain[start:end] for start, end in pairwise([*starts, len(plain)])]
    inner = [] if forms.HOW.match(plain) else [found.end() for found in forms.CLAUSE.finditer(plain)]
    for clause in clauses:
        if not forms.REQUEST.match(clause):
            yield clause, _of_clause(clause)
    for start in inner:
        yield plain[start:].strip(), _of_yes_no(plain[start:].strip())
    if asks and not clauses and not inner:
        yield sentence, _of_unopened(plain, sentence.lower())


def _starts(plain: str) -> Iterator[int]:
    """Where a clause may begin: at the start, after a comma or the like, after a conjunction."""
    yield 0
    for joint in _JOINT.finditer(plain):
        yield joint.end()


def _opens(clause: str) -> bool:
    return bool(forms.YES_NO.match(clause) or forms.FOR_A_VALUE.match(clause))


def _of_clause(clause: str) -> str:
    if forms.FOR_A_VALUE.match(clause) and not (clause.startswith("was ") and _english_was(clause)):
        return _of_value(clause)
    return _of_yes_no(clause)


def _english_was(clause: str) -> bool:
    """Whether "was" opens an English question, not a German one ("Was ist …")."""
    return not re.match(
        r"was (?:ist|sind|war|waren|hat|haben|kostet|bedeutet|wurde|macht|kann|passiert|genau)\b", clause
    )


def _of_value(clause: str) -> str:
    if forms.IF_ANY.search(clause):
        return "any"
    if forms.IS_THE_ONLY.search(clause):
        return "only"
    if forms.ASKS_WHAT_IS_NOT.search(clause) and not forms.ONE_OF_A_LIST.search(clause):
        return "denial"
    return "value"


def _of_yes_no(clause: str) -> str:
    """The form of a question for yes or no, or of a clause after "whether"."""
    if forms.A_WAY.search(clause):
        return "yes_no"
    if forms.EXISTENCE.match(clause):
        return "existence"
    if is_negative(_CONTRACTED.sub("", clause)):
        return "denial"
    if forms.MODAL.match(clause):
        return "yes_no"
    if forms.SO_FAR.search(clause):
        return "so_far"
    if forms.ONLY.search(clause):
        return "only"
    if forms.EVER.search(clause) and not forms.SUPERLATIVE.search(clause):
        return "ever"
    return "any" if forms.ANY.search(clause) else "yes_no"


def _of_statement(clause: str) -> str:
    """The form of a statement that is to be judged."""
    return "denial" if is_negative(clause) else _of_yes_no(clause.strip())


def _of_unopened(plain: str, written: str) -> str:
    """The form of a sentence that asks without an opening known here: of another word order or script."""
    if forms.EXISTENCE.search(plain) or forms.OTHER_EXISTENCE.search(written):
        return "existence"
    if forms.OTHER_SO_FAR.search(written):
        return "so_far"
    if forms.OTHER_VALUE.search(written) or forms.FOR_A_VALUE.fullmatch(
        plain.rstrip("? ").rpartition(" ")[2]
    ):
        return "value"
    return _of_yes_no(plain)
