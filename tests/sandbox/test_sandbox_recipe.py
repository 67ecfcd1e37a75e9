"""What the image is made from, and its name by content."""

import io
import re
import tarfile
from pathlib import Path

import pytest

from vera.config.loading import defaults
from vera.sandbox import recipe

AUTHORITY = b"-----BEGIN CERTIFICATE-----\nTUlJ\n-----END CERTIFICATE-----\n"
KEY = b"-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n"


def test_the_name_tells_the_content() -> None:
    parts = {"Dockerfile": b"FROM x"}
    name = recipe.image_name("base:1", parts)
    assert re.fullmatch("vera-sandbox:[0-9a-f]{12}", name)
    assert name == recipe.image_name("base:1", dict(parts))
    others = [
        recipe.image_name("base:2", parts),
        recipe.image_name("base:1", {"Dockerfile": b"FROM y"}),
        recipe.image_name("base:1", {"Containerfile": b"FROM x"}),
        recipe.image_name("base:1", {**parts, "certificates/a.crt": AUTHORITY}),
    ]
    assert len({name, *others}) == 5


def test_the_context_holds_everything_that_the_dockerfile_copies() -> None:
    parts = recipe.files()
    with tarfile.open(fileobj=io.BytesIO(recipe.archive(parts))) as tar:
        held = set(tar.getnames())
    assert held == {*parts, "certificates"}
    copied = re.findall(r"^COPY (.+) \S+$", parts["Dockerfile"].decode(), re.MULTILINE)
    assert {name for line in copied for name in line.split()} == {
        name.partition("/")[0] for name in held - {"Dockerfile"}
    }


def test_the_same_files_make_the_same_bytes() -> None:
    parts = recipe.files()
    assert recipe.archive(parts) == recipe.archive(dict(parts))


def test_the_dockerfile_and_the_settings_name_the_same_base_image() -> None:
    assert f"ARG BASE_IMAGE={defaults().sandbox.base_image}\n".encode() in recipe.files()["Dockerfile"]


def test_of_the_machines_authorities_only_certificates_are_taken(tmp_path: Path) -> None:
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "our proxy.pem").write_bytes(b"comment\n" + AUTHORITY + KEY + AUTHORITY)
    (tmp_path / "key.pem").write_bytes(KEY)
    (tmp_path / "large.crt").write_bytes(AUTHORITY + bytes(recipe.MAX_ANCHOR_BYTES))
    (tmp_path / "gone.crt").symlink_to(tmp_path / "nowhere")
    assert recipe.certificates((tmp_path, tmp_path / "nowhere")) == {
        "our_proxy.crt": AUTHORITY.rstrip() + b"\n" + AUTHORITY
    }


@pytest.mark.parametrize("name", ["Dockerfile", "pip", "pip_module", "requirements.txt"])
def test_the_files_of_the_image_come_with_the_package(name: str) -> None:
    assert (recipe.FOLDER / name).is_file()
