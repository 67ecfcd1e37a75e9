"""The HTTP service in this process, with children that are a line of Python, and every reply held against
the description that it gives of itself."""

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import jsonschema
from starlette.testclient import TestClient

from vera.config import defaults
from vera.service.app import create_app
from vera.service.engine import Active
from vera.service.jobs import Jobs
from vera.service.openapi import document
from vera.service.processes import Processes
from vera.service.terms import Terms, named_roots
from vera.service.tokens import RIGHTS, Right, add
from vera.service.work import Work

PATIENCE = 60.0
LICENCES = Path(__file__).parents[2] / "examples" / "licences"
THESIS = "GPL version 3 requires the written offer to be valid for at least three years."

RESULT = {
    "exit_code": 0,
    "status": "QUOTED",
    "answer": "Yes.",
    "attestation": "",
    "claims": [],
    "citations": [],
}
SAYS = f"import sys; sys.stdin.read(); print({json.dumps(RESULT)!r})"
WAITS = "import sys, time; time.sleep(100)"
FAILS = "import sys; print('vera: it broke in a sentence.', file=sys.stderr); sys.exit(5)"


def scripted(script: str) -> Any:
    """How to start a child that is this script."""

    def command(active: Active, work: Work) -> list[str]:
        return [sys.executable, "-I", "-S", "-c", script]

    return command


class Service:
    """The service of a folder. Tokens are made with `token`; `client` has one."""

    def __init__(
        self,
        place: Path,
        *,
        roots: Sequence[Path] = (LICENCES,),
        egress: bool = False,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        self.place = place
        self.token_file = place / "tokens" / "tokens.json"
        base = place / "base"
        base.mkdir(parents=True, exist_ok=True)
        changed = {"model.base_url": "builtin", **(settings or {})}
        self.terms = Terms(
            base=base.resolve(),
            settings=defaults(changed),
            flags={name: str(value) for name, value in changed.items()},
            roots=named_roots(roots, base.resolve()),
            egress=egress,
        )

    def token(self, name: str = "one", *scopes: Right, at_once: int = 8, per_hour: int = 600) -> str:
        return add(self.token_file, name, scopes or RIGHTS, at_once, per_hour)

    @contextmanager
    def running(self, command: Any = None, *, at_once: int = 2, **limits: Any) -> Iterator[TestClient]:
        """A client of the service, without a token, while the block lasts."""
        engine = Processes(self.terms, at_once=at_once, command=command)
        app = create_app(Jobs(self.terms, engine, **limits), self.token_file)
        with TestClient(app, "http://127.0.0.1", raise_server_exceptions=False) as client:
            client.event_hooks["response"].append(as_described)
            yield client


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def ask(
    client: httpx.Client, token: str, kind: str, body: Mapping[str, object], **headers: str
) -> httpx.Response:
    """A request that starts a job; header names with `_` for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.post(f"/v1/{kind}", json=body, headers={**bearer(token), **named})


def job_of(client: httpx.Client, token: str, name: str) -> dict[str, Any]:
    answer = client.get(f"/v1/jobs/{name}", headers=bearer(token))
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def ended(client: httpx.Client, token: str, name: str) -> dict[str, Any]:
    """The job, once it has ended."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if (job := job_of(client, token, name))["status"] not in ("queued", "running"):
            return job
        time.sleep(0.02)
    raise AssertionError(f"the job {name} did not end")


def as_described(answer: httpx.Response) -> None:
    """Whether the OpenAPI document has this reply; for every reply of a test."""
    answer.read()
    if answer.request.method == "HEAD":  # an answer without a body
        return
    found = described(answer.request.method, answer.request.url.path)
    if found is None:
        assert answer.status_code in (401, 404, 405, 421, 403, 414, 431), answer
        is_json(answer, "ErrorReply")
        return
    content = found["responses"][str(answer.status_code)]["content"]
    kind = answer.headers["content-type"].partition(";")[0]
    assert kind in content, (kind, answer.text)
    if "$ref" in content[kind].get("schema", {}):
        is_json(answer, content[kind]["schema"]["$ref"].rpartition("/")[2])


def described(method: str, path: str) -> dict[str, Any] | None:
    """The operation of the document that a request is."""
    for pattern, operations in document()["paths"].items():
        wanted, given = pattern.split("/"), path.split("/")
        if len(wanted) == len(given) and all(w in (g, "{id}") for w, g in zip(wanted, given, strict=True)):
            operation: dict[str, Any] | None = operations.get(method.lower())
            return operation
    return None


def is_json(answer: httpx.Response, name: str) -> None:
    """Raises ValidationError unless the body is what the schema of that name says."""
    schema = {"$ref": f"#/components/schemas/{name}", "components": document()["components"]}
    jsonschema.Draft202012Validator(schema).validate(answer.json())
