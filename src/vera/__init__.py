"""VERA: a research agent whose every statement points at bytes that anyone can check."""

__version__ = "0.1.0"
