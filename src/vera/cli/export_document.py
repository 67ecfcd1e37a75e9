"""`vera export --csl`, `--ris`, `--docx`, `--pdf`, `--claim-review`, `--warc`: a session in formats of
others."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vera.export.finished import Finished

FORMATS = {
    "csl": "the cited sources as CSL-JSON 1.0.2",
    "ris": "the cited sources as RIS",
    "docx": "the answer as a Word document with footnotes",
    "pdf": "the report as PDF, printed by Chromium in the sandbox",
    "claim-review": "the verdicts as ClaimReview JSON-LD (schema.org)",
    "warc": "the fetched pages as a web archive (WARC 1.1)",
}
"""Option → what it writes."""

Makes = Callable[["Finished", Path], Iterable[bytes]]


def format_options(command: Callable[..., None]) -> Callable[..., None]:
    """An option for each of FORMATS."""
    for name, says in reversed(FORMATS.items()):
        command = click.option(
            f"--{name}",
            metavar="FILE",
            type=click.Path(path_type=Path, dir_okay=False),
            help=f"Write {says}.",
        )(command)
    return command


def write_document(session: Path, name: str, target: Path) -> None:
    """Write one of FORMATS to a file that must not exist yet; end by a sentence when it cannot be."""
    from vera.agent.finished import finished
    from vera.attestation.integrity import NoSession
    from vera.attestation.outcome import ALTERED
    from vera.cli.exit import ERROR, stop
    from vera.export.warc import NoPages
    from vera.report.view.words import size_in_words
    from vera.sandbox.render.rendered import RenderError

    if os.path.lexists(target):
        stop(f"{target} exists already. Choose another name, or remove it first.", ERROR)
    try:
        made = finished(session)
        if made.page.header.verdict == ALTERED:
            stop(f"This session was altered, so it is not exported: {made.reason}", ERROR)
        size = _write_new(target, _MAKERS[name](made, session))
    except NoSession as error:
        stop(str(error), ERROR)
    except (NoPages, RenderError) as error:
        stop(str(error), ERROR)
    click.echo(f"{target}: {made.word}, {size_in_words(size)}.")


def _write_new(target: Path, parts: Iterable[bytes]) -> int:
    """Write a file that appears only when it is whole; its size. Raises OSError, also where it exists."""
    from vera.store import whole_file

    with whole_file(target, 0o644) as file:
        return sum(file.write(part) for part in parts)


def _csl(made: "Finished", session: Path) -> Iterable[bytes]:
    from vera.export.csl import csl

    return [csl(made)]


def _ris(made: "Finished", session: Path) -> Iterable[bytes]:
    from vera.export.ris import ris

    return [ris(made)]


def _docx(made: "Finished", session: Path) -> Iterable[bytes]:
    from vera.export.docx import docx

    return [docx(made)]


def _claim_review(made: "Finished", session: Path) -> Iterable[bytes]:
    from vera.export.claim_review import claim_review

    return [claim_review(made)]


def _warc(made: "Finished", session: Path) -> Iterable[bytes]:
    from vera.export.warc import warc
    from vera.store import Store

    return warc(made, Store(session / "store"))


def _pdf(made: "Finished", session: Path) -> Iterable[bytes]:
    import asyncio

    from vera.config import load
    from vera.report.html.document import report_html
    from vera.sandbox.render.print_pdf import print_pdf

    sandbox = load((), {}).settings.sandbox
    html = report_html(made.page, work_dir=str(session), quotes=made.report.quotes).encode("utf-8", "replace")
    return [asyncio.run(print_pdf(html, backend=sandbox.backend, base_image=sandbox.base_image))]


_MAKERS: dict[str, Makes] = {
    "csl": _csl,
    "ris": _ris,
    "docx": _docx,
    "pdf": _pdf,
    "claim-review": _claim_review,
    "warc": _warc,
}
