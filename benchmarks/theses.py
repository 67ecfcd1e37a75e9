"""What the rule `containment` makes of theses about the licences under examples/, without a model.

    python benchmarks/theses.py [--theses FILE] [--mutants N] [--seed N] [--spans K] [--rows]

Prints a confusion table: 30 true theses (near-verbatim, reordered, with a qualifier), 30 altered ones
(number, name, negation, may/must, unless, only) and 30 of which the texts do not speak. Of each document the
K spans that `spans` proposes are labelled; a thesis is SUPPORTED when one supports it and none contradicts
it. A true thesis counts as right when the supporting lines hold the words that `span` names.

With --mutants every true thesis, and N sentences of the licences taken word for word as theses, are altered
in each of the ways of `MUTATIONS`. None of the mutants says what the licences say, so each that is SUPPORTED
is printed as an error. `--rows` prints the result of every thesis.
"""

import argparse
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from vera.audit import containment
from vera.audit.case import Place
from vera.audit.containment_sentences import sentences
from vera.audit.source_text import SourceText
from vera.events import Blob, Evidence
from vera.evidence.claim import Claim, Relation
from vera.evidence.words import stem

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ("SUPPORTED", "DISPUTED", "REFUTED", "QUALIFIED", "NO_EVIDENCE")


class Thesis(msgspec.Struct, frozen=True):
    """A thesis: `group` true, altered or unspoken; `kind` how it was made; of a true one the `file` and the
    words that the supporting `span` holds."""

    group: str
    kind: str
    text: str
    file: str = ""
    span: str = ""


class Found(msgspec.Struct, frozen=True):
    """A span with its label and the text of its lines."""

    file: str
    first: int
    last: int
    relation: Relation
    text: str


class Document(msgspec.Struct, frozen=True):
    """A licence: its text, as what it is cited, and what may name it."""

    source: SourceText
    evidence: Evidence
    about: str


def documents(folder: Path) -> dict[str, Document]:
    """The text files of a folder, by name."""
    found: dict[str, Document] = {}
    for path in sorted(folder.glob("*.txt")):
        source = SourceText(path.read_bytes())
        lines = len(source.lines)
        evidence = Evidence(
            id="ev_0001",
            call="call_0001",
            step=1,
            tool="read",
            tier="captured",
            source=path.name,
            summary="",
            text=Blob("0" * 64, len(source.data)),
            lines=lines,
            first=1,
            last=lines,
        )
        found[path.name] = Document(source, evidence, containment.about(evidence, source))
    return found


def judged(thesis: str, library: Mapping[str, Document], k: int) -> list[Found]:
    """The spans that say something of a thesis."""
    claim = Claim(key="c1", text=thesis, start=0, end=len(thesis))
    found: list[Found] = []
    for name, document in library.items():
        for first, last in containment.spans(document.source, thesis, k, document.about):
            place = Place(document.evidence, document.source, first, last)
            relation = containment.label(claim, place, document.about)
            if relation != "IRRELEVANT":
                found.append(Found(name, first, last, relation, place.span.text))
    return found


def result(found: Sequence[Found]) -> str:
    """The result of one thesis, as the reduction has it."""
    relations = {one.relation for one in found}
    if "SUPPORTS" in relations:
        return "DISPUTED" if "CONTRADICTS" in relations else "SUPPORTED"
    if "CONTRADICTS" in relations:
        return "REFUTED"
    return "QUALIFIED" if found else "NO_EVIDENCE"


def is_right(thesis: Thesis, found: Sequence[Found]) -> bool:
    """Whether a supporting span is the one that says it."""
    wanted = " ".join(thesis.span.split())
    return any(
        one.relation == "SUPPORTS" and one.file == thesis.file and wanted in " ".join(one.text.split())
        for one in found
    )


# Mutants

_NUMBERS = ("two", "three", "four", "five", "six", "seven", "ten", "twelve", "30", "60", "90", "100", "25")
_NUMBER = re.compile(
    r"(?<!GPL )(?<!MPL )(?<!FDL )(?<!CC0-)(?<!version )(?<![\w.])"
    rf"(?:{'|'.join(_NUMBERS)}|\d{{1,4}})(?![\w.]\d|\w)",
    re.I,
)
_STRANGERS = ("Kestrel License version 7", "MIT License", "GNU Affero General Public License version 3",
              "Eclipse Public License 2.0", "GPL version 9", "Apache License 3.1")  # fmt: skip
_NAMED = re.compile(
    r"(?:GPL|LGPL|MPL|GFDL) (?:version )?\d(?:\.\d)?|(?:the )?Apache(?: License)? 2\.0|CC0"
    r"|(?:the )?Artistic License|(?:the )?BSD license",
    re.I,
)
_MODAL = re.compile(r"\b(?:may not|must not|shall not|may|must|shall|can|need not)\b")
_TURNED = {"may": ("must", "may not", "should"), "must": ("may", "must not", "need not"),
           "shall": ("may", "shall not"), "can": ("must", "cannot"), "may not": ("may", "must"),
           "must not": ("must", "may"), "shall not": ("shall",), "need not": ("must", "may not")}  # fmt: skip
