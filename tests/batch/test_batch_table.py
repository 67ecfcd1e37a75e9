"""`vera table` with real runs, and the files that it is made of."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.batches import SHORT, commits, slowly, until
from support.cli import vera
from support.markup import problems_beside
from support.scripted_server import ScriptedServer
from vera.batch.errors import BatchError
from vera.batch.questions import MAX_QUESTIONS, Questions, read_questions
from vera.batch.runs import documents_folder
from vera.batch.summary import Row, Summary, Usage
from vera.batch.table import MAX_CELLS, Sheet, lay_out, table_of, tasks_of
from vera.batch.task_settings import TaskSettings
from vera.config.handed import allowed_of
from vera.report.table.csv_text import table_csv
from vera.report.table.page import table_html

LICENCES = Path(__file__).parents[2] / "examples" / "licences"
ASKED = (("length", "How long is the bridge?"),)


def questions(folder: Path, text: str | bytes) -> Path:
    path = folder / "q.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def documents(folder: Path, **texts: str) -> Path:
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text)
    return folder


def asked(folder: Path, text: str | bytes) -> Questions:
    return read_questions(questions(folder, text))


def cells(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Document → its cells, of a table in JSON."""
    return {row["document"]: row["cells"] for row in json.loads(path.read_bytes())["rows"]}


def test_a_row_below_the_column_question_is_a_question(tmp_path: Path) -> None:
    text = 'no,Question,title\n1,"Wie lang, und wie breit?",Maße\n\n2,桥有多长？,\n'
    assert asked(tmp_path, text).asked == (("Maße", "Wie lang, und wie breit?"), ("桥有多长？", "桥有多长？"))


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("begin", ["", "\ufeff"])
def test_excel_s_csv_files_are_read(begin: str, delimiter: str, tmp_path: Path) -> None:
    text = f"{begin}title{delimiter}question\r\nLänge{delimiter}Wie lang?\r\n"
    assert asked(tmp_path, text).asked == (("Länge", "Wie lang?"),)


def test_a_question_that_is_repeated_is_asked_once(tmp_path: Path) -> None:
    found = asked(tmp_path, "question\nHow long?\nHow wide?\n How long? \n")
    assert [question for _, question in found.asked] == ["How long?", "How wide?"]
    assert found.repeated == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no column “question”"),
        ("How long?\n", "no column “question”"),
        ("question,question\na,b\n", "no column “question”"),
        ("question\n\n", "no question below"),
        ("question,title\n,empty\n", "question 1 is empty"),
        ("question\nHow long, and how wide?\n", "more cells than there are columns"),
        ('question\n"open\n', "no CSV file"),
        ("question\n" + "x" * 10_001 + "\n", "longer than"),
        ("question\n" + "".join(f"q{n}\n" for n in range(MAX_QUESTIONS + 1)), "Split it"),
        (b"question\n\xe4\n", "UTF-8"),
    ],
)
def test_a_wrong_file_of_questions_is_told(text: str | bytes, says: str, tmp_path: Path) -> None:
    with pytest.raises(BatchError, match=says) as raised:
        asked(tmp_path, text)
    assert raised.value.exit_code == 2


def test_a_file_of_questions_that_is_not_there_or_a_pipe_is_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("missing.csv", "pipe"):
        with pytest.raises(BatchError, match="cannot be read"):
            read_questions(tmp_path / name)


def test_each_document_is_alone_in_its_folder_under_its_own_path(tmp_path: Path) -> None:
    folder = documents(tmp_path / "docs", a="one", b="two")
    (folder / "sub").mkdir()
    (folder / "sub" / "c.txt").write_text("three")
    sheet = lay_out(folder, tmp_path, ASKED)
    assert [each.path for each in sheet.documents] == ["a.txt", "b.txt", "sub/c.txt"]
    for each in sheet.documents:
        files = [path for path in each.folder.rglob("*") if path.is_file()]
        assert files == [each.folder / each.path]
        assert files[0].read_bytes() == (folder / each.path).read_bytes()


def test_the_copies_of_documents_are_for_their_owner_alone(tmp_path: Path) -> None:
    lay_out(documents(tmp_path / "docs", a="one"), tmp_path, ASKED)
    assert documents_folder(tmp_path).stat().st_mode & 0o777 == 0o700


def test_the_same_documents_are_the_same_tasks_and_a_changed_one_is_another(tmp_path: Path) -> None:
    folder = documents(tmp_path / "docs", a="one", b="two")

    def ids() -> list[str]:
        settings = TaskSettings(("model.base_url=builtin",), allowed_of((), (tmp_path,)))
        return [task.id for task in tasks_of(lay_out(folder, tmp_path, ASKED), settings).tasks]

    first = ids()
    assert ids() == first
    (folder / "b.txt").write_text("three")
    assert ids()[0] == first[0] and ids()[1] != first[1]


