"""One run of `docker build`: its lines as they come, its limit in time, its failures in plain sentences."""

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncIterator, Callable

from vera.sandbox.backends import docker
from vera.sandbox.types import BoxError

SECONDS = 1800.0
STOP_SECONDS = 5.0
OUTPUT_KEPT = 64 << 10
MAX_LINE_LENGTH = 300

# Build arguments that docker knows by itself and leaves out of the image.
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")

CHOOSE_BASE = "docker images   (and with one that is listed: vera build --base-image IMAGE)"

# What the build says (a pattern) → what a person needs to know, and the next command. `{base}` is filled in.
EXPLANATIONS = (
    (
        "[Nn]o space left on device|have enough free space",
        "The disk that Docker uses is full: the sandbox image needs about 1 GB.",
        "docker system prune",
    ),
    (
        "exec format error",
        "The base image {base} is made for another processor architecture than this machine's.",
        "vera build --base-image debian:bookworm-slim",
    ),
    (
        "CERTIFICATE_VERIFY_FAILED|certificate verify failed|x509: |self-signed certificate",
        "The network shows a certificate that is not trusted: a proxy of your organisation reads along, and "
        "its certificate authority is missing in /usr/local/share/ca-certificates.",
        "sudo cp AUTHORITY.crt /usr/local/share/ca-certificates/ && sudo update-ca-certificates",
    ),
    (
        '/v2/": |failed to do request|dial tcp',
        "The base image {base} is not on this machine, and its registry cannot be reached.",
        CHOOSE_BASE,
    ),
    (
        "Temporary failure resolving|Temporary failure in name resolution|Could not resolve"
        "|Could not connect|Connection timed out|NewConnectionError|Network is unreachable",
        "The network did not give the packages of Debian and of PyPI that the sandbox image is made from.",
        "curl -I http://deb.debian.org https://pypi.org",
    ),
    (
        "pull access denied|manifest for [^ ]+ not found|manifest unknown|repository does not exist"
        "|invalid reference format|failed to resolve source metadata|No such image",
        "There is no base image {base}, neither on this machine nor at its registry.",
        CHOOSE_BASE,
    ),
    (
        "(Unable to locate package|Package) '?chromium",
        "The packages of {base} have no Chromium (Ubuntu has it as a snap only, which runs in no container).",
        "vera build --browser --base-image debian:bookworm-slim",
    ),
    (
        "apt-get: (command )?not found|/bin/sh.*no such file",
        "The base image {base} is no Debian or Ubuntu, whose packages the sandbox is made of.",
        "vera build --base-image debian:bookworm-slim",
    ),
)


async def run(
    base_image: str,
    name: str,
    archive: bytes,
    show: Callable[[str], object],
    *,
    no_cache: bool = False,
    timeout: float = SECONDS,
) -> None:
    """Build the context `archive` (a tar) on `base_image`, as `name`; each line of the build goes to `show`.

    `timeout` is for all of it, in seconds. Cancelled, the build is given up. Raises BoxError.
    """
    proxies = {key: os.environ[key] for key in PROXIES if os.environ.get(key)}
    process = await asyncio.create_subprocess_exec(
        *("docker", "build", "--force-rm", f"--tag={name}", f"--build-arg=BASE_IMAGE={base_image}"),
        # By name only: the value may hold a password.
        *(f"--build-arg={key}" for key in proxies),
        *(["--no-cache"] if no_cache else []),
        "-",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        # For BuildKit, where there is one: plain lines, and the builder that has this engine's images.
        env={
            **docker.client_environment(),
            **proxies,
            "BUILDKIT_PROGRESS": "plain",
            "BUILDX_BUILDER": "default",
        },
        start_new_session=True,
    )
    said = ""
    feeding = asyncio.create_task(_feed(process, archive))
    try:
        async with asyncio.timeout(timeout):
            async for line in _lines(process):
                show(line)
                said = f"{said}{line}\n"[-OUTPUT_KEPT:]
            code = await process.wait()
    except TimeoutError:
        raise BoxError(
            f"The sandbox image was not built within {timeout / 60:.0f} minutes.", hint="vera build"
        ) from None
    finally:
        await _stop(process)
        await feeding
    if code != 0:
        raise failure(base_image, said)


def failure(base_image: str, said: str) -> BoxError:
    """The error for a build that failed with these words."""
    for signs, sentence, hint in EXPLANATIONS:
        if re.search(signs, said):
            return BoxError(sentence.format(base=base_image), hint=hint)
    if known := docker.explain(base_image, said):
        return BoxError(known[0], hint=known[1])
    words = " / ".join(said.strip().splitlines()[-3:])[-600:].rstrip(".")
    return BoxError(
        f"The sandbox image could not be built; Docker said: {words}.", hint="vera build --no-cache"
    )


async def _feed(process: asyncio.subprocess.Process, data: bytes) -> None:
    assert process.stdin is not None
    # A build that fails early does not take all of it.
    with contextlib.suppress(ConnectionError):
        process.stdin.write(data)
        await process.stdin.drain()
    process.stdin.close()


async def _lines(process: asyncio.subprocess.Process) -> AsyncIterator[str]:
    """Lines with something in them, each cut at MAX_LINE_LENGTH."""
    assert process.stdout is not None
    rest = b""
    while data := await process.stdout.read(65536):
        *whole, rest = re.split(rb"[\r\n]+", rest[:MAX_LINE_LENGTH] + data)
        for line in whole:
            if text := _printable(line):
                yield text
    if text := _printable(rest):
        yield text


def _printable(line: bytes) -> str:
    text = re.sub(rb"\x1b\[[0-9;]*[A-Za-z]", b"", line[:MAX_LINE_LENGTH]).decode("utf-8", "replace")
    return "".join(c for c in text if c.isprintable()).strip()


async def _stop(process: asyncio.subprocess.Process) -> None:
    """End a build that is still under way: the engine gives it up when its client goes."""
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
