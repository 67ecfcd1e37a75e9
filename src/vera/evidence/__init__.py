"""Evidence: bytes, the canonical text made from them, spans of it, and the citations that point at them."""
