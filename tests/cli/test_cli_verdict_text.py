"""What `vera verify` prints: every result has a sentence, and what is listed is named."""

import re

from vera.attestation import reduce
from vera.cli.verdict_text import SAYS, WHY
from vera.headline import headline


def test_every_result_of_the_reduction_has_a_sentence() -> None:
    assert reduce.__doc__ is not None
    given = set(re.findall(r"\| ([A-Z]+) \| ?([A-Z_]*) ?\|", reduce.__doc__))
    assert ("SUPPORTED", "") in given
    unsaid = {pair for pair in given if headline(*pair, "model") not in SAYS and pair not in WHY}
    assert unsaid == set()
    assert "QUOTED" in SAYS
