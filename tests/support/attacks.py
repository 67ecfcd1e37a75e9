"""Attacks on a whole run: `vera run` in this process against a scripted server, and what came of it.

    worker = [turn("read", path="terms.txt"), final("Three years [ev_0001:3].")]
    tried = attempt(tmp_path, worker, *OFFLINE, question=QUESTION, files=FILES)
    assert tried.status == "VERIFIED"
    tried.is_sound()

An attack succeeds when it brings a status of VERIFIED or QUOTED that nobody could rely on, or when it breaks
VERA: each attempt must end in a named reason, with nothing lost, and be shown and replayed or say why not
(`is_sound`).
"""

import contextlib
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import msgspec
from click.testing import CliRunner

from support.cast import Cast, span_count
from support.cli import folded, records
from support.scripted_server import ScriptedServer
from vera import events
from vera.attestation.objects import Attestation, Card, parse
from vera.cli import main
from vera.evidence.finding import Finding
from vera.headline import HEADLINES, HOLDS
from vera.protocol import Turn
from vera.session import load_text
from vera.state import RunState
from vera.store import Store

OFFLINE = ("--sandbox", "none", "--egress", "none")
NO_SANDBOX = ("--sandbox", "none")

Files = Mapping[str, str | bytes]


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    error: str


def vera_here(*arguments: object, cwd: Path) -> Ended:
    """`vera ARGUMENTS` in this process. An error that would have been a traceback is raised."""
    with contextlib.chdir(cwd):
        done = CliRunner().invoke(main, [*map(str, arguments)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Ended(done.exit_code, done.stdout, done.stderr)


@dataclass(frozen=True)
class Attempt:
    """What came of one run. The verdict is that on the worker's answer, the chosen one where it is chosen."""

    ended: Ended
    work: Path
    cast: Cast

    @property
    def code(self) -> int:
        return self.ended.code

    @cached_property
    def state(self) -> RunState:
        return folded(self.work)

    @property
    def store(self) -> Store:
        return Store(self.work / "store")

    @property
    def status(self) -> str:
        """What the run says of the worker's answer: UNRESOLVED where extracts answer in its place."""
        return "UNRESOLVED" if self.state.extracts else self.state.lane("main").status

    @property
    def decision(self) -> events.Verifier:
        chosen, answers = self.state.chosen, self.state.answers
        assert chosen is not None, self.ended.error
        decided = [each.decision for each in self.state.rounds.values() if each.decision]
        of_worker = [each for each in decided if answers[each.answer_seq].lane == "main"]
        return next((each for each in of_worker if each.round == chosen.round), of_worker[-1])

    @property
    def verdict(self) -> tuple[str, str]:
        return self.decision.result, self.decision.reason

    @cached_property
    def attestation(self) -> Attestation:
        return parse(self.store.get(self.decision.attestation.removeprefix("sha256:")), Attestation)

    @cached_property
    def cards(self) -> list[Card]:
        return [parse(self.store.get(name.removeprefix("sha256:")), Card) for name in self.attestation.cards]

    @cached_property
    def findings(self) -> list[Finding]:
        audit = self.state.rounds[self.decision.round].audit
        assert audit is not None
        return msgspec.json.decode(load_text(self.store, audit.findings), type=list[Finding])

    def hard(self, claim: str | None = None) -> set[str]:
        """The codes of the hard findings, of all claims or of one."""
        return {
            finding.code
            for finding in self.findings
            if finding.severity == "hard" and claim in (None, finding.claim)
        }

    def results(self) -> dict[str, str]:
        """The result of each claim."""
        return {claim.claim: claim.result for claim in self.attestation.claims}

    def records(self) -> list[events.Record]:
        return records(self.work)

    def show(self) -> Ended:
        return vera_here("show", self.work, cwd=self.work.parent)

    def replay(self) -> tuple[int, dict[str, Any]]:
        done = vera_here("replay", self.work, "--json", cwd=self.work.parent)
        return done.code, json.loads(done.out)

    def is_sound(self, *, replays: bool = True) -> None:
        """It ended in a named reason with the exit code of its status; it can be shown, and replayed."""
        lane = self.state.lane("main")
        assert lane.status in HEADLINES, lane.status
        assert lane.status_reason, "no reason is given"
        chosen = self.state.chosen
        assert chosen is not None
        decided = self.state.rounds[chosen.round].decision
        assert decided is not None
        assert (self.code == 0) == (lane.status in HOLDS) == (decided.result == "SUPPORTED")
        assert self.code in (0, 3, 4, 6), self.ended.error
        assert (self.work / "answer.md").read_text("utf-8").strip()
        shown = self.show()
        assert lane.status in shown.out
        code, report = self.replay()
        assert code == (0 if replays else 1), json.dumps(report, indent=1)[:3000]

    def is_verified(self) -> None:
        """The benign twin: VERIFIED (QUOTED by a rule), signed, and it replays."""
        rule = self.state.rounds[self.decision.round].started.rule
        word = "VERIFIED" if rule == "model" else "QUOTED"
        found = [(finding.severity, finding.code, finding.message) for finding in self.findings]
        assert (self.status, self.verdict) == (word, ("SUPPORTED", "")), (found, self.decision.caps)
        self.is_sound()


def attempt(
    folder: Path,
    worker: Sequence[Turn | str],
    *options: object,
    question: str,
    files: Files | None = None,
    verifier: Callable[[int, dict[str, Any]], Any] | None = None,
    during: Callable[[], object] | None = None,
    rounds: int = 1,
    streams: bool = True,
    **parts: Any,
) -> Attempt:
    """Run `vera run` in `folder` over these files, with one scripted server for all parts.

    `verifier` plays the verifier on another server. `during` runs before the worker's last turn. `streams`:
    the worker's turns come piece by piece, so that one which repeats itself is ended; else each comes whole.
    """
    cast = Cast(worker, **parts)
    folder.mkdir(parents=True, exist_ok=True)
    arguments: list[object] = ["run", "--task", question, "--work-dir", folder / "work", "--protocol", "text"]
    arguments += ["--verifier-rounds", rounds]
    if files is not None:
        write_all(folder / "documents", files)
        arguments += ["--input-dir", folder / "documents"]
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(ScriptedServer(_telling(cast, len(worker), during), streams=streams))
        arguments += ["--model-base-url", server.root]
        if verifier is not None:
            other = stack.enter_context(ScriptedServer(verifier))
            arguments += ["--verifier-model-base-url", other.root]
        ended = vera_here(*arguments, *options, cwd=folder)
    return Attempt(ended, folder / "work", cast)


def _telling(cast: Cast, turns: int, during: Callable[[], object] | None) -> Cast | Callable[..., Any]:
    if during is None:
        return cast

    def script(index: int, body: dict[str, Any]) -> Any:
        if cast.asked["worker"] == turns - 1:
            during()
        return cast(index, body)

    return script


def write_all(folder: Path, files: Files) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


FENCE = re.compile(r"<<<DATA ([0-9a-f]{16}) [^\n]*\n.*?^DATA \1>>>$", re.DOTALL | re.MULTILINE)
OPENED = re.compile(r"<<<DATA ([0-9a-f]{16}) ")
CLOSED = re.compile(r"DATA [0-9a-f]{16}>>>")


def outside_fences(body: dict[str, Any]) -> str:
    """What a careless model takes for VERA's own words: a request's messages without what stands in fences.

    It sees a new line at every character that somebody calls a line break. To it a fence ends at its own
    delimiter wherever that stands, and at the beginning of a line at any other delimiter as well.
    """
    said: list[str] = []
    for message in body["messages"]:
        delimiter = ""
        for line in str(message["content"]).splitlines():
            if not delimiter:
                opened = OPENED.match(line)
                delimiter = opened[1] if opened else ""
                said += [] if opened else [line]
            elif (end := f"DATA {delimiter}>>>") in line or CLOSED.match(line):
                said.append(line.partition(end if end in line else ">>>")[2])
                delimiter = ""
    return "\n".join(said)


SPAN = re.compile(r"<<<DATA [0-9a-f]{16} span (\d+) ")


def fenced_spans(body: dict[str, Any]) -> dict[int, str]:
    """The spans of a label request by their numbers, as they are fenced."""
    blocks = [found[0] for found in FENCE.finditer(str(body["messages"][-1]["content"]))]
    return {int(found[1]): block for block in blocks if (found := SPAN.match(block))}


def judging_by(word: str, otherwise: str = "IRRELEVANT") -> Callable[[dict[str, Any]], str]:
    """An honest judge of one claim: a span that holds `word` supports it, and no other span does."""

    def label(body: dict[str, Any]) -> str:
        blocks = fenced_spans(body)
        assert len(blocks) == span_count(body)
        said = [
            {"index": number, "relation": "SUPPORTS" if word in block else otherwise}
            for number, block in blocks.items()
        ]
        return json.dumps({"spans": said})

    return label


Page = tuple[int, dict[str, str], bytes]
"""An answer of a web site: status, headers, body."""


class Sites:
    """Web sites on loopback, one real server for all of them: `pages` by host name and path.

    Every name ends at this server when `names` stands in for the machine's look-up of names, as a name server
    of one's own would do it.
    """

    def __init__(self, pages: Mapping[str, Page]) -> None:
        self._pages = pages
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    def __enter__(self) -> "Sites":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)

    @staticmethod
    def names(name: str) -> list[str]:
        """What `vera.sandbox.egress.resolve` asks of the machine."""
        return ["127.0.0.1"]

    def url(self, address: str) -> str:
        """`news.alpha.example/a` as the address of a page here."""
        host, slash, path = address.partition("/")
        return f"http://{host}:{self.port}{slash}{path}"

    def options(self) -> list[str]:
        """What lets a run reach the sites, and nothing else."""
        hosts = {address.partition("/")[0] for address in self._pages}
        allowed = ",".join(f"{host}:{self.port}" for host in sorted(hosts))
        settings = ("egress.mode=allowlist", f"egress.allow={allowed}", "egress.allow_cidrs=127.0.0.0/8")
        return [part for setting in settings for part in ("-c", setting)]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        pages, sites = self._pages, self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                host = str(self.headers["Host"]).partition(":")[0].rstrip(".").lower()
                path, _, query = self.path.partition("?")
                status, headers, body = pages.get(f"{host}{path}", (404, {}, b"not here"))
                self.send_response(status)
                for name, value in {"Content-Type": "text/html; charset=utf-8", **headers}.items():
                    self.send_header(name, value.replace("PORT", str(sites.port)))
                body = body.replace(b"QUERY", unquote_plus(query).encode())
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Silent."""

        return Handler


def article(title: str, *paragraphs: str, status: int = 200, **headers: str) -> Page:
    """An HTML page."""
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    page = (
        f"<!doctype html><html><head><title>{title}</title></head><body><h1>{title}</h1>{body}</body></html>"
    )
    return status, headers, page.encode()
