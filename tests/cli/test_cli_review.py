"""`vera review`, `vera rm` and `vera gc`, as a person types them."""

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from support.dashboards import Grown
from support.verified import verified
from vera.attestation.keys import load_or_create
from vera.attestation.reviews import FILE
from vera.bench.eval_data import DataError, read_questions
from vera.cli.gc import gc
from vera.cli.replay import replay
from vera.cli.report import report
from vera.cli.review import review
from vera.cli.rm import rm
from vera.cli.show import show
from vera.session.session import FOLDER_MODE

DAYS = 86_400.0


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("reviewed") / "one"
    verified(root, load_or_create())
    return root


@pytest.fixture
def base(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "work" / "one")
    (tmp_path / "rivers").mkdir()
    return tmp_path


@pytest.fixture(autouse=True)
def here(base: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(base)
    yield
    os.chdir(before)


def typed(command: click.Command, *arguments: str, stdin: str = "") -> Result:
    return CliRunner().invoke(command, list(arguments), input=stdin)


def said(*arguments: str) -> Result:
    return typed(review, "work/one", *arguments)


def test_it_lists_the_claims_with_their_numbers_and_takes_a_review() -> None:
    listed = said().stdout.splitlines()
    assert listed == [
        "  1  supported  The Elbe is 1094 kilometres long.",
        "  2  supported  The Elbe rises in the Giant Mountains.",
        "  3  supported  The Rhine is 1233 kilometres long.",
    ]
    done = said("--claim", "2", "--disagree", "--note", "It rises in Bohemia.")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[2].startswith("     disagree, signed by your key, 20")
    assert done.stdout.splitlines()[2].endswith(" UTC: It rises in Bohemia.")
    assert done.stdout.splitlines()[-1] == "1 review: 1 counts."


def test_show_report_and_replay_tell_it_and_none_of_them_ends_otherwise() -> None:
    before = [typed(each, "work/one").exit_code for each in (show, replay, report)]
    said("--claim", "1", "--unsure", "--note", "A *note*.")
    shown = typed(show, "work/one")
    assert "What people say (no verdict rests on it):" in shown.stdout and "A *note*." in shown.stdout
    assert json.loads(typed(show, "work/one", "--json").stdout)["reviews"]["claims"][0]["reviews"]
    replayed = typed(replay, "work/one")
    assert "reviews (no verdict rests on them): 1 review: 1 counts." in replayed.stdout
    made = typed(report, "work/one", "--markdown", "-o", "-").stdout
    assert "    A *note*." not in made.partition("## What people say")[0]
    assert "unsure, signed by your key" in made.partition("## What people say")[2]
    assert "[^1]" in made and "\n[^1]: \\[ev_" in made and "## Cited" not in made
    page = typed(report, "work/one", "-o", "-").stdout
    assert "A *note*." in page and 'href="#note-1"' in page and 'id="note-1"' in page
    assert [shown.exit_code, replayed.exit_code, typed(report, "work/one").exit_code] == before


def test_an_altered_review_is_told_by_each_of_them() -> None:
    said("--claim", "1", "--agree", "--note", "Genuine.")
    file = Path("work/one") / FILE
    file.write_bytes(file.read_bytes().replace(b"Genuine.", b"Invented"))
    for command in (review, show, replay):
        done = typed(command, "work/one")
        assert done.exit_code == 0 and "Invented" not in done.stdout
        assert "is ALTERED and does not count" in done.stdout
    found = json.loads(said("--json").stdout)
    assert found["not_counted"][0]["standing"] == "ALTERED" and not found["claims"][0]["reviews"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--claim", "1"], 2),
        (["--agree"], 2),
        (["--note", "x"], 2),
        (["--claim", "4", "--agree"], 2),
        (["--claim", "0", "--agree"], 2),
        (["--claim", "1", "--agree", "--note", "x" * 2001], 1),
        (["--export", "x.jsonl", "--json"], 2),
        (["--any-signer"], 2),
        (["--export", "x.jsonl"], 1),
    ],
)
def test_what_is_no_review_is_refused_in_a_sentence(arguments: list[str], code: int) -> None:
    done = said(*arguments)
    assert done.exit_code == code and done.stderr and "Traceback" not in done.stderr
    assert not (Path("work/one") / FILE).exists() and not Path("x.jsonl").exists()


