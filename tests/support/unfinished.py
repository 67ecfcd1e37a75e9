"""Sessions without an end: one whose model server failed, and one that a process still writes."""

from pathlib import Path

from support.dashboards import Grown
from vera import events

TASK = "For how long must the written offer be valid under GPL version 3?"
ERROR = "http://127.0.0.1:8080/v1 refused the connection"


def failed(root: Path) -> None:
    """A run that stopped as its model could not be asked any more."""
    grown = _begun(root)
    grown.log.append(events.Model(step=2, scope="agent", latency_s=0.9, attempts=4, error=ERROR), "main")
    grown.log.close()


def running(root: Path) -> Grown:
    """A run that works while the value lives: its log is held open."""
    grown = _begun(root)
    call = events.ToolStarted(step=2, call="call_0002", tool="read", args='{"path": "GPL-3.txt"}')
    grown.log.append(call, "main")
    return grown


def _begun(root: Path) -> Grown:
    grown = Grown(root, task=TASK)
    lane = events.LaneStarted(
        purpose="agent",
        system="You are a research agent.",
        task_message=TASK,
        tools=("search", "read"),
        protocol="text",
        system_role="system",
        prompt_sha256="0" * 64,
        high_tokens=8000,
        max_bytes=0,
        tail_steps=4,
    )
    grown.log.append(lane, "main")
    grown.log.append(
        events.Model(step=1, scope="agent", latency_s=0.9, prompt_tokens=900, completion_tokens=40), "main"
    )
    call = events.ToolStarted(step=1, call="call_0001", tool="search", args='{"query": "written offer"}')
    grown.log.append(call, "main")
    grown.log.append(
        events.Tool(step=1, call="call_0001", tool="search", outcome="ok", obs="GPL-3.txt:257"), "main"
    )
    return grown
