"""Owner of a box: its name tells the owning process, so that only the boxes of the dead are reaped."""

import os
import platform
import re
import secrets
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PREFIX = "vera-box"


@dataclass(frozen=True)
class Owner:
    """A process on one running system: `host` names the system since its boot and the process namespace,
    `started` tells a process from a later one with the same number."""

    host: str
    pid: int
    started: str

    @property
    def is_dead(self) -> bool:
        """False also when it cannot be known from here: on another host or in another namespace."""
        return self.host == this_host() and start_time(self.pid) != self.started


def current() -> Owner:
    return Owner(this_host(), os.getpid(), start_time(os.getpid()))


def new_box_name(backend: str) -> str:
    """A unique name, fit for a container, a folder or a label: `vera-box.docker.HOST.PID.START.HEX`."""
    who = current()
    return ".".join([PREFIX, backend, who.host, str(who.pid), who.started, secrets.token_hex(4)])


def owner_of(name: str, backend: str) -> Owner | None:
    """Owner encoded in a box's name, or None."""
    parts = name.split(".")
    if len(parts) != 6 or parts[:2] != [PREFIX, backend]:
        return None
    _, _, host, pid, started, _ = parts
    return Owner(host, int(pid), started) if re.fullmatch("[0-9]{1,9}", pid) else None


def start_time(pid: int) -> str:
    """When the process started, as the system counts it; '' when there is no such live process."""
    if not Path("/proc/self/stat").exists():
        command = ["ps", "-o", "lstart=", "-p", str(pid)]
        shown = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
        return plain(shown.stdout.strip())
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return ""
    fields = stat[stat.rindex(b")") + 2 :].split()
    return "" if fields[0] in (b"Z", b"X") else fields[19].decode()


@cache
def this_host() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
        return f"{boot[:8]}-{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return plain(platform.node()) or "host"


def plain(text: str) -> str:
    """The text in letters, digits and hyphens only."""
    return re.sub("[^A-Za-z0-9]+", "-", text)
