"""`vera doctor`: what this machine has, and the exact way to what is missing."""

import asyncio
import importlib.util
import os
import platform
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from vera.cli.exit import as_typed
from vera.extras import install_command

if TYPE_CHECKING:
    from vera.config.settings import SandboxSettings, Settings
    from vera.sandbox.acceptance import Attempt


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the table: `state` is ok, missing (the part is optional) or broken (a run needs it)."""

    part: str
    state: str
    found: str
    next: str = ""


@click.command()
@click.option("--sandbox", is_flag=True, help="Try to get out of the sandbox in use, and print what works.")
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def doctor(sandbox: bool, overrides: tuple[str, ...], as_json: bool) -> None:
    """Say what this machine has, and the next command to type for what is missing.

    Exit code 5 when something is broken that every run needs; with --sandbox, when something works inside
    that should not, or there is no sandbox.
    """
    from vera.cli.exit import NOT_READY, clean_errors

    with clean_errors():
        from vera import config

        settings = config.load(overrides).settings
        if sandbox:
            raise SystemExit(_probe(settings.sandbox, as_json))
        findings = asyncio.run(_look(settings))
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(findings)).decode())
    else:
        _table(findings)
    if any(finding.state == "broken" for finding in findings):
        raise SystemExit(NOT_READY)


def _probe(settings: "SandboxSettings", as_json: bool) -> int:
    """Print what the acceptance probes found in the backend in use; the exit code."""
    from vera.cli.exit import NOT_READY, stop
    from vera.cli.progress import Progress
    from vera.sandbox import acceptance
    from vera.sandbox.image import ensure_image
    from vera.sandbox.types import BoxError

    image = partial(ensure_image, settings.base_image, Progress(), may_build=False)
    try:
        found = asyncio.run(acceptance.probe(settings.backend, settings.profile, image))
    except BoxError as error:
        stop(f"{error} Next: {error.hint}" if error.hint else str(error), NOT_READY)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(found)).decode())
    else:
        width = max(len(attempt.name) for attempt in found.attempts)
        for attempt in found.attempts:
            click.echo(f"{attempt.name:<{width}}  {_state_of(attempt)}")
        click.echo(
            f"{found.backend} ({found.isolation}): {len(found.openings)} of {len(found.attempts)} open."
        )
    return NOT_READY if found.openings else 0


def _state_of(attempt: "Attempt") -> str:
    """What came of an attempt to get out, in its colour."""
    if attempt.is_opening:
        return click.style("OPEN", fg="red")
    if attempt.worked:
        return click.style("open, by design", fg="yellow")
    return click.style("stopped", fg="green")


async def _look(settings: "Settings") -> list[Finding]:
    checks: tuple[Callable[[], Awaitable[list[Finding]]], ...] = (
        _python,
        _index,
        _ocr,
        _folders,
        _models,
        partial(_plugins, settings.plugins.enabled),
        partial(_sandbox, settings.sandbox),
    )
    found: list[Finding] = []
    for check in checks:
        found += await check()
    return found


async def _python() -> list[Finding]:
    from vera.version import __version__

    version = platform.python_version()
    findings = [
        Finding(part="VERA", state="ok", found=f"{__version__} at {Path(__file__).parent.parent}"),
        Finding(part="Python", state="ok", found=f"{version} ({sys.platform})"),
    ]
    for extra, module, use in (
        ("local", "xllamacpp", "--model-file FILE.gguf and pulled models"),
        ("local", "huggingface_hub", "vera models pull"),
        ("office", "xlsxwriter", "vera table --out T.xlsx"),
        ("otel", "opentelemetry.proto", "vera export --otlp"),
    ):
        there = _is_installed(module)
        findings.append(
            Finding(
                part=f"extra {extra}",
                state="ok" if there else "missing",
                found=f"{module} is installed" if there else f"needed for {use}",
                next="" if there else install_command(extra),
            )
        )
    return findings


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # its parent is not there
        return False


async def _index() -> list[Finding]:
    database = sqlite3.connect(":memory:")
    try:
        database.execute("CREATE VIRTUAL TABLE probe USING fts5(text, content='')")
    except sqlite3.OperationalError:
        sentence = f"SQLite {sqlite3.sqlite_version} has no FTS5"
        return [
            Finding(part="full-text index", state="broken", found=sentence, next="use a Python with FTS5")
        ]
    finally:
        database.close()
    return [Finding(part="full-text index", state="ok", found=f"SQLite {sqlite3.sqlite_version} with FTS5")]


async def _ocr() -> list[Finding]:
    from vera.extraction.ocr import installed

    found = installed()
    if found is None:
        wanted = "needed for scanned PDFs and pictures"
        return [
            Finding(part="tesseract", state="missing", found=wanted, next="sudo apt install tesseract-ocr")
        ]
    languages = ", ".join(found.languages)
    return [Finding(part="tesseract", state="ok", found=f"{found.version} at {found.program}, {languages}")]


async def _folders() -> list[Finding]:
    import platformdirs

    cache = Path(platformdirs.user_cache_dir("vera"))
    nearest = next(folder for folder in (cache, *cache.parents) if folder.exists())
    if os.access(nearest, os.W_OK):
        return [Finding(part="index cache", state="ok", found=str(cache))]
    return [
        Finding(
            part="index cache",
            state="broken",
            found=f"{nearest} cannot be written to",
            next="set XDG_CACHE_HOME to a folder of yours",
        )
    ]


async def _models() -> list[Finding]:
    from vera.agent.found_server import Candidate, recall, remembered
    from vera.agent.pulled_models import pulled
    from vera.model.owner import owner_of
    from vera.model.probe import discover

    findings = []
    for server in await discover():
        each = Candidate(server, owner_of(server.base_url))
        listening = f"{server.kind} at {server.base_url}, run by {each.owner.name}"
        if not each.owner.may_be_asked_about:
            use, state = f"--model-base-url {server.base_url} if you trust whoever runs it", "missing"
            listening += ": not used, it is not yours"
        else:
            use, state = "" if remembered(each, recall()) else "--model-base-url auto uses it", "ok"
        findings.append(Finding(part="model server", state=state, found=listening, next=use))
    models = pulled()
    if not findings:
        answers = f"the pulled {models[0].name}" if models else "the built-in extractive model"
        findings.append(
            Finding(
                part="model server",
                state="missing",
                found=f"none on this machine's usual ports; {answers} answers",
                next="start LM Studio, Ollama, vLLM, llama.cpp or SGLang, or give --model-base-url URL",
            )
        )
    names = ", ".join(each.name for each in models)
    findings.append(
        Finding(
            part="pulled models",
            state="ok" if models else "missing",
            found=names or "none: a small one can be fetched",
            next="" if models else "vera models",
        )
    )
    return findings


async def _plugins(enabled: str) -> list[Finding]:
    from vera.agent.rules import listed
    from vera.plugins.installed import installed

    names, found = listed(enabled), installed()
    missing = [name for name in names if name not in {each.name for each in found}]
    loaded = [f"{each.name} ({each.distribution} {each.version})" for each in found if each.name in names]
    said = f"{len(found)} installed; enabled: {', '.join(loaded) or 'none'}"
    if missing:
        said += f"; not installed: {', '.join(missing)}"
    return [
        Finding(
            part="plugins",
            state="broken" if missing else "ok",
            found=said,
            next="take it out of plugins.enabled, or install it" if missing else "",
        )
    ]


async def _sandbox(settings: "SandboxSettings") -> list[Finding]:
    import tempfile

    from vera.sandbox.backends import BACKENDS
    from vera.sandbox.recipe import image_name
    from vera.sandbox.spec import BoxSpec

    findings = []
    with tempfile.TemporaryDirectory(prefix="vera-doctor-") as folder:
        spec = BoxSpec(work=Path(folder), image=image_name(settings.base_image))
        for backend in BACKENDS:
            report = await backend.probe(spec)
            findings.append(
                Finding(
                    part=f"sandbox {backend.name}",
                    state="ok" if report.ok else "missing",
                    found=report.reason,
                    next=report.hint,
                )
            )
    return findings


def _table(findings: list[Finding]) -> None:
    width = max(len(finding.part) for finding in findings)
    for finding in findings:
        colour = {"ok": "green", "missing": "yellow", "broken": "red"}[finding.state]
        click.echo(
            f"{finding.part:<{width}}  {click.style(f'{finding.state:<7}', fg=colour)}  {finding.found}"
        )
        if finding.next:
            click.echo(f"{'':<{width}}           next: {as_typed(finding.next)}")
