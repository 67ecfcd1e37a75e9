"""What every request passes: is it for us, from our own page, by one who has the token, and of bounded size?

Loopback is open to every program and user of a machine and, through DNS rebinding and cross-site requests, to
every page that is open in a browser on it; this server starts processes. The checks, in their order:

- `Host` is one of ours (421), which is what stops DNS rebinding;
- address and headers are short (414, 431), the method is GET, HEAD or POST (405);
- not from another site: `Sec-Fetch-Site` and `Origin` (403). With `Referrer-Policy: no-referrer` browsers
  send `Origin: null` with the forms of our own pages: then `Sec-Fetch-Site` has to say where they come from
  (Fetch Standard, "append a request `Origin` header");
- a token as Bearer, as `?token=` (303 to the address without it, so that it is in no
  Referer; the browser's own history may keep it) or a login cookie (401, for a browser with a form that keeps
  the address);
- a write has the header `X-Vera`, which no page of another site can set, or its form the token that was made
  for this login (403), and a bounded body.

Every answer has the headers of `protected`: nothing is loaded but from here, no script runs without the nonce
of this one answer, no string becomes markup (Trusted Types), and no one may frame or embed it.
"""

import asyncio
import secrets
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs

import msgspec
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vera.dashboard.body import BodyRefused, read_form, read_form_with_files
from vera.dashboard.local import MAX_ADDRESS, local_address, without_token
from vera.dashboard.query_params import Asked
from vera.dashboard.tokens import Tokens

LoginPage = Callable[[Asked, str, str], str]
"""(asked, wanted address, what was wrong) → HTML."""

MAX_HEADERS = 12 << 10
"""Bytes of all headers; h11 itself ends a connection at 16 kB."""

WRONG_TOKEN_SECONDS = 0.25
"""Each wrong token waits, whatever is wrong with it."""

START_PATH = "/start"
"""Where a run is asked for that has no session yet."""

_OPEN_PATHS = ("/healthz", "/login")
_OPEN_PREFIX = "/static/"
_OWN_SITE = (None, "same-origin", "none")
_WRONG = "That is not the token. 'vera dashboard' printed the right one when it started."


