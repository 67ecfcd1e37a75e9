"""The dashboard's pages: each is valid, harmless, usable without a script, and says where a run stands."""

import gzip
import re
from pathlib import Path

import msgspec
import pytest
from selectolax.lexbor import LexborHTMLParser

from support.markup import problems, visible_text
from support.run_pages import CLAIMS, DISPUTED, EMPTY, EXAMPLES, FINISHED, HOSTILE, RUNNING, sha, with_text
from vera.dashboard import pages
from vera.dashboard.again import Around
from vera.dashboard.overview import SessionList, SessionRow
from vera.dashboard.query_params import Asked
from vera.dashboard.removal import Held
from vera.dashboard.run_form import CHOICES, StartForm
from vera.dashboard.run_status import RunStatus
from vera.dashboard.runs import Replayed
from vera.dashboard.session_index import BatchCount, Relative, Wanted
from vera.dashboard.sessions import SessionFolder
from vera.report.html.shown import empty_parts
from vera.report.view.changes import PARTS
from vera.report.view.model import ParentView, RunPage

STATIC = Path(pages.__file__).parent / "static"
ASKED = Asked(nonce="abc", static="/static/1", form_token="formtoken")
SESSION = SessionFolder(id="work~2Frivers", name="./work/rivers", path=Path("nowhere/work/rivers"))
FORM = StartForm(
    task="What is the length?",
    values={"max_steps": "40", "profile": "sealed"},
    input_folders=("./rivers",),
    key_sentence="Your key goes to http://127.0.0.1:1234/v1 only.",
)
LOCKED = StartForm(locked=True, reason="A run starts once in a session. Running.")
RUNS = {
    "empty": RunStatus(can_start=True),
    "running": RunStatus(state="running", words="Running.", alive=True, can_stop=True),
    "finished": RunStatus(state="ended", words="Ended: VERIFIED (exit code 0)."),
    "disputed": RunStatus(state="crashed", words="Its process is gone.", can_resume=True),
    "thesis": RunStatus(state="ended", words="Ended."),
}
CHANGED = {name: number for number, name in enumerate(PARTS)}


def run_page(page: RunPage, run: RunStatus = RUNS["finished"], form: StartForm = LOCKED) -> str:
    return pages.render_run(ASKED, SESSION, page, run, form, CHANGED)


def forms(html: str) -> dict[str, set[str]]:
    """The fields of each form that writes, by its address."""
    return {
        form.attributes["action"] or "": {
            node.attributes.get("name") or "" for node in form.css("input, select, textarea")
        }
        for form in LexborHTMLParser(html).css("form[method=post]")
    }


def every_page(page: RunPage, text: str = "text") -> dict[str, str]:
    """Every page of a dashboard in which a text stands."""
    asked = msgspec.structs.replace(ASKED, notice=text)
    form = StartForm(
        task=text, values=dict.fromkeys(CHOICES, text), input_folders=(text,), key_sentence=text, reason=text
    )
    run = RunStatus(state="crashed", words=text, can_start=True, can_stop=True, can_resume=True, alive=True)
    session = msgspec.structs.replace(SESSION, name=text)
    row = SessionRow(
        session=session,
        modified=1e9,
        header=page.header,
        kind=text,
        batch=text,
        problem=text,
        tags=(text, "plain"),
    )
    states = ((text, 2), ("VERIFIED", 1))
    listed = SessionList(
        wanted=Wanted(words=text, batch=text, tag=text, page=2),
        rows=(row, row),
        matched=200,
        total=200,
        unread=3,
        states=states,
        batches=(BatchCount(name=text, states=(*states, ("stopped", 3)), tokens=9),),
        tags=((text, 2), ("plain", 1)),
    )
    wrong = msgspec.structs.replace(form, kind="thesis", errors=dict.fromkeys(("", "task", *CHOICES), text))
    relative = (session, Relative(b"", text, text))
    around = Around(before=(relative,), after=(relative, relative))
    parent = ParentView(
        question=text, answer=text, status=text, name=text, head=text, keyid=text, found=text,
        carried=2, left_out=1,
    )  # fmt: skip
    follows = msgspec.structs.replace(page, parent=parent)
    made = {
        "ask": pages.render_ask(asked, session, page, wrong),
        "start": pages.render_start(asked, None, wrong),
        "login": pages.render_login(asked, text, text),
        "problem": pages.render_problem(asked, 404, text),
        "index": pages.render_index(asked, listed),
        "run": pages.render_run(asked, session, follows, run, form, CHANGED, None, around, tags=(text,)),
        "remove": pages.render_remove(asked, [(session, Held(2, 100), (text,))]),
        "replay": pages.render_replay(asked, session, Replayed(exit_code=1, text=text, seconds=1.0)),
        "claim": pages.render_claim(asked, session, page, page.claims[0].key if page.claims else ""),
        "compare": pages.render_compare(asked, session, page, 1, 2),
        "log": pages.render_log(asked, session, "notes"),
        "trace": pages.render_log(asked, session, "trace"),
    }
    return {name: html for name, html in made.items() if html is not None}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_page_of_each_kind_of_run_is_valid_and_accessible(name: str) -> None:
    html = run_page(EXAMPLES[name], RUNS[name], FORM if name == "empty" else LOCKED)
    assert problems(html, scripts=1) == []


