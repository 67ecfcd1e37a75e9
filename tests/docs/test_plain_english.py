"""Code, messages, pages and documentation are written in plain English, with one word for one thing.

Searched are comments, docstrings and all other strings of `src/vera`, its templates, settings and alerts, the
help of the commands, `docs/`, and the pages at the top of the repository. Not searched are the prompts
(`src/vera/prompts`, hashed into the log), the exam's sentences, and lists of words that other texts use.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import click
import pytest
from docs_pages import DOCS, PAGES, ROOT, name

from vera.cli import main

SOURCE = ROOT / "src" / "vera"
MODULES = [*sorted(SOURCE.rglob("*.py")), ROOT / "run.py"]
TEMPLATES = sorted(
    path
    for pattern in ("*.j2", "*.yaml", "*.css", "*.js")
    for path in SOURCE.rglob(pattern)
    if "prompts" not in path.parts and path.name not in ("exam.yaml", "small-web.yaml")
)
TOP = [ROOT / f"{page}.md" for page in ("README", "CONTRIBUTING", "SECURITY", "CHANGELOG", "CODE_OF_CONDUCT")]

BANNED = {
    r"anew": "again",
    r"mend(?:s|ed|ing)?": "fix, correct",
    r"nobody": "no one",
    r"nought": "zero, nothing",
    r"seldom": "rarely",
    r"dear(?:er|est)?": "expensive",
    r"of (?:its|their) own": "its own X, a separate X",
    r"st(?:ands?|anding|ood) (?:in(?! for\b)|on|there|nowhere|by|beside)": "is in",
    r"whose (?:\w+ ){1,2}(?:it|that) is": "the owner of",
    r"whose word (?:it|they|is|a|each|the|counts)": "who set",
    r"to be had": "available",
    r"(?<!there )(?-i:is none)(?! of\b)": "is not one",
    r"(?:comes?|came) by": "gets",
    r"person's own": "the user's",
    r"bears? (?:no )?load": "counts for the verdict",
    r"audit of \d+ claims?": "checked 1 claim against the sources",
    r"look-ups?, then the judge": "follow-up questions, then scoring",
    r"says it or denies it": "no matching sentence was found",
    r"folder of sources is it": "no file in the sources folder matches it",
    r"not to be built now": "is missing, and this command does not build it",
    r"how much work it is worth": "step limit",
    r"for what is drawn by lot": "random seed",
    r"without a sign of this worker": "after this many seconds of silence",
    r"projection is what the log says": "all files match the log",
    r"what is out of sight": "the register of verified statements, open questions and assumptions",
    r"wants to see a person": "a bot check",
    r"cards that speak of a claim, by class": "number of evidence cards per claim, by type",
    r"set of prompts to use": "which set of prompts is used",
    r"under a condition that it leaves out": "the source adds a condition that the thesis leaves out",
}
"""A word or construction → what to write instead. Case does not matter."""

BANNED_ON_PAGES = {
    r"(?<!active runs )st(?:ands?|anding|ood)(?! for\b|-| alone)": "is",
    r"(?:be|was|were) had": "available, read",
    r"(?:(?<=[.:!?] )|(?<=^))(?-i:Of) (?:an?|each)\b(?! (?:[\w'-]+ ){0,5}[\w'-]+,)": "start with the subject",
    r"h(?:e|o)ld against (?:itself|the|what)": "compare with",
    r"whoever has not": "anyone without",
    r"belongs? into": "include in",
    r"some times what": "several times as long as",
    r"is nothing that it": "it does not …",
    r"by lot": "at random",
    r"(?:sits?|sat|sitting) (?:an|the|its|no|whole) (?:same )?exam": "take an exam",
    r"afresh": "again",
    r"of (?:it|them|what was read) no one": "no one … of it",
    r"the others do": "say what they do",
    r"nothing that was read says": "no matching sentence was found",
    r"to be built now": "does not build it",
}
"""Old and inverted constructions that README and documentation do not use → what to write instead. Messages
and objects that are hashed may still have them: a changed word there changes a hash."""

_BANNED_ON_PAGES = re.compile(rf"\b(?:{'|'.join(BANNED_ON_PAGES)})\b", re.IGNORECASE)

_BANNED = re.compile(rf"\b(?:{'|'.join(BANNED)})\b", re.IGNORECASE)

ALLOWED = (
    "whose key it is: ask the maker",
    "Each statement can stand in its source and the question still be unanswered.",
    "What stands on them was not read.",
)
"""Phrases that stay, since their bytes are hashed: of a bundle's README, and of what a hyperthesis says."""

