"""Whether a call does what the verifier proposed."""

import json
from collections.abc import Mapping
from typing import Any

from vera.events import VerifierGradient


def follows(advice: VerifierGradient, tool: str, args: Mapping[str, Any]) -> bool:
    """Whether the call uses a proposed tool, on the proposed source where one was named."""
    said = json.dumps(args, ensure_ascii=False)
    return any(
        tool in action.suggested_tools and (not action.source or action.source in said)
        for action in advice.next_actions
    )
