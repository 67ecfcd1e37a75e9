"""Real programs through the proxy: curl, wget, git and pip, over TLS and without."""

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from egress_world import AUTHORITY, Proxy, World, world

from vera.sandbox.egress.types import EgressLimits

SECONDS = 60


@pytest.fixture
def net() -> Iterator[World]:
    with world() as made:
        yield made


def run(
    proxy: Proxy, *argv: str, folder: Path | None = None, **extra: str
) -> subprocess.CompletedProcess[str]:
    """A program that knows the proxy as programs in a box do: from the environment."""
    if shutil.which(argv[0]) is None:
        pytest.skip(f"{argv[0]} is not on this machine")
    address = f"http://127.0.0.1:{proxy.port}"
    env = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), address)
    env |= {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "LC_ALL": "C.UTF-8", **extra}
    return subprocess.run(
        argv, env=env, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
    )


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_curl_gets_a_page(net: World, scheme: str) -> None:
    web = net.web(b"hello", tls=scheme == "https")
    proxy = net.proxy("allowlist", allow=["ok.test"], ports=[web.port])
    done = run(proxy, "curl", "-sS", "--cacert", str(AUTHORITY), f"{scheme}://ok.test:{web.port}/")
    assert done.stdout == "hello", done.stderr
    assert proxy.record().verdict == "allowed"


def test_curl_says_why_it_was_refused(net: World) -> None:
    proxy = net.proxy("allowlist", allow=["ok.test"])
    done = run(proxy, "curl", "-sS", "http://evil.test/")
    assert "evil.test is not on this run's list of allowed hosts" in done.stdout
    done = run(proxy, "curl", "-sSv", "https://evil.test/")
    assert done.returncode != 0
    assert "HTTP/1.1 403 evil.test is not on this run's list" in done.stderr


def test_curl_sends_a_large_body_after_it_was_told_to_continue(net: World, tmp_path: Path) -> None:
    web = net.web(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    big = tmp_path / "big"
    big.write_bytes(os.urandom(2_000_000))
    proxy = net.proxy(ports=[web.port])
    done = run(proxy, "curl", "-sS", "--data-binary", f"@{big}", f"http://ok.test:{web.port}/")
    assert done.stdout == "ok", done.stderr
    assert web.requests[0].endswith(big.read_bytes())


def test_curl_cannot_be_talked_into_a_second_reading(net: World) -> None:
    web = net.web()
    proxy = net.proxy("allowlist", allow=["ok.test"], ports=[web.port])
    for url in (
        f"http://ok.test@evil.test:{web.port}/",
        f"http://evil.test:{web.port}/?http://ok.test:{web.port}/",
        f"http://0x7f.1.0.1:{web.port}/",
        f"http://2130771969:{web.port}/",
        f"http://ok.test%2f@evil.test:{web.port}/",
        f"http://ok.test.evil.test:{web.port}/",
    ):
        run(proxy, "curl", "-sS", url)
    assert {record.verdict for record in proxy.records} == {"refused"}
    assert web.requests == []


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_wget_gets_a_file(net: World, scheme: str) -> None:
    web = net.site({"/a.txt": b"content"}, tls=scheme == "https")
    proxy = net.proxy(ports=[web.port])
    url = f"{scheme}://ok.test:{web.port}/a.txt"
    done = run(proxy, "wget", "-q", "-O", "-", f"--ca-certificate={AUTHORITY}", url)
    assert done.stdout == "content", done.stderr


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_git_clones_a_repository(net: World, tmp_path: Path, scheme: str) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not on this machine")
    served = repository(tmp_path)
    files = {
        f"/{path.relative_to(tmp_path)}": path.read_bytes() for path in served.rglob("*") if path.is_file()
    }
    web = net.site(files, tls=scheme == "https")
    proxy = net.proxy("allowlist", allow=["ok.test"], ports=[web.port])
    url = f"{scheme}://ok.test:{web.port}/served.git"
    done = run(proxy, "git", "-c", f"http.sslCAInfo={AUTHORITY}", "clone", "-q", url, "copy", folder=tmp_path)
    assert (tmp_path / "copy" / "a.txt").read_text() == "content", done.stderr
    assert all(record.verdict == "allowed" for record in proxy.wait_for(1))


def repository(folder: Path) -> Path:
    """A bare repository that any file server can serve."""
    work, served = folder / "work", folder / "served.git"
    work.mkdir()
    (work / "a.txt").write_text("content")
    identity = ["-c", "user.name=x", "-c", "user.email=x@ok.test"]
    for argv in (
        ["init", "-q", str(work)],
        ["-C", str(work), "add", "."],
        ["-C", str(work), *identity, "commit", "-q", "-m", "first"],
        ["clone", "-q", "--bare", str(work), str(served)],
        ["-C", str(served), "update-server-info"],
    ):
        subprocess.run(["git", *argv], check=True, capture_output=True, timeout=SECONDS)
    return served


def test_pip_installs_a_package_from_an_allow_listed_index(net: World, tmp_path: Path) -> None:
    name, content = "tiny_package-1.0-py3-none-any.whl", wheel()
    digest = hashlib.sha256(content).hexdigest()
    link = f'<!DOCTYPE html><a href="/files/{name}#sha256={digest}">{name}</a>'.encode()
    web = net.site({"/simple/tiny-package/": link, f"/files/{name}": content}, tls=True)
    # pip leaves without a word, and asyncio's TLS server waits 30 s for one.
    limits = EgressLimits(linger_seconds=0.2)
    proxy = net.proxy("allowlist", allow=[f"ok.test:{web.port}"], limits=limits)
    target = tmp_path / "installed"
    argv = [sys.executable, "-m", "pip", "install", "--no-input", "--no-cache-dir", "--target", str(target)]
    argv += ["--cert", str(AUTHORITY), "--index-url", f"https://ok.test:{web.port}/simple", "tiny-package"]
    quiet = {"PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = run(proxy, *argv, **quiet)
    assert done.returncode == 0, done.stderr
    assert (target / "tiny_package.py").read_text() == "answer = 42\n"
    assert {(record.host, record.verdict) for record in proxy.wait_for(1)} == {("ok.test", "allowed")}
    argv[-2] = f"https://evil.test:{web.port}/simple"
    done = run(proxy, *argv, "--retries=1", **quiet)
    assert done.returncode != 0
    assert "not on this run's list of allowed hosts" in done.stdout + done.stderr


def wheel() -> bytes:
    info = "tiny_package-1.0.dist-info"
    files = {
        "tiny_package.py": b"answer = 42\n",
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: tiny-package\nVersion: 1.0\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = [
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},{len(data)}"
        for name, data in files.items()
    ]
    files[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()
