"""The rules of a run's gates, from its settings, its task and what it has to work with."""

import re
from collections.abc import Sequence

import msgspec

from vera.config import Settings
from vera.evidence.official import official_names, wanted
from vera.gates.brave import BRAVE_TOOLS
from vera.gates.kernel import GATHERING, Rules
from vera.protocol.turn import ToolSpec
from vera.text.words import STOPWORDS, folded

SUBJECT_WORDS = 8
"""Of the task, for a query that a gate proposes."""

_LIMIT = 4000
_ORDERS = frozenset({
    "answer", "cite", "describe", "explain", "find", "give", "list", "look", "name", "quote", "report",
    "search", "show", "tell",
})  # fmt: skip
_FACES_WEB = re.compile(
    r"\bhttps?://|\b(?:web|internet|online|websites?|homepage|news|latest|currently|today|published)\b",
    re.IGNORECASE,
)


def rules_of(settings: Settings) -> Rules:
    """What the settings say; `for_task` adds the rest."""
    policy = settings.policy
    return Rules(
        max_steps=settings.run.max_steps,
        official_domains=frozenset(listed(policy.official_domains)),
        notes_interval=settings.notes.update_interval,
        pre_tool_nudges=policy.pre_tool_nudges,
        length_nudges=policy.length_nudges,
        reminders=policy.reminders,
        query_mutation_budget=policy.query_mutation_budget,
        query_vector_min=policy.query_vector_min,
        domain_shift_limit=policy.domain_shift_limit,
        source_shift_limit=policy.source_shift_limit,
        move_repeat_limit=policy.move_repeat_limit,
        stagnation_limit=policy.stagnation_limit,
        stuck_limit=policy.stuck_limit,
        failure_escalation_limit=policy.failure_escalation_limit,
        source_budget=policy.source_budget,
        search_budget=settings.budget.searches,
        brave_discovery_required=settings.brave.discovery_required,
        brave_max_calls=settings.brave.max_calls,
        finalization_limit=policy.finalization_limit,
        parse_error_limit=policy.parse_error_limit,
        negative_min_official=policy.negative_claim_min_official,
        negative_min_independent=policy.negative_claim_min_independent,
        negative_threshold_pct=policy.negative_claim_threshold_pct,
        negative_max_steps=policy.negative_claim_max_steps,
        destructive=tuple(listed(policy.destructive)),
        limits=limits_of(policy.gate_limits),
    )


def limits_of(text: str) -> dict[str, int]:
    """Limits by the name of their gate, from `name=3, other=5`. The setting's form is checked before."""
    pairs = (part.partition("=") for part in listed(text))
    return {name.strip(): int(value) for name, _, value in pairs}


def for_task(
    rules: Rules,
    task: str,
    tools: Sequence[ToolSpec],
    *,
    has_input: bool,
    has_web: bool,
    can_render: bool,
    engines: Sequence[str] = (),
) -> Rules:
    """The rules of a lane with these tools and `engines` of the web on this task.

    A task over an input folder faces the web only when it says so.
    """
    names = tuple(tool.name for tool in tools)
    return msgspec.structs.replace(
        rules,
        tools=names,
        gathering=(*GATHERING, *(tool.name for tool in tools if tool.gathers)),
        brave=BRAVE_TOOLS[0] in names,
        only_brave=set(engines) == {"brave"},
        web_task=has_web and (not has_input or _FACES_WEB.search(task[:_LIMIT]) is not None),
        can_render=can_render,
        names=official_names(task),
        subject=subject(wanted(task)),
    )


def subject(task: str) -> str:
    """The first content words of the task, without those that only say what to do."""
    left_out = STOPWORDS | _ORDERS
    words = (word for word in re.findall(r"\w[\w'’-]*", task[:_LIMIT]) if folded(word) not in left_out)
    return " ".join([word for word, _ in zip(words, range(SUBJECT_WORDS), strict=False)])


def listed(text: str) -> list[str]:
    """The parts of a list that is separated by commas."""
    return [part.strip() for part in text.split(",") if part.strip()]
