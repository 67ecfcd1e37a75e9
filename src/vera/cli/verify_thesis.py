"""One verification of a thesis from the command line: the request, the look-up, what is printed."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from vera.agent.work_dir import default_work_dir
from vera.attestation.lenses import load_lens
from vera.cli.exit import NOT_READY, stop
from vera.cli.found_server import ask_once
from vera.cli.progress import Progress
from vera.cli.run import read_text
from vera.cli.verdict_text import plain
from vera.config import load
from vera.config.handed import read_handed
from vera.headline import HOLDS
from vera.model.types import ModelError
from vera.report.printable import printable, printable_json
from vera.runtime.reuse import verify_or_reuse
from vera.runtime.thesis import inquiry_of

EXAMPLE = 'vera verify "THESIS" --input-dir DIR'
FLAGS = {
    "input_dir": "run.input_dir",
    "work_dir": "run.work_dir",
    "base_dir": "run.base_dir",
    "model_base_url": "model.base_url",
    "model_name": "model.name",
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
    "required": "require",
    **{name: f"max_{name}" for name in ("sources", "searches", "tokens", "bytes", "seconds")},
}
"""Part of the request → the option that gives it."""


def _required(options: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """The options with the outputs alone under `require`, and the setting that `--require verified` sets."""
    outputs = tuple(name for name in options["require"] if name != "verified")
    setting = {"verification.require": "verified"} if len(outputs) < len(options["require"]) else {}
    return {**options, "require": outputs}, setting


def run(
    thesis_text: str | None, thesis: str | None, overrides: Sequence[str], options: Mapping[str, Any]
) -> int:
    """Verify, print, and return the exit code."""
    given = read_handed(sys.stdin.buffer) if options["handed"] else None
    text = given.text if given else read_text(thesis_text, thesis, "thesis", "--thesis", EXAMPLE)
    flags = {
        FLAGS[name]: ",".join(value) if isinstance(value, tuple) else value
        for name, value in options.items()
        if name in FLAGS and value not in (None, ())
    }
    options, require = _required(options)
    loaded = load(overrides, {**flags, **require}, handed=given)
    settings = loaded.settings
    progress = Progress(quiet=options["quiet"])
    for warning in loaded.warnings:
        progress.say(f"warning: {warning}")
    inquiry = inquiry_of(
        text,
        settings.run.input_dir,
        load_lens(options["lens"] or "general", paths=True),
        scope=options["scope"],
        **{name: options[option] for name, option in ASKED.items() if options[option] not in (None, ())},
    )
    ask_once(settings, progress)
    root = settings.run.work_dir or default_work_dir(settings.run.base_dir, text)
    try:
        answered = asyncio.run(
            verify_or_reuse(
                inquiry,
                settings,
                settings.run.base_dir,
                root,
                chosen=settings.run.work_dir is not None,
                fresh=options["fresh"],
                say=progress.say,
                now=progress.now,
            )
        )
    except ModelError as error:
        stop(f"{error}", NOT_READY)
    progress.done()
    verified, result = answered.verified, answered.result
    if options["as_json"]:
        click.echo(printable_json(verified.as_dict()))
    else:
        click.echo(printable(plain(verified, result.report)))
    if verified.reused:
        progress.say("used again: the same request was verified before and still stands; --fresh looks again")
    if verified.word in HOLDS and verified.exit_code:
        progress.say("VERIFIED was required, and this is less: exit code 3")
    progress.say(f"Session: {verified.session}")
    return verified.exit_code
