"""An HTML file as PDF: printed by a headless Chromium in a sandbox without a network."""

import asyncio
import os
import shlex
import shutil
import stat
import tempfile
from pathlib import Path

from vera.sandbox.render.browser_location import open_browser_box
from vera.sandbox.render.rendered import RenderError
from vera.sandbox.spec import BoxSpec, MiB
from vera.sandbox.types import BoxError

SECONDS = 90.0
MAX_PDF = 256 << 20
PROCESSES = 512
"""Chromium's threads count as processes."""

PROFILE_SPACE = 1024 * MiB
NO_BROWSER = (
    "No PDF can be printed: that needs Chromium and a sandbox (sandbox.backend other than none). Install "
    "both with: sudo apt install chromium bubblewrap. Or print the HTML of 'vera report' in any browser."
)
PAGE, PRINTED = "page.html", "page.pdf"
OPTIONS = (
    "--headless",
    # The sandbox around it is the boundary: no user namespace can be made in it for Chromium's own.
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--user-data-dir=/tmp/profile",
    "--no-pdf-header-footer",
)


async def print_pdf(html: bytes, *, backend: str, base_image: str) -> bytes:
    """The page as a browser prints it. It runs no script and reaches no address.

    `backend` and `base_image` are the sandbox's settings. Raises RenderError (`no_browser` with what to
    install, `failed`, `timeout`, `too_large`).
    """
    work = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="vera-print-"))
    try:
        await asyncio.to_thread((work / PAGE).write_bytes, html)
        async with asyncio.timeout(SECONDS):
            return await _printed(work, backend, base_image)
    except RenderError as error:
        raise RenderError(NO_BROWSER, error.kind) if error.kind == "no_browser" else error from None
    except TimeoutError:
        raise RenderError(f"The PDF was not printed within {SECONDS:g} s.", "timeout") from None
    except BoxError as error:
        raise RenderError(f"The PDF was not printed: {error}", "failed") from None
    finally:
        await asyncio.to_thread(shutil.rmtree, work, True)


async def _printed(work: Path, backend: str, base_image: str) -> bytes:
    spec = BoxSpec(work=work, pids=PROCESSES, tmp=PROFILE_SPACE)
    browser = await open_browser_box(backend, base_image, spec, egress=None)
    try:
        inside = browser.box.work
        argv = (browser.program, *OPTIONS, f"--print-to-pdf={inside}/{PRINTED}", f"file://{inside}/{PAGE}")
        result = await browser.box.run(f"{shlex.join(argv)} 2>&1", timeout=SECONDS)
    finally:
        await browser.box.close()
    data = await asyncio.to_thread(_read, work / PRINTED)
    if data is None:
        said = " ".join(result.head.decode("utf-8", "replace").split())[-300:]
        raise RenderError(f"The browser printed no PDF: {said}", "failed")
    if len(data) > MAX_PDF:
        raise RenderError(f"The PDF is larger than {MAX_PDF >> 20} MB.", "too_large")
    return data


def _read(path: Path) -> bytes | None:
    """What the sandbox left there: a PDF in a regular file, at most a byte more than MAX_PDF; else None."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            data = file.read(MAX_PDF + 1) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except OSError:
        return None
    return data if data.startswith(b"%PDF-") else None