def test_a_folder_without_a_session_has_nothing_to_review() -> None:
    assert typed(review, "work").exit_code == 1
    assert typed(review, "nowhere", "--export", "x.jsonl").exit_code == 1


def test_the_reviews_of_a_folder_are_exported_as_eval_reads_them(base: Path) -> None:
    log = Path("work/one/trace.jsonl")
    shutil.copytree("work/one", "work/two")
    said("--claim", "1", "--agree")
    said("--claim", "2", "--disagree", "--note", "No.")
    typed(review, "work/two", "--claim", "3", "--unsure")
    done = typed(review, "work", "--export", "reviews.jsonl")
    assert done.exit_code == 0 and done.stdout.startswith("reviews.jsonl: 3 reviews of 2 sessions.")
    rows = [json.loads(line) for line in Path("reviews.jsonl").read_text().splitlines()]
    assert {(row["claim"], row["label"]) for row in rows} == {
        ("The Elbe is 1094 kilometres long.", "agree"),
        ("The Elbe rises in the Giant Mountains.", "disagree"),
        ("The Rhine is 1233 kilometres long.", "unsure"),
    }
    evidence = next(row["evidence"] for row in rows if row["label"] == "agree")
    assert evidence == [{"file": "rivers.txt", "quotation": "The Elbe is 1094 kilometres long."}]
    questions = read_questions(Path("reviews.jsonl"))
    assert [(each.claim, each.is_right, each.answer) for each in questions] == [
        ("The Elbe is 1094 kilometres long.", True, ()),
        ("The Elbe rises in the Giant Mountains.", False, ()),
    ]
    assert questions[0].input_dir == str(base / "rivers") and questions[0].evidence[0].file == "rivers.txt"
    assert typed(review, "work", "--export", "reviews.jsonl").exit_code == 1
    assert log.is_file()


def test_only_what_counts_is_exported(tmp_path_factory: pytest.TempPathFactory) -> None:
    said("--claim", "1", "--agree")
    said("--claim", "1", "--disagree")
    file = Path("work/one") / FILE
    known = os.environ["XDG_DATA_HOME"]
    os.environ["XDG_DATA_HOME"] = str(tmp_path_factory.mktemp("stranger"))
    try:
        said("--claim", "2", "--agree")
        shown = said().stdout
    finally:
        os.environ["XDG_DATA_HOME"] = known
    assert len(file.read_bytes().splitlines()) == 3
    assert "2 reviews" not in shown and "by an unknown key" in shown
    assert "by an unknown key: VERA cannot say who made this" in said().stdout
    assert "1 review of 1 session. Left out, since they do not count: 2." in said("--export", "a").stdout
    assert said("--export", "b", "--any-signer").stdout.startswith("b: 2 reviews of 1 session.")


