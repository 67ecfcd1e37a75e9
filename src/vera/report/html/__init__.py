"""A run as HTML: the parts that the live page and the one-file report share, and the report."""
