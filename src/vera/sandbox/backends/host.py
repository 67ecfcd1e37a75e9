"""The host backend: the supervisor as a plain child process. It isolates nothing.

There is no mount: the work and input folders keep their real paths, which `SupervisedBox.work` and `.input`
tell outside and the variables WORK and INPUT inside. Commands run as the person who started VERA, with that
person's rights and network; only the environment is cleared, so that keys do not leak by accident.
"""

import os
import shutil
import sys
from functools import partial
from pathlib import Path

from vera.sandbox import orphans, owner
from vera.sandbox.backends import smoke_test
from vera.sandbox.box import supervisor_command
from vera.sandbox.environment import SYSTEM_PATH, environment
from vera.sandbox.spec import BoxSpec, Launch, Report
from vera.sandbox.types import BoxError

# All that a command sees of the user's environment, beside PATH.
PASSED = ("TZ", "TMPDIR", "USER", "LOGNAME")


class Host:
    name = "host"
    has_network = True
    has_image = False

    def launch(self, spec: BoxSpec) -> Launch:
        """Raises BoxError on a system without /proc, and when bash or the work folder is missing."""
        if not Path("/proc/self/stat").exists():
            raise BoxError(
                "The host backend needs Linux: it follows processes through /proc.",
                hint="vera run --sandbox docker",
            )
        if shutil.which("bash") is None:
            raise BoxError("The host backend needs bash on PATH.", hint="sudo apt install bash")
        if spec.work_read_only:
            raise BoxError("The host backend cannot keep the work folder read-only.", hint="vera doctor")
        if not spec.work.is_dir():
            raise BoxError(f"The work folder {spec.work} does not exist.", hint=f"mkdir -p {spec.work}")
        name = owner.new_box_name(self.name)
        work = str(spec.work.resolve())
        env = {
            **environment(work, path=os.environ.get("PATH", SYSTEM_PATH)),
            **{variable: os.environ[variable] for variable in PASSED if variable in os.environ},
            **spec.env,
            orphans.LABEL: name,
            "WORK": work,
            **({"INPUT": str(spec.input.resolve())} if spec.input else {}),
        }
        return Launch(
            backend=self.name,
            isolation="no isolation",
            argv=supervisor_command(sys.executable, str(orphans.run_dir(name)), work, spec.quota),
            env=env,
            work=work,
            quota=spec.quota,
            input=env.get("INPUT", ""),
            remove=partial(orphans.end, name),
        )

    async def probe(self, spec: BoxSpec) -> Report:
        return await smoke_test.start(self, spec, says="Runs, without any isolation.")

    def reap(self) -> int:
        return orphans.reap(self.name)
