"""What the audit costs: milliseconds a claim, memory over many claims, and a round of many cards.

    python benchmarks/audit.py [--claims 10000]

Pages are made up (`checks.synthetic`): 8 kB each, a name, a number, a year and a percentage in every
line. Wanted are 25 ms a claim against an 8 kB page, memory flat over 10,000 claims, and for 200 cards over 60
sources half a second for spans and reduction and three seconds for the whole.
"""

import argparse
import multiprocessing
import multiprocessing.connection
import resource
import statistics
import sys
import time
from collections.abc import Callable

from checks.judging import page_case
from checks.synthetic import judged_round, page

from vera.attestation.build import build, case_of
from vera.attestation.cards import make_cards
from vera.attestation.coverage import cover
from vera.attestation.objects import Findings, SubClaim, Thesis, canonical, digest
from vera.attestation.record import Record
from vera.attestation.reduce import reduce
from vera.audit.registry import audit

CLAIMS = 500
CARDS, SOURCES = 200, 60
RUNS = 5


def milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - started)


def claim_of(lines: list[str], number: int) -> str:
    """A line of the page as it stands, or with a number that is not there."""
    line = lines[number % len(lines)]
    return line if number % 2 else line.replace("% of", f"% of the {100_001 + number}")


def a_claim() -> None:
    spent: list[float] = []
    for number in range(CLAIMS):
        lines = page(number)
        claim = claim_of(lines, number)
        started = time.perf_counter()
        audit(page_case(claim, lines))
        spent.append(1000 * (time.perf_counter() - started))
    spent.sort()
    p95 = spent[round(0.95 * (len(spent) - 1))]
    print(f"A claim against a page of 8 kB that was not seen before ({CLAIMS} claims), wanted 25 ms")
    print(f"  median {statistics.median(spent):.1f} ms, p95 {p95:.1f}, most {spent[-1]:.1f}")


def peak_mib() -> float:
    """The most memory that this process has had, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def audit_many(claims: int, pipe: multiprocessing.connection.Connection) -> None:
    """Audit so many claims, each on a page of its own, and send the peak after a tenth and after all."""
    for number in range(claims):
        lines = page(number)
        audit(page_case(claim_of(lines, number), lines))
        if number + 1 in (claims // 10, claims):
            pipe.send(peak_mib())


def memory(claims: int) -> None:
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("spawn").Process(target=audit_many, args=(claims, sender))
    child.start()
    early, late = receiver.recv(), receiver.recv()
    child.join()
    print(f"Memory, peak of a process (MiB)\n  after {claims // 10} claims {early:12.1f}")
    print(f"  after {claims} claims {late:11.1f}")


def a_round() -> None:
    record = judged_round(CARDS, SOURCES)
    whole, spans = [], []
    for _ in range(RUNS):
        whole.append(milliseconds(lambda: build(record)))
        spans.append(milliseconds_of_spans(record))
    print(f"{CARDS} cards over {SOURCES} sources of 8 kB (median of {RUNS})")
    print(f"  spans, coverage and reduction  {statistics.median(spans):7.0f} ms, wanted 500")
    print(f"  the whole, audit recomputed    {statistics.median(whole):7.0f} ms, wanted 3000")


def milliseconds_of_spans(record: Record) -> float:
    """Cards, coverage and reduction of a round whose findings are known."""
    case = case_of(record)
    sub_claims = tuple(SubClaim(key=claim.key, text=claim.text[:4000]) for claim in case.claims)
    thesis = Thesis(text=record.task, sub_claims=sub_claims)
    thesis_id = digest(canonical(thesis))

    def work() -> None:
        made = make_cards(case, thesis_id, record.labels, by_rule=False)
        assert len(made.cards) == CARDS
        coverage = cover(case, made, ())
        reduce(
            thesis=thesis,
            policy=record.policy,
            findings=Findings(),
            coverage=coverage,
            cards=made.cards,
            sources=made.sources,
        )

    return milliseconds(work)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--claims", type=int, default=10_000, help="how many the memory is measured over")
    options = parser.parse_args()
    a_claim()
    a_round()
    memory(options.claims)


if __name__ == "__main__":
    main()
