"""Before a run is ended it is told, and can still answer."""

from vera.gates.kernel import State


def can_be_ended(state: State, told: int) -> bool:
    """Whether the lane has had a turn since it was told (at step `told`; 0: never), and one since a verifier
    took its last answer back."""
    feedback = state.lane.feedback
    return 0 < told < state.lane.step and (feedback is None or feedback.step < state.lane.step)
