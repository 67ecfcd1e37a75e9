"""Computed values: what the sandbox printed carries a claim only when a clean box prints it again.

The command behind it has run once more in a fresh box, and then without its input (events.Derivation). The
claim's values must be among the cited lines, must not be in the command or its scripts, and must rest on
the input, or else be a pure calculation with numbers of the task and of captured sources. A value that the
task or a captured source of the claim states is what the calculation is about, and need not be computed; but
one value must be.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cached_property
from typing import Literal

import msgspec

from vera.audit.case import Case, CitedLines, places
from vera.audit.checks.names import names_in
from vera.audit.program import Program
from vera.audit.source_text import SourceText
from vera.events import Derivation
from vera.evidence.claim import Claim
from vera.evidence.finding import Finding
from vera.text.negation import is_negative
from vera.text.quantity import Quantity, quantities
from vera.text.quantity_index import QuantityIndex, backing
from vera.text.words import folded, stem, stems

LISTED = 8
"""Values that one finding lists."""

_NUMERIC = frozenset({"number", "ordinal", "fraction", "percent", "money", "amount"})
_QUOTED = re.compile(r"[\"“]([^\"”\n]{1,300})[\"”]|(?<!\w)['‘]([^'’\n]{1,300})['’](?!\w)|`([^`\n]{1,300})`")
_HUNDRED = Decimal(100)
_SEARCH_WORDS = """
    file files document documents folder input mention mentions mentioned contain contains contained include
    appear appears occur occurs word words text texts term page line lines anywhere name names string found
    count zero all given none never nothing not nowhere without
"""
_OF_SEARCHES = frozenset(stems(_SEARCH_WORDS))
"""Words with which one says that a search found nothing."""

_Origin = Literal["computed", "unmoved", "given", "literal", "missing"]
"""Where a value of a claim comes from: a command computed it, prints it whatever its input holds, or has it
in its own text; the task or a source states it; or no cited line prints it."""

_UNITS = frozenset(map(Decimal, (7, 12, 24, 30, 52, 60, 365, 1024, 3600, 86400)))
"""Numbers that turn one unit into another."""


def computed(case: Case) -> Iterator[Finding]:
    """Findings for the claims that cite what the sandbox printed or what was read from /work.

    All are hard but `constant_unexplained`, which is told where nothing else is.
    """
    grounds = _Grounds(case)
    for claim in case.claims:
        observed = [place for place in places(case, claim) if place.evidence.tier == "observed"]
        if observed and claim.form != "absence":
            yield from _Claim(case, claim, observed, grounds).findings()


class _Grounds:
    """What calculations of this answer may start from: the task, and lines that captured sources state."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self.task = SourceText(case.task.encode("utf-8", "replace"))
        self._programs: dict[str, Program | None] = {}

    def program(self, evidence_id: str, derivation: Derivation) -> Program | None:
        """The text of the command and its scripts; None when a part of it cannot be read."""
        if evidence_id not in self._programs:
            self._programs[evidence_id] = self._read(derivation)
        return self._programs[evidence_id]

    def _read(self, derivation: Derivation) -> Program | None:
        sources = self._case.sources
        if not isinstance(derivation.command, str) or not derivation.command:
            return None
        if any(sha256 not in sources for _, sha256 in derivation.scripts):
            return None
        scripts = (sources[sha256].text for _, sha256 in derivation.scripts)
        return Program("\n".join([derivation.command, *scripts]))

    @cached_property
    def texts(self) -> Sequence[SourceText]:
        """The task, and the cited lines of the answer that are in a source or were computed from one."""
        cited = {
            (place.evidence.text.sha256, place.first, place.last): place.span
            for claim in self._case.claims
            for place in places(self._case, claim)
            if self._states(place)
        }
        return [self.task, *cited.values()]

    def _states(self, place: CitedLines) -> bool:
        if place.evidence.tier == "captured":
            return not place.evidence.lead
        derivation = self._case.derivations.get(place.evidence.id)
        return derivation is not None and derivation.outcome == "same" and not derivation.without_input

    @cached_property
    def numbers(self) -> frozenset[Decimal]:
        return frozenset(number for text in self.texts for each in text.quantities for number in _forms(each))

    def holds(self, piece: str) -> bool:
        """Whether a piece of text is there."""
        return any(folded(piece) in text.folded for text in self.texts)


