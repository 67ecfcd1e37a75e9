"""Many tasks: each run as a session of its own, counted once, and gone on with when something stopped it."""
