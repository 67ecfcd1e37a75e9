"""The words in which a judge is asked: two Jinja templates, those of the package or of the user.

What a template may use:

| name | what it is |
|---|---|
| `task` | the task of the run |
| `steps` | the last steps, oldest first, each with `number`, `action` and `observation` |
| `evidence` | the newest evidence, one line each |
| `candidates` | the candidates in the order shown, each with `number`, `action` and `text` |
| `index_base`, `last` | the number of the first and of the last candidate |
| `abstain` | the number that chooses none of them (one below the first) |

`action`, `observation`, `text`, `evidence` and `task` are fenced as data: text that comes from outside stands
between `<<<DATA` and `DATA>>>` and cannot close that fence. `text`, a candidate's whole turn, is '' unless it
is asked for. How many votes a candidate has is shown to no judge.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable
from vera.selection.data import cut, fenced
from vera.selection.selector import ActionCluster, PastStep, SelectionContext

MAX_TEMPLATE_LENGTH = 100_000
"""Bytes."""

MAX_PROMPT_LENGTH = 400_000
"""Characters of one message: a template that makes more cannot be filled in."""

MAX_TASK_LENGTH = 8_000
MAX_CANDIDATE_LENGTH = 6_000
"""Characters of a task, and of a candidate's action or text, that are shown."""

_PACKAGED = Path(__file__).parent.parent / "prompts" / "en"
_SYSTEM, _SELECTION = "select_system.md.j2", "select_candidates.md.j2"

_SAMPLE = SelectionContext(
    task="Which year was the bridge opened?",
    step=2,
    steps=(PastStep(step=1, action='search\n{"query": "bridge opened"}', observation="1| a hit"),),
    evidence=("ev_0001 · a hit",),
)
_SAMPLE_OPTIONS = (
    ActionCluster(index=0, votes=2, action="shell\nls", text="THOUGHT: look", size=8),
    ActionCluster(index=1, votes=1, action="final answer\n1932", text="THOUGHT: answer", size=17),
)


class TemplateError(ValueError):
    """A template cannot be read or filled in: a sentence for the person."""


class Past(msgspec.Struct, frozen=True):
    """A past step as a template sees it."""

    number: int
    action: str
    observation: str


class Shown(msgspec.Struct, frozen=True):
    """A candidate as a template sees it."""

    number: int
    action: str
    text: str


class Templates:
    """The system message and the question. '' takes the packaged one.

    Raises TemplateError for a template that cannot be filled in, which is tried with a made-up scene.
    """

    def __init__(self, system: str = "", selection: str = "") -> None:
        self._system = _compiled(system or packaged(_SYSTEM), "system_template")
        self._selection = _compiled(selection or packaged(_SELECTION), "selection_template")
        for steps, evidence, base in ((_SAMPLE.steps, _SAMPLE.evidence, 1), ((), (), 0)):
            tried = SelectionContext(task=_SAMPLE.task, step=_SAMPLE.step, steps=steps, evidence=evidence)
            self.render(tried, _SAMPLE_OPTIONS, index_base=base, with_text=bool(base))

    def render(
        self, scene: SelectionContext, options: Sequence[ActionCluster], *, index_base: int, with_text: bool
    ) -> tuple[str, str]:
        """The system message and the question about these options, shown in this order.

        Raises TemplateError.
        """
        values = {
            "task": fenced("the task", cut(scene.task, MAX_TASK_LENGTH)),
            "steps": [_past(step) for step in scene.steps],
            "evidence": fenced("evidence", "\n".join(scene.evidence)) if scene.evidence else "",
            "candidates": [
                _shown(number, option, with_text) for number, option in enumerate(options, index_base)
            ],
            "index_base": index_base,
            "last": index_base + len(options) - 1,
            "abstain": index_base - 1,
        }
        return (
            _filled(self._system, "system_template", values),
            _filled(self._selection, "selection_template", values),
        )


def named(prompt_dir: str | Path, prompt_name: str) -> tuple[str, str]:
    """The texts of `NAME.system.md.j2` and `NAME.selection.md.j2` of a folder. Raises TemplateError."""
    if not prompt_name or prompt_name.startswith(".") or "/" in prompt_name or "\0" in prompt_name:
        raise TemplateError(
            f"The prompt name {prompt_name[:80]!a} is no name of a file. Name the templates "
            "NAME.system.md.j2 and NAME.selection.md.j2 by NAME alone."
        )
    folder = Path(prompt_dir)
    return _read(folder, f"{prompt_name}.system.md.j2"), _read(folder, f"{prompt_name}.selection.md.j2")


def packaged(name: str) -> str:
    """The text of a packaged template."""
    return (_PACKAGED / name).read_text(encoding="utf-8")


def _past(step: PastStep) -> Past:
    return Past(
        step.step,
        fenced(f"action of step {step.step}", step.action),
        fenced(f"observation of step {step.step}", step.observation),
    )


def _shown(number: int, option: ActionCluster, with_text: bool) -> Shown:
    action = fenced(f"action of candidate {number}", cut(option.action, MAX_CANDIDATE_LENGTH))
    text = fenced(f"text of candidate {number}", cut(option.text, MAX_CANDIDATE_LENGTH)) if with_text else ""
    return Shown(number, action, text)


def _read(folder: Path, name: str) -> str:
    try:
        text = read_regular(folder, name, MAX_TEMPLATE_LENGTH).decode("utf-8")
    except Unreadable as why:
        raise TemplateError(
            f"The prompt template {folder / name} cannot be used: {why}. A prompt by name is two files of "
            "action_verifier.prompt_dir, NAME.system.md.j2 and NAME.selection.md.j2."
        ) from None
    except UnicodeDecodeError:
        raise TemplateError(f"The prompt template {folder / name} is no UTF-8 text.") from None
    if not text.strip():
        raise TemplateError(f"The prompt template {folder / name} is empty.")
    return text


@cache
def _environment() -> Any:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # the output is a prompt for a model, not a page
    )


def _compiled(source: str, name: str) -> Any:
    from jinja2 import TemplateError as JinjaError

    if len(source) > MAX_TEMPLATE_LENGTH:
        raise TemplateError(
            f"The {name} of action_verifier is longer than {MAX_TEMPLATE_LENGTH} characters: shorten it."
        )
    if not source.strip():
        raise TemplateError(
            f"The {name} of action_verifier is empty. Leave it out to have the one that comes with VERA."
        )
    try:
        return _environment().from_string(source)
    except (JinjaError, RecursionError) as error:
        raise TemplateError(f"The {name} of action_verifier is no Jinja template: {_said(error)}.") from error


def _filled(template: Any, name: str, values: dict[str, Any]) -> str:
    parts: list[str] = []
    room = MAX_PROMPT_LENGTH
    try:
        for part in template.generate(**values):
            parts.append(part)
            room -= len(part)
            if room < 0:
                raise TemplateError(
                    f"The {name} of action_verifier makes more than {MAX_PROMPT_LENGTH} characters."
                )
    except TemplateError:
        raise
    except Exception as error:  # an expression of the user may raise anything
        raise TemplateError(
            f"The {name} of action_verifier cannot be filled in: {_said(error)}. It may use task, steps, "
            "evidence, candidates, index_base, last and abstain."
        ) from error
    return "".join(parts).strip()


def _said(error: BaseException) -> str:
    line = getattr(error, "lineno", None)
    where = f" (line {line})" if line else ""
    return " ".join(str(error).split())[:300].rstrip(".") + where
