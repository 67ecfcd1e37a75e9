"""What a session that follows another one tells a model of it: the question before, and what carried over."""

import re
from collections.abc import Mapping

from vera import events
from vera.corpus import Corpus
from vera.evidence.prompt_quoting import fence, named
from vera.lane.tools.pages import pages_of
from vera.session import Session
from vera.state import RunState
from vera.text.stopwords import ENGLISH, GERMAN

MAX_NAMES = 1_000_000
"""Files of the input folder, as the index has them."""

BEFORE_ROOM = 3000
BEFORE_ROOM_SMALL = 800
SMALL_CONTEXT = 8000
"""Bytes of the question and the answer before that a prompt shows, and the tokens of a context for which
that is too much."""

SHORT = 4
"""A question with fewer words of content refers to the one before: it is looked for with that one's words."""

QUESTION_READ = 2000
"""Characters of the question before."""

_ASKING = ENGLISH | GERMAN
_WORD = re.compile(r"\w+")


def carried_pages(state: RunState, corpus: Corpus | None) -> Mapping[str, events.Evidence]:
    """The documents that were carried over, by name, which are searched and read as files are. A file of the
    input folder goes before one of its name."""
    if state.parent is None:
        return {}
    files = frozenset(corpus.names(MAX_NAMES)) if corpus is not None else frozenset[str]()
    pages = pages_of(state).items()
    return {name: page for name, page in pages if page.carried is not None and page.source not in files}


def before_in_words(session: Session, context_tokens: int | None = None) -> str:
    """The question before and its answer, fenced as data for a prompt; '' where the session follows none."""
    parent = session.state.parent
    if parent is None:
        return ""
    small = context_tokens is not None and context_tokens < SMALL_CONTEXT
    rows = [
        *named("question", session.load(parent.question)),
        *named("answered", session.load(parent.answer) or "(it came to no answer)"),
        ("verdict then", parent.status),
    ]
    return fence("the question before", rows, BEFORE_ROOM_SMALL if small else BEFORE_ROOM).text


def in_full(session: Session, task: str) -> str:
    """The task as words to look for: a short one that follows a question has that one's words behind it."""
    parent = session.state.parent
    if parent is None:
        return task
    if len(_content(task)) >= SHORT:
        return task
    return " ".join([task.strip(), *_content(session.load(parent.question)[:QUESTION_READ])])


def _content(text: str) -> list[str]:
    """The words of a question that neither ask nor join."""
    return [word for word in _WORD.findall(text) if word.casefold() not in _ASKING]
