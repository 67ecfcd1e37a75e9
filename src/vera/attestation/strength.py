"""The word of an attestation (`vera.headline`), from what is attested."""

from vera.attestation.objects import Attestation, Policy
from vera.headline import Headline, headline


def strength(attestation: Attestation, policy: Policy) -> Headline:
    """The word of an attestation that was made under this policy. It holds no word: the word is
    computed from the result, the reason and the rule, also for one that an older VERA signed."""
    return headline(attestation.result, attestation.reason, policy.rule)
