"""Extraction: from the bytes of a file to its canonical text, in a process that may do little else."""
