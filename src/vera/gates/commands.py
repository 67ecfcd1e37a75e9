"""The simple commands that are in a bash text: what would be run, not what is only said.

A reading for a guard against accidents, linear in the text: quoted text, comments and the bodies of
here-documents are no commands; `$(…)`, backticks and the text after `bash -c` are. Nothing is expanded.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

DEPTH = 4
"""How deep a command may be in the words of another and still be seen."""

_KEYWORDS = frozenset({"{", "}", "!", "if", "then", "else", "elif", "while", "until", "do", "time", "coproc"})
_PREFIXES = {
    "sudo": "ugpChrtT",
    "doas": "uC",
    "env": "uCS",
    "nice": "n",
    "ionice": "cn",
    "timeout": "ks",
    "nohup": "",
    "exec": "a",
    "command": "",
    "builtin": "",
    "setsid": "",
    "stdbuf": "ioe",
    "xargs": "adEILnPs",
}
"""Programs that run their operands → their options that take a word."""
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w{0,200}(?:\[[^]]{0,200}\])?\+?=")
_ENDS_WORD = frozenset(" \t\n;&|()<>")


def simple_commands(text: str) -> list[list[str]]:
    """Each simple command as its words: the program without its folder, then operands, options and
    redirections (`>target`) in order. Prefixes such as `sudo` and assignments are left out."""
    return list(_commands(text, DEPTH))


def bare(text: str) -> str:
    """What is in the text outside of quotes, comments and here-documents, without blanks."""
    reader = _Reader(text)
    reader.read()
    return "".join(reader.bare)


def _commands(text: str, depth: int) -> Iterator[list[str]]:
    reader = _Reader(text)
    reader.read()
    for written in reader.commands:
        words = _without_prefixes(written)
        if not words:
            continue
        words[0] = words[0].rpartition("/")[2] if words[0][:1] != ">" else words[0]
        yield words
        if depth:
            for inner in _inner(words):
                yield from _commands(inner, depth - 1)
    if depth:
        for nested in reader.nested:
            yield from _commands(nested, depth - 1)


def _inner(words: list[str]) -> Iterator[str]:
    """The texts that a command runs as commands."""
    if words[0] in _SHELLS:
        for option, word in pairwise(words[1:]):
            if re.fullmatch(r"-[a-z]{0,8}c", option):
                yield word
                return
    elif words[0] == "eval":
        yield " ".join(words[1:])


def _without_prefixes(words: list[str]) -> list[str]:
    """The words from the program on, redirections that stand before it behind them."""
    first = next((number for number, word in enumerate(words) if word[:1] != ">"), 0)
    words, at = [*words[first:], *words[:first]], 0
    while at < len(words):
        word = words[at]
        if word in _KEYWORDS or _ASSIGNMENT.match(word):
            at += 1
        elif (name := word.rpartition("/")[2]) in _PREFIXES and at + 1 < len(words):
            at = _after_options(words, at + 1, _PREFIXES[name])
            at += name == "timeout" and at < len(words)
        else:
            break
    return words[at:]


def _after_options(words: list[str], at: int, with_word: str) -> int:
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        if words[at] == "--":
            return at + 1
        takes_word = len(words[at]) == 2 and words[at][1] in with_word
        at += 1 + takes_word
    return at


class _Reader:
    """One pass over a text. `commands` are its simple commands as written, `nested` the texts of its command
    substitutions, `bare` the characters outside of quotes."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._words: list[str] = []
        self._word: list[str] | None = None
        self._redirection = ""
        self._delimiters: list[tuple[str, bool]] = []
        self.commands: list[list[str]] = []
        self.nested: list[str] = []
        self.bare: list[str] = []

    def read(self) -> None:
        text = self._text
        while self._at < len(text):
            here = text[self._at]
            if here in "\"'":
                self._quoted(here)
            elif here == "\\":
                self._escaped()
            elif here == "`" or text.startswith("$(", self._at):
                self._substitution()
            elif here == "#" and self._word is None:
                end = text.find("\n", self._at)
                self._at = len(text) if end < 0 else end
            elif here in _ENDS_WORD:
                self._operator(here)
            else:
                self._add(here)
                self.bare.append(here)
                self._at += 1
        self._end_command()

    def _add(self, characters: str) -> None:
        self._word = self._word if self._word is not None else []
        self._word.append(characters)

    def _quoted(self, quote: str) -> None:
        """A quotation; in double quotes, substitutions are commands."""
        self._add("")
        self._at += 1
        text = self._text
        while self._at < len(text) and text[self._at] != quote:
            here = text[self._at]
            if quote == '"' and here == "\\":
                self._add(text[self._at + 1 : self._at + 2])
                self._at += 2
            elif quote == '"' and (here == "`" or text.startswith("$(", self._at)):
                self._substitution()
            else:
                self._add(here)
                self._at += 1
        self._at += 1

    def _escaped(self) -> None:
        """A character behind a backslash; with the end of a line both are left out."""
        escaped = self._text[self._at + 1 : self._at + 2]
        if escaped != "\n":
            self._add(escaped)
        self._at += 2

    def _substitution(self) -> None:
        """`$(…)` or backticks: the text inside is kept for itself, and nothing of it is a word here."""
        self._add("")
        text, start = self._text, self._at
        if text[start] == "`":
            end = start + 1
            while end < len(text) and text[end] != "`":
                end += 2 if text[end] == "\\" else 1
            self.nested.append(text[start + 1 : end])
        else:
            end = _closing(text, start + 2)
            self.nested.append(text[start + 2 : end])
        self._at = end + 1

    def _operator(self, here: str) -> None:
        text = self._text
        if here in "<>":
            self._redirect(here)
            return
        if here == "&" and text.startswith("&>", self._at):
            self._end_word()
            self._at += 1
            return
        self._end_word()
        if here in " \t":
            self._at += 1
            return
        self.bare.append(here)
        self._end_command()
        self._at += 1
        if here == "\n" and self._delimiters:
            self._skip_bodies()

    def _redirect(self, here: str) -> None:
        """`>`, `>>`, `2>`, `>&2`, `<`, `<<WORD`, `<<<word`."""
        text = self._text
        if self._word is not None and "".join(self._word).isdigit():
            self._word = None
        self._end_word()
        end = self._at
        while end < len(text) and text[end] == here and end - self._at < 3:
            end += 1
        operator = text[self._at : end]
        if operator == "<<":
            end += text.startswith("-", end)
            self._redirection = "<<-" if text[end - 1] == "-" else "<<"
        elif operator.startswith(">"):
            end += text.startswith(("&", "|"), end)
            self._redirection = ">"
        else:
            self._redirection = "<"
        if text.startswith("(", end):
            self._redirection = ""
        self._at = end

    def _end_word(self) -> None:
        if self._word is None:
            return
        word, kind = "".join(self._word), self._redirection
        self._word, self._redirection = None, ""
        if kind.startswith("<<"):
            self._delimiters.append((word, kind == "<<-"))
        elif kind == ">":
            self._words.append(f">{word}")
        elif not kind:
            self._words.append(word)

    def _end_command(self) -> None:
        self._end_word()
        self._redirection = ""
        if self._words:
            self.commands.append(self._words)
            self._words = []

    def _skip_bodies(self) -> None:
        """Past the bodies of the here-documents that began on the line before."""
        text = self._text
        for delimiter, tabs in self._delimiters:
            while self._at < len(text):
                end = text.find("\n", self._at)
                end = len(text) if end < 0 else end
                line = text[self._at : end]
                self._at = end + 1
                if (line.lstrip("\t") if tabs else line) == delimiter:
                    break
        self._delimiters = []


def _closing(text: str, at: int) -> int:
    """Where the parenthesis closes that opened before `at`; the text's end when it does not."""
    depth, quote = 1, ""
    while at < len(text):
        here = text[at]
        if here == "\\" and quote != "'":
            at += 1
        elif quote:
            quote = "" if here == quote else quote
        elif here in "\"'":
            quote = here
        elif here == "(":
            depth += 1
        elif here == ")":
            depth -= 1
            if not depth:
                return at
        at += 1
    return len(text)
