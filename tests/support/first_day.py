"""What the script of a first day says, step by step."""

from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "examples" / "first-day.sh"

SAID = {
    1: "“at least three years”: GPL-3.txt",
    2: "> The lease begins on 1 March 2024 and ends on 28 February 2029.",
    3: "> The electricity meter showed 4,812 kilowatt hours.",
    4: "“1,240 euros”: lease.pdf",
    5: "REFUTED: the lines below say otherwise",
    6: '"2,840 euros" is nowhere in the cited source lease.pdf',
    7: "L2 text       AGREES",
    8: "28 February 2029",
    9: '"status":"QUOTED","result":"SUPPORTED"',
    10: "QUOTED",
}
"""Step → some of what it prints."""


def insist_on_all_steps(said: str) -> None:
    """Fails unless every step is there, with what it has to print."""
    steps = {text.partition(".")[0]: text for text in said.split("\n== ")[1:]}
    for number, text in SAID.items():
        assert text in steps.get(str(number), ""), f"{number}: {said[-4000:]}"
