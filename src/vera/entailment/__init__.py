"""An entailment judge: a cross-encoder in a file says what lines say of a claim (extra `semantic`)."""

from vera.entailment.values import EntailmentError, PairReader, Shares

__all__ = ["EntailmentError", "PairReader", "Shares"]
