"""A whole run in this process, for the tests of its gates: all of it is real but the model and the web.

    run = play([fetch("http://apple.com/1"), fetch("http://apple.com/2")], pages={"apple.com/1": page("One")})
    assert run.told(2) == "NOT RUN (policy_…). …"

Session, lane, gates, tools, fetch, search, tunnel, box and verifier (by the literal rule) are those of a run.
The model is a scripted server on loopback, and so are Brave, Wikipedia and every site: all names lead there.
The clock of the log and of the engines stands still, but for `Later` and what an engine waits.
"""

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from support.fake_brave import KEY, FakeBrave
from support.fake_engines import page as html_page
from support.fake_engines import wikipedia
from support.fake_web import LOOPBACK, SMALL, Asked, FakeClock, Reply, fake_web
from support.scripted_server import Fault, ScriptedServer
from vera import events
from vera.agent.conclusion import Result
from vera.agent.lanes import Environment, LaneOptions, make_lane
from vera.agent.research import Research
from vera.agent.rules import rules_of
from vera.agent.web import GatedPolicy, Web
from vera.config import Settings
from vera.config.loading import defaults
from vera.evidence.queries import is_package_index
from vera.extraction.extractor import Extractor
from vera.history import History
from vera.lane.at_work import AtWork
from vera.lane.capture import Capture, CommandPages, FetchCommand
from vera.lane.prompts import Prompts
from vera.model.connect import connect
from vera.model.types import ModelError
from vera.protocol import Turn, text
from vera.protocol.turn import Action
from vera.runtime.setup import open_input, open_signer
from vera.runtime.verifier_context import open_verifier_context, verifier_options
from vera.sandbox.backends import open_box
from vera.sandbox.egress.dial import Dialer
from vera.sandbox.egress.policy import NetworkPolicy
from vera.sandbox.egress.proxy import EgressProxy
from vera.sandbox.egress.types import Connection
from vera.sandbox.fetch.fetcher import Fetcher
from vera.sandbox.fetch.tap import Tap
from vera.sandbox.render.renderer import Renderer
from vera.sandbox.spec import BoxSpec
from vera.session import Session
from vera.state import LaneState
from vera.websearch import Engine, Engines, SearchLimits, WebSearch
from vera.websearch.brave import Brave
from vera.websearch.wikipedia import Wikipedia

P = TypeVar("P", bound=events.Event)

NEGATIVE = "Has Apple launched a car yet?"
"""A question to which “none” may be the answer."""

ORDINARY = "When did Apple begin to work on a car? Do not use Wikipedia."
"""One about the same that asks for a value."""

STARTED = 1_800_000_000.0
"""Unix time at which every run begins."""


class Later(msgspec.Struct, frozen=True):
    """A turn for which the model takes its time."""

    seconds: float
    said: Turn


Said = Turn | Later | str | dict[str, Any]


def act(
    tool: str, *, note: str | None = None, status: str = "IN_PROGRESS", used: Sequence[str] = (), **args: Any
) -> Turn:
    """A turn that calls a tool."""
    return Turn(
        thought="Next.",
        action=Action(tool=tool, args=args),
        note=note,
        status_update=status,
        evidence_used=tuple(used),
    )


def fetch(url: str, **about: Any) -> Turn:
    return act("fetch", url=url, **about)


def search(query: str, **about: Any) -> Turn:
    return act("web_search", query=query, **about)


def brave(query: str, **about: Any) -> Turn:
    return act("brave_search", q=query, **about)


def shell(cmd: str, **about: Any) -> Turn:
    return act("shell", cmd=cmd, **about)


def answer(said: str, *, status: str = "IN_PROGRESS") -> Turn:
    return Turn(thought="Done.", action=Action(final=said), status_update=status)


def cut(said: str = "THOUGHT: I will explain at length why") -> dict[str, Any]:
    """A turn that ends at the model's limit."""
    return {"content": said, "finish_reason": "length"}


def page(words: str) -> Reply:
    """A page with enough text to be one."""
    return html_page(f"{words}. " * 5)


def missing(words: str = "There is no such page.", status: int = 404) -> Reply:
    return html_page(words, status)


class Sites:
    """Every site of the web: pages by `host/path`. A query goes with the path."""

    def __init__(self, pages: Mapping[str, Reply]) -> None:
        self.pages = pages
        self.asked: list[str] = []

    def __call__(self, asked: Asked) -> Reply:
        host = asked.headers.get("host", "").partition(":")[0]
        place = f"{host}{asked.path}"
        self.asked.append(place)
        return self.pages.get(place) or missing()


