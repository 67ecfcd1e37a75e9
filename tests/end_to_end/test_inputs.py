"""`--input` from the command line: runs over several inputs, and what later commands make of them."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from support.cli import folded, vera
from support.containers import zipped
from support.site import serving
from vera import events

OFFER = "A written offer must be valid for at least three years.\n"
QUESTION = "How long must a written offer be valid?"
OFFLINE = ("--egress", "none", "--sandbox", "none")


def reaching(site: str) -> tuple[str, ...]:
    """Options that open the network to this site of loopback alone."""
    allowed = ("egress.mode=allowlist", f"egress.allow={site[7:]}", "egress.allow_cidrs=127.0.0.0/8")
    return tuple(word for each in allowed for word in ("-c", each))


def blob(session: Path, named: events.Blob | None) -> bytes:
    assert named is not None
    return (session / "store" / named.sha256[:2] / named.sha256).read_bytes()


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
def test_input_and_input_dir_together_and_odd_inputs_are_refused(command: str, here: Path) -> None:
    both = vera(command, "Why?", "--input", "offer.txt", "--input-dir", "papers", cwd=here)
    assert both.returncode == 2 and "--input and --input-dir were both given" in both.stderr
    for odd, said in (
        ("ftp://example.org/a.pdf", "only http and https are fetched"),
        ("", "An --input is empty"),
        ("a\nb", "has a line break"),
    ):
        refused = vera(command, "Why?", "--input", odd, cwd=here)
        assert (refused.returncode, said in refused.stderr) == (2, True)
    assert not (here / ".vera").exists() and not (here / "work").exists()


def test_a_page_is_fetched_once_cited_with_its_receipt_and_replayed_without_its_server(here: Path) -> None:
    page = f"<html><title>Terms</title><body><h1>Terms</h1><p>{OFFER}</p></body></html>".encode()
    with serving({"/terms": page}) as site:
        url, given = f"{site}/terms", ("--input", f"{site}/terms", *reaching(site))
        run = vera(
            "run", QUESTION, *given, "--input", "papers", "--sandbox", "none", "--work-dir", "s", cwd=here
        )
        asked = vera("ask", "--session", "s", "How long is it valid?", *given, "--work-dir", "a", cwd=here)
        verified = vera("verify", OFFER, *given, "--json", "--work-dir", "v", cwd=here)
        indexed = vera("index", *given, "--json", cwd=here)
        tasks = [{"task": QUESTION, "inputs": [url, "papers"]}, {"thesis": OFFER}]
        (here / "tasks.jsonl").write_text("".join(json.dumps(each) + "\n" for each in tasks))
        batch = vera("batch", "tasks.jsonl", *given, "--base-dir", "b", cwd=here)
        again = vera("recheck", "s", "--fetch", *reaching(site), cwd=here)
    assert run.returncode == 0, run.stderr
    host = site.removeprefix("http://").replace(":", "_")
    assert f"web/{host}/terms.html, lines" in run.stdout and f"(from {url}, captured" in run.stdout
    (read,) = [each for each in folded(here / "s").evidence.values() if not each.lead]
    assert read.raw is not None and read.raw.sha256 == hashlib.sha256(page).hexdigest()
    opened = json.loads(blob(here / "s", read.opened))
    receipt = opened["retrieval"]
    assert (receipt["url"], receipt["status"], receipt["media_type"]) == (url, 200, "text/html")
    assert (receipt["address"], receipt["sha256"]) == ("127.0.0.1", read.raw.sha256)
    assert receipt["started"] <= read.captured_ts
    for done in (asked, verified, indexed, batch, again):
        assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(indexed.stdout)["documents"] == 1
    assert json.loads(verified.stdout)["result"] == "SUPPORTED"
    for session in ("s", "a", "v", *sorted(str(each.parent) for each in here.glob("b/runs/*/1/trace.jsonl"))):
        assert vera("replay", session, cwd=here).returncode == 0
    archive = vera("export", "s", "--warc", "pages.warc", cwd=here)
    assert archive.returncode == 0 and page in (here / "pages.warc").read_bytes()


@pytest.mark.parametrize("command", ["run", "verify", "index", "batch"])
def test_nothing_is_fetched_without_a_network_and_a_page_that_is_not_there_is_one_sentence(
    command: str, here: Path
) -> None:
    (here / "tasks.jsonl").write_text('{"task": "Why?"}\n')
    first = {"run": ("Why?",), "verify": ("It is.",), "index": (), "batch": ("tasks.jsonl",)}[command]
    with serving({}) as site:
        closed = vera(command, *first, "--input", f"{site}/a", "-c", "egress.mode=none", cwd=here)
        gone = vera(command, *first, "--input", f"{site}/a", *reaching(site), cwd=here)
    sentence = "is not fetched: the network is closed for this run; open it with --egress public, or"
    assert closed.returncode == 2 and f"vera: {site}/a {sentence}" in closed.stderr
    assert gone.returncode == 2
    assert gone.stderr.endswith(f"vera: {site}/a is not read: the server answered HTTP 404.\n")
    assert not (here / "work").exists()


def test_a_task_names_inputs_that_the_person_allows(here: Path) -> None:
    def lines(*tasks: object) -> tuple[int, str]:
        (here / "tasks").mkdir(exist_ok=True)
        (here / "tasks" / "t.jsonl").write_text("".join(json.dumps(each) + "\n" for each in tasks))
        done = vera("batch", "tasks/t.jsonl", cwd=here)
        return done.returncode, done.stderr + done.stdout

    code, said = lines({"task": QUESTION, "inputs": ["offer.txt"]})
    assert code == 1 and "run.inputs: offer.txt reads files that were not opened for it" in said
    assert "allow the folder that they are in: --allow-input DIR" in said
    for wrong, sentence in (
        ({"inputs": "offer.txt"}, '"inputs" must be a list of texts'),
        ({"inputs": ["nowhere.txt"]}, '"inputs" names what does not exist: nowhere.txt'),
        ({"inputs": ["offer.txt"], "input_dir": "papers"}, "name the folder as one of the inputs"),
        ({"settings": {"run.inputs": "offer.txt"}}, 'write them as the member "inputs"'),
    ):
        code, said = lines({"task": QUESTION, **wrong})
        assert (code, sentence in said) == (2, True), said


def test_with_a_cluster_pages_that_are_fetched_to_this_machine_are_refused(here: Path) -> None:
    (here / "tasks.jsonl").write_text('{"task": "Why?"}\n')
    engine = ("--engine", "postgresql://nobody@127.0.0.1:1/none")
    done = vera("batch", "tasks.jsonl", "--input", "https://pages.example/offer.html", *engine, cwd=here)
    assert (done.returncode, "with --engine others run the tasks" in done.stderr) == (2, True)


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
