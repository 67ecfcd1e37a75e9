"""Names of boxes: whose they are, and that only the dead lose theirs."""

import os
import re
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from vera.sandbox import owner


def test_a_name_tells_its_owner() -> None:
    name = owner.new_box_name("docker")
    assert owner.owner_of(name, "docker") == owner.current()
    assert owner.owner_of(name, "host") is None
    assert owner.new_box_name("docker") != name


@given(st.text(max_size=80))
def test_any_other_name_tells_none(name: str) -> None:
    assert owner.owner_of(name, "docker") is None


def test_a_living_owner_is_not_dead() -> None:
    assert not owner.current().is_dead


def test_an_owner_that_ended_is_dead_also_when_its_number_lives_again() -> None:
    program = "from vera.sandbox import owner; import sys; sys.stdout.write(owner.new_box_name('x'))"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True
    )
    gone = owner.owner_of(done.stdout, "x")
    assert gone is not None
    assert gone.is_dead
    assert owner.Owner(gone.host, os.getpid(), gone.started).is_dead


def test_an_owner_on_another_host_is_never_called_dead() -> None:
    assert not owner.Owner("elsewhere", 1, "1").is_dead


def test_a_zombie_has_ended() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert owner.start_time(child.pid) == ""
    child.wait()


def test_names_fit_for_containers() -> None:
    assert re.fullmatch(r"[a-zA-Z0-9][a-zA-Z0-9_.-]+", owner.new_box_name("docker"))
