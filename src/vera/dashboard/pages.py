"""The pages of the dashboard: values in, HTML as text out.

What a page shows of a run comes from `vera.report.html`, whose parts the one-file report has too. Here are
the frame around it, forms, the list of sessions, and the pages of a claim, a source, a log and two rounds.
"""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
from markupsafe import Markup

from vera.dashboard.again import NOTHING_AROUND, Around
from vera.dashboard.ledgers import COLUMNS as COLUMNS_OF_LEDGER
from vera.dashboard.ledgers import ledger_rows
from vera.dashboard.list_watch import LIST
from vera.dashboard.log_ends import MAIN_LANE
from vera.dashboard.over_time import BANDS, Day, over_time_svg
from vera.dashboard.overview import SessionList
from vera.dashboard.part_cache import KeptParts
from vera.dashboard.query_params import Asked
from vera.dashboard.refused_form import RefusedForm
from vera.dashboard.removal import Held
from vera.dashboard.run_form import CHOICES, LIMITS, StartForm
from vera.dashboard.run_form import KINDS as FORM_KINDS
from vera.dashboard.run_status import RunStatus
from vera.dashboard.runs import Replayed
from vera.dashboard.session_index import FAILED, KINDS, PAGE_ROWS, Wanted
from vera.dashboard.sessions import SessionFolder
from vera.dashboard.source_text import source_text
from vera.dashboard.step_index import StepIndex
from vera.dashboard.step_view import StepView
from vera.dashboard.tails import EVENTS, LOGS, TAIL_BYTES, events_before, read_tail
from vera.dashboard.two_runs import Run, settings_that_differ, sources
from vera.report import standing
from vera.report.html.environment import environment
from vera.report.html.figures import announcement, figures
from vera.report.html.links import Links
from vera.report.html.shown import empty_parts, shown_claims
from vera.report.view.changes import PARTS
from vera.report.view.model import EventLine, Header, RunPage
from vera.session import load_text
from vera.store import Store

TEMPLATES = Path(__file__).parent / "templates"

ORDER = (
    "answer",
    "claims",
    "timeline",
    "coverage",
    "events",
    "rounds",
    "choices",
    "gates",
    "constraints",
    "budgets",
    "files",
    "attestation",
)
"""The parts below the status, from the top."""

TITLES = {
    "answer": "Answer",
    "claims": "Claims",
    "timeline": "Timeline",
    "coverage": "Coverage",
    "events": "Events",
    "rounds": "Rounds",
    "choices": "Candidates",
    "gates": "Gates",
    "constraints": "Constraints",
    "budgets": "Usage",
    "files": "Files",
    "attestation": "Attestation",
}
"""What each part is called in the list of parts."""

FORM_LABELS = {
    "kind": "What is asked for",
    "task": "Task",
    "input_dir": "Input folder, below the base",
    "files": "Or files, chosen or dropped here",
    "effort": "Effort",
    "model_name": "Model",
    "model_base_url": "Address of the model server",
    **LIMITS,
    "egress": "Network",
    "profile": "Sandbox profile",
    "num_candidates": "Candidates for a step",
}
"""Fields of the form that starts a run, with their names."""

assert set(FORM_LABELS) == {"kind", "task", "files", *CHOICES}
assert set(PARTS) == {"header", *ORDER} and set(TITLES) == set(ORDER)

_BLANK = EventLine(offset=0, seq=0, ts=0.0, lane="main", kind="", step=None, text="")
"""The row of the event log from which the page's module makes others."""

COLUMNS = ("verdict", "task", "kind", "score", "claims", "tokens", "cost", "time", "age")
"""Of the list of sessions; each can be sorted by."""

MAX_ASKED = 500
"""Characters of what a list of sessions is searched or filtered by."""

STEPS_SHOWN = 200
"""Steps of a list of steps."""

MAX_LANES = 200
"""Lanes to which a list of steps leads."""

ALL_CARDS = 100
"""Cards of the page of one claim."""


