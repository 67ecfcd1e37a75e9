"""Made-up pages and rounds of any size, to measure what the audit costs. The same number, the same bytes."""

from random import Random

from checks.library import blob_of
from vera.attestation.exam import SPANS, SUPPORTED, Grade, graded
from vera.attestation.exam import VERSION as EXAM_VERSION
from vera.attestation.objects import Exam, Policy
from vera.attestation.record import Record
from vera.attestation.reduce import VERSION as REDUCE_VERSION
from vera.audit.case import AuditPolicy
from vera.audit.claims import VERSION as CLAIMS_VERSION
from vera.audit.registry import VERSION as AUDIT_VERSION
from vera.events import Evidence, Score, SpanLabel, VerifierLabels

PAGE_BYTES = 8000

_SUBJECTS = ("The harbour", "The trial", "A committee", "Corran Bakeries", "The north pier", "The array")
_VERBS = ("reported", "delivered", "approved", "measured", "replaced", "lost", "counted", "sold")
_THINGS = ("tonnes of flour", "sailings", "timber piles", "visitors", "turbines", "nurses", "clocks")
_SYLLABLES = ("nor", "hav", "el", "dun", "mar", "sket", "lin", "or", "bra", "tis", "vek", "ull", "pen", "cro")


def page(number: int, size: int = PAGE_BYTES) -> list[str]:
    """The lines of a page of about `size` bytes, with names, numbers and dates in every one."""
    random = Random(number)
    lines: list[str] = []
    while size > 0:
        place = "".join(random.choices(_SYLLABLES, k=3)).capitalize()
        tail = " ".join("".join(random.choices(_SYLLABLES, k=2)) for _ in range(6))
        lines.append(
            f"{random.choice(_SUBJECTS)} of {place} {random.choice(_VERBS)} {random.randrange(20, 90_000):,} "
            f"{random.choice(_THINGS)} in {random.randrange(1950, 2026)}, {random.randrange(2, 99)} % of its "
            f"{tail}."
        )
        size -= len(lines[-1]) + 1
    return lines


def judged_round(claims: int, sources: int, size: int = PAGE_BYTES) -> Record:
    """A round of verification: so many claims, each a line of one of so many sources, each with a card.

    The judge that labelled has passed its exam: only then do its labels count."""
    evidence: dict[str, Evidence] = {}
    texts: dict[str, bytes] = {}
    pages = [page(number, size) for number in range(sources)]
    for number, lines in enumerate(pages, 1):
        data = ("\n".join(lines) + "\n").encode()
        blob = blob_of(data)
        texts[blob.sha256] = data
        evidence[f"ev_{number:04}"] = Evidence(
            id=f"ev_{number:04}",
            call=f"call_{number:04}",
            step=number,
            tool="read",
            tier="captured",
            source=f"page-{number}.txt",
            summary="",
            text=blob,
            lines=len(lines),
            first=1,
            last=len(lines),
        )
    places = [(index % sources, index // sources % len(pages[index % sources])) for index in range(claims)]
    answer = "\n".join(
        f"{pages[source][line].removesuffix('.')} [ev_{source + 1:04}:{line + 1}]." for source, line in places
    )
    labels = tuple(
        VerifierLabels(
            round=1,
            claim=f"c{number}",
            labels=(
                SpanLabel(
                    evidence=f"ev_{source + 1:04}",
                    first=line + 1,
                    last=line + 1,
                    relation="SUPPORTS",
                    agree=1,
                    votes=1,
                ),
            ),
            maker="synthetic",
            prompt_sha256="0" * 64,
        )
        for number, (source, line) in enumerate(places, 1)
    )
    sat = Exam(model="synthetic", version=EXAM_VERSION, roles=("labels", "scores"), prompt="0" * 64)
    passed = graded(sat, Grade(right=SPANS, of=SPANS, accepted=0, refusable=SPANS - SUPPORTED))
    policy = Policy(
        rule="model",
        audit_policy=AuditPolicy(),
        claims=CLAIMS_VERSION,
        audit=AUDIT_VERSION,
        reduce=REDUCE_VERSION,
    )
    return Record(
        task="What do the pages say?",
        answer=answer,
        round=1,
        policy=policy,
        evidence=evidence,
        texts=texts,
        unreadable={},
        lookups=(),
        derivations=(),
        checks=(),
        labels=labels,
        scores=(Score(criterion="support", points=400, method="reply"),),
        verifier="synthetic",
        log=(1, "0" * 64),
        issued_at="2026-01-01T00:00:00Z",
        exams=(passed,),
    )
