"""How often the built-in extractive model cites the lines that hold the answer.

    python benchmarks/extractive.py [--quotesum dev.jsonl] [--questions FILE --texts DIR]... [--misses]

Plays `search` and `read` over the real corpus index, without a lane, and asks every question of each set:
the licences under examples/, the fixture texts of the tests (manual, protocol, policy, encyclopedia,
report, table, FAQ, German, Chinese), sets given by path, and QuoteSum (Schuster et al., NAACL 2024) where
its file is given: once with every passage a file of its own, once with all passages in twelve volumes.

A hit is a citation of the right file whose lines (at most six) hold the answer's words. Beside it stands
the naive baseline: the first six lines of the best chunk (BM25 inside the corpus' own ranking) for the
whole question as it was typed. QuoteSum's questions are split: `tuned` ones were looked at while the
model was made, `held out` ones only measured. Intervals are Wilson's at 95 %.
"""

import argparse
import asyncio
import json
import math
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from vera.builtin import Extractive
from vera.corpus import Corpus
from vera.evidence.citation import find_citations
from vera.extraction.extractor import Extractor
from vera.model.types import Message, Request
from vera.protocol.text import parse
from vera.text.span import Lines

ROOT = Path(__file__).resolve().parent.parent
VOLUMES = 12
MAX_STEPS = 12
BASELINE_LINES = 6


class Cited(msgspec.Struct, frozen=True):
    """A citation of the answer with the text of its lines."""

    path: str
    first: int
    last: int
    text: str


class Played(msgspec.Struct, frozen=True):
    """A run of the model: its answer, what it cites, and the tool calls it made."""

    answer: str
    cited: tuple[Cited, ...]
    calls: int


class Asked(msgspec.Struct, frozen=True):
    """A question with the test of an answer; `answers` is None where the texts hold none."""

    question: str
    answers: Callable[[str, str], bool] | None
    files: frozenset[str] = frozenset()


def play(corpus: Corpus, question: str, files: Sequence[str] = ()) -> Played:
    """Let the model work on one question until its final answer.

    Raises RuntimeError when a turn is malformed, a citation points beside what was read, or no answer
    comes within MAX_STEPS.
    """
    listing = "\n".join(["\n\nINPUT FILES:", *(f"- {name}" for name in files)]) if files else ""
    messages = [
        Message(role="system", content="You answer from the input files."),
        Message(role="user", content=f"PRIMARY TASK\n{question}{listing}"),
    ]
    model = Extractive()
    read: dict[str, tuple[str, int, int]] = {}
    for step in range(1, MAX_STEPS + 1):
        reply = asyncio.run(model.complete(Request(messages=tuple(messages)))).choices[0].content
        turn = parse(reply).turn
        if turn is None:
            raise RuntimeError(f"not a turn: {reply}")
        if turn.action.final is not None:
            return Played(turn.action.final, tuple(_cited(corpus, turn.action.final, read)), step - 1)
        evidence = f"ev_{step:04d}"
        args = turn.action.args
        if turn.action.tool == "search":
            observation = _search(corpus, evidence, args["query"], args["limit"])
        else:
            observation = _read(corpus, evidence, args["path"], args["first"], args["last"])
            read[evidence] = (args["path"], args["first"], args["last"])
        messages += [Message(role="assistant", content=reply), Message(role="user", content=observation)]
    raise RuntimeError(f"no answer to {question!r} within {MAX_STEPS} steps")


def _search(corpus: Corpus, evidence: str, query: str, limit: int) -> str:
    hits = corpus.search(query, limit).hits
    lines = [f'OBSERVATION {evidence} · search "{query}" · captured', f"{len(hits)} hits, best first."]
    for rank, hit in enumerate(hits, 1):
        where = f"lines {hit.first}-{hit.last} of {hit.lines_total}"
        lines.append(f"[{rank}] {hit.path} {where} (score {hit.score:.2f})")
        lines += [f"{number}| {line}" for number, line in enumerate(hit.text.split("\n"), hit.first)]
    return "\n".join(lines)


def _read(corpus: Corpus, evidence: str, path: str, first: int, last: int) -> str:
    lines = Lines(corpus.document(path).extracted.text)
    text = lines.cut(first, last).decode()
    header = f"OBSERVATION {evidence} · read {path} · lines {first}-{last} of {len(lines)} · captured"
    return "\n".join([header, *(f"{number}| {line}" for number, line in enumerate(text.split("\n"), first))])


