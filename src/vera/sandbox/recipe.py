"""What the images of docker boxes are built from: the files of assets/docker and this machine's own
certificate authorities; and, on that image, the one with a browser."""

import contextlib
import hashlib
import io
import re
import tarfile
from collections.abc import Mapping
from pathlib import Path

REPOSITORY = "vera-sandbox"
BROWSER_REPOSITORY = "vera-browser"
FOLDER = Path(__file__).parents[1] / "assets" / "docker"
BROWSER_FOLDER = FOLDER / "browser"

# Where administrators put certificate their own authorities: Debian, Fedora, Arch.
ANCHORS = (
    Path("/usr/local/share/ca-certificates"),
    Path("/etc/pki/ca-trust/source/anchors"),
    Path("/etc/ca-certificates/trust-source/anchors"),
)
MAX_ANCHORS = 100
MAX_ANCHOR_BYTES = 1 << 20
CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----")


def files() -> Mapping[str, bytes]:
    """Everything, by its path in the build context."""
    own = {path.name: path.read_bytes() for path in sorted(FOLDER.iterdir()) if path.is_file()}
    return {**own, **{f"certificates/{name}": data for name, data in certificates(ANCHORS).items()}}


def certificates(folders: tuple[Path, ...]) -> Mapping[str, bytes]:
    """The authorities that this machine's administrator added, by file name: certificates and nothing else.

    So a network that replaces certificates (a company's proxy) works in the box as it does on the machine.
    """
    found: dict[str, bytes] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*"))[:MAX_ANCHORS]:
            with contextlib.suppress(OSError):
                if path.is_file() and path.stat().st_size <= MAX_ANCHOR_BYTES:
                    blocks = CERTIFICATE.findall(path.read_bytes())
                    if blocks:
                        found[re.sub("[^A-Za-z0-9._-]", "_", path.stem) + ".crt"] = b"\n".join([*blocks, b""])
    return found


def image_name(base_image: str, parts: Mapping[str, bytes] | None = None) -> str:
    """`vera-sandbox:` and 12 digits over everything that the image is made from: another recipe, certificate
    or base image is another name. `parts` are `files()`, where the caller has them."""
    return f"{REPOSITORY}:{_digits(base_image, files() if parts is None else parts)}"


def browser_files() -> Mapping[str, bytes]:
    """What the image with a browser adds to the sandbox image, by its path in the build context."""
    return {path.name: path.read_bytes() for path in sorted(BROWSER_FOLDER.iterdir()) if path.is_file()}


def browser_image_name(sandbox_image: str) -> str:
    """`vera-browser:` and 12 digits over the sandbox image that it extends and what it adds."""
    return f"{BROWSER_REPOSITORY}:{_digits(sandbox_image, browser_files())}"


def _digits(base_image: str, parts: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256(base_image.encode() + b"\0")
    for name, data in parts.items():
        digest.update(f"{name}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()[:12]


def archive(parts: Mapping[str, bytes]) -> bytes:
    """The build context as a tar, the same bytes for the same files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        # Copied by the Dockerfile, so it is there even when it is empty.
        folder = tarfile.TarInfo("certificates")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o755
        tar.addfile(folder)
        for name, data in parts.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(data), 0o755 if data.startswith(b"#!") else 0o644
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()
