"""One verification of a thesis from the command line: the request, the look-up, what is printed."""

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from vera.agent.follow_up import Parent
from vera.agent.thesis import ThesisJob
from vera.agent.work_dir import default_work_dir
from vera.attestation.lenses import load_lens
from vera.attestation.outcome import withheld_after, withheld_code
from vera.attestation.parents import AGREES
from vera.attestation.request_json import REQUEST_BYTES, RequestAsked, read_request
from vera.cli.exit import INTERRUPTED, NOT_READY, USAGE, stop
from vera.cli.found_server import ask_once
from vera.cli.inputs import SOURCES, take_sources
from vera.cli.options import MODEL
from vera.cli.progress import Progress
from vera.cli.run import read_text
from vera.cli.verdict_text import plain
from vera.config import Settings, load
from vera.config.handed import read_handed
from vera.headline import HOLDS
from vera.model.types import ModelError
from vera.report.printable import printable, printable_json
from vera.runtime.connectors import connect_request
from vera.runtime.reuse import Answered, verify_or_reuse
from vera.runtime.thesis import inquiry_of

EXAMPLE = 'vera verify "THESIS" --input-dir DIR'
FLAGS = {
    **SOURCES,
    "input_dir": "run.input_dir",
    "work_dir": "run.work_dir",
    "base_dir": "run.base_dir",
    "budget_cost": "budget.cost",
    **MODEL,
    "egress": "egress.mode",
    "brave_api_key": "brave.key",
    "official_domain": "policy.official_domains",
    "verifier": "verification.rule",
    "entailment_model": "verification.entailment_model",
}
ASKED = {
    "risk": "risk",
    "volatility": "volatility",
    "allow_domains": "allow_domain",
    "deny_domains": "deny_domain",
    "not_before": "not_before",
    "not_after": "not_after",
    "source_types": "source_type",
    "languages": "language",
    "required": "required_output",
    **{name: f"budget_{name}" for name in ("sources", "searches", "tokens", "bytes", "seconds")},
}
"""Part of the request → the option that gives it."""


def _required(options: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """The options with all required outputs under `required_output` (`--require` still takes them), and the
    setting that `--require verified` sets."""
    outputs = tuple(name for name in options["require"] if name != "verified")
    setting = {"verification.require": "verified"} if len(outputs) < len(options["require"]) else {}
    return {**options, "required_output": (*options["required_output"], *outputs)}, setting


def _request(options: Mapping[str, Any], thesis_text: str | None, thesis: str | None) -> RequestAsked:
    """The request that `--request` names. Ends the command where it is given beside what it holds."""
    beside = [f"--{option.replace('_', '-')}" for option in (*ASKED.values(), "scope") if options[option]]
    beside += ["a thesis"] if thesis_text is not None or thesis is not None else []
    beside += ["--handed"] if options["handed"] else []
    if beside:
        stop(f"--request holds the whole request, and {beside[0]} was given beside it.", USAGE)
    if options["request"] == "-":
        return read_request(sys.stdin.buffer.read(REQUEST_BYTES + 1))
    with Path(options["request"]).open("rb") as file:
        return read_request(file.read(REQUEST_BYTES + 1))


def _inquiry(
    text: str,
    settings: Settings,
    asked: RequestAsked | None,
    options: Mapping[str, Any],
    say: Callable[[str], None],
) -> tuple[ThesisJob, Settings]:
    """What is asked, by a request or by options; and the settings with what connectors gathered for it."""
    given_scope = options["scope"] if asked is None else asked.scope or None
    connected, scope = asyncio.run(
        connect_request(settings, given_scope, asked.connectors if asked is not None else (), say)
    )
    folder, connections = connected.settings.run.input_dir, connected.connections
    if asked is None:
        lens = load_lens(options["lens"] or "general", paths=True)
        given = {name: options[option] for name, option in ASKED.items() if options[option] not in (None, ())}
        job = inquiry_of(text, folder, lens, scope=scope, connections=connections, **given)
        return job, connected.settings
    # A path in a request names nothing: only a person names the file of a lens, by --lens.
    lens = load_lens(options["lens"], paths=True) if options["lens"] else load_lens(asked.lens)
    arguments = {**asked.arguments(), **({"scope": scope} if scope is not None else {})}
    inquiry = inquiry_of(text, folder, lens, connections=connections, **arguments)
    asked.insist_on_ids(inquiry.request)
    return inquiry, connected.settings


def run(
    thesis_text: str | None, thesis: str | None, overrides: Sequence[str], options: Mapping[str, Any]
) -> int:
    """Verify, print, and return the exit code."""
    options, require = _required(options)
    given = read_handed(sys.stdin.buffer) if options["handed"] else None
    asked = _request(options, thesis_text, thesis) if options["request"] else None
    if asked is not None:
        text = asked.text
    else:
        text = given.text if given else read_text(thesis_text, thesis, "thesis", "--thesis", EXAMPLE)
    options = dict(options)
    take_sources(options)
    flags = {
        FLAGS[name]: ",".join(value) if isinstance(value, tuple) else value
        for name, value in options.items()
        if name in FLAGS and value not in (None, ())
    }
    loaded = load(overrides, {**flags, **require}, handed=given)
    settings = loaded.settings
    progress = Progress(quiet=options["quiet"])
    for warning in loaded.warnings:
        progress.say(f"warning: {warning}")
    inquiry, settings = _inquiry(text, settings, asked, options, progress.say)
    ask_once(settings, progress)
    return finish(inquiry, settings, progress, as_json=options["as_json"], fresh=options["fresh"], text=text)


def finish(
    inquiry: ThesisJob,
    settings: Settings,
    progress: Progress,
    *,
    as_json: bool,
    fresh: bool,
    text: str,
    parent: Parent | None = None,
) -> int:
    """Verify an inquiry, print the verdict, and return the exit code."""
    root = settings.run.work_dir or default_work_dir(settings.run.base_dir, text)
    try:
        answered = asyncio.run(
            verify_or_reuse(
                inquiry,
                settings,
                settings.run.base_dir,
                root,
                chosen=settings.run.work_dir is not None,
                fresh=fresh,
                parent=parent,
                say=progress.say,
                now=progress.now,
            )
        )
    except ModelError as error:
        stop(f"{error}", NOT_READY)
    except asyncio.CancelledError:  # a person stopped it from a page
        stop("interrupted.", INTERRUPTED)
    progress.done()
    return _shown(answered, progress, parent.found if parent else AGREES, as_json=as_json)


def _shown(answered: Answered, progress: Progress, found: str, *, as_json: bool) -> int:
    """Print a verdict; its exit code. It is withheld as `vera show` does where the replay of the session
    before `found` that it does not hold."""
    verified, result = answered.verified, answered.result
    withheld = withheld_after(found, verified.session)
    if withheld is not None:
        code, said = withheld_code(verified.exit_code), f"{withheld.word}: {withheld.reason}"
        told = {**verified.as_dict(), "status": withheld.word, "exit_code": code}
        click.echo(printable_json(told) if as_json else printable(plain(verified, result.report, said)))
        progress.say(f"Session: {verified.session}")
        return code
    if as_json:
        click.echo(printable_json(verified.as_dict()))
    else:
        click.echo(printable(plain(verified, result.report)))
    if verified.reused:
        progress.say("used again: the same request was verified before and still stands; --fresh looks again")
    if verified.word in HOLDS and verified.exit_code:
        progress.say("VERIFIED was required, and this is less: exit code 3")
    progress.say(f"Session: {verified.session}")
    return verified.exit_code
