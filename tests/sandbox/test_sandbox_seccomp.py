"""The system call filter, run by an interpreter of classic BPF, and its docker form."""

import errno
import json
import re
import struct
from pathlib import Path

import pytest

from vera.sandbox.backends import seccomp

ALLOW, KILL = seccomp.ALLOW, seccomp.KILL_PROCESS


def error(number: int) -> int:
    return seccomp.ERRNO | number


def verdict(machine: str, number: int, argument: int = 0, architecture: int | None = None) -> int:
    """What the kernel would do: struct seccomp_data through the filter."""
    if architecture is None:
        architecture = seccomp.MACHINES[machine][1]
    data = struct.pack("<iIQ6Q", number, architecture, 0, argument, 0, 0, 0, 0, 0)
    program = list(struct.iter_unpack("<HBBI", seccomp.classic_filter(machine)))
    accumulator = position = 0
    while True:
        code, if_true, if_false, value = program[position]
        position += 1
        if code == seccomp.LOAD:
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif code == seccomp.RETURN:
            return int(value)
        else:
            holds = {
                seccomp.EQUAL: accumulator == value,
                seccomp.AT_LEAST: accumulator >= value,
                seccomp.ANY_BIT: bool(accumulator & value),
            }[code]
            position += if_true if holds else if_false


MACHINES = pytest.mark.parametrize("machine", seccomp.MACHINES)


@MACHINES
def test_each_call_of_the_table_is_refused(machine: str) -> None:
    column, _ = seccomp.MACHINES[machine]
    for name, numbers in seccomp.DENIED.items():
        number = numbers[column]
        if number is not None:
            assert verdict(machine, number) == error(errno.EPERM), name


@MACHINES
def test_every_other_call_is_allowed(machine: str) -> None:
    column, _ = seccomp.MACHINES[machine]
    special = {*(numbers[column] for numbers in seccomp.DENIED.values()), seccomp.CLONE3[column]}
    special |= {seccomp.SOCKET[column], seccomp.SOCKETPAIR[column]}
    for number in set(range(470)) - special:
        assert verdict(machine, number) == ALLOW, number


@MACHINES
def test_clone_makes_threads_and_processes_but_no_namespaces(machine: str) -> None:
    number = seccomp.CLONE[seccomp.MACHINES[machine][0]]
    assert verdict(machine, number, 17) == ALLOW
    assert verdict(machine, number, 0x3D0F00) == ALLOW
    for flag in seccomp.NAMESPACE_FLAGS:
        assert verdict(machine, number, flag | 17) == error(errno.EPERM)
    assert verdict(machine, seccomp.CLONE3[0]) == error(errno.ENOSYS)


@MACHINES
@pytest.mark.parametrize("call", [seccomp.SOCKET, seccomp.SOCKETPAIR])
def test_sockets_of_four_families_can_be_made(machine: str, call: tuple[int, int]) -> None:
    number = call[seccomp.MACHINES[machine][0]]
    allowed = [family for family in range(64) if verdict(machine, number, family) == ALLOW]
    assert allowed == [1, 2, 10, 16]
    assert verdict(machine, number, 40) == error(errno.EAFNOSUPPORT)


@MACHINES
def test_another_architectures_calls_end_the_process(machine: str) -> None:
    assert verdict(machine, 0, architecture=0x40000003) == KILL


def test_the_x32_calls_are_refused() -> None:
    assert verdict("x86_64", seccomp.X32_BIT | 1) == error(errno.EPERM)


@pytest.mark.parametrize(
    ("column", "header", "pattern"),
    [
        (0, "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", r"#define __NR_(\w+) (\d+)"),
        (1, "/usr/include/asm-generic/unistd.h", r"#define __NR(?:3264)?_(\w+)\s+(\d+)"),
    ],
)
def test_the_numbers_are_those_of_the_kernel_headers(column: int, header: str, pattern: str) -> None:
    if not Path(header).exists():
        pytest.skip(f"{header} is not here (sudo apt install linux-libc-dev)")
    known = {name: int(number) for name, number in re.findall(pattern, Path(header).read_text())}
    table = {**seccomp.DENIED, "clone": seccomp.CLONE, "clone3": seccomp.CLONE3, "socket": seccomp.SOCKET}
    wrong = {
        name: numbers[column]
        for name, numbers in table.items()
        if name in known and known[name] != numbers[column]
    }
    assert wrong == {}


def test_the_docker_profile_beside_the_table_is_made_from_it() -> None:
    file = Path(seccomp.__file__).with_name("seccomp.json")
    made = json.dumps(seccomp.docker_profile(), indent=1) + "\n"
    assert file.read_text() == made, f"write this to {file}:\n{made}"
