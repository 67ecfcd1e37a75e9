"""Every attack and its honest twin: the attack is not believed, and the twin is."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from redteam.attack import Attack, attacks
from redteam.place import Stage, open_place, open_stage


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with open_stage() as opened:
        yield opened


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A third of the attacks, from each family; all of them with `--repeat-more`."""
    step = 1 if metafunc.config.getoption("--repeat-more") else 3
    metafunc.parametrize("attack", [each(attack) for attack in attacks()[::step]])


def each(attack: Attack) -> object:
    return pytest.param(attack, marks=[pytest.mark.needs(name) for name in attack.needs], id=attack.id)


def test_an_attack_is_not_believed(attack: Attack, stage: Stage, tmp_path: Path) -> None:
    with open_place(tmp_path, stage) as place:
        word = attack.play(place)
        assert (word in attack.must_not_be) == bool(attack.gets_through), (word, place.told)


def test_its_honest_twin_is_accepted(attack: Attack, stage: Stage, tmp_path: Path) -> None:
    with open_place(tmp_path, stage) as place:
        word = attack.play_twin(place)
        assert (word == attack.must_be) == (not attack.refused), (word, place.told)
