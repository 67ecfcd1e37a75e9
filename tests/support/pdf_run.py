"""A small finished session whose answer cites the second page of a PDF."""

from pathlib import Path

from support.verified import answer as answered
from support.verified import begin, decide, finish, keep, ticking
from vera import events
from vera.agent.messages import reason
from vera.attestation.keys import Signer
from vera.extraction.canonical import extract
from vera.session import Session

QUESTION = "For how long does the maker of the pump repair it free of charge?"
ANSWER = (
    "The maker repairs the pump free of charge for three years from the day of delivery [ev_0001:{lines}]."
)
TITLE_PAGE = ("Pump P 40", "Operating manual", "", "Read it before you connect the pump.")
SECOND_PAGE = (
    "7 Service and warranty",
    "",
    "7.1 Service",
    "Clean the filter once a month and replace it once a year. Use only filters",
    "of type F 12: others let sand through, which destroys the bearing.",
    "",
    "7.2 Warranty",
    "The maker repairs the pump free of charge for three years from the day",
    "of delivery at the address that the order names.",
    "The warranty does not cover seals, filters and other parts that wear out,",
    "and it ends when the pump was opened by anyone else.",
    "",
    "7.3 Spare parts",
    "Spare parts are delivered for at least ten years after the last pump of",
    "this type was made.",
)


def make(root: Path, data: bytes, signer: Signer, answer: str = ANSWER) -> str:
    """The session in `root`; the sha256 of the text of its PDF."""
    made = extract(data, "pump.pdf")
    lines = made.text.decode().split("\n")
    first = next(number for number, line in enumerate(lines, 1) if line.startswith("The maker repairs"))
    session = Session.create(root, {}, ticking())
    try:
        session.emit(events.Task(task=QUESTION, input_dir="manuals"))
        evidence = keep(
            session,
            "read",
            {"path": "pump.pdf"},
            "pump.pdf",
            made.text,
            title="Pump P 40",
            media_type=made.media_type,
            extractor=made.extractor,
            raw=events.Blob(session.store.put(data), len(data)),
            pages=made.pages,
        )
        begin(session, 1, answered(session, answer.format(lines=f"{first}-{first + 1}")))
        decision = decide(session, signer, 1, claims=1, supported=1)
        finish(session, signer, decision, reason("QUOTED", decision))
    finally:
        session.close()
    return evidence.text.sha256
