"""Would a small model that we train ourselves judge better than the rules? A logistic head over MiniLM.

    python training/entailment_head.py --wice FILE --averitec FILE \\
        --covidfact EVIDENCE CLAIM LABEL --fever EVIDENCE CLAIM LABEL [--limit 400] [--keep DIR]

The head reads the vectors of a claim (`u`) and of the best lines of its page (`v`): `|u - v|`, `u * v`, and
the cosine. Four judges reject claims: the rules (any finding), the rules weighed (a logistic model over the
codes of their findings), the head, and the head with the codes. Each is tried in two ways: in five folds of
one set, claims of one page in one fold; and across sets, trained on the others whole. The strength of the
penalty is chosen inside the training part. Needs the extra `semantic`. What it found: docs/verification.md.
"""

import argparse
import hashlib
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from checks.judging import page_case
from checks.labelled import CheckedClaim, read_averitec, read_pairs, read_wice

from vera.audit.checks.names import names
from vera.audit.registry import CHECKS
from vera.embedding import Embedder
from vera.embedding.choose import open_embedder

Matrix = NDArray[np.float64]

SEED = 19
FOLDS = 5
INNER = 2
PENALTIES = (3.0, 30.0, 300.0)
"""Beside a feature of variance one, of the mean loss of a claim."""
LINES = 3
STEPS = 12
AT_ONCE = 256
WANTED = 0.05
"""By so much the head has to beat the rules, on WiCE and two other sets."""


class Data(NamedTuple):
    """A labelled set: a row for each claim."""

    name: str
    wrong: NDArray[np.bool_]
    rejected: NDArray[np.bool_]
    """By the rules: any finding."""
    codes: tuple[frozenset[str], ...]
    vectors: Matrix
    page: NDArray[np.int64]
    """Which page the claim cites."""


def read_set(name: str, claims: Iterable[CheckedClaim], embedder: Embedder, keep: Path | None) -> Data:
    """What the rules and MiniLM make of each claim. `keep`: a folder for the vectors."""
    wrong, codes, pages, texts = [], [], list[int](), list[str]()
    checks = [check for check in CHECKS if check is not names or name in ("WiCE", "AVeriTeC")]
    for claim in claims:
        case = page_case(claim.text, claim.page)
        wrong.append(not claim.supported)
        codes.append(frozenset(finding.code for check in checks for finding in check(case)))
        (page,) = case.sources.values()
        lines = " ".join(each.text for each in page.passages.best(claim.text, LINES))
        texts += [claim.text, lines]
        pages.append(int.from_bytes(hashlib.sha256("\n".join(claim.page).encode()).digest()[:6]))
    return Data(
        name,
        np.array(wrong),
        np.array([bool(each) for each in codes]),
        tuple(codes),
        _features(_embedded(texts, embedder, keep and keep / f"{name}.npy")),
        np.array(pages, np.int64),
    )


def _embedded(texts: Sequence[str], embedder: Embedder, keep: Path | None) -> NDArray[np.float32]:
    """A vector a text; equal texts are read once, for many claims cite the same page."""
    if keep is not None and keep.is_file():
        kept: NDArray[np.float32] = np.load(keep)
        if len(kept) == len(texts):
            return kept
    once = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    wanted = list(once)
    parts = [embedder.embed(wanted[at : at + AT_ONCE]) for at in range(0, len(wanted), AT_ONCE)]
    found = np.concatenate(parts)[[once[text] for text in texts]]
    if keep is not None:
        np.save(keep, found)
    return found


def _features(vectors: NDArray[np.float32]) -> Matrix:
    """Of each claim and its lines: |u - v|, u * v, and the cosine."""
    claim, lines = vectors[::2].astype(np.float64), vectors[1::2].astype(np.float64)
    both = claim * lines
    return np.concatenate([np.abs(claim - lines), both, both.sum(axis=1, keepdims=True)], axis=1)


def balanced(wrong: NDArray[np.bool_], rejected: NDArray[np.bool_]) -> float:
    """The mean of the shares of wrong claims rejected and of supported ones kept."""
    return float((rejected[wrong].mean() + (~rejected[~wrong]).mean()) / 2)


def fitted(given: Matrix, wrong: NDArray[np.bool_], penalty: float) -> tuple[Matrix, Matrix, Matrix]:
    """A logistic model by Newton's method, both classes counting alike: its mean, scale and weights."""
    mean, scale = given.mean(axis=0), given.std(axis=0) + 1e-6
    rows = np.c_[(given - mean) / scale, np.ones(len(given))]
    share = np.where(wrong, 0.5 / wrong.sum(), 0.5 / (~wrong).sum())
    ridge = np.full(rows.shape[1], penalty / rows.shape[1])
    ridge[-1] = 1e-9
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        power = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (share * (power - wrong)) + ridge * weights
        curve = (rows * (share * power * (1 - power))[:, None]).T @ rows + np.diag(ridge)
        step = np.linalg.solve(curve, slope)
        weights -= step
        if np.abs(step).max() < 1e-4:
            break
    return mean, scale, weights


