"""`fetch`: the host gets a URL itself: the bytes are captured, not merely reported by a program."""
