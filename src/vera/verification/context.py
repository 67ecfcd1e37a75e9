"""What a verifier works with, handed in by whoever runs it."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Literal

import msgspec

from vera.audit.case import AuditPolicy
from vera.corpus import Corpus
from vera.entailment.values import PairReader
from vera.gates.kernel import Rules
from vera.lane.prompts import Prompts
from vera.lane.tools import Tool
from vera.model.types import Model
from vera.sandbox.types import Box
from vera.session import Session
from vera.verification.plugin_checks import PluginCheck

Rule = Literal["model", "entailment", "literal"]
"""Who says what cited lines mean for a claim."""

MAX_CHECKS = 3
"""Questions of one round at most (DeepVerifier asks the fewest that decide, at most three)."""


class VerifierOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a verifier works.

    `rule` is model, entailment or literal; `checks` and `check_steps` bound the questions of a round and
    the turns of one, `tool_seconds` one of its commands. `readings` is how often labels and scores are read
    when the server gives no logprobs (`scores_apart`: each score by a call for it alone), `passages` how many
    of a source's best sentences the judge sees beside the cited lines, `answer_tokens` the room of one reply.
    `min_score` is in hundredths, `scope` where the run may look (files, web), `sandbox` what its commands ran
    in. `rules` are those of the gates of its check lanes, `file_sources` how many files a claim needs,
    `require` what an answer must be for exit code 0 (quoted or verified).
    """

    rule: Rule = "model"
    rounds: int = 3
    checks: int = MAX_CHECKS
    check_steps: int = 4
    readings: int = 2
    scores_apart: bool = False
    passages: int = 10
    answer_tokens: int = 1200
    high_tokens: int = 16_000
    system_role: str = "system"
    min_score: int = 300
    audit: AuditPolicy = AuditPolicy()
    scope: tuple[str, ...] = ()
    sandbox: str = ""
    tool_seconds: float = 120.0
    rules: Rules = Rules()
    file_sources: int = 1
    require: str = "quoted"


def lane_of(number: int) -> str:
    """The lane in which a round's own records stand."""
    return f"verify-{number}"


class VerifierContext(msgspec.Struct, frozen=True, kw_only=True):
    """The verifier's place of work. `model` is None under the literal rule. `reader` is the model that labels
    spans, None when `model` does that, too: labels are many and simple, scores few and hard.

    `open_tools(lane)` opens the tools of a check lane (read, search, fetch, and a shell whose box starts when
    it is first used) and closes them after it. `open_box(work, input)` starts a sealed box on a fresh
    work folder, with the run's input (None) or with another folder in its place; None where no box can be
    had. Either may raise `vera.sandbox.types.BoxError`. In the folder `exams` the exams of judges are kept
    for other sessions, None for nowhere. `corpus` is the input folder with its index, None without one.
    Under the rule entailment, `entailment` opens the judge, called `entailment_name`, each time the same; it
    may raise EntailmentError. Under the rule literal it is a judge that can only lower, or None.
    `plugin_checks` are asked beside the audit.
    """

    session: Session
    model: Model | None
    prompts: Prompts
    open_tools: Callable[[str], AbstractAsyncContextManager[Sequence[Tool]]]
    open_box: Callable[[Path, Path | None], AbstractAsyncContextManager[Box]] | None
    options: VerifierOptions
    reader: Model | None = None
    exams: Path | None = None
    corpus: Corpus | None = None
    entailment: Callable[[], PairReader] | None = None
    entailment_name: str = ""
    plugin_checks: tuple[PluginCheck, ...] = ()

    @property
    def reading(self) -> "VerifierContext":
        """The context at which spans are labelled: its model is the reader where there is one."""
        return msgspec.structs.replace(self, model=self.reader) if self.reader is not None else self
