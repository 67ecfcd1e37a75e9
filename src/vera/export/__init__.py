"""A finished session in formats of others: sources, an answer with footnotes, verdicts, fetched pages."""
