"""System calls that no box needs and that have opened kernels before, as a filter for either engine.

One table serves both: a classic BPF program for bubblewrap (seccomp(2), `struct sock_filter`) and a JSON
profile for docker (OCI runtime specification, "seccomp"). It is a deny list over an otherwise open table:
capabilities, namespaces and no-new-privileges do the rest.
"""

import errno
import struct
from typing import Any

# name: (x86_64, aarch64); None where the architecture has no such call.
DENIED: dict[str, tuple[int, int | None]] = {
    # mounts and namespaces
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "unshare": (272, 97),
    "setns": (308, 268),
    # keyrings, which no namespace separates
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # large interfaces with a long history of holes
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    # files by handle, past every mount
    "open_by_handle_at": (304, 265),
    # the machine
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "fanotify_init": (300, 262),
    "nfsservctl": (180, 42),
    "lookup_dcookie": (212, 18),
    "iopl": (172, None),
    "ioperm": (173, None),
    "uselib": (134, None),
}
CLONE, CLONE3 = (56, 220), (435, 435)
SOCKET, SOCKETPAIR = (41, 198), (53, 199)
# The CLONE_NEW… flags of mount, cgroup, UTS, IPC, user, pid and network namespaces (sched.h).
NAMESPACE_FLAGS = (1 << 17, 1 << 25, 1 << 26, 1 << 27, 1 << 28, 1 << 29, 1 << 30)
# AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: not VSOCK (the hypervisor), ALG (kernel crypto), PACKET, …
FAMILIES = (1, 2, 10, 16)

# AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64 (linux/audit.h), in the order of the numbers above
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
X32_BIT = 0x40000000

# linux/bpf_common.h: load a word, jump if equal, if at least, if any bit set; return
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
# linux/seccomp.h; the low 16 bits of ERRNO are the error
ALLOW, ERRNO, KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
# Offsets in struct seccomp_data; the low half of an argument on a little-endian machine
NUMBER, ARCHITECTURE, ARGUMENT_0 = 0, 4, 16


def classic_filter(machine: str) -> bytes:
    """The filter as an array of `struct sock_filter`. Raises KeyError for a machine without a table."""
    column, architecture = MACHINES[machine]
    refuse = (RETURN, 0, 0, ERRNO | errno.EPERM)
    program = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL_PROCESS),
        (LOAD, 0, 0, NUMBER),
    ]
    if machine == "x86_64":
        program += [(AT_LEAST, 0, 1, X32_BIT), refuse]
    for numbers in DENIED.values():
        number = numbers[column]
        if number is not None:
            program += [(EQUAL, 0, 1, number), refuse]
    # Its flags lie behind a pointer: answered as by a kernel without it, libc takes clone instead.
    program += [(EQUAL, 0, 1, CLONE3[column]), (RETURN, 0, 0, ERRNO | errno.ENOSYS)]
    program += [
        (EQUAL, 0, 4, CLONE[column]),
        (LOAD, 0, 0, ARGUMENT_0),
        (ANY_BIT, 0, 1, sum(NAMESPACE_FLAGS)),
        refuse,
        (RETURN, 0, 0, ALLOW),
    ]
    families = [(EQUAL, len(FAMILIES) - i, 0, family) for i, family in enumerate(FAMILIES)]
    program += [
        (EQUAL, 1, 0, SOCKET[column]),
        (EQUAL, 0, len(families) + 2, SOCKETPAIR[column]),
        (LOAD, 0, 0, ARGUMENT_0),
        *families,
        (RETURN, 0, 0, ERRNO | errno.EAFNOSUPPORT),
        (RETURN, 0, 0, ALLOW),
    ]
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)


def docker_profile() -> dict[str, Any]:
    """The same as a docker profile; `seccomp.json` beside this file holds it, and a test compares them."""

    def rule(names: list[str], error: int, *args: dict[str, Any]) -> dict[str, Any]:
        return {"names": names, "action": "SCMP_ACT_ERRNO", "errnoRet": error, "args": list(args)}

    def family(value: int, op: str) -> dict[str, Any]:
        return {"index": 0, "value": value, "valueTwo": 0, "op": op}

    flags = [
        {"index": 0, "value": flag, "valueTwo": flag, "op": "SCMP_CMP_MASKED_EQ"} for flag in NAMESPACE_FLAGS
    ]
    # A rule cannot compare one argument twice, so the families between the admitted ones go one by one.
    between = [family(n, "SCMP_CMP_EQ") for n in range(max(FAMILIES)) if n not in FAMILIES]
    refused = [*between, family(max(FAMILIES), "SCMP_CMP_GT")]
    return {
        "defaultAction": "SCMP_ACT_ALLOW",
        "archMap": [
            {"architecture": "SCMP_ARCH_X86_64", "subArchitectures": []},
            {"architecture": "SCMP_ARCH_AARCH64", "subArchitectures": []},
        ],
        "syscalls": [
            rule(list(DENIED), errno.EPERM),
            rule(["clone3"], errno.ENOSYS),
            *(rule(["clone"], errno.EPERM, flag) for flag in flags),
            *(rule(["socket", "socketpair"], errno.EAFNOSUPPORT, one) for one in refused),
        ],
    }
