"""Best of N: of several candidate turns one is chosen before anything runs, and the log says why."""
