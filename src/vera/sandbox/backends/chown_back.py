"""Files of root that a lab box left behind when it was killed: a short container gives them to the person.

Only root can do that, and outside the user is not root.
"""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import msgspec

from vera.decode_errors import DECODE_ERRORS

LABEL = "vera.sandbox.owner"


@dataclass(frozen=True)
class Lab:
    """A lab container as the engine knows it: its image, its work folder outside, whose that is (uid:gid)."""

    image: str
    work: Path
    owner: str


class _Config(msgspec.Struct):
    labels: dict[str, str] | None = msgspec.field(name="Labels", default=None)


class _Mount(msgspec.Struct):
    source: str = msgspec.field(name="Source", default="")
    destination: str = msgspec.field(name="Destination", default="")


class _Container(msgspec.Struct):
    image: str = msgspec.field(name="Image")
    config: _Config = msgspec.field(name="Config")
    mounts: list[_Mount] = msgspec.field(name="Mounts")


def labs_among(inspected: "subprocess.CompletedProcess[str] | None") -> list[Lab]:
    """The containers that `docker inspect` has shown and whose files have to be given back."""
    try:
        containers = msgspec.json.decode(inspected.stdout if inspected else "[]", type=list[_Container])
    except DECODE_ERRORS:
        return []
    return [
        Lab(container.image, Path(mount.source), owner)
        for container in containers
        if (owner := (container.config.labels or {}).get(LABEL, ""))
        for mount in container.mounts
        if mount.destination == "/work"
    ]


def arguments(lab: Lab, mount: str) -> list[str]:
    """What the docker client is told, with the supervisor's source as its input: root that may do no more."""
    return [
        *("run", "--interactive", "--rm", "--pull=never", "--log-driver=none", "--network=none"),
        *("--read-only", "--user=0:0", "--cap-drop=ALL", "--security-opt=no-new-privileges"),
        *("--cap-add=CHOWN", "--cap-add=DAC_OVERRIDE", mount, lab.image),
        *("python3", "-I", "-S", "-", "", "/work", lab.owner),
    ]
