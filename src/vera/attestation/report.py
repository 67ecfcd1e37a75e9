"""What a replay found: a verdict for each level, and what it rests on."""

from collections.abc import Iterable, Sequence
from typing import Literal, get_args

import msgspec

from vera.attestation.reviews import ReviewLog

Verdict = Literal[
    "BROKEN",
    "ALTERED",
    "DIFFERS",
    "UNREADABLE",
    "MISSING",
    "RULES_CHANGED",
    "EXTRACTOR_CHANGED",
    "NOT_REPRODUCED",
    "UNTRUSTED",
    "UNSEALED",
    "NOT_CHECKED",
    "NOT_ATTESTED",
    "AGREES",
]
"""The worst first.

- BROKEN: the log is not what was written.
- ALTERED: bytes are not what their hash or signature says, or two makers signed.
- DIFFERS: computed again, something else came out.
- UNREADABLE: no text can be had from the raw bytes here.
- MISSING: bytes that are needed are not there.
- RULES_CHANGED, EXTRACTOR_CHANGED: this version of the rules, or of the extractor, gives something else.
- NOT_REPRODUCED: the file of an entailment judge gives other labels here, or is another file.
- UNTRUSTED: the signer is neither this person nor anybody whom they trust.
- UNSEALED: no one says where the log ends.
- NOT_CHECKED: the level before it does not hold.
- NOT_ATTESTED: there is no attestation.
"""

_ORDER: tuple[Verdict, ...] = get_args(Verdict)

MAX_REMARKS = 50
"""Of a level; how many more there are is said in one line."""

AGREES, DOES_NOT_HOLD, NOT_ATTESTED = 0, 1, 3


class Remark(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that was found at a place: a line of the log, a blob, a card, a claim. Without a `verdict` it
    is only worth knowing."""

    where: str
    sentence: str
    verdict: Verdict | Literal[""] = ""


class Level(msgspec.Struct, frozen=True, kw_only=True):
    """One level of a replay: the worst verdict of its remarks, or AGREES, and one sentence about it."""

    name: str
    subject: str
    verdict: Verdict
    sentence: str
    remarks: tuple[Remark, ...] = ()


class Attested(msgspec.Struct, frozen=True, kw_only=True):
    """The attestation of a round, the key that signed it, and whose that is ("by your key")."""

    round: int
    attestation: str
    result: str
    reason: str
    keyid: str
    signed: str
    chosen: bool


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A replay. `reviews` is what people said of single claims, None for nothing: no verdict rests on it."""

    levels: tuple[Level, ...]
    attested: tuple[Attested, ...] = ()
    reviews: ReviewLog | None = None

    @property
    def exit_code(self) -> int:
        """0 when every level agrees, 3 when there is no attestation and all else holds, else 1."""
        verdicts = {level.verdict for level in self.levels}
        if verdicts == {"AGREES"}:
            return AGREES
        return NOT_ATTESTED if verdicts <= {"AGREES", "NOT_ATTESTED"} else DOES_NOT_HOLD


def level(name: str, subject: str, remarks: Sequence[Remark], summary: str) -> Level:
    """A level from its remarks; `summary` is its sentence when it agrees."""
    bad = sorted((each for each in remarks if each.verdict), key=lambda each: _ORDER.index(_of(each)))
    sentence = bad[0].sentence if bad else summary
    if len(bad) > 1:
        sentence += f" ({len(bad) - 1} more)"
    return Level(
        name=name,
        subject=subject,
        verdict=_of(bad[0]) if bad else "AGREES",
        sentence=sentence,
        remarks=_shortened([*bad, *(each for each in remarks if not each.verdict)]),
    )


def _of(remark: Remark) -> Verdict:
    assert remark.verdict
    return remark.verdict


def _shortened(remarks: Sequence[Remark]) -> tuple[Remark, ...]:
    if len(remarks) <= MAX_REMARKS:
        return tuple(remarks)
    more = Remark(where="…", sentence=f"{len(remarks) - MAX_REMARKS} more like these.")
    return (*remarks[:MAX_REMARKS], more)


def cut(text: str, length: int = 160) -> str:
    """`text` on one line, shortened for a remark."""
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= length else one_line[: length - 1].rstrip() + "…"


def counted(number: int, one: str, many: str = "") -> str:
    """`1 card`, `2 cards`; `many` is for a plural that is not `one` and an s."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def listed(names: Iterable[str], most: int = 5) -> str:
    """Names for a sentence, the first few of them."""
    all_names = list(names)
    more = f" and {len(all_names) - most} more" if len(all_names) > most else ""
    return ", ".join(all_names[:most]) + more
