"""The folder's settings file is a bomb, a pipe, a link to a device, or noise."""

import os
from collections.abc import Callable
from pathlib import Path

from redteam.place import Place
from vera.config import ConfigError, load

CLAIM = "The run never begins, or takes what the file says."
TRICK = (
    "vera.yaml is made of anchors that unfold to gigabytes, a pipe, a link to /dev/zero, or 50 MB of noise."
)
MUST_NOT_BE = ("TAKEN", "BROKEN")
TWIN = "A settings file with a step limit."
MUST_BE = "TAKEN"

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
FILES: tuple[Callable[[Path], object], ...] = (
    lambda path: path.write_text(BOMB),
    lambda path: os.mkfifo(path),
    lambda path: path.symlink_to("/dev/zero"),
    lambda path: path.write_bytes(os.urandom(1 << 16) * 800),
    lambda path: path.write_text("run.max_steps: 7\nrun.max_steps: 900\n"),
    lambda path: path.write_text("!!python/object/apply:os.system ['touch ran']\n"),
)


def attack(place: Place) -> str:
    return next((word for word in map(_loader(place), FILES) if word in MUST_NOT_BE), "REFUSED")


def twin(place: Place) -> str:
    return _loader(place)(lambda path: path.write_text("run.max_steps: 7\n"))


def _loader(place: Place) -> Callable[[Callable[[Path], object]], str]:
    def loaded(write: Callable[[Path], object]) -> str:
        here = place.folder / f"here-{len(list(place.folder.iterdir()))}"
        here.mkdir()
        write(here / "vera.yaml")
        try:
            settings = load((), {}, {}, here, here / "none.yaml").settings
        except ConfigError:
            return "REFUSED"
        except Exception as error:  # noqa: BLE001 (whatever it is, it is no sentence for a person)
            place.told = {"said": repr(error)}
            return "BROKEN"
        return "TAKEN" if settings.run.max_steps in (7, 900) else "IGNORED"

    return loaded
