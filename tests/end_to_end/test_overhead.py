"""What a run costs beside its model, in bytes: what it sends, what it keeps, what memory it takes.

The script is the one that the prototype was measured with: `echo; seq 1 120` at each step. What it costs in
time is no test; `benchmarks/overhead.py` measures that.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from support import overhead
from support.benchmarks import loaded
from support.box_image import image
from support.overhead import Cost

STEPS = 200
MAX_PROMPT = 96_000
MAX_A_STEP = 8_000
MAX_A_STEP_DIFFERING = 8_500
"""Bytes of the session folder. An output that was not seen before is a file of the store: here 375 bytes."""

MAX_MEMORY = 120_000_000

pytestmark = pytest.mark.needs("docker")


@pytest.fixture(scope="module")
def long_run(tmp_path_factory: pytest.TempPathFactory) -> Cost:
    image()
    return overhead.session(tmp_path_factory.mktemp("same") / "run", STEPS, "docker")


def test_a_long_run_asks_its_model_at_every_step_and_ends_by_its_steps(long_run: Cost) -> None:
    assert (len(long_run.prompts), long_run.exit_code) == (STEPS, 6)


def test_no_prompt_of_200_steps_is_above_96_kb_on_the_wire(
    long_run: Cost, measured: Callable[[str, object], None]
) -> None:
    measured("largest prompt of 200 steps, bytes", max(long_run.prompts))
    assert max(long_run.prompts) <= MAX_PROMPT


def test_nearly_all_of_the_prompts_is_the_beginning_of_the_one_before(long_run: Cost) -> None:
    assert long_run.cached > 0.9


def test_a_session_folder_takes_at_most_8_kb_a_step(
    long_run: Cost, measured: Callable[[str, object], None]
) -> None:
    measured("session folder, bytes a step", round(long_run.bytes_per_step))
    assert long_run.bytes_per_step <= MAX_A_STEP, long_run.folder


def test_outputs_that_differ_add_themselves_to_the_store_and_little_else(tmp_path: Path) -> None:
    cost = overhead.session(tmp_path / "run", STEPS, "docker", command=overhead.DIFFERING)
    assert cost.bytes_per_step <= MAX_A_STEP_DIFFERING, cost.folder


def test_a_long_run_stays_within_120_mb(long_run: Cost) -> None:
    assert long_run.peak <= MAX_MEMORY


def test_a_command_that_prints_300_mb_takes_no_memory_of_them(
    tmp_path: Path, measured: Callable[[str, object], None]
) -> None:
    cost = overhead.session(tmp_path / "run", 4, "docker", "true", overhead.FLOOD)
    measured("peak MB with 300 MB of output, with the docker clients", round(cost.peak_of_all / 1e6))
    assert len(cost.prompts) == 4
    assert 0 < cost.peak <= MAX_MEMORY
    assert 0 < cost.peak_of_all <= MAX_MEMORY


def test_the_benchmark_shows_what_it_measured(long_run: Cost, capsys: pytest.CaptureFixture[str]) -> None:
    with loaded("overhead") as benchmark:
        benchmark.files(long_run, long_run)
        step, prompt = benchmark.step_row("VERA", long_run), benchmark.prompt_row("VERA", long_run)
    assert f"| **the whole folder** | **{long_run.bytes_per_step:,.0f}** |" in capsys.readouterr().out
    assert step[:2] == ("VERA", STEPS)
    assert prompt[3] == f"{long_run.prompts[-1]:,}"
