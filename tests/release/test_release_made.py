"""What a release holds: the files of `.ci/release`, and how a person checks them."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey

from support.cli import vera
from support.releases import ROOT, git, one, typed

pytestmark = [pytest.mark.needs("pypi", "ensurepip"), pytest.mark.timeout(900)]
PAGE = ROOT / "docs" / "how-to" / "make-a-release.md"


def statement_of(release: Path) -> dict[str, Any]:
    envelope = json.loads(one(release, "*.intoto.json").read_bytes())
    statement: dict[str, Any] = json.loads(base64.b64decode(envelope["payload"]))
    return statement


def test_a_release_is_a_wheel_an_sdist_an_sbom_a_statement_and_their_checksums(release: Path) -> None:
    names = sorted(path.name.removeprefix("vera_agent-0.1.0") for path in release.iterdir())
    assert names == ["-py3-none-any.whl", ".cdx.json", ".intoto.json", ".tar.gz", "SHA256SUMS"]
    listed = dict(reversed(line.split("  ")) for line in (release / "SHA256SUMS").read_text().splitlines())
    assert listed == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in release.iterdir()
        if path.name != "SHA256SUMS"
    }


def test_the_wheel_and_the_sdist_have_the_time_of_the_commit_and_nothing_of_the_machine(
    release: Path, wheel: Path
) -> None:
    with tarfile.open(one(release, "*.tar.gz")) as sdist:
        members = sdist.getmembers()
    commit = int(git("log", "-1", "--format=%ct"))
    assert {each.mtime for each in members} == {commit}
    assert {(each.uid, each.gid, each.uname, each.gname) for each in members} == {(0, 0, "", "")}
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"vera/py.typed", "vera/default.yaml", "vera_agent-0.1.0.dist-info/licenses/LICENSE"} <= names
    assert not [name for name in names if name.endswith(".pyc") or not name.startswith("vera")]


def test_the_sbom_names_every_package_of_the_wheel_with_a_purl_and_no_folder_of_this_machine(
    release: Path,
) -> None:
    text = one(release, "*.cdx.json").read_text()
    sbom = json.loads(text)
    assert (sbom["bomFormat"], sbom["metadata"]["component"]["name"]) == ("CycloneDX", "vera-agent")
    packages = {each["name"].lower().replace("_", "-"): each for each in sbom["components"]}
    assert {"click", "cryptography", "msgspec", "pydantic-core"} <= packages.keys()
    assert not {"pip", "pytest", "twine"} & packages.keys()
    others = {name: each for name, each in packages.items() if name != "vera-agent"}
    assert all(each["purl"].startswith("pkg:pypi/") for each in others.values())
    assert len(others) <= 50
    assert "file:///" not in text and str(release) not in text


def test_the_statement_is_slsa_provenance_of_the_commit(release: Path) -> None:
    statement = statement_of(release)
    assert statement["predicateType"] == "https://slsa.dev/provenance/v1"
    build = statement["predicate"]["buildDefinition"]
    commit = git("rev-parse", "HEAD")
    assert build["resolvedDependencies"][0]["digest"] == {"gitCommit": commit}
    assert re.fullmatch(r"hatchling \d+\.\d+\.\d+", build["internalParameters"]["backend"])
    assert [each["name"] for each in statement["subject"]] == sorted(
        path.name
        for path in release.iterdir()
        if path.name not in ("SHA256SUMS",) and "intoto" not in path.name
    )


def test_vera_checks_a_release_and_refuses_a_changed_or_a_renamed_wheel(
    release: Path, wheel: Path, tmp_path: Path
) -> None:
    statement = one(release, "*.intoto.json")
    files = [one(release, "*.whl"), one(release, "*.tar.gz"), one(release, "*.cdx.json")]
    done = vera("attest", *files, "--check", statement, cwd=tmp_path)
    assert (done.returncode, done.stdout.count("AGREES")) == (0, 3), done.stdout + done.stderr
    changed, renamed = tmp_path / wheel.name, tmp_path / "vera_agent-0.2.0-py3-none-any.whl"
    shutil.copy(wheel, renamed)
    changed.write_bytes(wheel.read_bytes() + b"x")
    for bad, why in ((changed, "not those that were signed"), (renamed, f"under the name {wheel.name}")):
        done = vera("attest", bad, "--check", statement, cwd=tmp_path)
        assert done.returncode == 1
        assert why in done.stdout


def test_others_tools_check_the_signature(release: Path) -> None:
    """securesystemslib, which knows nothing of VERA."""
    envelope = json.loads(one(release, "*.intoto.json").read_bytes())
    [signature] = envelope["signatures"]
    public = signature["public"]
    key = SSlibKey(signature["keyid"], "ed25519", "ed25519", {"public": public})
    theirs = Envelope.from_dict({**envelope, "signatures": [{k: signature[k] for k in ("keyid", "sig")}]})
    assert theirs.verify([key], 1)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="the page uses openssl")
def test_the_check_without_vera_on_the_page_works_as_it_is_written(release: Path, tmp_path: Path) -> None:
    [script] = re.findall(r"^```bash\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    place = tmp_path / "downloads"
    shutil.copytree(release, place)
    (place / "maintainer.pem").write_text(vera("key", cwd=tmp_path).stdout)

    def typed() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script], cwd=place, capture_output=True, text=True, check=False
        )

    done = typed()
    assert done.returncode == 0, done.stderr
    assert "Signature Verified Successfully" in done.stdout
    assert one(place, "*.whl").name in done.stdout
    statement = one(place, "*.intoto.json")
    envelope = json.loads(statement.read_bytes())
    envelope["payload"] = base64.b64encode(base64.b64decode(envelope["payload"]) + b" ").decode()
    statement.write_text(json.dumps(envelope))
    assert typed().returncode != 0


def test_whoever_builds_the_commit_again_elsewhere_gets_the_same_wheel(
    wheel: Path, wheels: Path, tmp_path: Path
) -> None:
    """In another folder, under another umask; another date gives other bytes."""
    (tmp_path / "source").mkdir(mode=0o700)
    archive = tmp_path / "source.tar"
    git("archive", "--output", str(archive), "HEAD")
    build = 'umask 077; tar -x -C source -f source.tar; exec "$@"'
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-cache-dir", "./source"]
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
    seconds = int(git("log", "-1", "--format=%ct"))
    made = {}
    for name, epoch in (("same", seconds), ("later", seconds + 100)):
        typed(
            *("sh", "-ec", build, "sh", *pip, "--wheel-dir", name),
            cwd=tmp_path,
            SOURCE_DATE_EPOCH=str(epoch),
            **offline,
        )
        made[name] = one(tmp_path / name, "*.whl").read_bytes()
    assert made["same"] == wheel.read_bytes()
    assert made["later"] != wheel.read_bytes()


def test_what_is_not_committed_is_not_released(release: Path, wheel: Path) -> None:
    tracked = git("ls-files", "src").splitlines()
    ours = {f"src/{name}" for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert ours == set(tracked)
