"""The sub-questions of a report: what a person gave, what a model proposes, or what the task itself asks.

Whoever gives them, there are at most MAX_QUESTIONS, each is one line, and the person sees them before the
first is answered.
"""

import asyncio
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated

import msgspec

from vera import events
from vera.agent.errors import SetupError
from vera.attestation.composed import MAX_LENGTH, plain
from vera.config import Settings
from vera.evidence.asked_pages import addresses
from vera.evidence.prompt_quoting import fence, named
from vera.model.types import Model
from vera.session import Session
from vera.text.late_regex import late_regex
from vera.text.stopwords import stop_words
from vera.text.words import STOPWORDS, stem, stems, words
from vera.verification.ask import ask, prompt
from vera.verification.context import VerifierContext

MAX_QUESTIONS = 8
"""More would leave each a share of the budget in which little can be read."""

MIN_LENGTH = 8
"""Characters of a question that a model proposes: a shorter one asks nothing by itself."""

ANSWER_TOKENS = 600
"""The room of a proposal: eight questions of about sixty tokens, and some for the form."""

SECONDS = 120.0
"""The model may take this long to propose them."""

TASK_ROOM = 8000
"""Bytes of the task that the model is shown."""

MAX_READ = 50_000
"""Characters of a task in which questions are looked for."""

MAX_LEFT_OUT = 20
"""Questions of a task that are listed as not asked. A choice: a longer list would bury the answers."""

SCOPE = "sub_questions"
ASKS = ("?", "？", "؟")

Revise = Callable[[Sequence[str]], Sequence[str] | None]
"""What a person makes of the proposed sub-questions; None where they call the run off."""

_ITEM = late_regex(r"[ \t]{0,8}(?:[-*•+]|\d{1,2}[.)])[ \t]+(\S[^\n]{0,2000})")
_END = late_regex(r"[.!](?!\S)|\?(?![\w&=%/])|[？؟。！\n]|\Z")
"""The end of a sentence. Neither a number nor an address has one in it."""
_LEADING = frozenset(
    stems("please answer reply respond question follow below tell find know say give also thanks thank")
)
"""What is said around questions and asks for nothing more."""

Question = Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": MAX_LENGTH})]


class Proposal(msgspec.Struct, frozen=True):
    """The form of a model's reply."""

    questions: tuple[Question, ...]


def distinct(questions: Iterable[str]) -> list[str]:
    """The questions in plain form, each once, without those that say nothing."""
    found: dict[str, str] = {}
    for question in map(plain, questions):
        if any(map(str.isalnum, question)):
            found.setdefault(question.casefold(), question)
    return list(found.values())


def given(settings: Settings) -> tuple[str, ...]:
    """The sub-questions of the settings. Raises SetupError (2) for too many, and for one that is too long."""
    questions = distinct(settings.run.sub_questions.split("\n"))
    if questions and settings.run.form != "report":
        raise SetupError("Sub-questions belong to a report: add --form report.", 2)
    if problem := refused(questions):
        raise SetupError(problem, 2)
    return tuple(questions)


def refused(questions: Sequence[str]) -> str:
    """Why these cannot be the sub-questions of a report, in a sentence; '' where they can."""
    if len(questions) > MAX_QUESTIONS:
        return f"A report has at most {MAX_QUESTIONS} sub-questions; these are {len(questions)}."
    if long := [each for each in questions if len(each) > MAX_LENGTH]:
        return f"A sub-question has at most {MAX_LENGTH} characters; one has {len(long[0])}: {long[0][:60]}…"
    return ""


class ReadOff(msgspec.Struct, frozen=True):
    """The questions that a task asks by itself, and those of them that a report cannot ask as well: too
    long, or one too many."""

    questions: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def read_off(task: str) -> ReadOff:
    """The questions that a task asks by itself: the items of its list, each with the line above the list
    where it is no question, else its sentences with a question mark.

    None where there are fewer than two, and where the task says more than its questions: the rest could be a
    demand, so such a task is asked as a whole.
    """
    if len(task) > MAX_READ:
        return ReadOff()
    for found, rest in (_items(task), _sentences(task)):
        questions = distinct(found)
        asked = [each for each in questions if len(each) <= MAX_LENGTH][:MAX_QUESTIONS]
        if len(asked) > 1 and not set(stems(rest)) - _LEADING:
            return ReadOff(tuple(asked), _bounded([each for each in questions if each not in asked]))
    return ReadOff()


def _items(task: str) -> tuple[list[str], str]:
    """The items of a task's list, and the lines that are in none of them."""
    lead, items, rest = "", list[str](), list[str]()
    used = False
    for line in task.split("\n"):
        if item := _ITEM.fullmatch(line):
            asked = item[1].strip()
            alone = not lead or asked.endswith(ASKS)
            items.append(asked if alone else f"{lead} {asked}")
            used = used or not alone
        elif line.strip() and items:
            rest.append(line)
        elif line.strip():
            rest.append(lead)
            lead = line.strip()
    return items, "\n".join(rest if used else [*rest, lead])


