"""Text: sentences, words, negation, quotations, numbers with their units, spans of lines."""