def test_every_page_is_valid_and_accessible() -> None:
    made = every_page(FINISHED)
    assert len(made) == 12
    for name, html in made.items():
        assert problems(html) == [], name


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_that_comes_from_outside_becomes_markup(text: str) -> None:
    for name, html in every_page(with_text(FINISHED, text), text).items():
        assert problems(html) == [], name
        assert len(html.encode("utf-8", "replace")) < 8_000_000
        assert "<script>" not in html and "<img src=x" not in html and "<svg onload" not in html
        assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\x00\x07\x1b\ud800]", html), name


@pytest.mark.parametrize("name", PARTS)
def test_a_part_is_the_same_alone_and_in_its_page(name: str) -> None:
    for example, page in EXAMPLES.items():
        run = RUNS[example] if not RUNS[example].alive else RunStatus(words="Running.", can_stop=True)
        part = pages.render_parts(ASKED, SESSION, page, run, [name], CHANGED)
        assert problems(part, fragment=True) == []
        (alone,) = LexborHTMLParser(part).css("[data-part]")
        (within,) = LexborHTMLParser(run_page(page, run)).css(f"[data-part={name}]")
        assert alone.html == within.html
        assert within.attributes["data-changed"] == str(CHANGED[name])


def test_the_navigation_leads_to_the_parts_that_hold_something_in_their_order() -> None:
    for page in EXAMPLES.values():
        tree = LexborHTMLParser(run_page(page))
        places = [node.attributes["id"] for node in tree.css("main > section")]
        after = ["ask", "logs"] if page.offset else ["logs"]
        assert [each for each in places if each != "start"] == ["status", *pages.ORDER, *after]
        links = [(node.attributes["href"] or "") for node in tree.css("nav.parts a")]
        empty = empty_parts(page)
        wanted = [f"#{name}" for name in places if name not in ("status", "start", *empty)]
        assert links == [*wanted, *(["/s/work~2Frivers/steps"] if page.offset else [])]
        assert tree.css_first("main").attributes["data-empty"] == " ".join(empty)


def test_a_part_that_holds_nothing_of_a_run_that_ended_is_named_and_not_shown() -> None:
    bare = msgspec.structs.replace(FINISHED, gates=(), constraints=(), files=(), choices=())
    assert empty_parts(bare) == ("choices", "gates", "constraints", "files")
    assert "Nothing in candidates, gates, constraints and files." in visible_text(run_page(bare))
    style = (STATIC / "vera.css").read_text("utf-8")
    for name in (*empty_parts(bare), "claims", "timeline", "coverage", "rounds", "attestation"):
        assert f"[data-empty~={name}] #{name}" in style
    assert empty_parts(RUNNING) == (), "more may come"


def test_every_form_carries_its_token_and_goes_to_its_session() -> None:
    html = run_page(EMPTY, RUNS["empty"], FORM)
    tags = {"/s/work~2Frivers/tags": {"form_token", "tags"}}
    start = {"form_token", "kind", "task", "files", *CHOICES}
    assert forms(html) == {"/s/work~2Frivers/run": start, **tags}
    crashed = forms(run_page(DISPUTED, RUNS["disputed"]))
    review = "/s/work~2Frivers/review"
    others = {"/s/work~2Frivers/replay", "/s/work~2Frivers/ask", review, *tags}
    assert set(crashed) == {"/s/work~2Frivers/resume", *others}
    assert crashed["/s/work~2Frivers/ask"] == {"form_token", "task"}
    assert crashed[review] == {"form_token", "claim", "note"}
    assert crashed["/s/work~2Frivers/resume"] == {"form_token", *pages.LIMITS}
    assert "/s/work~2Frivers/stop" in forms(run_page(RUNNING, RUNS["running"]))
    index = pages.render_index(ASKED, SessionList(wanted=Wanted()))
    assert forms(index) == {}


