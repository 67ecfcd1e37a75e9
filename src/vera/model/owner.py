"""Whose program listens on a port of this machine: what anybody may bind is not trusted for being there.

Linux: the uid column of `/proc/net/tcp` and `tcp6`; elsewhere `lsof`, which shows other people's programs to
root alone. Every listener on the port counts, whatever its address: with two of them it is not known which
one answers.
"""

import ipaddress
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import msgspec

LISTEN = "0A"
"""The state of a listening socket in `/proc/net/tcp` (Linux, `net/tcp_states.h`)."""

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LOGIN_DEFS = Path("/etc/login.defs")
_FIRST_PERSON = 500 if sys.platform == "darwin" else 1000
_MAX_BYTES = 64 << 20
_LSOF_SECONDS = 3.0


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """The owner of its program: `own`, of a `system` account (root among them), of a `foreign` person, or
    `unknown`, which is used like a foreign one. `name` is in words, `uid` -1 where it is not known."""

    kind: Literal["own", "system", "foreign", "unknown"]
    name: str
    uid: int = -1

    @property
    def may_be_asked_about(self) -> bool:
        """Whether the program may be used after a person said so once."""
        return self.kind in ("own", "system")


def owner_of(base_url: str) -> Owner:
    """Who owns the program that listens at an address of this machine."""
    parts = urlsplit(base_url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if not is_loopback(parts.hostname or ""):
        return Owner(kind="unknown", name="another machine")
    uids = listening(port)
    foreign = [uid for uid in uids if _kind(uid) == "foreign"]
    if not uids:
        return Owner(kind="unknown", name="an account that could not be found out")
    uid = foreign[0] if foreign else max(uids, key=lambda each: _kind(each) == "system")
    return Owner(kind=_kind(uid), name=_name(uid), uid=uid)


def listening(port: int) -> frozenset[int]:
    """The user ids of the programs that listen on a TCP port, none where that cannot be found out."""
    tables = [table for table in _TABLES if table.exists()]
    return frozenset(uid for table in tables for uid in _in_table(table, port)) if tables else _by_lsof(port)


def parse_table(text: str, port: int) -> frozenset[int]:
    """The owners of the sockets of a `/proc/net/tcp` that listen on a port."""
    uids = set()
    for line in text.splitlines()[1:]:
        fields = line.split()
        if len(fields) > 7 and fields[3] == LISTEN and fields[1].rpartition(":")[2] == f"{port:04X}":
            uids.add(int(fields[7]))
    return frozenset(uids)


def first_person(login_defs: str) -> int:
    """The first uid of a person: `UID_MIN` of `/etc/login.defs`, 1000 (macOS: 500) where it does not say."""
    found = re.search(r"^[ \t]*UID_MIN[ \t]+([0-9]{1,9})", login_defs, re.MULTILINE)
    return int(found[1]) if found else _FIRST_PERSON


def _in_table(table: Path, port: int) -> frozenset[int]:
    try:
        with table.open("r", encoding="ascii", errors="replace") as file:
            return parse_table(file.read(_MAX_BYTES), port)
    except (OSError, ValueError):
        return frozenset()


def _by_lsof(port: int) -> frozenset[int]:
    argv = ["lsof", "-nP", f"-iTCP:{port}", "-sTCP:LISTEN", "-Fu"]
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_LSOF_SECONDS, check=False
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return frozenset()
    return frozenset(
        int(line[1:]) for line in done.stdout.splitlines() if re.fullmatch(r"u[0-9]{1,10}", line)
    )


def _kind(uid: int) -> Literal["own", "system", "foreign"]:
    if uid == os.getuid():
        return "own"
    try:
        with _LOGIN_DEFS.open("r", encoding="utf-8", errors="replace") as file:
            login_defs = file.read(1 << 20)
    except OSError:
        login_defs = ""
    return "system" if uid < first_person(login_defs) else "foreign"


def _name(uid: int) -> str:
    import pwd

    if uid == os.getuid():
        return "you"
    try:
        account = pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
    return account if uid == 0 else f"the account {account} (uid {uid})"


def is_loopback(host: str) -> bool:
    """Whether a host is this machine itself, judged by its name alone (RFC 6761, 6.3).

    A name such as `127.example.com` begins as a loopback address does and is a domain of anyone.
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        name = host.rstrip(".").lower()
        return name == "localhost" or name.endswith(".localhost")
