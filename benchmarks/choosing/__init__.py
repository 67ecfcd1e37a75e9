"""How well one of several candidates is chosen: simulated, in recorded sessions, among trajectories."""
