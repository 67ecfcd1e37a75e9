"""What has become of Brave in this run."""

from vera.gates import proposals
from vera.gates.kernel import Proposal, Rules, State

BRAVE_TOOLS = ("brave_search", "brave_news")


def calls_spent(state: State, rules: Rules) -> bool:
    """Whether the calls that the run may make are spent."""
    used = state.engines.get("brave")
    return bool(rules.brave_max_calls and used and used.calls >= rules.brave_max_calls)


def rests_for(state: State, ts: float) -> float:
    """Seconds from `ts` on for which Brave is left alone."""
    used = state.engines.get("brave")
    return max(0.0, used.rests_until - ts) if used else 0.0


def without_brave(state: State, rules: Rules, query: str) -> tuple[str, Proposal]:
    """The way forward without Brave: another engine for the same query where there is one, else what there
    is."""
    words = query or rules.subject
    others = not rules.only_brave and not proposals.searches_are_spent(state, rules)
    if others and "web_search" in rules.tools and words:
        return "Ask the other engines with web_search.", Proposal(tool="web_search", args={"query": words})
    return "Fetch or read what you have, or say what is missing.", proposals.look()
