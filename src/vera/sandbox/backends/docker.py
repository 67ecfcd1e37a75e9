"""The docker backend: one `docker run -i --rm` process, whose end is the container's end."""

import csv
import io
import json
import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from vera.sandbox import mounts, owner
from vera.sandbox.backends import chown_back, smoke_test
from vera.sandbox.box import SUPERVISOR, SupervisedBox, supervisor_command
from vera.sandbox.environment import environment
from vera.sandbox.spec import UNLIMITED, BoxSpec, Launch, MiB, Report
from vera.sandbox.types import BoxError, Refusal

LABEL = "vera.sandbox"
RUN_DIR = "/run/boxd"
SECCOMP = Path(__file__).with_name("seccomp.json")
CLI_SECONDS = 30.0
# The events of a box are asked for after its start and told from before it, by the engine's clock, too.
EVENTS_BEFORE = 600
# Enough for apt and pip as root inside, nothing that reaches the machine.
LAB_CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID")

# What the engine says → what a person needs to know, and the next command. `{image}` is filled in.
EXPLANATIONS = (
    (
        "Cannot connect to the Docker daemon",
        "The Docker engine is not running.",
        "sudo systemctl start docker",
    ),
    (
        "permission denied while trying to connect",
        "You may not use the Docker engine.",
        "sudo usermod -aG docker $USER   (and log in again)",
    ),
    ("No such image", "The sandbox image {image} is not on this machine.", "vera build"),
    ("Unable to find image", "The sandbox image {image} is not on this machine.", "vera build"),
    (
        "exec format error",
        "The sandbox image {image} is made for another processor architecture.",
        "vera build",
    ),
    (
        '"python3": executable file not found',
        "The image {image} has no python3, which the supervisor inside needs.",
        "vera build",
    ),
    ("no space left on device", "The disk that Docker uses is full.", "docker system df"),
    (
        "permission denied: unknown",
        "The Docker engine of this machine refuses the sandbox's options.",
        "vera doctor",
    ),
    ("unknown flag", "This Docker client is too old for the sandbox's options.", "docker version"),
    (
        "Mounts denied",
        "Docker may not share the work folder.",
        "open Docker Desktop, Settings, Resources, File sharing",
    ),
)


@dataclass(frozen=True)
class Engine:
    """What has to be known of the engine before a container can be described."""

    rootless: bool
    selinux: bool


class Docker:
    name = "docker"
    has_network = False
    has_image = True

    def launch(self, spec: BoxSpec) -> Launch:
        """Raises BoxError without a local engine or an image, and for mounts that are refused."""
        work, source = mounts.check(spec)
        if spec.privileged and spec.profile != "lab":
            raise Refusal(
                f"--privileged goes with the lab profile only, not with {spec.profile}.",
                hint="vera run --profile lab --privileged",
            )
        if not spec.image:
            raise BoxError("No sandbox image was named.", hint="vera build")
        found = engine()
        name = owner.new_box_name(self.name)
        lab = spec.profile == "lab"
        # In a rootless engine root inside is the person outside; anybody else would be a stranger to /work.
        uid, gid = (0, 0) if lab or found.rootless else mounts.identity(spec, work)
        # In the lab root may install what it likes, its documents too.
        documents = () if lab else mounts.DOCUMENTS
        quota = UNLIMITED if spec.work_read_only else spec.quota
        owner_outside = "" if found.rootless or not lab else person(spec, work)
        argv = [
            "docker",
            "run",
            "--interactive",
            "--rm",
            "--pull=never",
            "--log-driver=none",
            f"--name={name}",
            "--hostname=vera",
            f"--label={LABEL}={name}",
            f"--label={LABEL}.run={spec.run}",
            f"--label={LABEL}.lane={spec.lane}",
            f"--label={chown_back.LABEL}={owner_outside}",
            "--network=none",
            "--workdir=/work",
            f"--user={uid}:{gid}",
            bind(work, "/work", read_only=spec.work_read_only),
            *(
                f"--tmpfs={path}:ro,noexec,mode=0555,size=4096"
                for path in mounts.shown([*spec.hidden, *documents])
            ),
            *([bind(source, "/input", read_only=True)] if source else []),
            *(empty(f"/input/{path}") for path in (mounts.sessions_in(source) if source else [])),
            f"--tmpfs=/tmp:rw,exec,nosuid,nodev,mode=1777,size={spec.tmp}",
            f"--tmpfs={RUN_DIR}:rw,noexec,nosuid,nodev,mode=0700,uid={uid},gid={gid},size={8 * MiB}",
            *limits(spec),
            *isolation_options(spec),
            *(["--security-opt=label=disable"] if found.selinux else []),
            *(f"--env={key}={value}" for key, value in {**environment(), **spec.env}.items()),
            spec.image,
            *supervisor_command("python3", RUN_DIR, "/work", quota, owner_outside),
        ]
        return Launch(
            backend=self.name,
            isolation=describe(spec, found),
            argv=tuple(argv),
            env=client_environment(),
            input="/input" if source else "",
            quota=quota,
            remove=partial(remove, [name]),
            explain=partial(explain, spec.image),
            events=(
                *("docker", "events", f"--since={int(time.time()) - EVENTS_BEFORE}", "--format={{json .}}"),
                *("--filter=type=container", f"--filter=label={LABEL}={name}"),
            ),
        )

    async def probe(self, spec: BoxSpec) -> Report:
        return await smoke_test.start(
            self, spec, says="Starts a container and runs commands.", check=complaint
        )

    def reap(self) -> int:
        """Remove containers with our label whose VERA process is dead; 0 also without an engine.

        What root made in the work folder of a lab is given to the person, as the supervisor would have done.
        """
        if shutil.which("docker") is None:
            return 0
        shown = client("ps", "--all", f"--filter=label={LABEL}", "--format={{.Names}}")
        names = shown.stdout.split() if shown is not None else []
        dead = [name for name in names if (who := owner.owner_of(name, self.name)) and who.is_dead]
        if dead:
            labs = chown_back.labs_among(client("inspect", *dead))
            remove(dead)
            for lab in labs:
                client(*chown_back.arguments(lab, bind(lab.work, "/work")), data=SUPERVISOR.read_text())
        return len(dead)


