"""The version of VERA: what the package is built as, and what sessions and requests say made them."""

__version__ = "0.1.0"
