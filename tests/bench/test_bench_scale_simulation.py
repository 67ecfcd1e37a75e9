"""Past one machine: queues in time against formulas, a plan from costs, and the page of the script."""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from support.benchmarks import together

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "scale.md"
MODULES = ("scale_simulation", "scale_costs", "scale_queues", "scale_measures", "scale_questions")
TINY = (
    *("--jobs=20", "--rounds=2", "--workers=1", "--blobs", "0", "30", "--puts=5", "--store-seconds=5"),
    *("--index-mb", "0.3", "0.6", "1.2", "--repeats=1", "--tasks=2", "--calls=2", "--minutes=0.1"),
    *("--least=50",),
)


@pytest.fixture(scope="module")
def scale() -> Iterator[Any]:
    """The scripts by the second word of their names."""
    with together(*MODULES) as modules:
        yield SimpleNamespace(
            **dict(zip((name.removeprefix("scale_") for name in MODULES), modules, strict=True))
        )


@pytest.fixture
def costs(scale: Any) -> Any:
    index = scale.costs.Index(
        document_bytes=10_000,
        build=10e6,
        share=0.4,
        query=scale.queues.Growth(0.001, 0.4),
        samples=(0.05, 0.1),
    )
    return scale.costs.Costs(
        queue=scale.costs.Queue(connections=4, put=500, work=200, cpu=0.005, rows=3, bytes=7000, wal=9000),
        store=scale.costs.Store(threads=8, puts=1000),
        index=index,
        given=scale.costs.Given(),
    )


@pytest.fixture
def question(scale: Any) -> Any:
    return scale.costs.Question(
        name="judged", status="VERIFIED", cpu=0.5, calls=3, judge_calls=6, prompt=10_000, cached=3000,
        completion=300, searches=1, records=50, evidence=60_000, folder=130_000, files=23, blobs=14, syncs=33,
        replay=0.5,
    )  # fmt: skip


@pytest.mark.parametrize("servers", [1, 4])
def test_a_station_makes_wait_as_long_as_erlang_says(scale: Any, servers: int) -> None:
    random, rate = Random(7), 0.7 * servers
    visits = [scale.queues.Visit("desk", scale.queues.exponential(1.0))]
    passed = scale.queues.Simulation(visits, {"desk": servers}, random).run(
        scale.queues.poisson(rate, 60_000, random)
    )
    waited = sum(passed.seconds) / len(passed.seconds) - 1.0
    assert waited == pytest.approx(scale.queues.mean_wait(rate, 1.0, servers), rel=0.1)
    assert passed.used["desk"] == pytest.approx(0.7, rel=0.03)


def test_one_server_waits_as_the_textbook_has_it(scale: Any) -> None:
    assert scale.queues.mean_wait(0.5, 1.0, 1) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="more arrives"):
        scale.queues.mean_wait(1.0, 1.0, 1)


def test_a_question_keeps_its_slot_until_its_end(scale: Any) -> None:
    queues = scale.queues
    visits = [queues.Visit(queues.SLOT, queues.constant(0.0)), queues.Visit("model", queues.constant(2.0))]
    servers = {queues.SLOT: 1, "model": 5}
    passed = queues.Simulation(visits, servers, Random(0), warm=0.0).run([0.0, 0.0, 0.0])
    assert passed.seconds == (2.0, 4.0, 6.0)
    assert passed.waits == (0.0, 2.0, 4.0)


def test_the_slowest_of_many_shards_is_waited_for(scale: Any) -> None:
    random, samples = Random(1), [each / 100 for each in range(1, 101)]
    few, many = (
        sum(scale.queues.slowest(samples, 1.0, shards)(random) for _ in range(500)) for shards in (2, 50)
    )
    assert 0 < few < many < 500 * 0.5


def test_a_power_law_is_found_in_its_points(scale: Any) -> None:
    growth = scale.queues.fitted([(size, 3 * size**0.5) for size in (10, 100, 1000)])
    assert growth.at(10_000) == pytest.approx(300)
    assert growth.reaches(300) == pytest.approx(10_000)


