"""The settings of best of N: how candidate turns are sampled, and what chooses the one that runs."""

import re
import warnings
from typing import Annotated, Literal

from pydantic import AfterValidator

from vera.config.section import ADDRESS_FORM, SECRET_FORM, FilePath, Secret, Section, ServerAddress, setting

Fallback = Literal["first_candidate", "first_valid"]

MAX_TEMPLATE_LENGTH = 20_000
"""Characters."""
MAX_REGEX_LENGTH = 200
"""Characters."""

LARGEST_SEED = 2**31 - 1
"""What every model server takes."""


def _template(value: str) -> str:
    if len(value) > MAX_TEMPLATE_LENGTH:
        raise ValueError("a template that is too long")
    return value


def _regex(value: str) -> str:
    if len(value) > MAX_REGEX_LENGTH:
        raise ValueError("a regular expression that is too long")
    try:
        with warnings.catch_warnings(action="ignore", category=FutureWarning):
            re.compile(value)
    except (re.error, OverflowError, RecursionError):
        raise ValueError("no regular expression") from None
    return value


Template = Annotated[str, AfterValidator(_template)]
Regex = Annotated[str, AfterValidator(_regex)]

TEMPLATE_FORM = f"a template of at most {MAX_TEMPLATE_LENGTH} characters"


class SamplingKwargs(Section):
    """What the candidates are sampled with. null: as the run's other turns, or not sent."""

    temperature: float | None = setting("Sampling temperature of the candidates.", ge=0, le=2)
    top_p: float | None = setting("Share of probability that is sampled from.", gt=0, le=1)
    top_k: int | None = setting("Number of tokens that are sampled from.", ge=-1, le=1_000_000)
    min_p: float | None = setting("Least probability of a token, beside that of the likeliest.", ge=0, le=1)
    max_tokens: int | None = setting("Room for one candidate, in tokens.", ge=16, le=1_000_000)
    seed: int | None = setting("Seed of the server's sampling, where it takes one.", ge=0, le=LARGEST_SEED)
    presence_penalty: float | None = setting("Penalty for tokens that are there already.", ge=-2, le=2)
    frequency_penalty: float | None = setting("Penalty that grows with how often they are.", ge=-2, le=2)


class CandidateSamplingSettings(Section):
    """How many turns are sampled for each step of the agent. Which one runs, action_verifier says."""

    num_candidates: int = setting(
        "Candidates of a step; 1 is no sampling.", flag="--num-candidates", ge=1, le=16
    )
    use_n: bool = setting(
        "Whether to ask for all of them in one request, where the server can. Then all are sampled with "
        "sampling_kwargs; in separate requests the first is as a turn without sampling."
    )
    straggler_s: float = setting(
        "Seconds that the others are waited for once the first candidate has come.", ge=0, le=3600
    )
    sampling_kwargs: SamplingKwargs


class ActionVerifierModelSettings(Section):
    """The model that is asked which candidate is best."""

    base_url: ServerAddress = setting(
        "Address of another server. Empty: that of the model that answers.", allowed=ADDRESS_FORM
    )
    name: str = setting(
        "Model to ask for. Empty: the one that answers; at another address, the one that the server has "
        "loaded."
    )
    key: Secret = setting(
        "Key for the server at base_url; sent nowhere else and never printed.",
        env=("ACTION_VERIFIER_API_KEY",),
        allowed=SECRET_FORM,
    )


class ActionVerifierSettings(Section):
    """What chooses among the candidates of a step (candidate_sampling); in a file also called verifier."""

    enabled: bool = setting(
        "Whether one is chosen. false: the first candidate runs, and the log has all of them."
    )
    verifier_type: str = setting(
        "pairwise: a model compares them two by two, in both orders. llm: a model sees all and names one. "
        "majority: the action that most agree on. first_valid: the first that can be read. shortest: the "
        "shortest action. random: any. A selector of a plugin by its name. In a file also called type.",
        flag="--action-verifier",
        pattern=r"^[a-z][a-z0-9_]{0,47}$",
        allowed="the name of a selector, such as pairwise",
    )
    verifier_class: str = setting(
        "A class of your own that chooses, instead of verifier_type. It is imported and run, so a file of "
        "the working folder cannot name it.",
        pattern=r"^([A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*){0,20}[.:][A-Za-z_][A-Za-z0-9_]*)?$",
        allowed="the dotted path of a class, such as my_package.choosing.Careful",
    )
    model: ActionVerifierModelSettings
    prompt_name: str = setting(
        "Name of your own templates in prompt_dir: <prompt_name>.system.md.j2 and "
        "<prompt_name>.selection.md.j2. Empty: those that come with VERA.",
        pattern=r"^([A-Za-z0-9][A-Za-z0-9_-]{0,63})?$",
        allowed="a name of letters, digits, - and _",
    )
    prompt_dir: FilePath | None = setting(
        "Folder of your own templates. A file of the working folder can name only a folder inside it."
    )
    system_template: Template = setting(
        "What the model that chooses is told about its task; counts before prompt_name. Empty: the template "
        "that comes with VERA.",
        allowed=TEMPLATE_FORM,
    )
    selection_template: Template = setting(
        "How it is shown the candidates; counts before prompt_name. Empty: the template that comes with "
        "VERA.",
        allowed=TEMPLATE_FORM,
    )
    history_steps: int = setting("Past steps that it sees; -1: all that the agent still sees.", ge=-1, le=100)
    selection_regex: Regex = setting(
        "Regular expression that finds the number of the chosen candidate in its reply; the last match "
        "counts. Empty: VERA's own reading, which knows what is no answer.",
        allowed=f"a regular expression of at most {MAX_REGEX_LENGTH} characters",
    )
    selection_index_base: int = setting("Number of the first candidate.", ge=0, le=1)
    fallback: Fallback = setting(
        "What runs when nothing could be chosen: the first candidate, or the first that can be read."
    )
    include_candidate_text: bool = setting(
        "Whether it sees a candidate's words too, not its action alone. Words persuade."
    )
    stop_on_agreement: bool = setting("Whether nothing is asked when enough candidates have the same action.")
    agreement_threshold: float = setting("Share of the candidates that must agree for that.", ge=0, le=1)
    max_compared: int = setting(
        "Different actions that are compared at most, those that most agree on first.", ge=2, le=8
    )
    vote_weight: float = setting(
        "What a candidate's vote for an action counts beside a comparison that it won.", ge=0, le=10
    )
    temperature: float = setting("Sampling temperature of the model that chooses.", ge=0, le=2)
    max_tokens: int = setting("Room for one of its replies, in tokens.", ge=16, le=1_000_000)
    deadline_s: float = setting(
        "Seconds for all the questions of one step; then the fallback runs.", gt=0, le=3600
    )
    seed: int = setting("Seed of every choice that chance makes.", ge=0, le=LARGEST_SEED)
