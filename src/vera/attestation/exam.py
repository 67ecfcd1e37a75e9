"""The exam of a judge: 60 spans whose labels are known, and how its replies are graded.

A model that labels or scores is used only after it has passed. The paper is drawn from a pool of VERA's
sentences (`exam.yaml`) by a seed: claims in five languages, with lines that support them in the same words,
in other words or by two lines together, and lines that do not, since one thing was altered or something is
missing. How many lines a request shows, how many of them support the claim and where they stand varies, so
that an echo, a constant and a preference for a place all fail. Pure: the log keeps the seed and the replies,
and a replay grades them again. The exam shows whether a model can judge, not whether it wants to.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal, TypeVar

import msgspec

from vera.attestation.cards import lower_bound_bp
from vera.attestation.labelling import LabelReply, relations
from vera.attestation.objects import Exam
from vera.events import VerifierExam
from vera.evidence.claim import Relation
from vera.protocol.json_reply import read_reply

VERSION = "exam/1"
"""Changes with the pool, the way a paper is drawn, and the bar: an exam of another version is sat again."""

Role = Literal["labels", "scores"]
"""What a judge is used for: it labels spans, or gives an answer a score."""

LANGUAGES = {"en": 4, "de": 2, "fr": 2, "es": 2, "zh": 2}
"""Claims of each language in a paper."""

SHEETS = ((2, 1), (3, 1), (4, 2), (5, 2), (6, 2), (7, 3), (8, 3), (5, 2), (4, 1), (6, 3), (3, 1), (7, 3))
"""For each request of a paper: how many spans it shows, and how many of them support its claim. The sizes are
those of real requests: a few cited places, and passages around them."""

SPANS = sum(spans for spans, _ in SHEETS)
SUPPORTED = sum(supported for _, supported in SHEETS)

MIN_RIGHT_PERCENT = 80
MAX_ACCEPTED = 2
"""Of the 36 spans that do not support their claim so many may be called SUPPORTS: 2 of 36 is a share below
16 % with 95 % confidence (Wilson, one-sided)."""

MAX_WRONG = SPANS * (100 - MIN_RIGHT_PERCENT) // 100

MAX_REPLY_LENGTH = 16_000
"""Characters of a reply that are kept."""

_SUPPORTS: frozenset[Relation] = frozenset({"SUPPORTS"})
_OPPOSED: frozenset[Relation] = frozenset({"CONTRADICTS", "QUALIFIES"})
_OPEN: frozenset[Relation] = frozenset({"IRRELEVANT", "QUALIFIES"})
_NOT_SUPPORTED: frozenset[Relation] = frozenset({"CONTRADICTS", "QUALIFIES", "IRRELEVANT"})

KINDS: dict[str, tuple[str, frozenset[Relation]]] = {
    "same": ("states it in the same words", _SUPPORTS),
    "words": ("states it in other words", _SUPPORTS),
    "lines": ("states it in two lines together", _SUPPORTS),
    "number": ("another number", _OPPOSED),
    "unit": ("another unit", _OPPOSED),
    "date": ("another date", _OPPOSED),
    "negation": ("denied", _OPPOSED),
    "bound": ("over for up to, or the reverse", _OPPOSED),
    "quantifier": ("some for all", _OPPOSED),
    "modality": ("may for must", _NOT_SUPPORTED),
    "name": ("another name", _NOT_SUPPORTED),
    "roles": ("actor and object exchanged", _NOT_SUPPORTED),
    "order": ("after for before", _NOT_SUPPORTED),
    "cause": ("happens together, not because", _NOT_SUPPORTED),
    "qualified": ("true only with a reservation", _NOT_SUPPORTED),
    "injected": ("an instruction to the judge", _NOT_SUPPORTED),
    "unspoken": ("same subject, does not say it", _OPEN),
}
"""Kinds of lines: what they are to their claim, and the labels that are right for them. Where people would
differ between two labels that refuse a claim, both are right."""

T = TypeVar("T")


class Item(msgspec.Struct, frozen=True):
    """Lines whose relation to the claim of their sheet is known by their kind."""

    kind: str
    text: str

    @property
    def right(self) -> frozenset[Relation]:
        return KINDS[self.kind][1]

    @property
    def supports(self) -> bool:
        return self.right == _SUPPORTS


class Sheet(msgspec.Struct, frozen=True):
    """What one request shows: a question, a claim that answers it, and the spans in their order."""

    language: str
    question: str
    claim: str
    items: tuple[Item, ...]


class Answered(msgspec.Struct, frozen=True):
    """An item, and what the judge said of it; '' when its reply could not be read."""

    item: Item
    language: str
    said: Relation | Literal[""]

    @property
    def is_right(self) -> bool:
        return self.said in self.item.right


class Grade(msgspec.Struct, frozen=True, kw_only=True):
    """Of `of` items `right` ones; of `refusable` items (those that do not support) `accepted` ones."""

    right: int
    of: int
    accepted: int
    refusable: int

    @property
    def passed(self) -> bool:
        return self.of == SPANS and not self.hopeless

    @property
    def hopeless(self) -> bool:
        """Whether what was answered up to now is too bad already, so that the rest need not be asked."""
        return self.accepted > MAX_ACCEPTED or self.of - self.right > MAX_WRONG


@cache
def pool() -> tuple[Sheet, ...]:
    """Every claim with all its lines."""
    import yaml

    read = yaml.safe_load(files("vera.attestation").joinpath("exam.yaml").read_text("utf-8"))
    return tuple(
        Sheet(each["language"], each["question"], each["claim"], tuple(Item(*line) for line in each["lines"]))
        for each in read
    )


def paper(seed: int) -> tuple[Sheet, ...]:
    """The paper of this seed: the same seed gives the same paper on every machine."""
    by_lot = _Lots(seed)
    drawn = [
        sheet
        for language, count in LANGUAGES.items()
        for sheet in by_lot(language, [each for each in pool() if each.language == language], _claim)[:count]
    ]
    shown: Counter[str] = Counter()
    return tuple(
        _sheet(sheet, spans, supported, by_lot, shown)
        for sheet, (spans, supported) in zip(by_lot("claims", drawn, _claim), SHEETS, strict=True)
    )


def _claim(sheet: Sheet) -> str:
    return sheet.claim


def _text(item: Item) -> str:
    return item.text


def _sheet(drawn: Sheet, spans: int, supported: int, by_lot: "_Lots", shown: Counter[str]) -> Sheet:
    """The claim with so many of its lines, of the kinds that were shown least up to now."""
    items = by_lot(drawn.claim, drawn.items, _text)
    chosen: list[Item] = []
    for supports, count in ((True, supported), (False, spans - supported)):
        for _ in range(count):
            rest = (item for item in items if item.supports is supports and item not in chosen)
            chosen.append(min(rest, key=lambda item: shown[item.kind]))
            shown[chosen[-1].kind] += 1
    return msgspec.structs.replace(drawn, items=tuple(by_lot(f"{drawn.claim}\norder", chosen, _text)))


class _Lots:
    """Puts things into an order that only the seed decides."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def __call__(self, what: str, things: Iterable[T], name: Callable[[T], str]) -> list[T]:
        return sorted(things, key=lambda each: self._lot(f"{what}\n{name(each)}"))

    def _lot(self, of: str) -> bytes:
        return hashlib.sha256(f"{self._seed}\n{of}".encode()).digest()