class Run:
    """What came of a run."""

    def __init__(
        self,
        session: Session,
        server: ScriptedServer,
        records: list[events.Record],
        sites: Sites,
        brave_asked: list[Asked],
        clock: FakeClock,
        port: int,
        result: Result | None,
    ) -> None:
        self.session, self.server, self.records = session, server, records
        self.sites, self.brave_asked, self.clock, self.result = sites, brave_asked, clock, result
        self._port = port

    @property
    def lane(self) -> LaneState:
        return self.session.state.lane("main")

    def told(self, step: int) -> str:
        """What the model reads after the turn of this step, byte for byte but for the sites' port and the
        seconds that a command took."""
        return self._plain(str(self.server.requests[step].body["messages"][-1]["content"]))

    def asked(self) -> int:
        """How many turns the model was asked for."""
        return len(self.server.requests)

    def of(self, kind: type[P]) -> list[P]:
        """The records of the main lane of one kind, in order."""
        return [each for each in self.records if isinstance(each, kind) and each.lane == "main"]

    def spoken(self, name: str) -> list[tuple[int, str]]:
        """Step and effect of each time that a gate spoke."""
        return [(each.step, each.effect) for each in self._spoken(name)]

    def record(self, name: str, number: int = 0) -> dict[str, Any]:
        """What a gate wrote down, without what every record has; addresses without the sites' port."""
        whole = msgspec.to_builtins(self._spoken(name)[number])
        left_out = ("seq", "ts", "lane", "prev", "type", "reply")
        return {
            key: self._plain(value) if isinstance(value, str) else value
            for key, value in whole.items()
            if key not in left_out
        }

    def at(self, step: int) -> list[str]:
        """The names of the records of a step, in order."""
        return [
            events.kind(each)
            for each in self.records
            if getattr(each, "step", -1) == step and each.lane == "main"
        ]

    def history(self, step: int) -> History:
        """What the gates knew once this step was over."""
        state = type(self.session.state)()
        for each in self.records:
            if isinstance(each, events.Model) and each.step > step:
                break
            state.apply(each)
        return state.lane("main").history

    def changes(self) -> list[tuple[int, str, str]]:
        """Constraints that came (+) and went (-): step, sign, key."""
        return [
            (each.step, "+" if isinstance(each, events.ConstraintAdded) else "-", each.key)
            for each in self.records
            if isinstance(each, events.ConstraintAdded | events.ConstraintResolved)
        ]

    def statuses(self) -> list[tuple[int, str]]:
        return [(each.step, each.status) for each in self.of(events.Status)]

    def _spoken(self, name: str) -> list[events.Policy]:
        return [
            each
            for each in self.records
            if isinstance(each, events.Policy)
            and events.kind(each) == name
            and not (isinstance(each, events.PolicyParseError) and each.codes)
        ]

    def _plain(self, said: str) -> str:
        return said.replace(f":{self._port}", "")


def check_refused(run: Run, step: int, gate: str) -> None:
    """Of a refused step there is the turn, the move that was blocked and the gate's record, and nothing else:
    no call was started, nothing is evidence, and it counts as no call and no search."""
    kinds = [kind for kind in run.at(step) if kind not in ("model", "model_io", "note", "status")]
    assert kinds == ["assistant", "move", gate]
    (move,) = [each for each in run.of(events.Move) if each.step == step]
    assert (move.outcome, move.failure_type, move.reached, move.fresh, move.call) == (
        "blocked",
        gate,
        (),
        False,
        "",
    )
    before, after = run.history(step - 1), run.history(step)
    assert (before.calls, before.searched, before.moves) == (after.calls, after.searched, after.moves)
    assert before.reached == after.reached


def play(
    script: Sequence[Said],
    *,
    task: str = ORDINARY,
    pages: Mapping[str, Reply] | None = None,
    brave_says: Sequence[Reply] | None = None,
    wiki: Callable[[Asked], Reply] | None = None,
    box: str = "",
    files: Mapping[str, str] | None = None,
    renders: bool = False,
    **changes: object,
) -> Run:
    """Run the script to its end; what is asked beyond it ends the run as a server does that went away.

    `changes` are settings with `__` for the dot. Notes are not asked for unless they say so. `brave_says` are
    Brave's answers (None: there is no key); when they are used up it answers as the interface does. `box` is
    the backend of the sandbox, '' for none; `files` makes an input folder of these.
    """
    place = Path(tempfile.mkdtemp(prefix="vera-gate-runs-"))
    place.chmod(0o755)  # a box has a user of its own
    try:
        settings = defaults(
            {
                "notes.update_interval": 1000,
                "verification.rule": "literal",
                **{key.replace("__", "."): value for key, value in changes.items()},
            }
        )
        return asyncio.run(
            _play(
                place,
                script,
                task,
                pages or {},
                brave_says,
                wiki or _nothing_found,
                box,
                files,
                renders,
                settings,
            )
        )
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _nothing_found(asked: Asked) -> Reply:
    return wikipedia([])


async def _everything_is_here(name: str) -> list[str]:
    return [LOOPBACK]


