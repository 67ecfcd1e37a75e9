"""What works in which language, without a model: questions, theses, and checks of a document.

    python benchmarks/languages.py [--misses] [LANGUAGE ...]

The same ten sentences about a museum are in benchmarks/languages/ in seven languages, written for this
benchmark. Asked are six questions that a sentence answers and four that none does; verified are four theses
that a sentence states and five that differ from one by a number, a month, a modal verb or a negation;
checked are five right statements of a document and five wrong ones, each with its source.

A question is right when it is QUOTED and the cited lines hold the answer; a thesis that is false must not
be SUPPORTED, and is best REFUTED. Of a wrong statement any finding counts, of a right one only a hard one.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from extractive import opened, plain, play
from manuals import is_quoted

import vera

FOLDER = Path(__file__).resolve().parent / "languages"
OFFLINE = ("model.base_url=builtin", "egress.mode=none")


class Asked(msgspec.Struct, frozen=True):
    ask: str
    answer: str


class Language(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sentences of a language, and what is asked, stated and checked about them."""

    name: str
    text: tuple[str, ...]
    near: tuple[Asked, ...]
    none: tuple[str, ...]
    true: tuple[str, ...]
    false: tuple[str, ...]
    right: tuple[str, ...]
    wrong: tuple[str, ...]


class Row(msgspec.Struct):
    """What came out, in counts; `misses` in words."""

    language: Language
    answered: int = 0
    misled: int = 0
    made_up: int = 0
    supported: int = 0
    accepted: int = 0
    refuted: int = 0
    found: int = 0
    accused: int = 0
    misses: list[str] = msgspec.field(default_factory=list)

    def line(self) -> str:
        """The row of the table."""
        of = self.language
        return (
            f"{of.name:11} {self.answered}/{len(of.near)} ({self.misled} wrong)   "
            f"{self.made_up}/{len(of.none)}"
            f"        {self.supported}/{len(of.true)}          {self.accepted}/{len(of.false)}, "
            f"{self.refuted} refuted   {self.found}/{len(of.wrong)}      {self.accused}/{len(of.right)}"
        )


HEAD = "language    answered          unanswerable  true         false             wrong    right accused"


def measured(language: Language, place: Path) -> Row:
    """Everything about one language, in an empty folder."""
    texts, row = place / "texts", Row(language)
    texts.mkdir(parents=True)
    (texts / "museum.txt").write_text("\n\n".join(language.text) + "\n")
    _questions(row, texts)
    _theses(row, texts, place / "base")
    _document(row, texts, place)
    return row


def _questions(row: Row, texts: Path) -> None:
    with opened(texts) as index:
        for question in row.language.near:
            played = play(index, question.ask)
            holds = any(plain(question.answer) in plain(cited.text) for cited in played.cited)
            row.answered += is_quoted(played) and holds
            row.misled += is_quoted(played) and not holds
            if not (is_quoted(played) and holds):
                row.misses.append(f"not answered: {question.ask}")
        for question in row.language.none:
            if is_quoted(play(index, question)):
                row.made_up += 1
                row.misses.append(f"answered, and is not there: {question}")


def _theses(row: Row, texts: Path, base: Path) -> None:
    for thesis, holds in (
        *((each, True) for each in row.language.true),
        *((each, False) for each in row.language.false),
    ):
        verdict = vera.verify(thesis, input_dir=texts, base_dir=base, overrides=OFFLINE)
        row.supported += holds and verdict.result == "SUPPORTED"
        row.accepted += not holds and verdict.result == "SUPPORTED"
        row.refuted += not holds and verdict.word == "REFUTED"
        if holds != (verdict.result == "SUPPORTED") or not (holds or verdict.word == "REFUTED"):
            row.misses.append(f"{'true' if holds else 'false'} thesis, {verdict.word}: {thesis}")


def _document(row: Row, texts: Path, place: Path) -> None:
    statements = (*row.language.right, *row.language.wrong)
    document = place / "document.md"
    document.write_text("".join(f"{each} [source](texts/museum.txt)\n\n" for each in statements))
    problems = vera.check(document, sources=texts).findings.problems
    for number, statement in enumerate(statements):
        mine = [each for each in problems if each.line == 1 + 2 * number]
        hard = any(each.severity == "hard" for each in mine)
        if number < len(row.language.right):
            row.accused += hard
            row.misses += [f"right, and accused: {statement}"] if hard else []
        else:
            row.found += bool(mine)
            row.misses += [] if mine else [f"wrong, and not found: {statement}"]


def rows(names: Sequence[str]) -> Iterator[Row]:
    """The rows of the languages of these codes, of all where none is named."""
    for file in sorted(FOLDER.glob("*.yaml")):
        if not names or file.stem in names:
            with tempfile.TemporaryDirectory() as place:
                yield measured(msgspec.yaml.decode(file.read_bytes(), type=Language), Path(place))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help="codes: de en es fr it pt zh")
    parser.add_argument("--misses", action="store_true", help="show what was missed or is wrong")
    options = parser.parse_args()
    print(HEAD)
    for row in rows(options.languages):
        print(row.line())
        if options.misses:
            print(*(f"    {each}" for each in row.misses), sep="\n")


if __name__ == "__main__":
    main()
