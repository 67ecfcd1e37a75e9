"""Callers of VERA's services: a client of MCP, and one of HTTP."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from redteam.place import Place
from support.services import SAYS, Service, scripted
from vera.config import defaults
from vera.mcp import check_report, get_evidence, verify_claim
from vera.mcp.service import Service as McpService
from vera.mcp.service import ToolError

TOOLS = {
    "verify_claim": verify_claim.verify_claim,
    "check_report": check_report.check_report,
    "get_evidence": get_evidence.get_evidence,
}
SECRET = "Members may vote by telephone."


def mcp_call(place: Place, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a call gives, `{"refused": sentence}` where it is refused. Beside documents/ lies a secret."""
    documents = place.folder / "documents"
    documents.mkdir(exist_ok=True)
    (documents / "rules.txt").write_text("Rules\nMembers may vote by hand.\n")
    (place.folder / "secret.md").write_text(f"{SECRET}\n")
    (place.folder / "base").mkdir(exist_ok=True)
    settings = defaults({"model.base_url": "builtin", "sandbox.backend": "none", "egress.mode": "none"})
    service = McpService(
        base=(place.folder / "base").resolve(), input_dir=documents.resolve(), settings=settings
    )
    try:
        reply = asyncio.run(TOOLS[tool](service, arguments, lambda line: None))
    except (ToolError, Exception) as error:  # noqa: BLE001 (each refusal is a sentence, whatever its kind)
        return {"refused": f"{type(error).__name__}: {error}"}
    return {**reply.value, "fenced": reply.fenced}


@contextmanager
def service(place: Place, **more: Any) -> Iterator[tuple[Service, TestClient]]:
    """The HTTP service with a folder of documents; its children are a line of Python."""
    documents = place.folder / "documents"
    documents.mkdir(exist_ok=True)
    (documents / "rules.txt").write_text("Rules\nMembers may vote by hand.\n")
    (place.folder / "secret").mkdir(exist_ok=True)
    made = Service(place.folder / "service", roots=[documents], **more)
    with made.running(scripted(SAYS)) as client:
        yield made, client


def accepted(client: TestClient, token: str, kind: str, body: Mapping[str, Any]) -> str:
    """ACCEPTED or REFUSED."""
    answer = client.post(f"/v1/{kind}", json=body, headers={"authorization": f"Bearer {token}"})
    return "ACCEPTED" if answer.status_code < 300 else "REFUSED"


def outside(place: Place) -> Path:
    return place.folder / "secret"
