"""The bubblewrap backend: namespaces without an engine and without root.

What a container engine does by cgroups is done here by resource limits, which hold for each process
(memory) or for the box's own user namespace (number of processes, Linux 5.14 or later). They are set inside
the namespace: outside, the person's other processes would count.
"""

import os
import platform
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from vera.sandbox import mounts, orphans, owner
from vera.sandbox.backends import seccomp, smoke_test
from vera.sandbox.box import SupervisedBox, supervisor_command
from vera.sandbox.environment import SYSTEM_PATH, environment
from vera.sandbox.spec import UNLIMITED, BoxSpec, Launch, MiB, Report
from vera.sandbox.types import BoxError

RUN_DIR = "/run/boxd"
# Opens each "$1" … as a file descriptor from 10 on, then becomes the rest of its arguments. A pipe from a
# printf, so that no file of ours has to exist; `%b` because the filter holds zero bytes.
OPEN_DATA = (
    'n=$1; shift; for (( fd = 10; fd < 10 + n; fd++ )); do eval "exec $fd< <(printf %b \\"\\$1\\")"; shift; '
    'done; exec "$@"'
)
# For root's work below a folder that is closed to others: root mounts "$1" and "$2" (or '') where the
# unprivileged user finds them, in a mount namespace that ends with the box.
OPEN_PLACE = Path("/run/vera")
OPENED = (
    f'mkdir -p {OPEN_PLACE}/work {OPEN_PLACE}/input && mount --rbind -- "$1" {OPEN_PLACE}/work && '
    f'{{ [[ -z $2 ]] || mount --rbind -- "$2" {OPEN_PLACE}/input; }} || exit 1; shift 2; exec "$@"'
)
LIMIT = 'ulimit -c 0 -u "$1" -d "$2" -f "$3" || exit 1; shift 3; exec "$@"'
# Read-only parts of this machine that programs need beside /usr.
ETC = (
    "alternatives",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "ssl",
    "pki",
    "ca-certificates",
    "mime.types",
)
NAMESPACES = ("user", "pid", "ipc", "uts", "cgroup", "net")
TOP = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")

COUNT_PROCESSES = """\
python3 -c '
import os, signal, sys
children = []
try:
    while len(children) < {limit}:
        child = os.fork()
        if child == 0:
            signal.pause()
        children.append(child)
except OSError:
    pass
for child in children:
    os.kill(child, 9)
    os.waitpid(child, 0)
print(len(children))
'"""

CLOSED = (
    "The work or the input folder lies below a folder that is closed to others. bubblewrap does not run as "
    "root, and this system does not let root mount it for another user."
)
EXPLANATIONS = (
    ("unshare failed", CLOSED, "vera run --work-dir /var/tmp/NAME"),
    ("mount: /run/vera", CLOSED, "vera run --work-dir /var/tmp/NAME"),
    ("Can't find source path", CLOSED, "vera run --work-dir /var/tmp/NAME"),
    (
        "RTM_NEWADDR",
        "This system (AppArmor, as on Ubuntu 24.04) forbids user namespaces to bubblewrap.",
        "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    (
        "setting up uid map: Permission denied",
        "This system (AppArmor, as on Ubuntu 24.04) forbids user namespaces to bubblewrap.",
        "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    (
        "No permissions to create",
        "This system forbids user namespaces to unprivileged users.",
        "sudo sysctl kernel.unprivileged_userns_clone=1",
    ),
    (
        "Unknown option",
        "This bubblewrap is too old: version 0.8 or later is needed.",
        "bwrap --version",
    ),
)


