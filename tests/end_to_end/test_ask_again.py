"""Following a finished session, and running it again: from Python, on the command line and in the dashboard,
each new session replayed without the one before."""

import asyncio
import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser
from starlette.testclient import TestClient

import vera
from support.cli import vera as command
from support.dashboard_runs import SECONDS, runs_in, said, until_state, use_plain_machine
from support.dashboards import app_of
from support.markup import visible_text
from support.scripted_server import ScriptedServer
from support.turns import as_reply, final, turn
from vera.dashboard.sessions import SessionFolder, Sessions

LICENCES = Path(__file__).parents[2] / "examples" / "licences"
QUESTION = "For how long must a written offer for source code be valid under GPL version 3?"
TRUE = "The written offer is valid for at least three years."
FALSE = "The written offer is valid for at least five years."
BUILT_IN = ["model.base_url=builtin"]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base folder with the licences, and a session about them that has ended."""
    base = tmp_path_factory.mktemp("again")
    shutil.copytree(LICENCES, base / "licences")
    done = vera.research(
        QUESTION, input_dir=base / "licences", work_dir=base / "work" / "first", overrides=BUILT_IN
    )
    assert done.status == "QUOTED"
    return base


def holds(session: Path, moved_to: Path) -> bool:
    """Whether a session replays, copied away from the one before."""
    shutil.copytree(session, moved_to)
    return all(level.verdict == "AGREES" for level in vera.replay(moved_to).levels)


def test_from_python_a_question_and_a_thesis_follow_a_session(base: Path, tmp_path: Path) -> None:
    first = base / "work" / "first"
    more = vera.research(
        "And for spare parts?", parent=first, work_dir=tmp_path / "more", base_dir=base, overrides=BUILT_IN
    )
    assert (more.status, {each.source for each in more.citations}) == ("QUOTED", {"GPL-3.txt"})
    assert more.parent is not None and (more.parent.question, more.parent.status) == (QUESTION, "QUOTED")
    assert more.input_dir == "" and holds(more.session, tmp_path / "one")
    checked = vera.verify(FALSE, parent=more.session, work_dir=tmp_path / "checked", overrides=BUILT_IN)
    assert (checked.word, checked.exit_code, checked.reused) == ("REFUTED", 4, False)
    assert checked.request.scope == ("kb",) and holds(checked.session, tmp_path / "two")
    # The verdict rests on the session before: it is not the standing one on this thesis.
    with pytest.raises(vera.SetupError, match="Nothing can be looked at"):
        vera.verify(FALSE, scope="kb", base_dir=tmp_path / "empty", overrides=BUILT_IN)


def test_from_python_no_word_is_given_after_a_session_that_does_not_hold(base: Path, tmp_path: Path) -> None:
    altered = shutil.copytree(base / "work" / "first", tmp_path / "altered")
    (altered / "answer.md").write_text("Five years.\n")
    accepted: dict[str, Any] = {"parent": altered, "trust_session": True, "overrides": BUILT_IN}
    more = vera.research("And for spare parts?", work_dir=tmp_path / "more", **accepted)
    assert (more.status, more.exit_code) == ("UNTRUSTED", 3)
    checked = vera.verify(TRUE, work_dir=tmp_path / "checked", **accepted)
    assert (checked.result, checked.word, checked.exit_code) == ("SUPPORTED", "UNTRUSTED", 3)


def test_on_the_command_line_a_question_and_a_thesis_follow_a_session(base: Path, tmp_path: Path) -> None:
    ask = ("ask", "--session", "work/first", "-c", "model.base_url=builtin")
    done = command(*ask, "And for spare parts?", "--work-dir", "work/more", "--json", cwd=base)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["status"] == "QUOTED" and told["parent"]["name"] == "work/first"
    shown = command("show", "work/more", cwd=base)
    assert f"Follows: “{QUESTION}” (work/first, sealed by key " in shown.stdout
    report = command("report", "work/more", "-o", str(tmp_path / "report.html"), cwd=base)
    assert (
        report.returncode == 0
        and f'Follows: <span dir="auto">{QUESTION}' in (tmp_path / "report.html").read_text()
    )
    replayed = command("replay", "work/more", cwd=base)
    assert (
        replayed.returncode == 0 and "goes on from a session that was sealed by your key" in replayed.stdout
    )
    done = command(*ask, "--thesis", FALSE, "--work-dir", "work/five", cwd=base)
    assert done.returncode == 4 and "sources that carry over: 1" in done.stderr
    assert holds(base / "work" / "five", tmp_path / "five")


def test_a_refused_session_and_a_thesis_beside_a_question_are_said_in_a_sentence(base: Path) -> None:
    shutil.copytree(base / "work" / "first", base / "work" / "altered")
    (base / "work" / "altered" / "answer.md").write_text("Five years.")
    done = command("ask", "--session", "work/altered", "Why?", "-c", "model.base_url=builtin", cwd=base)
    assert done.returncode == 2 and "found ALTERED" in done.stderr and "--trust-session" in done.stderr
    done = command("ask", "--session", "work/first", "Why?", "--thesis", FALSE, cwd=base)
    assert done.returncode == 2 and "choose one" in done.stderr


def test_a_model_is_told_the_question_before_as_data_and_reads_what_carried_over(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_plain_machine(monkeypatch)
    turns = [
        turn("read", path="/input/GPL-3.txt", first=257, last=267, thought="It carried over."),
        final("A written offer must be valid for at least three years [ev_0002:257-262]."),
    ]
    with ScriptedServer([as_reply(each, "text") for each in turns], exhausted="repeat") as server:
        done = vera.research(
            "Does that hold for spare parts, too, when they are offered for longer?",
            parent=base / "work" / "first",
            work_dir=tmp_path / "asked",
            overrides=[
                f"model.base_url={server.base_url}",
                f"model.name={server.model}",
                "model.protocol=text",
                "verification.rule=literal",
                "egress.mode=none",
                "sandbox.backend=none",
                "run.mode=agent",
            ],
        )
        told = str(server.requests[0].body["messages"])
    assert "THE QUESTION BEFORE" in told and f"question| {QUESTION}" in told and "- GPL-3.txt" in told
    assert {(each.source, each.first) for each in done.citations} == {("GPL-3.txt", 257)}
    assert holds(done.session, tmp_path / "copy")


def test_in_the_dashboard_a_question_a_thesis_and_the_same_question_again(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_plain_machine(monkeypatch)
    monkeypatch.setenv("MODEL_BASE_URL", "builtin")

    async def start() -> list[tuple[SessionFolder, int | None]]:
        runs = runs_in(base)
        first = Sessions(base).by_work_dir("./work/first")
        again = {"task": QUESTION, "input_dir": "./licences", "max_steps": "9"}
        started = [
            await runs.follow(first, {"task": "And for spare parts?"}),
            await runs.follow(first, {"task": FALSE, "kind": "thesis"}),
            await runs.draft(again, ()),
        ]
        await runs.start(started[-1], again)
        for session in started:
            assert await until_state(runs, session, "ended", "failed") == "ended", said(session)
        return [(session, runs.status(session).exit_code) for session in started]

    done = asyncio.run(start())
    assert [code for _, code in done] == [0, 4, 0]
    for number, (session, _) in enumerate(done):
        assert holds(session.path, tmp_path / str(number))


def form_at(client: TestClient, page: str, action: str) -> dict[str, str]:
    """The fields of a page's form that goes to an address, as they are filled in."""
    form = LexborHTMLParser(client.get(page).text).css_first(f'form[action="{action}"]')
    fields = {
        node.attributes["name"] or "": node.attributes.get("value") or ""
        for node in form.css("input[name]:not([type=file]):not([type=radio]), input[checked]")
    }
    chosen = {
        node.attributes["name"] or "": (node.css_first("option[selected]") or node.css_first("option[value]"))
        for node in form.css("select")
    }
    texts = {node.attributes["name"] or "": node.text() for node in form.css("textarea")}
    return {
        **fields,
        **{name: "" if "value" in each.attributes else each.text() for name, each in chosen.items()},
        **texts,
    }


