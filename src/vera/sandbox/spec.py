"""What a box is asked to be, and what a backend answers: a way to launch it, or a report of why not."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

PROFILES = ("sealed", "research", "lab")

MiB = 1 << 20


@dataclass(frozen=True)
class Quota:
    """What a work folder may hold: bytes on the disk; files, folders and links. 0 is unlimited.

    The defaults hold a large Python environment (pandas, scipy, matplotlib, scikit-learn: 0.6 GB in 15,000
    files) several times over.
    """

    bytes: int = 4096 * MiB
    files: int = 100_000


UNLIMITED = Quota(0, 0)


@dataclass(frozen=True, kw_only=True)
class BoxSpec:
    """One sandbox, before any backend has seen it.

    `work` is mounted read-write as /work (read-only with `work_read_only`), `input` read-only as /input.
    `uid` and `gid` own what is made in it (None: whoever owns `work`, never root). Sizes in bytes: `memory`
    for all processes together (for each of them on bubblewrap), `fsize` for one file, `tmp` for /tmp. `cpus`
    are processors' worth of time.
    """

    work: Path
    input: Path | None = None
    image: str = ""
    uid: int | None = None
    gid: int | None = None
    memory: int = 2048 * MiB
    pids: int = 256
    cpus: float = 2.0
    fsize: int = 512 * MiB
    tmp: int = 512 * MiB
    env: Mapping[str, str] = field(default_factory=dict)
    profile: Literal["sealed", "research", "lab"] = "research"
    privileged: bool = False
    work_read_only: bool = False
    """Commands may read /work and not change it."""
    quota: Quota = Quota()
    """What /work may hold; a command that passes it is stopped by the supervisor."""
    hidden: tuple[Path, ...] = ()
    """Folders of this machine that the box must not show, also where it shows what they lie in (/usr)."""
    forbidden: tuple[Path, ...] = ()
    """Folders that no mount may reach: settings, keys, ledgers."""
    run: str = ""
    lane: str = "main"


@dataclass(frozen=True, kw_only=True)
class Launch:
    """How to start one box: the supervisor's argv and what the host side needs to know of it."""

    backend: str
    isolation: str
    """A sentence for banner, log and attestation."""
    argv: tuple[str, ...]
    env: Mapping[str, str]
    """Environment of the started program, not of the box."""
    work: str = "/work"
    """The work folder as commands see it."""
    input: str = "/input"
    quota: Quota = UNLIMITED
    """What the supervisor was told that the work folder may hold."""
    remove: Callable[[], object]
    """Ends what outlives a killed supervisor. May block for some seconds."""
    explain: Callable[[str], tuple[str, str] | None] = lambda said: None
    """For a start that failed: what the program said → a sentence for the person, and a command to type."""
    events: tuple[str, ...] = ()
    """The argv of a program that prints what the engine does to this box, as JSON lines; () for none."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a backend's probe found. `reason` is a sentence; `hint` the next command to type, or ''."""

    backend: str
    ok: bool
    reason: str
    hint: str = ""


class Backend(Protocol):
    """A way to run a box. It only builds an argv; everything else is shared."""

    name: str
    has_network: bool
    """Its boxes see the host's own network and need no tunnel."""
    has_image: bool
    """Its boxes are made from an image, which `BoxSpec.image` names."""

    def launch(self, spec: BoxSpec) -> Launch:
        """Raises BoxError for what it refuses, with the next command to type."""
        ...

    async def probe(self, spec: BoxSpec) -> Report:
        """Starts a real box of that kind and ends it again."""
        ...

    def reap(self) -> int:
        """End boxes whose VERA process is dead; how many there were."""
        ...