def _cited(corpus: Corpus, answer: str, read: dict[str, tuple[str, int, int]]) -> Iterator[Cited]:
    for citation in find_citations(answer):
        path, first, last = read[citation.evidence]
        if citation.first is None or citation.last is None:
            raise RuntimeError(f"a citation without lines: {answer}")
        if not first <= citation.first <= citation.last <= last or citation.last - citation.first >= 6:
            raise RuntimeError(f"lines {citation.first}-{citation.last} cited, {first}-{last} read")
        lines = Lines(corpus.document(path).extracted.text)
        yield Cited(path, citation.first, citation.last, lines.cut(citation.first, citation.last).decode())


def plain(text: str) -> str:
    """Lower-case words only: what is compared."""
    return " ".join(re.findall(r"\w+", text.lower()))


def load_questions(file: Path) -> list[Asked]:
    """Questions from JSON: a list of {question, file, words}; `file` null where no text answers."""
    asked = []
    for entry in json.loads(file.read_text()):
        words, name = [plain(word) for word in entry["words"]], entry["file"]

        def answers(path: str, text: str, words: list[str] = words, name: str | None = name) -> bool:
            return path == name and all(word in plain(text) for word in words)

        asked.append(Asked(entry["question"], answers if name else None, frozenset([name] if name else [])))
    return asked


class Tally:
    """The counts of one set."""

    def __init__(self) -> None:
        self.first = self.any = self.document = self.base = self.base_document = self.asked = 0
        self.silent = self.unanswerable = self.cited = self.lines = self.calls = 0
        self.seconds = 0.0

    def add(self, corpus: Corpus, asked: Asked, misses: bool) -> None:
        started = time.perf_counter()
        played = play(corpus, asked.question)
        self.seconds += time.perf_counter() - started
        self.calls += played.calls
        if asked.answers is None:
            self.unanswerable += 1
            self.silent += not played.cited
            if misses and played.cited:
                print(f"  NOT SILENT {asked.question}\n      {_shown(played)}")
            return
        hits = [asked.answers(cited.path, cited.text) for cited in played.cited]
        self.asked += 1
        self.first += hits[:1] == [True]
        self.any += any(hits)
        self.document += bool(played.cited) and played.cited[0].path in asked.files
        self.cited += len(played.cited)
        self.lines += sum(cited.last - cited.first + 1 for cited in played.cited)
        path, text = baseline(corpus, asked.question)
        self.base += asked.answers(path, text)
        self.base_document += path in asked.files
        if misses and hits[:1] != [True]:
            print(f"  {'LATER' if any(hits) else 'MISS'} {asked.question}\n      {_shown(played)}")

    def row(self, name: str) -> str:
        silence = f"{self.silent}/{self.unanswerable}" if self.unanswerable else "-"
        steps = self.asked + self.unanswerable
        return (
            f"{name:28} {self.asked:4} {share(self.first, self.asked)} {share(self.any, self.asked)} "
            f"{share(self.document, self.asked)}   {share(self.base, self.asked)} "
            f"{share(self.base_document, self.asked)}  {self.lines / max(self.cited, 1):5.1f} "
            f"{self.cited / max(self.asked, 1):5.2f} {self.calls / max(steps, 1):5.1f} {silence:>6} "
            f"{1000 * self.seconds / max(steps, 1):6.0f}"
        )


HEADER = (
    f"{'set':28} {'n':>4} {'hit@1':>16} {'hit@any':>16} {'document':>16}   {'baseline hit':>16} "
    f"{'document':>16}  {'lines':>5} {'cites':>5} {'calls':>5} {'silent':>6} {'ms':>6}"
)


def baseline(corpus: Corpus, question: str) -> tuple[str, str]:
    """The first six lines of the best chunk for the question as it stands."""
    hits = corpus.search(question, 1).hits
    if not hits:
        return "", ""
    lines = Lines(corpus.document(hits[0].path).extracted.text)
    first = hits[0].chunk_first
    last = min(first + BASELINE_LINES - 1, hits[0].chunk_last, len(lines))
    return hits[0].path, lines.cut(first, last).decode()


def share(count: int, total: int) -> str:
    """A share with its 95 % interval (Wilson 1927)."""
    if not total:
        return f"{'-':>16}"
    z, share = 1.96, count / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    return f"{share:5.2f} ({max(0.0, middle - half):.2f}-{min(1.0, middle + half):.2f})"


