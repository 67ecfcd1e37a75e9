"""Runs inside a box and tries to get out: LIMITS [PROBE …]. Prints JSON: probe → whether it worked.

One file, standard library only. System calls are made with arguments that a kernel refuses after the
permission check, but files are really written: on a bare machine name the probes to run.

LIMITS is JSON: the box's own limits (pids, memory, fsize, tmp, in bytes) and what the host has beside it: a
`port` that is listened at on all addresses, an `abstract` socket, the path of a `secret` file.
"""

# The probes are about single calls of the system, which pathlib would hide.
# ruff: noqa: PTH101, PTH108, PTH110, PTH116, PTH123, PTH208, PTH211, SIM115

from __future__ import annotations

import ctypes
import errno
import json
import os
import pathlib
import platform
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
X86 = platform.machine() == "x86_64"
MIB = 1 << 20
LIMITS: dict[str, Any] = {}


def allowed(x86: int, aarch64: int, *arguments: int | bytes) -> bool:
    """Whether the kernel lets us ask: anything but a refusal or an unknown call."""
    ctypes.set_errno(0)
    done: int = LIBC.syscall(x86 if X86 else aarch64, *arguments)
    return done >= 0 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS, errno.EACCES)


def unshares() -> bool:
    child = os.fork()
    if child == 0:
        os._exit(0 if allowed(272, 97, 0x10000000) else 1)
    return os.waitpid(child, 0)[1] == 0


def clones() -> bool:
    ctypes.set_errno(0)
    child: int = LIBC.syscall(56 if X86 else 220, 0x10000000 | 17, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    return child > 0 and os.waitpid(child, 0)[0] == child


def writes(path: str, data: bytes = b"x") -> bool:
    with open(path, "ab", buffering=0) as file:
        return file.write(data) == len(data)


def fills(path: str, megabytes: int) -> bool:
    try:
        with open(path, "wb", buffering=0) as file:
            for _ in range(megabytes):
                if file.write(bytes(MIB)) != MIB:
                    return False
        return True
    finally:
        os.unlink(path)


def sparse(path: str, size: int) -> bool:
    try:
        with open(path, "wb") as file:
            file.truncate(size)
        return True
    finally:
        os.unlink(path)


def connects(family: int, address: str | tuple[str, int]) -> bool:
    with socket.socket(family) as client:
        client.settimeout(2)
        client.connect(address)
        return True


def opens(family: int, kind: int = socket.SOCK_STREAM, protocol: int = 0) -> bool:
    socket.socket(family, kind, protocol).close()
    return True


def many_processes() -> bool:
    children = []
    try:
        for _ in range(LIMITS["pids"] + 20):
            child = os.fork()
            if child == 0:
                signal.pause()
            children.append(child)
        return True
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def much_memory() -> bool:
    size = LIMITS["memory"] + 64 * MIB
    code = f"b = bytearray({size}); b[::4096] = b'x' * len(b[::4096])"
    return subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL).returncode == 0


def root_owned_setuid() -> bool:
    pathlib.Path("/work/suid").write_bytes(b"")
    os.chown("/work/suid", 0, 0)
    os.chmod("/work/suid", 0o4755)
    return os.stat("/work/suid").st_uid == 0


def status(field: str) -> int:
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1], 16)
    return 0


def executes_from_work() -> bool:
    path = pathlib.Path("/work/tool")
    path.write_text("#!/bin/sh\nexit 0\n")
    path.chmod(0o755)
    return subprocess.run([str(path)]).returncode == 0


def makes_device() -> bool:
    os.mknod("/work/device", 0o60666, os.makedev(8, 0))
    return True


def reads_by_link() -> bool:
    os.symlink(LIMITS["secret"], "/work/link")
    return bool(pathlib.Path("/work/link").read_bytes())


def makes_fifo() -> bool:
    os.mkfifo("/work/fifo")
    return True


def host_processes() -> bool:
    """More than what descends from the supervisor, or a supervisor that is not PID 1."""
    text = pathlib.Path("/proc/1/cmdline").read_bytes()
    return b"boxd" not in text


def default_route() -> bool:
    return len(pathlib.Path("/proc/net/route").read_text().splitlines()) > 1


def interfaces() -> bool:
    return sorted(name for _, name in socket.if_nameindex()) != ["lo"]


