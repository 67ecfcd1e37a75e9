"""Cases for audit tests: an answer, its claims, and the evidence it cites."""

import hashlib
from typing import Any

from vera.audit.case import AuditPolicy, Case
from vera.audit.claims import split
from vera.audit.source_text import SourceText
from vera.events import Blob, Evidence


def evidence_of(id: str, text: str | bytes, **fields: Any) -> tuple[Evidence, bytes]:
    """An evidence whose lines are all shown, and its canonical text."""
    data = text if isinstance(text, bytes) else text.encode()
    count = len(SourceText(data).lines)
    given: dict[str, Any] = {
        "call": "call_0001", "step": 1, "tool": "read", "tier": "captured", "source": f"{id}.txt",
        "summary": "", "text": Blob(hashlib.sha256(data).hexdigest(), len(data)), "lines": count,
        "first": min(1, count), "last": count,
    }  # fmt: skip
    return Evidence(id=id, **(given | fields)), data


def page_of(
    id: str, text: str, source: str = "https://example.org/page", **fields: Any
) -> tuple[Evidence, bytes]:
    """A fetched page."""
    return evidence_of(id, text, **({"tool": "fetch", "source": source, "http_status": 200} | fields))


def case_of(
    answer: str, *sources: tuple[Evidence, bytes], task: str = "", policy: AuditPolicy | None = None
) -> Case:
    """The answer over these sources."""
    return Case(
        task=task,
        answer=answer,
        claims=split(answer, [evidence.source for evidence, _ in sources]),
        evidence={evidence.id: evidence for evidence, _ in sources},
        sources={evidence.text.sha256: SourceText(data) for evidence, data in sources},
        policy=policy or AuditPolicy(),
    )