def test_times_that_fall_are_taken_as_constant(scale: Any) -> None:
    growth = scale.queues.fitted([(10, 2.0), (1000, 1.0)])
    assert growth.power == 0
    assert growth.reaches(5.0) == math.inf


def test_an_index_is_cut_where_it_cannot_be_built_in_time(scale: Any, costs: Any) -> None:
    assert costs.shards(1000) == 1
    assert costs.shards(costs.most_documents() * 2.5) == 3


def test_the_part_that_one_would_fill_first_is_named(scale: Any, costs: Any, question: Any) -> None:
    simulated = scale.costs.Simulated(minutes=1, least=200, seed=3)
    few = scale.costs.plan(costs, question, 1000, 1e9, simulated)
    many = scale.costs.plan(costs, question, 1e6, 1e5, simulated)
    assert (few.first, many.first) == ("index", "model")
    assert many.load == pytest.approx(costs.rate(1e6) * 9 * costs.model_seconds(question) / 16)


def test_a_plan_has_enough_of_each_part(scale: Any, costs: Any, question: Any) -> None:
    planned = scale.costs.plan(costs, question, 1e6, 1e6, scale.costs.Simulated(minutes=2, least=200, seed=3))
    assert all(share <= 0.8 for share in planned.passed.used.values())
    assert scale.queues.quantile(planned.passed.waits, 0.95) <= costs.given.patience
    assert planned.parts["worker"] >= costs.rate(1e6) * 0.5 / 2 / 0.7
    assert planned.tokens == pytest.approx(1e6 * scale.costs.price(question, costs.given))


def test_the_same_seed_gives_the_same_plan(scale: Any, costs: Any, question: Any) -> None:
    simulated = scale.costs.Simulated(minutes=1, least=200, seed=5)
    plans = [scale.costs.plan(costs, question, 1e4, 1e6, simulated) for _ in range(2)]
    assert plans[0] == plans[1]


def test_tokens_cost_what_the_prices_say(scale: Any, costs: Any, question: Any) -> None:
    assert scale.costs.price(question, costs.given) == pytest.approx(
        (7000 * 0.20 + 3000 * 0.02 + 300 * 1.25) / 1e6
    )


def test_a_price_that_no_one_knows_is_refused(scale: Any) -> None:
    assert scale.simulation.given_of(["peak=5"]).peak == 5
    with pytest.raises(SystemExit, match=r"--given gold: no such name. There are: .*peak"):
        scale.simulation.given_of(["gold=5"])


@pytest.mark.needs("postgres")
def test_the_page_has_the_tables_that_the_script_makes(scale: Any, tmp_path: Path) -> None:
    """Measured and simulated at the smallest size: other figures, the same tables."""
    page = tmp_path / "scale.md"
    page.write_text(f"before\n\n{scale.simulation.BEGIN}\nold\n{scale.simulation.END}\n\nafter\n")
    scale.simulation.main([*TINY, "--write", str(page), "--dir", str(tmp_path)])
    made = page.read_text()
    assert made.startswith("before\n") and made.endswith("\nafter\n") and "\nold\n" not in made
    assert structure(made) == structure(PAGE.read_text())


def structure(text: str) -> list[tuple[str, list[str], list[str]]]:
    """Of each generated table its heading, its columns, and the first cells of its rows, without figures."""
    found = []
    for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        heading, *lines = part.split("\n## ")[0].split("\n")
        rows = [
            [cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")
        ]
        named = [re.sub(r"[\d,.]+", "N", row[0]) for row in rows[2:]]
        found.append((heading, rows[0], list(dict.fromkeys(named))))
    return found


def test_each_interface_on_the_page_is_where_the_page_says() -> None:
    text = PAGE.read_text()
    named = re.findall(r"`(\w+)` (?:in|is)[^`]*`(src/vera/[\w/]+\.py)`", text)
    assert len(named) >= 12
    missing = [
        f"{name} in {path}"
        for name, path in named
        if not re.search(
            rf"^(?:class|def|    (?:async )?def) {name}\b", (ROOT / path).read_text(), re.MULTILINE
        )
    ]
    assert missing == []
