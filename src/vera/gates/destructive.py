"""A guard against accidents, no isolation: commands that plainly destroy are refused before they run.

What holds a hostile command is the sandbox. This list is short, a person edits it (`policy.destructive`), and
a command that is spelled otherwise passes.

A pattern is a simple command: its first word is the program, options are letters that must all be there in
whatever grouping and order, the other words are operands and redirections (`>/dev/sd*`), each matched by the
wildcards of a shell, where `[*]` is a star itself. `rm -r /` matches `rm -fr /` and `sudo rm -r -f /`, and
not `rm -r /work/tmp`. A pattern in quotation marks is text that is in the command, blanks left out.
"""

import re
from fnmatch import fnmatchcase
from functools import lru_cache
from posixpath import normpath

from vera import events
from vera.gates.commands import bare, simple_commands
from vera.gates.kernel import (
    ALLOW,
    Action,
    Facts,
    Gate,
    Proposal,
    Refuse,
    Rules,
    State,
    ToolCall,
    Verdict,
)

MAX_LENGTH = 20_000
"""Characters of a command that are looked at."""

_OPTION = re.compile(r"-[A-Za-z]+")
_LONG_OPTION = re.compile(r"--([A-Za-z])[\w-]*(?:=.*)?", re.DOTALL)
_BLANK = re.compile(r"\s+")


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """Refuse a shell command that matches one of the patterns."""
    if not isinstance(action, ToolCall) or action.tool != "shell":
        return ALLOW
    pattern = destroys(str(action.args.get("cmd", "")), rules.destructive)
    if not pattern:
        return ALLOW
    return Refuse(
        reason=f"The command matches “{pattern}” on the list of plainly destructive commands.",
        way_forward="Name exactly the files below /work that you want to change.",
        proposal=Proposal(tool="shell", args={"cmd": "ls -la /work"}),
        facts=Facts(subject=pattern),
    )


def destroys(command: str, patterns: tuple[str, ...]) -> str:
    """The first pattern that the command matches, '' for none.

    What is only said (in quotation marks, in a comment, in a here-document) is no command.
    """
    text = command[:MAX_LENGTH]
    said = bare(text) if any(pattern.startswith('"') for pattern in patterns) else ""
    commands = [(words[0], _letters(words[1:]), _operands(words)) for words in simple_commands(text)]
    for pattern in patterns:
        if pattern.startswith('"'):
            if _BLANK.sub("", pattern.strip('"')) in said:
                return pattern
        elif any(_matches(*each, pattern) for each in commands):
            return pattern
    return ""


def _letters(words: list[str]) -> frozenset[str]:
    """The letters of the options, a long one by its first; a capital one counts as small too."""
    letters = "".join(word[1:] for word in words if _OPTION.fullmatch(word))
    letters += "".join(found[1] for word in words if (found := _LONG_OPTION.fullmatch(word)))
    return frozenset(letters + letters.lower())


def _operands(words: list[str]) -> tuple[str, ...]:
    """The words that are no options, folders in their shortest spelling (`//`, `/./` and `/` are one)."""
    given = [word for word in words[1:] if not _OPTION.fullmatch(word)]
    given += [word for word in words[:1] if word.startswith(">")]
    return tuple(_shortest(word) for word in given)


def _shortest(word: str) -> str:
    word = word.replace("${HOME}", "$HOME")
    return re.sub(r"^/+", "/", normpath(word)) if word.startswith(("/", "~", "$HOME")) else word


@lru_cache(maxsize=256)
def _parsed(pattern: str) -> tuple[str, frozenset[str], tuple[str, ...]]:
    program, *rest = pattern.split() or [""]
    options = frozenset("".join(word[1:] for word in rest if _OPTION.fullmatch(word)))
    return program, options, tuple(word for word in rest if not _OPTION.fullmatch(word))


def _matches(name: str, letters: frozenset[str], operands: tuple[str, ...], pattern: str) -> bool:
    program, options, wanted = _parsed(pattern)
    if not fnmatchcase(name, program) or not options <= letters:
        return False
    return all(any(fnmatchcase(given, each) for given in operands) for each in wanted)


GATE = Gate(events.PolicyDestructive, judge)
