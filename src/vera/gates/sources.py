"""How many domains of each kind a negative claim has reached, and how many it needs."""

import msgspec

from vera.gates.kernel import Rules, State


class Sources(msgspec.Struct, frozen=True, kw_only=True):
    """Registrable domains that answered with content."""

    official: tuple[str, ...]
    independent: tuple[str, ...]
    official_needed: int
    independent_needed: int

    @property
    def enough(self) -> bool:
        return not (self.official_missing or self.independent_missing)

    @property
    def official_missing(self) -> int:
        return max(0, self.official_needed - len(self.official))

    @property
    def independent_missing(self) -> int:
        return max(0, self.independent_needed - len(self.independent))

    @property
    def missing(self) -> str:
        """What is missing, in words."""
        parts = [
            f"{count} more {kind} domain{'s' if count > 1 else ''}"
            for count, kind in (
                (self.official_missing, "official"),
                (self.independent_missing, "independent"),
            )
            if count
        ]
        return " and ".join(parts)


def needs_sources(state: State, rules: Rules) -> bool:
    """Whether sources of the web are demanded: "none" may be the answer, and the task faces the web. Whether
    something is in a folder is seen in the folder."""
    return state.lane.history.negative and rules.web_task


def sources(state: State, rules: Rules) -> Sources:
    """The sources of the lane as it stands."""
    past = state.lane.history
    return Sources(
        official=past.domains(official=True),
        independent=past.domains(official=False),
        official_needed=rules.negative_min_official,
        independent_needed=rules.negative_min_independent,
    )