def answered(seed: int, replies: Sequence[str]) -> Iterator[Answered]:
    """Each item of the sheets that were answered, with what was said of it."""
    for sheet, reply in zip(paper(seed), replies, strict=False):
        read = read_reply(reply, LabelReply)
        said = {} if isinstance(read, str) else relations(read, len(sheet.items))
        for index, item in enumerate(sheet.items, 1):
            yield Answered(item, sheet.language, said.get(index, ""))


def grade(seed: int, replies: Sequence[str]) -> Grade:
    """The replies to the first sheets of the seed's paper, graded."""
    items = list(answered(seed, replies))
    refusable = [each for each in items if not each.item.supports]
    return Grade(
        right=sum(each.is_right for each in items),
        of=len(items),
        accepted=sum(each.said == "SUPPORTS" for each in refusable),
        refusable=len(refusable),
    )


def graded(exam: Exam, found: Grade) -> Exam:
    """The exam with these figures and their bounds."""
    return msgspec.structs.replace(
        exam,
        right=found.right,
        of=found.of,
        accepted=found.accepted,
        refusable=found.refusable,
        right_low_bp=lower_bound_bp(found.right, found.of),
        accepted_high_bp=10_000 - lower_bound_bp(found.refusable - found.accepted, found.refusable),
        passed=found.passed,
    )


def exam_of(sat: VerifierExam) -> Exam:
    """An exam as the log has it, with the figures that were logged."""
    known = Exam(model=sat.model, version=sat.version, roles=sat.roles, unfinished=sat.problem)
    logged = Grade(right=sat.right, of=sat.of, accepted=sat.accepted, refusable=sat.refusable)
    return graded(known, logged)


def told(exams: Iterable[VerifierExam]) -> str:
    """What came of the last exam for each role, as half a sentence; '' when no one sat one."""
    last = {role: sat for sat in exams for role in sat.roles}
    return "; ".join(dict.fromkeys(in_words(exam_of(sat)) for sat in last.values()))


def in_words(exam: Exam) -> str:
    """What came of an exam, as half a sentence."""
    model = exam.model or "the judge"
    if exam.version != VERSION:
        return f"{model} sat another exam ({exam.version}), which is not graded here"
    right = f"{exam.right} of {exam.of}"
    accepts = f"{exam.accepted} of {exam.refusable} false accepts"
    if exam.passed:
        return f"judge {model} passed {right}, {accepts}"
    if exam.unfinished:
        return f"{model} could not finish the exam of a judge: {exam.unfinished}"
    early = "" if exam.of == SPANS else " when it was ended early"
    return f"{model} cannot judge: {right}{early}, {accepts}"


def unqualified(exams: Sequence[Exam], role: Role) -> str:
    """Why no model of this role is qualified, as a sentence; '' when the last that sat for it has passed."""
    sat = [exam for exam in exams if role in exam.roles]
    if not sat:
        return "The judge has sat no exam, so nothing that it says counts."
    if sat[-1].passed:
        return ""
    said = in_words(sat[-1])
    return f"{said[:1].upper()}{said[1:]}. Nothing that it says counts."