def _shown(played: Played) -> str:
    places = (f"{cited.path}:{cited.first}-{cited.last} {plain(cited.text)[:160]}" for cited in played.cited)
    return "\n      ".join(places) or "no citation"


@contextmanager
def opened(texts: Path) -> Iterator[Corpus]:
    """The corpus over a folder, indexed afresh in a temporary cache."""
    with (
        tempfile.TemporaryDirectory() as cache,
        Extractor() as extractor,
        Corpus(texts, Path(cache), extractor) as corpus,
    ):
        corpus.update()
        yield corpus


def measure(texts: Path, sets: Iterable[tuple[str, Sequence[Asked]]], misses: bool = False) -> list[Tally]:
    """Ask the sets over one folder, print their rows, and give their counts."""
    tallies = []
    with opened(texts) as corpus:
        for name, questions in sets:
            tally = Tally()
            for asked in questions:
                tally.add(corpus, asked, misses)
            print(tally.row(name), flush=True)
            tallies.append(tally)
    return tallies


def quotesum(file: Path, texts: Path, volumes: int) -> list[tuple[str, list[Asked]]]:
    """Write QuoteSum's passages into `texts` and give its questions, two thirds tuned on, one held out.

    `volumes` 0: a file for each passage, named by its title; else so many Markdown files of passages.
    """
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    places: dict[str, str] = {}
    parts: dict[str, list[str]] = {}
    answers: dict[str, dict[str, set[str]]] = {}
    for row in rows:
        wanted = answers.setdefault(row["question"], {})
        for number in range(1, 9):
            passage, title = row[f"source{number}"], row[f"title{number}"]
            if not passage:
                continue
            if passage not in places:
                name = f"volume-{len(places) % volumes + 1}.md" if volumes else _file_name(title, parts)
                places[passage] = name
                parts.setdefault(name, []).append(f"# {title}\n\n{passage}\n" if volumes else passage)
            if answer := plain(row[f"short_ans_{number}"]):
                wanted.setdefault(places[passage], set()).add(answer)
    for name, passages in parts.items():
        (texts / name).write_text("\n".join(passages))
    tuned: list[Asked] = []
    held: list[Asked] = []
    for index, (question, wanted) in enumerate(answers.items()):

        def holds(path: str, text: str, wanted: dict[str, set[str]] = wanted) -> bool:
            return any(answer in plain(text) for answer in wanted.get(path, ()))

        (held if index % 3 == 2 else tuned).append(Asked(question, holds, frozenset(wanted)))
    kind = "volumes" if volumes else "passages"
    return [(f"quotesum {kind}, tuned", tuned), (f"quotesum {kind}, held out", held)]


def _file_name(title: str, taken: dict[str, list[str]]) -> str:
    base = re.sub(r"[^\w.,()&' -]", "_", title)[:80] or "untitled"
    name, number = f"{base}.txt", 2
    while name in taken:
        name, number = f"{base} {number}.txt", number + 1
    return name


def main() -> None:
    """Measure every set that is there and say which is not."""
    style = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=style)
    parser.add_argument("--quotesum", type=Path, help="QuoteSum's JSON lines; never part of the repository")
    parser.add_argument("--questions", type=Path, action="append", default=[], help="a further question set")
    parser.add_argument("--texts", type=Path, action="append", default=[], help="the folder of its texts")
    parser.add_argument("--misses", action="store_true", help="show the questions not answered at once")
    options = parser.parse_args()
    if len(options.questions) != len(options.texts):
        parser.error("each --questions needs its --texts")
    fixtures = ROOT / "tests" / "fixtures" / "extractive"
    given = list(zip(options.questions, options.texts, strict=True))
    print(HEADER)
    for file, texts in [
        (ROOT / "examples" / "licences.questions.json", ROOT / "examples" / "licences"),
        (fixtures / "questions.json", fixtures / "texts"),
        *given,
    ]:
        name = "fixtures" if file.parent == fixtures else file.stem
        measure(texts, [(name, load_questions(file))], options.misses)
    if options.quotesum is None or not options.quotesum.is_file():
        print("QuoteSum was not measured: give its file with --quotesum.")
        return
    for volumes in (0, VOLUMES):
        with tempfile.TemporaryDirectory() as folder:
            sets = quotesum(options.quotesum, Path(folder), volumes)
            measure(Path(folder), sets, options.misses)


if __name__ == "__main__":
    main()
