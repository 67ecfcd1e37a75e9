"""Asking again: the forms that go on from a session, filled with its task and settings, and what is wrong
with them, field by field."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from vera.config.handed import Allowed
from vera.dashboard.run_form import CHOICES, MAX_FIELD, MAX_TASK_BYTES, FieldProblem, StartForm, read_start
from vera.dashboard.session_index import Family, Relative
from vera.dashboard.sessions import SessionFolder
from vera.report.view.model import RunPage

MAX_CLAIM = 4000
"""Characters of a sentence that is checked as a thesis."""

REFUSED = frozenset({"ALTERED", "UNSEALED", "UNTRUSTED"})
"""Words for a session that no question follows from here: a person may accept it in a terminal."""


class AgainForm(msgspec.Struct, frozen=True, kw_only=True):
    """A form that was filled in: as StartForm, with what is wrong by field ('' is the form as a whole).
    `is_thesis`: what is asked is a sentence that is to be checked."""

    form: StartForm
    problems: Mapping[str, str] = {}
    is_thesis: bool = False


class Around(msgspec.Struct, frozen=True, kw_only=True):
    """The sessions before and after one, for a page."""

    before: tuple[tuple[SessionFolder, Relative], ...] = ()
    after: tuple[tuple[SessionFolder, Relative], ...] = ()


NOTHING_AROUND = Around()


def filled(
    form: StartForm,
    task: str,
    input_dir: str,
    settings: Mapping[str, Any],
    origins: Mapping[str, str],
    base: Path,
) -> StartForm:
    """The form with a task and its input folder, and with the settings of a session that were not its
    defaults. A log may come from anyone: only what a form has, as one line."""
    values = {**form.values, "input_dir": _below(base, input_dir) if input_dir else ""}
    for name, key in CHOICES.items():
        section, _, member = key.partition(".")
        found = settings.get(section)
        value = found.get(member) if isinstance(found, dict) else None
        if (
            name != "input_dir"
            and key in origins
            and value is not None
            and not isinstance(value, dict | list)
        ):
            values[name] = str(value)
    fitting = {name: text for name, text in values.items() if len(text) <= MAX_FIELD and text.isprintable()}
    return msgspec.structs.replace(form, task=task[:MAX_TASK_BYTES], values=fitting)


def tried(form: StartForm, fields: Mapping[str, str]) -> StartForm:
    """The form with what was sent."""
    values = {name: fields.get(name, "")[:MAX_FIELD] for name in CHOICES}
    return msgspec.structs.replace(form, task=fields.get("task", "")[:MAX_TASK_BYTES], values=values)


def sentence_of(page: RunPage, key: str) -> str | None:
    """The sentence of a claim, cut where it is very long, or the quoted lines of an extract; None when no
    claim has that key."""
    claim = next((each for each in page.claims if each.key == key), None)
    if claim is None:
        return None
    quoted = next((each.quotation for each in claim.cards if each.quotation and not each.problem), ())
    is_extract = quoted and claim.text not in page.answer
    return " ".join((" ".join(quoted) if is_extract else claim.text).split())[:MAX_CLAIM]


def field_problems(fields: Mapping[str, str], base: Path, allowed: Allowed) -> dict[str, str]:
    """What is wrong with the fields of a form, each looked at alone, then all together; {} for nothing."""
    found: dict[str, str] = {}
    for name in ("task", *CHOICES):
        if name == "task" or fields.get(name, "").strip():
            one = {"task": "a question", name: fields.get(name, "")}
            if problem := _problem(one, base, allowed):
                found[name] = problem
    if not found and (problem := _problem(fields, base, allowed)):
        found[""] = problem
    return found


def around(family: Family, folder_of: Callable[[bytes], SessionFolder]) -> Around:
    """The sessions of a family with their folders; `folder_of` gives that of a name in the index."""
    return Around(
        before=tuple((folder_of(each.name), each) for each in family.before),
        after=tuple((folder_of(each.name), each) for each in family.after),
    )


def _problem(fields: Mapping[str, str], base: Path, allowed: Allowed) -> str:
    try:
        read_start(fields, base, allowed)
    except FieldProblem as problem:
        return str(problem)
    return ""


def _below(base: Path, folder: str) -> str:
    """A folder as a form takes it: relative to the base, '' for one that does not lie below it."""
    try:
        relative = Path(folder).relative_to(base) if Path(folder).is_absolute() else Path(folder)
    except ValueError:
        return ""
    return "" if ".." in relative.parts else f"./{relative.as_posix()}"
