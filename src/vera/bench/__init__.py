"""How often answers are right, and which model can judge: what `vera eval` and `vera bench judge` measure."""