def sent(client: TestClient, action: str, fields: dict[str, str]) -> str:
    """Send a form; the page of the session that it started, once its run has ended well."""
    answer = client.post(action, data=fields, follow_redirects=False)
    assert answer.status_code == 303, visible_text(answer.text)
    page, deadline = answer.headers["location"], time.monotonic() + SECONDS
    while "Ended with exit code 0." not in (text := visible_text(client.get(page).text)):
        assert time.monotonic() < deadline and "could not start" not in text, text[:2000]
        time.sleep(0.1)
    return page


def linked(client: TestClient, page: str, title: str) -> set[str]:
    """Where the links below a heading of the part "Ask again" lead. What is new is known after a moment."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        part = LexborHTMLParser(client.get(page).text).css_first("section#ask")
        headings = [node for node in part.css("h3") if node.text().strip() == title]
        if headings and (found := headings[0].next) is not None:
            listed = found if found.tag == "ul" else found.next
            assert listed is not None
            return {link.attributes["href"] or "" for link in listed.css("a")}
        time.sleep(0.1)
    raise AssertionError(f"{page} has no links below {title!r}")


def test_through_the_page_a_question_follows_and_the_same_is_asked_with_other_settings(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the forms as a browser sends them."""
    use_plain_machine(monkeypatch)
    monkeypatch.setenv("MODEL_BASE_URL", "builtin")
    first = "/s/work~2Ffirst"
    with app_of(base) as client:
        client.headers["accept"] = "text/html"
        client.get("/", params={"token": "t" * 40})
        del client.headers["authorization"]
        asked = form_at(client, first, f"{first}/ask")
        more = sent(client, f"{first}/ask", {**asked, "task": "And for spare parts?"})
        assert linked(client, more, "Follows") >= {first}
        assert linked(client, first, "Followed by") >= {more}
        again = form_at(client, f"{first}/again", "/start")
        assert (again["task"], again["kind"], again["input_dir"]) == (QUESTION, "question", "./licences")
        assert again["model_base_url"] == "builtin"
        changed = sent(client, "/start", {**again, "max_steps": "9", "effort": "quick"})
        third = form_at(client, f"{changed}/again", "/start")
        assert {**third, "form_token": ""} == {
            **again,
            "max_steps": "9",
            "effort": "quick",
            "form_token": "",
            "again_of": third["again_of"],
        }
        assert third["again_of"] != again["again_of"]
        assert linked(client, changed, "Asked before in") >= {first}
        assert linked(client, first, "Asked again in") >= {changed}
        compare = f"/compare?s=work~2Ffirst&s={changed.removeprefix('/s/')}"
        for page in (first, changed):
            links = LexborHTMLParser(client.get(page).text).css("section#ask a")
            assert compare in {link.attributes["href"] for link in links}
        told = LexborHTMLParser(client.get(changed).text).css_first("#status .parent")
        address = told.css_first("a").attributes["href"]
        assert address in {first, "/s/work~2Faltered"}  # of which another test makes a copy
        assert f'Asked before in <a href="{address}">' in client.get(f"{changed}/parts/header").text
        assert "again_of" not in form_at(client, "/start", "/start")
        compared = client.get("/compare", params={"s": ["work~2Ffirst", changed.removeprefix("/s/")]}).text
        assert "run.max_steps" in compared and "run.effort" in compared
    for number, page in enumerate((more, changed)):
        session = base / page.removeprefix("/s/").replace("~2F", "/")
        assert holds(session, tmp_path / str(number))