def render_login(asked: Asked, wanted: str, problem: str) -> str:
    """The form that asks for the token and goes on to the address `wanted`; `problem`: what was wrong."""
    return _page("login", asked, wanted=wanted, problem=problem)


def render_problem(asked: Asked, status: int, sentence: str, back: str = "") -> str:
    """A page that says what went wrong, and leads to the page `back` ('' for none)."""
    return _page("problem", asked, status=status, sentence=sentence, back=back)


def render_refused(asked: Asked, form: RefusedForm) -> str:
    """A form that was refused, to be put right and sent again."""
    return _page("refused", asked, form=form)


def render_index(asked: Asked, listed: SessionList, now: float | None = None) -> str:
    """A page of the sessions, and the button for a new one; `now` is Unix time, from which ages count."""
    return _page(
        "index",
        asked,
        listed=listed,
        wanted=listed.wanted,
        now=time.time() if now is None else now,
        address=address_of,
        pages=-(-listed.matched // PAGE_ROWS),
        first=PAGE_ROWS * (listed.wanted.page - 1),
        COLUMNS=COLUMNS,
        KINDS=KINDS,
        LIST=LIST,
        FAILED=FAILED,
        state_in_words=state_in_words,
    )


def render_over_time(asked: Asked, listed: SessionList, days: Sequence[Day]) -> str:
    """Verdicts and cost by day, of the sessions that a list is narrowed to."""
    wanted = listed.wanted
    given = {
        "the words": wanted.words,
        "the kind": wanted.kind,
        "the batch": wanted.batch,
        "the tag": wanted.tag,
    }
    state = state_in_words(wanted.state) if wanted.state else ""
    return _page(
        "over_time",
        asked,
        listed=listed,
        wanted=wanted,
        address=address_of,
        days=days,
        drawn=Markup(over_time_svg(days)) if days else "",
        costs=any(each.cost for each in days),
        BANDS=BANDS,
        filters=[(name, each) for name, each in {**given, "the verdict": state}.items() if each],
    )


def address_of(wanted: Wanted, **changed: Any) -> str:
    """The address of a list like this one but for what is changed; another list begins at its first page."""
    other = msgspec.structs.replace(wanted, **{"page": 1, **changed})
    given = {
        "q": other.words,
        "state": other.state,
        "kind": other.kind,
        "batch": other.batch,
        "tag": other.tag,
        "sort": other.sort if other.sort != "age" else "",
        "page": str(other.page) if other.page > 1 else "",
    }
    asked = urlencode({name: each[:MAX_ASKED] for name, each in given.items() if each}, errors="replace")
    return f"/?{asked}" if asked else "/"


def state_in_words(state: str) -> str:
    """A state of the index as a reader knows it."""
    return "Without an answer that holds" if state == FAILED else standing.state_in_words(state)


def render_remove(
    asked: Asked, found: Sequence[tuple[SessionFolder, Held, tuple[str, ...]]], problem: str = ""
) -> str:
    """What would be removed, with its size and tags, and the form that does it; `problem` is why the form
    was refused."""
    return _page("remove", asked, found=found, problem=problem)


def render_start(asked: Asked, session: SessionFolder | None, form: StartForm) -> str:
    """The form of a run, for a new session (None) or for one that was not started."""
    action = f"/s/{session.id}/run" if session else "/start"
    values = {"action": action, "session": session, "form": form}
    return _page("start_page", asked, **values, LIMITS=LIMITS, FORM_KINDS=FORM_KINDS, FORM_LABELS=FORM_LABELS)


def render_run(
    asked: Asked,
    session: SessionFolder,
    page: RunPage,
    run: RunStatus,
    form: StartForm,
    changed: Mapping[str, int],
    kept: KeptParts | None = None,
    around: Around = NOTHING_AROUND,
    tags: tuple[str, ...] = (),
) -> str:
    """The page of a session; `kept` has parts of its page that were written out before, and `around` are the
    sessions that it follows, that follow it, that it is run again of and that are it run again."""
    from markupsafe import Markup

    values = _of_run(session, page, run, changed)
    kept_parts = kept or KeptParts()

    def part(name: str) -> Markup:
        written = kept_parts.part(name, page, changed, asked, partial(_part, name, values))
        return Markup(written)  # a template wrote it, and escaped what is in it

    return _page(
        "run",
        asked,
        **values,
        nav=_nav(page),
        empty=empty_parts(page),
        TITLES=TITLES,
        part=part,
        form=form,
        around=around,
        state_in_words=state_in_words,
        order=ORDER,
        logs={**EVENTS, **{name: title for name, (_, title) in LOGS.items()}},
        announcement=announcement(page.header),
        blank=_BLANK,
        tags=tags,
    )


def _nav(page: RunPage) -> dict[str, tuple[str, int]]:
    """The parts of the page with something in them: what each is called, and how many things are in it."""
    counts = {
        "claims": len(page.claims),
        "rounds": len(page.rounds),
        "choices": len(page.choices) + page.choices_left_out,
        "gates": len(page.gates),
        "constraints": len(page.constraints),
        "files": len(page.files),
        "events": page.header.events,
    }
    empty = empty_parts(page)
    parts = {name: (TITLES[name], counts.get(name, 0)) for name in ORDER if name not in empty}
    ask = {"ask": ("Ask again", 0)} if page.offset else {}
    return {**parts, **ask, "logs": ("Logs", 0)}


def render_reading(asked: Asked, session: SessionFolder, done: int, left: int) -> str:
    """The page of a session whose log is being read: `done` bytes of it, and `left` to go."""
    return _page("reading", asked, **_of_session(session), done=done, size=done + left)


def render_parts(
    asked: Asked,
    session: SessionFolder,
    page: RunPage,
    run: RunStatus,
    names: Sequence[str],
    changed: Mapping[str, int],
    kept: KeptParts | None = None,
    around: Around = NOTHING_AROUND,
) -> str:
    """Parts of the page of a session, each one of PARTS, one after another; `kept` and `around` as above."""
    values = {**_of_run(session, page, run, changed), "around": around}
    kept_parts = kept or KeptParts()
    return "".join(
        kept_parts.part(name, page, changed, asked, partial(_part, name, values)) for name in names
    )


def live_texts(header: Header, run: RunStatus) -> dict[str, str]:
    """The texts of the status that a live page replaces, by field."""
    return {**_live(header, run), "announcement": announcement(header)}


def render_claim(asked: Asked, session: SessionFolder, page: RunPage, key: str) -> str | None:
    """One claim with all of its cards; None when no claim has that key."""
    claim = next((each for each in page.claims if each.key == key), None)
    if claim is None:
        return None
    (shown,) = shown_claims([claim], ALL_CARDS)
    return _page("claim", asked, **_of_session(session), page=page, shown=shown)


def render_ask(asked: Asked, session: SessionFolder, page: RunPage, form: StartForm) -> str:
    """The form of a question that follows a session, or of a sentence of it that is to be checked."""
    shown = {"form": form, "LIMITS": LIMITS, "FORM_LABELS": FORM_LABELS}
    return _page("ask", asked, **_of_session(session), page=page, **shown)


def render_source(
    asked: Asked, session: SessionFolder, page: RunPage, sha256: str, first: int, last: int, store: Store
) -> str | None:
    """A stored text around the lines `first` to `last` (0: its beginning); None for no such text."""
    source = source_text(store, sha256, page.claims, first, last)
    if source is None:
        return None
    return _page(
        "source", asked, **_of_session(session), source=source, sha256=sha256, first=first, last=last
    )


def render_log(asked: Asked, session: SessionFolder, name: str, before: int = 0) -> str | None:
    """A piece of a log that ends at its byte `before` (0: at its end); None for no such log."""
    if name in EVENTS:
        load = partial(load_text, Store(session.path / "store"))
        lines, begin, end = events_before(session.log, before, load, of_model=name == "model_io")
        return _page(
            "events",
            asked,
            **_of_session(session),
            name=name,
            title=EVENTS[name],
            lines=lines,
            begin=begin,
            before=before,
            end=end,
        )
    if name not in LOGS:
        return None
    file, title = LOGS[name]
    tail = read_tail(session.path / file, before, TAIL_BYTES)
    text = tail.data.decode("utf-8", "replace") if tail else ""
    values = _of_session(session)
    return _page(
        "log",
        asked,
        **values,
        columns=COLUMNS_OF_LEDGER.get(name, ()),
        rows=ledger_rows(name, tail.data, values["links"]) if tail and name in COLUMNS_OF_LEDGER else (),
        name=name,
        title=title,
        file=file,
        tail=tail,
        text=text,
        before=before,
    )


def render_steps(asked: Asked, session: SessionFolder, index: StepIndex, lane: str, first: int) -> str | None:
    """The steps of a lane from number `first` of the list on, and its other lanes; None for no such lane."""
    steps = index.lanes.get(lane, [])
    if not steps and (lane != MAIN_LANE or first):
        return None
    begin = max(0, min(first, len(steps) - 1))
    lines = [index.line(lane, step) for step in steps[begin : begin + STEPS_SHOWN]]
    return _page(
        "steps",
        msgspec.structs.replace(asked, notice=index.problem),
        **_of_session(session),
        lane=lane,
        lanes=list(islice(index.lanes, MAX_LANES)),
        lines=lines,
        begin=begin,
        count=len(steps),
        STEPS_SHOWN=STEPS_SHOWN,
    )


def render_step(asked: Asked, session: SessionFolder, index: StepIndex, view: StepView) -> str:
    """All that is known of one step."""
    asked = msgspec.structs.replace(asked, notice=index.problem)
    return _page("step", asked, **_of_session(session), view=view)


def render_compare(asked: Asked, session: SessionFolder, page: RunPage, a: int, b: int) -> str | None:
    """Two rounds side by side; None when one of them is not there."""
    rounds = {each.round: each for each in page.rounds}
    if a not in rounds or b not in rounds:
        return None
    return _page(
        "compare",
        asked,
        **_of_session(session),
        rounds=page.rounds,
        before=rounds[a],
        after=rounds[b],
        cited=page.sources,
    )


def render_two_runs(asked: Asked, before: Run, after: Run) -> str:
    """Two sessions side by side."""
    return _page(
        "two_runs",
        asked,
        before=before,
        after=after,
        figures_of_before=figures(before.page.header),
        figures_of_after=figures(after.page.header),
        cited=sources(before, after),
        differs=settings_that_differ(before, after),
    )


def render_replay(asked: Asked, session: SessionFolder, outcome: Replayed) -> str:
    """What `vera replay` found."""
    return _page("replay", asked, **_of_session(session), outcome=outcome)


def _of_session(session: SessionFolder) -> dict[str, Any]:
    return {"session": session, "links": Links(f"/s/{session.id}"), "work_dir": session.name, "changed": {}}


def _of_run(
    session: SessionFolder, page: RunPage, run: RunStatus, changed: Mapping[str, int]
) -> dict[str, Any]:
    return {
        **_of_session(session),
        "page": page,
        "run": run,
        "changed": changed,
        "live": _live(page.header, run),
        "ago": max(0.0, time.time() - page.header.last_ts) if run.alive and page.offset else None,
        "open_claims": False,
        "LIMITS": LIMITS,
        "FORM_KINDS": FORM_KINDS,
        "FORM_LABELS": FORM_LABELS,
    }


def _live(header: Header, run: RunStatus) -> dict[str, str]:
    starting = {"verdict": "Starting"} if header.phase == "new" and run.alive else {}
    return {**figures(header), "run": run.words, **starting}


def _part(name: str, values: Mapping[str, Any], asked: Asked, number: object) -> str:
    return _page(f"part/{name}", asked, **{**values, "changed": {name: number}})


def _page(template: str, asked: Asked, **values: Any) -> str:
    return environment(TEMPLATES).get_template(f"{template}.html.j2").render(asked=asked, **values)
