"""What is said before the first step of a model that writes slowly."""

import pytest

from vera.agent.spending import slowness
from vera.model.types import Probed


@pytest.mark.parametrize(
    ("speed", "said"),
    [
        (0.0, ""),
        (400.0, ""),
        (51.0, ""),
        (25.0, "m writes about 25 tokens/s: a step may take 40 seconds, and longer for long prompts"),
        (7.04, "m writes about 7.0 tokens/s: a step may take 2 minutes, and longer for long prompts"),
        (0.5, "m writes about 0.5 tokens/s: a step may take 33 minutes, and longer for long prompts"),
    ],
)
def test_a_slow_model_is_told_of_with_what_a_step_may_take(speed: float, said: str) -> None:
    assert slowness("m", Probed(tokens_a_second=speed)) == said
