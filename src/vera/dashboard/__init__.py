"""The dashboard: a run as it happens, in a browser, for whoever holds the token."""