def _forms(quantity: Quantity) -> Iterator[Decimal]:
    """The numbers by which a program may write a quantity: 1.5 or 1500000, 5 or 0.05, parts of a date."""
    yield from (quantity.value, abs(quantity.value), *quantity.parts)
    if quantity.scale != 1:
        yield quantity.value / quantity.scale
    if quantity.kind == "percent":
        yield quantity.value / _HUNDRED
    for day in quantity.dates:
        yield from map(Decimal, day)


class _Output(msgspec.Struct, frozen=True):
    """The cited lines that a clean box printed again, and the program that printed them."""

    place: CitedLines
    derivation: Derivation
    program: Program


class _Claim:
    """One claim and its observed evidence."""

    def __init__(self, case: Case, claim: Claim, observed: Sequence[CitedLines], grounds: _Grounds) -> None:
        self._case = case
        self._claim = claim
        self._observed = observed
        self._grounds = grounds
        sources = [place.source for place in places(case, claim) if place.evidence.tier == "captured"]
        self._given = [grounds.task, *sources]

    def findings(self) -> Iterator[Finding]:
        if self._claim.form != "statement":
            yield self._finding(
                "not_computed",
                "What a command printed is no source to point at. State what was computed, or cite the lines "
                "of a source.",
                self._observed[0],
            )
            return
        outputs: list[_Output] = []
        for place in self._observed:
            output = self._derived(place)
            if isinstance(output, Finding):
                yield output
            elif output is not None:
                outputs.append(output)
        if outputs:
            yield from self._of_outputs(outputs)

    def _of_outputs(self, outputs: Sequence[_Output]) -> Iterator[Finding]:
        """What is wrong with a claim about lines that a clean box printed again."""
        values = [value for value in quantities(self._claim.text) if not self._is_name(value, outputs)]
        found = [finding for output in outputs for finding in self._ungrounded(output)]
        found += self._values(values, outputs) if values else self._words(outputs)
        found = found or list(self._rewritten(outputs, "rewritten" if values else "written"))
        yield from found or (hint for output in outputs for hint in self._unexplained(output))

    def _derived(self, place: CitedLines) -> _Output | Finding | None:
        """The output as a clean box printed it again, or what is wrong with it.

        Nothing for a claim that carries no weight, whose commands are not run again.
        """
        derivation = self._case.derivations.get(place.evidence.id)
        if derivation is None and not self._claim.load_bearing:
            return None
        if derivation is None or derivation.outcome == "unavailable":
            why = derivation.reason if derivation and derivation.reason else "its command was not run again"
            return self._finding(
                "not_derived",
                f"It could not be computed again in a clean sandbox: {why}. Cite lines of a source, or "
                "compute it from /input with one command.",
                place,
            )
        if derivation.outcome != "same":
            why = derivation.reason or "it printed something else"
            return self._finding(
                "not_reproduced",
                "In a clean sandbox (empty /work, the same /input, no network) the command does not give "
                f"this: {why}. Compute it in one command that needs only /input and the script it names.",
                place,
            )
        program = self._grounds.program(place.evidence.id, derivation)
        if program is None:
            return self._finding("not_derived", "The text of its command or script cannot be read.", place)
        return _Output(place, derivation, program)

    def _ungrounded(self, output: _Output) -> Iterator[Finding]:
        """What came without any input may only be a calculation with numbers that are known."""
        if not output.derivation.without_input:
            return
        grounds, program = self._grounds, output.program
        magic = [f"{number:f}" for number in sorted(program.constants - grounds.numbers)]
        texts = program.measured_text
        magic += [f'"{piece[:40]}"' for piece in texts if not grounds.holds(piece)]
        if magic:
            listed = ", ".join(magic[:LISTED])
            yield self._finding(
                "magic_constant",
                f"The command prints this without any input, and {listed} stands neither in the task nor in "
                "cited lines of a source. Compute it from /input, or cite where the numbers stand.",
                output.place,
                listed,
            )
        elif not program.constants and not texts:
            yield self._finding(
                "magic_constant",
                "The command prints this without any input, and from no number of the task or of a cited "
                "source: it rests on nothing that can be checked. Compute it from /input.",
                output.place,
            )

    def _is_name(self, value: Quantity, outputs: Sequence[_Output]) -> bool:
        """Whether digits are part of a name (report2019.csv) that the command has too, or a mere "one"."""
        if value.spelled and (value.kind == "ordinal" or value.value == 1):
            return True
        is_word = value.kind == "identifier" and any(map(str.isalpha, value.text))
        return is_word and any(folded(value.text) in output.program.folded for output in outputs)

    def _values(self, values: Sequence[Quantity], outputs: Sequence[_Output]) -> Iterator[Finding]:
        texts: dict[_Origin, list[str]] = defaultdict(list)
        for value in values:
            texts[self._origin(value, outputs)].append(value.text)
        missing, unmoved, literal = texts["missing"], texts["unmoved"], texts["literal"]
        if missing:
            listed = ", ".join(missing[:LISTED])
            yield self._finding(
                "value_not_printed",
                f"{listed} is not among the cited lines of the output. Cite the lines that print it, or, if "
                "it was not computed, the lines of the source that state it.",
                outputs[0].place,
                listed,
            )
        if unmoved:
            listed = ", ".join(unmoved[:LISTED])
            yield self._finding(
                "magic_constant",
                f"{listed} comes out the same when the contents of /input are changed: the command makes "
                "it from its own constants. Compute it from /input.",
                outputs[0].place,
                listed,
            )
        if literal or not (missing or "computed" in texts or unmoved):
            listed = ", ".join((literal or [value.text for value in values])[:LISTED])
            yield self._finding(
                "value_is_literal",
                f"{listed} was not computed: it is in the command, its script or the task. Compute it "
                "from /input without writing it down, or read the file and cite its lines.",
                outputs[0].place,
                listed,
            )

    def _origin(self, value: Quantity, outputs: Sequence[_Output]) -> _Origin:
        if self._is_computed(value, outputs):
            return "computed"
        if any(_computes(output, value, moved=False) for output in outputs):
            return "unmoved"
        if any(_stated(value, text.quantities) for text in self._given):
            return "given"
        printed = any(_stated(value, output.place.span.quantities) for output in outputs)
        return "literal" if printed else "missing"

    def _is_computed(self, value: Quantity, outputs: Sequence[_Output]) -> bool:
        """Whether a command has made the value, or has looked at as many files: "none of 14 files"."""
        if any(value.value and self._searched(output) == value.value for output in outputs):
            return True
        return any(_computes(output, value, moved=self._suspect(output)) for output in outputs)

    def _searched(self, output: _Output) -> int:
        """How many files the command has searched in vain for what the claim denies; 0 when it denies
        nothing, or something that the command does not name."""
        said = self._claim.text
        if not output.derivation.searched or not is_negative(said):
            return 0
        denied = set(stems(said)) - _OF_SEARCHES - {stem(str(output.derivation.searched))}
        return output.derivation.searched if denied <= output.program.stems else 0

    def _suspect(self, output: _Output) -> bool:
        """Whether the program holds numbers from nowhere, of which it could make a value, or makes numbers of
        text."""
        unknown = output.program.constants - self._grounds.numbers
        counted_none = output.derivation.searched > 0
        measures = output.program.measures and not counted_none
        return not output.derivation.without_input and (bool(unknown) or measures)

    def _rewritten(self, outputs: Sequence[_Output], what: str) -> Iterator[Finding]:
        """Words of the claim that the command itself has written into its output."""
        given = {each for text in self._given for each in text.stems}
        said = set(stems(self._claim.text)) - given
        for output in outputs:
            own: frozenset[str] = getattr(output.program, what)
            printed = said & output.place.span.stems
            words = (
                printed if output.program.turns_letters and not output.derivation.unmoved else printed & own
            )
            if words:
                listed = ", ".join(sorted(words)[:LISTED])
                yield self._finding(
                    "words_rewritten",
                    f"Rewritten by the command: {listed} comes from the command or its script, not from what "
                    "it read. Cite lines of a source that say it.",
                    output.place,
                    listed,
                )

    def _words(self, outputs: Sequence[_Output]) -> Iterator[Finding]:
        """A claim without numbers: names and quotations must be printed, and something of it be computed, or
        else be denied after all files were searched for it."""
        if any(map(self._searched, outputs)):
            return
        said = self._claim.text
        wanted = _quoted_and_named(said)
        printed = [output.place.span for output in outputs]
        addresses = [SourceText(output.place.evidence.source.encode()) for output in outputs]
        texts = [*printed, *self._given, *addresses]
        missing = [word for word in dict.fromkeys(wanted) if not _holds(word, texts)]
        if missing:
            listed = ", ".join(missing[:LISTED])
            why = f"{listed} is not among the cited lines of the output"
        elif not any(_says(output, wanted or [said]) for output in outputs):
            listed = ""
            why = "the cited lines print none of its words but those that are in the command"
        else:
            yield from self._cut(outputs)
            return
        yield self._finding(
            "not_computed",
            f"This was not computed: {why}. State what the command prints, or cite lines of a source that "
            "say it.",
            outputs[0].place,
            listed,
        )

    def _cut(self, outputs: Sequence[_Output]) -> Iterator[Finding]:
        """Lines of prose that the command has made of pieces of its input."""
        said = set(stems(self._claim.text))
        for output in outputs:
            place, altered = output.place, output.derivation.altered
            lines = enumerate(place.span.text.split("\n"), place.first)
            cut = [line for number, line in lines if number in altered and said & set(stems(line))]
            if cut:
                yield self._finding(
                    "words_rewritten",
                    f"“{cut[0].strip()[:80]}” is in no file of /input as it stands here: the command has "
                    "left something out, or joined what does not belong together. Cite lines of a source "
                    "that say it.",
                    place,
                    cut[0].strip()[:80],
                )

    def _unexplained(self, output: _Output) -> Iterator[Finding]:
        """A number from nowhere beside an input: it may be a limit, and it may make the value. It does where
        the command calculates with it."""
        unknown = sorted(output.program.constants - self._grounds.numbers - _UNITS)
        if unknown and not output.derivation.without_input:
            listed = ", ".join(f"{number:f}" for number in unknown[:LISTED])
            yield Finding(
                code="constant_unexplained",
                label="fabricated",
                severity="hard" if output.program.operands.intersection(unknown) else "soft",
                message=f"The command holds {listed}, which stands neither in the task nor in cited lines of "
                "a source. Say what it is for, or cite where it stands.",
                claim=self._claim.key,
                evidence=output.place.evidence.id,
                first=output.place.first,
                last=output.place.last,
                detail=listed,
            )

    def _finding(self, code: str, message: str, place: CitedLines, detail: str = "") -> Finding:
        return Finding(
            code=code,
            label="fabricated",
            severity="hard",
            message=message,
            claim=self._claim.key,
            evidence=place.evidence.id,
            first=place.first,
            last=place.last,
            detail=detail,
        )


