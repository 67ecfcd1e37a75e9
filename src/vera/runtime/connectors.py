"""The connectors of a run: which sources are asked, what they give, and the record of it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec

from vera import events
from vera.agent.errors import SetupError
from vera.agent.web import network_policy, secrets_of
from vera.attestation.request import RequestError
from vera.config import Settings
from vera.connectors import Connector, ConnectorError, Source, read_sources
from vera.connectors.basket import Limits
from vera.connectors.gathering import cache_folder, gather, list_of, used_in
from vera.connectors.reach import Reach
from vera.connectors.values import INPUT, MAX_SOURCES, NAME
from vera.runtime.inputs import Say, pages_of, with_folder
from vera.sandbox.egress.dial import Dialer
from vera.sandbox.egress.secrets import Secrets
from vera.sandbox.egress.types import Connection
from vera.sanitize import one_line
from vera.session import Session

LEFT_OUT_LOGGED = 50


def _silent(_: str) -> None:
    """No-op callback."""


class Connected(msgspec.Struct, frozen=True, kw_only=True):
    """The settings with the gathered folder as their input folder, and the connections that were made."""

    settings: Settings
    connections: tuple[Connection, ...] = ()


def lines(text: str) -> list[str]:
    """The lines of a setting that has one item a line."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def sources_named(settings: Settings, names: Sequence[str]) -> list[Source]:
    """The configured sources of these names. Raises SetupError (2) for one that is not configured."""
    try:
        configured = read_sources(lines(settings.connectors.configured))
    except ConnectorError as error:
        raise SetupError(f"connectors.configured: {error}", 2) from None
    found = []
    for name in dict.fromkeys(names):
        if name not in configured:
            there = f"Configured are: {', '.join(configured)}." if configured else "None is configured."
            raise SetupError(
                f"There is no connector {one_line(name, 60)!a}. {there} Configure one in your own "
                "configuration (connectors.configured), or give --connector NAME=KIND:ADDRESS.",
                2,
            )
        found.append(configured[name])
    return found


def sources_of(settings: Settings, names: Sequence[str] | None = None) -> list[Source]:
    """The sources of a run: those of `connectors.use`, each a configured name or NAME=KIND:ADDRESS, and the
    pages whose addresses are inputs.

    `names` are those that somebody else asks for; they only name, and take the place of the setting. Raises
    SetupError (2).
    """
    pages = pages_of(settings)
    if names is not None:
        return _few([*sources_named(settings, names), *pages])
    used = lines(settings.connectors.use)
    try:
        given = read_sources(line for line in used if not NAME.fullmatch(line))
    except ConnectorError as error:
        raise SetupError(f"--connector: {error}", 2) from None
    named = sources_named(settings, [line for line in used if NAME.fullmatch(line) and line not in given])
    for source in (*named, *pages):
        if source.name in given:
            raise SetupError(f"--connector: two connectors are called {source.name}.", 2)
    return _few([*given.values(), *named, *pages])


def configured(settings: Settings) -> list[Source]:
    """Every configured source. Raises SetupError (2)."""
    try:
        return _few(list(read_sources(lines(settings.connectors.configured)).values()))
    except ConnectorError as error:
        raise SetupError(f"connectors.configured: {error}", 2) from None


def _few(sources: list[Source]) -> list[Source]:
    if len(sources) > MAX_SOURCES:
        raise SetupError(f"{len(sources)} connectors are asked for. Name at most {MAX_SOURCES}.", 2)
    return sources


async def connect_request(
    settings: Settings, scope: object, names: Sequence[str] = (), say: Say = _silent
) -> tuple[Connected, object]:
    """What the scope of a request to verify a thesis means for its connectors, and the scope in force.

    `names` are those that the request names. Without a scope, connectors that are named are looked at, and
    the input folder where there is one. The scope `connectors` without names is all that are configured.
    Raises SetupError and RequestError.
    """
    settings = await asyncio.to_thread(with_folder, settings, say)
    wanted = sources_of(settings, names or None)
    places = _places(scope)
    if places is None:
        if not wanted:
            return Connected(settings=settings), _gathered_before(settings)
        places = ["connectors", *(["files"] if settings.run.input_dir is not None else [])]
    elif "connectors" not in places:
        _refuse_left_out(names, settings)
        return Connected(settings=settings), scope
    sources = wanted or configured(settings)
    if not sources:  # which is told where the request is made
        return Connected(settings=settings), scope
    return await _gathered(settings, sources, say, with_input="files" in places), places


def _refuse_left_out(names: Sequence[str], settings: Settings) -> None:
    """Raises RequestError where connectors or pages are given that the scope leaves out."""
    if names or pages_of(settings):
        given = "Connectors are named" if names else "The address of a page is an input"
        raise RequestError(f"{given}, and the scope leaves them out. Add connectors to it.")


