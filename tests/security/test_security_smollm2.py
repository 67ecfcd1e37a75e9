"""A real model that cannot judge, SmolLM2 with 135 million weights, as the judge of false theses.

It repeats what stands in a prompt and says SUPPORTS to what is cited: without an exam it made false theses
VERIFIED. It is served by our own extra `local`.
"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import parts
from support import theses_known as known
from support.judged import Verdicts
from vera import events
from vera.agent.conclusion import Result
from vera.agent.folders import file_facts
from vera.attestation.keys import load_or_create
from vera.model.connect import connect
from vera.model.embedded import EmbeddedServer
from vera.session import Reader

CONTEXT = 8192
"""What the model was trained for."""


@pytest.mark.timeout(900)  # a minute on a usual machine, five on a slow and busy one
@pytest.mark.needs("smollm2")
def test_smollm2_fails_its_exam_and_makes_no_false_thesis_true(
    tmp_path: Path, measured: Callable[[str, object], None]
) -> None:
    file = parts.smollm2()
    assert file is not None
    verdicts = Verdicts(tmp_path, load_or_create())

    async def run() -> list[Result]:
        async with EmbeddedServer(file, context_tokens=CONTEXT) as server:
            model = await connect(
                server.base_url, key=server.key, context_tokens=CONTEXT, weights=file_facts(file)
            )
            try:
                return [
                    await verdicts.judged(thesis, known.FIRST_LINE + number, model)
                    for number, thesis in known.FALSE
                ]
            finally:
                await model.close()

    begun = time.monotonic()
    results = asyncio.run(run())
    assert len(results) >= 60
    assert not [each for each in results if each.exit_code == 0 or each.status in ("VERIFIED", "QUOTED")]
    logs = [[record for _, record in Reader(root / "trace.jsonl").poll()] for root in tmp_path.glob("[0-9]*")]
    exams = [record for log in logs for record in log if isinstance(record, events.VerifierExam)]
    assert len(exams) == len(results) and not any(sat.passed or sat.problem for sat in exams)
    assert sum(not sat.kept for sat in exams) == 1, "it sat once, the other runs took that over"
    measured("SmolLM2: exam", f"{exams[0].right} of {exams[0].of}, {exams[0].accepted} false accepts")
    measured("SmolLM2: seconds with its exam", round(time.monotonic() - begun, 1))
