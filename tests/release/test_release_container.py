"""VERA in a container: the image of deploy/Dockerfile, and what deploy/compose.yaml starts."""

import json
import re
import shutil
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from support.cli import vera
from support.releases import ROOT, typed

pytestmark = [pytest.mark.needs("docker", "pypi", "ensurepip"), pytest.mark.timeout(900)]
LICENCES = ROOT / "examples" / "licences"
THESIS = "GPL version 3 requires the written offer to be valid for at least three years."
PATIENCE = 60.0
NAME = re.compile(r"`([A-Z_]+)`")


def docker(*argv: str) -> str:
    return typed("docker", *argv).strip()


@pytest.fixture
def volumes() -> Iterator[list[str]]:
    """The options that mount the volumes of the image, new ones, and the documents."""
    name = f"vera-test-{uuid.uuid4().hex[:12]}"
    folders = ("store", "keys", "tokens")
    options = [f"--volume={name}-{folder}:/{folder}" for folder in folders]
    yield [*options, f"--volume={LICENCES}:/input:ro"]
    subprocess.run(
        ["docker", "volume", "rm", "--force", *(f"{name}-{folder}" for folder in folders)],
        capture_output=True,
        check=False,
    )


def finished(client: httpx.Client, job: str) -> dict[str, Any]:
    """The job when it has ended."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found: dict[str, Any] = client.get(f"/v1/jobs/{job}").raise_for_status().json()
        if found["status"] not in ("queued", "running"):
            return found
        time.sleep(0.3)
    raise AssertionError(f"{job} has not ended.")


@contextmanager
def answering(address: str, token: str) -> Iterator[httpx.Client]:
    """A client of the service at this address, when that answers."""
    bearer = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"http://{address}", headers=bearer, trust_env=False, timeout=30) as client:
        end = time.monotonic() + PATIENCE
        while not _answers(client):
            assert time.monotonic() < end, f"{address} does not answer."
            time.sleep(0.2)
        yield client


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/healthz").is_success
    except httpx.HTTPError:
        return False


def test_the_image_works_as_a_user_who_cannot_change_the_program(image: str) -> None:
    config = json.loads(docker("image", "inspect", image))[0]["Config"]
    assert config["User"] == "vera"
    assert set(config["Volumes"]) == {"/store", "/keys", "/tokens"}
    shell = ["run", "--rm", "--entrypoint", "sh", image, "-c"]
    assert docker(*shell, "id -u; test -w /opt/vera || test -w /etc || echo closed").split() == [
        "1000",
        "closed",
    ]


def test_no_secret_of_the_folder_is_in_the_image_nor_in_the_stage_that_builds_it(image: str) -> None:
    stages = docker("images", "--quiet", "--filter", f"label=vera.test={image}").split()
    find = "find /opt/vera /store /keys /tokens /home /build -name .env 2>/dev/null || true"
    for each in (image, *stages):
        assert docker("run", "--rm", "--user", "0", "--entrypoint", "sh", each, "-c", find) == ""
    assert "not-to-be-seen" not in docker("history", "--no-trunc", image)
    config = json.loads(docker("image", "inspect", image))[0]["Config"]
    assert {each.split("=")[0] for each in config["Env"]} == {"PATH", "XDG_DATA_HOME"}


def test_without_a_token_the_service_says_what_to_type(image: str, volumes: list[str]) -> None:
    done = subprocess.run(
        ["docker", "run", "--rm", *volumes, image], capture_output=True, text=True, check=False
    )
    assert done.returncode == 5
    assert "vera token add NAME" in done.stderr


def test_the_service_is_healthy_and_its_verdict_replays_on_another_machine(
    image: str, volumes: list[str], tmp_path: Path
) -> None:
    run = ["run", "--rm", *volumes, image]
    token = docker(*run, "token", "add", "one", "--token-file", "/tokens/tokens.json")
    name = f"vera-test-{uuid.uuid4().hex[:12]}"
    limits = [
        "--name",
        name,
        "--publish=127.0.0.1::8855",
        "--env=MODEL_BASE_URL=builtin",
        "--health-interval=1s",
    ]
    docker("run", "--detach", *limits, *volumes, image)
    try:
        with answering(docker("port", name, "8855").split("\n")[0], token) as client:
            asked = client.post("/v1/verify", json={"text": THESIS, "scope": ["files"]}).raise_for_status()
            done = finished(client, asked.json()["id"])
            assert (done["status"], done["result"]["status"]) == ("done", "QUOTED")
            bundle = tmp_path / "bundle.zip"
            bundle.write_bytes(client.get(f"/v1/jobs/{done['id']}/bundle").raise_for_status().content)
        assert docker("inspect", "--format", "{{.State.Health.Status}}", name) == "healthy"
        docker("stop", name)
        assert docker("inspect", "--format", "{{.State.ExitCode}}", name) == "0"
    finally:
        subprocess.run(["docker", "rm", "--force", name], capture_output=True, check=False)
    keyid = json.loads(docker(*run, "key", "--json"))["keyid"]  # the volume has kept it
    replayed = vera("replay", bundle, "--trust", keyid, cwd=tmp_path)
    assert (replayed.returncode, replayed.stdout.count("AGREES")) == (0, 3), replayed.stdout


class Cluster:
    """What deploy/compose.yaml starts, as a project with a name that no other has."""

    def __init__(self, image: str, place: Path, documents: Path) -> None:
        command = ["docker-compose"] if shutil.which("docker-compose") else ["docker", "compose"]
        override = place / "override.yaml"
        override.write_text(yaml.safe_dump({"services": {"database": POSTGRES_OF_THIS_MACHINE}}))
        files = ["--file", ROOT / "deploy" / "compose.yaml", "--file", override]
        self._argv = [*command, "--project-name", f"vera-test-{uuid.uuid4().hex[:12]}", *files]
        self._environment = {
            "VERA_IMAGE": image,
            "POSTGRES_IMAGE": image,
            "PGPASSWORD": "not-to-be-seen",
            "SERVICE_AT": "127.0.0.1:",
            "DATABASE_AT": "127.0.0.1:",
            "INPUT": str(documents),
        }

    def compose(self, *argv: str) -> str:
        return typed(*self._argv, *argv, **self._environment).strip()


START_POSTGRES = r"""
PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
data=/var/lib/postgresql/data
as_vera='setpriv --reuid=1000 --regid=1000 --clear-groups'
cd /tmp
chown vera $data
printf %s "$POSTGRES_PASSWORD" >password
chmod 644 password
$as_vera initdb --pgdata=$data --username="$POSTGRES_USER" --pwfile=password --auth=scram-sha-256 \
  --no-locale --encoding=UTF8 --no-sync
