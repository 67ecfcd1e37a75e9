"""The questions that `vera eval` reads, and those that it makes."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from vera.bench.eval_data import LINE_LIMIT, DataError, read_questions
from vera.bench.eval_generate import DOCUMENTS, QUESTIONS, generate
from vera.bench.eval_match import lines_of, states
from vera.bench.eval_world import read_world, world

EXAMPLES = Path(__file__).parents[2] / "examples"
WORLDS = Path(__file__).parents[1] / "fixtures" / "eval"


def written(folder: Path, *rows: Any) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def refused(path: Path) -> str:
    with pytest.raises(DataError) as error:
        read_questions(path)
    return str(error.value).removeprefix(str(path))


def test_an_answer_is_a_text_several_texts_or_null(tmp_path: Path) -> None:
    rows = [{"question": "Who?", "answer": answer} for answer in ("Ada", ["Ada", "Ada B."], None)]
    assert [each.answer for each in read_questions(written(tmp_path, *rows))] == [
        ("Ada",),
        ("Ada", "Ada B."),
        None,
    ]


def test_the_input_folder_is_seen_from_the_file(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    path = written(tmp_path, {"question": "Who?", "answer": None, "input_dir": "papers"}, "")
    assert read_questions(path)[0].input_dir == str((tmp_path / "papers").resolve())


def test_a_byte_order_mark_before_the_first_line_says_nothing(tmp_path: Path) -> None:
    rows = ["\ufeff" + json.dumps({"question": "Who?", "answer": "Ada"}) + "\r", ""]
    assert [each.question for each in read_questions(written(tmp_path, *rows))] == ["Who?"]


def test_a_limit_leaves_the_rest_unread(tmp_path: Path) -> None:
    assert len(read_questions(written(tmp_path, {"question": "Who?", "answer": None}, "broken"), 1)) == 1


def asked(**members: Any) -> dict[str, Any]:
    return {"question": "Who?", "answer": None, **members}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{", "no question (Input data was truncated)."),
        ({"question": "Who?"}, "give an answer, or a claim with its label."),
        (asked(question=" "), "the question is empty."),
        (asked(answer="?"), "an answer says nothing. Write null where there is none."),
        (asked(answer=3), "no question (Expected `str | array | null`, got `int` - at `$.answer`)."),
        (asked(anwser=""), "no question (Object contains unknown field `anwser`)."),
        (asked(id="line-1"), "the id 'line-1' is in line 1 too."),
    ],
)
def test_a_bad_line_is_named_by_its_number(tmp_path: Path, row: Any, said: str) -> None:
    assert refused(written(tmp_path, asked(), row)) == f", line 2: {said}"


def test_what_is_no_file_of_questions_is_one_sentence(tmp_path: Path) -> None:
    assert refused(tmp_path / "no") == " cannot be read: No such file or directory."
    assert refused(written(tmp_path, "")) == " holds no questions."
    assert refused(written(tmp_path, " " * (LINE_LIMIT + 1))) == f", line 1: longer than {LINE_LIMIT} bytes."
    assert "does not exist" in refused(
        written(tmp_path, {"question": "Who?", "answer": None, "input_dir": "gone"})
    )


def test_the_same_seed_makes_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    for name, seed in (("one", 5), ("two", 5), ("three", 6)):
        generate(tmp_path / name, 30, seed, world())
    one, two, three = (
        {
            path.relative_to(tmp_path / name): path.read_bytes()
            for path in (tmp_path / name).rglob("*")
            if path.is_file()
        }
        for name in ("one", "two", "three")
    )
    assert one == two
    assert one != three


def test_each_planted_fact_stands_in_its_document_and_a_third_has_none(tmp_path: Path) -> None:
    generate(tmp_path / "made", 90, 7, world())
    questions = read_questions(tmp_path / "made" / QUESTIONS)
    assert len(questions) == 90
    assert sum(each.answer is None for each in questions) == 30
    for each in questions:
        for place in each.evidence:
            text = (tmp_path / "made" / DOCUMENTS / place.file).read_text()
            lines = lines_of(place.quotation, text)
            assert lines is not None
            assert states("\n".join(text.split("\n")[lines.start - 1 : lines.stop - 1]), each.answer or ())


def test_questions_without_an_answer_miss_it_in_four_ways(tmp_path: Path) -> None:
    generate(tmp_path / "made", 200, 8, world())
    groups = Counter(each.group for each in read_questions(tmp_path / "made" / QUESTIONS) if not each.answer)
    assert set(groups) == {
        f"unanswerable, {way}"
        for way in ("no such thing", "not said of it", "another year", "said to be open")
    }
    assert min(groups.values()) >= 10


def test_documents_are_never_written_among_others(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError):
        generate(tmp_path, 10, 1, world())


def test_a_set_is_made_from_tables_of_ones_own(tmp_path: Path) -> None:
    generate(tmp_path / "made", 30, 1, read_world(WORLDS / "other-world.yaml"))
    questions = read_questions(tmp_path / "made" / QUESTIONS)
    assert len(questions) == 30
    assert any("Clinic" in each.question for each in questions)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("first_names:", "first_nams:", "holds no tables of a world"),
        ("kind: count", "kind: number", "Invalid enum value 'number'"),
        ("How many beds does {e} have?", "How many beds does {x} have?", "cannot be filled in"),
    ],
)
def test_tables_that_are_none_are_refused_in_a_sentence(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    text = (WORLDS / "other-world.yaml").read_text()
    assert old in text
    path = tmp_path / "world.yaml"
    path.write_text(text.replace(old, new))
    with pytest.raises(DataError, match=said):
        read_world(path)


def test_the_example_questions_have_their_answers_in_the_licences() -> None:
    for each in read_questions(EXAMPLES / "licences.questions.jsonl"):
        for place in each.evidence:
            text = (Path(each.input_dir) / place.file).read_text()
            assert lines_of(place.quotation, text)
            assert states(place.quotation, each.answer or ())
