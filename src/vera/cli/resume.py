"""`vera resume`: go on with an interrupted run."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vera.cli.progress import Progress
    from vera.config import Loaded
    from vera.config.handed import Handed
    from vera.config.logged import Begun
    from vera.state import RunState

MAX_SHOWN = 300

NOT_YOURS = (
    "This session has settings that you did not choose, and your key has not sealed its log so far that they "
    "are known for yours."
)

NOT_SEALED = (
    "This session holds work that your key has not sealed: whoever made it could have written what its "
    "documents say, and its verdict would be signed by you."
)


@click.command()
@click.argument("work_dir", type=click.Path(path_type=Path))
@click.option("--max-steps", type=int, help="Steps the run may take in all; 0 is unlimited.")
@click.option("--budget-tokens", type=int, help="Tokens the run may spend in all; 0 is unlimited.")
@click.option("--budget-cost", type=float, help="Cost the run may reach in all; 0 is unlimited.")
@click.option("--budget-seconds", type=float, help="Seconds the run may take in all; 0 is unlimited.")
@click.option("--budget-searches", type=int, help="Requests to search engines in all; 0 is unlimited.")
@click.option(
    "--trust-session",
    is_flag=True,
    help="Go on also where the log was changed, or has settings that you did not choose; they are shown.",
)
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@click.option("--handed", is_flag=True, hidden=True)
def resume(
    work_dir: Path,
    overrides: tuple[str, ...],
    trust_session: bool,
    as_json: bool,
    quiet: bool,
    handed: bool,
    **limits: float | None,
) -> None:
    """Go on with an interrupted run, under the settings it was started with.

    A command that was under way is not run again: the model is told that it may have run. Keys are not in
    the log; they come from the environment as before, and go to the address that you give. A log that you
    did not begin, or that was changed, is not gone on with where it would loosen what you set.
    """
    from vera.cli.exit import clean_errors

    with clean_errors():
        from vera.cli.execute import execute
        from vera.cli.progress import Progress
        from vera.cli.run import FLAGS
        from vera.cli.sub_questions import revise
        from vera.config.handed import read_handed
        from vera.session import Session

        progress = Progress(quiet=quiet)
        flags = {FLAGS[name]: str(limit) for name, limit in limits.items() if limit is not None}
        given = read_handed(sys.stdin.buffer) if handed else None
        judged: list[Loaded] = []

        def accept(state: "RunState") -> None:
            judged.append(judge(work_dir, state, overrides, flags, given, progress, trust=trust_session))

        session = Session.resume(work_dir, progress, accept=accept)
        try:
            asks = not (as_json or quiet)
            execute(
                lambda: session,
                judged[0].settings,
                as_json=as_json,
                progress=progress,
                revise=revise if asks else list,
            )
        finally:
            session.close()


def judge(
    root: Path,
    state: "RunState",
    overrides: Sequence[str],
    flags: Mapping[str, str],
    handed: "Handed | None",
    progress: "Progress",
    *,
    trust: bool,
) -> "Loaded":
    """The settings under which a run goes on, after what the person has to decide.

    With `trust` what differs is shown and taken. Raises ConfigError for a log that was changed, for work that
    the person's key has not sealed, for settings that they did not choose, and for a key that would go to an
    address that they did not give.
    """
    from vera.attestation.own_log import proof_of
    from vera.config import ConfigError, load
    from vera.config.errors import Refused
    from vera.config.logged import Begun, Proof, keys_never_given, log_layer

    begun = Begun(state.session, state.task, state.model_server)
    proof, changed = proof_of(root)
    if changed:
        if not trust:
            raise ConfigError(
                f"{changed} It was changed after it was sealed, so the run does not go on from it. If you "
                f"trust it as it is now: vera resume {quote(str(root))} --trust-session"
            )
        progress.warn(f"trusted although it was changed: {changed}")
    no_keys = {key: "" for key in keys_never_given(begun) if not _is_named(key, overrides)}

    def settings(proof: Proof, named: Mapping[str, str]) -> "Loaded":
        chosen = [*overrides, *(f"{key}={value}" for key, value in named.items())]
        return load(chosen, {**no_keys, **flags}, handed=handed, log=log_layer(begun, proof))

    # Workers of one queue go on in each other's sessions, and the dashboard has looked before it calls this.
    foreign = handed is None and not changed and not proof.sealed and state.holds_work
    try:
        loaded = settings(proof, {})
    except Refused as refused:
        if not trust:
            raise Refused([NOT_YOURS, *refused.problems]) from None
        for problem in refused.problems:
            progress.warn(f"trusted: {problem.partition(', which ')[0]}")
        proof = Proof(sys.maxsize, whole=True)
        loaded = settings(proof, {})
    if foreign and not trust:
        raise ConfigError(f"{NOT_SEALED} If you trust it: vera resume {quote(str(root))} --trust-session")
    if foreign:
        progress.warn("trusted although your key has not sealed it: its verdict will be signed by your key")
    for warning in loaded.warnings:
        progress.say(f"warning: {warning}")
    return _with_keys(loaded, begun, lambda named: settings(proof, named))


def _with_keys(
    loaded: "Loaded",
    begun: "Begun",
    again: "Callable[[Mapping[str, str]], Loaded]",
) -> "Loaded":
    """The settings with the keys for whose addresses the person says yes; only a terminal is asked.

    Raises ConfigError where a key went to an address when the run began that is not the person's now.
    """
    from vera.config import ConfigError
    from vera.config.schema import value_of
    from vera.config.trust import KEYED_ADDRESSES
    from vera.report.printable import one_printable_line

    named = {}
    for keyed in KEYED_ADDRESSES:
        if keyed.key not in loaded.withheld or begun.setting(keyed.key) != "set":
            continue
        address = one_printable_line(str(value_of(loaded.settings, keyed.address)))[:MAX_SHOWN]
        asks = (
            f"The session asked the {keyed.of_what} server at {address} with a key. You name no such server "
            "now, and a key goes only to the address it was given for."
        )
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise ConfigError(
                f"{asks} If your key belongs there, name the address yourself: "
                f"-c {quote(f'{keyed.address}={address}')}; "
                f"without a key: -c {keyed.key}="
            )
        if not click.confirm(f"{asks} Send your key there?", err=True):
            raise ConfigError("Your key was not sent, and the run does not go on.")
        named[keyed.address] = str(value_of(loaded.settings, keyed.address))
    return again(named) if named else loaded


def _is_named(key: str, overrides: Sequence[str]) -> bool:
    """Whether -c names the address that goes with a key."""
    from vera.config.aliases import canonical
    from vera.config.trust import KEYED_ADDRESSES

    named = {canonical(text.partition("=")[0]) for text in overrides if "=" in text}
    return any(each.key == key and each.address in named for each in KEYED_ADDRESSES)
