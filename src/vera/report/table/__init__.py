"""A table of answers: documents by questions, as values and in each format."""
