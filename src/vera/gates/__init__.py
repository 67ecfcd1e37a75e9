"""Policies of a run: each gate a pure function of what happened and one action, in one ordered registry."""
