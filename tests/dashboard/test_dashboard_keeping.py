"""The forms by which a person keeps order: reviews of claims, tags, and removing sessions."""

import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import pytest
from click.testing import CliRunner
from selectolax.lexbor import LexborHTMLParser
from starlette.testclient import TestClient

from support.dashboards import Grown, app_of
from support.markup import problems, visible_text
from support.run_pages import HOSTILE
from support.verified import verified
from vera.attestation.bundle import README
from vera.attestation.keys import load_or_create
from vera.attestation.reviews import FILE, MAX_NOTE
from vera.cli.report import report
from vera.dashboard import removal, run_process
from vera.dashboard.keeping import MAX_REMOVED
from vera.dashboard.removal import OURS, NotRemoved, remove
from vera.dashboard.sessions import NoSession, Sessions, encode_id
from vera.dashboard.uploads import keep, taken
from vera.events import Output
from vera.session.tags import MAX_TAG, MAX_TAGS, TagError, read_tags, tags_in, write_tags

ONE = "/s/work~2Fone"
X_VERA = {"x-vera": "1"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("kept") / "one"
    verified(root, load_or_create())
    return root


@pytest.fixture
def base(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "base" / "work" / "one")
    return tmp_path / "base"


@pytest.fixture
def client(base: Path) -> Iterator[TestClient]:
    with app_of(base) as client:
        yield client


@pytest.fixture
def browser(client: TestClient) -> TestClient:
    """A client that is logged in with a cookie and has no header of a program."""
    del client.headers["authorization"]
    client.headers["accept"] = "text/html"
    assert client.get("/", params={"token": "t" * 40}).status_code == 200
    return client


def form_of(html: str, action: str) -> dict[str, str]:
    """The fields of the first form that goes to the address."""
    form = LexborHTMLParser(html).css_first(f'form[action="{action}"]')
    return {
        node.attributes["name"] or "": node.attributes.get("value") or "" for node in form.css("input[name]")
    }


def said(client: TestClient, **fields: str) -> httpx.Response:
    return client.post(f"{ONE}/review", data=fields, headers=X_VERA)


def test_a_review_by_the_form_is_signed_shown_and_changes_no_verdict(browser: TestClient, base: Path) -> None:
    before = browser.get(ONE).text
    fields = form_of(before, f"{ONE}/review")
    assert fields["claim"] == "c1" and len(fields["form_token"]) == 81
    answer = browser.post(
        f"{ONE}/review", data={**fields, "label": "disagree", "note": "Too long."}, follow_redirects=False
    )
    assert (answer.status_code, answer.headers["location"]) == (303, f"{ONE}#claim-1")
    html = browser.get(ONE).text
    (shown,) = LexborHTMLParser(html).css(".review")
    assert re.search(
        r"Disagree signed by your key · .* UTC Too long\.", " ".join(shown.text(separator=" ").split())
    )
    assert "1 review: 1 counts." in visible_text(html)
    verdicts = [node.text() for node in LexborHTMLParser(html).css(".status .verdict, .claim .verdict-word")]
    assert verdicts == [
        node.text() for node in LexborHTMLParser(before).css(".status .verdict, .claim .verdict-word")
    ]
    assert problems(html, scripts=1) == []
    assert "Too long." in visible_text(browser.get(f"{ONE}/claim/c1").text)
    assert "Too long." in visible_text(browser.get(f"{ONE}/share/report.html").text)


def test_each_claim_has_its_form_and_another_login_another_token(browser: TestClient, base: Path) -> None:
    html = browser.get(ONE).text
    forms = LexborHTMLParser(html).css(f'form[action="{ONE}/review"]')
    claims = [form.css_first("[name=claim]").attributes["value"] for form in forms]
    assert claims == ["c1", "c2", "c3"]
    first = form_of(html, f"{ONE}/review")["form_token"]
    browser.cookies.clear()
    browser.get("/", params={"token": "t" * 40})
    again = browser.get(ONE).text
    assert form_of(again, f"{ONE}/review")["form_token"] != first and first not in again


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"claim": "c1", "label": "perhaps"}, 400),
        ({"claim": "c1"}, 400),
        ({"claim": "c9", "label": "agree"}, 404),
        ({"claim": "", "label": "agree"}, 404),
        ({"claim": "c1", "label": "agree", "note": "x" * (MAX_NOTE + 1)}, 409),
    ],
)
def test_what_is_no_review_is_refused_and_written_nowhere(
    fields: dict[str, str], status: int, client: TestClient, base: Path
) -> None:
    assert said(client, **fields).status_code == status
    assert not (base / "work" / "one" / FILE).exists()


