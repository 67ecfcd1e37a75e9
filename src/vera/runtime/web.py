"""The way to the web: one policy for the box's tunnel and for the host's fetch, each connection an event."""

from collections.abc import Callable, Mapping

from vera import events
from vera.agent.errors import SetupError
from vera.agent.rules import listed
from vera.agent.web import GatedPolicy, Web, network_policy, reach_of, secrets_of
from vera.config.settings import BraveSettings, SandboxSettings, SearchSettings, Settings
from vera.evidence.queries import is_package_index
from vera.extraction.extractor import Extractor
from vera.lane.at_work import AtWork
from vera.lane.capture import Capture, CommandPages, FetchCommand
from vera.sandbox.egress.dial import Dialer
from vera.sandbox.egress.policy import NetworkPolicy
from vera.sandbox.egress.proxy import EgressProxy
from vera.sandbox.egress.secrets import Secrets
from vera.sandbox.egress.types import Connection, Policy
from vera.sandbox.fetch.fetcher import Fetcher
from vera.sandbox.fetch.receipt import Fetched
from vera.sandbox.fetch.tap import Tap
from vera.sandbox.render.renderer import Renderer
from vera.session import Session
from vera.websearch import (
    DEFAULT_ORDER,
    LIMITS,
    Engine,
    EngineError,
    EngineOptions,
    Engines,
    SearchLimits,
    WebSearch,
    instance_policy,
    open_engines,
)


def search_engines(
    search: SearchSettings, brave: BraveSettings, plugins: Mapping[str, Engine] = {}
) -> tuple[Engine, ...]:
    """The search engines of a run, in the order in which they are asked; those of plugins come last where
    the settings give no order. Raises SetupError (exit code 2)."""
    limits = SearchLimits(
        min_interval_s=brave.min_interval_s,
        backoff_max_s=brave.backoff_max_s,
        cooldown_s=brave.cooldown_s,
        max_consec_429=brave.max_consec_429,
        max_calls=brave.max_calls,
    )
    options = EngineOptions(
        brave_limits=limits,
        brave_api_version=brave.api_version,
        searxng_url=search.searxng_url,
        searxng_min_interval_s=search.searxng_min_interval_s,
        language=search.language,
        mailto=search.mailto,
    )
    try:
        return open_engines(
            listed(search.engines) or (*DEFAULT_ORDER, *plugins),
            options,
            brave_key=brave.key.get_secret_value(),
            plugins=plugins,
        )
    except EngineError as error:
        raise SetupError(str(error), 2) from None


def open_web(
    session: Session,
    settings: Settings,
    engines: Engines,
    *,
    extractor: Extractor,
    lane: str,
    kept: Callable[[str], Fetched | None] | None = None,
    judge: Callable[[str, str], str] | None = None,
    bytes_left: Callable[[], int] | None = None,
    acting: Callable[[], str] | None = None,
) -> Web | None:
    """The way out of one lane and its box; None when nothing may be reached. `kept` gives what earlier
    sessions got from an address, which is then fetched only if it has changed. `judge` says of host and URL
    why a page may not be fetched ('' when it may; search engines are not judged), `bytes_left` how large the
    next one, or the next answer of a search engine, may be. `acting` gives the lane in which it is logged,
    where that changes.

    Raises SetupError (exit code 2) for a rule that cannot be understood.
    """
    policy = network_policy(settings.egress, closed=settings.sandbox.profile == "sealed")
    if policy is None:
        return None
    known, now = Secrets(secrets_of(settings)), acting or (lambda: lane)
    dialer = Dialer(policy.addresses)
    pages = GatedPolicy(policy, judge) if judge is not None else policy
    log = _logged(session, "fetch", now)
    fetcher = Fetcher(pages, dialer, secrets=known, log=log, kept=kept, room=bytes_left)
    renderer = _renderer(session, settings.sandbox, pages, dialer, known, lane, now)
    capture, at_work = Capture(fetcher, extractor, renderer), AtWork()
    tap = Tap(lambda host: not is_package_index(host))
    proxy = EgressProxy(
        GatedPolicy(policy, at_work.refuses_connection),
        dialer,
        secrets=known,
        fetch=FetchCommand(capture, at_work),
        tap=tap,
        log=_logged(session, "box", now),
    )
    search = _search(session, settings.search.searxng_url, engines, policy, dialer, known, now, bytes_left)
    return Web(capture, search, proxy, at_work, CommandPages(tap, capture), reach_of(policy))


def _renderer(
    session: Session,
    sandbox: SandboxSettings,
    policy: Policy,
    dialer: Dialer,
    known: Secrets,
    lane: str,
    now: Callable[[], str],
) -> Renderer:
    def tell(event: str, detail: str) -> None:
        said = f"renderer: {detail}" if detail else "renderer"
        session.emit(events.ContainerEvent(event=event, detail=said), lane=now())

    return Renderer(
        policy,
        dialer,
        backend=sandbox.backend,
        base_image=sandbox.base_image,
        secrets=known,
        log=_logged(session, "render", now),
        tell=tell,
        run=session.root.name,
        lane=lane,
    )


def _search(
    session: Session,
    searxng: str,
    engines: Engines,
    policy: NetworkPolicy,
    dialer: Dialer,
    known: Secrets,
    now: Callable[[], str],
    room: Callable[[], int] | None,
) -> WebSearch:
    """The engines under the policy of the run; a SearXNG instance of the person's may be an inner host."""
    log, own = _logged(session, "search", now), {}
    if searxng:
        narrow = instance_policy(searxng, policy)
        own["searxng"] = Fetcher(
            narrow, Dialer(narrow.addresses), secrets=known, limits=LIMITS, log=log, room=room
        )
    return WebSearch(
        engines,
        Fetcher(policy, dialer, secrets=known, limits=LIMITS, log=log, room=room),
        log=lambda call: session.emit(call, lane=now()),
        secrets=known,
        own=own,
    )


def _logged(session: Session, by: str, lane: Callable[[], str]) -> Callable[[Connection], None]:
    def log(connection: Connection) -> None:
        session.emit(
            events.Egress(
                by=by,
                run=session.root.name,
                host=connection.host,
                port=connection.port,
                method=connection.method,
                verdict=connection.verdict,
                url=connection.url,
                address=connection.address,
                reason=connection.reason,
                bytes_up=connection.bytes_up,
                bytes_down=connection.bytes_down,
                seconds=round(connection.seconds, 6),
                started=round(connection.started, 6),
            ),
            lane=lane(),
        )

    return log