def test_an_extract_is_no_thesis_and_no_question(tmp_path: Path) -> None:
    rows = [
        {"question": "q", "claim": "c", "label": "agree", "form": form} for form in ("extract", "statement")
    ]
    (tmp_path / "q.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert [each.id for each in read_questions(tmp_path / "q.jsonl")] == ["line-2"]


@pytest.mark.parametrize(
    "row",
    [
        {"claim": "c"},
        {"label": "agree"},
        {"claim": "c", "label": "agree", "answer": "x"},
        {"claim": "c", "label": "yes"},
        {"claim": "", "label": "agree"},
        {},
    ],
)
def test_a_row_has_an_answer_or_a_claim_with_its_label(row: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text(json.dumps({"question": "q", **row}))
    with pytest.raises(DataError):
        read_questions(tmp_path / "q.jsonl")


def test_rm_asks_removes_what_was_named_and_says_what_stays() -> None:
    Grown(Path("work/two")).end()
    assert typed(rm, "work/two", "--base-dir", ".", stdin="n\n").exit_code == 1
    assert typed(rm, "work/two", "--base-dir", ".").exit_code == 1
    assert Path("work/two/trace.jsonl").is_file()
    done = typed(rm, "work/two", "--base-dir", ".", stdin="y\n")
    assert done.exit_code == 0 and "1 session removed." in done.stdout and not Path("work/two").exists()
    Path("work/one/mine.txt").write_text("mine")
    stays = typed(rm, "work/one", "--base-dir", ".", "--yes")
    assert stays.exit_code == 1 and "what VERA did not write: 'mine.txt'" in stays.stderr
    assert Path("work/one/trace.jsonl").is_file()


@pytest.mark.parametrize(
    "named", ["..", "../elsewhere", "/etc", "link", "work", "nowhere", "work/../work/one"]
)
def test_rm_removes_nothing_that_is_no_session_below_the_base(named: str, base: Path) -> None:
    Grown(base.parent / f"{base.name}-elsewhere").end()
    Path("link").symlink_to(base.parent / f"{base.name}-elsewhere")
    done = typed(rm, named, "--base-dir", ".", "--yes")
    assert done.exit_code == 1 and done.stderr
    assert (base.parent / f"{base.name}-elsewhere" / "trace.jsonl").is_file()
    assert Path("work/one/trace.jsonl").is_file()


def test_rm_of_the_folder_above_sessions_refuses_before_it_asks() -> None:
    done = typed(rm, "work", "--base-dir", ".")
    assert (done.exit_code, done.stderr) == (1, "vera: there is no session in ./work.\n")


def aged(name: str, days: float, size: int = 0) -> Path:
    """A session that ended so long ago, with so many bytes in its work folder."""
    root = Path("work") / name
    Grown(root).end()
    (root / "workspace").mkdir(mode=FOLDER_MODE)
    (root / "workspace" / "data").write_bytes(b"x" * size)
    moment = time.time() - days * DAYS
    os.utime(root / "trace.jsonl", (moment, moment))
    return root


def left() -> list[str]:
    return sorted(each.name for each in Path("work").iterdir())


def test_gc_takes_what_is_old_and_large_and_keeps_what_is_verified_reviewed_or_in_use() -> None:
    aged("old", 40)
    aged("old-large", 40, 200_000)
    aged("new-large", 1, 200_000)
    live = Grown(Path("work/live"))
    for name in ("one", "live"):
        os.utime(Path("work") / name / "trace.jsonl", (1e9, 1e9))
    both = ("--older-than", "30d", "--larger-than", "100kB", "--base-dir", ".")
    assert typed(gc, *both).exit_code == 1  # no one said yes
    done = typed(gc, *both, "--yes")
    assert done.exit_code == 0 and left() == ["live", "new-large", "old", "one"]
    typed(gc, "--older-than", "4w", "--keep-verified", "--base-dir", ".", "--yes")
    assert left() == ["live", "new-large", "one"]
    said("--claim", "1", "--agree")
    assert "There is no such session." in typed(gc, "--older-than", "4w", "--base-dir", ".", "--yes").stdout
    (Path("work/one") / FILE).unlink()
    typed(gc, "--older-than", "4w", "--base-dir", ".", "--yes")
    assert left() == ["live", "new-large"]
    live.log.close()


@pytest.mark.parametrize(
    "arguments", [[], ["--older-than", "30"], ["--older-than", "-1d"], ["--larger-than", "1 GB"], ["--yes"]]
)
def test_gc_wants_to_know_which(arguments: list[str]) -> None:
    assert typed(gc, *arguments).exit_code == 2
    assert left() == ["one"]
