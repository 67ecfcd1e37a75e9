"""Findings: what a check without a model has to say about a claim."""

from typing import Literal

import msgspec

PLUGIN = "plugin:"
"""How the code of a plugin's finding begins; the name of the check and its own code follow."""

Severity = Literal["hard", "soft"]
"""A hard finding outranks every model: its claim is not supported. A soft one is a hint."""


class Finding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that is wrong, or may be.

    `code` names the rule that found it, `label` the kind of failure (`vera.audit.taxonomy`). `claim` is its
    key ('' for the answer as a whole); `evidence` and the lines `first` to `last` say where, when it is
    about a place. `message` is one sentence for the agent and the person; `detail` the offending value, or
    the difference between what was said and what is there.
    """

    code: str
    label: str
    severity: Severity
    message: str
    claim: str = ""
    evidence: str = ""
    first: int = 0
    last: int = 0
    detail: str = ""
