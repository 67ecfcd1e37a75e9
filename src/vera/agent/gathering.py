"""Pages for a model that does not act: the host asks the web the question and opens the first results.

It works in a lane with the same tools, gates and log as a model's, so each page is evidence with a receipt.
It is a plain program: no text that it reads can make it do anything but open a result that a search listed.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence

from vera.agent.lanes import LANE, LaneOptions
from vera.agent.rules import for_task, subject
from vera.agent.stopping import OUT_OF_TIME
from vera.agent.web import Web
from vera.evidence.asked_pages import addresses, without_addresses
from vera.evidence.domains import registrable_domain
from vera.evidence.hosts import host_of
from vera.evidence.queries import is_search_engine
from vera.gates.registry import CHECK_GATES
from vera.lane.loop import Lane
from vera.lane.policy import Policy
from vera.lane.prompts import Prompts
from vera.lane.spec import LaneSpec
from vera.lane.tools.registry import Toolkit, toolset
from vera.model.types import Choice, Completion, ModelInfo, Request
from vera.protocol.text import render
from vera.protocol.turn import Action, Turn
from vera.sanitize import one_line
from vera.session import Session
from vera.usage import EXTRACTS, GATHERING
from vera.verification.lookup_history import Seen

NAME = "gatherer/1"

SECONDS = 60.0
"""The lane may take this long; a person waits for one answer of a small model about as long."""

MAX_PAGES = 5
"""Pages that are opened; the model is shown at most six passages."""

ENOUGH_PAGES = 2
"""With so many pages that have content no further query is asked."""

PER_DOMAIN = 2
"""Pages of one domain: what is said on the web needs two publishers."""

MAX_STEPS = 2 * MAX_PAGES
QUERY_CHARACTERS = 200

_DONE = "The pages that were found are captured."


class Gatherer:
    """A `Model` without a language model. It opens the addresses that the task names; where it `searches`, it
    asks the task as a query, then its subject, and opens the results in order."""

    def __init__(self, session: Session, task: str, lane: str, *, searches: bool) -> None:
        self._task = task
        self._searches = searches
        self._seen = Seen(session, lane)

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(kind="builtin", name=NAME, protocol="text", local=True)

    async def complete(self, request: Request) -> Completion:
        """The next turn: a search, a page to open, or the end. Never raises."""
        turn = next(self._steps(), Turn(thought=_DONE, action=Action(final=_DONE)))
        return Completion(choices=(Choice(content=render(turn)),) * max(1, request.n))

    async def close(self) -> None:
        """Nothing is held open."""

    def _steps(self) -> Iterator[Turn]:
        """What is still to be done, in order."""
        yield from self._opening(addresses(self._task))
        # An address may hold a password or name an inner host: it is opened, never searched for.
        asked = without_addresses(self._task)
        queries = (one_line(asked, QUERY_CHARACTERS), subject(asked)) if subject(asked) else ()
        for query in dict.fromkeys(queries if self._searches else ()):
            call = self._seen.asked("web_search", query)
            if call is None:
                if len(self._seen.pages) >= ENOUGH_PAGES or not query:
                    return
                yield _call("Ask the web.", "web_search", query=query)
                return
            yield from self._opening(self._seen.urls(call))

    def _opening(self, urls: Sequence[str]) -> Iterator[Turn]:
        """The addresses that were not opened, not many of one domain."""
        opened = self._seen.opened
        domains = [registrable_domain(url) for url in opened]
        for url in urls:
            few = domains.count(registrable_domain(url)) < PER_DOMAIN
            if url not in opened and few and len(opened) < MAX_PAGES and not is_search_engine(host_of(url)):
                yield _call("Open a page.", "fetch", url=url)


class Gathering:
    """Gathers the pages of one run through `open_web`, once; a run that is resumed goes on with it."""

    def __init__(
        self,
        session: Session,
        task: str,
        open_web: Callable[[str], Web | None],
        options: LaneOptions,
        *,
        has_input: bool,
    ) -> None:
        self._session = session
        self._task = task
        self._open_web = open_web
        self._options = options
        self._has_input = has_input
        self._lane: Lane | None = None

    def stop(self, reason: str) -> None:
        """End the lane that is at work."""
        if self._lane is not None:
            self._lane.stop(reason)

    async def run(self, prompts: Prompts) -> None:
        """Capture pages. Nothing is done where the web cannot be reached, where a task over an input folder
        names no address, or where extracts were already given."""
        state = self._session.state
        name = GATHERING if state.acting == LANE else f"{GATHERING}-{state.acting}"
        if state.extracts is not None or state.lane(name).ended:
            return
        if self._has_input and not addresses(self._task):
            return
        web = self._open_web(name)
        if web is None:
            return
        tools = toolset(Toolkit(capture=web.capture, web=web.search, count=self._options.search_count))
        rules = for_task(
            self._options.rules,
            self._task,
            [tool.spec for tool in tools],
            has_input=self._has_input,
            has_web=True,
            can_render=web.capture.can_render(),
            engines=web.search.engines.names(),
        )
        spec = LaneSpec(
            name=name,
            purpose="gather",
            system=prompts.render("seeker"),
            task_message=self._task,
            max_steps=MAX_STEPS,
            scope=EXTRACTS,
            templates=("seeker",),
        )
        policy = Policy(gates=CHECK_GATES, rules=rules)
        model = Gatherer(self._session, self._task, name, searches=not self._has_input)
        lane = self._lane = Lane(self._session, spec, model, tools, prompts, policy)
        timer = asyncio.get_running_loop().call_later(SECONDS, lane.stop, OUT_OF_TIME)
        try:
            await lane.run()
        finally:
            timer.cancel()


def _call(thought: str, tool: str, **args: str) -> Turn:
    return Turn(thought=thought, action=Action(tool=tool, args=args))