PROBES: dict[str, Callable[[], object]] = {
    "more processes than the limit": many_processes,
    "more memory than the limit": much_memory,
    "fill /tmp": lambda: fills("/tmp/big", LIMITS["tmp"] // MIB + 8),
    "fill /dev/shm": lambda: fills("/dev/shm/big", 100),
    "a file over the size limit in /work": lambda: fills("/work/big", LIMITS["fsize"] // MIB + 8),
    "a sparse terabyte in /work": lambda: sparse("/work/sparse", 1 << 40),
    "write /usr": lambda: writes("/usr/probe"),
    "write /etc": lambda: writes("/etc/probe"),
    "write /": lambda: writes("/probe"),
    "write /input": lambda: writes("/input/probe"),
    "root-owned setuid file in /work": root_owned_setuid,
    "a device in /work": makes_device,
    "a path of the host": lambda: os.path.exists(LIMITS["secret"]),
    "a link to a path of the host": reads_by_link,
    "variables of the host": lambda: "PROBE_SECRET" in os.environ,
    "variables of the supervisor": lambda: pathlib.Path("/proc/1/environ").read_bytes() is not None,
    "memory of the supervisor": lambda: open("/proc/1/mem", "rb") is not None,
    "descriptors of the supervisor": lambda: os.listdir("/proc/1/fd") is not None,
    "trace the supervisor": lambda: allowed(101, 117, 16, 1, 0, 0),
    "read the supervisor across": lambda: allowed(310, 270, 1, 0, 0, 0, 0, 0),
    "processes of the host": host_processes,
    "the docker socket": lambda: any(map(os.path.exists, ("/var/run/docker.sock", "/run/docker.sock"))),
    "a network interface": interfaces,
    "a route out": default_route,
    "a service of the host by loopback": lambda: connects(socket.AF_INET, ("127.0.0.1", LIMITS["port"])),
    "a service of the host by the gateway": lambda: connects(socket.AF_INET, ("172.17.0.1", LIMITS["port"])),
    "an abstract socket of the host": lambda: connects(socket.AF_UNIX, "\0" + LIMITS["abstract"]),
    "a raw socket": lambda: opens(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
    "a packet socket": lambda: opens(socket.AF_PACKET, socket.SOCK_RAW),
    "a socket to the hypervisor": lambda: opens(40),
    "kernel crypto sockets": lambda: opens(38, socket.SOCK_SEQPACKET),
    "mount": lambda: allowed(165, 40, b"none", b"/tmp", b"nonesuch", 0, 0),
    "open a file system": lambda: allowed(430, 430, b"tmpfs", 0),
    "a namespace by unshare": unshares,
    "a namespace by clone": clones,
    "a namespace by setns": lambda: allowed(308, 268, -1, 0),
    "io_uring": lambda: allowed(425, 425, 1, 0),
    "bpf": lambda: allowed(321, 280, 0, 0, 0),
    "perf events": lambda: allowed(298, 241, 0, 0, -1, -1, 0),
    "userfaultfd": lambda: allowed(323, 282, 0),
    "keyrings": lambda: allowed(250, 219, 0, -3, 0),
    "load a module": lambda: allowed(313, 273, -1, b"", 0),
    "kexec": lambda: allowed(246, 104, 0, 0, 0, 0),
    "reboot": lambda: allowed(169, 142, 0, 0, 0, 0),
    "the kernel's log": lambda: allowed(103, 116, 10, 0, 0),
    "files by handle": lambda: allowed(304, 265, -1, 0, 0),
    "core_pattern": lambda: writes("/proc/sys/kernel/core_pattern", b""),
    "sysrq": lambda: writes("/proc/sysrq-trigger", b""),
    "kcore": lambda: len(open("/proc/kcore", "rb").read(4)) == 4,
    "sysfs": lambda: writes("/sys/kernel/mm/transparent_hugepage/enabled", b""),
    "new privileges": lambda: status("NoNewPrivs") != 1,
    "capabilities": lambda: bool(status("CapEff") | status("CapPrm") | status("CapAmb")),
    "capabilities to come": lambda: bool(status("CapBnd")),
    "fifo in /work": makes_fifo,
    "exec from /work": executes_from_work,
}


def attempt(probe: Callable[[], object]) -> bool:
    try:
        return bool(probe())
    except (OSError, ValueError):
        return False


def main(limits: str, *names: str) -> None:
    LIMITS.update(json.loads(limits))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    sys.stdout.write(json.dumps({name: attempt(PROBES[name]) for name in names or PROBES}))


if __name__ == "__main__":
    main(*sys.argv[1:])