class Bubblewrap:
    name = "bubblewrap"
    has_network = False
    has_image = False

    def launch(self, spec: BoxSpec) -> Launch:
        """Raises BoxError where bwrap is missing or would run as root, and for mounts that are refused."""
        for program in ("bwrap", "bash"):
            if shutil.which(program) is None:
                raise BoxError(f"{program} is not installed.", hint="sudo apt install bubblewrap bash")
        if spec.profile == "lab" or spec.privileged:
            raise BoxError("The lab profile needs root inside, which bubblewrap has not.", hint="vera doctor")
        machine = platform.machine()
        if machine not in seccomp.MACHINES:
            raise BoxError(f"There is no system call filter for {machine} processors.", hint="vera doctor")
        work, source = mounts.check(spec)
        name = owner.new_box_name(self.name)
        quota = UNLIMITED if spec.work_read_only else spec.quota
        inside = [
            *("/usr/bin/bash", "-c", LIMIT, "box"),
            *(str(spec.pids), str(spec.memory // 1024), str(spec.fsize // 1024)),
            *supervisor_command("/usr/bin/python3", RUN_DIR, "/work", quota),
        ]
        unprivileged = as_unprivileged(spec, work)
        variables = {**environment(path=SYSTEM_PATH), **spec.env, orphans.LABEL: name}
        files = small_files(*effective_identity(spec, work))
        data = {"": escaped(seccomp.classic_filter(machine)), **files}
        user = effective_identity(spec, work)
        covered = covered_sessions(source, user) if source else []
        opened = as_root_opened(work, source, user)
        if opened:
            work, source = OPEN_PLACE / "work", source and OPEN_PLACE / "input"
        argv = [
            *opened,
            *unprivileged,
            *("bash", "-c", OPEN_DATA, "data", str(len(data)), *data.values()),
            *(
                "bwrap",
                *(f"--unshare-{kind}" for kind in NAMESPACES),
                "--disable-userns",
                "--as-pid-1",
                "--die-with-parent",
                "--new-session",
            ),
            *("--hostname", "vera", "--cap-drop", "ALL", "--seccomp", "10"),
            *system_mounts(),
            *("--proc", "/proc", "--dev", "/dev"),
            *("--size", str(16 * MiB), "--tmpfs", "/dev/shm"),
            *("--size", str(spec.tmp), "--tmpfs", "/tmp"),
            *("--perms", "0700", "--size", str(8 * MiB), "--tmpfs", RUN_DIR),
            *(part for fd, path in enumerate(files, 11) for part in ("--ro-bind-data", str(fd), path)),
            *(
                part
                for path in mounts.shown([*spec.hidden, *filter(Path.is_dir, mounts.DOCUMENTS)])
                for part in empty(path)
            ),
            *("--ro-bind" if spec.work_read_only else "--bind", str(work), "/work"),
            *(("--ro-bind", str(source), "/input") if source else ()),
            *(part for path in covered for part in empty("/input" / path)),
            *("--remount-ro", "/", "--chdir", "/work", "--clearenv"),
            *(part for item in variables.items() for part in ("--setenv", *item)),
            *inside,
        ]
        return Launch(
            backend=self.name,
            isolation="bubblewrap namespaces, unprivileged user, read-only root, no network device; "
            "memory is limited for each process only",
            argv=tuple(argv),
            env={"PATH": os.environ.get("PATH", SYSTEM_PATH)},
            input="/input" if source else "",
            quota=quota,
            remove=partial(orphans.end, name),
            explain=explain,
        )

    async def probe(self, spec: BoxSpec) -> Report:
        return await smoke_test.start(
            self, spec, says="Starts a box and runs commands.", check=partial(complaint, spec.pids)
        )

    def reap(self) -> int:
        return orphans.reap(self.name)


def effective_identity(spec: BoxSpec, work: Path) -> tuple[int, int]:
    """User and group that bwrap runs as. Root's processes are bound by no process limit: never as root."""
    if os.getuid() != 0:
        return os.getuid(), os.getgid()
    return mounts.identity(spec, work)


def as_unprivileged(spec: BoxSpec, work: Path) -> list[str]:
    if os.getuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        raise BoxError(
            "bubblewrap is not run as root, and setpriv is missing to leave root.",
            hint="sudo apt install util-linux",
        )
    uid, gid = effective_identity(spec, work)
    return ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]


def as_root_opened(work: Path, source: Path | None, user: tuple[int, int]) -> list[str]:
    """What makes folders reachable that lie below one closed to `user`; nothing where none does."""
    folders = [work, *([source] if source else [])]
    if os.getuid() != 0 or not any(is_closed(above, *user) for folder in folders for above in folder.parents):
        return []
    opened = ["bash", "-c", OPENED, "opened", str(work), str(source or "")]
    return ["unshare", "--mount", "--propagation", "private", *opened]


def covered_sessions(source: Path, user: tuple[int, int]) -> list[Path]:
    """The folders of earlier runs that `user` could reach within the input folder, as /input shows them. Into
    the others no command comes, and no mount either."""
    found = mounts.sessions_in(source)
    return [path for path in found if not any(is_closed(source / above, *user) for above in path.parents)]


def is_closed(folder: Path, uid: int, gid: int) -> bool:
    """Whether a user may not pass through a folder, by its mode."""
    status = folder.stat()
    bit = 0o100 if status.st_uid == uid else 0o010 if status.st_gid == gid else 0o001
    return not status.st_mode & bit


def small_files(uid: int, gid: int) -> Mapping[str, str]:
    return {
        "/etc/passwd": f"vera:x:{uid}:{gid}::/work:/bin/bash\\n",
        "/etc/group": f"vera:x:{gid}:\\n",
        "/etc/hosts": "127.0.0.1 localhost\\n::1 localhost\\n",
    }


def system_mounts() -> list[str]:
    """The programs of this machine, read-only; links at the top are kept as links."""
    options = ["--ro-bind", "/usr", "/usr"]
    for name in TOP:
        path = Path("/", name)
        if path.is_symlink():
            options += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            options += ["--ro-bind", str(path), str(path)]
    for name in ETC:
        options += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return options


def empty(path: Path) -> tuple[str, ...]:
    """An empty folder in place of one that the programs' folders hold."""
    return "--perms", "0555", "--size", "4096", "--tmpfs", str(path), "--remount-ro", str(path)


def escaped(data: bytes) -> str:
    """The bytes in the notation of bash's `printf %b`."""
    return "".join(f"\\x{byte:02x}" for byte in data)


async def complaint(pids: int, box: SupervisedBox) -> str:
    """Whether the process limit holds, tried; a sentence when not."""
    result = await box.run(COUNT_PROCESSES.format(limit=pids), timeout=smoke_test.SECONDS)
    count = result.head.strip()
    if not count.isdigit() or int(count) >= pids:
        got = count.decode()[:20]
        return f"This system does not limit a sandbox's processes (asked for {pids}, got {got!r})."
    return ""


def explain(said: str) -> tuple[str, str] | None:
    return next(((sentence, hint) for sign, sentence, hint in EXPLANATIONS if sign in said), None)
