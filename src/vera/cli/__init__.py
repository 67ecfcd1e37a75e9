"""The `vera` command: one file a command, loaded when it is called."""

import gc
import importlib
import io
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from vera.cli.registry import ADVANCED, COMMANDS, GROUPS
from vera.cli.streams import replace_outputs
from vera.version import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["ADVANCED", "COMMANDS", "GROUPS", "LazyGroup", "main"]

NEW_OBJECTS = 20_000
"""So many new objects are made before a garbage collection. Python's 700 let it look again and again at what
the imports made and what stays: a tenth of the time of a short command."""


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only to run it or to show its help.

    `listed` are the groups of commands that its help shows, `hidden` are commands that it runs as well.
    """

    def __init__(
        self,
        *args: Any,
        listed: Mapping[str, Mapping[str, tuple[str, str]]],
        hidden: Mapping[str, tuple[str, str]] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self._listed = listed
        self._lines = {name: line for group in listed.values() for name, (_, line) in group.items()}
        self._known = {name: place for group in listed.values() for name, (place, _) in group.items()}
        self._known |= {name: place for name, (place, _) in (hidden or {}).items()}

    def main(self, *args: Any, **options: Any) -> Any:
        open_streams()
        if args or options.get("args") is not None:
            return super().main(*args, **options)
        # The process is this command's alone.
        gc.set_threshold(NEW_OBJECTS)
        sys.modules["httpx._main"] = None  # type: ignore[assignment]  # its command line loads rich
        replace_outputs()
        try:
            return super().main(*args, **options)
        except OSError as error:
            from vera.cli.exit import ERROR, in_words, stop

            stop(in_words(error), ERROR)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # before the command itself listens
            from vera.cli.exit import INTERRUPTED, stop

            stop("interrupted.", INTERRUPTED)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self._lines]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self._known:
            return None
        from vera.cli.examples import show_examples

        module, attribute = self._known[name].split(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        show_examples(name, command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], self._known, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            raise click.UsageError(error.message + hint, ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self._lines))
        for title, group in self._listed.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), line) for name, (_, line) in group.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list["CompletionItem"]:
        """The names that begin so, without an import of their modules."""
        from click.shell_completion import CompletionItem

        found = [CompletionItem(name, help=line) for name, line in self._lines.items()]
        return [item for item in found if item.value.startswith(incomplete)] + click.Command.shell_complete(
            self, ctx, incomplete
        )


def open_streams() -> None:
    """Let a standard stream that is closed lead nowhere: else the next file that is opened, perhaps a
    session's log, would have its number, and what is said to the stream would be written into it. A character
    that the terminal's encoding does not have is printed as `?`."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115 (for good)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


@click.group(
    cls=LazyGroup,
    listed=GROUPS,
    hidden=ADVANCED,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="vera")
@click.pass_context
def main(ctx: click.Context) -> None:
    """VERA answers research questions and proves each statement with bytes that anyone can check.

    'vera' alone, on a terminal, asks for a question and a folder of documents.
    """
    if ctx.invoked_subcommand is None:
        from vera.cli.first_question import ask_for_question

        ask_for_question(ctx)
