"""What the floor that no judge lifts drops of pairs that people call supported, and of the others.

    python benchmarks/floor.py [--wice FILE] [--fever EVIDENCE CLAIM LABEL] [--covidfact FILE]
                               [--scifact FILE] [--limit N]

The data is read from the files that are named: none of it comes with VERA, and what is not named is said to
be absent. WiCE is its JSON lines, of which each claim cites the sentences that support it; of the others each
claim cites its one passage. Pairs of the kind of FEVER are three parallel files, as for `verifier.py`;
COVID-Fact and SciFact are tables with tabs (number, passage, claim, label). Their passages come without the
title of their page, so that names are left out there.

The bound for words (`FLOOR_PERCENT`) is also chosen by five folds: the largest one that drops at most 2 % of
the supported pairs of the other four folds, the sets weighing the same, and what it then drops of the fifth.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from checks.judging import page_case
from checks.labelled import CheckedClaim, read_pairs, read_wice

from vera.audit.case import Case, statements
from vera.audit.checks.wording import FLOOR_PERCENT, floor_share
from vera.audit.registry import FLOOR, audit
from vera.bench.eval_data import DataError
from vera.bench.figures import wilson
from vera.evidence.claim import Cite

FOLDS = 5
MAX_LOST = 0.02
"""The share of supported pairs that a bound for words may drop."""

BOUNDS = range(60)
WEIGHED = ("WiCE", "FEVER", "COVID-Fact")
"""The sets by which the bound is chosen: the labels of SciFact rest on single sentences of abstracts."""


class Pair(NamedTuple):
    """One claim: whether people say that it is supported, the floors that it falls under, and the share of
    its words that the lines hold (100 where it is not compared)."""

    supported: bool
    floors: frozenset[str]
    share: int


def looked_at(claims: Iterator[CheckedClaim], named: bool) -> list[Pair]:
    """`named`: the sources come with their titles, so that names count."""
    pairs = []
    for each in claims:
        case = citing(each)
        floors = {f.code for f in audit(case) if f.code in FLOOR and f.severity == "hard"}
        ((claim, cited),) = statements(case)
        share = floor_share(claim.text, cited)
        kept = frozenset(floors if named else floors - {"name_absent"})
        pairs.append(Pair(each.supported, kept, 100 if share is None else share))
    return pairs


def citing(claim: CheckedClaim) -> Case:
    """The claim with the lines that support it cited; the whole page where none are known."""
    case = page_case(claim.text, claim.page)
    if not claim.gold:
        return case
    cites = tuple(Cite("ev_0001", line, line) for line in sorted(claim.gold))
    (statement,) = case.claims
    return msgspec.structs.replace(case, claims=(msgspec.structs.replace(statement, cites=cites),))


def read_table(path: Path, limit: int) -> Iterator[CheckedClaim]:
    """The rows of a table of pairs. Raises DataError."""
    try:
        rows = path.read_text("utf-8").splitlines()[1 : limit + 1]
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read: {error}.") from None
    for row in rows:
        cells = row.split("\t")
        if len(cells) == 4:
            yield CheckedClaim(text=cells[2], page=(cells[1],), supported=cells[3].strip() == "entailment")


def dropped(pairs: Sequence[Pair], falls: Callable[[Pair], bool]) -> str:
    """How many of these pairs fall, their share and its interval."""
    count = sum(map(falls, pairs))
    low, high = wilson(count, len(pairs)) or (0.0, 0.0)
    share = count / len(pairs) if pairs else 0.0
    return f"{count:5} of {len(pairs):5}  {share:.3f} [{low:.3f}, {high:.3f}]"


def table(name: str, pairs: Sequence[Pair]) -> None:
    right, wrong = [p for p in pairs if p.supported], [p for p in pairs if not p.supported]
    print(f"\n{name}\n  {'':22}{'supported pairs':>38}   {'others':>38}")
    kinds: list[tuple[str, Callable[[Pair], bool]]] = [("any floor", lambda pair: bool(pair.floors))]
    kinds += [(code, lambda pair, code=code: code in pair.floors) for code in sorted(FLOOR)]  # type: ignore[misc] # a lambda is not typed
    for kind, falls in kinds:
        if any(map(falls, pairs)):
            print(f"  {kind:22}{dropped(right, falls):>38}   {dropped(wrong, falls):>38}")


def largest(sets: Sequence[Sequence[Pair]]) -> int:
    """The largest bound that drops at most MAX_LOST of the supported pairs, the sets weighing the same."""

    def loses(bound: int) -> float:
        shares = [sum(pair.share < bound for pair in pairs) / len(pairs) for pairs in sets if pairs]
        return sum(shares) / len(shares)

    return max(bound for bound in BOUNDS if loses(bound) <= MAX_LOST)


def folds(sets: dict[str, list[Pair]]) -> None:
    right = {name: [p for p in sets[name] if p.supported] for name in WEIGHED if name in sets}
    if not right:
        return
    print(f"\nThe bound for words, by {FOLDS} folds of {', '.join(right)} (in use: {FLOOR_PERCENT})")
    for name, pairs in right.items():
        lost, bounds = 0, []
        for fold in range(FOLDS):
            rest = [[p for i, p in enumerate(each) if i % FOLDS != fold] for each in right.values()]
            bounds.append(largest(rest))
            lost += sum(pair.share < bounds[-1] for i, pair in enumerate(pairs) if i % FOLDS == fold)
        print(f"  {name:12} bounds {bounds}  dropped {lost} of {len(pairs)} ({lost / len(pairs):.3f})")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--wice", type=Path)
    parser.add_argument("--fever", type=Path, nargs=3)
    parser.add_argument("--covidfact", type=Path)
    parser.add_argument("--scifact", type=Path)
    parser.add_argument("--limit", type=int, default=4000, help="how many pairs of each")
    options = parser.parse_args()
    readers: dict[str, Iterator[CheckedClaim] | None] = {
        "WiCE": read_wice(options.wice, options.limit) if options.wice else None,
        "FEVER": read_pairs(*options.fever, options.limit) if options.fever else None,
        "COVID-Fact": read_table(options.covidfact, options.limit) if options.covidfact else None,
        "SciFact": read_table(options.scifact, options.limit) if options.scifact else None,
    }
    sets: dict[str, list[Pair]] = {}
    for name, claims in readers.items():
        if claims is None:
            print(f"{name}: absent, no file was named")
            continue
        try:
            sets[name] = looked_at(claims, named=name == "WiCE")
        except DataError as error:
            print(f"{name}: absent. {error}")
            continue
        table(name, sets[name])
    folds(sets)


if __name__ == "__main__":
    main()
