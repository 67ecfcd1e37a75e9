"""Suggest the setting that a misspelt name meant."""

from collections.abc import Collection
from itertools import takewhile

from vera.config.aliases import canonical
from vera.config.errors import plain
from vera.config.schema import Setting, catalogue, sections

MAX_NAME_LENGTH = 100
"""Longer ones are cut before they are compared with every setting: comparing is quadratic."""


def unknown(name: str) -> str:
    """The sentence on a key that is no setting, with the one that was probably meant."""
    if name in sections():
        members = ", ".join(key for key in catalogue() if key.startswith(f"{name}."))
        return f"{name} is a group of settings: {members}."
    owner = next((key for key in catalogue() if name.startswith(f"{key}.")), None)
    if owner:
        return f"{owner} takes one value, not a group of them."
    return _misspelt(name)


def _misspelt(name: str) -> str:
    """The same of a key that names no setting, no group and nothing below a setting."""
    shown = plain(name)
    wanted = name[:MAX_NAME_LENGTH].lower().replace("-", "_")
    if outer := misplaced(wanted):
        right = wanted[len(outer) + 1 :]
        return (
            f"There is no setting {shown}: {right.partition('.')[0]} belongs at the top level, not under "
            f"{outer}. In a file it stands without indentation; after -c write {right}."
        )
    if wanted in catalogue():
        return f"There is no setting {shown}: write {wanted}."
    if homes := _homes(wanted):
        groups, keys = [each.section for each in homes], [each.key for each in homes]
        return (
            f"There is no setting {shown}: {homes[0].leaf} belongs to {_listed(groups, 'and')}: "
            f"write {_listed(keys, 'or')}."
        )
    leaf = wanted.rpartition(".")[2]
    if near := _near(wanted, [*catalogue(), *sections()]) or _with_leaf(
        _near(leaf, {each.leaf for each in catalogue().values()})
    ):
        return f"There is no setting {shown}. Did you mean {_listed(near, 'or')}?"
    return f"There is no setting {shown}. To see them all: vera config"


def misplaced(name: str) -> str:
    """The group under which a top-level group is by mistake; '' if none does.

    `candidate_sampling` for `candidate_sampling.verifier.enabled`: a block that was indented too far.
    """
    parts = name.split(".")[:MAX_PARTS]
    for at in range(1, len(parts) - 1):
        outer = ".".join(parts[:at])
        if canonical(parts[at]) in _only_at_the_top():
            return outer
    return ""


def unknown_env(name: str) -> str:
    """The sentence on a `VERA_…` environment name that is no setting."""
    names = {own: each for each in catalogue().values() for own in each.env_names}
    wanted = name[:MAX_NAME_LENGTH].upper()
    bare = wanted.removeprefix("VERA_")
    key = bare.lower().replace("__", ".")
    shown = plain(name)
    if bare in names:
        return f"There is no setting {shown}: write {bare} or {names[bare].own_env}."
    if setting := catalogue().get(canonical(key)):
        return f"There is no setting {shown}: write {setting.own_env}."
    if homes := _homes(key):
        groups, own = [each.section for each in homes], [each.own_env for each in homes]
        return (
            f"There is no setting {shown}: {homes[0].leaf} belongs to {_listed(groups, 'and')}: "
            f"write {_listed(own, 'or')}."
        )
    if near := _near(wanted, names):
        return f"There is no setting {shown}. Did you mean {near[0]}?"
    return f"There is no setting {shown}. To see them all: vera config"


MAX_PARTS = 10
"""Dots of a name that are looked at: no setting is nested that deep."""


def _only_at_the_top() -> set[str]:
    """The top-level groups whose names no group inside another has."""
    inside = {name.rpartition(".")[2] for name in sections() if "." in name}
    return {name for name in sections() if "." not in name} - inside


def _homes(name: str) -> list[Setting]:
    """The settings whose last name this is, as far as the names before it tell them apart."""
    parts = name.split(".")
    homes = [each for each in catalogue().values() if each.leaf == parts[-1]]
    if len(parts) == 1 or len(homes) < 2:
        return homes
    most = max(_shared(each, parts) for each in homes)
    homes = [each for each in homes if _shared(each, parts) == most]
    near = _near(name, [each.key for each in homes])
    return [each for each in homes if each.key in near] or homes


def _shared(setting: Setting, parts: list[str]) -> int:
    """How many names the two have in common, counted from the last."""
    pairs = zip(reversed(setting.key.split(".")), reversed(parts), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _near(name: str, names: Collection[str]) -> list[str]:
    from difflib import get_close_matches  # only who mistyped needs it

    return get_close_matches(name, sorted(names), n=1)


def _with_leaf(leaves: list[str]) -> list[str]:
    return [key for key, each in catalogue().items() if each.leaf in leaves]


def _listed(names: list[str], word: str) -> str:
    """`a`, `a or b`, `a, b or c`."""
    *others, last = names
    return f"{', '.join(others)} {word} {last}" if others else last
