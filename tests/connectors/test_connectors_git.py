"""A git repository as a connector: the bytes of its blobs at a commit, and nothing of it that runs."""

import hashlib
import os
from pathlib import Path

import pytest

from support.connecting import CLOSED, commit, gathered, git, git_server, names, reaching, repository
from vera.connectors import ConnectorError
from vera.connectors.basket import Limits

pytestmark = pytest.mark.needs("git")
RULES = b"The hall opens at nine.\n"


def test_a_document_is_the_blob_and_its_name_holds_the_commit(tmp_path: Path) -> None:
    """One at a revision that is no longer the newest, below the folder that was named."""
    first = repository(tmp_path / "r", {"docs/rules.md": RULES, "other.txt": b"x"})
    git(tmp_path / "r", "tag", "v1")
    second = commit(tmp_path / "r", {"docs/rules.md": b"The hall opens at ten.\n"})
    old, revision = gathered(tmp_path / "a", f"code=git:{tmp_path}/r#rev=v1&path=docs")
    new, _ = gathered(tmp_path / "b", f"code=git:{tmp_path}/r")
    assert (revision, names(old)) == (first, [f"code@{first}/docs/rules.md"])
    assert names(new) == [f"code@{second}/docs/rules.md", f"code@{second}/other.txt"]
    data = (tmp_path / "a" / names(old)[0]).read_bytes()
    assert data == RULES
    blob = git(tmp_path / "r", "rev-parse", "v1:docs/rules.md")
    assert hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest() == blob
    assert old.documents[0].origin == f"git {tmp_path}/r at {first}: docs/rules.md ({blob})"


def test_links_submodules_pointers_and_what_is_too_large_are_named_and_left_out(tmp_path: Path) -> None:
    repository(tmp_path / "inner", {"x": b"inner"})
    repository(tmp_path / "r", {"rules.md": RULES})
    (tmp_path / "r" / "link").symlink_to("/etc/passwd")
    git(tmp_path / "r", "submodule", "--quiet", "add", str(tmp_path / "inner"), "module")
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    commit(tmp_path / "r", {"film.mp4": pointer, "large.bin": b"x" * 5000})
    basket, _ = gathered(
        tmp_path / "a", f"code=git:{tmp_path}/r", limits=Limits(documents=9, bytes=4096, seconds=60)
    )
    assert [name.rpartition("/")[2] for name in names(basket)] == [".gitmodules", "rules.md"]
    left = dict(basket.left_out)
    assert left["link"] == "a link, which is not followed"
    assert left["module"] == "a submodule, which is not followed"
    assert left["film.mp4"].startswith("a Git LFS pointer")
    assert left["large.bin"] == "beyond its limit of 4096 bytes"


def test_nothing_of_a_hostile_repository_runs(tmp_path: Path) -> None:
    """Hooks, filters, the file-system monitor, a pager, textconv, an include, a lazy fetch, a replacement."""
    ran = tmp_path / "ran"
    good = repository(tmp_path / "r", {"rules.md": RULES, ".gitattributes": b"* filter=evil diff=evil\n"})
    program = tmp_path / "evil.sh"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    further = tmp_path / "further"
    further.write_text(f"[core]\n\tfsmonitor = {program}\n\tpager = {program}\n")
    for key, value in {
        "core.fsmonitor": program, "core.pager": program, "core.sshCommand": program, "include.path": further,
        "core.hooksPath": tmp_path, "filter.evil.smudge": program, "diff.evil.textconv": program,
        "credential.helper": f"!{program}", "alias.ls-tree": f"!{program}", "core.askPass": program,
        "extensions.partialClone": "origin", "remote.origin.url": f"ext::{program}",
        "remote.origin.promisor": "true", "remote.origin.uploadpack": str(program),
    }.items():  # fmt: skip
        git(tmp_path / "r", "config", key, str(value))
    for hook in ("post-checkout", "reference-transaction"):
        (tmp_path / "r" / ".git" / "hooks" / hook).symlink_to(program)
    blob = git(tmp_path / "r", "rev-parse", "HEAD:rules.md")
    forged = git(
        tmp_path / "r", "hash-object", "-w", "--no-filters", "--stdin", stdin=b"The hall is closed.\n"
    )
    git(tmp_path / "r", "replace", blob, forged)
    ran.unlink(missing_ok=True)  # the git of this test obeyed the configuration
    basket, _ = gathered(tmp_path / "a", f"code=git:{tmp_path}/r")
    assert not ran.exists()
    assert (tmp_path / "a" / f"code@{good}/rules.md").read_bytes() == RULES
    missing = tmp_path / "r" / ".git" / "objects" / blob[:2] / blob[2:]
    missing.chmod(0o644)
    missing.unlink()
    basket, _ = gathered(tmp_path / "b", f"code=git:{tmp_path}/r")
    assert not ran.exists()
    assert dict(basket.left_out)["rules.md"].startswith("its bytes are not in the repository")


