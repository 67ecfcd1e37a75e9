"""`vera doctor`: what this machine has, and the exact way to what is missing."""

import asyncio
import importlib.util
import os
import platform
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import click
import msgspec

from vera.cli.exit import as_typed


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the table: `state` is ok, missing (the part is optional) or broken (a run needs it)."""

    part: str
    state: str
    found: str
    next: str = ""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def doctor(as_json: bool) -> None:
    """Say what this machine has, and the next command to type for what is missing.

    Exit code 5 when something is broken that every run needs.
    """
    from vera.cli.exit import NOT_READY, clean_errors

    with clean_errors():
        findings = asyncio.run(_look())
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(findings)).decode())
    else:
        _table(findings)
    if any(finding.state == "broken" for finding in findings):
        raise SystemExit(NOT_READY)


async def _look() -> list[Finding]:
    checks: tuple[Callable[[], Awaitable[list[Finding]]], ...] = (
        _python,
        _index,
        _folders,
        _models,
        _sandbox,
    )
    found: list[Finding] = []
    for check in checks:
        found += await check()
    return found


async def _python() -> list[Finding]:
    from vera import __version__

    version = platform.python_version()
    findings = [
        Finding(part="VERA", state="ok", found=f"{__version__} at {Path(__file__).parent.parent}"),
        Finding(part="Python", state="ok", found=f"{version} ({sys.platform})"),
    ]
    for extra, module, use in (
        ("docs", "lxml", "docx and xlsx files"),
        ("local", "xllamacpp", "--model-file FILE.gguf"),
    ):
        there = importlib.util.find_spec(module) is not None
        findings.append(
            Finding(
                part=f"extra {extra}",
                state="ok" if there else "missing",
                found=f"{module} is installed" if there else f"needed for {use}",
                next="" if there else f'{sys.executable} -m pip install "vera-agent[{extra}]"',
            )
        )
    return findings


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
    from vera.model.probe import discover

    found = await discover()
    findings = [
        Finding(part="model server", state="ok", found=f"{server.kind} at {server.base_url}")
        for server in found
    ]
    if not findings:
        findings.append(
            Finding(
                part="model server",
                state="missing",
                found="none on this machine's usual ports; the built-in extractive model answers",
                next="start LM Studio, Ollama, vLLM, llama.cpp or SGLang, or give --model-base-url URL",
            )
        )
    return findings


async def _sandbox() -> list[Finding]:
    import tempfile

    from vera.sandbox.backends import BACKENDS
    from vera.sandbox.spec import BoxSpec

    findings = []
    with tempfile.TemporaryDirectory(prefix="vera-doctor-") as folder:
        for backend in BACKENDS:
            report = await backend.probe(BoxSpec(work=Path(folder)))
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
