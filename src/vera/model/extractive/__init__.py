"""The built-in extractive model, for runs without a model server."""

from vera.model.extractive.model import Extractive

__all__ = ["Extractive"]