LEXICONS = {
    "audit/containment_terms.py": ("nobody",),
    "audit/oppositions.py": ("dearer",),
    "audit/literal.py": ("dearer",),
    "text/negation.py": ("nobody",),
    "text/question_forms.py": ("nobody",),
    "text/words.py": ("nobody",),
    "builtin/synonyms.py": ("mend",),
}
"""Lists of words that are looked for in sources: the strings may hold these words, comments may not."""

RETIRED = {
    r"box(?:es)?": "sandbox",
    r"chooser": "selector",
    r"action verifier": "selector",
    r"hit list": "evidence",
    r"contestants?": "candidate",
}
"""A word that the help of commands and the documentation do not use → the glossary's word."""

_CODE = re.compile(r"```.*?```|`[^`\n]*`|\]\([^)]*\)", re.DOTALL)


def docstrings(tree: ast.Module) -> set[int]:
    """The ids of the constants that are docstrings: of modules, classes, functions and constants."""
    bodies = (getattr(node, "body", None) for node in ast.walk(tree))
    statements = (each for body in bodies if isinstance(body, list) for each in body)
    return {id(each.value) for each in statements if isinstance(each, ast.Expr)}


def texts(path: Path) -> Iterator[tuple[str, bool]]:
    """The comments and strings of a module; whether each is a string that the program uses."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    written = docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value, id(node) not in written
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = (token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT)
    yield " ".join(comments), False


def banned(text: str) -> list[str]:
    """The banned words of a text, those aside that are allowed. White space counts as one blank."""
    plain = re.sub("|".join(ALLOWED), "", " ".join(text.split()))
    return _BANNED.findall(plain)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The term stands\n    in section 6.", ["stands in"]),
        ("A stand-in stands for it, and there is none of these.", []),
        ("An index OF ITS OWN is made anew.", ["OF ITS OWN", "anew"]),
        ("It amends, commends and recommends.", []),
        ("What is none is None.", ["is none"]),
        ("The origin says whose word it was.", ["whose word it"]),
        ("It is none of the allowed domains.", []),
        ("whose key it is: ask the maker", []),
        ("Nobody says whose box of that backend it is.", ["Nobody"]),
    ],
)
def test_a_banned_word_is_found_whole_and_across_lines(text: str, found: list[str]) -> None:
    assert banned(text) == found


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_comments_docstrings_and_messages_are_plain(path: Path) -> None:
    listed = LEXICONS.get(path.as_posix().removeprefix(f"{SOURCE.as_posix()}/"), ())
    found = [
        word for text, is_used in texts(path) for word in banned(text) if not (is_used and word in listed)
    ]
    assert found == []


@pytest.mark.parametrize("path", TEMPLATES, ids=name)
def test_the_text_of_a_template_is_plain(path: Path) -> None:
    text = re.sub(r"\{%.*?%\}|\{\{.*?\}\}", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert banned(text) == []


@pytest.mark.parametrize("page", [*PAGES, *TOP], ids=name)
def test_a_page_is_plain(page: Path) -> None:
    assert banned(page.read_text(encoding="utf-8")) == []


def old_forms(page: str) -> list[str]:
    """The banned constructions of a page, code and the phrase of the code's taxonomy aside."""
    plain = " ".join(_CODE.sub(" X ", page).split()).replace("where the statement stands", "")
    return [found[0] for found in _BANNED_ON_PAGES.finditer(plain)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The answer stands in line 3, and stands for it.", ["stands"]),
        ("A source that could not be had is held against the rest.", ["be had", "held against the"]),
        ("It is read. Of a name only its last part is taken.", ["Of a"]),
        ("Of a hundred claims, three are wrong. A stand-in stands alone.", []),
        ("Every model sits an exam, and what is asked is drawn by lot.", ["sits an exam", "by lot"]),
    ],
)
def test_an_old_construction_is_found_and_correct_english_is_not(text: str, found: list[str]) -> None:
    assert old_forms(text) == found


