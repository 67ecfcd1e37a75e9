"""Evidence: what was captured and from whom, the claims about it, and the citations that point at it."""
