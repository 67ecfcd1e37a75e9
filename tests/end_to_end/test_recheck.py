"""`vera recheck`: cited lines of files and pages that stay, move, change, vanish or cannot be looked at."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.attacks import vera_here
from support.cli import vera
from support.fake_web import Reply
from support.scripted_server import ScriptedServer
from support.small_web import ENGINE, Answer, html, listing, page, small_web

QUESTION = "For how long is the written offer of Acme valid?"
SENTENCE = "The written offer of Acme is valid for at least three years."
TEXT = f"Offers\n\n{SENTENCE}\n\n\nParcels of any size may be sent by post.\n"
OFFLINE = ("--sandbox", "none", "--egress", "none", "-q")
PAGE = "http://www.acme.test/offer"


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a document `in/offer.txt` and a session `work/a` that cites it."""
    place = tmp_path_factory.mktemp("recheck")
    (place / "in").mkdir()
    (place / "in" / "offer.txt").write_text(TEXT)
    ran = vera_here("run", QUESTION, "--input-dir", "in", "--work-dir", "work/a", *OFFLINE, cwd=place)
    assert ran.code == 0, ran.error
    return place


@pytest.fixture
def place(begun: Path, tmp_path: Path) -> Path:
    shutil.copytree(begun, tmp_path / "p")
    return tmp_path / "p"


def rechecked(place: Path, *options: str, session: str = "work/a") -> tuple[int, list[dict[str, Any]]]:
    done = vera_here("recheck", session, "--json", *options, cwd=place)
    said = json.loads(done.out)
    assert said["exit_code"] == done.code
    return done.code, [each for one in said["sessions"] for each in one["citations"]]


def test_citations_of_a_licence_of_the_examples_are_found_again_when_it_moved_or_changed(
    tmp_path: Path,
) -> None:
    shutil.copytree(Path(__file__).parents[2] / "examples" / "licences", tmp_path / "in")
    question = "For how many years must a written offer to provide source be valid under the GPL version 3?"
    ran = vera_here("run", question, "--input-dir", "in", "--work-dir", "work/a", *OFFLINE, cwd=tmp_path)
    assert ran.code == 0, ran.error
    licence = tmp_path / "in" / "GPL-3.txt"
    before = licence.read_text()
    words = []
    for text in (before, f"A line\n\n{before}", before.replace("at least three years", "at least two years")):
        licence.write_text(text)
        code, citations = rechecked(tmp_path)
        words.append((code, {each["state"] for each in citations if each["source"] == "GPL-3.txt"}))
    assert words == [(0, {"unchanged"}), (0, {"moved"}), (4, {"changed"})]


def write(text: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / "offer.txt").write_text(text)

    return change


def rename(folder: Path) -> None:
    (folder / "offer.txt").rename(folder / "offer-2026.txt")


def remove(folder: Path) -> None:
    (folder / "offer.txt").write_text("Nothing of it.\n")
    rename(folder)


def spoil(folder: Path) -> None:
    (folder / "offer.txt").write_bytes(b"\0\1\2\3" * 99)