def _sentences(task: str) -> tuple[list[str], str]:
    """The sentences of a task that end with a question mark, and the others."""
    ends = [0, *(end.end() for end in _END.finditer(task))]
    sentences = [task[first:last] for first, last in itertools.pairwise(ends)]
    asked = [each for each in sentences if each.endswith(ASKS)]
    return asked, "\n".join(each for each in sentences if not each.endswith(ASKS))


def _bounded(questions: Sequence[str]) -> tuple[str, ...]:
    """The questions, of which the last one holds all beyond MAX_LEFT_OUT."""
    first = questions[: MAX_LEFT_OUT - 1]
    last = " ".join(questions[MAX_LEFT_OUT - 1 :])
    return tuple(filter(None, [*first, last]))


def usable(proposal: Iterable[str], task: str) -> list[str]:
    """What can be used of a model's proposal: questions of a bounded length, each with a content word of the
    task, without an address that the task does not have, and none of them the task itself."""
    whole, about, pages = plain(task).casefold(), _subject(task), frozenset(addresses(task))
    return [
        each
        for each in distinct(proposal)
        if MIN_LENGTH <= len(each) <= MAX_LENGTH
        and each.endswith(ASKS)
        and each.casefold() != whole
        and about & _subject(each)
        and pages.issuperset(addresses(each))
    ][:MAX_QUESTIONS]


def covering(questions: Sequence[str], task: str) -> list[str]:
    """The questions of a model, with the task itself as the last one where a content word of it is in none of
    them: whatever was proposed, what was asked is answered or listed as open."""
    if _subject(task) <= frozenset().union(*map(_subject, questions)):
        return list(questions)
    return [*questions[: MAX_QUESTIONS - 1], task.strip()]


def _subject(text: str) -> frozenset[str]:
    """The stems of the content words of a text, by the stop words of its language."""
    forms = [word.form for word in words(text)]
    joining = stop_words(forms) | STOPWORDS
    return frozenset(stem(form) for form in forms if form not in joining) - _LEADING


async def settle(
    context: VerifierContext,
    model: Model | None,
    questions: Sequence[str],
    revise: Revise,
    say: Callable[[str], None],
) -> None:
    """Log the sub-questions of the run, once: those that were given, else what `model` proposes (None: there
    is no model to ask), else what the task asks, as the person revises them.

    Raises SetupError (130) where the person calls the run off.
    """
    session = context.session
    if session.state.sub_questions is not None:
        return
    task = session.task_text()
    made = await _made(context, model, questions, task)
    whole = not made.questions
    shown = [plain(session.load(each))[:MAX_LENGTH] for each in made.questions] or [plain(task)[:MAX_LENGTH]]
    for number, question in enumerate(shown, 1):
        say(f"sub-question {number}: {question}")
    for each in made.left_out:
        say(f"not asked: {session.load(each)[:MAX_LENGTH]}")
    wanted = revise(shown) if made.by != "person" else shown
    if wanted is None:
        raise SetupError("The run was called off before its first sub-question.", 130)
    if list(wanted) != shown:
        made = _logged(session, wanted, "person", "revised by the person")
    elif whole:
        made = msgspec.structs.replace(made, questions=(session.text(task.strip()),))
    session.emit(made, lane="")


async def _made(
    context: VerifierContext, model: Model | None, questions: Sequence[str], task: str
) -> events.SubQuestions:
    """The sub-questions before the person sees them; none where the task is the only one."""
    session = context.session
    if questions:
        return _logged(session, questions, "person", "given with the task")
    problem = "no model was asked"
    if model is not None:
        proposal, problem = await _proposed(context, model, task)
        if proposal:
            added = ", and the task itself, which says more" if task.strip() in proposal else ""
            return _logged(session, proposal, "model", f"proposed by the model{added}")
    read = read_off(task)
    what = "read off the task" if read.questions else "the task is the only one"
    made = _logged(session, read.questions, "task", f"{what}: {problem}")
    return msgspec.structs.replace(made, left_out=tuple(map(session.text, read.left_out)))


def _logged(session: Session, questions: Sequence[str], by: str, reason: str) -> events.SubQuestions:
    return events.SubQuestions(questions=tuple(map(session.text, questions)), by=by, reason=reason)


async def _proposed(context: VerifierContext, model: Model, task: str) -> tuple[list[str], str]:
    """What the model proposes and can be used; nothing, and why, where that is fewer than two."""
    options = msgspec.structs.replace(context.options, answer_tokens=ANSWER_TOKENS)
    asking = msgspec.structs.replace(context, model=model, reader=None, options=options)
    shown = fence("task", named("task", task), TASK_ROOM).text
    try:
        async with asyncio.timeout(SECONDS):
            reply = await ask(
                asking,
                lane="",
                step=0,
                scope=SCOPE,
                messages=prompt(asking, SCOPE, task=shown, most=MAX_QUESTIONS),
                form=Proposal,
                lengths={"questions": (1, MAX_QUESTIONS)},
            )
    except TimeoutError:
        return [], f"the model proposed nothing within {SECONDS:.0f} seconds"
    if reply.value is None:
        return [], f"the model's proposal could not be used ({reply.problem})"
    found = usable(reply.value.questions, task)
    if len(found) > 1:
        return covering(found, task), ""
    return [], "the model proposed fewer than two questions about the task"
