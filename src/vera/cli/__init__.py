"""The `vera` command: one file a command, loaded when it is called."""

import importlib

import click

from vera.version import __version__

COMMANDS = {
    "run": ("vera.cli.run:run", "Answer a question, with every statement cited."),
    "ask": ("vera.cli.ask:ask", "Ask a question, or check a thesis, that follows a finished session."),
    "verify": ("vera.cli.verify:verify", "Verify a thesis: evidence cards and a signed attestation."),
    "batch": ("vera.cli.batch:batch", "Run many tasks, each in its own session."),
    "worker": ("vera.cli.worker:worker", "Run tasks of a batch on this machine, beside other machines."),
    "resume": ("vera.cli.resume:resume", "Go on with an interrupted run."),
    "list": ("vera.cli.list:list_sessions", "List sessions: state, verdict, steps, time and task of each."),
    "watch": ("vera.cli.watch:watch", "Watch a run in the terminal."),
    "show": ("vera.cli.show:show", "Show a session: its answer, and the bytes behind each citation."),
    "report": ("vera.cli.report:report", "Write a run into one HTML file, to read, mail and print."),
    "replay": ("vera.cli.replay:replay", "Check a session or bundle: every byte, verdict and text, offline."),
    "review": ("vera.cli.review:review", "Say whether a claim is right, signed beside its proof."),
    "trust": ("vera.cli.trust:trust", "Say whose signatures you trust, by name."),
    "key": ("vera.cli.key:key", "Print your public key and its id, for those who check your sessions."),
    "attest": ("vera.cli.attest:attest", "Sign a statement about files, or check one."),
    "export": ("vera.cli.export:export", "Write a session into a file for others, or send its trace."),
    "check": (
        "vera.cli.check:check",
        "Check a document's quotations, numbers and names against its sources.",
    ),
    "recheck": ("vera.cli.recheck:recheck", "Say which cited lines have changed since they were cited."),
    "dashboard": ("vera.cli.dashboard:dashboard", "Watch, start and stop runs in the browser."),
    "stack": ("vera.cli.stack:stack", "Start or stop the dashboard in the background, sandbox checked."),
    "index": ("vera.cli.index:index", "Bring the index of a folder of documents up to date."),
    "mcp": ("vera.cli.mcp:mcp", "Serve verification to another agent (Model Context Protocol)."),
    "serve": ("vera.cli.serve:serve", "Serve verification, research and checks over HTTP."),
    "token": ("vera.cli.token:token", "Say who may use the service, and for what."),
    "ahdb": ("vera.cli.ahdb:ahdb", "What is asserted, open, wanted, believed, and what is out of sight."),
    "rm": ("vera.cli.rm:rm", "Remove sessions, after asking."),
    "gc": ("vera.cli.gc:gc", "Remove old or large sessions, after asking."),
    "rebuild": ("vera.cli.rebuild:rebuild", "Make the ledgers and notes of a session again from its log."),
    "metrics": ("vera.cli.metrics:metrics", "Print the Prometheus metrics of sessions."),
    "bench": ("vera.cli.bench:bench", "Measure VERA's own parts."),
    "eval": (
        "vera.cli.eval:evaluate",
        "Ask questions whose answers are known, and say how often VERA is right.",
    ),
    "models": ("vera.cli.models:models", "List the models of this machine, and fetch a small one."),
    "plugins": ("vera.cli.plugins:plugins", "List the plugins that are installed, and which a run loads."),
    "build": ("vera.cli.build:build", "Build the image of the docker sandbox."),
    "doctor": ("vera.cli.doctor:doctor", "Say what this machine has, and how to get what is missing."),
    "config": ("vera.cli.config:config", "Print every setting and where it came from."),
}
"""Command name → (where it lives, its line in `vera --help`)."""


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only to run it or to show its help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS]  # `list` is the module of `vera list` once that is imported

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, attribute = COMMANDS[name][0].split(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            raise click.UsageError(error.message + hint, ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="vera")
def main() -> None:
    """VERA answers research questions and proves each statement with bytes that anyone can check."""