def rejects(model: tuple[Matrix, Matrix, Matrix], given: Matrix) -> NDArray[np.bool_]:
    """Which claims a fitted model rejects."""
    mean, scale, weights = model
    found: NDArray[np.bool_] = np.c_[(given - mean) / scale, np.ones(len(given))] @ weights > 0
    return found


def folds(page: NDArray[np.int64], count: int, seed: int) -> NDArray[np.int64]:
    """The fold of each claim; claims of one page share theirs."""
    known, index = np.unique(page, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(known))
    found: NDArray[np.int64] = order[index] % count
    return found


def trained(
    given: Matrix, wrong: NDArray[np.bool_], page: NDArray[np.int64]
) -> tuple[Matrix, Matrix, Matrix]:
    """A model with the penalty that is best in folds of the training part."""
    inner = folds(page, INNER, SEED + 1)

    def score(penalty: float) -> float:
        kept = np.zeros(len(wrong), bool)
        for fold in range(INNER):
            out = inner == fold
            kept[out] = rejects(fitted(given[~out], wrong[~out], penalty), given[out])
        return balanced(wrong, kept)

    return fitted(given, wrong, max(PENALTIES, key=score))


def judges(data: Data, known: Sequence[str]) -> dict[str, Matrix]:
    """What each trained judge reads of a set."""
    codes = np.array([[code in each for code in known] for each in data.codes], np.float64)
    return {
        "rules weighed": codes,
        "head": data.vectors,
        "head and rules": np.c_[data.vectors, codes],
    }


def in_folds(data: Data, known: Sequence[str]) -> dict[str, list[float]]:
    """Balanced accuracy of each judge on each fold that it was not trained on."""
    fold = folds(data.page, FOLDS, SEED)
    parts = [fold == number for number in range(FOLDS)]
    found = {"rules": [balanced(data.wrong[part], data.rejected[part]) for part in parts]}
    for name, given in judges(data, known).items():
        found[name] = []
        for part in parts:
            model = trained(given[~part], data.wrong[~part], data.page[~part])
            found[name].append(balanced(data.wrong[part], rejects(model, given[part])))
    return found


def across(data: Data, others: Sequence[Data], known: Sequence[str]) -> dict[str, float]:
    """Balanced accuracy of each judge that was trained on the other sets."""
    found = {"rules": balanced(data.wrong, data.rejected)}
    wrong = np.concatenate([each.wrong for each in others])
    page = np.concatenate([each.page for each in others])
    read = [judges(each, known) for each in others]
    for name, given in judges(data, known).items():
        model = trained(np.concatenate([each[name] for each in read]), wrong, page)
        found[name] = balanced(data.wrong, rejects(model, given))
    return found


def report(sets: Sequence[Data]) -> None:
    """Both tables, and what follows from them."""
    known = sorted(frozenset().union(*(code for data in sets for code in data.codes)))
    print("| set | claims (supported) | judge | folds | mean | trained on the other sets |")
    print("|---|---|---|---|---|---|")
    gained: dict[str, float] = {}
    for data in sets:
        elsewhere = across(data, [each for each in sets if each is not data], known)
        inside = in_folds(data, known)
        best = max(np.mean(inside["head"]), np.mean(inside["head and rules"]))
        gained[data.name] = float(best - np.mean(inside["rules"]))
        for name, values in inside.items():
            told = " ".join(f"{value:.3f}" for value in values)
            count = f"{len(data.wrong)} ({(~data.wrong).sum()})"
            figures = f"{told} | {np.mean(values):.3f} | {elsewhere[name]:.3f}"
            print(f"| {data.name} | {count} | {name} | {figures} |", flush=True)
    enough = sorted(name for name, more in gained.items() if more >= WANTED)
    print(f"\nAt least {WANTED} better than the rules, in folds: {', '.join(enough) or 'on no set'}.")
    print("It ships." if "WiCE" in enough and len(enough) >= 3 else "It does not ship.")


def main() -> None:
    """Read the sets that are named, and report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--wice", type=Path, required=True)
    parser.add_argument("--averitec", type=Path, required=True)
    parser.add_argument("--covidfact", type=Path, nargs=3, required=True)
    parser.add_argument("--fever", type=Path, nargs=3, required=True)
    parser.add_argument("--limit", type=int, default=400, help="the first so many claims of each set")
    parser.add_argument("--keep", type=Path, help="a folder for the vectors, so that a second run is quick")
    given = parser.parse_args()
    if given.keep:
        given.keep.mkdir(parents=True, exist_ok=True)
    embedder = open_embedder("minilm")
    assert embedder is not None
    claims = {
        "WiCE": read_wice(given.wice, given.limit),
        "COVID-Fact": read_pairs(*given.covidfact, given.limit),
        "AVeriTeC": read_averitec(given.averitec, given.limit),
        "FEVER": read_pairs(*given.fever, given.limit),
    }
    sets = []
    for name, rows in claims.items():
        sets.append(read_set(name, rows, embedder, given.keep))
        print(f"{name}: {len(sets[-1].wrong)} claims read", flush=True)
    report(sets)
    embedder.close()


if __name__ == "__main__":
    main()