echo 'host all all all scram-sha-256' >>$data/pg_hba.conf
echo "create database $POSTGRES_DB" | $as_vera postgres --single -D $data postgres
exec $as_vera postgres -D $data -c 'listen_addresses=*' -c unix_socket_directories=/tmp
"""
POSTGRES_OF_THIS_MACHINE = {
    "user": "root",
    "volumes": ["/usr:/usr:ro"],
    "entrypoint": ["sh", "-ec", START_POSTGRES.replace("$", "$$")],
    "healthcheck": {
        "test": ["CMD-SHELL", "/usr/lib/postgresql/*/bin/pg_isready -h 127.0.0.1 -U vera -d vera"],
        "interval": "1s",
    },
}
"""The programs of this machine's Postgres, in the place of the official image, which only a registry has."""


@pytest.mark.needs("compose", "postgres")
@pytest.mark.skipif(not Path("/usr/lib/postgresql").exists(), reason="runs the Postgres of a Debian machine")
def test_compose_starts_a_service_whose_jobs_its_workers_do_beside_a_batch(
    image: str, tmp_path: Path
) -> None:
    documents = shutil.copytree(LICENCES, tmp_path / "documents")
    (documents / "tasks.jsonl").write_text(json.dumps({"thesis": THESIS, "input_dir": "/input"}) + "\n")
    cluster = Cluster(image, tmp_path, documents)
    try:
        add = ["token", "add", "one", "--token-file=/tokens/tokens.json"]
        token = cluster.compose("run", "--rm", "--no-deps", "-T", "service", *add).split("\n")[-1]
        cluster.compose("up", "--detach", "--no-build", "--scale", "worker=2")
        with answering(cluster.compose("port", "service", "8855"), token) as client:
            ids = [
                client.post("/v1/verify", json={"text": text, "scope": ["files"]})
                .raise_for_status()
                .json()["id"]
                for text in (THESIS, THESIS.replace("GPL version 3", "The GPL"))
            ]
            jobs = [finished(client, job) for job in ids]
        assert [job["status"] for job in jobs] == ["done", "done"]
        assert jobs[0]["result"]["status"] == "QUOTED"
        batch = ["worker", "batch", "/input/tasks.jsonl", "--engine", "postgresql://vera@database/vera"]
        said = cluster.compose("run", "--rm", "--no-deps", "-T", *batch, "--base-dir", "/store", "--json")
        assert '"QUOTED"' in said
        assert "not-to-be-seen" not in cluster.compose("logs", "--no-color")
    finally:
        cluster.compose("down", "--volumes", "--timeout", "10")


def test_the_page_names_each_variable_of_the_compose_file_and_each_argument_of_the_image() -> None:
    page = (ROOT / "docs" / "how-to" / "run-in-a-container.md").read_text()
    told = {
        name for row in re.findall(r"^\| (`[A-Z].*?) \|", page, re.MULTILINE) for name in NAME.findall(row)
    }
    read = set(re.findall(r"\$\{([A-Z_]+)", (ROOT / "deploy" / "compose.yaml").read_text()))
    arguments = set(re.findall(r"^ARG ([A-Z]+)", (ROOT / "deploy" / "Dockerfile").read_text(), re.MULTILINE))
    assert told == read | arguments


def test_the_compose_file_has_no_secret_and_listens_at_this_machine_only() -> None:
    services = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"]
    ports = [port for service in services.values() for port in service.get("ports", [])]
    assert sorted(ports) == ["${DATABASE_AT:-127.0.0.1:5432}:5432", "${SERVICE_AT:-127.0.0.1:8855}:8855"]
    for service in services.values():
        for name, value in service["environment"].items():
            assert not name.endswith(("PASSWORD", "KEY")) or value.startswith("${")
        assert service["command"] if "command" in service else service["image"].startswith("${POSTGRES_IMAGE")
