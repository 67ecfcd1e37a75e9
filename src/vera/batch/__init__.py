"""Many tasks: each run as its own session, counted once, and gone on with when something stopped it."""
