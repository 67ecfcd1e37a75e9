"""A form that was refused, as it was sent: what is wrong beside its field, and nothing typed is lost.

For the small forms of a session's page, which would be lost with the page that had them. The
forms that start a run are shown again where they are answered.
"""

from collections.abc import Mapping
from urllib.parse import quote

import msgspec

from vera.dashboard.run_form import LIMITS
from vera.report.html.wording import REVIEW_LABELS

MAX_SHOWN = 4000
"""Characters of a field that are shown again: twice as many as any of these may have."""


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """A field that a person fills in: its value as it was sent, and what is wrong with it, if anything."""

    name: str
    label: str
    value: str
    error: str = ""
    is_long: bool = False


class RefusedForm(msgspec.Struct, frozen=True, kw_only=True):
    """A form to be sent again to `action`. `sentence` says what was wrong; `kept` are fields that are not
    shown, `buttons` those that send it (name, value, label), `back` is the page that had it."""

    title: str
    action: str
    sentence: str
    back: str
    fields: tuple[Field, ...]
    buttons: tuple[tuple[str, str, str], ...]
    kept: tuple[tuple[str, str], ...] = ()


def refused_form(
    path: str, given: Mapping[str, str], sentence: str, errors: Mapping[str, str]
) -> RefusedForm | None:
    """The form that was sent to a path; None for one in which nothing can be typed. `errors` by field."""
    base, _, name = path.rpartition("/")

    def field(key: str, label: str, *, is_long: bool = False) -> Field:
        value = given.get(key, "")[:MAX_SHOWN]
        return Field(name=key, label=label, value=value, error=errors.get(key, ""), is_long=is_long)

    match name:
        case "resume":
            title, anchor = "The run was not resumed", "status"
            fields = tuple(field(key, label) for key, label in LIMITS.items())
            buttons: tuple[tuple[str, str, str], ...] = (("", "", "Resume the run"),)
        case "tags":
            title, anchor = "The tags were not kept", "tags"
            fields = (field("tags", "Tags, with commas between them"),)
            buttons = (("", "", "Keep tags"),)
        case "review":
            title, anchor = "The review was not written", "claims"
            fields = (field("note", "Note, if you want", is_long=True),)
            buttons = tuple(("label", value, words) for value, words in REVIEW_LABELS.items())
        case _:
            return None
    kept = (("claim", given.get("claim", "")[:MAX_SHOWN]),) if name == "review" else ()
    return RefusedForm(
        title=title,
        action=path,
        sentence="What you wrote is kept." if any(each.error for each in fields) else sentence,
        back=f"{base}#{anchor}",
        fields=fields,
        buttons=buttons,
        kept=kept,
    )


def page_before(path: str) -> str:
    """The page of the session that a path belongs to; '' for none."""
    parts = path.split("/")
    return f"/s/{quote(parts[2])}" if len(parts) > 3 and parts[1] == "s" and parts[2] else ""
