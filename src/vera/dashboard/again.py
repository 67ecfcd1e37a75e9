"""Asking again: a form filled with the task and settings of a session, who follows whom, and which session
is another one run again.

A run again takes nothing over, so nothing of it is in the log that is sealed. The dashboard that starts it
notes in its own log beside the session of which one it is: by the hash of the first record, which a session
has from its beginning on and keeps when it is moved.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from vera.dashboard import audit_log
from vera.dashboard.run_form import CHOICES, MAX_FIELD, MAX_TASK_BYTES, StartForm
from vera.dashboard.session_index import Family, Relative
from vera.dashboard.sessions import SessionFolder
from vera.report.view.model import RunPage

MAX_CLAIM = 4000
"""Characters of a sentence that is checked as a thesis."""

REFUSED = frozenset({"ALTERED", "UNSEALED", "UNTRUSTED"})
"""Words for a session that no question follows from here: a person may accept it in a terminal."""


_HASH = re.compile(r"[0-9a-f]{64}")

Shown = tuple[tuple[SessionFolder, Relative], ...]


class Around(msgspec.Struct, frozen=True, kw_only=True):
    """The sessions around one, for a page: as `Family`, with their folders."""

    before: Shown = ()
    after: Shown = ()
    origin: Shown = ()
    again: Shown = ()


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


def sentence_of(page: RunPage, key: str) -> str | None:
    """The sentence of a claim, cut where it is very long, or the quoted lines of an extract; None when no
    claim has that key."""
    claim = next((each for each in page.claims if each.key == key), None)
    if claim is None:
        return None
    quoted = next((each.quotation for each in claim.cards if each.quotation and not each.problem), ())
    is_extract = quoted and claim.text not in page.answer
    return " ".join((" ".join(quoted) if is_extract else claim.text).split())[:MAX_CLAIM]


def around(family: Family, folder_of: Callable[[bytes], SessionFolder]) -> Around:
    """The sessions of a family with their folders; `folder_of` gives that of a name in the index."""

    def shown(relatives: tuple[Relative, ...]) -> Shown:
        return tuple((folder_of(each.name), each) for each in relatives)

    return Around(
        before=shown(family.before),
        after=shown(family.after),
        origin=shown(family.origin),
        again=shown(family.again),
    )


def again_of(folder: Path) -> str:
    """The hash of the first record of the session that this one is run again of, as the dashboard that made
    it has noted; '' for none."""
    return as_origin(str(audit_log.first(folder).get("again_of", "")))


def as_origin(text: str) -> str:
    """The text where it can be the hash of a record, else ''."""
    return text if _HASH.fullmatch(text) else ""


def _below(base: Path, folder: str) -> str:
    """A folder as a form takes it: relative to the base, '' for one that does not lie below it."""
    try:
        relative = Path(folder).relative_to(base) if Path(folder).is_absolute() else Path(folder)
    except ValueError:
        return ""
    return "" if ".." in relative.parts else f"./{relative.as_posix()}"
