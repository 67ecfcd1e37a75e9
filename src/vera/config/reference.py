"""The tables of docs/reference/settings.md and docs/security-model.md, made from the code.

`python -m vera.config.reference PAGE…` writes them into the pages.
"""

import sys
from inspect import cleandoc
from pathlib import Path
from typing import cast

from vera.config.environment import NOT_SETTINGS
from vera.config.loading import defaults, public
from vera.config.schema import Setting, catalogue, sections, value_of, written
from vera.config.section import Section
from vera.config.trust import table

BEGIN = "<!-- settings: made by `python -m vera.config.reference`, do not edit -->"
END = "<!-- end of settings -->"
TRUST_BEGIN = "<!-- table of trust: made by `python -m vera.config.reference`, do not edit -->"
TRUST_END = "<!-- end of the table of trust -->"


def tables() -> str:
    """One table a section: each setting with its default, its other names, what is allowed, its meaning."""
    values = defaults()
    parts = []
    for section, kind in sections().items():
        own = public(cast(Section, value_of(values, section)))
        lines = [f"### {section}", "", cleandoc(kind.__doc__ or ""), ""]
        lines += ["| setting | default | also set by | may be | meaning |", "|---|---|---|---|---|"]
        lines += [_row(each, own[each.leaf]) for each in catalogue().values() if each.section == section]
        parts.append("\n".join(lines))
    others = [f"- `{name}`: {meaning}." for name, meaning in NOT_SETTINGS.items()]
    parts.append("\n".join(["### Names that are no settings", "", *others]))
    return "\n\n".join(parts)


def with_tables(page: str) -> str:
    """The page with the table between its two marks made from the code. Raises ValueError if it has none."""
    for begin, end, made in ((BEGIN, END, tables), (TRUST_BEGIN, TRUST_END, table)):
        head, found, rest = page.partition(begin)
        _, also_found, foot = rest.partition(end)
        if found and also_found:
            return f"{head}{begin}\n\n{made()}\n\n{end}{foot}"
    raise ValueError(f"The page must hold the lines {BEGIN} and {END}, or {TRUST_BEGIN} and {TRUST_END}")


def _row(setting: Setting, default: object) -> str:
    names = [f"`{name}`" for name in (setting.flag, *setting.env) if name]
    default_text = str(default) if setting.secret else f"`{written(default)}`"
    allowed = setting.allowed.replace("|", "\\|")
    cells = (f"`{setting.key}`", default_text, ", ".join(names) or "–", allowed, setting.description)
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    for target in map(Path, sys.argv[1:]):
        target.write_text(with_tables(target.read_text(encoding="utf-8")), encoding="utf-8")
