"""How candidates are sampled and how one of them is chosen."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

Fallback = Literal["first_candidate", "first_valid"]


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """How many turns are sampled for a step, and how.

    With `use_n` all of them are asked for in one request where the server can; they share `temperature`,
    `max_tokens` and `fields` (further fields of the wire form). Otherwise each is its own request, the
    first as a single turn would be asked for. `temperature` and `max_tokens` None are the run's own.
    `straggler_s` is how much longer than the first answered call another may take; the time begins when the
    endpoint has a place for it.
    """

    num_candidates: int = 1
    use_n: bool = True
    temperature: float | None = None
    max_tokens: int | None = None
    fields: Mapping[str, Any] = {}
    straggler_s: float = 30.0


class SelectionOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How one of the candidates is chosen.

    `selector` is one of `vera.selection.registry.SELECTORS`, or the dotted path of a class; '' when the
    verifier is off and the first candidate runs. `fallback` is what counts when no verdict can be used. When
    more than `agreement_threshold` of the candidates that are left agree and `stop_on_agreement`, no one is
    asked. `max_compared` clusters at most are compared in pairs; `vote_weight` is what a vote counts beside
    a comparison. `history_steps` steps are shown (-1: all that the lane still holds), with
    `include_candidate_text` the candidates' own words too. `selection_regex` finds the number of the chosen
    candidate in a reply ('' for the built-in reading), the first candidate having the number
    `selection_index_base`. `deadline_s` seconds are for all of a step's judge calls together.
    """

    selector: str = ""
    fallback: Fallback = "first_candidate"
    stop_on_agreement: bool = True
    agreement_threshold: float = 0.6
    max_compared: int = 4
    vote_weight: float = 1.0
    history_steps: int = 6
    include_candidate_text: bool = False
    selection_regex: str = ""
    selection_index_base: int = 1
    temperature: float = 0.0
    max_tokens: int = 1024
    deadline_s: float = 60.0
    seed: int = 0
