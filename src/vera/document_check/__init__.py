"""`vera check`: the statements of a person's document against the sources that it names."""