def test_no_form_asks_for_a_key() -> None:
    for html in every_page(FINISHED).values():
        names = {node.attributes.get("name") or "" for node in LexborHTMLParser(html).css("input, textarea")}
        assert not {name for name in names if "key" in name}


def test_a_started_session_shows_no_form_for_another_start() -> None:
    assert not LexborHTMLParser(run_page(RUNNING, RUNS["running"])).css("#start")
    locked = run_page(EMPTY, RunStatus(words="Starting.", alive=True), LOCKED)
    assert "A run starts once in a session." in visible_text(locked)
    assert not LexborHTMLParser(locked).css("#start form")


def test_what_was_chosen_stands_in_the_form_again() -> None:
    tree = LexborHTMLParser(run_page(EMPTY, RUNS["empty"], FORM))
    assert tree.css_first("textarea").text() == "What is the length?"
    assert tree.css_first("input[name=max_steps]").attributes["value"] == "40"
    assert tree.css_first("select[name=profile] option[selected]").text() == "sealed"


def test_a_page_without_a_script_has_a_link_or_form_for_everything() -> None:
    tree = LexborHTMLParser(run_page(FINISHED))
    links = {node.attributes["href"] for node in tree.css("a[href]")}
    for name in ("trace", "model_io", "notes", "evidence", "moves", "queries", "run", "session", "container"):
        assert f"/s/work~2Frivers/log/{name}" in links
    assert "/s/work~2Frivers/compare?a=1&b=2" in links
    assert "/s/work~2Frivers/file/output/answer.md" in links
    assert "/s/work~2Frivers/claim/c1" in links
    assert f"/s/work~2Frivers/log/trace?before={FINISHED.events[0].offset}" not in links  # it begins at 0
    source = CLAIMS[0].cards[0].source_id
    assert f"/s/work~2Frivers/source/{source}?first=12&last=12#L12" in links


def test_only_pictures_are_shown_and_files_with_a_problem_are_not_linked() -> None:
    tree = LexborHTMLParser(run_page(FINISHED))
    assert [node.attributes["src"] for node in tree.css("img")] == [
        "/s/work~2Frivers/file/output/lengths.png"
    ]
    assert not tree.css("a[href$=pipe]")


def test_live_texts_are_those_of_the_page() -> None:
    for example, page in EXAMPLES.items():
        tree = LexborHTMLParser(run_page(page, RUNS[example]))
        live = pages.live_texts(page.header, RUNS[example])
        shown = {node.attributes["data-live"] or "": node.text() for node in tree.css("[data-live]")}
        assert tree.css_first("#announcement").text() == live.pop("announcement")
        if page.header.ended_ts is not None:
            live.pop("last_call")  # of no interest once a run has ended
        assert shown == live


def test_only_the_verdict_is_read_out_when_it_changes() -> None:
    tree = LexborHTMLParser(run_page(RUNNING, RUNS["running"]))
    assert {node.attributes["id"] for node in tree.css("[aria-live], [role=status]")} == {"announcement"}


def test_the_module_follows_from_where_the_page_is() -> None:
    tree = LexborHTMLParser(run_page(FINISHED))
    main = tree.css_first("main")
    assert main.attributes["data-offset"] == str(FINISHED.offset)
    assert main.attributes["data-base"] == "/s/work~2Frivers"
    script = tree.css_first("script").attributes
    assert script["nonce"] == "abc" and script["src"] == "/static/1/vera.js" and script["type"] == "module"


def test_a_running_page_says_how_long_nothing_has_happened() -> None:
    tree = LexborHTMLParser(run_page(RUNNING, RUNS["running"]))
    assert float(tree.css_first("[data-since]").attributes["data-since"] or "") >= 0
    assert not LexborHTMLParser(run_page(FINISHED)).css("[data-since]")


def test_the_module_is_small_and_makes_markup_in_one_place() -> None:
    scripts = {path.name: path.read_text("utf-8") for path in STATIC.glob("*.js")}
    assert set(scripts) == {"vera.js", "stream.js"}
    assert sum(len(gzip.compress(text.encode())) for text in scripts.values()) <= 12_000
    module = "".join(scripts.values())
    assert len(module.splitlines()) <= 330
    assert module.count("createHTML(") == module.count("parseFromString(") == 1
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|\.style\b", module
    )
    assert "http:" not in module and "https:" not in module


