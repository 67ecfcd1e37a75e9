"""Questions with the answers that are known of them: the data of `vera eval`.

JSON lines, one question each: `question`, `answer` (a text, several texts any of which is right, or null
where the documents hold none), and if wanted `id`, `input_dir` (from the file's folder), `evidence` (the
places that bear the answer: `file` and `quotation`) and `group`.

A line with `claim` and `label` (`agree` or `disagree`) in the place of `answer` is a claim that a person
reviewed (`vera review --export`): it is verified as a thesis, and should hold where the person agrees. What
they were `unsure` of is left out, and so are extracts.
"""

import re
from codecs import BOM_UTF8
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import msgspec
from msgspec import Meta

from vera.decode_errors import DECODE_ERRORS

LINE_LIMIT = 1_000_000
"""Bytes of the longest line."""
MAX_QUESTIONS = 100_000
MAX_ANSWERS = 100
MAX_PLACES = 100

_Short = Annotated[str, Meta(min_length=1, max_length=500)]
_Text = Annotated[str, Meta(min_length=1, max_length=20_000)]


class DataError(Exception):
    """A file that cannot be read as what it was given for. The message says so in one sentence."""


class ExpectedPlace(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where an answer stands: a file of the input folder, by its path in it, and the words."""

    file: _Short
    quotation: _Text


class Question(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A question with its key. `answer` holds what is accepted, None where the documents hold no answer.

    Of a reviewed `claim` the key is `is_right`, and `answer` is empty."""

    id: str = ""
    question: str
    answer: tuple[str, ...] | None
    input_dir: str = ""
    evidence: tuple[ExpectedPlace, ...] = ()
    group: str = ""
    claim: str = ""
    is_right: bool = False


_Answers = Annotated[tuple[_Text, ...], Meta(min_length=1, max_length=MAX_ANSWERS)]
_Places = Annotated[tuple[ExpectedPlace, ...], Meta(max_length=MAX_PLACES)]


class _Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of the file."""

    id: Annotated[str, Meta(max_length=200)] = ""
    question: Annotated[str, Meta(min_length=1, max_length=100_000)]
    answer: _Answers | _Text | msgspec.UnsetType | None = msgspec.UNSET
    claim: _Text | None = None
    label: Literal["agree", "disagree", "unsure"] | None = None
    form: Annotated[str, Meta(max_length=200)] = ""
    note: Annotated[str, Meta(max_length=2000)] = ""
    input_dir: Annotated[str, Meta(max_length=4000)] = ""
    evidence: _Places | ExpectedPlace = ()
    group: Annotated[str, Meta(max_length=100)] = ""


def read_questions(path: Path, limit: int = MAX_QUESTIONS) -> list[Question]:
    """The first `limit` questions, each with its own id and the real path of its input folder.

    Raises DataError with the number of the line.
    """
    try:
        with path.open("rb") as file:
            questions = _questions(path, file, limit)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    if not questions:
        raise DataError(f"{path} holds no questions.")
    return questions


def _questions(path: Path, file: BinaryIO, limit: int) -> list[Question]:
    questions: list[Question] = []
    ids: dict[str, int] = {}
    for number in range(1, 10 * MAX_QUESTIONS):
        line = file.readline(LINE_LIMIT + 1)
        if not line or len(questions) == limit:
            break
        if len(line) > LINE_LIMIT:
            raise DataError(f"{path}, line {number}: longer than {LINE_LIMIT} bytes.")
        line = line.removeprefix(BOM_UTF8) if number == 1 else line
        if not line.strip():
            continue
        if len(questions) == MAX_QUESTIONS:
            raise DataError(f"{path} holds more than {MAX_QUESTIONS} questions. Use --limit.")
        if (question := _question(path, number, line)) is None:
            continue
        if before := ids.get(question.id):
            raise DataError(f"{path}, line {number}: the id {question.id!a} is in line {before} too.")
        ids[question.id] = number
        questions.append(question)
    return questions


def _question(path: Path, number: int, line: bytes) -> Question | None:
    """The question of a line; None for a claim of which a person was unsure, and for an extract, which says
    only that lines read as quoted."""
    try:
        row = msgspec.json.decode(line, type=_Row)
    except DECODE_ERRORS as error:
        raise DataError(f"{path}, line {number}: no question ({error}).") from None
    if not row.question.strip():
        raise DataError(f"{path}, line {number}: the question is empty.")
    if (row.claim is None) != (row.label is None) or (row.claim is None) == (row.answer is msgspec.UNSET):
        raise DataError(f"{path}, line {number}: give an answer, or a claim with its label.")
    if row.label == "unsure" or row.form == "extract":
        return None
    answers = (row.answer,) if isinstance(row.answer, str) else row.answer or None
    if row.claim is not None:
        answers = ()
    if answers is not None and not all(re.search(r"\w", answer) for answer in answers):
        raise DataError(f"{path}, line {number}: an answer says nothing. Write null where there is none.")
    folder = (path.parent / row.input_dir).resolve() if row.input_dir else None
    if folder is not None and not folder.is_dir():
        raise DataError(f"{path}, line {number}: the input folder {folder} does not exist.")
    return Question(
        id=row.id or f"line-{number}",
        question=row.question,
        answer=answers,
        input_dir=str(folder) if folder else "",
        evidence=(row.evidence,) if isinstance(row.evidence, ExpectedPlace) else row.evidence,
        group=row.group,
        claim=row.claim or "",
        is_right=row.label == "agree",
    )
