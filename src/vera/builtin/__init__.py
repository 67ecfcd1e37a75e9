"""The built-in extractive model, for runs without a model server."""

from vera.builtin.model import Extractive

__all__ = ["Extractive"]