def test_everything_a_page_loads_is_ours() -> None:
    for html in every_page(FINISHED).values():
        assert not re.search(r"(?:src|href)=\"(?:https?:)?//", html)
    for path in STATIC.glob("*.css"):
        assert "url(" not in path.read_text("utf-8") and "@import" not in path.read_text("utf-8")


def test_the_list_of_sessions_says_where_each_stands_and_links_to_it() -> None:
    rows = [
        SessionRow(
            session=msgspec.structs.replace(SESSION, id=f"work~2F{name}"),
            modified=1_795_336_203.0,
            header=page.header if name != "empty" else None,
        )
        for name, page in EXAMPLES.items()
    ]
    listed = SessionList(wanted=Wanted(), rows=tuple(rows), matched=5, total=5, unread=7)
    html = pages.render_index(ASKED, listed, now=1_795_336_203.0 + 7300)
    text = visible_text(html)
    for said in ("Not started", "Working", "Verified", "Disputed", "Refuted", "7 sessions not read", "2 h"):
        assert said in text
    assert {f"/s/work~2F{name}" for name in EXAMPLES} <= {
        node.attributes["href"] for node in LexborHTMLParser(html).css("a")
    }


def test_a_session_that_has_not_begun_has_no_time_in_the_list() -> None:
    """A folder without a log was written at no time: there is no day of 1970."""
    row = SessionRow(session=SESSION, modified=0.0, header=None)
    listed = SessionList(wanted=Wanted(), rows=(row,), matched=1, total=1)
    html = pages.render_index(ASKED, listed, now=1_795_336_203.0)
    assert "Not started" in visible_text(html)
    assert not LexborHTMLParser(html).css("time") and "1970" not in html


def test_an_empty_list_says_what_to_do() -> None:
    assert "vera run" in visible_text(pages.render_index(ASKED, SessionList(wanted=Wanted())))


def test_two_rounds_stand_side_by_side_with_what_changed() -> None:
    html = pages.render_compare(ASKED, SESSION, FINISHED, 1, 2)
    assert html is not None
    tree = LexborHTMLParser(html)
    rows = [
        [" ".join(cell.text().split()) for cell in row.css("td")] for row in tree.css("table.sides tbody tr")
    ]
    assert rows[1][0].startswith("✕ contradicted The Rhine is 1,320")
    assert rows[1][1].startswith("✓ supported The Rhine is 1,233")
    assert rows[-1][0] == "not in this answer"
    assert "226" in [node.text() for node in tree.css("del")]
    assert pages.render_compare(ASKED, SESSION, FINISHED, 1, 9) is None


def test_a_claim_has_a_page_with_all_of_its_cards() -> None:
    (card, *_) = CLAIMS[0].cards
    cards = tuple(msgspec.structs.replace(card, first=n, last=n) for n in range(10, 310, 10))
    many = msgspec.structs.replace(CLAIMS[0], cards=cards)
    page = msgspec.structs.replace(FINISHED, claims=(many,))
    html = pages.render_claim(ASKED, SESSION, page, "c1")
    assert html is not None
    assert len(LexborHTMLParser(html).css("article.card")) == 30
    assert "18 more cards" in visible_text(run_page(page))
    assert pages.render_claim(ASKED, SESSION, FINISHED, "c77") is None


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (0, "All of it agrees"),
        (1, "Something does not agree"),
        (3, "Whole, and nothing was attested"),
        (None, "It did not come to an end"),
    ],
)
def test_a_replay_says_what_it_found(code: int | None, said: str) -> None:
    html = pages.render_replay(ASKED, SESSION, Replayed(exit_code=code, text="L0 integrity", seconds=0.4))
    assert said in visible_text(html) and "L0 integrity" in visible_text(html)


def test_a_login_keeps_the_address_and_says_what_was_wrong() -> None:
    html = pages.render_login(Asked(nonce="x", static="/static/1", signed_in=False), "/s/a?b=c&d", "Wrong.")
    tree = LexborHTMLParser(html)
    assert tree.css_first("input[name=wanted]").attributes["value"] == "/s/a?b=c&d"
    assert tree.css_first("[role=alert]").text() == "Wrong."
    assert "Sessions" not in visible_text(html)


def test_sha_of_nothing_is_not_linked() -> None:
    card = msgspec.structs.replace(CLAIMS[0].cards[0], source_id="../../etc/passwd")
    page = msgspec.structs.replace(
        FINISHED, claims=(msgspec.structs.replace(CLAIMS[0], cards=(card,)),), answer="See [ev_0002:12]."
    )
    assert "passwd" not in run_page(page)
    assert sha("x") not in run_page(page)