@pytest.mark.parametrize("page", [*PAGES, *TOP], ids=name)
def test_a_page_has_no_old_construction(page: Path) -> None:
    assert old_forms(page.read_text(encoding="utf-8")) == []


def test_a_list_of_words_that_is_excepted_has_them() -> None:
    for module, words in LEXICONS.items():
        used = " ".join(text for text, is_used in texts(SOURCE / module) if is_used)
        assert all(re.search(rf"\b{word}\b", used) for word in words), module


def helps(command: click.Command) -> Iterator[str]:
    """What `--help` says of a command, its options and the commands below it."""
    context = click.Context(command)
    yield command.get_help(context)
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            assert found is not None
            yield from helps(found)


def retired(text: str) -> list[str]:
    """The retired words of a text, code aside."""
    plain = _CODE.sub(" ", text)
    return re.findall(rf"(?i)\b(?:{'|'.join(RETIRED)})\b", plain)


def test_the_help_of_every_command_uses_the_words_of_the_glossary() -> None:
    said = list(helps(main))
    assert len(said) > 20
    assert [word for text in said for word in (*banned(text), *retired(text))] == []


@pytest.mark.parametrize("page", [*PAGES, *TOP], ids=name)
def test_a_page_uses_the_words_of_the_glossary(page: Path) -> None:
    assert retired(page.read_text(encoding="utf-8")) == []


def test_a_retired_word_gives_way_to_a_term_of_the_glossary() -> None:
    glossary = (DOCS / "reference/glossary.md").read_text(encoding="utf-8")
    assert all(f"| **{word}** |" in glossary for word in RETIRED.values())


_NO_PROSE = re.compile(r"```.*?```|<!--.*?-->", re.DOTALL)
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=[-*|#>]|\d+\. )")
_SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[A-Z\"“*\[`])")


def sentence_lengths(page: str) -> list[int]:
    """The words of each sentence of a page; tables, headings and quotations aside, a piece of code is one."""
    lengths = []
    for paragraph in _PARAGRAPH.split(_NO_PROSE.sub("\n\n", page)):
        if paragraph.lstrip().startswith(("|", "#", ">")):
            continue
        plain = re.sub(r"`[^`]*`", "X", re.sub(r"\]\([^)]*\)", "]", paragraph))
        lengths += [len(re.findall(r"[\w'’-]+", sentence)) for sentence in _SENTENCE.split(plain)]
    return [length for length in lengths if length > 1]


def test_the_sentences_of_a_page_are_counted() -> None:
    page = (
        "# A heading of five words\n\nTwo words. And `vera run x` [is three](page.md).\n\n```\nno code\n```\n"
    )
    assert sentence_lengths(page) == [2, 4]


LONGER = {"evaluate.md": 22, "performance.md": 19}
"""Pages about measurements → their median: each sentence says how a figure was taken."""


@pytest.mark.parametrize("page", [*PAGES, *TOP], ids=name)
def test_no_page_is_made_of_long_sentences(page: Path) -> None:
    lengths = sentence_lengths(page.read_text(encoding="utf-8")) or [0]
    assert median(lengths) <= LONGER.get(page.name, 18)


def test_half_of_all_sentences_have_at_most_eighteen_words() -> None:
    lengths = [length for page in (*PAGES, *TOP) for length in sentence_lengths(page.read_text())]
    assert median(lengths) <= 18
    assert median(sentence_lengths((ROOT / "README.md").read_text())) <= 15
