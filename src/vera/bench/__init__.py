"""Benches: how well VERA's own parts work, measured on labelled data and on planted faults."""