def test_a_copy_that_someone_changed_is_laid_out_again(tmp_path: Path) -> None:
    folder = documents(tmp_path / "docs", a="one")
    (document,) = lay_out(folder, tmp_path, ASKED).documents
    (document.folder / "a.txt").write_text("other")
    lay_out(folder, tmp_path, ASKED)
    assert (document.folder / "a.txt").read_text() == "one"


def test_what_is_no_document_is_left_out_or_named(tmp_path: Path) -> None:
    folder = documents(tmp_path / "docs", a="one")
    (folder / ".DS_Store").write_bytes(b"\0")
    (folder / "~$a.docx").write_bytes(b"\0")
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "q.csv").write_text("question\n")
    (folder / "runs" / "x").mkdir(parents=True)
    (folder / "runs" / "x" / "task.json").write_text("{}")
    (folder / os.fsdecode(b"\xff.txt")).write_text("x")
    sheet = lay_out(folder, folder, ASKED, {(folder / "q.csv").resolve()})
    assert [each.path for each in sheet.documents] == ["a.txt"]
    assert len(sheet.skipped) == 2
    assert any("UTF-8" in why for _, why in sheet.skipped)
    again = lay_out(folder, folder, ASKED, {(folder / "q.csv").resolve()})
    assert again.documents == sheet.documents


def test_a_folder_without_a_document_and_a_table_that_is_too_large_are_told(tmp_path: Path) -> None:
    with pytest.raises(BatchError, match="no document"):
        lay_out(documents(tmp_path / "empty"), tmp_path, ASKED)
    many = ASKED * (MAX_CELLS + 1)
    with pytest.raises(BatchError, match="Make several tables"):
        lay_out(documents(tmp_path / "docs", a="one"), tmp_path, many)


def test_a_table_of_500_cells_has_each_in_its_place(tmp_path: Path) -> None:
    folder = documents(tmp_path / "docs", **{f"d{n:02}": str(n) for n in range(50)})
    asked = tuple((f"q{n}", f"Question {n}?") for n in range(10))
    sheet = lay_out(folder, tmp_path, asked)
    settings = TaskSettings(("model.base_url=builtin",), allowed_of((), (tmp_path,)))
    listed = tasks_of(sheet, settings).tasks
    assert len({task.id for task in listed}) == 500
    failed = tuple(row(task.id, f"it is {task.name}") for task in listed)
    made = table_of(sheet, Summary(rows=failed, states={}, verdicts={}, usage=Usage()))
    found = list(csv.reader(io.StringIO(table_csv(made).decode("utf-8-sig"))))
    for n, each in enumerate(found[1:]):
        for number, text in enumerate(each[1:]):
            assert text == f"UNRESOLVED: failed: it is d{n:02}.txt: Question {number}?"
    assert problems_beside(table_html(made, title="Many", beside=tmp_path).decode()) == []


def row(task: str, reason: str) -> Row:
    return Row(
        id=task,
        name="",
        kind="task",
        state="failed",
        status="",
        reason=reason,
        exit_code=1,
        attempts=1,
        session="",
        attestation="",
        reused=False,
        steps=0,
        usage=Usage(),
    )


def test_a_session_that_is_gone_is_unresolved(tmp_path: Path) -> None:
    (document,) = lay_out(documents(tmp_path / "docs", a="one"), tmp_path, ASKED).documents
    values = {name: getattr(row("t", ""), name) for name in Row.__struct_fields__}
    done = Row(**{**values, "state": "done", "status": "VERIFIED", "session": str(tmp_path / "gone")})
    made = table_of(
        Sheet(documents=(document,), questions=ASKED),
        Summary(rows=(done,), states={}, verdicts={}, usage=Usage()),
    )
    assert made.rows[0].cells[0].text.startswith("UNRESOLVED: its session cannot be read")