_BE = re.compile(r"\b(?:is|are)\b(?! not\b)")
_DENIED = re.compile(r"\b(?:is|are|does|do|will)( not)\b|\b(?:No|no)\b |\bNeither\b|\bwithout\b")
_FRAME = re.compile(r"\b(requires|allows|permits|prohibits|forbids|lets|says that)\b")
_FRAMES = {"requires": ("allows", "does not require", "prohibits"), "allows": ("requires", "does not allow"),
           "permits": ("requires", "does not permit"), "prohibits": ("permits", "requires"),
           "forbids": ("requires", "permits"), "lets": ("does not let",),
           "says that": ("denies that",)}  # fmt: skip
_LIMITED = re.compile(
    r",? (?:unless|except|only if|if|provided that|provided|so long as|as long as|until|when|to the extent"
    r"|without)\b[^,]*(?=[,.]|\Z)"
)
_DEGREES = {
    "at least": ("at most", "exactly", "more than"),
    "at most": ("at least", "more than"),
    "all": ("some", "most", "no"),
    "any": ("some", "no"),
    "each": ("some",),
    "every": ("some",),
    "no": ("some", "any"),
    "only": ("also",),
    "before": ("after",),
    "after": ("before",),
    "prior to": ("after",),
    "with": ("without",),
    "without": ("with",),
    "or": ("and",),
    "and": ("or",),
    "from": ("to",),
    "to": ("from",),
    "under": ("outside",),
    "more": ("fewer",),
    "if": ("unless", "only if"),
    "unless": ("if",),
    "by": ("for",),
}
_DEGREE = re.compile(rf"\b(?:{'|'.join(sorted(_DEGREES, key=len, reverse=True))})\b", re.I)


def _numbers(text: str, chance: random.Random) -> Iterator[str]:
    for found in _NUMBER.finditer(text):
        others = [number for number in (*_NUMBERS, "7", "11", "18") if stem(number) != stem(found[0].lower())]
        for other in chance.sample(others, 3):
            yield text[: found.start()] + other + text[found.end() :]


def _names(text: str, chance: random.Random) -> Iterator[str]:
    for found in _NAMED.finditer(text):
        for other in chance.sample(_STRANGERS, 3):
            yield text[: found.start()] + other + text[found.end() :]


def _negations(text: str, chance: random.Random) -> Iterator[str]:
    for found in _BE.finditer(text):
        yield text[: found.end()] + " not" + text[found.end() :]
    for found in _DENIED.finditer(text):
        group = 1 if found[1] else 0
        yield (text[: found.start(group)] + text[found.end(group) :]).replace("  ", " ")
    for found in _FRAME.finditer(text):
        for other in _FRAMES[found[1]]:
            yield text[: found.start()] + other + text[found.end() :]


def _modals(text: str, chance: random.Random) -> Iterator[str]:
    for found in _MODAL.finditer(text):
        for other in _TURNED[found[0]]:
            yield text[: found.start()] + other + text[found.end() :]


def _limits_added(text: str, chance: random.Random) -> Iterator[str]:
    body = text.rstrip(".")
    yield body + " unless the copyright holder objects."
    yield body + " if the Program is a library."
    yield body + " only."
    words = [found.start() for found in re.finditer(r"(?<= )[a-z]", body)]
    for start in chance.sample(words, min(4, len(words))):
        yield f"{body[:start]}only {body[start:]}."
        yield f"{body[:start]}not {body[start:]}."


def _limits_dropped(text: str, chance: random.Random) -> Iterator[str]:
    for found in _LIMITED.finditer(text):
        rest = text[: found.start()] + text[found.end() :]
        if len(rest.split()) > 6 and "either" not in text:
            yield rest
    for word in ("only ", "solely ", "exclusively "):
        if word in text:
            yield text.replace(word, "", 1)


def _degrees(text: str, chance: random.Random) -> Iterator[str]:
    for found in _DEGREE.finditer(text):
        for other in _DEGREES[found[0].lower()]:
            yield text[: found.start()] + other + text[found.end() :]


