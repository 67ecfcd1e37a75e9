"""What every request passes: is it for us, not from a page of another site, small enough, with a token?

As for the dashboard (`vera.dashboard.guard`): `Host` is one of ours (421), which stops DNS rebinding; address
and headers are short (414, 431); no page of another site may ask (403), and there is no CORS; a token as
`Authorization: Bearer` (401). There are no cookies, so a browser cannot be made to ask in a person's name.
"""

import asyncio

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vera.dashboard import guard
from vera.service.problems import Refused, refusal
from vera.service.tokens import TokenError, Tokens

OPEN_PATHS = ("/healthz", "/openapi.json")
MAX_TOKEN = 300

_SIZES = {414: "address_too_long", 431: "headers_too_long"}


class Guard:
    """The guard around an app. What passed has its Token in the scope, as `token`."""

    def __init__(self, app: ASGIApp, *, tokens: Tokens, hosts: frozenset[str], any_address: bool) -> None:
        """`hosts` and `any_address` as for the guard of the dashboard."""
        self._app = app
        self._tokens = tokens
        self._hosts = hosts
        self._any_address = any_address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return
        send = _plain(send)
        try:
            await self._pass(scope, Headers(scope=scope))
        except Refused as refused:
            await refusal(refused)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _pass(self, scope: Scope, headers: Headers) -> None:
        """Raises Refused."""
        hosts = headers.getlist("host")
        name = guard.host_name(hosts[0]) if len(hosts) == 1 else ""
        if name not in self._hosts and not (self._any_address and guard.is_address(name)):
            sentence = "This service is not called that. Another name is allowed with --allow-host."
            raise Refused(421, "wrong_host", sentence)
        try:
            guard.insist_on_size(scope)
        except guard.Refused as refused:
            raise Refused(refused.status, _SIZES[refused.status], str(refused)) from None
        own = (f"http://{headers['host']}", f"https://{headers['host']}")
        if headers.get("origin", own[0]) not in own or headers.get("sec-fetch-site") == "cross-site":
            raise Refused(403, "other_site", "Pages of other sites may not ask here.")
        if scope["path"] not in OPEN_PATHS:
            await self._insist_on_token(scope, headers)

    async def _insist_on_token(self, scope: Scope, headers: Headers) -> None:
        asks = {"www-authenticate": 'Bearer realm="vera"'}
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not given.strip():
            sentence = "A token is needed: 'Authorization: Bearer TOKEN'. 'vera token add NAME' makes one."
            raise Refused(401, "no_token", sentence, asks)
        try:
            token = self._tokens.of(given.strip()) if len(given) <= MAX_TOKEN else None
        except TokenError:
            raise Refused(503, "no_tokens", "The tokens of this service cannot be read.") from None
        if token is None:
            await asyncio.sleep(guard.WRONG_TOKEN_SECONDS)
            raise Refused(401, "wrong_token", "That is no token of this service.", asks)
        scope["token"] = token


def _plain(send: Send) -> Send:
    """`send`, with the headers that every answer has: nothing of it is ever run, shown or kept."""

    async def send_plain(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=message.setdefault("headers", []))
            headers["content-security-policy"] = "default-src 'none'; frame-ancestors 'none'; sandbox"
            headers["x-content-type-options"] = "nosniff"
            headers["referrer-policy"] = "no-referrer"
            headers["cross-origin-resource-policy"] = "same-origin"
            headers.setdefault("cache-control", "no-store")
            message["headers"] = headers.raw
        await send(message)

    return send_plain
