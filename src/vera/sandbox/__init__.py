"""The computer that the model may break: a supervisor inside, its host side, and one backend a file."""
