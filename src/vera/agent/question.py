"""What kind of question the task asks: by its form, and with a model's help where only a reader can tell."""

from typing import Literal

import msgspec

from vera import events
from vera.evidence.prompt_quoting import fence, named
from vera.text.question import negative_question
from vera.verification.ask import ask, prompt
from vera.verification.context import VerifierContext

SCOPE = "verifier_question"
TASK_ROOM = 4000


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """A model's reading of the question."""

    answer_may_be_none: Literal["yes", "no"]


async def settle_form(context: VerifierContext) -> None:
    """Log the form of the question of now, once. Never raises for a model: one that cannot be asked leaves
    the question an ordinary one."""
    session = context.session
    lane, question = session.state.acting, session.state.question
    if session.state.lane(lane).history.question or question is None:
        return
    task = session.load(question)
    form = negative_question(task)
    negative, name, reason = form.negative, form.form, form.reason
    if negative is None:
        negative, name, reason = await _read(context, task, reason)
    session.emit(events.QuestionForm(negative=negative, form=name, reason=reason), lane=lane)


async def _read(context: VerifierContext, task: str, reason: str) -> tuple[bool, str, str]:
    if context.model is None:
        return False, "rule", f"{reason} No model was there to read it: it is taken for an ordinary question."
    shown = fence("question", named("question", task), TASK_ROOM).text
    messages = prompt(context, "question_form", task=shown)
    reply = await ask(
        context, lane=context.session.state.acting, step=0, scope=SCOPE, messages=messages, form=Reading
    )
    if reply.value is None:
        return False, "rule", f"{reason} The model's reading could not be used ({reply.problem})."
    is_negative = reply.value.answer_may_be_none == "yes"
    read = "may be answered" if is_negative else "is not answered"
    return is_negative, "read", f"Read by a model: the question {read} by “no” or “none”."