@pytest.mark.parametrize(
    "revision", ["--upload-pack=touch x", "-h", "a..b", "main:docs", "", "main^{tree}", "@{u}", "x" * 300]
)
def test_a_revision_is_never_an_option_or_an_expression(tmp_path: Path, revision: str) -> None:
    repository(tmp_path / "r", {"rules.md": RULES})
    with pytest.raises(ConnectorError, match="is no revision"):
        gathered(tmp_path / "a", f"code=git:{tmp_path}/r#rev={revision}")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("ssh://host/x", "only http and https"),
        ("file:///etc", "only http and https"),
        ("ext::sh -c x://y", "only http and https"),
        ("https://user:pass@host.test/x", "without a password"),
        ("https://host.test/x", "the network is closed"),
        ("--upload-pack=x", "is no repository"),
    ],
)
def test_addresses_that_are_refused(tmp_path: Path, address: str, said: str) -> None:
    with pytest.raises(ConnectorError, match=said):
        gathered(tmp_path / "a", f"code=git:{address}", CLOSED)


def test_a_folder_inside_a_repository_is_not_that_repository(tmp_path: Path) -> None:
    repository(tmp_path / "r", {"docs/rules.md": RULES})
    with pytest.raises(ConnectorError, match="is no repository"):
        gathered(tmp_path / "a", f"code=git:{tmp_path}/r/docs")


def test_a_remote_repository_is_fetched_at_its_revision_and_the_connection_is_noted(tmp_path: Path) -> None:
    first = repository(tmp_path / "served" / "r", {"rules.md": RULES})
    commit(tmp_path / "served" / "r", {"rules.md": b"new\n"})
    with git_server(tmp_path / "served") as site:
        reach = reaching(site)
        basket, revision = gathered(tmp_path / "a", f"code=git:{site}/r#rev={first}", reach)
        assert (revision, names(basket)) == (first, [f"code@{first}/rules.md"])
        assert (tmp_path / "a" / names(basket)[0]).read_bytes() == RULES
        (noted,) = reach.connections
        assert (noted.address, noted.verdict) == ("127.0.0.1", "allowed")
        with pytest.raises(ConnectorError, match="cannot fetch"):
            gathered(tmp_path / "b", f"code=git:{site}/r#rev=absent", reach)
        with pytest.raises(ConnectorError, match="cannot fetch http://127"):
            gathered(tmp_path / "c", f"code=git:{site}/r", reaching("http://127.0.0.1:9"))
        with pytest.raises(ConnectorError, match="larger than 2048 bytes"):
            commit(tmp_path / "served" / "r", {"noise.bin": os.urandom(300_000)})
            gathered(tmp_path / "d", f"code=git:{site}/r", reach, Limits(documents=9, bytes=1024, seconds=60))


@pytest.mark.parametrize("how", ["gitdir", "link", "alternates", "commondir", "pack"])
def test_a_folder_never_leads_to_another_repository(tmp_path: Path, how: str) -> None:
    private, given = tmp_path / "private", tmp_path / "given"
    first = repository(private, {"secret.md": b"SECRET\n"})
    given.mkdir()
    if how == "gitdir":
        (given / ".git").write_text(f"gitdir: {private}/.git\n")
    elif how == "link":
        (given / ".git").symlink_to(private / ".git")
    else:
        repository(given, {"own.md": b"own\n"})
        if how == "alternates":
            (given / ".git" / "objects" / "info").mkdir(exist_ok=True)
            (given / ".git" / "objects" / "info" / "alternates").write_text(f"{private}/.git/objects\n")
        elif how == "commondir":
            (given / ".git" / "commondir").write_text(f"{private}/.git\n")
        else:
            (given / ".git" / "objects" / "zz").symlink_to(private / ".git" / "objects")
    with pytest.raises(ConnectorError, match=r"is no repository|from elsewhere"):
        gathered(tmp_path / "a", f"code=git:{given}#rev={first}")