class Refused(Exception):
    """A request that goes no further: the status, a sentence and headers for the answer."""

    def __init__(self, status: int, sentence: str, **headers: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class Guard:
    """The guard around an app. What passed has in its scope `asked` (Asked) and, for a write, `fields` and
    the `files` of a form that may bring some: each with the name that was sent."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        tokens: Tokens,
        hosts: frozenset[str],
        any_address: bool,
        static: str,
        login_page: LoginPage,
    ) -> None:
        """`hosts` are the names by which the server may be called, without ports, IPv6 in brackets;
        `any_address`: also by any IP address, which no DNS name can be rebound to. `static` as in Asked."""
        self._app = app
        self._tokens = tokens
        self._hosts = hosts
        self._any_address = any_address
        self._static = static
        self._login_page = login_page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return
        nonce = secrets.token_urlsafe(16)
        send = protected(send, nonce)
        asked = Asked(nonce=nonce, static=self._static, signed_in=False)
        try:
            answer = await self._answer(scope, receive, asked)
        except (Refused, BodyRefused) as refused:
            headers = refused.headers if isinstance(refused, Refused) else {}
            answer = PlainTextResponse(f"{refused}\n", refused.status, headers=headers)
        await (answer or self._app)(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, asked: Asked) -> Response | None:
        """The guard's own answer, or None for a request that passed. Raises Refused, BodyRefused."""
        headers, method, path = Headers(scope=scope), scope["method"], scope["path"]
        self._insist_on_host(headers)
        insist_on_size(scope)
        if method not in ("GET", "HEAD", "POST"):
            raise Refused(405, "Only GET, HEAD and POST are understood.", allow="GET, HEAD, POST")
        _insist_on_own_site(headers, is_write=method == "POST")
        if method == "POST" and path == "/login":
            return await self._log_in(receive, headers, asked)
        login = self._login(headers)
        if not path.startswith(_OPEN_PREFIX) and path not in _OPEN_PATHS:
            if answer := await self._without_token(scope, headers, login, asked):
                return answer
        elif method == "POST":
            raise Refused(405, "That can only be read.", allow="GET, HEAD")
        if login:
            form_token = self._tokens.form_token(login)
            asked = msgspec.structs.replace(asked, form_token=form_token, signed_in=True)
        if method == "POST":
            scope["fields"], scope["files"] = await self._fields(scope, receive, headers, login)
        scope["asked"] = asked
        return None

    def _insist_on_host(self, headers: Headers) -> None:
        hosts = headers.getlist("host")
        name = host_name(hosts[0]) if len(hosts) == 1 else ""
        if name not in self._hosts and not (self._any_address and is_address(name)):
            raise Refused(
                421,
                "This dashboard is not called that. Use the address that 'vera dashboard' printed; "
                "another name has to be allowed with --allow-host.",
            )

    def _login(self, headers: Headers) -> str:
        """The login whose cookie the request carries, '' for none."""
        value = cookie_parser(headers.get("cookie", "")).get(self._tokens.cookie, "")
        return value if self._tokens.is_login(value) else ""

    async def _without_token(
        self, scope: Scope, headers: Headers, login: str, asked: Asked
    ) -> Response | None:
        """The answer to who has no token, and to who has it in the address; None for everybody else."""
        address = without_token(scope.get("raw_path") or scope["path"].encode(), scope["query_string"])
        query = parse_qs(scope["query_string"].decode("latin-1"))
        if scope["method"] != "POST" and (given := query.get("token")):
            if self._tokens.is_token(given[-1]):
                return self._let_in(address)
            return await self._turned_away(headers, asked, address, _WRONG)
        kind, _, given_token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            if self._tokens.is_token(given_token.strip()):
                return None
            return await self._turned_away(headers, asked, address, _WRONG)
        if login:
            return None
        wanted = address if scope["method"] != "POST" else "/"
        return await self._turned_away(headers, asked, wanted, "")

    async def _log_in(self, receive: Receive, headers: Headers, asked: Asked) -> Response:
        fields = await _form(receive, headers)
        wanted = local_address(fields.get("wanted", "/"))
        if self._tokens.is_token(fields.get("token", "").strip()):
            return self._let_in(wanted)
        return await self._turned_away(headers, asked, wanted, _WRONG)

    def _let_in(self, address: str) -> Response:
        answer = RedirectResponse(address, 303)
        answer.set_cookie(self._tokens.cookie, self._tokens.new_login(), httponly=True, samesite="strict")
        return answer

    async def _turned_away(self, headers: Headers, asked: Asked, wanted: str, problem: str) -> Response:
        if problem:
            await asyncio.sleep(WRONG_TOKEN_SECONDS)
        if not wants_html(headers):
            sentence = problem or "The token is needed: send it as 'Authorization: Bearer TOKEN'."
            raise Refused(401, sentence, www_authenticate='Bearer realm="vera"')
        page = self._login_page(asked, wanted, problem)
        return HTMLResponse(page, 401, headers={"www-authenticate": 'Bearer realm="vera"'})

    async def _fields(
        self, scope: Scope, receive: Receive, headers: Headers, login: str
    ) -> tuple[Mapping[str, str], list[tuple[str, bytes]]]:
        """The form of a write that comes from our own page, and its files where it may have some."""
        files: list[tuple[str, bytes]] = []
        if _takes_files(scope["path"]):
            given, files = await read_form_with_files(
                receive, headers.get("content-type", ""), headers.get("content-length", "")
            )
        else:
            given = await _form(receive, headers)
        fields = dict(given)
        token = fields.pop("form_token", "")
        if headers.get("x-vera") is None and not (login and self._tokens.is_form_token(login, token)):
            raise Refused(
                403,
                "That form is not of this login. Load the page again and repeat; a program sends "
                "the header 'X-Vera: 1'.",
            )
        return fields, files


def wants_html(headers: Headers) -> bool:
    """Whether a browser asks for a page, rather than a program for data."""
    return "text/html" in headers.get("accept", "")


def is_program(headers: Headers) -> bool:
    """Whether a script or a program sent it, and not a form."""
    return "x-vera" in headers or not wants_html(headers)


def protected(send: Send, nonce: str) -> Send:
    """`send`, with the headers that every answer has."""
    policy = (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types vera"
    )

    async def send_protected(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=message.setdefault("headers", []))
            headers["content-security-policy"] = policy
            headers["x-content-type-options"] = "nosniff"
            headers["referrer-policy"] = "no-referrer"
            headers["cross-origin-opener-policy"] = "same-origin"
            headers["cross-origin-resource-policy"] = "same-origin"
            headers["permissions-policy"] = "camera=(), geolocation=(), microphone=()"
            headers.setdefault("cache-control", "no-store")
            message["headers"] = headers.raw
        await send(message)

    return send_protected


def insist_on_size(scope: Mapping[str, Any]) -> None:
    """Raises Refused (414, 431) for an address or headers that are too long."""
    raw_path = scope.get("raw_path") or scope["path"].encode()
    if len(raw_path) + len(scope["query_string"]) > MAX_ADDRESS:
        raise Refused(414, "That address is too long.")
    if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEADERS:
        raise Refused(431, "The headers of that request are too long.")


def _insist_on_own_site(headers: Headers, *, is_write: bool) -> None:
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if not is_write:
        if site not in _OWN_SITE and headers.get("sec-fetch-mode") != "navigate":
            raise Refused(403, "Pages of other sites may not read this.")
        return
    own = origin is None or origin in (f"http://{headers['host']}", f"https://{headers['host']}")
    if site not in _OWN_SITE or not (own or (origin == "null" and site == "same-origin")):
        raise Refused(403, "Pages of other sites may not do this.")


def _takes_files(path: str) -> bool:
    """Whether the form at this address may bring files: that of a run."""
    return path == START_PATH or (path.startswith("/s/") and path.endswith("/run") and path.count("/") == 3)


async def _form(receive: Receive, headers: Headers) -> Mapping[str, str]:
    return await read_form(receive, headers.get("content-type", ""), headers.get("content-length", ""))


def host_name(host: str) -> str:
    """The name of a Host header in lower case, without the port."""
    if host.startswith("["):
        name, end, port = host.partition("]")
        return (name + end).lower() if not port or _is_port(port) else ""
    name, colon, port = host.partition(":")
    return name.lower() if not colon or _is_port(colon + port) else ""


def _is_port(text: str) -> bool:
    digits = text[1:]
    return text[:1] == ":" and digits.isascii() and digits.isdigit() and len(digits) <= 5


def is_address(name: str) -> bool:
    """Whether a Host header's name is an IP address, to which no DNS name can be rebound."""
    import ipaddress

    try:
        ipaddress.ip_address(name[1:-1] if name.startswith("[") else name)
    except ValueError:
        return False
    return True