def bind(source: Path, target: str, *, read_only: bool = False) -> str:
    """A --mount option that shows a folder of this machine."""
    readonly = ["readonly"] if read_only else []
    return _mount("type=bind", f"source={source}", f"target={target}", *readonly)


def empty(target: str) -> str:
    """A --mount option that puts an empty folder there."""
    return _mount("type=tmpfs", f"target={target}", "tmpfs-size=4096", "tmpfs-mode=0555")


def _mount(*fields: str) -> str:
    """Its value is a CSV record, so a path may hold commas and quotes."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(fields)
    return f"--mount={text.getvalue()}"


def person(spec: BoxSpec, work: Path) -> str:
    """User and group who own the work folder outside, as uid:gid; '' when that is root."""
    status = work.stat()
    uid = status.st_uid if spec.uid is None else spec.uid
    gid = status.st_gid if spec.gid is None else spec.gid
    return f"{uid}:{gid}" if uid else ""


def limits(spec: BoxSpec) -> list[str]:
    return [
        f"--memory={spec.memory}",
        f"--memory-swap={spec.memory}",
        f"--pids-limit={spec.pids}",
        f"--cpus={spec.cpus:g}",
        f"--ulimit=fsize={spec.fsize}",
        "--ulimit=core=0",
        "--ulimit=nofile=4096",
    ]


def isolation_options(spec: BoxSpec) -> list[str]:
    if spec.privileged:
        return ["--privileged"]
    common = ["--cap-drop=ALL", "--security-opt=no-new-privileges", f"--security-opt=seccomp={SECCOMP}"]
    if spec.profile == "lab":
        return [*common, *(f"--cap-add={name}" for name in LAB_CAPABILITIES)]
    return [*common, "--read-only"]


def describe(spec: BoxSpec, found: Engine) -> str:
    if spec.privileged:
        return "docker container, PRIVILEGED: root inside can take over this machine"
    user = "root inside, writable root" if spec.profile == "lab" else "unprivileged user, read-only root"
    where = "rootless docker" if found.rootless else "docker"
    return f"{where} container, {user}, no capabilities to reach the machine, no network device"


async def complaint(box: SupervisedBox) -> str:
    """Whether the limits that the kill order relies on are in force; a sentence when not."""
    files = "/sys/fs/cgroup/pids.max /sys/fs/cgroup/pids/pids.max"
    result = await box.run(f"cat {files} 2>/dev/null", timeout=smoke_test.SECONDS)
    if not result.head.strip().isdigit():
        return "The engine sets no limit on processes (its cgroup controller is off)."
    return ""


@cache
def engine() -> Engine:
    """The engine that the docker client speaks to. Raises BoxError when there is none on this machine."""
    if shutil.which("docker") is None:
        raise BoxError(
            "Docker is not installed.", hint="sudo apt install docker.io   (macOS: install Docker Desktop)"
        )
    _insist_on_local()
    info = client("info", "--format={{json .SecurityOptions}}")
    if info is None or info.returncode != 0:
        said = info.stderr if info else "no answer"
        sentence, hint = explain("", said) or (
            f"The Docker engine does not answer: {said[-300:]}",
            "docker info",
        )
        raise BoxError(sentence, hint=hint)
    options = json.loads(info.stdout or "null") or []
    return Engine(
        rootless=any("name=rootless" in option for option in options),
        selinux=any("name=selinux" in option for option in options),
    )


def _insist_on_local() -> None:
    """Raises BoxError where the docker client speaks to an engine on another machine."""
    context = client("context", "inspect", "--format={{.Endpoints.docker.Host}}")
    endpoint = os.environ.get("DOCKER_HOST") or (context.stdout.strip() if context else "")
    if endpoint and not endpoint.startswith(("unix://", "npipe://", "fd://")):
        raise BoxError(
            f"The Docker engine at {endpoint} is on another machine, where the work folder is not.",
            hint="env -u DOCKER_HOST docker context use default",
        )


def client(*arguments: str, data: str = "") -> "subprocess.CompletedProcess[str] | None":
    """One call of the docker client, with `data` as its input; None when it takes too long."""
    try:
        return subprocess.run(
            ["docker", *arguments],
            input=data,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=CLI_SECONDS,
            env=client_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None


def client_environment() -> dict[str, str]:
    """What the docker client itself needs: where its engine and its settings are."""
    names = ("PATH", "HOME", "XDG_RUNTIME_DIR")
    return {name: value for name, value in os.environ.items() if name in names or name.startswith("DOCKER_")}


def remove(names: list[str]) -> None:
    client("rm", "--force", *names)


def explain(image: str, said: str) -> tuple[str, str] | None:
    for sign, sentence, hint in EXPLANATIONS:
        if sign in said:
            return sentence.format(image=image), hint
    return None
