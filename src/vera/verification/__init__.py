"""Verification: decompose, check, judge; the verdict itself is computed by `vera.attestation`."""
