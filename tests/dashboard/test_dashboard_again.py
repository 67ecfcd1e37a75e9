"""The forms that ask again: what they are filled with, and who followed whom."""

from pathlib import Path

from vera.dashboard import audit_log
from vera.dashboard.again import again_of, around, filled, sentence_of
from vera.dashboard.run_form import StartForm
from vera.dashboard.session_index import Family, Found, SessionIndex
from vera.dashboard.sessions import Sessions
from vera.report.view.model import CardView, ClaimView, RunPage

HEAD, OTHER = "a" * 64, "b" * 64


def test_a_form_is_filled_with_what_a_person_chose_and_not_with_defaults(tmp_path: Path) -> None:
    settings = {
        "run": {"max_steps": 9, "effort": "quick"},
        "model": {"name": "tiny"},
        "budget": {"tokens": 5},
    }
    origins = {"run.max_steps": "person", "model.name": "form"}
    form = filled(StartForm(), "Why?", str(tmp_path / "papers"), settings, origins, tmp_path)
    assert form.task == "Why?"
    assert form.values == {"input_dir": "./papers", "max_steps": "9", "model_name": "tiny"}


def test_a_log_of_a_stranger_fills_in_no_folder_outside_and_nothing_that_is_no_line(tmp_path: Path) -> None:
    settings = {
        "model": {"name": ["x"], "base_url": "http://a\nb"},
        "run": "x",
        "sandbox": {"profile": "x" * 9000},
    }
    origins = dict.fromkeys(("model.name", "model.base_url", "run.effort", "sandbox.profile"), "person")
    for folder in ("/etc", "../up", str(tmp_path / ".." / "up")):
        assert not filled(StartForm(), "", folder, settings, origins, tmp_path).values["input_dir"]
    assert filled(StartForm(), "", "", settings, origins, tmp_path).values == {"input_dir": ""}


def test_the_sentence_of_a_claim_is_its_text_and_of_an_extract_the_lines_that_it_quotes() -> None:
    card = CardView(
        id="", relation="SUPPORTS", evidence="ev_0001", first=1, last=2, source="a.txt", source_id="", at=0.0,
        problem="", maker="", quotation=("The offer is valid", "  for three years."),
    )  # fmt: skip
    claims = (
        ClaimView(key="c1", text="It is valid.", verdict="supported", cards=(card,)),
        ClaimView(key="c2", text="lines 1-2: reads as quoted", verdict="supported", cards=(card,)),
    )
    page = RunPage(offset=1, header=None, timeline=None, claims=claims, answer="It is valid.")  # type: ignore[arg-type] # not looked at
    assert sentence_of(page, "c1") == "It is valid."
    assert sentence_of(page, "c2") == "The offer is valid for three years."
    assert sentence_of(page, "../c1") is None


def test_the_sessions_before_and_after_one_are_found_by_the_hash_of_a_last_record(tmp_path: Path) -> None:
    index = SessionIndex(tmp_path, tmp_path / "index.sqlite")
    index.sync({name: (name.decode(), 1.0) for name in (b"work/one", b"work/two", b"work/three")})
    index.put(Found(name=b"work/one", seen="", header=None, head=HEAD))
    index.put(Found(name=b"work/two", seen="", header=None, parent=HEAD, head=OTHER))
    index.put(Found(name=b"work/three", seen="", header=None, parent=HEAD))
    assert {each.name for each in index.family(HEAD, "").after} == {b"work/two", b"work/three"}
    assert [each.name for each in index.family(OTHER, HEAD).before] == [b"work/one"]
    assert index.family("", "") == Family()
    sessions = Sessions(tmp_path)
    shown = around(index.family(OTHER, HEAD), lambda name: sessions.folder(name.decode()))
    assert [folder.name for folder, _ in shown.before] == ["./work/one"] and not shown.after
    index.close()


def test_a_session_and_those_that_are_it_run_again_are_found_by_the_hash_of_a_first_record(
    tmp_path: Path,
) -> None:
    index = SessionIndex(tmp_path, tmp_path / "index.sqlite")
    index.sync({name: (name.decode(), 1.0) for name in (b"work/one", b"work/two", b"work/three")})
    index.put(Found(name=b"work/one", seen="", header=None, begins=HEAD))
    index.put(Found(name=b"work/two", seen="", header=None, begins=OTHER, again_of=HEAD))
    index.put(Found(name=b"work/three", seen="", header=None, again_of=HEAD))
    assert {each.name for each in index.family("", "", HEAD).again} == {b"work/two", b"work/three"}
    of_two = index.family("", "", OTHER, HEAD)
    assert [each.name for each in of_two.origin] == [b"work/one"]
    assert not (of_two.before or of_two.after or of_two.again)
    index.close()


def test_a_session_names_of_which_one_it_is_run_again_in_the_first_line_of_its_dashboards_log(
    tmp_path: Path,
) -> None:
    audit_log.write(tmp_path, "created", session="./work/two", again_of=HEAD)
    audit_log.write(tmp_path, "started", task="x" * 9000, again_of=OTHER)
    assert again_of(tmp_path) == HEAD


def test_what_is_no_hash_and_no_line_of_a_dashboard_names_no_session(tmp_path: Path) -> None:
    assert again_of(tmp_path) == ""
    for number, line in enumerate(
        (
            f'{{"action": "created", "again_of": "{HEAD}x"}}',
            '{"action": "created", "again_of": ["a"]}',
            '{"action": "created", "again_of": "../../etc/passwd"}',
            "[" * 100_000,
            "x" * 100_000 + f'{{"action": "created", "again_of": "{HEAD}"}}',
            "",
        )
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "session.log").write_text(f"{line}\n")
        assert again_of(folder) == ""
