"""VERA inside of other people's frameworks. Each module is loaded by its framework, never by VERA."""
