"""`vera export` of a finished session in the formats of other programs."""

import json
from pathlib import Path

import pypdfium2
import pytest
from click.testing import CliRunner, Result

from support.cli import vera
from vera.cli.export import export
from vera.cli.export_document import FORMATS

WRITES = [name for name in FORMATS if name not in ("pdf", "warc")]
QUESTION = "How long is the bridge of Arden?"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the built-in model over one document."""
    folder = tmp_path_factory.mktemp("export")
    (folder / "docs").mkdir()
    (folder / "docs" / "a.txt").write_text("The bridge of Arden is 120 metres long.\n")
    done = vera("run", QUESTION, "--input-dir", "docs", "--work-dir", "s", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "s"


def test_show_of_a_bundle_says_what_checks_one(session: Path, tmp_path: Path) -> None:
    done = vera("export", session, "--bundle", "first.zip", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = vera("show", "first.zip", cwd=tmp_path)
    assert (shown.returncode, "relied on" in shown.stderr) == (1, False)
    assert "first.zip is a file" in shown.stderr and "vera replay" in shown.stderr


def run(session: Path, *words: object) -> Result:
    return CliRunner().invoke(export, [str(session), *map(str, words)])


@pytest.mark.parametrize("name", WRITES)
def test_a_format_is_written_to_a_new_file_with_the_word_of_the_answer(
    name: str, session: Path, tmp_path: Path
) -> None:
    target = tmp_path / "made"
    done = run(session, f"--{name}", target)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(f"{target}: QUOTED, ")
    before = target.read_bytes()
    again = run(session, f"--{name}", target)
    assert again.exit_code == 1 and "exists already" in again.output
    assert target.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_the_source_of_an_answer_is_a_reference(session: Path, tmp_path: Path) -> None:
    run(session, "--csl", tmp_path / "a.json")
    (item,) = json.loads((tmp_path / "a.json").read_bytes())
    assert item["archive_location"] == "a.txt" and "QUOTED" in item["note"]


def test_a_session_that_fetched_nothing_has_no_web_archive(session: Path, tmp_path: Path) -> None:
    done = run(session, "--warc", tmp_path / "a.warc")
    assert done.exit_code == 1 and "fetched no page" in done.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.needs("bubblewrap", "chromium")
def test_the_report_is_printed_as_pdf(session: Path, tmp_path: Path) -> None:
    done = run(session, "--pdf", tmp_path / "a.pdf")
    assert done.exit_code == 0, done.output
    pages = pypdfium2.PdfDocument(tmp_path / "a.pdf")
    text = "".join(page.get_textpage().get_text_bounded() for page in pages)
    assert QUESTION in text and "Quoted" in text and "120 metres" in text


def test_without_a_sandbox_there_is_no_pdf_and_what_to_do_is_said(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VERA_SANDBOX__BACKEND", "none")
    done = run(session, "--pdf", tmp_path / "a.pdf")
    assert done.exit_code == 1 and "apt install chromium" in done.output


@pytest.mark.parametrize("words", [[], ["--csl", "a", "--ris", "b"], ["--bundle", "a", "--docx", "b"]])
def test_one_thing_is_exported_at_a_time(words: list[str], session: Path) -> None:
    done = run(session, *words)
    assert done.exit_code == 2 and "one at a time" in done.output


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_no_session_or_was_altered_is_not_exported(name: str, session: Path, tmp_path: Path) -> None:
    missing = run(tmp_path, f"--{name}", tmp_path / "a")
    assert missing.exit_code == 1 and "no session" in missing.output
    copy = tmp_path / "copy"
    copy.mkdir()
    log = (session / "trace.jsonl").read_bytes().replace(b"Arden", b"Arten", 1)
    (copy / "trace.jsonl").write_bytes(log)
    altered = run(copy, f"--{name}", tmp_path / "a")
    assert altered.exit_code == 1, altered.output
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("form", ["--html", "--markdown"])
def test_a_report_replaces_only_that_of_its_session(form: str, session: Path, tmp_path: Path) -> None:
    name, log = tmp_path / "r.html", (session / "trace.jsonl").read_bytes()
    own = session / ("report.md" if form == "--markdown" else "report.html")
    for more, code in (((), 0), ((), 0), (("-o", own), 0), (("-o", name), 0), (("-o", name), 1)):
        done = vera("report", session, form, *more, cwd=tmp_path)
        assert done.returncode == code, done.stderr
    assert "exists already" in done.stderr
    for kept in (session / "trace.jsonl", session / "answer.md"):
        assert vera("report", session, form, "-o", kept, cwd=tmp_path).returncode == 1
    assert (session / "trace.jsonl").read_bytes() == log
    assert vera("report", session, form, "-o", "-", cwd=tmp_path).stdout
