"""The sub-questions of a report, shown to the person before the first one is answered."""

import sys
from collections.abc import Sequence

import click

HEAD = "# One sub-question a line; lines that begin with # are left out.\n"


def revise(questions: Sequence[str]) -> Sequence[str] | None:
    """What the person makes of the sub-questions that were shown: the same, others, or None to call the run
    off. They are taken as they are where there is no terminal to ask on."""
    from vera.agent.sub_questions import distinct, refused

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return questions
    now = list(questions)
    while True:
        said = click.prompt(
            "Answer these? [y]es, [e]dit, [c]ancel", default="y", show_default=False, err=True
        )
        match said.strip().lower()[:1]:
            case "y":
                return now
            case "c" | "n":
                return None
            case "e":
                now = _edited(now)
                for number, question in enumerate(now, 1):
                    click.echo(f"{number}. {question}", err=True)
                if not now:
                    click.echo("There is no sub-question left.", err=True)
                    now = distinct(questions)
                elif problem := refused(now):
                    click.echo(problem, err=True)
                    now = list(questions)


def _edited(questions: Sequence[str]) -> list[str]:
    """The questions as they leave the person's editor; the same where nothing was saved."""
    from vera.agent.sub_questions import distinct

    text = click.edit(HEAD + "\n".join(questions) + "\n", extension=".txt")
    if text is None:
        return list(questions)
    return distinct(line for line in text.split("\n") if not line.lstrip().startswith("#"))
