"""A session as the exports take it: read once, as its log is now."""

from pathlib import Path

import msgspec

from vera.agent.conclusion import result_of
from vera.dashboard.run_page import look_at
from vera.export.finished import Finished
from vera.store import Store


def finished(root: Path) -> Finished:
    """The session in `root`, with the status that it may say.

    Raises what `look_at` raises, and StoreError.
    """
    found = look_at(root)
    header = found.page.header
    shown = result_of(found.state, Store(root / "store")).report
    if header.verdict:
        shown = msgspec.structs.replace(shown, status=f"{header.verdict}: {header.reason}")
    return Finished(
        task=header.task,
        word=header.verdict or header.status,
        reason=header.reason,
        report=shown,
        page=found.page,
        evidence=found.state.evidence,
    )
