"""Why a run cannot begin."""


class SetupError(Exception):
    """A sentence for the person, and the exit code that goes with it."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class TaskTooLong(Exception):
    """The task does not fit the model's context: a sentence for the person."""
