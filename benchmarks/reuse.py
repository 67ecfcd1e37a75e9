"""Milliseconds of a thesis that is verified, and of the same request again, in one process.

.venv/bin/python benchmarks/reuse.py

The first is a look-up over examples/licences by the mechanical rule; the second reads the earlier session
whole and checks its log, seal, signature, objects and sources.
"""

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

RUNS = 20
CORPUS = Path(__file__).parents[1] / "examples" / "licences"
THESIS = "GPL version 3 requires the written offer to be valid for at least three years."


def milliseconds(act: Callable[[], object], runs: int = RUNS) -> list[float]:
    taken = []
    for _ in range(runs):
        began = time.perf_counter()
        act()
        taken.append(1000 * (time.perf_counter() - began))
    return taken


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="vera-reuse-") as name:
        folder = Path(name)
        os.environ.update(XDG_DATA_HOME=str(folder / "data"), XDG_CACHE_HOME=str(folder / "cache"))
        measure(folder / "base")


def measure(base: Path) -> None:
    from vera.agent.folders import corpus_digest
    from vera.agent.thesis import ThesisJob
    from vera.attestation.lenses import load_lens
    from vera.attestation.request import request_of
    from vera.config import defaults
    from vera.runtime.reuse import verify_or_reuse

    settings = defaults(
        {
            "verification.rule": "literal",
            "model.base_url": "builtin",
            "egress.mode": "none",
            "run.base_dir": str(base),
        }
    )
    names = (f"run-{number}" for number in range(10 * RUNS))

    def ask(*, fresh: bool = False) -> bool:
        request, budget = request_of(THESIS, corpus=corpus_digest(CORPUS))
        inquiry = ThesisJob(request=request, lens=load_lens("general"), budget=budget, input_dir=CORPUS)
        done = asyncio.run(verify_or_reuse(inquiry, settings, base, base / next(names), fresh=fresh))
        return done.verified.reused

    rows = {
        "verified for the first time": milliseconds(lambda: ask(fresh=True), 1),
        "verified anew": milliseconds(lambda: ask(fresh=True), 3),
        "the same request again, first": milliseconds(ask, 1),
        "the same request again": milliseconds(ask),
        "digest of the input folder": milliseconds(lambda: corpus_digest(CORPUS)),
    }
    assert ask()
    print(f"{'milliseconds':<34}{'runs':>6}{'median':>9}{'least':>9}{'most':>9}")
    for name, taken in rows.items():
        figures = (statistics.median(taken), min(taken), max(taken))
        print(f"{name:<34}{len(taken):>6}" + "".join(f"{figure:>9.1f}" for figure in figures))


if __name__ == "__main__":
    main()
