"""Other names of settings: those of the specification of best of N, in files and after `-c`."""

from vera.config.origin import Layer, WrittenValue

GROUPS = {"verifier": "action_verifier"}
"""Another name of a group → its own."""
SETTINGS = {"action_verifier.type": "action_verifier.verifier_type"}
"""Another name of a setting, in its group's own name → its own."""


def canonical(name: str) -> str:
    """The setting's own name for what may be an alias; any other text as it is."""
    head, dot, rest = name.partition(".")
    whole = f"{GROUPS.get(head, head)}{dot}{rest}"
    return SETTINGS.get(whole, whole)


def under_own_names(layer: Layer) -> tuple[Layer, list[str]]:
    """The entries of one file under the settings' own names, and a sentence for each that has two of them.

    Where both names of a group are used, one sentence is for all that the group holds.
    """
    found: dict[str, tuple[str, WrittenValue]] = {}
    groups: dict[str, tuple[str, WrittenValue]] = {}
    twice: dict[str, str] = {}
    for key, entry in layer.items():
        name, group = canonical(key), key.partition(".")[0]
        if key == group and entry.value is None:
            continue  # a group whose lines are all commented out
        first = groups.setdefault(canonical(group), (group, entry))
        if first[0] != group:
            twice.setdefault(canonical(group), _twice(group, entry, *first))
        elif name in found:
            twice.setdefault(name, _twice(key, entry, *found[name]))
        found[name] = (key, entry)
    return {name: entry for name, (_, entry) in found.items()}, list(twice.values())


def _twice(name: str, entry: WrittenValue, earlier: str, first: WrittenValue) -> str:
    return (
        f"{entry.origin}: {name} is set twice: {earlier} is the same, in {first.origin}. Keep one of the two."
    )
