"""What `vera.verify` makes of theses about the licences under examples/, without a model.

    python benchmarks/theses.py [--theses FILE] [--mutants N] [--seed N] [--spans K] [--rows]

Prints a confusion table: 30 true theses (near-verbatim, reordered, with a qualifier), 30 altered ones
(number, name, negation, may/must, unless, only) and 30 of which the texts do not speak. Each is verified
with the built-in model in a session of its own, under a base folder that is removed at the end. A true
thesis counts as right when the lines of a card that supports it hold the words that `span` names.

With --mutants every true thesis, and N sentences of the licences taken word for word as theses, are altered
in each of the ways of `MUTATIONS`. They are many, so they are held against the texts by the rule
`containment` alone: of each document the K spans that `spans` proposes are labelled; a thesis is SUPPORTED
when one supports it and none contradicts it. None of the mutants says what the licences say, so each that is
SUPPORTED is printed as an error. `--rows` prints the result of every thesis.
"""

import argparse
import os
import random
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

import vera
from vera.attestation.objects import hexadecimal
from vera.audit import containment
from vera.audit.case import CitedLines
from vera.audit.containment_sentences import sentences
from vera.audit.source_text import SourceText
from vera.config import Settings, defaults
from vera.events import Blob, Evidence
from vera.evidence.claim import Claim, Relation
from vera.store import Store
from vera.text.words import stem

ROOT = Path(__file__).resolve().parent.parent
LICENCES = ROOT / "examples" / "licences"
THESES = ROOT / "benchmarks" / "theses" / "licences.jsonl"
RESULTS = ("SUPPORTED", "DISPUTED", "REFUTED", "PARTIAL", "NO_EVIDENCE")
"""The reason of a verdict, or its result where that needs none."""


class Thesis(msgspec.Struct, frozen=True):
    """A thesis: `group` true, altered or unspoken; `kind` how it was made; of a true one the `file` and the
    words that the supporting `span` holds."""

    group: str
    kind: str
    text: str
    file: str = ""
    span: str = ""


class Verdict(msgspec.Struct, frozen=True):
    """What came of a thesis: one of `RESULTS` or another reason, whether a card that supports it is the one
    that says it, and what the cards say as `file:first-last RELATION`."""

    thesis: Thesis
    result: str
    right: bool
    cards: tuple[str, ...]


class Found(msgspec.Struct, frozen=True):
    """A span with its label."""

    file: str
    first: int
    last: int
    relation: Relation


class Document(msgspec.Struct, frozen=True):
    """A licence: its text, as what it is cited, and what may name it."""

    source: SourceText
    evidence: Evidence
    about: str


def theses_of(path: Path) -> list[Thesis]:
    """The theses of a file, one a line."""
    return [msgspec.json.decode(line, type=Thesis) for line in path.read_text("utf-8").splitlines()]


# Through the product


def verdicts(theses: Sequence[Thesis], folder: Path, base: Path) -> Iterator[Verdict]:
    """Each thesis as `vera.verify` has it: over the files of `folder`, in a session of its own under
    `base`."""
    settings = defaults({"model.base_url": "builtin", "egress.mode": "none"})
    return (verdict(thesis, folder, base, settings) for thesis in theses)


def verdict(thesis: Thesis, folder: Path, base: Path, settings: Settings) -> Verdict:
    """What `vera.verify` makes of one thesis."""
    found = vera.verify(thesis.text, input_dir=folder, base_dir=base, settings=settings)
    store = Store(found.session / "store")
    right, cards = False, []
    for card in found.cards.values():
        source, span = found.sources[card.source], card.span
        text = store.get(hexadecimal(source.canonical))[span.start : span.end].decode("utf-8", "replace")
        right |= card.relation == "SUPPORTS" and source.name == thesis.file and _holds(text, thesis.span)
        cards.append(f"{source.name}:{span.first}-{span.last} {card.relation}")
    return Verdict(thesis, found.reason or found.result, right, tuple(cards))


def _holds(text: str, words: str) -> bool:
    return " ".join(words.split()) in " ".join(text.split())


def table(found: Sequence[Verdict]) -> str:
    """The confusion table in Markdown: one row for each way a thesis was made."""
    rows: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    right: Counter[tuple[str, str]] = Counter()
    for one in found:
        key = one.thesis.group, one.thesis.kind
        rows[key][one.result] += 1
        right[key] += one.right
    columns = [*RESULTS, *sorted({one.result for one in found} - set(RESULTS))]
    lines = ["| theses | kind | number | " + " | ".join(columns) + " | right lines |"]
    lines.append("|---|---|" + "---:|" * (len(columns) + 2))
    for (group, kind), counts in rows.items():
        cells = " | ".join(str(counts[one]) for one in columns)
        span = str(right[group, kind]) if group == "true" else ""
        lines.append(f"| {group} | {kind} | {counts.total()} | {cells} | {span} |")
    return "\n".join(lines)


# By the rule alone


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
            place = CitedLines(document.evidence, document.source, first, last)
            relation = containment.label(claim, place, document.about)
            if relation != "IRRELEVANT":
                found.append(Found(name, first, last, relation))
    return found


def result(found: Sequence[Found]) -> str:
    """The result of one thesis, as the reduction has it."""
    relations = {one.relation for one in found}
    if "SUPPORTS" in relations:
        return "DISPUTED" if "CONTRADICTS" in relations else "SUPPORTED"
    if "CONTRADICTS" in relations:
        return "REFUTED"
    return "PARTIAL" if found else "NO_EVIDENCE"


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


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="Theses about the licences, verified without a model.")
    parser.add_argument("--theses", type=Path, default=THESES)
    parser.add_argument("--texts", type=Path, default=LICENCES)
    parser.add_argument("--mutants", type=int, metavar="N", help="alter the true theses and N sentences")
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--spans", type=int, default=6, help="of each document, for the mutants")
    parser.add_argument("--rows", action="store_true", help="print the result of every thesis")
    options = parser.parse_args()
    theses = theses_of(options.theses)
    started, found = time.perf_counter(), []
    with tempfile.TemporaryDirectory(prefix="vera-theses-") as name:
        home = Path(name)
        os.environ.update(XDG_DATA_HOME=str(home / "data"), XDG_CACHE_HOME=str(home / "cache"))
        for one in verdicts(theses, options.texts, home / "base"):
            found.append(one)
            if options.rows or (one.thesis.group != "true" and one.result == "SUPPORTED"):
                thesis, cards = one.thesis, ", ".join(one.cards[:3])
                print(f"{one.result:12} {thesis.group}/{thesis.kind}: {thesis.text} [{cards}]")
    print(table(found))
    print(f"\n{len(theses)} theses in {time.perf_counter() - started:.1f} s")
    if options.mutants is not None:
        mutate([thesis.text for thesis in theses if thesis.group == "true"], options)


def mutate(true: Sequence[str], options: argparse.Namespace) -> None:
    """Alter theses in every way and count what is SUPPORTED all the same."""
    library = documents(options.texts)
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