def _gathered_before(settings: Settings) -> list[str] | None:
    """The scope that a folder means which was gathered for several runs, None for any other folder."""
    folder = settings.run.input_dir
    names = {each.name for each in used_in(folder)} if folder is not None else set()
    places = ["connectors"] if names - {INPUT} else []
    return [*places, *(["files"] if INPUT in names else [])] or None


def _places(scope: object) -> list[str] | None:
    """The items of a scope, None where none is given; what is no list is left to `request_of` to refuse."""
    if scope is None:
        return None
    given = scope.split(",") if isinstance(scope, str) else scope
    items = given if isinstance(given, list | tuple | set | frozenset) else []
    return [str(item).strip().lower() for item in items if str(item).strip()]


async def connect(settings: Settings, sources: Sequence[Source], say: Say = _silent) -> Connected:
    """Lay out the inputs, gather the documents of the sources, and have the run read them as its input
    folder; without both the settings as they are. The input folder of the settings is one of the sources.

    `say` hears of inputs that are left out. Raises SetupError: an input or a source that cannot be used (2),
    or a folder that cannot be written (5).
    """
    settings = await asyncio.to_thread(with_folder, settings, say)
    return await _gathered(settings, sources, say) if sources else Connected(settings=settings)


async def sources_with(
    settings: Settings, folder: Path | None, names: Sequence[str] | None = None
) -> Path | None:
    """The folder of the sources of a document: `folder` with what connectors gather beside it. They are those
    of `connectors.use`, or of `names`, which somebody else asks for. Without any it is `folder` itself.

    Raises SetupError as `connect` does.
    """
    run = settings.run.model_copy(update={"input_dir": folder, "inputs": ""})
    settings = settings.model_copy(update={"run": run})
    return (await connect(settings, sources_of(settings, names))).settings.run.input_dir


async def _gathered(
    settings: Settings, sources: Sequence[Source], say: Say, *, with_input: bool = True
) -> Connected:
    folder, asked = settings.run.input_dir, list(sources)
    if folder is not None and with_input:
        asked.append(Source(name=INPUT, kind="folder", address=str(folder)))
    given = settings.connectors
    limits = Limits(documents=given.documents, bytes=given.bytes, seconds=given.seconds)
    policy = network_policy(settings.egress, closed=settings.sandbox.profile == "sealed")
    for page in pages_of(settings) if policy is not None else ():
        say(f"fetching {one_line(page.address, 500)}")
    dialer = Dialer(policy.addresses) if policy is not None else None
    reach = Reach(policy, dialer, Secrets(secrets_of(settings)))
    kinds = _kinds(settings, asked)
    cache = cache_folder()
    try:
        gathered = await gather([(each, kinds[each.kind]) for each in asked], limits, reach, cache)
    except ConnectorError as error:
        raise SetupError(str(error), 2) from None
    except OSError as error:
        raise SetupError(f"The documents of connectors cannot be kept in {cache}: {error}.", 5) from None
    run = settings.run.model_copy(update={"input_dir": gathered, "inputs": ""})
    return Connected(settings=settings.model_copy(update={"run": run}), connections=tuple(reach.connections))


def _kinds(settings: Settings, sources: Sequence[Source]) -> dict[str, Connector]:
    """The connectors by their kinds; plugins are loaded only where a source is of no kind of ours."""
    from vera.connectors.registry import CONNECTORS

    kinds = dict(CONNECTORS)
    if any(source.kind not in kinds for source in sources):
        from vera.runtime.plugins import open_plugins

        kinds |= open_plugins(settings).connectors
    for source in sources:
        if source.kind not in kinds:
            raise SetupError(
                f"The connector {source.name} is of the unknown kind {one_line(source.kind, 40)!a}. "
                f"There are: {', '.join(kinds)}.",
                2,
            )
    return kinds


def record(session: Session, folder: Path, connections: Sequence[Connection]) -> None:
    """Say in the log which connectors gave the documents of a folder, and each connection that was made;
    nothing for a folder that was not gathered."""
    used = used_in(folder)
    if not used:
        return
    for each in connections:
        session.emit(
            events.Egress(
                by="connector",
                run=session.root.name,
                host=each.host,
                port=each.port,
                method=each.method,
                verdict=each.verdict,
                url=each.url,
                address=each.address,
                reason=each.reason,
                bytes_up=each.bytes_up,
                bytes_down=each.bytes_down,
                seconds=round(each.seconds, 6),
                started=round(each.started, 6),
            ),
            lane="",
        )
    data = list_of(folder)
    told = tuple(
        events.ConnectorUsed(
            name=each.name,
            kind=each.kind,
            version=each.version,
            address=each.address,
            revision=each.revision,
            documents=len(each.documents),
            bytes=sum(document.size for document in each.documents),
            left_out=each.left_out[:LEFT_OUT_LOGGED],
            left_out_count=each.left_out_count,
            ended_at=each.ended_at,
        )
        for each in used
    )
    listed = events.Blob(session.store.put(data), len(data))
    session.emit(events.ConnectorsRead(connectors=told, documents=listed), lane="")
