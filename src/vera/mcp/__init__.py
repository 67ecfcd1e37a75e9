"""Verification as a service for other agents, over the Model Context Protocol (extra `mcp`).

`verify_claim` gives cards and a verdict, `check_report` holds a text against its sources, and `get_evidence`
gives the exact bytes behind a card. `list_ahdb` and `get_ahdb_entry` read the AHDB. No tool searches: the
caller states a thesis, and gets pointers and a verdict that anyone can recompute.

Whoever calls is not trusted: nothing outside of the folders that the person named at the start is read, every
argument has a bound, and what goes wrong is told in a sentence.
"""
