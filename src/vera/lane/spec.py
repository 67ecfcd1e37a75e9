"""What makes a lane of one purpose."""

import msgspec

from vera.lane.budget import BudgetLimits
from vera.usage import RunUsage


class LaneSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What makes a lane of one purpose: its head, its limits and how it asks.

    `max_steps` 0 means no limit; `answer_tokens` bounds one turn; `room` the bytes of an observation.
    `scope` says in the log who asks the model, `templates` which prompts made the head. A call that fails
    `repeat_limit` times in a row with the same arguments and error ends the lane (0: it does not). `limits`
    are those of the whole run's budget, or of the lane's share of it that counts from what had been spent
    `before`; near their end the model is told to answer.
    """

    name: str
    purpose: str
    system: str
    task_message: str
    protocol: str = "text"
    system_role: str = "system"
    temperature: float = 0.2
    max_steps: int = 80
    answer_tokens: int = 4096
    high_tokens: int = 24_000
    max_bytes: int = 0
    tail_steps: int = 4
    room: int = 8_000
    scope: str = "agent"
    templates: tuple[str, ...] = ("system", "task")
    repeat_limit: int = 0
    limits: BudgetLimits = BudgetLimits()
    before: RunUsage = RunUsage()
