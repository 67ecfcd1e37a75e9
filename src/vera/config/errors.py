"""What is wrong with the settings, in sentences for the person who wrote them."""

from collections.abc import Callable, Iterable

SHOWN = 10
"""Problems in one message: enough to fix a file in one go, few enough to read."""


class ConfigError(Exception):
    """Settings that cannot be used (exit code 2). `problems` holds one sentence for each thing wrong."""

    exit_code = 2

    def __init__(self, problems: str | Iterable[str]) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        shown = list(self.problems[:SHOWN])
        if more := len(self.problems) - len(shown):
            shown.append(f"… and {more} more.")
        super().__init__("\n".join(shown))


class Refused(ConfigError):
    """Settings that someone set who may not set them so: `config.trust`."""


def sentences(mistakes: Iterable[tuple[object, str]], explain: Callable[[str], str]) -> list[str]:
    """A sentence for each name at a place, explained as far as it will be shown: explaining takes time."""
    return [
        f"{place}: {explain(name) if number < SHOWN else plain(name)}"
        for number, (place, name) in enumerate(mistakes)
    ]


def plain(text: str, limit: int = 80) -> str:
    """The text cut to `limit` characters, with what a terminal would obey (escapes, controls) spelled out."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)
