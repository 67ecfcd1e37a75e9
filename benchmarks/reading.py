"""How often the built-in model presents lines of an encyclopedia as an answer, and how often rightly.

    python benchmarks/reading.py NAME=FILE.json … [--most 400] [--misses]

Each file is a reading-comprehension set in the format of SQuAD (SQuAD 2.0, XQuAD, FQuAD, PIAF, GermanQuAD);
none is part of this repository, and a split that is named test is not to be opened. Each article becomes a
file of one folder, over which its questions are asked. A quarter of the paragraphs, by a fixed seed, is left
out: whoever asks about these gets no answer there. Where a set has questions without an answer (SQuAD 2.0:
written to deceive), nothing is left out and these are asked.

A question is near when the sentence with its answer, or the title, has 80 % of its content words, else it is
in other words. Right is what cites lines with one of the short answers. Intervals are Wilson's at 95 %.
"""

import argparse
import json
import random
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from extractive import Played, opened, plain, play, share
from manuals import is_quoted

from vera.builtin.question import analyse
from vera.builtin.term_weights import SAME_ROOT, matcher_of
from vera.builtin.words import words

SEED = 7
LEFT_OUT = 0.25
NEAR = 0.8
CLASSES = ("near", "other words", "unanswerable")
_BORDER = re.compile(r"[.!?](?=\s)|[。！？\n]")


class Asked(msgspec.Struct, frozen=True):
    """A question; `answer` is empty where no text has one."""

    kind: str
    question: str
    answer: tuple[str, ...] = ()

    def is_right(self, played: Played) -> bool:
        wanted = [plain(each) for each in self.answer]
        return any(each in plain(cited.text) for cited in played.cited for each in wanted)


def prepare(file: Path, texts: Path) -> list[Asked]:
    """Write the articles of a set into `texts`, and give its questions."""
    chance = random.Random(SEED)
    articles: dict[str, list[Any]] = {}
    for article in json.loads(file.read_text())["data"]:
        title = re.sub(r"[^\w.,()&' -]", "_", article["title"])[:80]
        articles.setdefault(title, []).extend(article["paragraphs"])
    impossible = any(
        each.get("is_impossible") for rows in articles.values() for row in rows for each in row["qas"]
    )
    asked: list[Asked] = []
    for title, paragraphs in articles.items():
        kept = []
        for paragraph in paragraphs:
            gone = not impossible and len(paragraphs) > 1 and chance.random() < LEFT_OUT
            kept += [] if gone else [paragraph["context"]]
            asked += [_asked(each, title, paragraph["context"], gone=gone) for each in paragraph["qas"]]
        (texts / f"{title}.txt").write_text("\n\n".join([title.replace("_", " "), *kept]) + "\n")
    chance.shuffle(asked)
    return asked


def _asked(entry: Any, title: str, context: str, *, gone: bool) -> Asked:
    if gone or entry.get("is_impossible"):
        return Asked("unanswerable", entry["question"])
    answer = tuple(sorted({each["text"] for each in entry["answers"]}))
    near = is_near(entry["question"], title, context, entry["answers"][0]["answer_start"])
    return Asked("near" if near else "other words", entry["question"], answer)


def is_near(question: str, title: str, context: str, start: int) -> bool:
    """Whether the sentence at `start` of the context, with the title, has most of a question's words."""
    terms = tuple(term for term in analyse(question).terms if term.weight >= 1.0)
    before = max((match.end() for match in _BORDER.finditer(context, 0, start)), default=0)
    behind = _BORDER.search(context, start)
    sentence = context[before : behind.end() if behind else len(context)]
    held = matcher_of(terms).vector(words(f"{sentence} {title.replace('_', ' ')}"))
    return bool(terms) and sum(value >= SAME_ROOT for value in held) >= NEAR * len(terms)


def ask(file: Path, most: int) -> Iterator[tuple[Asked, Played]]:
    """The first `most` answerable and unanswerable questions of a set, with what the model did."""
    with tempfile.TemporaryDirectory() as folder:
        asked = prepare(file, Path(folder))
        chosen = [
            *[each for each in asked if each.answer][:most],
            *[each for each in asked if not each.answer][:most],
        ]
        with opened(Path(folder)) as index:
            for each in chosen:
                yield each, play(index, each.question)


def row(name: str, played: Sequence[tuple[Asked, Played]]) -> str:
    """A line of the table: presented of each class, and how many of all that were presented are wrong."""
    quoted = [(asked, run) for asked, run in played if is_quoted(run)]
    cells = [
        share(sum(asked.kind == kind for asked, _ in quoted), sum(asked.kind == kind for asked, _ in played))
        for kind in CLASSES
    ]
    wrong = sum(not asked.is_right(run) for asked, run in quoted)
    return f"{name:14} {len(played):5}  " + "  ".join([*cells, share(wrong, len(quoted))])


def main() -> None:
    """Ask the sets and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="+", metavar="NAME=FILE")
    parser.add_argument("--most", type=int, default=400, help="questions of a set, with and without answer")
    parser.add_argument("--misses", action="store_true", help="show what is wrong")
    options = parser.parse_args()
    print(f"{'set':14} {'asked':>5}  " + "  ".join(f"{kind:>16}" for kind in (*CLASSES, "wrong")))
    for each in options.sets:
        name, _, file = each.partition("=")
        played = list(ask(Path(file), options.most))
        print(row(name, played), flush=True)
        for asked, run in played if options.misses else ():
            if is_quoted(run) and not asked.is_right(run):
                print("   ", asked.kind, asked.question, *(plain(cited.text)[:160] for cited in run.cited))


if __name__ == "__main__":
    main()
