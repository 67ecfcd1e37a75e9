"""How many attacks of authors who had read no rule are believed: the table in docs/redteam.md.

    python benchmarks/attacks.py [--round first|second|third|fourth|fifth] [--family NAME] [--misses]

Each attack and its honest twin is played once, as in `tests/redteam`. The first round was used for repairs
after it had been played. The second was written beside these repairs, and played before and after them
without a look at it; the third was written when they were done, and decided with the second which of them
stay. The fourth was used for later repairs, beside which the fifth was written. Once the attacks of a round
have been read and a rule was changed for them, it says nothing more about new ones.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import msgspec

import isolation
from redteam.attack import Attack, attack_of
from redteam.place import Stage, open_place, open_stage

ROUNDS = Path(__file__).parent / "attacks"


def attacks(name: str) -> Iterator[Attack]:
    """The attacks of a round."""
    for line in (ROUNDS / f"{name}.jsonl").read_text("utf-8").splitlines():
        told = msgspec.json.decode(line)
        yield attack_of(told.pop("family"), told.pop("name"), told)


def word_of(attack: Attack, stage: Stage, *, twin: bool) -> str:
    """The word that a person gets to see."""
    with tempfile.TemporaryDirectory() as folder, open_place(Path(folder), stage) as place:
        return (attack.play_twin if twin else attack.play)(place)


def main() -> None:
    """Play a round and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--round", choices=["first", "second", "third", "fourth", "fifth"], default="fifth")
    parser.add_argument("--family")
    parser.add_argument("--misses", action="store_true", help="name those that are believed or refused")
    given = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as home, open_stage() as stage:
        isolation.apply(isolation.private_environment(Path(home)))
        for attack in attacks(given.round):
            if given.family not in (None, attack.family):
                continue
            word, other = word_of(attack, stage, twin=False), word_of(attack, stage, twin=True)
            is_believed, is_refused = word in attack.must_not_be, other != attack.must_be
            for family in (attack.family, "all"):
                counts[family, "attacks"] += 1
                counts[family, "believed"] += is_believed
                counts[family, "refused"] += is_refused
            if given.misses and (is_believed or is_refused):
                print(attack.id, f"{word}, twin {other}")
    print(f"{'family':14} {'attacks':>8} {'believed':>9} {'twins not accepted':>19}")
    for family in sorted({family for family, _ in counts}, key=lambda name: (name == "all", name)):
        row = (counts[family, what] for what in ("attacks", "believed", "refused"))
        print("{:14} {:8} {:9} {:19}".format(family, *row))


if __name__ == "__main__":
    main()