def test_every_document_is_asked_every_question_and_a_second_time_nothing_is(tmp_path: Path) -> None:
    folder = documents(tmp_path / "docs", bridge="The bridge of Arden is 120 metres long.\n", other="Cats.\n")
    (folder / "noise.pdf").write_bytes(b"%PDF-1.4 \x00\xff broken")
    questions(tmp_path, "question\nHow long is the bridge of Arden?\nWie lang ist die Brücke?\n桥有多长？\n")
    words = ["table", "--questions", "q.csv", "--input", "docs", "--slots", 2]
    for name in ("t.html", "t.csv", "t.xlsx", "t.json"):
        words += ["--out", name]
    first = vera(*words, cwd=tmp_path)
    assert first.returncode == 1, first.stderr  # the broken document
    found = cells(tmp_path / "t.json")
    assert [each["word"] for each in found["bridge.txt"]] == ["QUOTED", "UNRESOLVED", "UNRESOLVED"]
    quoted = found["bridge.txt"][0]
    assert quoted["phrase"] == "The bridge of Arden is 120 metres long."
    assert quoted["places"][0]["source"] == "bridge.txt" and quoted["places"][0]["first"] == 1
    assert Path(quoted["session"], "answer.md").is_file()
    assert {each["word"] for each in found["noise.pdf"] + found["other.txt"]} == {"UNRESOLVED"}
    assert all(each["reason"] for row in found.values() for each in row)
    assert "of this document could be read (noise.pdf: " in found["noise.pdf"][0]["reason"]
    page = (tmp_path / "t.html").read_text()
    assert problems_beside(page) == []
    assert f'href="./{Path(quoted["session"], "answer.md").relative_to(tmp_path)}"' in page
    done = commits(tmp_path)
    second = vera(*words, cwd=tmp_path)
    assert "0 to run" in second.stderr and commits(tmp_path) == done
    assert (tmp_path / "t.html").read_text() == page
    required = vera(
        *words[:7], "--out", "v.json", "--require", "verified", "--base-dir", "strict", cwd=tmp_path
    )
    assert required.returncode == 1


def test_the_licences_are_asked_for_their_terms(tmp_path: Path) -> None:
    folder = tmp_path / "licences"
    folder.mkdir()
    for name in ("GPL-3.txt", "CC0-1.0.txt"):
        (folder / name).write_bytes((LICENCES / name).read_bytes())
    questions(tmp_path, "question\nFor how long must a written offer of source code be valid?\n")
    done = vera("table", "--questions", "q.csv", "--input", "licences", "--out", "t.json", cwd=tmp_path)
    found = cells(tmp_path / "t.json")
    (gpl,), (cc0,) = found["GPL-3.txt"], found["CC0-1.0.txt"]
    assert gpl["word"] == "QUOTED", done.stderr
    assert any("three years" in line for place in gpl["places"] for line in place["lines"])
    assert cc0["word"] == "UNRESOLVED" and cc0["reason"]
    assert done.returncode == 3


def test_documents_of_several_places_are_one_table_and_the_questions_are_none_of_them(tmp_path: Path) -> None:
    documents(tmp_path / "docs", a="The bridge is 87 metres long.")
    questions(tmp_path / "docs", "question\nHow long is the bridge?\n")
    (tmp_path / "b.txt").write_text("The bridge is 90 metres long.")
    words = ["table", "--questions", "docs/q.csv", "--input", "docs", "--input", "b.txt", "--out", "t.json"]
    for _ in range(2):
        done = vera(*words, cwd=tmp_path)
        assert sorted(cells(tmp_path / "t.json")) == ["b.txt", "docs/a.txt"], done.stderr
    assert len(list((tmp_path / "runs").rglob("trace.jsonl"))) == 2, "what is done is not asked again"
    refused = vera(*words, "--input", "https://example.test/", cwd=tmp_path)
    assert refused.returncode == 2 and "is a page of the web" in refused.stderr


def test_an_interrupted_table_has_what_is_done_and_goes_on(tmp_path: Path) -> None:
    documents(tmp_path / "docs", **{f"d{n}": f"Sky {n} is blue." for n in range(3)})
    questions(tmp_path, "question\nWhat colour is the sky?\n")
    with ScriptedServer(slowly(0.4, calls=2)) as server:
        settings = {**SHORT, "model.base_url": server.base_url}
        words = ["table", "--questions", "q.csv", "--input", "docs", "--out", "t.json", "--slots", "1"]
        words += [f"-c{key}={value}" for key, value in settings.items()]
        command = [sys.executable, "-m", "vera", *words]
        with subprocess.Popen(
            command, cwd=tmp_path, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as process:
            until(lambda: commits(tmp_path), "a commit")
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        assert process.returncode == 130, said
        states = [each["reason"] for (each,) in cells(tmp_path / "t.json").values()]
        assert any(reason.startswith("not asked yet") for reason in states)
        before = commits(tmp_path)
        done = vera(*words, cwd=tmp_path)
    after = commits(tmp_path)
    assert len(after) == 3 and {name: after[name] for name in before} == before, done.stderr
    assert not any(each["reason"].startswith("not asked") for (each,) in cells(tmp_path / "t.json").values())