CHANGES: dict[str, tuple[Callable[[Path], None], int, str, str]] = {
    "nothing": (lambda folder: None, 0, "unchanged", ""),
    "another line": (write(TEXT.replace("by post", "by mail")), 0, "unchanged", "Other parts"),
    "lines above": (write(f"New\n\n{TEXT}"), 0, "moved", ""),
    "the same words, wrapped": (write(TEXT.replace("is valid", "is\nvalid")), 0, "moved", ""),
    "the file renamed": (rename, 0, "moved", ""),
    "a number": (write(TEXT.replace("three", "two")), 4, "changed", "[-three-] {+two+}"),
    "a not": (write(TEXT.replace("is valid", "is not valid")), 4, "changed", "{+not+}"),
    "a sentence that goes on": (write(TEXT.replace("years.", "years")), 4, "changed", ""),
    "the words gone": (write("Offers\n\nNothing of it.\n"), 4, "changed", ""),
    "the file gone": (remove, 4, "gone", ""),
    "a file that is no text": (spoil, 3, "unchecked", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_of_a_cited_file_has_its_word_and_exit_code(name: str, place: Path) -> None:
    change, code, state, detail = CHANGES[name]
    (place / "in" / "other.txt").write_text("Another document.\n")
    change(place / "in")
    ended, citations = rechecked(place, "--input-dir", str(place / "in"))
    assert [each["state"] for each in citations] == [state], citations
    assert ended == code
    assert detail in citations[0]["detail"]
    if state == "moved":
        now = place / "in" / citations[0]["now_source"]
        lines = now.read_text().split("\n")[citations[0]["now_first"] - 1 : citations[0]["now_last"]]
        assert SENTENCE in " ".join(lines)


FEE = "The fee of Acme for members is 5 euros"


@pytest.mark.parametrize(
    ("line", "state"),
    [
        (FEE.replace("for members", "\nfor members"), "moved"),
        (f"Prices. {FEE}", "unchanged"),
        (f"{FEE} a day and never less", "changed"),
        (f"It is false that {FEE}", "changed"),
    ],
)
def test_words_within_a_longer_statement_are_not_the_cited_ones(
    line: str, state: str, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    fees = tmp_path / "in" / "fees.txt"
    fees.write_text(f"Fees\n\n{FEE}\n\n\nGuests of the house are told at the door.\n")
    vera_here("run", "What is the fee of Acme for members?", "--input-dir", "in", "--work-dir", "work/a",
              *OFFLINE, cwd=tmp_path)  # fmt: skip
    fees.write_text(fees.read_text().replace(FEE, line))
    _, citations = rechecked(tmp_path)
    assert [each["state"] for each in citations] == [state], citations


def test_without_the_option_the_folder_is_the_one_of_the_run(begun: Path) -> None:
    assert rechecked(begun)[0] == 0


def test_all_sessions_below_a_folder_are_looked_at(place: Path) -> None:
    shutil.copytree(place / "work" / "a", place / "work" / "b")
    code, citations = rechecked(place, session="work")
    assert (code, [each["state"] for each in citations]) == (0, ["unchanged"] * 2)


def test_an_altered_session_is_not_looked_at_and_the_others_are(place: Path) -> None:
    shutil.copytree(place / "work" / "a", place / "work" / "altered")
    log = place / "work" / "altered" / "trace.jsonl"
    log.write_bytes(log.read_bytes().replace(b"three years", b"seven years"))
    code, citations = rechecked(place, session="work")
    assert (code, [each["state"] for each in citations]) == (1, ["unchanged"])


def test_a_strangers_session_does_not_choose_which_folder_is_read(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(place / "elsewhere"))  # where another person's key would be
    code, citations = rechecked(place)
    assert (code, citations[0]["state"]) == (3, "unchecked")
    assert "--input-dir" in citations[0]["detail"]
    assert rechecked(place, "--input-dir", "in")[0] == 0


def test_the_text_says_where_the_words_are_now(place: Path) -> None:
    (place / "in" / "offer.txt").write_text(f"New\n\n{TEXT}")
    done = vera_here("recheck", "work/a", "--input-dir", "in", cwd=place)
    assert "moved to lines 5-5: offer.txt line 3" in done.out
    assert done.out.endswith("1 session, 1 cited place: 1 moved. Words compared, meaning not judged.\n")


@pytest.mark.parametrize("wrong", ["nowhere", "in"])
def test_what_holds_no_session_is_a_sentence(wrong: str, place: Path) -> None:
    done = vera_here("recheck", wrong, cwd=place)
    assert done.code == 2
    assert "there is no session" in done.error


def writes(index: int, body: dict[str, Any]) -> str:
    lines = re.findall(r"^(\d+)\| (.*)$", str(body["messages"][-1]["content"]), re.MULTILINE)
    numbers = [int(number) for number, text in lines if SENTENCE in text]
    return json.dumps({"sentences": [{"lines": numbers, "text": SENTENCE}]})


def test_a_cited_page_is_fetched_only_when_asked_and_has_its_word(tmp_path: Path) -> None:
    now: dict[str, Reply] = {PAGE: page("Offers", SENTENCE)}
    web: dict[str, Answer] = {
        f"{ENGINE}/search": listing((PAGE, "Offers", "the written offer")),
        PAGE: lambda query: now[PAGE],
    }
    with small_web(web) as there, ScriptedServer(writes, model="some-model") as server:
        done = vera(
            "run", QUESTION, "--work-dir", "w", "--protocol", "text",
            "--model-base-url", server.root, *there.options, "--sandbox", "none", "--mode", "guided",
            cwd=tmp_path, **there.environment,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr

        def again(*options: str) -> tuple[int, str]:
            ended = vera("recheck", "w", "--json", *options, cwd=tmp_path, **there.environment)
            return ended.returncode, json.loads(ended.stdout)["sessions"][0]["citations"][0]["state"]

        assert again() == (3, "unchecked")
        fetch = ("--fetch", *there.options)
        assert again(*fetch) == (0, "unchanged")
        now[PAGE] = page("Offers", SENTENCE.replace("three", "two"))
        assert again(*fetch) == (4, "changed")
        now[PAGE] = html("<title>Offers</title>", f"<h1>Offers</h1><p><del>{SENTENCE}</del></p>")
        assert again(*fetch) == (4, "changed")
        now[PAGE] = page("Gone", status=404)
        assert again(*fetch) == (4, "gone")
        now[PAGE] = page("Error", status=503)
        assert again(*fetch) == (3, "unchecked")
