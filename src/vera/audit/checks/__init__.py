"""The checks, one a file: each a pure function `(Case) -> findings`, listed in `vera.audit.registry`."""