def _computes(output: _Output, value: Quantity, *, moved: bool) -> bool:
    """Whether the cited lines print the value, and neither it nor what was printed is in the program.

    `moved`: only lines count that come out otherwise from other contents.
    """
    program = output.program
    if value.kind in _NUMERIC and abs(value.value) in program.numbers and not output.derivation.searched:
        return False
    text = _moved(output) if moved else output.place.span
    return _stated(value, (each for each in text.quantities if not _is_literal(each, program)))


def _moved(output: _Output) -> SourceText:
    """The cited lines without those that come out the same from other contents."""
    place, unmoved = output.place, frozenset(output.derivation.unmoved)
    if unmoved.isdisjoint(range(place.first, place.last + 1)):
        return place.span
    lines = enumerate(place.span.data.split(b"\n"), place.first)
    return SourceText(b"\n".join(b"" if number in unmoved else line for number, line in lines))


def _is_literal(printed: Quantity, program: Program) -> bool:
    if printed.kind in _NUMERIC or (printed.kind == "date" and printed.value):
        return abs(printed.value) in program.numbers
    return folded(printed.text) in program.folded


def _stated(value: Quantity, found: Iterable[Quantity]) -> bool:
    """Whether one of the quantities is the value, or rounds to it; a percentage may be printed as a share."""
    index = QuantityIndex(found)
    readings = [value]
    if value.kind == "percent":
        share = msgspec.structs.replace(
            value, kind="number", value=value.value / _HUNDRED, step=value.step / _HUNDRED, units=()
        )
        readings.append(share)
    backings = [backing(reading, index) for reading in readings]
    return "stated" in backings or (value.kind in _NUMERIC and "unclear" in backings)


def _quoted_and_named(text: str) -> list[str]:
    """The quotations of a text, and the words of its names."""
    quoted = [next(filter(None, match.groups())) for match in _QUOTED.finditer(text)]
    return [*quoted, *(name.written for name in names_in(text))]


def _holds(words: str, texts: Iterable[SourceText]) -> bool:
    wanted = folded(words)
    return any(wanted in text.folded for text in texts)


def _says(output: _Output, words: Sequence[str]) -> bool:
    """Whether the cited lines print something of these words that the program does not hold itself."""
    if output.derivation.without_input:
        return False
    said = {each for word in words for each in stems(word)}
    return bool((said & output.place.span.stems) - output.program.stems)
