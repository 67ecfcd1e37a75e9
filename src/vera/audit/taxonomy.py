"""How research answers fail: five classes, thirteen labels, as data.

The classes are those of DeepVerifier (Wan et al., arXiv:2601.15808, section 3: finding sources, reasoning,
problem understanding and decomposition, action errors, max step reached); strategic fabrication, the most
frequent single mode of DEFT (arXiv:2512.01948), is a label of reasoning.
"""

from typing import NamedTuple


class Label(NamedTuple):
    """One kind of failure: its class, what it means, and what an agent is told to do about it."""

    group: str
    meaning: str
    feedback: str


TAXONOMY: dict[str, Label] = {
    "wrong_evidence": Label(
        "finding_sources",
        "The cited place is not where the statement stands, or does not exist.",
        "Cite the lines that say it, or drop the statement.",
    ),
    "missing_source": Label(
        "finding_sources",
        "A statement without evidence: answered from memory.",
        "Find lines that say it and cite them, or drop the statement.",
    ),
    "generic_search": Label(
        "finding_sources",
        "Too little was searched to say what is claimed.",
        "Search again with materially different words and say what was searched.",
    ),
    "invalid_source": Label(
        "finding_sources",
        "The source cannot carry the statement: an error page, a search page, a failed command, out of date.",
        "Use another source that really holds the content.",
    ),
    "copied_source": Label(
        "finding_sources",
        "Sources that look independent are one: the same domain, or copies of each other.",
        "Add a source of another publisher that is no copy of the first.",
    ),
    "premature_conclusion": Label(
        "reasoning",
        "Concluded before the candidates or the scope were covered.",
        "List the candidates from a source and check each one.",
    ),
    "misinterpretation": Label(
        "reasoning",
        "The source says something else: another subject, year, unit, negation or degree.",
        "Read the cited lines again and say exactly what they say.",
    ),
    "overconfident": Label(
        "reasoning",
        "Stated more strongly than the source does.",
        "Keep the source's own limits: may, about, some, at least.",
    ),
    "fabricated": Label(
        "reasoning",
        "A value, name or quotation that is in no source and was not computed.",
        "Remove it, or find it in a source and cite it.",
    ),
    "misread_task": Label(
        "problem_understanding",
        "The answer is to another question than the one asked.",
        "Read the primary task again and answer that.",
    ),
    "goal_drift": Label(
        "problem_understanding",
        "Parts of the question were lost on the way, or it was taken apart wrongly.",
        "Answer each part of the primary task.",
    ),
    "action_error": Label(
        "action_errors",
        "A tool was used wrongly, or its failure was taken for a result.",
        "Repeat it rightly, or get the same thing another way.",
    ),
    "max_steps": Label(
        "max_step_reached",
        "The steps or the budget ended first.",
        "Answer with what is supported, and say what is open.",
    ),
}
"""Label → what it is. A check names one in each finding; a verifier question carries one."""