def _swapped(text: str, chance: random.Random) -> Iterator[str]:
    """What stands before the verb and what stands behind it, changed about; and two nouns with articles."""
    found = re.search(r" (may not|must not|may|must|shall|is not|are not|is|are|grants|waives) ", text)
    if found:
        lead = re.match(r"(?:(?:Under|In|According to) [^,]*, |[^,]{0,40} says that )?", text)
        start = lead.end() if lead else 0
        if start < found.start():
            yield f"{text[:start]}{text[found.end() :].rstrip('.')} {found[1]} {text[start : found.start()]}."
    nouns = list(re.finditer(r"\b(?:the|a|an|any|each|this) ((?:[A-Za-z]+ )?[A-Za-z]{4,})\b", text))
    if len(nouns) > 1:
        one, other = sorted(chance.sample(nouns, 2), key=lambda noun: noun.start())
        if one[1] != other[1]:
            yield (
                text[: one.start(1)]
                + other[1]
                + text[one.end(1) : other.start(1)]
                + one[1]
                + text[other.end(1) :]
            )


MUTATIONS: Mapping[str, Callable[[str, random.Random], Iterator[str]]] = {
    "number": _numbers,
    "name": _names,
    "negation": _negations,
    "may/must": _modals,
    "limit added": _limits_added,
    "limit dropped": _limits_dropped,
    "degree": _degrees,
    "swapped": _swapped,
}


def verbatim(library: Mapping[str, Document], number: int, chance: random.Random) -> list[str]:
    """Sentences of the licences, each as a thesis about its licence."""
    found: list[str] = []
    for name, document in library.items():
        plain = re.sub(r"-(?=\d)", " ", name.removesuffix(".txt"))
        named = f"{plain} License" if plain in ("Artistic", "BSD") else plain
        for sentence in sentences(document.source.lines, 1, len(document.source.lines)):
            text = " ".join(sentence.text.split()).strip(' .;:,"()')
            if 6 <= len(text.split()) <= 45 and "?" not in text:
                found.append(f"Under {named}, {text[:1].lower()}{text[1:]}.")
    chance.shuffle(found)
    return found[:number]


# The table


def table(rows: Mapping[tuple[str, str], Counter[str]], right: Mapping[tuple[str, str], int]) -> str:
    """The confusion table in Markdown: one row for each way a thesis was made."""
    lines = ["| theses | kind | number | " + " | ".join(RESULTS) + " | right span |"]
    lines.append("|---|---|" + "---:|" * (len(RESULTS) + 2))
    for (group, kind), counts in rows.items():
        cells = [str(counts[one]) for one in RESULTS]
        span = str(right.get((group, kind), 0)) if group == "true" else ""
        lines.append(f"| {group} | {kind} | {counts.total()} | " + " | ".join(cells) + f" | {span} |")
    return "\n".join(lines)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="The rule containment on theses about the licences.")
    parser.add_argument("--theses", type=Path, default=ROOT / "benchmarks" / "theses" / "licences.jsonl")
    parser.add_argument("--texts", type=Path, default=ROOT / "examples" / "licences")
    parser.add_argument("--mutants", type=int, metavar="N", help="alter the true theses and N sentences")
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--spans", type=int, default=6, help="spans of each document")
    parser.add_argument("--rows", action="store_true", help="print the result of every thesis")
    options = parser.parse_args()
    library = documents(options.texts)
    theses = [
        msgspec.json.decode(line, type=Thesis) for line in options.theses.read_text("utf-8").splitlines()
    ]
    started = time.perf_counter()
    rows: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    right: Counter[tuple[str, str]] = Counter()
    for thesis in theses:
        found = judged(thesis.text, library, options.spans)
        rows[thesis.group, thesis.kind][result(found)] += 1
        right[thesis.group, thesis.kind] += is_right(thesis, found)
        if options.rows or (thesis.group != "true" and result(found) == "SUPPORTED"):
            where = ", ".join(f"{one.file}:{one.first}-{one.last} {one.relation}" for one in found[:3])
            print(f"{result(found):12} {thesis.group}/{thesis.kind}: {thesis.text} [{where}]")
    print(table(rows, right))
    print(f"\n{len(theses)} theses in {time.perf_counter() - started:.1f} s")
    if options.mutants is not None:
        mutate([thesis.text for thesis in theses if thesis.group == "true"], library, options)


def mutate(true: Sequence[str], library: Mapping[str, Document], options: argparse.Namespace) -> None:
    """Alter theses in every way and count what is SUPPORTED all the same."""
    chance = random.Random(options.seed)
    started = time.perf_counter()
    originals = [*true, *verbatim(library, options.mutants, chance)]
    supported = [text for text in originals if result(judged(text, library, options.spans)) == "SUPPORTED"]
    print(f"\n{len(supported)} of {len(originals)} originals are SUPPORTED, each is altered:")
    for kind, mutation in MUTATIONS.items():
        made = {mutant for text in supported for mutant in mutation(text, chance) if mutant not in originals}
        wrong = [text for text in sorted(made) if result(judged(text, library, options.spans)) == "SUPPORTED"]
        print(f"{kind:14} {len(made):6} mutants, SUPPORTED {len(wrong)}")
        for text in wrong:
            print(f"    {text}")
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
