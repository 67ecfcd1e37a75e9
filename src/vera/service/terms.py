"""What the person allowed at the start: folders, the web, limits. No request goes beyond it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from vera.attestation.request import AGENT_BUDGET, Budget
from vera.attestation.request_json import BudgetAsked
from vera.config import ConfigError, Settings, load
from vera.config.handed import Handed, Scalar
from vera.service.problems import Refused

MAX_ALLOWED = 1000
"""Sets of settings that are known to be allowed."""

KEPT = "serve"
"""Under the base folder: what the service keeps, a folder for each token."""


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """`base` holds what the service keeps, `roots` are folders of documents by name: all are real paths.

    `egress`: a request may ask for the web, by the settings' policy. `settings` are those in force here,
    `overrides` and `flags` the options of the command line that made them so. A job takes at most `seconds`.
    """

    base: Path
    settings: Settings
    overrides: tuple[str, ...] = ()
    flags: Mapping[str, str] = {}
    roots: Mapping[str, Path] = {}
    egress: bool = False
    seconds: float = 3600.0
    allowed: set[frozenset[tuple[str, Scalar]]] = set()
    """Settings of requests that were held against the loader."""

    def insist_on_allowed(self, handed: Handed) -> None:
        """Raises ConfigError for settings of a request that cannot be, or are not the request's to set. Equal
        ones are read once: like `settings`, this stays as it was when the service was started, and the
        process of a job reads its settings itself."""
        asked = frozenset(handed.settings.items())
        if asked in self.allowed:
            return
        load(self.overrides, self.flags, handed=handed)
        if len(self.allowed) < MAX_ALLOWED:
            self.allowed.add(asked)

    def options(self) -> list[str]:
        """The options that give a child the same settings."""
        named = (f"{key}={value}" for key, value in self.flags.items())
        return [word for text in (*self.overrides, *named) for word in ("-c", text)]

    def folder(self, name: str) -> Path | None:
        """The folder of documents that a request names: 'ROOT', or 'ROOT/folder/in/it'. Without a name that
        of the only root, None where there is none. Raises Refused (400, 403)."""
        if not name:
            if len(self.roots) > 1:
                raise Refused(400, "input_not_named", f"Name the input: one of {', '.join(self.roots)}.")
            return next(iter(self.roots.values()), None)
        first, *rest = name.split("/")
        root = self.roots.get(first)
        if root is None or not all(_is_visible(part) for part in rest):
            raise self._no_input(name)
        try:
            real = root.joinpath(*rest).resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            raise self._no_input(name) from None
        if not real.is_relative_to(root) or not real.is_dir():
            raise self._no_input(name)
        return real

    def web(self, asked: bool) -> str:
        """The mode of egress for a job. Raises Refused (403) where the web is asked for and not allowed."""
        if not asked:
            return "none"
        if not self.egress or self.settings.egress.mode == "none":
            raise Refused(
                403,
                "egress_not_allowed",
                "The web may not be reached from this service. Whoever runs it allows that with "
                "'vera serve --allow-egress'.",
            )
        return self.settings.egress.mode

    def within(self, budget: BudgetAsked) -> None:
        """Raises Refused (403) for a budget above what a request may ask for."""
        for name in Budget.__struct_fields__:
            value, most = getattr(budget, name), getattr(AGENT_BUDGET, name)
            if value is not None and value > most:
                raise Refused(
                    403, "budget_too_large", f"The budget of {name} is {value:g}, and the most is {most:g}."
                )

    def time(self, asked: float | None) -> float:
        """Seconds for a job that asked for so many."""
        limits = [self.seconds, asked or self.seconds, self.settings.budget.seconds or self.seconds]
        return min(limits)

    def hidden(self, text: str) -> str:
        """A text of a child without the paths of this machine that the service knows."""
        for name, path in self.roots.items():
            text = text.replace(str(path), name)
        return text.replace(str(self.base), "BASE")

    def _no_input(self, name: str) -> Refused:
        known = ", ".join(self.roots) or "none"
        sentence = (
            f"There is no input {name[:80]!r}. The inputs of this service: {known}, or a folder in one."
        )
        return Refused(403, "input_not_allowed", sentence)


def insist_on_isolation(settings: Settings) -> None:
    """Raises ConfigError for settings under which a question could run commands on this machine."""
    if settings.sandbox.backend == "host" or settings.sandbox.privileged:
        raise ConfigError(
            "The service runs no command outside of a sandbox. Take sandbox.backend: host and "
            "sandbox.privileged out of the settings: 'vera config' says where they are."
        )


def named_roots(folders: Sequence[Path], base: Path) -> dict[str, Path]:
    """Folders of documents by the names that requests call them: their own. Raises ConfigError for what is
    no folder, and for one in which the sessions of all tokens could be read."""
    found: dict[str, Path] = {}
    for folder in folders:
        real = folder.expanduser().resolve()
        if (base / KEPT).is_relative_to(real) or real.is_relative_to(base / KEPT):
            raise ConfigError(
                f"--input-root {str(folder)[:300]} holds what the service keeps for every token "
                f"({base / KEPT}). Name another folder, or another --base-dir."
            )
        if not real.is_dir() or not real.name:
            raise ConfigError(f"--input-root {str(folder)[:300]} is no folder.")
        if real.name in found:
            raise ConfigError(f"Two input roots are called {real.name}. Give one of them another name.")
        found[real.name] = real
    return found


def _is_visible(part: str) -> bool:
    """Whether a part of a path can be the name of a file that is not hidden."""
    return bool(part) and not part.startswith(".") and "\0" not in part
