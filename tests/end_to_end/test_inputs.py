"""`--input` from the command line: runs over several inputs, and what later commands make of them."""

import json
import os
from pathlib import Path

import pytest

from support.cli import folded, vera
from support.containers import zipped

OFFER = "A written offer must be valid for at least three years.\n"
QUESTION = "How long must a written offer be valid?"
OFFLINE = ("--egress", "none", "--sandbox", "none")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "trees.txt").write_text("An oak grows for five hundred years.\n")
    (tmp_path / "offer.txt").write_text(f"Terms\n\n{OFFER}")
    (tmp_path / "mail.zip").write_bytes(zipped({"bridge.txt": b"The bridge of Arden is 120 metres long.\n"}))
    return tmp_path


def test_an_answer_cites_one_of_several_inputs_and_replay_and_recheck_find_it(here: Path) -> None:
    given = ("--input", "papers", "--input", "offer.txt", "--input", "mail.zip")
    done = vera(
        "run", QUESTION, *given, *OFFLINE, "--work-dir", "s", cwd=here, XDG_CACHE_HOME=str(here / "c")
    )
    assert done.returncode == 0, done.stderr
    state = folded(here / "s")
    assert {each.source for each in state.evidence.values() if not each.lead} == {"offer.txt"}
    folder = Path(state.task.input_dir) if state.task else here
    assert folder.parent == here.resolve() / ".vera" / "inputs"
    assert vera("replay", "s", cwd=here).returncode == 0
    assert vera("recheck", "s", cwd=here).returncode == 0

    with (here / "offer.txt").open("r+") as edited:  # In place: the run's folder holds a link to the file.
        edited.write("Terms\n\nA written offer must be valid for at least seven years.\n")
    assert vera("recheck", "s", cwd=here).returncode != 0
    assert vera("replay", "s", cwd=here).returncode == 0


def test_a_member_of_an_archive_is_cited_and_a_thesis_is_looked_at(here: Path) -> None:
    done = vera(
        *("verify", "The bridge of Arden is 120 metres long.", "--input", "mail.zip", "--json"),
        cwd=here,
        XDG_CACHE_HOME=str(here / "c"),
    )
    assert done.returncode == 0, done.stderr
    assert "mail.zip!/bridge.txt" in done.stdout


def test_a_batch_gives_the_inputs_to_tasks_that_name_no_folder(here: Path) -> None:
    tasks = [{"thesis": "The bridge of Arden is 120 metres long."}]
    (here / "tasks.jsonl").write_text("".join(json.dumps(each) + "\n" for each in tasks))
    given = ("--input", "offer.txt", "--input", "mail.zip")
    done = vera("batch", "tasks.jsonl", *given, cwd=here, XDG_CACHE_HOME=str(here / "c"))
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_index_is_made_of_several_inputs_and_its_status_is_of_one_folder(here: Path) -> None:
    given = ("index", "--input", "papers", "--input", "offer.txt")
    done = vera(*given, "--json", cwd=here, XDG_CACHE_HOME=str(here / "c"))
    assert (done.returncode, json.loads(done.stdout)["read"]) == (0, 2)
    for words in ((*given, "--status"), (*given, "papers"), ("index",)):
        refused = vera(*words, cwd=here)
        assert refused.returncode == 2 and "vera" in refused.stderr
    assert vera("index", "--input", "papers", "--status", cwd=here).returncode == 3


@pytest.mark.parametrize("command", ["run", "verify"])
def test_input_and_input_dir_together_and_an_address_are_refused(command: str, here: Path) -> None:
    both = vera(command, "Why?", "--input", "offer.txt", "--input-dir", "papers", cwd=here)
    assert both.returncode == 2 and "--input and --input-dir were both given" in both.stderr
    address = vera(command, "Why?", "--input", "https://example.org/a.pdf", cwd=here)
    assert address.returncode == 2 and "--egress public" in address.stderr
    assert not (here / ".vera").exists() and not (here / "work").exists()


def test_a_name_that_is_taken_and_a_link_are_told_in_one_line_each(here: Path) -> None:
    (here / "more").mkdir()
    (here / "more" / "offer.txt").write_text("More.\n")
    (here / "papers" / "li\nnk").symlink_to("/etc/passwd")
    given = ("--input", "offer.txt", "--input", "more/offer.txt", "--input", "papers")
    done = vera("index", *given, cwd=here, XDG_CACHE_HOME=str(here / "c"))
    assert "more/offer.txt is called offer-2.txt here: another input has its name\n" in done.stderr
    assert "not read: papers/li nk: a symbolic link, which is not followed\n" in done.stderr


def test_gc_removes_the_folder_of_inputs_with_the_last_session_that_used_it(here: Path) -> None:
    given = ("--input", "offer.txt", "--input", "papers", *OFFLINE)
    assert vera("run", QUESTION, *given, "--work-dir", "work/s", cwd=here).returncode == 0
    (folder,) = (here / ".vera" / "inputs").iterdir()
    os.utime(folder, (0, 0))
    kept = vera("gc", "--older-than", "30d", "--yes", cwd=here)
    assert kept.returncode == 0 and folder.exists()
    os.utime(folder, (0, 0))
    asked = vera("gc", "--older-than", "0h", cwd=here, stdin="y\nn\n")
    assert "Remove 1 folder of --input that no session here uses?" in asked.stderr and folder.exists()
    assert vera("gc", "--older-than", "0h", "--yes", cwd=here).stdout.endswith(
        "1 folder of --input removed.\n"
    )
    assert not folder.exists() and (here / "offer.txt").read_text() == f"Terms\n\n{OFFER}"
