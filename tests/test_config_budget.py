"""Who decides what a run may spend: the person; a file of the working folder may only ask for less."""

from pathlib import Path

import pytest

from vera.agent.spending import limits_of
from vera.config import ConfigError, Settings, load
from vera.config.schema import catalogue
from vera.config.trust import AT_MOST, PRICE, TRUST
from vera.prices import UNIT, Prices

PRICES = [key for key, row in TRUST.items() if row.rule is PRICE]
KNOWN = "input_price: 2.5, output_price: 10"


def settings(
    tmp_path: Path, *overrides: str, folder: str = "", user: str = "", dotenv: str = "", **environ: str
) -> Settings:
    """The settings with these lines under `budget` in vera.yaml and in the person's own configuration."""
    (tmp_path / ".env").write_text(dotenv)
    for name, lines in (("vera.yaml", folder), ("user.yaml", user)):
        (tmp_path / name).write_text(f"budget: {{{lines}}}\n" if lines else "")
    return load(overrides, {}, environ, tmp_path, tmp_path / "user.yaml").settings


@pytest.mark.parametrize("key", ["tokens", "seconds", "searches"])
def test_the_folder_may_lower_a_limit(tmp_path: Path, key: str) -> None:
    found = settings(tmp_path, user=f"{key}: 500", folder=f"{key}: 400")
    assert getattr(found.budget, key) == 400


@pytest.mark.parametrize("key", ["tokens", "seconds", "searches"])
@pytest.mark.parametrize("asked", ["501", "0"])
def test_the_folder_may_not_raise_a_limit(tmp_path: Path, key: str, asked: str) -> None:
    with pytest.raises(ConfigError, match=f"budget.{key}: {asked} lets the run spend more than you allowed"):
        settings(tmp_path, user=f"{key}: 500", folder=f"{key}: {asked}")
    with pytest.raises(ConfigError, match=r"which file \.env:1 cannot decide"):
        settings(tmp_path, user=f"{key}: 500", dotenv=f"VERA_BUDGET__{key.upper()}={asked}")


def test_the_folder_may_set_a_limit_where_there_is_none(tmp_path: Path) -> None:
    assert settings(tmp_path, folder="tokens: 500").budget.tokens == 500


def test_a_person_overrules_the_folder_and_themselves(tmp_path: Path) -> None:
    assert settings(tmp_path, "budget.tokens=0", folder="tokens: 500").budget.tokens == 0
    raised = settings(tmp_path, user="tokens: 500", VERA_BUDGET__TOKENS="900")
    assert raised.budget.tokens == 900


@pytest.mark.parametrize("key", PRICES)
def test_the_folder_may_not_say_what_your_limit_on_cost_is_worth(tmp_path: Path, key: str) -> None:
    name = key.removeprefix("budget.")
    with pytest.raises(ConfigError, match=f"{key}: 0.01 decides what your limit on cost is worth"):
        settings(tmp_path, user=f"cost: 1, {KNOWN}", folder=f"{name}: 0.01")


def test_the_folder_may_bring_its_own_prices_with_its_own_limit(tmp_path: Path) -> None:
    assert settings(tmp_path, folder=f"cost: 1, {KNOWN}").budget.cost == 1


@pytest.mark.parametrize("known", ["", "input_price: 2", "output_price: 2", "verifier_input_price: 2"])
def test_cost_cannot_be_limited_without_prices(tmp_path: Path, known: str) -> None:
    with pytest.raises(ConfigError, match="a limit on cost needs the prices of a million tokens"):
        settings(tmp_path, user=", ".join(filter(None, ["cost: 1", known])))


def test_a_price_of_nothing_is_a_price(tmp_path: Path) -> None:
    assert settings(tmp_path, user="cost: 1, input_price: 0, output_price: 0").budget.cost == 1


def test_every_limit_is_one_that_the_folder_cannot_raise() -> None:
    limits = [key for key in catalogue() if key.startswith("budget.") and not key.endswith("_price")]
    assert {TRUST[key].rule for key in limits} == {AT_MOST}
    assert [key for key in catalogue() if key.startswith("budget.") and key.endswith("_price")] == PRICES


# In whole numbers


def test_prices_and_limits_are_exact(tmp_path: Path) -> None:
    limits = limits_of(settings(tmp_path, user="cost: 0.1, input_price: 0.15, output_price: 0.6").budget)
    assert limits.cost * 10 == UNIT
    assert limits.agent == Prices(prompt=150_000, cached=150_000, completion=600_000)


@pytest.mark.parametrize(
    ("given", "verifier"),
    [
        ("input_price: 4, cached_price: 1, output_price: 8", Prices(prompt=4, cached=1, completion=8)),
        (
            "input_price: 4, verifier_input_price: 6, output_price: 8",
            Prices(prompt=6, cached=6, completion=8),
        ),
        (
            "input_price: 4, cached_price: 1, verifier_input_price: 6, verifier_cached_price: 2, "
            "verifier_output_price: 9",
            Prices(prompt=6, cached=2, completion=9),
        ),
        ("input_price: 4, verifier_input_price: 0, verifier_output_price: 0", Prices()),
    ],
)
def test_the_verifiers_prices_are_those_of_the_model_where_none_are_given(
    tmp_path: Path, given: str, verifier: Prices
) -> None:
    limits = limits_of(settings(tmp_path, user=given).budget)
    found = limits.verifier
    assert [each / 1e6 for each in (found.prompt, found.cached, found.completion)] == [
        verifier.prompt,
        verifier.cached,
        verifier.completion,
    ]
