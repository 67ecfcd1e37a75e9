"""The way to the web: one policy for the box's tunnel and for the host's fetch, each connection an event."""

from collections.abc import Callable, Iterable

import msgspec

from vera import events
from vera.agent.errors import SetupError
from vera.config.settings import EgressSettings
from vera.evidence.extractor import Extractor
from vera.lane.capture import Capture, FetchCommand
from vera.sandbox.egress.dial import Dialer
from vera.sandbox.egress.policy import NetworkPolicy, PolicyError
from vera.sandbox.egress.proxy import EgressProxy
from vera.sandbox.egress.secrets import Secrets
from vera.sandbox.egress.types import Connection
from vera.sandbox.fetch.fetcher import Fetcher
from vera.session import Session


class Web(msgspec.Struct, frozen=True):
    """What a lane needs to reach the web: its own `capture`, the box's `proxy`, and the `command` that
    commands in the box fetch pages with."""

    capture: Capture
    proxy: EgressProxy
    command: FetchCommand


def open_web(
    session: Session,
    settings: EgressSettings,
    *,
    sealed: bool,
    secrets: Iterable[str],
    extractor: Extractor,
    lane: str,
) -> Web | None:
    """The way out of one lane and its box; None when nothing may be reached. `secrets` must not leave.

    Raises SetupError (exit code 2) for a rule that cannot be understood.
    """
    mode = ("none" if sealed else "public") if settings.mode == "auto" else settings.mode
    if mode == "none":
        return None
    try:
        policy = NetworkPolicy.of(
            mode, allow=_listed(settings.allow), allow_cidrs=_listed(settings.allow_cidrs)
        )
    except PolicyError as error:
        raise SetupError(f"egress: {error}", 2) from None
    known = Secrets(secrets)
    dialer = Dialer(policy.addresses)
    fetcher = Fetcher(policy, dialer, secrets=known, log=_logged(session, "fetch", lane))
    capture = Capture(fetcher, extractor)
    command = FetchCommand(capture)
    proxy = EgressProxy(policy, dialer, secrets=known, fetch=command, log=_logged(session, "box", lane))
    return Web(capture, proxy, command)


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _logged(session: Session, by: str, lane: str) -> Callable[[Connection], None]:
    def log(connection: Connection) -> None:
        session.emit(
            events.Egress(
                by=by,
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
            lane=lane,
        )

    return log