async def _play(
    folder: Path,
    script: Sequence[Said],
    task: str,
    pages: Mapping[str, Reply],
    brave_says: Sequence[Reply] | None,
    wiki: Callable[[Asked], Reply],
    backend: str,
    files: Mapping[str, str] | None,
    renders: bool,
    settings: Settings,
) -> Run:
    clock, sites, found = FakeClock(STARTED), Sites(pages), None
    async with AsyncExitStack() as stack:
        site = await stack.enter_async_context(fake_web(sites))
        brave_web = await stack.enter_async_context(fake_web(FakeBrave(brave_says or ())))
        wikipedia_web = await stack.enter_async_context(fake_web(wiki))
        at_last = stack.enter_context(ExitStack())
        extractor = stack.enter_context(Extractor())
        server = stack.enter_context(ScriptedServer(_player(script, clock, site.port)))
        model = await connect(server.base_url, protocol="text")
        stack.push_async_callback(model.close)
        session = Session.create(folder / "run", {}, clock=lambda: clock.now)
        stack.callback(session.close)
        records: list[events.Record] = []
        session.subscribe(records.append)
        if files is not None:
            given = folder / "in"
            given.mkdir()
            for name, content in files.items():
                (given / name).write_text(content)
            found = open_input(given, defaults(), extractor, at_last, lambda _: None)
        session.emit(
            events.Task(task=session.text(task), input_dir=str(found.folder) if found else ""), lane=""
        )
        engines: list[Engine] = [Wikipedia(base=wikipedia_web.url)]
        if brave_says is not None:
            limits = SearchLimits(
                min_interval_s=settings.brave.min_interval_s,
                backoff_max_s=settings.brave.backoff_max_s,
                cooldown_s=settings.brave.cooldown_s,
                max_consec_429=settings.brave.max_consec_429,
                max_calls=settings.brave.max_calls,
            )
            engines.insert(0, Brave(KEY, limits, base=f"{brave_web.url}/res/v1"))
        ports = [site.port, brave_web.port, wikipedia_web.port]
        web = _web(session, extractor, Engines(engines, clock=clock.clock()), ports, renders=renders)
        in_box = None
        if backend:
            spec = BoxSpec(work=session.workspace, input=found.folder if found else None)
            in_box = await open_box(backend, spec, egress=web.proxy.serve)
            stack.push_async_callback(in_box.close)
        at = Environment(
            extractor=extractor,
            box=in_box,
            corpus=found.corpus if found else None,
            files=found.stats.files if found else 0,
            web=web,
        )
        prompts = Prompts()
        options = LaneOptions(
            max_steps=settings.run.max_steps,
            answer_tokens=settings.model.max_tokens,
            rules=rules_of(settings),
        )
        lane = make_lane(session, task, model, at, prompts, options)
        context = open_verifier_context(
            session=session,
            settings=settings,
            place=at,
            model=None,
            prompts=prompts,
            options=verifier_options(settings, model, None, at),
        )
        result = None
        try:
            result = await Research(lane, context, open_signer(None)).run(clock=lambda: clock.now)
        except ModelError:
            assert len(server.requests) == len(script) + 1, server.requests[-1].body["messages"]
        assert not server.errors, server.errors
        return Run(session, server, records, sites, brave_web.asked, clock, site.port, result)


def _player(
    script: Sequence[Said], clock: FakeClock, port: int
) -> Callable[[int, dict[str, Any]], str | dict[str, Any] | Fault]:
    """The model: the script's turns one after the other, with the sites' real port in their addresses."""

    def reply(index: int, body: dict[str, Any]) -> str | dict[str, Any] | Fault:
        if index >= len(script):
            return Fault(400, body="the script is over")
        said = script[index]
        if isinstance(said, Later):
            clock.now += said.seconds
            said = said.said
        return _with_port(text.render(said), port) if isinstance(said, Turn) else said

    return reply


def _with_port(said: str, port: int) -> str:
    parts = said.split("http://")
    return parts[0] + "".join(_placed(part, port) for part in parts[1:])


def _placed(rest: str, port: int) -> str:
    host, slash, path = rest.partition("/")
    return f"http://{host}:{port}{slash}{path}"


def _web(
    session: Session, extractor: Extractor, engines: Engines, ports: Sequence[int], *, renders: bool
) -> Web:
    """The way to the web as a run has it, where every name leads to this machine."""
    policy = NetworkPolicy.of("public", ports=ports, allow_cidrs=["127.0.0.0/8"])
    dialer = Dialer(policy.addresses, resolver=_everything_is_here)

    def logged(by: str) -> Callable[[Connection], None]:
        def log(made: Connection) -> None:
            session.emit(
                events.Egress(
                    by=by,
                    host=made.host,
                    port=made.port,
                    method=made.method,
                    verdict=made.verdict,
                    url=made.url,
                    reason=made.reason,
                )
            )

        return log

    fetcher = Fetcher(policy, dialer, log=logged("fetch"))
    renderer = None
    if renders:
        renderer = Renderer(policy, dialer, backend="bubblewrap", base_image="", log=logged("render"))
    capture = Capture(fetcher, extractor, renderer)
    at_work = AtWork()
    tap = Tap(lambda host: not is_package_index(host))
    return Web(
        capture,
        WebSearch(engines, Fetcher(policy, dialer, limits=SMALL), log=session.emit),
        EgressProxy(
            GatedPolicy(policy, at_work.refuses_connection),
            dialer,
            fetch=FetchCommand(capture, at_work),
            tap=tap,
            log=logged("box"),
        ),
        at_work,
        CommandPages(tap, capture),
    )