def test_a_session_that_goes_on_or_was_altered_is_not_reviewed(client: TestClient, base: Path) -> None:
    log = base / "work" / "one" / "trace.jsonl"
    log.write_bytes(log.read_bytes().replace(b"Elbe", b"Oder", 1))
    assert said(client, claim="c1", label="agree").status_code == 409
    Grown(base / "work" / "open").log.close()
    assert (
        client.post("/s/work~2Fopen/review", data={"claim": "c1", "label": "agree"}, headers=X_VERA)
    ).status_code == 409
    assert not LexborHTMLParser(client.get("/s/work~2Fopen").text).css(".review-form")


@pytest.mark.parametrize("note", HOSTILE[:9], ids=range(9))
def test_no_note_becomes_markup(note: str, client: TestClient, base: Path) -> None:
    sent = note.encode("utf-8", "replace").decode()
    assert said(client, claim="c1", label="unsure", note=sent).status_code == 204
    for address in (ONE, f"{ONE}/claim/c1", f"{ONE}/share/report.html"):
        html = client.get(address).text
        assert problems(html) == [], address
        assert "<script>alert" not in html and "<img src=x" not in html and "<svg onload" not in html
        assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\x00\x07\x1b\ud800]", html)


def test_an_altered_review_is_told_and_its_words_are_not_shown(client: TestClient, base: Path) -> None:
    said(client, claim="c1", label="agree", note="Genuine.")
    file = base / "work" / "one" / FILE
    file.write_bytes(file.read_bytes().replace(b"Genuine.", b"Invented"))
    html = client.get(ONE).text
    assert "Invented" not in html and not LexborHTMLParser(html).css(".review")
    assert "Line 1 of reviews.jsonl is altered and does not count" in visible_text(html)


