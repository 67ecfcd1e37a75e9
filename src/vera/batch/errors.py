"""What makes a batch impossible."""


class BatchError(Exception):
    """A sentence for the person that ends with what to do."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code