def test_tags_are_kept_found_and_taken_away(browser: TestClient, base: Path) -> None:
    Grown(base / "work" / "two").end()
    fields = form_of(browser.get(ONE).text, f"{ONE}/tags")
    given = " Rivers,  to  check , rivers,,\u202eevil"
    answer = browser.post(f"{ONE}/tags", data={**fields, "tags": given}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{ONE}#tags")
    assert read_tags(base / "work" / "one") == ("Rivers", "to check", "evil")
    browser.get("/")
    html = browser.get("/", params={"tag": "to check"}).text
    assert problems(html) == []
    rows = LexborHTMLParser(html).css(".sessions tbody tr")
    assert len(rows) == 1 and [tag.text() for tag in rows[0].css(".tag")] == ["Rivers", "to check", "evil"]
    chips = LexborHTMLParser(html).css('[aria-label="By tag"] a')
    assert [" ".join(chip.text().split()) for chip in chips] == [
        "all tags",
        "Rivers 1",
        "evil 1",
        "to check 1",
    ]
    assert len(LexborHTMLParser(browser.get("/", params={"q": "RIVERS check"}).text).css("tbody tr")) == 1
    assert "No session matches" in browser.get("/", params={"tag": "check"}).text
    browser.post(f"{ONE}/tags", data={**fields, "tags": ""})
    assert not (base / "work" / "one" / "tags.json").exists()
    browser.get("/")
    assert not LexborHTMLParser(browser.get("/").text).css('[aria-label="By tag"]')


@pytest.mark.parametrize(
    "text",
    [b"[]", b"{", b'{"tags":"a"}', b'{"tags":[1]}', b'{"tags":["' + b"x" * 20_000 + b'"]}', b"\xff"],
)
def test_a_file_of_tags_that_vera_does_not_write_has_none(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "tags.json").write_bytes(text)
    assert read_tags(tmp_path) == ()


def test_tags_are_bounded_and_never_written_through_a_link(tmp_path: Path) -> None:
    with pytest.raises(TagError, match=f"{MAX_TAGS} is the most"):
        tags_in(",".join(map(str, range(MAX_TAGS + 1))))
    with pytest.raises(TagError, match=f"more than {MAX_TAG} characters"):
        tags_in("x" * (MAX_TAG + 1))
    (tmp_path / "elsewhere").write_text("kept")
    (tmp_path / "tags.json").symlink_to(tmp_path / "elsewhere")
    assert read_tags(tmp_path) == ()
    write_tags(tmp_path, ("one",))
    assert (tmp_path / "elsewhere").read_text() == "kept" and read_tags(tmp_path) == ("one",)


def test_removing_asks_first_and_removes_what_was_named(browser: TestClient, base: Path) -> None:
    Grown(base / "work" / "two").end()
    Grown(base / "work" / "three").end()
    html = browser.get("/remove?s=work~2Fone&s=work~2Ftwo").text
    assert "Remove 2 sessions?" in visible_text(html) and problems(html) == []
    assert sorted(each.name for each in (base / "work").iterdir()) == ["one", "three", "two"]
    answer = browser.post("/remove", data=form_of(html, "/remove"), follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert [each.name for each in (base / "work").iterdir()] == ["three"]
    assert browser.get(ONE).status_code == 404


def test_a_form_that_names_none_too_many_or_one_twice_removes_nothing(client: TestClient, base: Path) -> None:
    many = ",".join(f"work~2F{number}" for number in range(MAX_REMOVED + 1))
    for sessions in ("", ",", "work~2Fone,work~2Fone", many, "work~2Fone,nowhere", "x" * 50_000):
        answer = client.post("/remove", data={"sessions": sessions}, headers=X_VERA)
        assert answer.status_code in (400, 404), sessions[:40]
    assert (base / "work" / "one" / "trace.jsonl").is_file()


def test_a_session_in_use_stays(client: TestClient, base: Path) -> None:
    grown = Grown(base / "work" / "live")
    live = {"sessions": "work~2Flive"}
    answer = client.post("/remove", data=live, headers=X_VERA)
    assert answer.status_code == 409 and "is in use" in answer.text
    grown.end()
    with os.fdopen(run_process.claim(grown.path.parent), "wb") as file:
        run_process.write(file.fileno(), run_process.identity(os.getpid()))
    assert client.post("/remove", data=live, headers=X_VERA).status_code == 409
    (grown.path.parent / "run.pid").unlink()
    with (grown.path.parent / "session.log").open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert client.post("/remove", data=live, headers=X_VERA).status_code == 409
    assert client.post("/remove", data=live, headers=X_VERA).status_code == 204


ESCAPES = [
    "..",
    "work~2F~2E~2E~2F~2E~2E~2Fsecret",
    "~2E~2E~2Fsecret",
    "~2Fetc",
    "work~2Flink",
    "link~2Fsecret",
    "~2E",
    "work",
    "work~2Fone~2Fstore",
    "work~2Fone~2Fworkspace~2Fnested",
]


@pytest.mark.parametrize("session_id", ESCAPES)
def test_nothing_but_a_session_below_the_base_is_removed(
    session_id: str, client: TestClient, base: Path
) -> None:
    secret = base.parent / "secret"
    Grown(secret).end()
    (base / "work" / "link").symlink_to(secret)
    (base / "link").symlink_to(base.parent)
    Grown(base / "work" / "one" / "workspace" / "nested").end()
    if session_id == "~2E":
        Grown(base).end()
    before = sorted(str(each) for each in base.parent.rglob("*"))
    answer = client.post("/remove", data={"sessions": session_id}, headers=X_VERA)
    assert answer.status_code in (400, 404, 409)
    assert sorted(str(each) for each in base.parent.rglob("*")) == before


def test_a_link_within_a_session_is_removed_and_not_followed(base: Path) -> None:
    (base.parent / "papers").mkdir()
    (base.parent / "papers" / "mine.txt").write_text("kept")
    (base / "work" / "one" / "workspace" / "papers").symlink_to(base.parent / "papers")
    sessions = Sessions(base)
    remove(sessions, sessions.by_id("work~2Fone"))
    assert not list((base / "work").iterdir())
    assert (base.parent / "papers" / "mine.txt").read_text() == "kept"


def test_a_folder_with_files_of_a_person_stays_whole(base: Path) -> None:
    (base / "work" / "one" / "thesis.docx").write_text("mine")
    sessions = Sessions(base)
    with pytest.raises(NotRemoved, match=r"what VERA did not write: 'thesis\.docx'"):
        remove(sessions, sessions.by_id("work~2Fone"))
    assert (base / "work" / "one" / "store").is_dir()


PAPERS = ("input/elbe.txt", "output/mine.txt", "report.md", "report.html", "README.txt", "input", "output")


@pytest.mark.parametrize("place", PAPERS)
def test_a_file_of_a_person_under_a_name_of_vera_stays(place: str, base: Path) -> None:
    one = base / "work" / "one"
    (one / place).parent.mkdir(exist_ok=True)
    (one / place).write_text("my only copy")
    sessions = Sessions(base)
    with pytest.raises(NotRemoved, match=re.escape(f"did not write: '{place}'")):
        remove(sessions, sessions.by_id("work~2Fone"))
    assert (one / place).read_text() == "my only copy" and (one / "store").is_dir()


@pytest.mark.parametrize("place", ["output/two", "workspace/two", "theses/two"])
def test_a_session_within_a_session_stays(place: str, base: Path) -> None:
    Grown(base / "work" / "one" / place).end()
    sessions = Sessions(base)
    with pytest.raises(NotRemoved, match=re.escape(f"'{place}/trace.jsonl'")):
        remove(sessions, sessions.by_id("work~2Fone"))
    assert (base / "work" / "one" / place / "trace.jsonl").is_file()


def test_a_file_that_was_kept_and_then_changed_by_a_person_stays(base: Path) -> None:
    one, sessions = base / "work" / "one", Sessions(base)
    keep(one, taken([("elbe.txt", b"The Elbe is long.")]))
    (one / "input" / "elbe.txt").write_text("The Elbe is long. So I measured.")
    with pytest.raises(NotRemoved, match=re.escape("'input/elbe.txt'")):
        remove(sessions, sessions.by_id("work~2Fone"))


def test_what_vera_wrote_under_such_names_is_removed(base: Path) -> None:
    one, sessions = base / "work" / "one", Sessions(base)
    keep(one, taken([("elbe.txt", b"The Elbe is long.")]))
    for option in ("--html", "--markdown"):
        assert CliRunner().invoke(report, [str(one), option]).exit_code == 0
    (one / "README.txt").write_text(README)
    (one / "output").mkdir()
    (one / "output" / "table.csv").write_bytes(b"a,b")
    digest = hashlib.sha256(b"a,b").hexdigest()
    with (one / "trace.jsonl").open("ab") as log:
        log.write(msgspec.json.encode(Output(path="table.csv", sha256=digest, size=3)) + b"\n")
    Grown(one / "theses" / "0001").end()
    remove(sessions, sessions.by_id("work~2Fone"))
    assert not one.exists()


def test_a_folder_that_is_swapped_for_a_link_meanwhile_is_not_followed(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is looked at, and before it is renamed somebody puts a link in its place."""
    papers = base.parent / "papers"
    Grown(papers).end()
    sessions = Sessions(base)
    one = sessions.by_id("work~2Fone")
    looked = removal._insist_on_rest

    def swap(*arguments: object) -> None:
        looked(*arguments)  # type: ignore[arg-type] # whatever it was given
        one.path.rename(base / "work" / "moved")
        one.path.symlink_to(papers)

    monkeypatch.setattr(removal, "_insist_on_rest", swap)
    with pytest.raises(NotRemoved, match="replaced by something else"):
        remove(sessions, one)
    assert (papers / "trace.jsonl").is_file() and one.path.is_symlink()


def test_what_a_run_writes_is_known_so_that_it_can_be_removed(made: Path) -> None:
    assert {each.name for each in made.iterdir()} <= OURS


def test_a_session_that_is_not_there_is_not_removed(base: Path) -> None:
    sessions = Sessions(base)
    with pytest.raises((NotRemoved, NoSession)):
        remove(sessions, sessions.folder("work/none"))
    (base / "work" / "empty").mkdir()
    with pytest.raises(NotRemoved, match="There is no session"):
        remove(sessions, sessions.by_id(encode_id(b"work/empty")))
